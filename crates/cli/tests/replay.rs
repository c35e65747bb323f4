//! `chronoscope replay` as the program does it: verified, and with everything that can go wrong.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with a scenario of shell programs.
struct Replay {
    folder: tempfile::TempDir,
}

impl Replay {
    /// `processes`: name and what its shell does.
    fn new(processes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut text = "version = 1\nname = \"shells\"\n".to_owned();
        for (name, does) in processes {
            text += &format!(
                "[[process]]\nname = \"{name}\"\ncommand = [\"/bin/sh\", \"-c\", '''{does}''']\n"
            );
        }
        std::fs::write(folder.path().join("scenario.toml"), text).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.arg("replay").arg(self.path("scenario.toml"));
        command.arg("--bin").arg(self.folder.path()).arg("--out").arg(self.path("out"));
        command.args(["--count", "none", "--patience", "4s"]).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs what fails: the report, and what is said about it.
    fn fails(&self) -> (Value, String) {
        let output = self.run(&["--json"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{said}");
        let kept: Value =
            serde_json::from_slice(&std::fs::read(self.path("out/report.json")).unwrap()).unwrap();
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(kept, shown, "the file and stdout say the same");
        (kept, said)
    }
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// Compiles a C program into the folder; false where the linker cannot.
fn compile(folder: &Path, name: &str, source: &str, flag: &str) -> bool {
    let path = folder.join(format!("{name}.c"));
    std::fs::write(&path, source).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-O1", flag, "-o"]).arg(folder.join(name)).arg(path).status().unwrap().success()
}

const GOOD: (&str, &str) = ("good", "while sleep 60; do date +%s; done");

#[test]
fn a_day_is_replayed_and_verified() {
    let replay = Replay::new(&[("sleeper", "date +%s; sleep 86400; date +%s")]);
    let output = replay.run(&["--verify"]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown} {}", text(&output.stderr));
    assert!(shown.starts_with("shells: 24:00:00.000 in "), "{shown}");
    assert!(shown.contains("both replays are the same: 22 octets in 2 files"), "{shown}");
    assert!(shown.contains("\nsleeper ") && shown.contains('█'), "{shown}");
    let said = std::fs::read_to_string(replay.path("out/second/sleeper.stdout")).unwrap();
    assert_eq!(said, "1600000000\n1600086400\n");
    let again = replay.run(&["--verify"]);
    assert_eq!(again.status.code(), Some(4));
    assert!(text(&again.stderr).contains("is not empty: a replay needs a new or empty folder"));
}

/// The kernel's random numbers are real: a program that prints one is not the same twice.
#[test]
fn a_difference_between_two_replays_is_told() {
    let replay = Replay::new(&[(
        "teller",
        "echo before; read id < /proc/sys/kernel/random/uuid; echo $id; sleep 5",
    )]);
    let output = replay.run(&["--verify"]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(
        shown.contains(
            "1 differences between the two replays:\n  teller.stdout differs from octet "
        ),
        "{shown}"
    );
}

#[test]
fn a_process_that_spins_on_the_clock_is_named_and_the_rest_is_kept() {
    let replay = Replay::new(&[GOOD, ("bad", "sleep 601; exec ./../../spin")]);
    let source = "#include <time.h>\nint main(void) { struct timespec t; \
                  for (;;) clock_gettime(CLOCK_MONOTONIC, &t); }\n";
    assert!(compile(replay.folder.path(), "spin", source, "-g"));
    let (report, said) = replay.fails();
    assert!(
        said.contains("bad (pid") && said.contains("waits in a busy loop: it read the clock"),
        "{said}"
    );
    assert_eq!(report["virtual_ns"], 601_000_000_000_u64);
    assert!(report["processes"][0]["waits"].as_u64().unwrap() >= 10, "{report}");
    let good = std::fs::read_to_string(replay.path("out/good.stdout")).unwrap();
    assert_eq!(good.lines().count(), 10);
}

#[test]
fn a_process_that_never_becomes_quiescent_is_named() {
    let replay = Replay::new(&[GOOD, ("bad", "sleep 601; while :; do :; done")]);
    let (report, said) = replay.fails();
    assert!(said.contains("bad (pid") && said.contains("never became quiescent"), "{said}");
    assert_eq!(report["virtual_ns"], 601_000_000_000_u64);
}

#[test]
fn a_program_that_does_not_take_part_is_named() {
    let replay = Replay::new(&[GOOD, ("bad", "sleep 601; exec ./../../alone")]);
    let source = "#include <unistd.h>\nint main(void) { sleep(9); }\n";
    if !compile(replay.folder.path(), "alone", source, "-static") {
        return eprintln!("SKIPPED: no static libc to link with");
    }
    let (_, said) = replay.fails();
    assert!(
        said.contains("bad (pid") && said.contains("does not take part in the replay: no hello"),
        "{said}"
    );
}

#[test]
fn a_process_that_dies_is_told_and_the_others_go_on() {
    let replay =
        Replay::new(&[("good", "sleep 3600; date +%s"), ("bad", "sleep 60; kill -SEGV $$")]);
    let output = replay.run(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let exits = [0, 1].map(|at| report["processes"][at]["exit"].as_str().unwrap().to_owned());
    assert_eq!(exits[0], "exit status: 0");
    assert!(exits[1].contains("SIGSEGV"), "{exits:?}");
    assert_eq!(std::fs::read_to_string(replay.path("out/good.stdout")).unwrap(), "1600003600\n");
}

#[test]
fn somebody_who_does_not_take_part_is_named_as_a_stranger() {
    let python = "/usr/bin/python3";
    if !Path::new(python).exists() {
        return eprintln!("SKIPPED: no {python}");
    }
    let does = "exec python3 -c \"import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', 9)); s.settimeout(5)\ntry: s.recv(9)\nexcept OSError as e: print(e)\"";
    let replay = Replay::new(&[("asker", does)]);
    let output = replay.run(&[]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown} {}", text(&output.stderr));
    assert!(shown.contains("stranger: 127.0.0.1:9 does not take part"), "{shown}");
}

#[test]
fn an_interrupted_replay_says_so_and_keeps_what_it_has() {
    let replay = Replay::new(&[("busy", "while :; do sleep 0.001; done")]);
    let child = replay.command(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !replay.path("out/busy.stdout").exists() {
        chronoscope_clock::sleep(std::time::Duration::from_millis(10));
    }
    chronoscope_clock::sleep(std::time::Duration::from_millis(100));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("ended early: interrupted"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("\nbusy "), "{}", text(&output.stdout));
    assert!(replay.path("out/report.json").exists());
}

/// A process that writes the time every ten seconds, with how long it has run.
const COUNTER: (&str, &str) =
    ("counter", "n=0; while sleep 10; do n=$((n + 1)); date -u +%H:%M:%S; echo $n >&2; done");

#[test]
fn a_window_is_measured_and_a_short_lead_in_is_told() {
    let replay = Replay::new(&[COUNTER]);
    let scenario = replay.path("scenario.toml");
    let day = std::fs::read_to_string(&scenario).unwrap().replacen(
        "name = \"shells\"",
        "name = \"shells\"\nstart = \"2020-09-14T00:00:00Z\"\nduration = \"1h\"",
        1,
    );
    std::fs::write(&scenario, day).unwrap();
    let window = ["--from", "00:30", "--until", "00:31", "--lead-in", "5m"];
    let output = replay.run(&[&window[..], &["--heap"]].concat());
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown} {}", text(&output.stderr));
    assert!(shown.starts_with("shells: 00:01:00.000 in "), "{shown}");
    assert!(
        shown.contains("window from 2020-09-14 00:30:00.000; the lead-in before it, 00:05:00.000"),
        "{shown}"
    );
    assert!(shown.contains("heap") && shown.contains("most at once"), "{shown}");
    let said = std::fs::read_to_string(replay.path("out/counter.stdout")).unwrap();
    assert_eq!(said.lines().next(), Some("00:25:10"), "{said}");
    assert_eq!(said.lines().last(), Some("00:31:00"), "{said}");
    std::fs::remove_dir_all(replay.path("out")).unwrap();

    // Times of day are the same with any lead-in; a count since the begin is not.
    let output = replay.run(&[&window[..], &["--check-lead-in"]].concat());
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{shown} {}", text(&output.stderr));
    assert!(shown.contains("the lead-in is too short, or a program writes"), "{shown}");
    assert!(shown.contains("in 1 files:\n  counter.stderr\n"), "{shown}");
    let whole = ["--from", "00:30", "--until", "00:31", "--lead-in", "30m", "--check-lead-in"];
    std::fs::remove_dir_all(replay.path("out")).unwrap();
    let output = replay.run(&whole);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown} {}", text(&output.stderr));
    assert!(shown.contains("the lead-in is long enough"), "{shown}");
}

#[test]
fn lines_on_stdin_pause_and_step_a_replay() {
    let replay = Replay::new(&[("sleeper", "while sleep 60; do date +%s; done")]);
    let mut command = replay.command(&["--control", "--paused", "--duration", "1h"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut orders = child.stdin.take().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut next = |start: &str| {
        said.by_ref().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start}"))
    };
    let paused = next("paused at ");
    assert!(paused.starts_with("paused at 2020-09-13 12:26:40.000, all processes wait: 0 inputs"));
    let written = || std::fs::read_to_string(replay.path("out/sleeper.stdout")).unwrap();
    assert_eq!(written(), "");
    writeln!(orders, "dance\nuntil 12:30").unwrap();
    assert!(next("chronoscope: ").contains("\"dance\" is no order: use pause, resume"));
    assert!(next("paused at ").starts_with("paused at 2020-09-13 12:29:40.000"));
    assert_eq!(written().lines().count(), 3);
    writeln!(orders, "for 60s").unwrap();
    next("paused at ");
    assert_eq!(written().lines().count(), 4);
    writeln!(orders, "resume").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(written().lines().count(), 60);
    assert!(text(&output.stdout).contains("paused for "), "{}", text(&output.stdout));
}

#[test]
fn an_interrupt_ends_a_paused_replay() {
    let replay = Replay::new(&[GOOD]);
    let mut command = replay.command(&["--control", "--paused"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.starts_with("paused at ")));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert!(said.any(|line| line.contains("ended early: interrupted")));
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(4));
    assert!(replay.path("out/report.json").exists());
}

#[test]
fn allocators_are_compared_and_missing_ones_are_named() {
    let replay = Replay::new(&[("sorter", "seq 20000 | sort -R > sorted; sleep 60")]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(["track", "allocators"]).arg(replay.path("scenario.toml"));
    command.arg("--bin").arg(replay.folder.path()).args(["--repeat", "1", "--json"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = found["allocators"].as_array().unwrap();
    let skipped = text(&output.stderr).matches("SKIPPED: ").count();
    assert_eq!(all.len() + skipped, 4, "{found}");
    assert_eq!(all[0]["name"], "C library");
    for one in all {
        assert_eq!((&one["failure"], &one["outputs_differ"]), (&Value::Null, &0.into()), "{one}");
        let of = |field: &str| one["all"][field].as_u64().unwrap();
        assert!(of("cpu_ns") > 0 && of("cpu_ns_max") >= of("cpu_ns"), "{one}");
        assert!(of("rss_bytes_end") > of("live_bytes") && of("live_bytes") > 0, "{one}");
        // The heap is the same with each of them.
        assert_eq!(one["all"]["live_bytes"], all[0]["all"]["live_bytes"]);
    }
}

#[test]
fn what_is_no_scenario_is_refused() {
    let replay = Replay::new(&[GOOD]);
    std::fs::write(replay.path("scenario.toml"), "version = 9\n").unwrap();
    let output = replay.run(&[]);
    assert_eq!(output.status.code(), Some(4));
    let said = text(&output.stderr);
    assert!(said.contains("the scenario has version 9, this program reads version 1"), "{said}");
}
