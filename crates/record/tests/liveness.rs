//! Whether a program lives is asked of its ring's lock, which is right in every PID namespace.
#![cfg(not(feature = "off"))]
#![allow(unsafe_code)] // close_range
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_clock as clock;
use chronoscope_record::read::{self, Ring};
use chronoscope_record::{self as record, Class, class};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

static WORK: Class = class!("work");

#[test]
fn child_entry() {
    let Some(scenario) = support::asked_for() else { return };
    record::init("LIVES");
    drop(WORK.begin());
    match scenario.as_str() {
        // As daemons do that close whatever they may have inherited.
        "closed" => {
            // SAFETY: closes numbers only; nothing of this test uses one of them afterwards.
            assert_eq!(unsafe { libc::close_range(3, u32::MAX, 0) }, 0);
        }
        // SAFETY: the child only waits for the test, and leaves.
        "left_a_child" if unsafe { libc::fork() } > 0 => support::leave_at_once(),
        _ => {}
    }
    support::wait_for_test();
    support::leave_at_once();
}

/// Starts a scenario in a PID namespace of its own; `None`, said loudly, where none can be had.
fn spawn_elsewhere(scenario: &str, folder: &Path) -> Option<Child> {
    let here = support::command(scenario, folder);
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-current-user", "--pid", "--fork", "--kill-child"]);
    let granted = Command::new("unshare")
        .args(["--user", "--map-current-user", "--pid", "--fork", "true"])
        .output();
    if !granted.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this machine grants no PID namespace (unshare --user --pid)");
        return None;
    }
    command.arg(here.get_program()).args(here.get_args());
    command.envs(here.get_envs().filter_map(|(key, value)| Some((key, value?))));
    Some(support::spawn_command(command))
}

/// Waits for what has to come; the test's own time limit is the runner's.
fn until(what: impl Fn() -> bool) {
    while !what() {
        clock::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_program_in_another_pid_namespace_lives_and_its_ring_is_not_removed() {
    for scenario in ["waits", "closed"] {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let Some(mut child) = spawn_elsewhere(scenario, folder.path()) else { return };
        let path = read::find_rings(folder.path()).remove(0);
        let ring = Ring::open(&path).unwrap();
        // It is not the first process of its namespace by chance: that has a low number there.
        assert!(ring.process().pid < 100, "{} is no number of a new namespace", ring.process().pid);
        assert!(ring.is_alive(), "{scenario}");
        assert!(!read::remove_if_stale(&path).unwrap() && path.exists(), "{scenario}");
        child.kill().unwrap();
        child.wait().unwrap();
        until(|| !ring.is_alive());
        assert!(read::remove_if_stale(&path).unwrap() && !path.exists());
    }
}

#[test]
fn a_program_that_left_a_forked_child_has_ended() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut child = support::command("left_a_child", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.wait().unwrap();
    let path = read::find_rings(folder.path()).remove(0);
    let ring = Ring::open(&path).unwrap();
    assert!(!ring.is_alive(), "its child holds the lock, but the number says that it has ended");
    drop(child.stdin.take());
}
