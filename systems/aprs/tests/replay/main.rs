//! The server under a virtual clock: the kept recording (`evidence/bench/replays/aprs`), played twice.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

mod recording;
mod window;

use chronoscope_replay::scenario::{Count, Options, Report, Scenario, differences};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SERVER: &str = env!("CARGO_BIN_EXE_aprs-server");

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evidence/bench/replays/aprs")
}

fn replay(out: &Path, count: Count) -> Report {
    let scenario = Scenario::read(&kept().join("server.toml")).unwrap();
    let mut options = Options::new(Path::new(SERVER).parent().unwrap(), out);
    options.count = count;
    let report = scenario.run(&options, &mut |_| {}).unwrap();
    assert_eq!(report.failure, None, "{report:#?}");
    report
}

/// The lines that a client received: `answers/INPUT.N`.
fn answer(out: &Path, name: &str) -> String {
    let octets = std::fs::read(out.join("answers").join(name)).unwrap();
    String::from_utf8_lossy(&octets).into_owned()
}

/// Everybody got what is for them, and nothing else.
fn check(out: &Path, report: &Report) {
    for input in &report.inputs {
        assert_eq!(input.undelivered, 0, "{input:?}");
    }
    let igate = |number: usize| answer(out, &format!("igate.{number}"));
    let full = answer(out, "full.2");
    assert!(full.lines().count() > 700, "{}", full.lines().count());
    // In the order of their connections: the second igate, the clients with filters, …
    for (number, (call, _)) in (2..).zip(recording::CLIENTS) {
        let got = igate(number);
        assert!(got.contains(&format!("# logresp {call} verified, server T2REPL")), "{got}");
        let packets = got.lines().filter(|line| !line.starts_with('#'));
        let (some, all) = (packets.count(), full.lines().count());
        assert!(some > 3 && some < all, "{call}: {some} of {all}");
    }
    let prefixes = igate(5);
    let mut packets = prefixes.lines().filter(|line| !line.starts_with('#'));
    assert!(packets.all(|line| line.starts_with("OE") || line.starts_with("F5")), "{prefixes}");
    // … then those who talk to each other.
    assert_eq!(igate(12).matches(":ack").count(), 20, "{}", igate(12));
    assert_eq!(igate(13).matches("how are you").count(), 20, "{}", igate(13));
    assert!(!full.contains("nobody gets this"));
    assert_eq!(full.matches("by UDP").count(), 10);
    assert!(answer(out, "status.2").contains("\"T2REPL\""));
}

#[test]
fn two_replays_leave_the_same_octets() {
    let folder = tempfile::tempdir().unwrap();
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    let [one, two] = [0, 1].map(|at| replay(&outs[at], Count::None));
    check(&outs[0], &one);
    let found = differences([&one, &two], [&outs[0], &outs[1]]);
    assert!(found.is_empty(), "{found:#?}");
}

/// Instructions, counted exactly: within 10 parts in a million.
#[test]
fn two_replays_execute_the_same_instructions() {
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !valgrind.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no valgrind, so instructions are not counted");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    let [one, two] = [0, 1].map(|at| replay(&outs[at], Count::Callgrind));
    let found = differences([&one, &two], [&outs[0], &outs[1]]);
    assert!(found.is_empty(), "{found:#?}");
    let instructions = one.processes[0].comparable_instructions();
    assert!(instructions.is_some_and(|count| count > 10_000_000), "{one:#?}");
}

/// The kept recording is what `recording` writes today; otherwise
/// `cargo test -p chronoscope-aprs --test replay -- --ignored` writes it again.
#[test]
fn the_kept_recording_is_the_written_one() {
    let kept = std::fs::read(kept().join("clients.pcapng")).unwrap();
    let written = recording::write(Vec::new()).unwrap();
    assert!(kept == written, "clients.pcapng differs");
    assert!(kept.len() < 200_000, "{} octets", kept.len());
}

#[test]
#[ignore = "writes the kept recording again"]
fn write_the_kept_recording() {
    let file = std::fs::File::create(kept().join("clients.pcapng")).unwrap();
    recording::write(std::io::BufWriter::new(file)).unwrap().into_inner().unwrap();
}
