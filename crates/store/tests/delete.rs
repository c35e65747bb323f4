//! Deleting a range of time on request: what goes, what stays, and what others see meanwhile.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_store::{
    MINUTE_NS, Options, RangeDeletion, SketchRow, Snapshot, Store, StoreError, check, read_sketch,
};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Chains, append, foreign, ids, open};

/// Half of minute 10 to half of minute 12.
const RANGE: Range<i64> = 10 * MINUTE_NS + MINUTE_NS / 2..12 * MINUTE_NS + MINUTE_NS / 2;

fn request(start_ns: Range<i64>) -> RangeDeletion {
    RangeDeletion { start_ns, rows_max: u64::MAX, by: "ops".into() }
}

/// Chains every ten seconds of the minutes 9 to 13, in the store at minute `now`.
fn fill(store: &Store, chains: &mut Chains, now: i64, as_foreign: bool) {
    let mut batch = chronoscope_model::Batch::default();
    for n in 0..30 {
        for record in chains.chain(9 * MINUTE_NS + n * 10_000_000_000) {
            support::push(&mut batch, record);
        }
    }
    let batch = if as_foreign { foreign(&batch) } else { batch };
    append(store, chains, &batch, now);
}

fn sketches(dir: &Path) -> Vec<SketchRow> {
    let snapshot = Snapshot::open(dir).unwrap();
    let mut rows: Vec<SketchRow> =
        snapshot.segments().iter().flat_map(|segment| read_sketch(segment).unwrap()).collect();
    rows.sort_by(|a, b| (a.minute, &a.path, &a.class).cmp(&(b.minute, &b.path, &b.class)));
    rows
}

/// Sealed in two parts and unsealed, native and foreign: what is left is what a store has that never
/// had the rest, with the same sketches, and every byte as written.
#[test]
fn a_range_that_cuts_minutes_takes_its_rows_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let store = open(dir.path(), Options::default(), 20);
    fill(&store, &mut chains, 20, false);
    fill(&store, &mut chains, 20, true);
    store.seal_all(20 * MINUTE_NS).unwrap();
    fill(&store, &mut chains, 20, false);
    store.sync().unwrap();
    let content = Snapshot::open(dir.path()).unwrap().range_content(&RANGE, |_, _| true).unwrap();
    // Twelve chains of five rows, three times; the foreign ones by their own start.
    assert_eq!((content.rows, content.chains, content.minutes), (180, 36, 3));
    assert_eq!(content.segments_cut, 4);
    assert!(content.bytes > 0 && !content.chains_more);
    let deleted = store.delete(&request(RANGE), 21 * MINUTE_NS).unwrap();
    assert_eq!((deleted.rows, deleted.segments, deleted.segments_cut), (180, 3, 6));
    let rest = ids(dir.path());
    assert_eq!(rest.len(), 450 - 180);
    let left = Snapshot::open(dir.path()).unwrap().range_content(&RANGE, |_, _| true).unwrap();
    assert_eq!(left.rows, 0);
    let checked = check(dir.path(), |_, _| true).unwrap();
    assert!(checked.is_whole(), "{:?}", checked.damage);
    // It is known to who opens the store again, and the replaced files are gone.
    let noted = |dir: &Path| {
        let snapshot = Snapshot::open(dir).unwrap();
        snapshot.ledger().deletions.iter().cloned().collect::<Vec<_>>()
    };
    let note = noted(dir.path());
    assert_eq!((note[0].rows, note[0].by.as_str()), (180, "ops"));
    assert_eq!((note[0].from_ns, note[0].until_ns), (RANGE.start, RANGE.end));
    store.remove_replaced().unwrap();
    support::maintain(&store, 30);
    drop(store);
    let store = open(dir.path(), Options::default(), 30);
    assert_eq!(store.recovery().orphans, 0);
    assert_eq!(ids(dir.path()), rest);
    assert_eq!(noted(dir.path()), note);
    // A store that never had the deleted rows.
    let other = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let plain = open(other.path(), Options::default(), 20);
    for as_foreign in [false, true, false] {
        let mut batch = chronoscope_model::Batch::default();
        for n in 0..30 {
            let start_ns = 9 * MINUTE_NS + n * 10_000_000_000;
            for record in chains.chain(start_ns) {
                if !RANGE.contains(&start_ns) {
                    support::push(&mut batch, record);
                }
            }
        }
        let batch = if as_foreign { foreign(&batch) } else { batch };
        append(&plain, &chains, &batch, 20);
    }
    plain.seal_all(20 * MINUTE_NS).unwrap();
    support::maintain(&plain, 30);
    assert_eq!(sketches(dir.path()), sketches(other.path()));
}

