//! What the rows of one class say comes out as it went in, whatever segments and files they are in.

#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../../store/tests/support/mod.rs"]
mod support;

use chronoscope_model::{Batch, ClassId, ClassName, Excerpt};
use chronoscope_query::StoreLocation;
use chronoscope_store::{MINUTE_NS, Options, Snapshot};
use std::ops::Range;
use std::path::Path;
use support::{Chains, append, foreign, maintain, open};

const ALL: Range<i64> = i64::MIN..i64::MAX;

fn class(application: &str, class: &str) -> ClassName {
    ClassName { application: application.to_owned(), class: class.to_owned() }
}

/// Everything in an excerpt, to be compared and sorted.
fn said(row: &Excerpt<'_>) -> String {
    format!("{row:?}")
}

fn asked(dir: &Path, class: &ClassName, range: &Range<i64>) -> Vec<String> {
    let source = StoreLocation::Files(dir.to_owned());
    let mut rows = Vec::new();
    let damage = source.excerpts(class, range, &mut |row| rows.push(said(row))).unwrap();
    assert_eq!(damage, [], "{range:?}");
    rows.sort();
    rows
}

/// The expected excerpts, from the stored rows.
fn expected(batches: &[&Batch], class: &ClassName, range: &Range<i64>) -> Vec<String> {
    let id = ClassId::of(&class.application, &class.class);
    let mut rows = Vec::new();
    for batch in batches {
        let wanted = batch.records().iter();
        let wanted = wanted.filter(|row| row.class == id && range.contains(&row.start_ns));
        rows.extend(wanted.map(|row| said(&Excerpt::of_record(row, batch.context(row)))));
    }
    rows.sort();
    rows
}

#[test]
fn rows_of_a_class_in_a_range() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    // Two minutes sealed, a late part, foreign rows, and some that wait.
    let native = chains.batch(99, 30);
    let next = chains.batch(100, 20);
    let strange = foreign(&chains.batch(100, 3));
    for batch in [&native, &next, &strange] {
        append(&store, &chains, batch, 100);
    }
    maintain(&store, 103);
    let late = chains.batch(99, 2);
    let mut statuses = chains.batch(103, 4);
    (0..).zip(statuses.records_mut()).for_each(|(number, row)| row.status = number % 4);
    append(&store, &chains, &late, 103);
    append(&store, &chains, &statuses, 103);
    store.sync().unwrap();
    assert!(Snapshot::open(dir.path()).unwrap().segments().len() >= 3);

    let all = [&native, &next, &strange, &late, &statuses];
    let redraw = class("CWP", "TargetView_redraw");
    let minute = 100 * MINUTE_NS;
    let ranges = [
        ALL,
        minute..minute + MINUTE_NS,
        minute + 8_000_000..minute + 9_000_000,
        0..1,
        minute..minute,
    ];
    let mut found = 0;
    for asked_class in
        [&redraw, &class("MRTS", "decodePlots"), &class("MSG", "TrackStore_updateTrack")]
    {
        for range in &ranges {
            let rows = asked(dir.path(), asked_class, range);
            found += rows.len();
            assert_eq!(rows, expected(&all, asked_class, range), "{asked_class} {range:?}");
        }
    }
    assert!(found > 3 * 59, "{found}");
    // One class's name under another's application, and one that nobody uses.
    for nobody in [class("MRTS", "TargetView_redraw"), class("", "")] {
        assert_eq!(asked(dir.path(), &nobody, &ALL), Vec::<String>::new());
    }
    // The same after everything was sealed.
    drop(store);
    open(dir.path(), Options::default(), 103).seal_all(110 * MINUTE_NS).unwrap();
    assert_eq!(asked(dir.path(), &redraw, &ALL), expected(&all, &redraw, &ALL));
}

#[test]
fn a_damaged_segment_is_told_and_the_rest_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let (first, second) = (chains.batch(99, 5), chains.batch(100, 7));
    append(&store, &chains, &first, 100);
    append(&store, &chains, &second, 100);
    maintain(&store, 103);
    let segment = Snapshot::open(dir.path()).unwrap().segments()[0].clone();
    let length = std::fs::metadata(&segment.path).unwrap().len();
    std::fs::OpenOptions::new()
        .write(true)
        .open(&segment.path)
        .unwrap()
        .set_len(length / 2)
        .unwrap();
    let class = class("MRTS", "decodePlots");
    let source = StoreLocation::Files(dir.path().to_owned());
    let mut rows = Vec::new();
    let damage = source.excerpts(&class, &ALL, &mut |row| rows.push(said(row))).unwrap();
    assert_eq!((damage.len(), &damage[0].path), (1, &segment.path));
    rows.sort();
    assert_eq!(rows, expected(&[&second], &class, &ALL));
}
