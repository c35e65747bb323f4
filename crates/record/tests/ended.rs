//! Rings of programs that nobody collects do not pile up.
#![allow(clippy::unwrap_used)] // a test may panic

mod support;

use chronoscope_record::{self as record, Class, class, read};
use std::path::Path;
use support::{asked_for, command, spawn, wait_for_test};

static WORK: Class = class!("work");

#[test]
fn child_entry() {
    let Some(scenario) = asked_for() else { return };
    record::init("TEST");
    drop(WORK.begin());
    match scenario.as_str() {
        "waits" => wait_for_test(),
        "keeps one" => eprintln!("removed {}", record::keep_ended(1).rings),
        _ => {}
    }
}

/// Runs a program to its end; what it complained of.
fn run_in(folder: &Path, environment: &[(&str, &str)]) -> String {
    let output = command("short", folder).envs(environment.iter().copied()).output().unwrap();
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn rings_of_ended_programs_do_not_fill_the_folder_and_living_ones_stay() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut living = spawn("waits", folder.path());
    for _ in 0..3 {
        assert_eq!(run_in(folder.path(), &[]), "", "nothing is too much by default");
    }
    // Of another host by its name, as a container's is: its lock tells that its process has ended.
    // Foreign: another one, without a lock; its process cannot be asked for.
    let rings = read::rings_of(folder.path()).unwrap();
    assert_eq!(rings.len(), 4);
    let of_living = |path: &&std::path::PathBuf| {
        read::Ring::open(path).is_ok_and(|ring| ring.process().pid == living.id())
    };
    let kept = rings.iter().find(of_living).unwrap().clone();
    let ended = rings.iter().find(|path| **path != kept).unwrap();
    let foreign = folder.path().join("TEST.1.1.ring");
    let mut bytes = std::fs::read(ended).unwrap();
    bytes[513] ^= 1; // docs/formats/ring.md: the host's first letter
    std::fs::write(folder.path().join("TEST.1.2.ring"), &bytes).unwrap();
    bytes[8] = 1; // of version 1, which has no lock
    std::fs::write(&foreign, bytes).unwrap();
    std::fs::write(folder.path().join("strange.ring"), "no ring").unwrap();

    let complained = run_in(folder.path(), &[("CHRONOSCOPE_ENDED_MIB", "0")]);
    assert!(
        complained.contains("rings of ended processes removed") && complained.contains(": 4, "),
        "{complained}"
    );
    let left = read::rings_of(folder.path()).unwrap();
    // The living one's, the other host's, the strange one, and that of the program itself.
    assert_eq!(left.len(), 4, "{left:?}");
    assert!(left.contains(&kept) && left.contains(&foreign));

    let complained = run_in(folder.path(), &[("CHRONOSCOPE_ENDED_DAYS", "0")]);
    assert!(complained.contains(": 1, "), "{complained}");
    assert!(read::rings_of(folder.path()).unwrap().contains(&kept));
    drop(living.stdin.take());
    living.wait().unwrap();
}

#[test]
fn a_program_that_is_started_again_keeps_the_rings_of_its_last_runs() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut living = spawn("waits", folder.path());
    for _ in 0..3 {
        run_in(folder.path(), &[]);
    }
    // Of another application, by its file's name.
    let rings = read::rings_of(folder.path()).unwrap();
    let ended = rings
        .iter()
        .find(|path| read::Ring::open(path).is_ok_and(|ring| ring.process().pid != living.id()));
    std::fs::copy(ended.unwrap(), folder.path().join("OTHER.1.1.ring")).unwrap();
    let mut keeps = command("keeps one", folder.path());
    let output = keeps.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("removed 2"), "{said}");
    // The living one's, the last one's, the other application's, and that of the program itself.
    assert_eq!(read::rings_of(folder.path()).unwrap().len(), 4);
    drop(living.stdin.take());
    living.wait().unwrap();
}
