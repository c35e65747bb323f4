//! Whatever changes in the files of a store, it never answers wrongly without a word, and nothing that
//! may hold rows is ever deleted by a start.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_model::{Batch, ClassName, Record, Transaction};
use chronoscope_query::{ClassStatistics, classes};
use chronoscope_store::{Options, Snapshot, Store, StoreError, check, confirm_deletion, repair};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use support::{Chains, append, foreign, maintain, open, push};

/// A store with segments of both kinds, one of them in two parts, and with rows in its log only.
fn store(dir: &Path) {
    store_with(dir, 40);
}

/// The same with other chains in its native segments.
fn store_with(dir: &Path, native_chains: u64) {
    let store = open(dir, Options::default(), 100);
    let mut chains = Chains::default();
    for minute in [100, 101] {
        let native = chains.batch(minute, native_chains);
        append(&store, &chains, &native, minute);
        let others = foreign(&chains.batch(minute, 30));
        append(&store, &chains, &others, minute);
        maintain(&store, minute + 3);
    }
    let late = chains.batch(101, 5);
    append(&store, &chains, &late, 104);
    store.seal_all(105 * chronoscope_store::MINUTE_NS).unwrap();
    for _ in 0..3 {
        let waiting = chains.batch(105, 4);
        append(&store, &chains, &waiting, 105);
        store.sync().unwrap();
    }
}

/// All that a store says.
#[derive(Debug, PartialEq)]
struct Said {
    rows: Vec<Transaction>,
    classes: BTreeMap<ClassName, ClassStatistics>,
}

/// Content of the store; an error if it reports damage.
fn said(dir: &Path) -> Result<Said, String> {
    let snapshot = Snapshot::open(dir).map_err(|error| error.to_string())?;
    let (classes, damage) =
        classes(&snapshot, &(i64::MIN..i64::MAX)).map_err(|error| error.to_string())?;
    if let Some(damage) = damage.first() {
        return Err(damage.to_string());
    }
    let rows: Result<Vec<_>, StoreError> = snapshot.transactions(i64::MIN..i64::MAX).collect();
    let mut rows = rows.map_err(|error| error.to_string())?;
    rows.sort_by_key(|row| row.id);
    Ok(Said { rows, classes })
}

/// The files of a store that hold what it knows.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files = vec![dir.join("manifest")];
    for sub in ["log", "segments", "sketches"] {
        files.extend(fs::read_dir(dir.join(sub)).unwrap().map(|entry| entry.unwrap().path()));
    }
    files.sort();
    files
}

#[test]
fn a_flip_anywhere_is_never_a_silently_wrong_answer() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let before = said(dir.path()).unwrap();
    assert_eq!(before.rows.len(), 5 * (2 * 70 + 5 + 12));
    let files = files(dir.path());
    assert_eq!(files.len(), 1 + 2 + 2 * 5, "{files:?}");
    let flip = |path: &Path, at: usize, bit: u8| {
        let mut bytes = fs::read(path).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        fs::write(path, bytes).unwrap();
        at
    };
    let mut runner = TestRunner::new(Config { cases: 400, ..Config::default() });
    let flips = (0..files.len(), any::<u32>(), 0..8u8);
    let told = std::cell::Cell::new(0);
    runner
        .run(&flips, |(file, at, bit)| {
            let at = flip(&files[file], at as usize, bit);
            let after = said(dir.path());
            let checked = check(dir.path(), |_, _| true);
            flip(&files[file], at, bit);
            match after {
                Ok(after) => prop_assert_eq!(&after, &before, "{:?} byte {}", files[file], at),
                Err(_) => {
                    told.set(told.get() + 1);
                    let is_told = checked.is_ok_and(|checked| checked.is_whole());
                    prop_assert!(!is_told, "the check finds {:?} byte {} whole", files[file], at);
                }
            }
            Ok(())
        })
        .unwrap();
    // All but flips of the file that says how far the log was durable, and of unused bytes.
    assert!(told.get() > 300, "{} of 400 were told", told.get());
    assert_eq!(said(dir.path()).unwrap(), before);
}

#[test]
fn a_file_that_is_cut_short_anywhere_is_told() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let before = said(dir.path()).unwrap();
    let mut runner = TestRunner::new(Config { cases: 100, ..Config::default() });
    let files: Vec<_> =
        files(dir.path()).into_iter().filter(|path| !path.ends_with("durable")).collect();
    runner
        .run(&(0..files.len(), any::<u32>()), |(file, at)| {
            let bytes = fs::read(&files[file]).unwrap();
            fs::write(&files[file], &bytes[..at as usize % bytes.len()]).unwrap();
            let after = said(dir.path());
            fs::write(&files[file], &bytes).unwrap();
            prop_assert!(after.is_err(), "{:?} cut at {}", files[file], at as usize % bytes.len());
            Ok(())
        })
        .unwrap();
    assert_eq!(said(dir.path()).unwrap(), before);
}

