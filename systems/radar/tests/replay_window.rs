//! A window of a day of recorded flights (`tools/flights`) through the chain: with all of the day
//! before it, it is the whole day's.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use chronoscope_replay::scenario::{Options, Report, Scenario, Window, window_differences};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The recording; `None`, loudly, when it cannot be had: flights are made then.
fn recording() -> Option<PathBuf> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/flights");
    match Command::new(tool).output() {
        Ok(output) if output.status.success() => {
            Some(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
        }
        other => {
            eprintln!("SKIPPED: no recorded flights: a day of artificial ones instead: {other:?}");
            None
        }
    }
}

/// Three minutes of a day.
fn write_day(folder: &Path) {
    let mut generator = Command::new(env!("CARGO_BIN_EXE_radar-generator"));
    generator.args(["day", "--flights", "60", "--positions", "2000", "--queries", "300"]);
    generator.args(["--clients", "4", "--hours", "0.05", "--out"]).arg(folder);
    if let Some(recording) = recording() {
        generator.arg("--recording").arg(recording);
    }
    assert!(generator.stdout(Stdio::null()).status().unwrap().success());
}

fn replay(day: &Path, out: &Path, window: Option<Window>) -> Report {
    let scenario = Scenario::read(&day.join("day.toml")).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_radar-tracker")).parent().unwrap();
    let options = Options { window, ..Options::new(bin, out) };
    let report = scenario.run(&options, &mut |_| {}).unwrap();
    assert_eq!(report.failure, None, "{report:#?}");
    report
}

fn window(lead_in_s: Option<u64>) -> Option<Window> {
    let lead_in = lead_in_s.map(Duration::from_secs);
    Some(Window { from: "00:02:00".parse().ok(), to: None, lead_in })
}

#[test]
fn a_window_is_the_whole_days_with_all_of_the_day_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_day(&path("day"));
    replay(&path("day"), &path("whole"), None);
    let all = replay(&path("day"), &path("all"), window(None));
    let read = |out: &str, name: &str| std::fs::read(path(out).join(name)).unwrap();

    // The picture after the last plot, and the tracker's own account: every plot was worked off.
    assert_eq!(read("whole", "display/picture.png"), read("all", "display/picture.png"));
    assert_eq!(read("whole", "tracker.stdout"), read("all", "tracker.stdout"));
    // Clients get the answers of the whole day, from the window on.
    let mut answers = 0;
    for client in 1..=4 {
        let name = format!("answers/queries.{client}");
        let (whole, window) = (read("whole", &name), read("all", &name));
        assert!(!window.is_empty() && whole.ends_with(&window), "{name}");
        assert!(window.len() < whole.len(), "{name}: only the window's are asked");
        answers += window.iter().filter(|octet| **octet == b'\n').count();
    }
    let queries = all.inputs.iter().find(|input| input.name == "queries").unwrap();
    let asked = u64::try_from(answers).unwrap();
    // Four connections are opened and ended.
    assert_eq!((queries.inputs, queries.lead_in_inputs), (asked + 8, 0), "{queries:#?}");
    let plots = all.inputs.iter().find(|input| input.name == "plots").unwrap();
    assert!(plots.inputs > 100 && plots.lead_in_inputs > plots.inputs, "{plots:#?}");

    // Half a minute makes tracks, but not those of the whole day: numbers of tracks and corrections
    // of radars have grown since its begin.
    let short = replay(&path("day"), &path("short"), window(Some(30)));
    let differ = window_differences([&short, &all]);
    assert!(differ.iter().any(|path| path == "tracker.stdout"), "{differ:?}");
    // The same window twice is the same.
    let again = replay(&path("day"), &path("again"), window(Some(30)));
    assert_eq!(window_differences([&short, &again]), [""; 0]);
}
