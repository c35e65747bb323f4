//! Crashes at every step of everything that changes files: what was reported durable is there
//! exactly once, whatever the step and however the power goes.

use crate::crash::{Crash, steps_of};
use crate::crash_points::{Life, on, passing, tempdir, torn};
use crate::disk::Disk;
use crate::{Append, MINUTE_NS, Options, Positions, RangeDeletion, Snapshot, Store, StoreError};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use bytemuck::Zeroable;
use chronoscope_model::{Batch, ClassName, Names, ProcessId, Record, TransactionId};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const PROCESS: ProcessId = ProcessId(9);

fn options() -> Options {
    Options {
        wait: Duration::from_secs(60),
        log_file_bytes: 3000,
        keep: Some(Duration::from_mins(60)),
        ..Options::default()
    }
}

/// Knowledge of the caller: rows are numbered as in a ring, cursors are its read positions.
#[derive(Debug, Default)]
struct Told {
    /// All rows below are durable, as the store reported.
    durable: u64,
    /// Rows deleted on purpose.
    expired: u64,
    /// Rows merged.
    merged: u64,
}

/// Ten rows from `first` on in minute `minute`, every fifth of them in minute 2.
fn batch(first: u64, minute: i64) -> Batch {
    let mut batch = Batch::default();
    for id in first..first + 10 {
        let minute = if id.is_multiple_of(5) { 2 } else { minute };
        let record = Record {
            id: TransactionId(id + 1),
            root_start_ns: minute * MINUTE_NS + 7,
            start_ns: minute * MINUTE_NS + 7,
            ..Record::zeroed()
        };
        batch.push(record, b"");
    }
    batch
}

/// A life of a store: reads the "ring" from where the cursors say, appends, syncs, seals, merges,
/// deletes. Ends at the first error that does not pass.
fn live(disk: Disk, dir: &Path, told: &mut Told) -> Result<(), StoreError> {
    let store = Store::open_on(disk, dir, options(), 0)?;
    let mut names = Names::default();
    for round in 0..9 {
        let minute = 1 + i64::from(round) / 3;
        let now_ns = minute * MINUTE_NS;
        let next = store.cursors(PROCESS).map_or(0, |cursors| cursors[0].1);
        names.add_class(ClassName { application: "A".into(), class: format!("c{round}") });
        let cursors: [(ProcessId, Positions); 1] = [(PROCESS, vec![(0, next + 10)])];
        let rows = batch(next, minute);
        let input = Append {
            batch: Some(&rows),
            names: Some(&names),
            cursors: &cursors,
            lost: &[(PROCESS, next)],
            ..Append::default()
        };
        let appended = passing(store.append(&input, now_ns))?;
        // Every third time maintenance comes before the sync, as it may with threads of their own.
        if round % 3 != 0 && passing(store.sync())?.is_some() && appended.is_some() {
            told.durable = told.durable.max(next + 10);
        }
        let mut maintenance_ns = now_ns;
        while let Some(done) = passing(store.maintain(maintenance_ns))? {
            told.expired += done.expired_rows;
            told.merged += done.merged_rows;
            if !done.again {
                break;
            }
            // Another minute on, so that merging is due as well.
            maintenance_ns += MINUTE_NS;
        }
    }
    for now in [5, 6, 8, 10, 63] {
        if let Some(done) = passing(store.maintain(now * MINUTE_NS))? {
            told.expired += done.expired_rows;
            told.merged += done.merged_rows;
        }
    }
    Ok(())
}

/// The ids of all rows with their counts; a reader that finds a segment gone is a failure.
fn ids(dir: &Path) -> BTreeMap<u64, u32> {
    let snapshot = Snapshot::open(dir).unwrap();
    assert_eq!(snapshot.damage(), []);
    let mut ids = BTreeMap::new();
    let mut add = |id: u64| *ids.entry(id).or_default() += 1;
    snapshot.unsealed().records().iter().for_each(|record| add(record.id.0));
    for segment in snapshot.segments() {
        let file = std::fs::File::open(&segment.path).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let column = batch.column_by_name("id").unwrap().as_primitive::<UInt64Type>();
            column.values().iter().for_each(|id| add(*id));
        }
    }
    ids
}

/// Everything durable is there once, and whatever the cursors cover as well.
fn check(dir: &Path, told: &Told, what: &str) {
    for life in ["after the crash", "after recovery"] {
        let ids = ids(dir);
        assert!(ids.values().all(|count| *count == 1), "{what}, {life}: doubled in {ids:?}");
        let snapshot = Snapshot::open(dir).unwrap();
        let cursor = snapshot.ledger().cursors.get(&PROCESS).map_or(0, |cursors| cursors[0].1);
        assert!(cursor >= told.durable, "{what}, {life}: cursor {cursor}, {told:?}");
        let expired = snapshot.expired_rows();
        assert_eq!(ids.len() as u64 + expired, cursor, "{what}, {life}: {told:?}");
        assert_eq!(
            snapshot.ledger().lost.get(&PROCESS).copied().unwrap_or(0),
            cursor.saturating_sub(10)
        );
        let named = snapshot.names().classes().count() as u64;
        assert!(named > 0 || cursor == 0, "{what}, {life}: names");
        drop(Store::open(dir, options(), 0).unwrap());
    }
}