#[test]
fn without_its_manifest_a_store_is_refused_and_keeps_every_file() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let before = said(dir.path()).unwrap();
    fs::remove_file(dir.path().join("manifest")).unwrap();
    let kept: Vec<_> = files(dir.path()).into_iter().skip(1).collect::<Vec<_>>();
    let all: Vec<_> = kept.iter().filter_map(|path| fs::read(path).ok()).collect();
    let error = Store::open(dir.path(), Options::default(), 0).unwrap_err();
    assert!(matches!(error, StoreError::NoManifest { files: 6, .. }), "{error}");
    assert!(error.to_string().contains("store repair --dry-run"), "{error}");
    assert!(matches!(Snapshot::open(dir.path()), Err(StoreError::NoManifest { .. })));
    let still: Vec<_> = kept.iter().filter_map(|path| fs::read(path).ok()).collect();
    assert_eq!(still, all);

    let dry = repair(dir.path(), true, 0).unwrap();
    assert!(!dir.path().join("manifest").exists(), "a dry run changes nothing");
    let done = repair(dir.path(), false, 0).unwrap();
    assert_eq!(dry, done);
    assert!(done.manifest_rebuilt && done.lost.is_empty(), "{done:?}");
    assert_eq!((done.segments, done.rows, done.log_rows), (5, 5 * 145, 60));
    // Processes of rows that only the log has are named by nothing but the lost manifest.
    let mut after = said(dir.path()).unwrap();
    assert_eq!(after.rows.len(), before.rows.len());
    for (after, before) in after.rows.iter_mut().zip(&before.rows) {
        after.process.clone_from(&before.process);
        after.root_process.clone_from(&before.root_process);
    }
    assert_eq!(after, before);
    let _writes_on = Store::open(dir.path(), Options::default(), 0).unwrap();
    assert!(check(dir.path(), |_, _| true).unwrap().is_whole());
}

/// A minute in two parts of which one is damaged: the log still has its rows, in front of those of the
/// other part.
#[test]
fn rows_of_a_damaged_part_come_back_from_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    for _ in 0..2 {
        let rows = chains.batch(100, 20);
        append(&store, &chains, &rows, 100);
        store.seal_all(0).unwrap();
    }
    drop(store);
    let before = said(dir.path()).unwrap();
    let first = Snapshot::open(dir.path()).unwrap().segments()[0].path.clone();
    let mut bytes = fs::read(&first).unwrap();
    bytes[100] ^= 1;
    fs::write(&first, bytes).unwrap();
    fs::remove_file(dir.path().join("manifest")).unwrap();
    let repaired = repair(dir.path(), false, 0).unwrap();
    assert_eq!((repaired.rows, repaired.log_rows, repaired.lost.len()), (100, 100, 1));
    let checked = check(dir.path(), |_, _| true).unwrap();
    assert_eq!((checked.rows, checked.is_whole()), (200, true));
    assert_eq!(said(dir.path()).unwrap().rows.len(), before.rows.len());
    assert_eq!(said(dir.path()).unwrap().classes, before.classes);
    assert_eq!(Store::open(dir.path(), Options::default(), 0).unwrap().recovery().rows, 0);
}

#[test]
fn a_manifest_that_does_not_check_is_refused_and_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let rows = said(dir.path()).unwrap().rows.len();
    let path = dir.path().join("manifest");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let count = files(dir.path()).len();
    let error = Store::open(dir.path(), Options::default(), 0).unwrap_err();
    assert!(error.to_string().contains("store repair"), "{error}");
    assert_eq!(files(dir.path()).len(), count);
    repair(dir.path(), false, 0).unwrap();
    assert_eq!(said(dir.path()).unwrap().rows.len(), rows);
    assert_eq!(fs::read_dir(dir.path().join("lost+found")).unwrap().count(), 1);
}

#[test]
fn a_segment_that_no_manifest_names_goes_to_lost_and_found() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let before = said(dir.path()).unwrap();
    let segments = dir.path().join("segments");
    let one = fs::read_dir(&segments).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&one).unwrap();
    let orphan = segments.join("1970-01-01T01-41-native-77.parquet");
    let unfinished = segments.join("1970-01-01T01-41-native-78.parquet");
    fs::write(&orphan, &bytes).unwrap();
    fs::write(&unfinished, &bytes[..bytes.len() / 2]).unwrap();
    let unexplained = check(dir.path(), |_, _| true).unwrap().unexplained;
    assert_eq!(unexplained, [orphan.clone(), unfinished.clone()]);
    let store = Store::open(dir.path(), Options::default(), 0).unwrap();
    assert_eq!(store.recovery().orphans, 2);
    drop(store);
    assert!(!orphan.exists() && !unfinished.exists());
    let set_aside = check(dir.path(), |_, _| true).unwrap().set_aside;
    assert_eq!(set_aside.len(), 1);
    assert_eq!(fs::read(&set_aside[0]).unwrap(), bytes);
    assert_eq!(said(dir.path()).unwrap(), before);
}

