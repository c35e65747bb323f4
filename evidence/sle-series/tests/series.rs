//! The series as a program: what it leaves behind, and that a signal keeps what there is.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The shortest series of one step, into a folder.
fn series(out: &Path, step: &str, rounds: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sle-series"));
    command.args(["--no-peers", "--quick", "--only", step, "--round-ms", "20", "--json"]);
    command.args(["--rounds", rounds, "--out"]).arg(out);
    command
}

#[test]
fn a_step_is_measured_and_left_as_text_and_json() {
    let out = tempfile::tempdir().unwrap();
    let done = series(out.path(), "0", "1").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    let kept: Value =
        serde_json::from_slice(&std::fs::read(out.path().join("series.json")).unwrap()).unwrap();
    assert_eq!(json, kept);
    assert_eq!(json["version"], 1);
    let rows = json["steps"][0]["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 14, "7 cases, 2 windows");
    for row in rows {
        assert!(row["units_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{row}");
    }
    assert_eq!(json["steps"][1]["step"], 6, "the verdict comes last");
    let text = std::fs::read_to_string(out.path().join("series.txt")).unwrap();
    assert!(text.contains("== 0. NASA's case"), "{text}");
}

#[test]
fn a_signal_keeps_what_was_measured() {
    let out = tempfile::tempdir().unwrap();
    let mut command = series(out.path(), "0,3,4", "50");
    command.process_group(0);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A measurement is over when it is told.
    let mut told = BufReader::new(running.stderr.take().unwrap()).lines();
    for _ in 0..2 {
        while !told.next().unwrap().unwrap().contains("Mbit/s") {}
    }
    // As a terminal sends it: to the measured programs, too.
    let group = nix::unistd::Pid::from_raw(running.id().try_into().unwrap());
    nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGINT).unwrap();
    let rest = std::thread::spawn(move || told.map_while(Result::ok).collect::<Vec<_>>());
    let done = running.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{:?}", rest.join());
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(json["steps"].as_array().unwrap().len(), 2, "what was begun, and the verdict");
    let rows = json["steps"][0]["tables"][0]["rows"].as_array().unwrap();
    assert!((2..14).contains(&rows.len()), "rows that were measured, and no others: {rows:?}");
    let text = std::fs::read_to_string(out.path().join("series.md")).unwrap();
    assert!(text.contains("| 7 CLTUs, one by one |") || text.contains("| one CLTU of 7 frames |"));
    assert!(out.path().join("series.json").exists());
}

/// Both programs record: what is said of a point comes from their chains.
#[test]
fn the_verdict_is_from_chains() {
    let out = tempfile::tempdir().unwrap();
    let done = series(out.path(), "4", "1").output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
    assert!(!told.contains("FAILED"), "{told}");
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    let words = json["steps"][1]["words"].as_array().unwrap();
    assert_eq!(words.len(), 3, "1, 4 and 80 frames a buffer: {words:?}");
    for point in words {
        let point = point.as_str().unwrap();
        assert!(point.contains("Limited by ") && point.contains("A buffer's "), "{point}");
    }
}

/// 80 frames of 100 octets handed over as one are data units of 8000 octets at the user, and without
/// the verdict nothing is recorded for it.
#[test]
fn concatenated_frames_are_counted_as_one() {
    let out = tempfile::tempdir().unwrap();
    let done = series(out.path(), "4", "1").args(["--without", "verdict"]).output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && !told.contains("FAILED"), "{told}");
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(json["steps"].as_array().unwrap().len(), 1, "no verdict");
    let tables = json["steps"][0]["tables"].as_array().unwrap();
    let titled = |title: &str| {
        let found = tables.iter().find(|table| table["title"].as_str().unwrap().starts_with(title));
        found.unwrap()["rows"].as_array().unwrap()
    };
    let row = &titled("RAF: frames handed over as one")[0];
    assert_eq!(row["how"], "RAF 80 × 100 octets as one");
    let of = |key: &str| row[key].as_f64().unwrap();
    let octets = of("mbit_per_s") * 1e6 / 8.0 / of("units_per_s");
    assert!((octets - 8000.0).abs() < 1.0, "{octets} octets a unit");
    assert_eq!(titled("Cost of a data unit").len(), 5, "three of ours, two of the document");
    assert_eq!(titled("RAF: 8000 octets a buffer").len(), 8);
}

/// Each work goes directly and through a server of both kinds, which counts what it does.
#[test]
fn a_communication_server_is_beside_the_direct_way() {
    let out = tempfile::tempdir().unwrap();
    let done = series(out.path(), "7", "2").args(["--without", "verdict"]).output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && !told.contains("FAILED"), "{told}");
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    let rows = json["steps"][0]["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6, "2 works, 3 ways");
    for row in rows {
        let is_direct = row["way"] == "direct";
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("units_per_s") > 0.0 && number("ratio") > 0.0, "{row}");
        assert_eq!(number("ratio") == 1.0 && number("more_us") == 0.0, is_direct, "{row}");
        for key in ["server_us", "server_switches", "server_calls"] {
            assert_eq!(number(key) == 0.0, is_direct, "{key}: {row}");
        }
    }
    let done = series(out.path(), "7", "1").args(["--without", "server,verdict"]).output().unwrap();
    let json: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(json["steps"].as_array().unwrap().len(), 0, "left out");
}

#[test]
fn a_window_for_a_rate_is_told() {
    let window = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_sle-series"))
            .arg("window")
            .args(arguments)
            .output()
            .unwrap()
    };
    let done = window(&["--rate", "40", "--rtt", "100"]);
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("operations under way    324 "), "{text}");
    let refused = window(&["--rate", "1000", "--rtt", "400", "--octets", "100"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("use longer CLTUs"));
}
