//! A log that is cut, or damaged: what is whole stays, what is lost is counted and told.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_store::{Options, Snapshot, Store, StoreError};
use std::path::{Path, PathBuf};
use support::{Chains, append, ids, open};

/// A store with five blocks of five rows in its log, and where each block ends in the file.
fn five_blocks() -> (tempfile::TempDir, PathBuf, Vec<u64>) {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let mut ends = Vec::new();
    for _ in 0..5 {
        let batch = chains.batch(100, 1);
        append(&store, &chains, &batch, 100);
        ends.push(store.backlog().log_bytes);
    }
    store.sync().unwrap();
    // As if nobody had been told that they are durable: then the end may be a write cut short.
    std::fs::remove_file(dir.path().join("log/durable")).unwrap();
    let log = std::fs::read_dir(dir.path().join("log")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::metadata(&log).unwrap().len(), ends[4]);
    (dir, log, ends)
}

fn first_rows(blocks: usize) -> Vec<u64> {
    (1..=5 * blocks as u64).collect()
}

#[test]
fn cut_at_any_byte_the_whole_blocks_stay_and_writing_goes_on() {
    let (dir, log, ends) = five_blocks();
    let whole = std::fs::read(&log).unwrap();
    for cut in ends[2]..=ends[4] {
        std::fs::write(&log, &whole[..usize::try_from(cut).unwrap()]).unwrap();
        let blocks = ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(ids(dir.path()), first_rows(blocks), "cut at {cut}");
        let store = open(dir.path(), Options::default(), 100);
        let is_torn = !ends.contains(&cut);
        assert_eq!(store.recovery().torn.len(), usize::from(is_torn), "cut at {cut}");
        assert_eq!(store.recovery().damage, []);
        // The next rows go into a file of their own and get the numbers of those that are gone.
        let mut chains = Chains::default();
        chains.count_from(5 * blocks as u64 + 1);
        let batch = chains.batch(100, 1);
        append(&store, &chains, &batch, 100);
        store.sync().unwrap();
        assert_eq!(ids(dir.path()), first_rows(blocks + 1), "cut at {cut}");
        drop(store);
        let store = open(dir.path(), Options::default(), 100);
        assert_eq!(
            (store.recovery().rows, store.ledger().damaged_rows),
            (5 * blocks as u64 + 5, 0)
        );
        drop(store);
        for file in std::fs::read_dir(dir.path().join("log")).unwrap() {
            let path = file.unwrap().path();
            if path != log {
                std::fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn a_damaged_byte_costs_its_block_and_is_told_with_its_place() {
    let (dir, log, ends) = five_blocks();
    let whole = std::fs::read(&log).unwrap();
    let expected: Vec<u64> = (1..=10).chain(16..=25).collect();
    for at in ends[1]..ends[2] {
        let mut damaged = whole.clone();
        damaged[usize::try_from(at).unwrap()] ^= 0x40;
        std::fs::write(&log, &damaged).unwrap();
        let snapshot = Snapshot::open(dir.path()).unwrap();
        let kept: Vec<u64> = snapshot.unsealed().records().iter().map(|r| r.id.0).collect();
        // Padding at the end of a block is in no checksum, and says nothing.
        if kept.len() == 25 {
            assert!(ends[2] - at <= 7, "byte {at} is not checked");
            continue;
        }
        assert_eq!(kept, expected, "byte {at}");
        let [damage] = snapshot.damage() else { panic!("{:?}", snapshot.damage()) };
        assert_eq!((&damage.path, damage.position, damage.rows_lost), (&log, ends[1], 5));
    }
    let mut damaged = whole.clone();
    damaged[usize::try_from(ends[1]).unwrap() + 70] ^= 1;
    std::fs::write(&log, &damaged).unwrap();
    // The writer counts it, once, however often it starts.
    for _ in 0..3 {
        let store = open(dir.path(), Options::default(), 100);
        assert_eq!(store.ledger().damaged_rows, 5);
        assert_eq!(store.recovery().damage[0].position, ends[1]);
    }
    let store = open(dir.path(), Options::default(), 100);
    store.seal_all(0).unwrap();
    drop(store);
    assert_eq!(open(dir.path(), Options::default(), 100).ledger().damaged_rows, 5);
    assert_eq!(ids(dir.path()), expected);
}

/// Garbage of every kind in place of the file: no panic, no hang, nothing invented.
#[test]
fn garbage_is_no_row() {
    let (dir, log, _) = five_blocks();
    let whole = std::fs::read(&log).unwrap();
    let mut random = 7u64;
    for round in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 7 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let at = usize::try_from(random >> 33).unwrap() % bytes.len();
            match round % 3 {
                0 => bytes[at] = (random >> 20) as u8,
                1 => {
                    let end = (at + 40).min(bytes.len());
                    drop(bytes.splice(at..end, [0xff; 13]));
                }
                _ => bytes.rotate_left(at % 64),
            }
        }
        std::fs::write(&log, &bytes).unwrap();
        let snapshot = Snapshot::open(dir.path()).unwrap();
        let ids: Vec<u64> = snapshot.unsealed().records().iter().map(|r| r.id.0).collect();
        assert!(ids.is_sorted_by(|a, b| a < b) && ids.iter().all(|id| (1..=25).contains(id)));
    }
    std::fs::write(&log, b"").unwrap();
    assert_eq!(Snapshot::open(dir.path()).unwrap().row_count(), 0);
}

#[test]
fn a_damaged_segment_is_an_error_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    for minute in [100, 101] {
        let batch = chains.batch(minute, 10);
        append(&store, &chains, &batch, 100);
    }
    store.seal_all(0).unwrap();
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let [bad, good] = snapshot.segments() else { panic!("two segments expected") };
    std::fs::write(&bad.sketch_path, b"PAR1garbage").unwrap();
    let error = chronoscope_store::read_sketch(bad).unwrap_err();
    assert!(matches!(error, StoreError::Parquet { .. }), "{error}");
    assert!(error.to_string().contains(bad.sketch_path.to_str().unwrap()));
    assert_eq!(chronoscope_store::read_sketch(good).unwrap().len(), 5);
}

#[test]
fn a_damaged_part_is_told_once_and_hinders_no_other_minute() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    for _ in 0..2 {
        for minute in [100, 101] {
            let batch = chains.batch(minute, 4);
            append(&store, &chains, &batch, 100);
        }
        store.seal_all(0).unwrap();
    }
    let bad = Snapshot::open(dir.path()).unwrap().segments()[0].path.clone();
    let mut bytes = std::fs::read(&bad).unwrap();
    let end = bytes.len() - 20;
    bytes[end..].fill(0x55);
    std::fs::write(&bad, bytes).unwrap();
    let now_ns = 200 * chronoscope_store::MINUTE_NS;
    let error = store.maintain(now_ns).unwrap_err();
    assert!(error.to_string().contains(bad.to_str().unwrap()), "{error}");
    assert_eq!(support::maintain(&store, 200).merged_rows, 40, "the other minute");
    let parts: Vec<_> =
        Snapshot::open(dir.path()).unwrap().segments().iter().map(|s| s.parts).collect();
    assert_eq!(parts, [2, 2, 1]);
}

#[test]
fn a_damaged_manifest_is_told_with_its_place_and_harms_nothing() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path(), Options::default(), 100).seal_all(0).unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let batch = chains.batch(100, 1);
    append(&store, &chains, &batch, 100);
    store.seal_all(0).unwrap();
    drop(store);
    let path = dir.path().join("manifest");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    let files = count_files(dir.path());
    for error in [
        Snapshot::open(dir.path()).unwrap_err(),
        Store::open(dir.path(), Options::default(), 0).unwrap_err(),
    ] {
        assert!(
            error.to_string().starts_with(&format!("{}: byte 24: ", path.display())),
            "{error}"
        );
    }
    assert_eq!(count_files(dir.path()), files, "nothing is removed on the word of a bad manifest");
    std::fs::write(&path, whole).unwrap();
    assert_eq!(ids(dir.path()), [1, 2, 3, 4, 5]);
}

fn count_files(dir: &Path) -> usize {
    ["segments", "sketches"]
        .iter()
        .map(|sub| std::fs::read_dir(dir.join(sub)).unwrap().count())
        .sum()
}
