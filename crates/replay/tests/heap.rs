//! Heap and memory of each replayed process, and the order of preloaded libraries.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_replay::coordinator::HeapUse;
use chronoscope_replay::scenario::{Options, Report, Scenario, Window};
use std::path::Path;
use std::time::Duration;
use support::compiled;

fn replay(folder: &Path, out: &str, change: impl FnOnce(&mut Options)) -> Report {
    let mut options = Options::new(folder, &folder.join(out));
    change(&mut options);
    let scenario = Scenario::read(&folder.join("scenario.toml")).unwrap();
    let report = scenario.run(&options, &mut |_| {}).unwrap();
    assert_eq!(report.failure, None, "{report:#?}");
    report
}

#[test]
fn every_process_has_its_own_heap_and_the_same_twice() {
    let folder = tempfile::tempdir().unwrap();
    compiled("heap", folder.path());
    let process = |name: &str, command: &str| {
        format!("[[process]]\nname = \"{name}\"\ncommand = {command}\n")
    };
    let text = "version = 1\nname = \"heaps\"\nstart = \"2020-09-14T00:00:00Z\"\n\
                duration = \"1h\"\n"
        .to_owned()
        + &process("blocks", "[\"{bin}/heap\"]")
        + &process("shell", "[\"/bin/sh\", \"-c\", \"sleep 60; sleep 7200\"]");
    std::fs::write(folder.path().join("scenario.toml"), text).unwrap();
    let [one, two] = ["one", "two"].map(|out| replay(folder.path(), out, |o| o.heap = true));
    let heaps = |report: &Report| -> Vec<Option<HeapUse>> {
        report.processes.iter().map(|process| process.heap).collect()
    };
    assert_eq!(heaps(&one), heaps(&two));
    let blocks = one.processes[0].heap.unwrap();
    let is = HeapUse {
        allocations: 10,
        allocated_bytes: 10_000,
        bytes_max: 10_000,
        live_bytes: 5_000,
        lost: 0,
    };
    assert_eq!(blocks, is);
    assert!(one.processes[1].heap.unwrap().allocations > 0, "{:#?}", one.processes);
    let resident = one.processes[0].rss_bytes_end.unwrap();
    assert!((100_000..one.processes[0].usage.rss_bytes_max + 1).contains(&resident), "{resident}");
    // In a window: what it was given there; and at most ever.
    let window = replay(folder.path(), "window", |options| {
        options.heap = true;
        let at = |text: &str| text.parse().ok();
        let lead_in = Some(Duration::from_secs(3600));
        options.window = Some(Window { from: at("00:05:30"), to: at("00:08:30"), lead_in });
    });
    let blocks = window.processes[0].heap.unwrap();
    assert_eq!((blocks.allocations, blocks.allocated_bytes), (3, 3_000));
    assert_eq!((blocks.bytes_max, blocks.live_bytes), (9_000, 9_000));
    let without = replay(folder.path(), "without", |_| {});
    assert_eq!(heaps(&without)[0], None);
}

/// The replay's own library sees every call first; the heap's stands before an allocator, whose
/// calls it counts.
#[test]
fn libraries_are_loaded_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("other.c");
    std::fs::write(&source, "int other;\n").unwrap();
    let library = folder.path().join("libother.so");
    let mut cc = std::process::Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    assert!(cc.status().unwrap().success());
    let text = "version = 1\nname = \"order\"\n[[process]]\nname = \"shell\"\n\
                command = [\"/bin/sh\", \"-c\", \"echo $LD_PRELOAD\"]\n";
    std::fs::write(folder.path().join("scenario.toml"), text).unwrap();
    let report = replay(folder.path(), "out", |options| {
        options.heap = true;
        options.preload = vec![library.clone()];
    });
    assert_eq!(report.preload, [library]);
    let said = std::fs::read_to_string(folder.path().join("out/shell.stdout")).unwrap();
    let names: Vec<&str> = said.trim().split(':').map(|p| p.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["libchronoscope_time.so", "libchronoscope_heap.so", "libother.so"]);
    let mut options = Options::new(folder.path(), &folder.path().join("missing"));
    options.preload = vec!["/nowhere/lib.so".into()];
    let scenario = Scenario::read(&folder.path().join("scenario.toml")).unwrap();
    let error = scenario.run(&options, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("/nowhere/lib.so"), "{error}");
}
