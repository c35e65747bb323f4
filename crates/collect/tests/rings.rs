//! Real programs record into real rings, a collector reads them: every transaction once.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

use chronoscope_clock as clock;
use chronoscope_collect::{Collector, Options, Status};
use chronoscope_record::{self as record, Class, class};
use chronoscope_store::Snapshot;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ROLE_ROWS: &str = "CHRONOSCOPE_TEST_ROWS";
const ROLE_PAUSE: &str = "CHRONOSCOPE_TEST_PAUSE_US";
const ROLE_DATA: &str = "CHRONOSCOPE_TEST_DATA";
const RING_DIR: &str = "CHRONOSCOPE_DIR";

static OUTER: Class = class!("outer");
static INNER: Class = class!("inner");

/// A program: two threads record numbered chains of two. Runs only as a child.
#[test]
fn program() {
    let Ok(rows) = std::env::var(ROLE_ROWS) else { return };
    let rows: u64 = rows.parse().unwrap();
    let pause = Duration::from_micros(std::env::var(ROLE_PAUSE).unwrap().parse().unwrap());
    record::init("PROG");
    // Neither ends before the other: what a thread has left another one may go on with.
    let both = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let both = &both;
            scope.spawn(move || {
                for number in 0..rows / 4 {
                    let mut outer = OUTER.begin();
                    outer.metric("n", (thread * rows + number) as f64);
                    drop(INNER.begin());
                    drop(outer);
                    if number.is_multiple_of(50) {
                        clock::sleep(pause);
                    }
                }
                both.wait();
            });
        }
    });
}

/// A collector that runs until it is killed. Runs only as a child.
#[test]
fn collector() {
    let Ok(data) = std::env::var(ROLE_DATA) else { return };
    let options = Options {
        store: chronoscope_store::Options {
            wait: Duration::from_millis(100),
            buffer_bytes: 500_000,
            log_file_bytes: 300_000,
            ..chronoscope_store::Options::default()
        },
        sync_every: Duration::from_millis(5),
        ..Options::new(std::env::var(RING_DIR).unwrap().into(), data.into())
    };
    Collector::new(options).unwrap().run(&AtomicBool::new(false), &mut |_| {});
}

fn spawn(test: &str, rings: &Path, environment: &[(&str, String)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--test-threads=1"]).env(RING_DIR, rings).stdout(Stdio::null());
    for (key, value) in environment {
        command.env(key, value);
    }
    command.spawn().unwrap()
}

/// `slots` are the rows that a ring keeps of each thread.
fn spawn_program(rings: &Path, rows: u64, pause_us: u64, slots: u32) -> Child {
    let environment = [
        (ROLE_ROWS, rows.to_string()),
        (ROLE_PAUSE, pause_us.to_string()),
        ("CHRONOSCOPE_SLOTS", slots.to_string()),
    ];
    spawn("program", rings, &environment)
}

/// Collects in this process until `done`, then stops; the last status.
fn collect(rings: &Path, data: &Path, mut done: impl FnMut(&Status) -> bool) -> Status {
    let collector = Collector::new(Options::new(rings.into(), data.into())).unwrap();
    let stop = AtomicBool::new(false);
    let deadline_ns = clock::monotonic_ns() + 30_000_000_000;
    collector.run(&stop, &mut |status| {
        let late = clock::monotonic_ns() > deadline_ns;
        stop.store(done(status) || late, Ordering::Relaxed);
    })
}

/// The ids of all rows in a store, ascending.
fn ids(data: &Path) -> Vec<u64> {
    let store = chronoscope_store::Store::open(data, chronoscope_store::Options::default(), 0);
    store.unwrap().seal_all(0).unwrap();
    let snapshot = Snapshot::open(data).unwrap();
    assert_eq!(snapshot.damage(), []);
    let mut ids = Vec::new();
    for segment in snapshot.segments() {
        let file = std::fs::File::open(&segment.path).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
        for batch in reader.unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let column = batch.column_by_name("id").unwrap();
            let column = column.as_any().downcast_ref::<arrow_array::UInt64Array>().unwrap();
            ids.extend(column.values().iter());
        }
    }
    ids.sort_unstable();
    ids
}

