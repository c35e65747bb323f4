//! A server that is killed again and again: what it reported durable is there exactly once.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_clock as clock;
use chronoscope_model::{Batch, ProcessId};
use chronoscope_store::{Append, MINUTE_NS, Options, Snapshot, Store};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use support::Chains;

const PROCESS: ProcessId = ProcessId(4);
const DIR: &str = "CHRONOSCOPE_TEST_KILL_DIR";
/// In the child five seconds of the store's time take this long, so that minutes are sealed, merged
/// and deleted all the time.
const STEP: Duration = Duration::from_micros(500);

/// The server: takes rows from a "ring" whose position is the cursor, and reports on stdout which
/// are durable. Runs only as a child of the test below.
#[test]
fn child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let options = Options {
        wait: Duration::from_secs(5),
        buffer_bytes: 2_000_000,
        log_file_bytes: 200_000,
        ..Options::default()
    };
    // The store's time goes on where the last server was killed.
    let clock_file = Path::new(&dir).join("time");
    let begin = std::fs::read_to_string(&clock_file).ok().and_then(|text| text.parse().ok());
    let now = AtomicI64::new(begin.unwrap_or(1000 * MINUTE_NS));
    let store = Store::open(Path::new(&dir), options, now.load(Ordering::Relaxed)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                let row = store.sync().unwrap();
                let mut out = std::io::stdout().lock();
                writeln!(out, "durable {row}").unwrap();
                out.flush().unwrap();
            }
        });
        scope.spawn(|| {
            loop {
                let now_ns = now.load(Ordering::Relaxed);
                if !store.maintain(now_ns).unwrap().again {
                    clock::sleep(STEP);
                }
            }
        });
        let mut chains = Chains::default();
        loop {
            let now_ns = now.fetch_add(5_000_000_000, Ordering::Relaxed);
            std::fs::write(&clock_file, now_ns.to_string()).unwrap();
            let next = store.cursors(PROCESS).map_or(1, |cursors| cursors[0].1);
            chains.count_from(next);
            let mut batch = Batch::default();
            for chain in 0..10 {
                // Some chains are late by minutes.
                let late = if chain == 7 { now_ns / 5_000_000_000 % 4 * MINUTE_NS } else { 0 };
                for record in chains.chain(now_ns - late) {
                    support::push(&mut batch, record);
                }
            }
            let cursors = [(PROCESS, vec![(0, next + 50)])];
            let input = Append {
                batch: Some(&batch),
                names: Some(&chains.names),
                cursors: &cursors,
                ..Append::default()
            };
            store.append(&input, now_ns).unwrap();
            clock::sleep(STEP);
        }
    });
}

#[test]
fn killed_at_any_instant_a_server_loses_and_doubles_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let seed = clock::utc_now_ns().unsigned_abs();
    println!("seed {seed}");
    let mut random = seed;
    let (mut reported, mut sealed, mut torn) = (0, 0, 0);
    for kill in 0..60 {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let after = Duration::from_micros(random >> 33 & 0x1ffff); // up to 131 ms
        let durable = run_and_kill(dir.path(), kill % 2 == 0, after);
        reported = reported.max(durable);
        let ids = support::ids(dir.path());
        let what = format!("kill {kill} after {after:?}, seed {seed}");
        let expected: Vec<u64> = (1..=ids.len() as u64).collect();
        assert_eq!(ids, expected, "{what}");
        assert!(ids.len() as u64 >= reported, "{what}: {} of {reported} durable rows", ids.len());
        let snapshot = Snapshot::open(dir.path()).unwrap();
        assert_eq!(snapshot.damage(), [], "{what}");
        let next = snapshot.ledger().cursors.get(&PROCESS).map_or(1, |cursors| cursors[0].1);
        assert_eq!(next, ids.len() as u64 + 1, "{what}: cursors and rows go together");
        sealed = sealed.max(snapshot.segments().len());
        let store = Store::open(dir.path(), Options::default(), 0).unwrap();
        torn += store.recovery().torn.len();
    }
    println!("{reported} rows reported durable, {sealed} segments, {torn} torn writes");
    assert!(
        reported > 1000 && sealed > 10,
        "the test must come to something: {reported}, {sealed}"
    );
}

/// Runs the child until `after` has passed since its first report (of every other child: since it
/// was started, so that some die while they open the store), and returns its last.
fn run_and_kill(dir: &Path, reports: bool, after: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (first, reported) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let numbers = lines
            .map_while(Result::ok)
            .filter_map(|line| line.rsplit_once("durable ").and_then(|(_, row)| row.parse().ok()));
        let numbers = numbers.inspect(|row| {
            let _ = first.send(*row); // after the first nobody listens
        });
        numbers.fold(0, u64::max)
    });
    if reports {
        reported.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    clock::sleep(Duration::from_millis(5) + after);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}
