//! Processes that do wrong: named, bounded in real time, and what was measured is kept.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_replay::coordinator::{Failure, Outcome, Settings};
use std::time::Duration;
use support::{Replay, compiled};

fn settings() -> Settings {
    // So long a program of the test's own may take to start on a busy machine, too.
    let bound = Duration::from_secs(3);
    Settings { run_max: bound, hello_max: bound, ..Settings::default() }
}

/// Beside a process that does right until the other one goes wrong after 10 s.
fn with_a_good_one(command: &[&str]) -> Outcome {
    let replay = Replay::new();
    let good = ["/bin/sh", "-c", "while sleep 1; do date +%s; done"];
    let outcome = replay.run(&[("good", &good), ("bad", command)], settings());
    assert_eq!(replay.output("good").lines().count(), 10, "what was done is kept");
    assert!(outcome.processes[0].activity.waits >= 10, "{outcome:?}");
    assert_eq!(outcome.elapsed, Duration::from_millis(10_500));
    outcome
}

#[test]
fn a_spin_on_a_clock_that_stands_still_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let spin = compiled("spin", folder.path());
    let command = format!("sleep 10.5; exec {spin} clock");
    let outcome = with_a_good_one(&["/bin/sh", "-c", &command]);
    let Some(Failure::Spins { name, reads, .. }) = outcome.failure else {
        panic!("{:?}", outcome.failure)
    };
    assert!(name == "bad" && reads > 10_000, "{name} {reads}");
}

#[test]
fn a_process_that_never_waits_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let spin = compiled("spin", folder.path());
    let outcome = with_a_good_one(&["/bin/sh", "-c", &format!("sleep 10.5; exec {spin} deaf")]);
    assert!(
        matches!(&outcome.failure, Some(Failure::NeverQuiescent { name, .. }) if name == "bad"),
        "{:?}",
        outcome.failure
    );
}

#[test]
fn a_static_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("s.c"), folder.path().join("static"));
    std::fs::write(&source, "#include <unistd.h>\nint main(void) { sleep(9); }\n").unwrap();
    let status =
        std::process::Command::new("cc").arg("-static").arg(&source).arg("-o").arg(&out).status();
    if !status.unwrap().success() {
        return eprintln!("SKIPPED: no static libc to link with");
    }
    let outcome =
        with_a_good_one(&["/bin/sh", "-c", &format!("sleep 10.5; exec {}", out.display())]);
    assert!(matches!(&outcome.failure, Some(Failure::NoHello { name, .. }) if name == "bad"));
    assert!(outcome.failure.unwrap().to_string().contains("a statically linked program cannot"));
}

#[test]
fn a_process_that_dies_is_told_and_the_others_go_on() {
    let replay = Replay::new();
    let good = ["/bin/sh", "-c", "sleep 20; date +%s"];
    let bad = ["/bin/sh", "-c", "sleep 10; kill -SEGV $$"];
    let outcome = replay.run(&[("good", &good), ("bad", &bad)], Settings::default());
    assert_eq!(outcome.failure, None);
    assert_eq!(replay.output("good"), "1600000020\n");
    let [good, bad] = [0, 1].map(|at| outcome.processes[at].exit.clone().unwrap());
    assert_eq!(good, "exit status: 0");
    assert!(bad.contains("SIGSEGV"), "{bad}");
}

#[test]
fn a_program_that_ends_before_it_takes_part_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("s.c"), folder.path().join("static"));
    std::fs::write(&source, "int main(void) { return 3; }\n").unwrap();
    let status =
        std::process::Command::new("cc").arg("-static").arg(&source).arg("-o").arg(&out).status();
    if !status.unwrap().success() {
        return eprintln!("SKIPPED: no static libc to link with");
    }
    let outcome = Replay::new().run(&[("short", &[out.to_str().unwrap()])], settings());
    let failure = outcome.failure.unwrap().to_string();
    assert!(failure.contains("short") && failure.ends_with("exit status: 3"), "{failure}");
}

/// The program that takes a shell's place says hello before the shell's last words are read: many
/// failed attempts in between.
#[test]
fn a_program_found_late_on_the_path_takes_part() {
    let replay = Replay::new();
    let path = "PATH=/1:/2:/3:/4:/5:/6:/7:/8:/9:/usr/bin:/bin; exec sleep 100";
    let outcome = replay.run(&[("sleeper", &["/bin/sh", "-c", path])], Settings::default());
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.elapsed, Duration::from_secs(100));
}