fn assert_all_once(data: &Path, rows: u64) {
    let ids = ids(data);
    assert!(ids.is_sorted_by(|a, b| a < b), "rows are doubled");
    assert_eq!(ids.len() as u64, rows);
}

#[test]
fn everything_is_collected_once_and_dead_rings_go() {
    let (rings, data) = (tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir().unwrap());
    let mut programs = [
        spawn_program(rings.path(), 40_000, 500, 1 << 16),
        spawn_program(rings.path(), 20_000, 1000, 1 << 16),
    ];
    let status = collect(rings.path(), data.path(), |status| {
        status.rows == 60_000 && status.processes.is_empty()
    });
    programs.iter_mut().for_each(|program| assert!(program.wait().unwrap().success()));
    assert_eq!((status.rows, status.lost_rows, status.error.as_deref()), (60_000, 0, None));
    assert_eq!(status.durable_rows, status.stored_rows);
    assert!(!status.running);
    assert_eq!(Status::read(data.path()).unwrap(), Some(status));
    assert_eq!(std::fs::read_dir(rings.path()).unwrap().count(), 0, "dead rings are removed");
    let snapshot = Snapshot::open(data.path()).unwrap();
    assert!(snapshot.ledger().cursors.is_empty(), "and so are their cursors");
    let classes: Vec<_> = snapshot.names().classes().map(|(_, name)| name.to_string()).collect();
    assert!(classes.contains(&"PROG::inner".to_owned()), "{classes:?}");
    assert_all_once(data.path(), 60_000);
}

#[test]
fn a_collector_that_is_killed_again_and_again_takes_everything_once() {
    let (rings, data) = (tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir().unwrap());
    let seed = clock::utc_now_ns().unsigned_abs();
    println!("seed {seed}");
    let mut random = seed;
    let mut program = spawn_program(rings.path(), 120_000, 2500, 1 << 16);
    let mut kills = 0;
    while program.try_wait().unwrap().is_none() {
        let environment = [(ROLE_DATA, data.path().to_str().unwrap().to_owned())];
        let mut collector = spawn("collector", rings.path(), &environment);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        clock::sleep(Duration::from_micros(20_000 + (random >> 33) % 150_000));
        collector.kill().unwrap();
        collector.wait().unwrap();
        kills += 1;
    }
    let status = collect(rings.path(), data.path(), |status| status.processes.is_empty());
    assert_eq!(status.lost_rows, 0, "seed {seed}: the rings were large enough");
    assert!(kills > 5, "{kills} kills");
    assert_all_once(data.path(), 120_000);
    println!("{kills} kills, {} rows taken by the last collector", status.rows);
}

#[test]
fn what_a_ring_overwrote_is_counted_by_process() {
    let (rings, data) = (tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir().unwrap());
    // Nobody reads while it records: each thread's part keeps its last 16384 rows.
    let mut program = spawn_program(rings.path(), 200_000, 0, 1 << 14);
    assert!(program.wait().unwrap().success());
    let mut by_process = Vec::new();
    let status = collect(rings.path(), data.path(), |status| {
        by_process.extend(status.processes.iter().map(|process| process.lost_rows));
        status.processes.is_empty() && status.rows > 0
    });
    assert_eq!(status.rows + status.lost_rows, 200_000, "{status:?}");
    assert!(status.rows <= 2 * 16_384 && status.rows > 30_000, "{}", status.rows);
    assert_all_once(data.path(), status.rows);
    let snapshot = Snapshot::open(data.path()).unwrap();
    assert_eq!(snapshot.ledger().lost_rows(), status.lost_rows);
}

#[test]
fn a_file_that_is_no_ring_is_told_and_hinders_nothing() {
    let (rings, data) = (tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(rings.path().join("bad.ring"), b"not a ring at all").unwrap();
    let mut program = spawn_program(rings.path(), 4000, 100, 1 << 14);
    let status = collect(rings.path(), data.path(), |status| {
        status.rows == 4000 && status.processes.is_empty()
    });
    assert!(program.wait().unwrap().success());
    assert_eq!(status.rows, 4000);
    let [failed] = &status.failed_rings[..] else { panic!("{:?}", status.failed_rings) };
    assert!(failed.path.ends_with("bad.ring") && !failed.reason.is_empty());
}