/// A manifest names segments by number, and numbers begin anew in every store: that of another store
/// would give up log files below its own first one.
#[test]
fn a_manifest_of_another_store_is_refused_and_nothing_is_touched() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    store(dir.path());
    // The same minutes and the same numbers of segments, and no log file that the other still has.
    store_with(other.path(), 41);
    let more = open(other.path(), Options::default(), 106);
    more.seal_all(107 * chronoscope_store::MINUTE_NS).unwrap();
    drop(more);
    let before = said(dir.path()).unwrap();
    let kept = files(dir.path());
    fs::copy(other.path().join("manifest"), dir.path().join("manifest")).unwrap();
    let error = Store::open(dir.path(), Options::default(), 0).unwrap_err();
    assert!(matches!(error, StoreError::ForeignManifest { .. }), "{error}");
    assert!(matches!(Snapshot::open(dir.path()), Err(StoreError::ForeignManifest { .. })));
    assert_eq!(files(dir.path()), kept);
    let repaired = repair(dir.path(), false, 0).unwrap();
    assert!(repaired.manifest_rebuilt && repaired.lost.is_empty(), "{repaired:?}");
    let after = said(dir.path()).unwrap();
    assert_eq!((after.rows.len(), after.classes), (before.rows.len(), before.classes));
}

/// A store of foreign rows, which start `shift_ns` later than those of another such store.
fn store_of_foreign_rows(dir: &Path, shift_ns: i64) {
    let store = open(dir, Options::default(), 100);
    let mut chains = Chains::default();
    for minute in [100, 101] {
        let mut rows = Batch::default();
        for record in foreign(&chains.batch(minute, 30)).records() {
            let start_ns = record.start_ns + shift_ns;
            push(&mut rows, Record { start_ns, root_start_ns: start_ns, ..*record });
        }
        append(&store, &chains, &rows, minute);
    }
    store.seal_all(105 * chronoscope_store::MINUTE_NS).unwrap();
    // Rows that are in the log only.
    let waiting = chains.batch(105, 4);
    append(&store, &chains, &waiting, 105);
    store.sync().unwrap();
}

/// Sketches count durations, whenever they were: those of two stores with the same load are equal.
#[test]
fn an_equal_sketch_of_another_store_attests_no_manifest() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    store_of_foreign_rows(dir.path(), 0);
    store_of_foreign_rows(other.path(), 1_000_000);
    let sketches = |store: &Path| {
        let files =
            files(store).into_iter().filter(|file| file.parent().unwrap().ends_with("sketches"));
        files.map(|file| fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(sketches(dir.path()), sketches(other.path()), "what the test is about");
    fs::copy(other.path().join("manifest"), dir.path().join("manifest")).unwrap();
    let error = Store::open(dir.path(), Options::default(), 0).unwrap_err();
    assert!(matches!(error, StoreError::ForeignManifest { .. }), "{error}");
}

/// The manifest of a store whose segments have all expired names none, so that no file contradicts it.
#[test]
fn log_files_below_a_manifest_without_segments_are_set_aside() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let waiting = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let rows = chains.batch(100, 9);
    append(&waiting, &chains, &rows, 100);
    waiting.sync().unwrap();
    drop(waiting);
    let log = fs::read(dir.path().join("log/0000000000000000.wal")).unwrap();
    store(other.path());
    let expiring = open(other.path(), Options::default(), 106);
    expiring.seal_all(107 * chronoscope_store::MINUTE_NS).unwrap();
    drop(expiring);
    let options = Options { keep: Some(std::time::Duration::from_secs(60)), ..Options::default() };
    let expiring = open(other.path(), options, 1000);
    confirm_deletion(other.path()).unwrap();
    maintain(&expiring, 1000);
    drop(expiring);
    assert!(Snapshot::open(other.path()).unwrap().segments().is_empty());
    fs::copy(other.path().join("manifest"), dir.path().join("manifest")).unwrap();
    drop(Store::open(dir.path(), Options::default(), 0).unwrap());
    let aside = check(dir.path(), |_, _| true).unwrap().set_aside;
    assert!(aside.iter().any(|path| fs::read(path).unwrap() == log), "{aside:?}");
}

