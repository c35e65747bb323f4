//! A minute's way: log, segment, late rows, merging, deletion; and what readers see meanwhile.

mod support;

use arrow_array::types::{UInt8Type, UInt16Type, UInt64Type};
use chronoscope_model::schema::links;
use chronoscope_store::{Append, Options, RowKind, Snapshot, Store, StoreError, read_sketch};
use std::time::Duration;
use support::{Chains, append, column, foreign, ids, maintain, open, words};

#[test]
fn a_minute_is_sealed_after_its_wait_and_nothing_is_doubled() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let batch = chains.batch(100, 40);
    append(&store, &chains, &batch, 100);
    assert_eq!(store.sync().unwrap(), 200);
    let expected: Vec<u64> = (1..=200).collect();

    assert_eq!(maintain(&store, 102).sealed_rows, 0);
    assert_eq!(ids(dir.path()), expected);
    assert_eq!(maintain(&store, 103).sealed_rows, 200);
    assert_eq!(ids(dir.path()), expected);

    let snapshot = Snapshot::open(dir.path()).unwrap();
    let [segment] = snapshot.segments() else { panic!("one segment expected") };
    assert_eq!((segment.row_count, segment.parts, segment.slot.kind), (200, 1, RowKind::Native));
    assert!(snapshot.unsealed().is_empty());
    let paths = words(&segment.path, "path");
    assert!(paths.is_sorted(), "native rows stand by path");
    assert_eq!(paths[199].as_deref().unwrap().matches('/').count(), 4);
    let levels = column::<UInt16Type>(&segment.path, "level");
    for (link, level) in column::<UInt8Type>(&segment.path, "links").into_iter().zip(levels) {
        let leaf = links::LEAF | links::LAST_LEAF;
        assert_eq!(link, if level == 4 { leaf } else { 0 });
    }
    let hosts = words(&segment.path, "root_host");
    assert!(hosts.iter().all(|host| host.as_deref() == Some("host-0")));
    // The log holds nothing that is needed, and its old file is gone once it is replaced.
    assert_eq!(store.backlog().unsealed_bytes, 0);
}

#[test]
fn a_restart_finds_rows_names_and_cursors_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let process = chronoscope_model::ProcessId(5);
    {
        let store = open(dir.path(), Options::default(), 100);
        let batch = chains.batch(100, 3);
        let input = Append {
            batch: Some(&batch),
            names: Some(&chains.names),
            cursors: &[(process, vec![(0, 15), (3, 1)])],
            lost: &[(process, 8)],
            forget: &[],
            ..Append::default()
        };
        store.append(&input, 0).unwrap();
    }
    for now in [101, 103] {
        let store = open(dir.path(), Options::default(), now);
        assert_eq!(store.cursors(process), Some(vec![(0, 15), (3, 1)]));
        assert_eq!(store.ledger().lost_rows(), 8);
        assert_eq!(ids(dir.path()), (1..=15).collect::<Vec<_>>());
        let snapshot = Snapshot::open(dir.path()).unwrap();
        assert_eq!(snapshot.names().classes().count(), 5);
        // Rows waited anew since the start, so they are sealed only when that wait is over.
        maintain(&store, now + 1);
        assert_eq!(store.backlog().unsealed_rows, 15);
    }
    let store = open(dir.path(), Options::default(), 200);
    assert_eq!(store.recovery().rows, 15);
    store.seal_all(0).unwrap();
    drop(store);
    let store = open(dir.path(), Options::default(), 200);
    assert_eq!((store.recovery().rows, store.backlog().rows), (0, 15));
    assert_eq!(store.cursors(process), Some(vec![(0, 15), (3, 1)]));
    let forget = Append { forget: &[process], ..Append::default() };
    store.append(&forget, 0).unwrap();
    drop(store);
    assert_eq!(open(dir.path(), Options::default(), 200).cursors(process), None);
}

#[test]
fn rows_with_a_key_are_taken_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let batches = [chains.batch(0, 2), chains.batch(0, 2)];
    let offer = |store: &chronoscope_store::Store, batch: usize, key| {
        let batch = Some(&batches[batch]);
        let input = Append { batch, names: Some(&chains.names), key, ..Append::default() };
        store.append(&input, 0).unwrap()
    };
    let store = open(dir.path(), Options::default(), 0);
    assert_eq!([offer(&store, 0, Some(7)), offer(&store, 0, Some(7))], [10, 10]);
    drop(store); // the answer was lost with it
    let store = open(dir.path(), Options::default(), 0);
    assert_eq!([offer(&store, 0, Some(7)), offer(&store, 1, Some(8))], [10, 20]);
    store.seal_all(0).unwrap();
    drop(store);
    let store = open(dir.path(), Options::default(), 0);
    assert_eq!([offer(&store, 1, Some(8)), offer(&store, 0, None)], [20, 30]);
    drop(store);
    assert_eq!(ids(dir.path()).len(), 30);
}

