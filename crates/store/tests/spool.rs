//! An agent's spool: bounded, in order, each row once.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_model::{Batch, ProcessId};
use chronoscope_store::wire::Extras;
use chronoscope_store::{Append, Spool, SpoolOptions, Store, StoreError};
use std::path::Path;
use support::Chains;

const PROCESS: ProcessId = ProcessId(4);

fn open(dir: &Path, bytes_max: u64, file_bytes: u64) -> Spool {
    Spool::open(dir, SpoolOptions { bytes_max, file_bytes }, 0).unwrap()
}

fn append(spool: &Spool, chains: &Chains, batch: &Batch) -> u64 {
    let input = Append { batch: Some(batch), names: Some(&chains.names), ..Append::default() };
    spool.append(&input, 7).unwrap()
}

/// Appends some new chains of five rows.
fn add(spool: &Spool, chains: &mut Chains, count: u64) -> u64 {
    let batch = chains.batch(100, count);
    append(spool, chains, &batch)
}

/// The ids of all rows from `row` on, and where they end.
fn read_from(spool: &Spool, mut row: u64) -> (Vec<u64>, u64) {
    let mut ids = Vec::new();
    while let Some(block) = spool.read(row).unwrap() {
        assert!(block.first_row >= row && !block.batch.is_empty());
        ids.extend(block.batch.records().iter().map(|record| record.id.0));
        row = block.end_row();
    }
    (ids, row)
}

#[test]
fn durable_blocks_are_read_in_order_with_what_their_ids_mean() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let spool = open(dir.path(), 1 << 20, 1 << 18);
    let (first, second) = (chains.batch(100, 2), chains.batch(100, 1));
    assert_eq!(append(&spool, &chains, &first), 10);
    assert_eq!(spool.read(0).unwrap(), None, "nothing is durable yet");
    assert_eq!(spool.sync().unwrap(), 10);
    assert_eq!(append(&spool, &chains, &second), 15);
    let block = spool.read(0).unwrap().unwrap();
    assert_eq!((block.first_row, &block.batch, &block.names), (0, &first, &chains.names));
    assert_eq!(spool.read(10).unwrap(), None);
    spool.sync().unwrap();
    // Inside a block, ahead and back again.
    for row in [12, 3, 11, 0] {
        assert_eq!(read_from(&spool, row), ((row + 1..=15).collect(), 15));
    }
    // Only the names that the rows need.
    let mut one = Batch::default();
    one.push(chains.chain(5)[0], b"");
    append(&spool, &chains, &one);
    spool.sync().unwrap();
    let names = spool.read(15).unwrap().unwrap().names;
    assert_eq!((names.classes().count(), names.paths().count()), (1, 1));
}

#[test]
fn what_is_told_without_rows_comes_with_the_next_rows() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let spool = open(dir.path(), 1 << 20, 1 << 18);
    for lost in [3, 9] {
        let told = [(PROCESS, lost)];
        spool.append(&Append { lost: &told, ..Append::default() }, 0).unwrap();
    }
    spool.append(&Append { forget: &[PROCESS], ..Append::default() }, 0).unwrap();
    spool.sync().unwrap();
    assert_eq!(spool.read(0).unwrap(), None);
    add(&spool, &mut chains, 1);
    spool.sync().unwrap();
    let extras = spool.read(0).unwrap().unwrap().extras;
    let wanted = Extras { lost: vec![(PROCESS, 9)], gone: vec![PROCESS], ..Extras::default() };
    assert_eq!(extras, wanted);
}

#[test]
fn the_id_rows_and_cursors_outlive_the_process() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let spool = open(dir.path(), 1 << 20, 2000);
    let id = spool.id();
    for end in [10, 20, 30] {
        let batch = chains.batch(100, 2);
        let cursors = [(PROCESS, vec![(0, end)])];
        let input = Append {
            batch: Some(&batch),
            names: Some(&chains.names),
            cursors: &cursors,
            ..Append::default()
        };
        spool.append(&input, 0).unwrap();
    }
    spool.sync().unwrap();
    let error = Spool::open(dir.path(), SpoolOptions::default(), 0).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    spool.acknowledge(10).unwrap();
    drop(spool);
    let spool = open(dir.path(), 1 << 20, 2000);
    assert_eq!((spool.id(), spool.cursors(PROCESS)), (id, Some(vec![(0, 30)])));
    assert_eq!(spool.durable_rows(), 30);
    // What the first file had was acknowledged and is gone; nothing was dropped.
    assert_eq!(read_from(&spool, 0), ((11..=30).collect(), 30));
    assert_eq!((spool.dropped_rows(), spool.backlog().waiting_rows), (0, 20));
    let other = tempfile::tempdir().unwrap();
    assert_ne!(open(other.path(), 1 << 20, 2000).id(), id);
}