#[test]
fn a_clock_forty_days_ahead_deletes_nothing_until_it_is_confirmed() {
    const DAY: i64 = 24 * 60;
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let rows = said(dir.path()).unwrap().rows.len() as u64;
    let options =
        Options { keep: Some(std::time::Duration::from_hours(30 * 24)), ..Options::default() };
    // Rows of two days, as a day before the clock was set ahead.
    let store = open(dir.path(), options.clone(), DAY);
    let mut chains = Chains::default();
    chains.count_from(10_000);
    let yesterday = chains.batch(2 * DAY, 10);
    append(&store, &chains, &yesterday, 2 * DAY);
    store.seal_all(2 * DAY * chronoscope_store::MINUTE_NS).unwrap();
    let ahead = 42 * DAY * chronoscope_store::MINUTE_NS;
    // What counts is the last append and the time that has passed since.
    let appended_ns = store.appended_ns().unwrap();
    assert_eq!(appended_ns, 2 * DAY * chronoscope_store::MINUTE_NS);
    let done = store.maintain_keeping(ahead, appended_ns).unwrap();
    assert_eq!((done.expired_rows, done.waiting_rows), (0, 0));
    // Even where it is believed, so much waits.
    let done = store.maintain(ahead).unwrap();
    assert_eq!((done.expired_rows, done.waiting_rows), (0, rows + 50));
    drop(store);
    let store = open(dir.path(), options, 42 * DAY);
    assert_eq!(store.maintain(ahead).unwrap().waiting_rows, rows + 50);
    confirm_deletion(dir.path()).unwrap();
    assert_eq!(store.maintain(ahead).unwrap().expired_rows, rows + 50);
    assert_eq!(said(dir.path()).unwrap().rows.len(), 0);
}

#[test]
fn nobody_but_its_owner_reads_a_store_unless_the_group_may() {
    use std::os::unix::fs::PermissionsExt;
    for (group_readable, file, folder) in [(false, 0o600, 0o700), (true, 0o640, 0o750)] {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let options = Options { group_readable, ..Options::default() };
        let store = open(&data, options, 100);
        let mut chains = Chains::default();
        let rows = chains.batch(100, 2);
        append(&store, &chains, &rows, 100);
        store.seal_all(0).unwrap();
        append(&store, &chains, &rows, 100);
        store.sync().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let mut all = files(&data);
        all.push(data.join("lock"));
        assert_eq!(all.len(), 6, "{all:?}");
        assert_eq!(all.iter().map(|path| mode(path)).collect::<Vec<_>>(), [file; 6], "{all:?}");
        let folders = ["", "log", "segments", "sketches"].map(|sub| mode(&data.join(sub)));
        assert_eq!(folders, [folder; 4]);
    }
}

#[test]
fn a_damaged_segment_is_told_and_taken_out_by_a_repair() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let rows = said(dir.path()).unwrap().rows.len();
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let (path, lost) = (snapshot.segments()[0].path.clone(), snapshot.segments()[0].row_count);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&path, &bytes).unwrap();
    let checked = check(dir.path(), |_, _| true).unwrap();
    assert_eq!((checked.damage.len(), checked.damage[0].rows_lost), (1, lost));
    assert_eq!(checked.damage[0].path, path);
    let repaired = repair(dir.path(), false, 0).unwrap();
    assert_eq!((repaired.lost.len(), repaired.manifest_rebuilt), (1, false));
    assert_eq!(said(dir.path()).unwrap().rows.len() as u64, rows as u64 - lost);
    let found: Vec<_> = fs::read_dir(dir.path().join("lost+found")).unwrap().collect();
    assert_eq!(found.len(), 2, "the segment and its sketches");
    // What was lost makes verdicts doubtful from now on.
    assert_eq!(Snapshot::open(dir.path()).unwrap().ledger().damaged_rows, lost);
}

#[test]
fn a_log_that_ends_before_what_was_durable_is_damaged_and_not_torn() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let log =
        files(dir.path()).into_iter().rfind(|path| path.extension().is_some_and(|e| e == "wal"));
    let log = log.unwrap();
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, &bytes[..bytes.len() - 9]).unwrap();
    let damage = Snapshot::open(dir.path()).unwrap().damage().to_vec();
    assert_eq!((damage.len(), damage[0].rows_lost), (1, 20), "{damage:?}");
    let store = Store::open(dir.path(), Options::default(), 0).unwrap();
    assert_eq!((store.recovery().damage.len(), store.recovery().torn.len()), (1, 0));
    // Numbers that were given away are not given again.
    assert_eq!(store.backlog().rows, 5 * 157);
    drop(store);
    fs::remove_file(&log).unwrap();
    let damage = Snapshot::open(dir.path()).unwrap().damage().to_vec();
    assert_eq!((damage.len(), damage[0].rows_lost), (1, 60), "{damage:?}");
    // Without the place that was durable it is what a crash may have left.
    fs::write(&log, &bytes[..bytes.len() - 9]).unwrap();
    fs::remove_file(dir.path().join("log/durable")).unwrap();
    assert_eq!(Snapshot::open(dir.path()).unwrap().damage(), []);
}
