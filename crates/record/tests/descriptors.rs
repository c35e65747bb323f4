//! Programs that close file descriptors which they have not opened, as daemons do.
#![cfg(not(feature = "off"))]
#![allow(clippy::unwrap_used)]
#![allow(unsafe_code)] // close, write

mod support;

use chronoscope_record::{self as record, Class, class};
use std::os::fd::AsRawFd;
use support::{drain, run, run_with};

static WORK: Class = class!("work");

const FILE: &str = "CHRONOSCOPE_TEST_FILE";
const REMOVED: &str = "CHRONOSCOPE_TEST_REMOVED";
/// More than the recorder has opened.
const DESCRIPTORS: i32 = 64;

#[test]
fn child_entry() {
    let Some(scenario) = support::asked_for() else { return };
    match scenario.as_str() {
        "reused" => reused(),
        "standard" => standard(),
        other => panic!("no scenario {other}"),
    }
}

fn close(descriptors: std::ops::Range<i32>) {
    for descriptor in descriptors {
        // SAFETY: a plain system call; nobody in this process uses them any more.
        unsafe { libc::close(descriptor) };
    }
}

/// Threads that record at the same time, each of which needs a block of its own.
fn grow() {
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                drop(WORK.begin());
                barrier.wait();
            });
        }
    });
}

/// Closes everything, and then has a file of its own by each number that the recorder had.
fn reused() {
    record::init("TEST");
    drop(WORK.begin());
    close(3..DESCRIPTORS);
    if std::env::var_os(REMOVED).is_some() {
        std::fs::remove_file(record::ring_path().unwrap()).unwrap();
    }
    let path = std::env::var_os(FILE).unwrap();
    let open = || std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let own: Vec<_> = std::iter::repeat_with(open).take_while(|f| f.as_raw_fd() < 32).collect();
    assert!(own.len() > 20);
    grow();
    assert!(own.iter().all(|file| file.metadata().is_ok()), "nobody else has closed them");
}

/// The ring grew into the program's own file, whose contents were lost.
#[test]
fn a_file_that_got_the_rings_descriptor_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("accounts");
    let content = b"the program's own".repeat(100);
    std::fs::write(&path, &content).unwrap();
    let ran = run_with("reused", &[(FILE, path.to_str().unwrap())]);
    let mut ring = ran.ring();
    assert_eq!(std::fs::read(&path).unwrap(), content);
    assert_eq!(drain(&mut ring).len(), 9);
    assert_eq!(ring.counters().unwrap().private_chunks, 0, "its file was found again");
}

/// Begins to record without stdin, stdout and stderr, and prints all the same.
fn standard() {
    close(0..3);
    record::init("TEST");
    drop(WORK.begin());
    for descriptor in 0..3 {
        let text = b"written to nobody";
        // SAFETY: reads `text`; the descriptor is closed, or whoever has it writes to it.
        let written = unsafe { libc::write(descriptor, text.as_ptr().cast(), text.len()) };
        assert_eq!(written, -1, "descriptor {descriptor} is open");
    }
    grow();
    support::leave_at_once();
}

/// What the program wrote to stderr went over the ring's beginning.
#[test]
fn what_a_daemon_prints_does_not_go_into_the_ring() {
    let ran = run("standard");
    let mut ring = ran.ring();
    assert_eq!(drain(&mut ring).len(), 9);
    assert_eq!(ring.process().application, "TEST");
}

/// Its file is gone: the program goes on all the same.
#[test]
fn a_ring_that_cannot_be_opened_again_goes_on_in_private_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("accounts");
    std::fs::write(&path, b"mine").unwrap();
    let ran = run_with("reused", &[(FILE, path.to_str().unwrap()), (REMOVED, "yes")]);
    assert!(ran.status.success(), "{}", ran.complained);
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert!(ran.complained.contains("the ring cannot grow"), "{}", ran.complained);
}