#[test]
fn a_deleted_row_is_in_no_file_of_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let store = open(dir.path(), Options::default(), 20);
    fill(&store, &mut chains, 20, false);
    store.sync().unwrap();
    store.delete(&request(i64::MIN..i64::MAX), 21 * MINUTE_NS).unwrap();
    store.remove_replaced().unwrap();
    assert_eq!(Snapshot::open(dir.path()).unwrap().row_count(), 0);
    for sub in ["log", "segments", "sketches"] {
        let files = std::fs::read_dir(dir.path().join(sub)).unwrap();
        let names = files.map(|entry| entry.unwrap().file_name()).filter(|name| name != "durable");
        assert_eq!(names.count(), 0, "{sub}");
    }
    // The store goes on.
    fill(&store, &mut chains, 22, false);
    store.sync().unwrap();
    drop(store);
    drop(open(dir.path(), Options::default(), 23));
    assert_eq!(ids(dir.path()).len(), 150);
}

#[test]
fn more_rows_than_were_confirmed_are_not_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let store = open(dir.path(), Options::default(), 20);
    fill(&store, &mut chains, 20, false);
    let what = RangeDeletion { rows_max: 59, ..request(RANGE) };
    let error = store.delete(&what, 21 * MINUTE_NS).unwrap_err();
    assert!(matches!(error, StoreError::MoreRows { rows: 60, rows_max: 59 }), "{error}");
    assert_eq!(ids(dir.path()).len(), 150);
    assert!(Snapshot::open(dir.path()).unwrap().ledger().deletions.is_empty());
    assert_eq!(
        store.delete(&RangeDeletion { rows_max: 60, ..what }, 21 * MINUTE_NS).unwrap().rows,
        60
    );
}

/// A question that began before the deletion reads its snapshot to the end.
#[test]
fn who_reads_meanwhile_sees_all_of_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let store = open(dir.path(), Options::default(), 20);
    fill(&store, &mut chains, 20, false);
    store.seal_all(20 * MINUTE_NS).unwrap();
    let before = Snapshot::open(dir.path()).unwrap();
    store.delete(&request(RANGE), 21 * MINUTE_NS).unwrap();
    let rows: Vec<_> = before.transactions(i64::MIN..i64::MAX).collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), 150);
    assert_eq!(ids(dir.path()).len(), 90);
}

/// Rows arrive in the range while it is deleted again and again: each is deleted or there, once.
#[test]
fn rows_that_arrive_meanwhile_are_deleted_or_stay() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 20);
    let (done, mut deleted, mut first) = (AtomicBool::new(false), 0, Vec::new());
    let appended = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut chains = Chains::default();
            for _ in 0..40 {
                fill(&store, &mut chains, 20, false);
                store.sync().unwrap();
            }
            done.store(true, Ordering::Release);
            40 * 150
        });
        while !done.load(Ordering::Acquire) {
            let gone = store.delete(&request(RANGE), 21 * MINUTE_NS).unwrap();
            deleted += gone.rows;
            first.push(gone.rows);
        }
        writer.join().unwrap()
    });
    let mut left = ids(dir.path());
    assert_eq!(left.len() as u64 + deleted, appended, "{first:?}");
    left.dedup();
    assert_eq!(left.len() as u64 + deleted, appended, "none is there twice");
    drop(store);
    drop(open(dir.path(), Options::default(), 22));
    assert_eq!(ids(dir.path()), left);
    let noted: u64 =
        Snapshot::open(dir.path()).unwrap().ledger().deletions.iter().map(|d| d.rows).sum();
    assert_eq!(noted, deleted);
}

/// A segment that cannot be read cannot be cut, and nothing is deleted; as a whole it can go.
#[test]
fn a_damaged_segment_is_named_or_goes_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let store = open(dir.path(), Options::default(), 20);
    fill(&store, &mut chains, 20, false);
    store.seal_all(20 * MINUTE_NS).unwrap();
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let path = &snapshot.segments()[1].path;
    let mut bytes = std::fs::read(path).unwrap();
    bytes[40] ^= 0xff;
    std::fs::write(path, bytes).unwrap();
    let error = store.delete(&request(RANGE), 21 * MINUTE_NS).unwrap_err().to_string();
    assert!(error.contains(path.file_name().unwrap().to_str().unwrap()), "{error}");
    assert!(Snapshot::open(dir.path()).unwrap().ledger().deletions.is_empty());
    let whole = 10 * MINUTE_NS..11 * MINUTE_NS;
    assert_eq!(store.delete(&request(whole), 21 * MINUTE_NS).unwrap().rows, 30);
    assert!(check(dir.path(), |_, _| true).unwrap().is_whole());
}