const LIFE: Life<Told> = Life {
    live,
    check,
    whole: |_, told| {
        assert_eq!(told.durable, 90);
        assert!(told.expired > 0 && told.merged > 0, "the life must come to all: {told:?}");
    },
    again: |told| Told { durable: told.durable, ..Told::default() },
    opening: 20,
};

#[test]
fn a_crash_at_any_step_loses_and_doubles_nothing() {
    LIFE.crash_at_each_step();
}

#[test]
fn an_error_at_any_step_that_passes_loses_and_doubles_nothing() {
    LIFE.fail_at_each_step();
}

/// Sixty rows over the minutes 1 to 3, some sealed, some in the log; then those from the middle of
/// minute 1 to the middle of minute 3 are deleted. Whether the rows were reported durable, and whether
/// the deletion was reported done.
fn live_and_delete(disk: Disk, dir: &Path, told: &mut (bool, bool)) -> Result<(), StoreError> {
    let store = Store::open_on(disk, dir, options(), 0)?;
    let mut names = Names::default();
    names.add_class(ClassName { application: "A".into(), class: "c".into() });
    let append = |from: u64| -> Result<(), StoreError> {
        let mut batch = Batch::default();
        for id in from..from + 30 {
            let start_ns = instant_of(id);
            let record = Record {
                id: TransactionId(id),
                root_start_ns: start_ns,
                start_ns,
                ..Record::zeroed()
            };
            batch.push(record, b"");
        }
        let names = Some(&names);
        store.append(&Append { batch: Some(&batch), names, ..Append::default() }, MINUTE_NS)?;
        store.sync().map(drop)
    };
    append(0)?;
    store.seal_all(4 * MINUTE_NS)?;
    append(30)?;
    told.0 = true;
    let what = RangeDeletion { start_ns: DELETED, rows_max: 60, by: "me".into() };
    store.delete(&what, 5 * MINUTE_NS)?;
    told.1 = true;
    // A minute later the files are removed as well.
    store.maintain(7 * MINUTE_NS).map(drop)
}

const DELETED: std::ops::Range<i64> = 90_000_000_000..210_000_000_000;

/// Every six seconds from minute 1 to the end of minute 3 a sealed row and one of the log.
fn instant_of(id: u64) -> i64 {
    MINUTE_NS + (id % 30).cast_signed() * 6_000_000_000
}

#[test]
fn a_crash_at_any_step_of_a_deletion_leaves_all_rows_or_deletes_all() {
    let all: Vec<u64> = (0..60).collect();
    let rest: Vec<u64> =
        all.iter().copied().filter(|id| !DELETED.contains(&instant_of(*id))).collect();
    assert!(rest.len() > 10 && rest.len() < 50, "{rest:?}");
    let dir = tempdir();
    let crash = Arc::new(Crash::at(u64::MAX, 0));
    let mut told = (false, false);
    live_and_delete(on(&crash), dir.path(), &mut told).unwrap();
    assert_eq!(ids(dir.path()).into_keys().collect::<Vec<_>>(), rest);
    let (mut undone, mut done) = (0, 0);
    for at in steps_of(crash.steps()) {
        let torn = torn(at);
        for power in [None, Some((true, 0.0)), Some((false, 0.5)), Some((true, 1.0))] {
            let dir = tempdir();
            let crash = Arc::new(Crash::at(at, torn));
            let mut told = (false, false);
            assert!(live_and_delete(on(&crash), dir.path(), &mut told).is_err(), "step {at}");
            if let Some((undo, keep)) = power {
                crash.lose_power(undo, keep);
            }
            let what = format!("step {at}, torn {torn}, power {power:?}, told {told:?}");
            if !told.0 {
                continue; // what was not durable is the other test's matter
            }
            for life in ["after the crash", "after recovery"] {
                let ids = ids(dir.path());
                assert!(ids.values().all(|count| *count == 1), "{what}, {life}: {ids:?}");
                let ids: Vec<u64> = ids.into_keys().collect();
                let snapshot = Snapshot::open(dir.path()).unwrap();
                let noted: u64 = snapshot.ledger().deletions.iter().map(|of| of.rows).sum();
                if ids == rest {
                    assert_eq!(noted, 60 - rest.len() as u64, "{what}, {life}");
                    done += 1;
                } else {
                    assert_eq!((&ids, noted), (&all, 0), "{what}, {life}");
                    assert!(!told.1, "{what}, {life}: the deletion was reported done");
                    undone += 1;
                }
                drop(Store::open(dir.path(), options(), 0).unwrap());
            }
        }
    }
    assert!(undone > 0 && done > 0, "crashes lie before and after: {undone}, {done}");
}
