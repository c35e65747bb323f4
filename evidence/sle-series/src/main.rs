//! `sle-series`: what the CSTS prototyping measured, measured here, its figures beside.

mod args;
mod chains;
mod child;
mod delay;
mod iperf;
mod measure;
mod ours;
mod pair;
mod pictures;
mod profile;
mod published;
mod series;
mod steps;
mod table;
mod test_path;
mod utl;
mod verdict;
mod window;
mod work;
mod worker;

use anyhow::{Context, Result};
use args::{Arguments, Part, Subprogram};
use chronoscope_clock::monotonic_ns;
use clap::Parser;
use pictures::Picture;
use published::Published;
use serde_json::{Value, json};
use series::{Series, Step, Stopped};
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.part {
        Some(Subprogram::Window(question)) => window::answer(*question),
        Some(Subprogram::Provide { config, api }) => worker::provide(config, *api).map_err(failed),
        Some(Subprogram::Communicate { route }) => worker::communicate(route).map_err(failed),
        Some(Subprogram::Use(task)) => worker::work(task).map_err(failed),
        None => run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Stopped>() => {
            eprintln!("sle-series: {error}; what was measured is kept");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("sle-series: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A measured program says its error to the one that started it, too.
fn failed(error: anyhow::Error) -> anyhow::Error {
    println!("{}", json!({"event": "failed", "why": format!("{error:#}")}));
    error
}

fn run(arguments: &Arguments) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let found =
        |name: &str, error: anyhow::Error| eprintln!("sle-series: without {name}: {error:#}");
    let has = |part: Part| {
        let is_peer = matches!(part, Part::Java | Part::Iperf3);
        !(arguments.without.contains(&part) || is_peer && arguments.no_peers)
    };
    let series = Series {
        published: Published::load()?,
        quick: arguments.quick,
        rounds: if arguments.quick { arguments.rounds.min(3) } else { arguments.rounds },
        round: Duration::from_millis(arguments.round_ms.unwrap_or(if arguments.quick {
            400
        } else {
            1000
        })),
        verdict: has(Part::Verdict),
        utl: has(Part::Java)
            .then(utl::Utl::find)
            .and_then(|utl| utl.map_err(|error| found("the Java peer", error)).ok()),
        iperf: has(Part::Iperf3)
            .then(iperf::version)
            .and_then(|iperf| iperf.map_err(|error| found("iperf3", error)).ok()),
        stop,
    };
    fs::create_dir_all(&arguments.out)
        .with_context(|| format!("folder {}", arguments.out.display()))?;
    let machine = machine(&series);
    warn(&machine);
    let mut taken = Vec::new();
    let mut ended = Ok(());
    for (number, title, take) in steps::STEPS {
        let is_wanted = arguments.only.is_empty() || arguments.only.contains(&number);
        if !is_wanted || number == steps::SERVER && !has(Part::Server) {
            continue;
        }
        eprintln!("{number}. {title}");
        let before_ns = monotonic_ns();
        let mut step = Step::new(number, title);
        ended = take(&series, &mut step);
        eprintln!("   {:.0} s", (monotonic_ns() - before_ns) as f64 / 1e9);
        taken.push(step);
        keep(arguments, &machine, &taken, None)?;
        if ended.is_err() {
            break;
        }
    }
    let verdict = series.verdict.then(|| steps::verdict(&series, &taken));
    let text = keep(arguments, &machine, &taken, verdict.as_ref())?;
    println!("{text}");
    eprintln!("sle-series: tables, JSON and pictures are in {}", arguments.out.display());
    ended
}

/// Writes what there is; returns what goes to standard output.
fn keep(
    arguments: &Arguments,
    machine: &Value,
    taken: &[Step],
    verdict: Option<&Step>,
) -> Result<String> {
    let out = &arguments.out;
    let steps = || taken.iter().chain(verdict);
    let text: String = steps().map(Step::text).collect();
    let text = format!("{}\n{text}", describe(machine));
    let json = json!({
        "version": 1,
        "machine": machine,
        "quick": arguments.quick,
        "steps": steps().map(Step::json).collect::<Vec<_>>(),
    });
    let json = serde_json::to_string_pretty(&json)?;
    let pages: String = steps().map(Step::markdown).collect();
    fs::write(out.join("series.md"), format!("{}\n{pages}", describe(machine)))?;
    fs::write(out.join("series.txt"), &text)?;
    fs::write(out.join("series.json"), &json)?;
    draw(taken, out)?;
    Ok(if arguments.json { json } else { text })
}

/// Description of the machine.
fn machine(series: &Series) -> Value {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    json!({
        "cpu": cpu.map_or("unknown", |(_, name)| name),
        "cpus": std::thread::available_parallelism().map_or(0, usize::from),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "load": read("/proc/loadavg").split(' ').next().unwrap_or(""),
        "build": if cfg!(debug_assertions) { "debug" } else { "release" },
        "iperf": series.iperf,
        "java_peer": series.utl.as_ref().map(|_| "UTL 1.0.6"),
    })
}

/// Says what makes figures worthless, before time is spent on them.
fn warn(machine: &Value) {
    let load: f64 = machine["load"].as_str().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    if load > 0.5 {
        eprintln!(
            "sle-series: other programs use this machine (load {load}): the figures will be too \
             low and vary"
        );
    }
    if cfg!(debug_assertions) {
        eprintln!("sle-series: this is a debug build: use cargo run --release for valid figures");
    }
}

fn describe(machine: &Value) -> String {
    let text = |key: &str| machine[key].as_str().unwrap_or("none").to_owned();
    format!(
        "{} × {}, Linux {}, load {} at the beginning; {} build; {}; Java peer: {}",
        machine["cpus"],
        text("cpu"),
        text("kernel"),
        text("load"),
        text("build"),
        text("iperf"),
        text("java_peer"),
    )
}

/// The pictures of the tables that there are.
fn draw(taken: &[Step], out: &Path) -> Result<()> {
    let tables = || taken.iter().flat_map(|step| &step.tables);
    let titled = |title: &str| tables().find(|table| table.title.starts_with(title));
    if let Some(table) = titled("Throughput against CLTU length") {
        let mut picture = Picture {
            name: "length",
            title: "FCLTU: throughput against CLTU length, loopback".to_owned(),
            x: "octets of a CLTU",
            y: "Mbit/s",
            lines: Vec::new(),
        };
        for window in [64.0, 1.0] {
            let (of, name) = (table.only(&[("window", window)]), format!("ours, window {window}"));
            picture.line(&name, &of, "octets", "mbit_per_s", Some(("application", "optimised")));
        }
        picture.write(out)?;
    }
    if let Some(table) = titled("One CLTU an invocation over a delay") {
        let mut picture = Picture {
            name: "delay",
            title: "FCLTU: throughput against round trip".to_owned(),
            x: "RTT in ms",
            y: "Mbit/s",
            lines: Vec::new(),
        };
        for (window, named) in [(65_536.0, "64 kB"), (13e6, "13 MB"), (25e6, "25 MB")] {
            let of = table.only(&[("window_octets", window), ("octets", 1544.0)]);
            let name = |who: &str| format!("{who}, {named}");
            picture.line(&name("ours"), &of, "rtt_ms", "mbit_per_s", Some(("bound", "TCP's")));
            picture.line(
                &name("iperf3"),
                &of,
                "rtt_ms",
                "iperf_mbit_per_s",
                Some(("bound", "TCP's")),
            );
            picture.line(
                &name("published"),
                &of,
                "rtt_ms",
                "published_mbit_per_s",
                Some(("bound", "TCP's")),
            );
        }
        picture.write(out)?;
    }
    if let Some(table) = titled("RAF: 8000 octets a buffer") {
        let mut picture = Picture {
            name: "buffers",
            title: "RAF: 8000 octets a buffer, frames/s".to_owned(),
            x: "frames per buffer",
            y: "frames/s",
            lines: Vec::new(),
        };
        picture.line("ours", table, "together", "units_per_s", None);
        picture.line("published", table, "together", "published_frames_per_s", None);
        picture.write(out)?;
    }
    Ok(())
}
