//! The chain under a virtual clock: the kept small day (`evidence/bench/replays/radar`), played twice.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use chronoscope_replay::scenario::{Count, Options, Report, Scenario, differences};
use chronoscope_replay::schedule::ScheduleMode;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const TRACKER: &str = env!("CARGO_BIN_EXE_radar-tracker");

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evidence/bench/replays/radar")
}

fn replay(out: &Path, mode: ScheduleMode, count: Count) -> Report {
    replay_of("day.toml", out, mode, count)
}

fn replay_of(file: &str, out: &Path, mode: ScheduleMode, count: Count) -> Report {
    let scenario = Scenario::read(&kept().join(file)).unwrap();
    let mut options = Options::new(Path::new(TRACKER).parent().unwrap(), out);
    options.mode = mode;
    options.count = count;
    // Under Callgrind a part of it: everything takes fifty times as long there.
    options.duration = (count == Count::Callgrind).then_some(Duration::from_secs(4));
    let report = scenario.run(&options, &mut |_| {}).unwrap();
    assert_eq!(report.failure, None, "{report:#?}");
    report
}

/// Summary that a program printed at its end.
fn summary(out: &Path, name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(out.join(format!("{name}.stdout"))).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}: {text:?}"))
}

/// All of the kept day arrived, and was worked off.
fn check(out: &Path) {
    let day: serde_json::Value =
        serde_json::from_slice(&std::fs::read(kept().join("day.json")).unwrap()).unwrap();
    let (tracker, messages, display) =
        (summary(out, "tracker"), summary(out, "messages"), summary(out, "display"));
    assert_eq!(tracker["processor"]["datagrams"], day["positions"]["packets"]);
    assert_eq!(tracker["processor"]["plots"], day["positions"]["count"]);
    assert_eq!(messages["queries"]["answered"], day["queries"]["count"]);
    assert_eq!(messages["queries"]["connected"], day["clients"]);
    assert_eq!(messages["forwarder"]["updates"], tracker["processor"]["messages"]);
    assert_eq!(display["position"]["standard"], messages["forwarder"]["updates"]);
    assert!(messages["forwarder"]["with_plan"].as_u64().unwrap() > 100, "{messages}");
}

#[test]
fn two_replays_leave_the_same_octets() {
    let folder = tempfile::tempdir().unwrap();
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    let [one, two] = [0, 1].map(|at| replay(&outs[at], ScheduleMode::Serial, Count::None));
    check(&outs[0]);
    let found = differences([&one, &two], [&outs[0], &outs[1]]);
    assert!(found.is_empty(), "{found:#?}");
    // The picture, what was printed, and every answer to the clients.
    assert!(one.outputs.iter().any(|output| output.path == "display/picture.png"));
    let answers: u64 = one
        .outputs
        .iter()
        .filter(|output| output.path.starts_with("answers/"))
        .map(|output| output.bytes)
        .sum();
    assert!(answers > 10_000, "{:#?}", one.outputs);
}

/// Proofs and suites replay the chain without its display: who looks at the tracks changes neither
/// what the tracker does nor what clients are answered.
#[test]
fn without_its_display_the_chain_does_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, short] = ["day", "short"].map(|name| {
        let out = folder.path().join(name);
        replay_of(&format!("{name}.toml"), &out, ScheduleMode::Serial, Count::None)
    });
    let written = |report: &Report| -> Vec<(String, String)> {
        let outputs = report.outputs.iter().map(|file| (file.path.clone(), file.digest.clone()));
        let of = |path: &str| path.starts_with("answers/") || path == "tracker.stdout";
        outputs.filter(|(path, _)| of(path)).collect()
    };
    assert!(written(&short).len() > 1, "{:#?}", short.outputs);
    assert_eq!(written(&whole), written(&short));
}

/// In parallel all of a second comes at once: the same work, and the same results.
#[test]
fn a_parallel_replay_does_all_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let report = replay(&out, ScheduleMode::Parallel, Count::None);
    check(&out);
    assert!(report.moves < 1000, "steps of a second: {} moves", report.moves);
}

/// Instructions of every process, counted exactly: within 10 parts in a million.
#[test]
fn two_replays_execute_the_same_instructions() {
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !valgrind.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no valgrind, so instructions are not counted");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    let [one, two] = [0, 1].map(|at| replay(&outs[at], ScheduleMode::Serial, Count::Callgrind));
    let found = differences([&one, &two], [&outs[0], &outs[1]]);
    assert!(found.is_empty(), "{found:#?}");
    for process in &one.processes {
        let instructions = process.comparable_instructions();
        assert!(instructions.is_some_and(|count| count > 1_000_000), "{process:#?}");
    }
}

/// The kept day is what the generator writes today: otherwise it has to be written again.
#[test]
fn the_kept_day_is_the_generators() {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_radar-generator"))
        .args(["day", "--flights", "40", "--positions", "500", "--queries", "120"])
        .args(["--clients", "4", "--hours", "0.01", "--out"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let same = std::fs::read(&path).unwrap() == std::fs::read(kept().join(&name)).unwrap();
        assert!(same, "{} differs: see its README", name.display());
    }
}
