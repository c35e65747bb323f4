//! Benchmark of a whole day through the chain: speed, the coordinator's cost of an event, the
//! limit.
//!
//! `cargo bench -p chronoscope-radar --bench day -- --recording "$(tools/flights)"`, or
//! `tools/bench day`. In this order:
//! * the published peak day (37,000 flights, 11.6 M positions, 3.3 M queries), in parallel with
//!   steps of one second;
//! * its hour from 10:00, serialised: the same every time;
//! * its minutes from 10:00, serialised and under Callgrind, and what an hour would then take.
//!
//! Beside it the document's (Waroquiers, FOSDEM 2020): 13 h for the day, 26 h for one hour under
//! Callgrind. The machines are not the same, and neither is the work that the programs do.
//!
//! The day and each replay's result are kept in the folder of `--out` and used again while neither
//! sizes nor programs change: an interrupted run continues where it was. `--again` measures anew,
//! `--quick` takes an hour of a smaller day.

mod kept;
mod slice;
mod table;

use chronoscope_radar::day::Settings;
use chronoscope_replay::scenario::{Count, Options, Report, Scenario};
use chronoscope_replay::schedule::ScheduleMode;
use clap::Parser;
use kept::Kept;
use serde_json::json;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Replays a whole day through the radar chain and prints how fast.
#[derive(Parser, Debug)]
struct Arguments {
    /// Folder of the day and of results.
    #[arg(long, value_name = "FOLDER", default_value = "out/day")]
    out: PathBuf,
    /// Recorded flights (the file that tools/flights prints); without it, flights are made up.
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// An hour with the shape of a day instead of a day.
    #[arg(long)]
    quick: bool,
    /// Seconds of the day that are replayed under Callgrind.
    #[arg(long, value_name = "SECONDS")]
    callgrind: Option<u64>,
    /// Measure again even where results exist.
    #[arg(long)]
    again: bool,
    /// Print JSON instead of words.
    #[arg(long)]
    json: bool,
    /// Flag that cargo adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// One replay of the table.
struct Step {
    name: &'static str,
    title: String,
    folder: PathBuf,
    mode: ScheduleMode,
    count: Count,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let size = if arguments.quick { quick() } else { Settings::PEAK };
    let callgrind_s = arguments.callgrind.unwrap_or(if arguments.quick { 10 } else { 120 });
    let folder = generated(&arguments, &size)?;
    let (busy_s, hour_s) = if arguments.quick { (1500, 200) } else { (36_000, 3600) };
    let hour = slice::make(&folder, "hour", &size, busy_s, hour_s)?;
    let minutes = slice::make(&folder, "minutes", &size, busy_s, callgrind_s)?;
    let steps = [
        Step {
            name: "day-parallel",
            title: format!("{:.0} h, parallel", size.length_s / 3600.0),
            folder: folder.clone(),
            mode: ScheduleMode::Parallel,
            count: Count::None,
        },
        Step {
            name: "hour-serial",
            title: format!("{hour_s} s at its busiest, serial"),
            folder: hour,
            mode: ScheduleMode::Serial,
            count: Count::None,
        },
        Step {
            name: "minutes-callgrind",
            title: format!("{callgrind_s} s at its busiest, Callgrind"),
            folder: minutes,
            mode: ScheduleMode::Serial,
            count: Count::Callgrind,
        },
    ];
    let mut results = Vec::new();
    for step in &steps {
        let report = measured(step, &folder, arguments.again, &stop)?;
        if !arguments.json {
            table::step(&step.title, &report);
        }
        results.push(report);
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err("interrupted; run it again to go on".into());
        }
    }
    if arguments.json {
        let reports = steps.iter().zip(&results);
        let reports = reports.map(
            |(step, report)| json!({ "name": step.name, "title": step.title, "report": report }),
        );
        let Settings { flights, positions, queries, length_s, .. } = size;
        let document = json!({
            "version": 1, "flights": flights, "positions": positions, "queries": queries,
            "length_s": length_s, "callgrind_s": callgrind_s,
            "steps": reports.collect::<serde_json::Value>(),
        });
        println!("{document:#}");
    } else {
        table::beside_the_document(&results, &size, callgrind_s);
    }
    Ok(())
}

/// An hour with a day's shape, and the day's busiest rates.
fn quick() -> Settings {
    Settings {
        flights: 2200,
        positions: 520_000,
        queries: 140_000,
        length_s: 3600.0,
        ..Settings::PEAK
    }
}

/// The folder of the day, made if it is not there.
fn generated(arguments: &Arguments, size: &Settings) -> Result<PathBuf, Box<dyn Error>> {
    let Settings { flights, positions, queries, seed, .. } = size;
    let paths = if arguments.recording.is_some() { "recorded" } else { "made" };
    let name = format!("{flights}-{positions}-{queries}-{}-{seed}-{paths}", size.length_s);
    std::fs::create_dir_all(&arguments.out)?;
    let folder = arguments.out.canonicalize()?.join(name);
    if folder.join("day.json").exists() {
        return Ok(folder);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_radar-generator"));
    command.args(["day", "--flights", &flights.to_string(), "--seed", &seed.to_string()]);
    command.args(["--positions", &positions.to_string(), "--queries", &queries.to_string()]);
    command.args(["--hours", &(size.length_s / 3600.0).to_string()]);
    command.arg("--out").arg(&folder);
    if let Some(recording) = &arguments.recording {
        command.arg("--recording").arg(recording);
    }
    let status = command.stdout(std::process::Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("radar-generator day: {status}").into());
    }
    Ok(folder)
}

/// The step's report: the kept one, or that of a replay now.
fn measured(
    step: &Step,
    folder: &Path,
    again: bool,
    stop: &Arc<AtomicBool>,
) -> Result<Report, Box<dyn Error>> {
    let programs = [
        env!("CARGO_BIN_EXE_radar-tracker"),
        env!("CARGO_BIN_EXE_radar-messages"),
        env!("CARGO_BIN_EXE_radar-display"),
    ];
    // In the folder of its replay, because a part of another length has another folder.
    let kept = Kept::new(&step.folder, step.name, &programs)?;
    if let Some(report) = kept.read().filter(|_| !again) {
        eprintln!("day: {}: measured before", step.title);
        return Ok(report);
    }
    let bin = Path::new(programs[0]).parent().ok_or("the programs have no folder")?;
    let out = folder.join(format!("{}.out", step.name));
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    let mut options = Options::new(bin, &out);
    options.mode = step.mode;
    options.count = step.count;
    options.interrupt = Some(Arc::clone(stop));
    // A second of the busiest hour is a step; under Callgrind it takes its time.
    options.run_max = Duration::from_secs(60);
    let scenario = Scenario::read(&step.folder.join("day.toml"))?;
    let mut next_s = 0;
    let report = scenario.run(&options, &mut |progress| {
        if progress.real.as_secs() >= next_s {
            next_s = progress.real.as_secs() + 10;
            let (now, real) = (progress.elapsed.as_secs(), progress.real.as_secs());
            eprintln!("day: {}: {now} s of the day in {real} s", step.title);
        }
    })?;
    for remark in &report.remarks {
        eprintln!("day: {remark}");
    }
    if let Some(failure) = &report.failure {
        table::step(&step.title, &report);
        return Err(format!("{}: {failure}", step.title).into());
    }
    kept.write(&report)?;
    // The received answers and pictures are checked elsewhere and not needed here.
    std::fs::remove_dir_all(&out)?;
    Ok(report)
}
