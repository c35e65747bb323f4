//! `chronoscope replay` as the program does it: verified, and with everything that can go wrong.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
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

#[test]
fn what_is_no_scenario_is_refused() {
    let replay = Replay::new(&[GOOD]);
    std::fs::write(replay.path("scenario.toml"), "version = 9\n").unwrap();
    let output = replay.run(&[]);
    assert_eq!(output.status.code(), Some(4));
    let said = text(&output.stderr);
    assert!(said.contains("the scenario has version 9, this program reads version 1"), "{said}");
}
