//! `chains --durations`: every duration in a file, read back by the formats' own libraries.

#![allow(clippy::unwrap_used)] // helpers of tests

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

/// A root at 0 ms with two leaves, and one that starts 1 s later with one: application, class,
/// start in ms, elapsed in ms, id, parent, chain.
const ROWS: [(&str, u64, u64, u64, u64, u64); 6] = [
    ("plot", 0, 10, 1, 0, 1),
    ("track", 20, 5, 2, 1, 1),
    ("redraw", 30, 10, 3, 2, 1),
    ("redraw", 50, 20, 4, 2, 1),
    ("plot", 1000, 10, 5, 0, 2),
    ("redraw", 1015, 5, 6, 5, 2),
];
const BEGIN_NS: i64 = 1_200_000_000_000_000_000;

fn store(folder: &Path) {
    let mut text =
        "application,class,start,elapsed_ns,id,parent,chain_high,chain_low\r\n".to_owned();
    for (class, start_ms, elapsed_ms, id, parent, chain) in ROWS {
        let start_ns = BEGIN_NS + i64::try_from(start_ms).unwrap() * 1_000_000;
        let elapsed_ns = elapsed_ms * 1_000_000;
        text += &format!("radar,{class},{start_ns},{elapsed_ns},{id},{parent},1,{chain}\r\n");
    }
    std::fs::write(folder.join("rows.csv"), text).unwrap();
    let imported = chronoscope(folder, &["import", "rows.csv", "--data", "data"]);
    assert!(imported.status.success(), "{imported:?}");
}

fn chronoscope(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.current_dir(folder).args(words).output().unwrap()
}

fn read_csv(path: &Path) -> Vec<(i64, i64)> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    assert_eq!(reader.headers().unwrap(), vec!["start_ns", "duration_ns"]);
    reader.deserialize().map(Result::unwrap).collect()
}

fn read_parquet(path: &Path) -> Vec<(i64, i64)> {
    let reader = ParquetRecordBatchReader::try_new(File::open(path).unwrap(), 1024).unwrap();
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column = |name: &str| {
            let column = batch.column_by_name(name).unwrap();
            column.as_primitive::<Int64Type>().values().to_vec()
        };
        rows.extend(column("start_ns").into_iter().zip(column("duration_ns")));
    }
    rows
}

#[test]
fn every_duration_of_every_kind_of_question_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    let ms = |values: &[(i64, i64)]| -> Vec<(i64, i64)> {
        values.iter().map(|(at, ms)| (BEGIN_NS + at * 1_000_000, ms * 1_000_000)).collect()
    };
    type Asked<'a> = (&'a [&'a str], Vec<(i64, i64)>);
    let asked: [Asked<'_>; 4] = [
        // Child to parent: one for each leaf.
        (&["--root", "plot", "--leaf", "redraw"], ms(&[(0, 40), (0, 70), (1000, 20)])),
        // Parent to child: one for each root, to its last leaf.
        (&["--root", "plot", "--apcd"], ms(&[(0, 70), (1000, 20)])),
        // An inner root.
        (&["--root", "track", "--leaf", "redraw"], ms(&[(20, 20), (20, 50)])),
        (&["--sync", "redraw"], ms(&[(30, 10), (50, 20), (1015, 5)])),
    ];
    for (words, expected) in asked {
        for name in ["out.csv", "out.parquet"] {
            let all = [&["chains", "--data", "data", "--durations", name], words].concat();
            let ran = chronoscope(folder.path(), &all);
            assert!(ran.status.success(), "{words:?}: {ran:?}");
            let path = folder.path().join(name);
            let found = if name.ends_with("csv") { read_csv(&path) } else { read_parquet(&path) };
            assert_eq!(found, expected, "{words:?} into {name}");
        }
    }
}

#[test]
fn a_name_of_no_format_and_a_folder_that_is_not_there_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    let words =
        |file| ["chains", "--data", "data", "--root", "plot", "--apcd", "--durations", file];
    let ran = chronoscope(folder.path(), &words("out.txt"));
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains(".csv or .parquet"), "{ran:?}");
    let ran = chronoscope(folder.path(), &words("nowhere/out.csv"));
    assert_eq!(ran.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("nowhere/out.csv"), "{ran:?}");
}
