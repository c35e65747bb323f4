//! All rows come out again as transactions, sealed or not, each once.

#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use chronoscope_model::{Names, Transaction};
use chronoscope_store::{
    Followed, MINUTE_NS, Options, ParquetRows, ParquetWriter, Snapshot, StoreError, Tail,
};
use std::ops::Range;
use std::path::Path;
use support::{Chains, append, foreign, maintain, open};

fn read(dir: &Path, range: Range<i64>) -> Vec<Transaction> {
    let transactions = Snapshot::open(dir).unwrap().transactions(range);
    let mut all: Vec<_> = transactions.map(Result::unwrap).collect();
    all.sort_by_key(|transaction| transaction.id);
    all
}

/// The stored rows in words. The start of processes is not a column and is not compared.
fn words(batch: &chronoscope_model::Batch, names: &Names) -> Vec<Transaction> {
    let words = |record| {
        let mut t = Transaction::from_record(record, batch.context(record), names);
        for process in [&mut t.process, &mut t.root_process].into_iter().flatten() {
            process.start_ns = 0;
        }
        t
    };
    batch.records().iter().map(words).collect()
}

fn forget_starts(mut transactions: Vec<Transaction>) -> Vec<Transaction> {
    for t in &mut transactions {
        for process in [&mut t.process, &mut t.root_process].into_iter().flatten() {
            process.start_ns = 0;
        }
    }
    transactions
}

const ALL: Range<i64> = i64::MIN..i64::MAX;

#[test]
fn sealed_and_unsealed_rows_come_out_as_they_went_in() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let native = chains.batch(100, 20);
    let strange = foreign(&chains.batch(100, 3));
    append(&store, &chains, &native, 100);
    append(&store, &chains, &strange, 100);
    maintain(&store, 103);
    let open_rows = chains.batch(103, 4);
    append(&store, &chains, &open_rows, 103);
    store.sync().unwrap();

    let mut expected = words(&native, &chains.names);
    expected.extend(words(&strange, &chains.names));
    expected.extend(words(&open_rows, &chains.names));
    assert_eq!(forget_starts(read(dir.path(), ALL)), expected);

    let late = read(dir.path(), 103 * MINUTE_NS..ALL.end);
    assert_eq!(late.len(), 20, "whole chains of the minute");
    let one = read(dir.path(), 100 * MINUTE_NS..100 * MINUTE_NS + 1);
    assert_eq!(one.iter().filter(|t| t.root_start_ns.is_some()).count(), 5);
}

/// A reader that takes its time sees every row once although the store is merged meanwhile.
#[test]
fn a_store_that_changes_is_read_without_gap_or_double() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    for minute in [100, 101, 102] {
        let batch = chains.batch(minute, 10);
        append(&store, &chains, &batch, minute);
    }
    maintain(&store, 110);
    let mut transactions = Snapshot::open(dir.path()).unwrap().transactions(ALL);
    let mut ids: Vec<u64> = transactions.by_ref().take(30).map(|t| t.unwrap().id.0).collect();
    // Late rows for the last minute; its parts are merged, and the files of before removed.
    let late = chains.batch(102, 2);
    append(&store, &chains, &late, 110);
    for minute in 111..130 {
        maintain(&store, minute);
    }
    ids.extend(transactions.map(|t| t.unwrap().id.0));
    ids.sort_unstable();
    assert_eq!(ids, (1..=160).collect::<Vec<_>>());
}

#[test]
fn a_parquet_file_of_ours_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.parquet");
    let mut chains = Chains::default();
    let batch = chains.batch(7, 30);
    let mut writer = ParquetWriter::create(&path).unwrap();
    writer.write(&batch, &chains.names).unwrap();
    writer.finish().unwrap();
    let rows = ParquetRows::open(&path).unwrap();
    assert_eq!(rows.row_count(), 150);
    let mut back: Vec<_> = rows.map(Result::unwrap).collect();
    back.sort_by_key(|transaction| transaction.id);
    assert_eq!(back, words(&batch, &chains.names));
}

#[test]
fn what_is_no_parquet_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.parquet");
    std::fs::write(&path, b"PAR1 not at all PAR1").unwrap();
    let error = ParquetRows::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Parquet { .. }), "{error}");
    assert!(error.to_string().contains("x.parquet"));
    assert!(ParquetRows::open(&dir.path().join("none")).unwrap_err().is_missing());
}

/// Rows are seen once as they come, through rotation and sealing; what went too fast is counted.
#[test]
fn a_tail_sees_what_comes_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { log_file_bytes: 4096, ..Options::default() };
    let store = open(dir.path(), options, 100);
    let mut chains = Chains::default();
    let before = chains.batch(100, 2);
    append(&store, &chains, &before, 100);
    let mut tail = Tail::at_end(dir.path()).unwrap();
    let mut seen = Vec::new();
    let mut read = |tail: &mut Tail| {
        tail.read(|batch, names, _| {
            seen.extend(batch.records().iter().map(|record| record.id.0));
            assert!(batch.records().iter().all(|record| names.class(record.class).is_some()));
        })
        .unwrap()
    };
    assert_eq!(read(&mut tail), Followed::default());
    let mut expected = Vec::new();
    for round in 0..5 {
        for _ in 0..10 {
            let batch = chains.batch(100 + round, 3);
            expected.extend(batch.records().iter().map(|record| record.id.0));
            append(&store, &chains, &batch, 100 + round);
        }
        assert_eq!(read(&mut tail), Followed { rows: 150, missed: 0 });
    }
    // The first of these may come into the file that is being read: that one is not lost, ever.
    for _ in 0..3 {
        let unseen = chains.batch(106, 40);
        expected.extend(unseen.records().iter().map(|record| record.id.0));
        append(&store, &chains, &unseen, 106);
    }
    maintain(&store, 200); // sealed, and the log removed
    let last = chains.batch(200, 1);
    expected.extend(last.records().iter().map(|record| record.id.0));
    append(&store, &chains, &last, 200);
    let followed = read(&mut tail);
    assert_eq!(followed.rows + followed.missed, 605);
    assert!(followed.missed >= 200, "{followed:?}");
    expected.retain(|id| seen.contains(id));
    assert_eq!(seen, expected, "each once, in order");
    assert_eq!(seen.last(), last.records().last().map(|record| &record.id.0));
}
