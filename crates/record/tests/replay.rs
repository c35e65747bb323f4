//! Recording under a replay's clock, which stands while anybody works and jumps otherwise.
#![cfg(not(feature = "off"))]
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_clock as clock;
use chronoscope_record::{self as record, Class, Status, class};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use support::{one, run_with};

static STANDING: Class = class!("standing");
static INNER: Class = class!("inner");
static WAITING: Class = class!("waiting");
static HANDLE: Class = class!("handle");

const UTC_NS: i64 = 1_782_882_000_000_000_000;
const WAIT_NS: i64 = 3_600_000_000_000;
const TIME: &str = "CHRONOSCOPE_TIME";

/// The coordinator's page, as `docs/formats/virtual-clock.md` has it.
fn write_page(folder: &Path, moved_ns: i64) {
    let file = File::options().write(true).create(true).truncate(false).open(folder.join("page"));
    let file = file.unwrap();
    file.set_len(4096 + 1024 * 64).unwrap();
    let (version, slots) = (1u32.to_le_bytes(), 1024u32.to_le_bytes());
    let utc = (UTC_NS + moved_ns).to_le_bytes();
    let monotonic = (1_000_000_000 + moved_ns).to_le_bytes();
    let counts = clock::tick_source() == clock::TickSource::Counter;
    let ticks = if counts { clock::ticks() } else { 0 }.to_le_bytes();
    let scale = clock::Scale::current().multiplier().to_le_bytes();
    let head: [&[u8]; 5] = [b"CHRONTIM", &version, &slots, &utc, &monotonic];
    let octets = [&head.concat()[..], &ticks, &utc, &scale].concat();
    file.write_all_at(&octets, 0).unwrap();
}

fn work() -> u64 {
    std::hint::black_box((0..200_000).fold(1, |sum: u64, n| sum.rotate_left(3) ^ n))
}

#[test]
fn child_entry() {
    if support::asked_for().is_none() {
        return;
    }
    let folder = std::path::PathBuf::from(std::env::var_os(TIME).unwrap());
    record::init("TEST");
    for _ in 0..3 {
        // The class's first use goes another way than the next.
        let outer = STANDING.begin();
        let inner = INNER.begin();
        work();
        inner.stop(Status::Good);
        outer.stop(Status::Good);
    }
    let waiting = WAITING.begin();
    let handle = HANDLE.start();
    work();
    write_page(&folder, WAIT_NS);
    handle.stop(Status::Good);
    waiting.stop(Status::Good);
}

#[test]
fn stamps_are_in_order_at_an_instant_and_a_wait_counts_as_long_as_the_clock_says() {
    let time = tempfile::tempdir().unwrap();
    write_page(time.path(), 0);
    let ran = run_with("replayed", &[(TIME, time.path().to_str().unwrap())]);
    let mut ring = ran.ring();
    assert_eq!(ring.process().start_ns, UTC_NS);
    let batch = support::drain(&mut ring);
    assert_eq!(batch.len(), 8);
    assert!(batch.records().iter().all(|record| record.cpu_ns <= record.elapsed_ns));
    let mut last_ns = UTC_NS;
    for (outer, inner) in support::of_class(&ring, &batch, "standing")
        .iter()
        .zip(support::of_class(&ring, &batch, "inner"))
    {
        assert_eq!(inner.parent, outer.id);
        assert!(last_ns <= outer.start_ns && outer.start_ns <= inner.start_ns, "{outer:?}");
        assert!(inner.end_ns() <= outer.end_ns() && inner.elapsed_ns > 0, "{inner:?}");
        last_ns = outer.end_ns();
    }
    for class in ["waiting", "handle"] {
        let record = one(&ring, &batch, class);
        assert!(last_ns <= record.start_ns && record.start_ns < UTC_NS + WAIT_NS, "{record:?}");
        assert!(record.end_ns() >= UTC_NS + WAIT_NS, "{record:?}");
    }
}
