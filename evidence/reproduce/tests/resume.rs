//! Experiments one after the other: what is kept, what is measured again, and what a signal leaves.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use anyhow::Result;
use chronoscope_clock::{monotonic_ns, sleep};
use chronoscope_reproduce::outcome::ItemResults;
use chronoscope_reproduce::plan::Experiment;
use chronoscope_reproduce::programs::Programs;
use chronoscope_reproduce::run::Run;
use chronoscope_reproduce::series::{Ended, Settings, run};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Sleeps for as long as the file `seconds` in its folder says, then has found something.
fn sleeps(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let seconds = std::fs::read_to_string(run.folder.join("seconds")).unwrap_or("0".to_owned());
    run.tool("sleep", Path::new("sleep")).arg(seconds.trim()).text()?;
    let mut found = ItemResults::new("phoenix.image13");
    found.figure("mean_ms", 7.0);
    Ok(vec![found])
}

/// Calls a program that ends badly.
fn fails(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    run.tool("sh", Path::new("sh")).args(["-c", "echo no such radar >&2; exit 3"]).text()?;
    Ok(Vec::new())
}

const SLEEPS: Experiment = Experiment {
    id: "sleeps",
    title: "sleeping",
    items: &["phoenix.image13"],
    programs: &["measured"],
    expected_s: [1.0, 1.0],
    scale: ["", ""],
    run: sleeps,
};

struct Folder {
    dir: tempfile::TempDir,
    programs: Programs,
    settings: Settings,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("measured"), "version 1").unwrap();
        let programs = Programs::new(dir.path(), None).unwrap();
        let out = dir.path().join("out");
        std::fs::create_dir_all(out.join("sleeps")).unwrap();
        let root = dir.path().to_owned();
        let settings = Settings { quick: true, again: false, out, root, commit: "abc".to_owned() };
        Self { dir, programs, settings }
    }

    fn run(&self, experiment: &Experiment, stop: &Arc<AtomicBool>) -> Ended {
        run(&self.settings, &[experiment], &self.programs, stop).unwrap()
    }
}

fn never() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}

#[test]
fn what_was_measured_is_kept_until_its_programs_are_built_anew() {
    let folder = Folder::new();
    assert_eq!(folder.run(&SLEEPS, &never()), Ended::Whole);
    let first = folder.settings.kept(&SLEEPS).unwrap();
    assert_eq!(
        (first.failure.as_deref(), first.commands.as_slice()),
        (None, &["sleep 0".to_owned()][..])
    );
    assert!(!folder.settings.is_due(&SLEEPS, &folder.programs));
    folder.run(&SLEEPS, &never());
    assert_eq!(folder.settings.kept(&SLEEPS).unwrap().began_utc_ns, first.began_utc_ns);
    std::fs::write(folder.dir.path().join("measured"), "version 2, longer").unwrap();
    assert!(folder.settings.is_due(&SLEEPS, &folder.programs));
    folder.run(&SLEEPS, &never());
    assert_ne!(folder.settings.kept(&SLEEPS).unwrap().began_utc_ns, first.began_utc_ns);
}

#[test]
fn again_is_from_the_beginning() {
    let mut folder = Folder::new();
    std::fs::write(folder.settings.out.join("sleeps/seconds"), "0.1").unwrap();
    let commands = |folder: &Folder| {
        folder.run(&SLEEPS, &never());
        folder.settings.kept(&SLEEPS).unwrap().commands
    };
    assert_eq!(commands(&folder), ["sleep 0.1"]);
    folder.settings.again = true;
    assert_eq!(commands(&folder), ["sleep 0"]);
}

#[test]
fn the_whole_stands_for_the_short_form_and_not_the_other_way_round() {
    let mut folder = Folder::new();
    folder.run(&SLEEPS, &never());
    folder.settings.quick = false;
    assert!(folder.settings.is_due(&SLEEPS, &folder.programs));
    folder.run(&SLEEPS, &never());
    folder.settings.quick = true;
    assert!(!folder.settings.is_due(&SLEEPS, &folder.programs));
}

#[test]
fn a_failure_is_kept_with_what_the_program_said_and_tried_again() {
    let folder = Folder::new();
    let failing = Experiment { id: "fails", run: fails, ..SLEEPS };
    assert_eq!(folder.run(&failing, &never()), Ended::Failed);
    let kept = folder.settings.kept(&failing).unwrap();
    assert!(kept.failure.unwrap().contains("no such radar"));
    assert!(folder.settings.is_due(&failing, &folder.programs));
    let unbuilt = Experiment { programs: &["never-built"], ..SLEEPS };
    assert_eq!(folder.run(&unbuilt, &never()), Ended::Failed);
    assert!(folder.settings.kept(&unbuilt).unwrap().failure.unwrap().contains("not built"));
}

/// Whether a process with this command line runs.
fn is_running(words: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .any(|line| line.trim() == words)
}

#[test]
fn a_signal_ends_the_program_that_runs_and_the_next_run_goes_on() {
    let folder = Folder::new();
    // A number that nobody else sleeps for.
    let seconds = format!("300.{}", std::process::id());
    let file = folder.settings.out.join("sleeps/seconds");
    std::fs::write(&file, &seconds).unwrap();
    let stop = never();
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| folder.run(&SLEEPS, &stop));
        let end_ns = monotonic_ns() + 30_000_000_000;
        while !is_running(&format!("sleep {seconds}")) && monotonic_ns() < end_ns {
            sleep(Duration::from_millis(10));
        }
        assert!(is_running(&format!("sleep {seconds}")));
        stop.store(true, Ordering::Relaxed);
        running.join().unwrap()
    });
    assert_eq!(ended, Ended::Interrupted);
    assert!(!is_running(&format!("sleep {seconds}")));
    assert!(folder.settings.kept(&SLEEPS).is_none());
    std::fs::write(&file, "0").unwrap();
    assert_eq!(folder.run(&SLEEPS, &never()), Ended::Whole);
}

/// When this program is killed it cannot end what it started: the next run does.
#[test]
fn what_a_killed_run_left_behind_is_ended() {
    let folder = Folder::new();
    let own = folder.settings.out.join("sleeps").canonicalize().unwrap();
    let start = |folder: &Path| {
        let mut sleeping = Command::new("sleep");
        let started = sleeping.arg("200").env("CHRONOSCOPE_REPRODUCE", folder).spawn().unwrap();
        // A process that begins has no environment for an instant (execve).
        let environment = format!("/proc/{}/environ", started.id());
        let end_ns = monotonic_ns() + 30_000_000_000;
        while std::fs::read(&environment).unwrap().is_empty() && monotonic_ns() < end_ns {
            sleep(Duration::from_millis(1));
        }
        started
    };
    // The other is of another experiment, which may be at work.
    let (mut left, mut other) = (start(&own), start(&own.join("other")));
    assert_eq!(folder.run(&SLEEPS, &never()), Ended::Whole);
    let status = left.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}
