//! `chronoscope track allocators`: allocators compared over a replayed day.

use crate::args::track::allocators::Allocators;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::show;
use crate::text::{Table, UNKNOWN, duration};
use anyhow::{Result, anyhow};
use chronoscope_figures::numbers::{bytes, significant};
use chronoscope_replay::scenario::isolation;
use chronoscope_track::allocators::{
    Allocator, AllocatorComparison, AllocatorCost, AllocatorRequest, compare, installed,
};
use std::time::Duration;

/// Runs the command.
pub(super) fn allocators(args: &Allocators) -> Result<Exit> {
    // Done while this program has one thread. A failure is in the replays' remarks.
    let _ = isolation::enter_process();
    let (mut allocators, missing) = installed();
    for one in &missing {
        say!("SKIPPED: {} is not installed (Debian package {})", one.name, one.package);
    }
    allocators.extend(
        args.allocator.iter().map(|(name, library)| Allocator {
            name: name.clone(),
            library: Some(library.clone()),
        }),
    );
    let interrupt = Interrupt::install()?;
    let request = AllocatorRequest {
        scenario: args.scenario.clone(),
        bin: args.bin.clone(),
        allocators,
        repeat: usize::from(args.repeat),
        duration: args.duration,
        stop: interrupt.shared(),
    };
    let found = compare(&request, &mut |line| say!("{line}")).map_err(|error| anyhow!(error))?;
    let failed = found.allocators.iter().any(|one| one.failure.is_some());
    show(&if args.json { serde_json::to_string_pretty(&found)? + "\n" } else { words(&found) })?;
    Ok(if failed { Exit::Error } else { Exit::Done })
}

fn words(found: &AllocatorComparison) -> String {
    let system = &found.system;
    let mut page = format!(
        "{}: {} of the recording, {} replays of each allocator; {}, {} processors, Linux {}, load \
         {:.2}, then {:.2}\n\n",
        found.scenario,
        duration(Duration::from_nanos(found.virtual_ns).as_nanos() as f64),
        found.repeat,
        system.cpu,
        system.cpus,
        system.kernel,
        found.load_before.one,
        found.load_after.one,
    );
    let heading = [
        "allocator",
        "process",
        "CPU, least",
        "most",
        "most memory",
        "memory at the end",
        "live heap",
        "fragmentation",
    ];
    let mut table = Table::new(&heading);
    let several = found.allocators.first().is_some_and(|one| one.processes.len() > 1);
    for one in &found.allocators {
        table.row(row(&one.allocator.name, "all", &one.all));
        for process in one.processes.iter().filter(|_| several) {
            table.row(row("", &process.process, process));
        }
    }
    page += &table.to_string();
    for one in &found.allocators {
        let name = &one.allocator.name;
        if let Some(failure) = &one.failure {
            page += &format!("{name}: failed: {failure}\n");
        }
        if one.outputs_differ > 0 {
            let n = one.outputs_differ;
            page += &format!("{name}: {n} outputs are not those with the C library's allocator\n");
        }
    }
    page
}

fn row(allocator: &str, process: &str, cost: &AllocatorCost) -> Vec<String> {
    let fragmentation = cost.fragmentation().map_or_else(|| UNKNOWN.to_owned(), significant);
    vec![
        allocator.to_owned(),
        process.chars().take(28).collect(),
        duration(cost.cpu_ns as f64),
        duration(cost.cpu_ns_max as f64),
        bytes(cost.rss_bytes_max),
        bytes(cost.rss_bytes_end),
        bytes(cost.live_bytes),
        fragmentation,
    ]
}