#[test]
fn beyond_its_bound_the_oldest_file_goes_and_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let bytes_max = 40_000;
    let mut spool = open(dir.path(), bytes_max, 10_000);
    let mut taken = 0;
    for round in 0..100 {
        let batch = chains.batch(100, 2);
        taken = append(&spool, &chains, &batch);
        if round == 50 {
            spool.sync().unwrap();
            spool.acknowledge(300).unwrap();
        }
        assert!(spool.backlog().log_bytes <= bytes_max + 2000, "{:?}", spool.backlog());
        if round == 70 {
            spool.sync().unwrap();
            drop(spool);
            spool = open(dir.path(), bytes_max, 10_000);
        }
    }
    spool.sync().unwrap();
    let (ids, end) = read_from(&spool, 0);
    assert_eq!(end, taken);
    // A file at a time, from the oldest: what is left has no holes.
    let first = ids[0];
    assert_eq!(ids, (first..=taken).collect::<Vec<_>>());
    let dropped = spool.dropped_rows();
    assert!(dropped > 300 && dropped < first, "{dropped} of {first}");
    let known = spool.ledger();
    assert_eq!(known.names.classes().count(), 5, "names outlive the file they came with");
    drop(spool);
    assert_eq!(open(dir.path(), bytes_max, 10_000).dropped_rows(), dropped);
}

#[test]
fn all_that_is_acknowledged_goes() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let spool = open(dir.path(), 1 << 20, 5_000);
    for _ in 0..20 {
        add(&spool, &mut chains, 2);
        let (_, end) = {
            spool.sync().unwrap();
            read_from(&spool, spool.backlog().acknowledged_rows)
        };
        spool.acknowledge(end).unwrap();
    }
    let files = std::fs::read_dir(dir.path().join("log")).unwrap();
    let files = files.filter(|file| file.as_ref().unwrap().path().extension().is_some()).count();
    assert!(files <= 1, "{files} files");
    assert_eq!((spool.backlog().waiting_rows, spool.dropped_rows()), (0, 0));
    // A receiver that claims more than it can have is not believed.
    spool.acknowledge(u64::MAX).unwrap();
    add(&spool, &mut chains, 1);
    spool.sync().unwrap();
    assert_eq!(spool.backlog().waiting_rows, 5);
}

#[test]
fn a_spool_is_no_store_and_a_store_no_spool() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path(), 1 << 20, 1 << 18));
    let error = Store::open(dir.path(), chronoscope_store::Options::default(), 0).unwrap_err();
    assert!(matches!(error, StoreError::Spool { .. }), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let store = support::open(dir.path(), chronoscope_store::Options::default(), 0);
    let batch = chains.batch(0, 1);
    support::append(&store, &chains, &batch, 0);
    drop(store);
    let error = Spool::open(dir.path(), SpoolOptions::default(), 0).unwrap_err();
    assert!(matches!(error, StoreError::Spool { .. }), "{error}");
}

/// A byte of a file on disk changes: what it hit is missing, told and counted; the rest comes.
#[test]
fn damage_shows_as_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let spool = open(dir.path(), 1 << 20, 1 << 18);
    for _ in 0..5 {
        add(&spool, &mut chains, 1);
        spool.sync().unwrap();
    }
    drop(spool);
    let path = dir.path().join("log/0000000000000000.wal");
    let mut bytes = std::fs::read(&path).unwrap();
    let hit = bytes.len() / 2;
    bytes[hit] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let spool = open(dir.path(), 1 << 20, 1 << 18);
    assert_eq!(spool.ledger().damaged_rows, 5);
    let (ids, end) = read_from(&spool, 0);
    assert_eq!((ids.len(), end), (20, 25));
    let mut firsts = Vec::new();
    let mut row = 0;
    while let Some(block) = spool.read(row).unwrap() {
        firsts.push((row, block.first_row));
        row = block.end_row();
    }
    assert_eq!(firsts.iter().filter(|(asked, first)| asked != first).count(), 1, "{firsts:?}");
}