#[test]
fn late_rows_are_counted_kept_and_merged() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let batch = chains.batch(100, 20);
    // The leaves of half of the chains come late.
    let is_late = |id: u64| id > 50 && id.is_multiple_of(5);
    let part = |late: bool| {
        let mut part = chronoscope_model::Batch::default();
        let records = batch.records().iter().filter(|r| is_late(r.id.0) == late);
        records.for_each(|record| support::push(&mut part, *record));
        part
    };
    append(&store, &chains, &part(false), 100);
    maintain(&store, 103);
    append(&store, &chains, &part(true), 110);
    assert_eq!(store.backlog().late_rows, 10);
    maintain(&store, 111);
    assert_eq!(store.backlog().unsealed_rows, 10, "late rows wait as well");
    let mut now = 112;
    assert_eq!(maintain(&store, now).sealed_rows, 10);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    assert_eq!(snapshot.segments().len(), 2);
    assert!(snapshot.segments().iter().all(|segment| segment.parts == 2));
    assert_eq!(snapshot.ledger().late_rows, 10);
    let old_paths: Vec<_> = snapshot.segments().iter().map(|s| s.path.clone()).collect();

    now += 2;
    assert_eq!(maintain(&store, now).merged_rows, 100);
    let expected: Vec<u64> = (1..=100).collect();
    assert_eq!(ids(dir.path()), expected);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let [segment] = snapshot.segments() else { panic!("one segment expected") };
    let leaves = column::<UInt8Type>(&segment.path, "links");
    let levels = column::<UInt16Type>(&segment.path, "level");
    for (links, level) in leaves.iter().zip(&levels) {
        let leaf = links::LEAF | links::LAST_LEAF;
        assert_eq!(*links, if *level == 4 { leaf } else { 0 }, "linked over both parts");
    }
    assert!(words(&segment.path, "path").is_sorted());
    let sketches = read_sketch(segment).unwrap();
    assert_eq!(sketches.iter().map(|row| row.elapsed.count()).sum::<u64>(), 100);
    assert_eq!(sketches.len(), 5);
    // Who knows the old manifest may read on for a minute.
    assert!(old_paths.iter().all(|path| path.exists()));
    maintain(&store, now + 1);
    assert!(old_paths.iter().all(|path| !path.exists()));
    assert_eq!(ids(dir.path()), expected);
}

#[test]
fn too_much_in_memory_is_sealed_early_in_parts_and_merged_later() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { buffer_bytes: 100_000, log_file_bytes: 50_000, ..Options::default() };
    let store = open(dir.path(), options, 100);
    let mut chains = Chains::default();
    for _ in 0..20 {
        let batch = chains.batch(100, 40);
        append(&store, &chains, &batch, 100);
        maintain(&store, 100);
        let backlog = store.backlog();
        assert!(backlog.unsealed_bytes <= 130_000 && backlog.log_bytes < 300_000, "{backlog:?}");
    }
    assert!(Snapshot::open(dir.path()).unwrap().segments().len() > 3);
    assert_eq!(store.backlog().late_rows, 0, "an early part is not late");
    maintain(&store, 104);
    maintain(&store, 106);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    assert_eq!(snapshot.segments().len(), 1);
    assert_eq!(ids(dir.path()), (1..=4000).collect::<Vec<_>>());
}

#[test]
fn a_backlog_refuses_without_taking() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { buffer_bytes: 15_000, ..Options::default() };
    let store = open(dir.path(), options, 100);
    let mut chains = Chains::default();
    let batch = chains.batch(100, 100);
    append(&store, &chains, &batch, 100);
    let error = store.append(&Append { batch: Some(&batch), ..Append::default() }, 0).unwrap_err();
    assert!(matches!(error, StoreError::Backlog { .. }) && error.is_passing());
    maintain(&store, 100);
    assert_eq!(ids(dir.path()).len(), 500);
    store.append(&Append { batch: Some(&batch), ..Append::default() }, 0).unwrap();
}

#[test]
fn foreign_rows_stand_by_chain_in_the_minute_of_their_own_start() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let batch = chains.batch(100, 50);
    append(&store, &chains, &foreign(&batch), 100);
    maintain(&store, 103);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let [segment] = snapshot.segments() else { panic!("one segment expected") };
    assert_eq!(segment.slot.kind, RowKind::Foreign);
    assert!(column::<UInt64Type>(&segment.path, "chain_low").is_sorted());
    assert!(words(&segment.path, "root_class").iter().all(Option::is_none));
    let sketches = read_sketch(segment).unwrap();
    assert!(sketches.iter().all(|row| row.since_root.count() == 0 && row.path.is_empty()));
    assert_eq!(sketches.len(), 5, "told apart by class");
}

#[test]
fn old_minutes_go_first_by_age_and_by_size() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let fill = |store: &Store, chains: &mut Chains| {
        for minute in 100..110 {
            let batch = chains.batch(minute, 10);
            append(store, chains, &batch, minute);
        }
        maintain(store, 112);
    };
    let minutes = || {
        let snapshot = Snapshot::open(dir.path()).unwrap();
        snapshot.segments().iter().map(|s| s.slot.minute.0).collect::<Vec<_>>()
    };
    {
        let keep = Some(Duration::from_mins(7));
        let store = open(dir.path(), Options { keep, ..Options::default() }, 100);
        fill(&store, &mut chains);
        assert_eq!(minutes(), (105..110).collect::<Vec<_>>());
        assert_eq!(Snapshot::open(dir.path()).unwrap().expired_rows(), 5 * 50);
    }
    let sizes = Snapshot::open(dir.path()).unwrap().segments()[0].size_bytes;
    let log = std::fs::read_dir(dir.path().join("log")).unwrap();
    let log_bytes: u64 = log.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    let keep_bytes = Some(log_bytes + sizes * 3 + sizes / 2);
    let store = open(dir.path(), Options { keep_bytes, ..Options::default() }, 112);
    maintain(&store, 112);
    let left = minutes();
    assert_eq!(left, [107, 108, 109]);
    let files = std::fs::read_dir(dir.path().join("segments")).unwrap().count();
    assert_eq!(files, left.len());
}

#[test]
fn a_second_server_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let _store = open(dir.path(), Options::default(), 0);
    let error = Store::open(dir.path(), Options::default(), 0).unwrap_err();
    let holder = format!("another server (process {}) writes this store", std::process::id());
    assert!(error.to_string().contains(&holder), "{error}");
}
