//! `chronoscope store` and `serve` on a store that is damaged or has lost its manifest.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_model::{Batch, ClassId, ClassName, Names, PathId, Record, TransactionId};
use chronoscope_store::{Append, Options, Store};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// 2026-11-21T12:00:00Z
const NOON: i64 = 1_795_262_400_000_000_000;

/// A store with 300 rows in three segments, and 20 rows in its log.
fn store(dir: &Path) {
    let class = ClassId::of("MRTS", "decodePlots");
    let mut names = Names::default();
    names.add_class(ClassName { application: "MRTS".into(), class: "decodePlots".into() });
    let path = PathId::of(&[class]);
    names.add_path(path, vec![class]);
    let rows = |minute: i64, count: u64| {
        let mut batch = Batch::default();
        for id in 1..=count {
            let start_ns = NOON + minute * 60_000_000_000 + id.cast_signed();
            let chain_low = (minute.unsigned_abs() << 32) + id;
            let record = Record {
                start_ns,
                root_start_ns: start_ns,
                elapsed_ns: 1000,
                id: TransactionId(id),
                chain_low,
                class,
                path,
                ..Record::default()
            };
            batch.push(record, b"");
        }
        batch
    };
    let store = Store::open(dir, Options::default(), NOON).unwrap();
    let append = |batch: &Batch| {
        let input = Append { batch: Some(batch), names: Some(&names), ..Append::default() };
        store.append(&input, NOON).unwrap();
        store.sync().unwrap();
    };
    (0..3).for_each(|minute| append(&rows(minute, 100)));
    store.seal_all(NOON).unwrap();
    append(&rows(3, 20));
}

fn run(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).env("CHRONOSCOPE_DATA", dir).env("TZ", "UTC");
    command.env("CHRONOSCOPE_DIR", dir.join("no-rings"));
    command.env_remove("CHRONOSCOPE_STORE").output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn count(dir: &Path) -> (u64, usize) {
    let answer = json(&run(dir, &["classes", "--json"]));
    let rows = answer["classes"]["rows"].as_array().unwrap();
    let count = rows.iter().map(|row| row["elapsed"]["count"].as_u64().unwrap()).sum();
    (count, answer["classes"]["damage"].as_array().unwrap().len())
}

fn files(dir: &Path, sub: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir.join(sub)).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn flip(path: &Path, at: impl Fn(usize) -> usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = at(bytes.len());
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_flipped_bit_of_a_segment_is_told_by_every_command_and_repaired() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let whole = run(dir.path(), &["store", "check", "--json"]);
    assert_eq!((whole.status.code(), &json(&whole)["check"]["rows"]), (Some(0), &320.into()));
    let segment = &files(dir.path(), "segments")[1];
    flip(segment, |len| len / 2);
    let checked = run(dir.path(), &["store", "check", "--json"]);
    assert_eq!(checked.status.code(), Some(1));
    let damage = &json(&checked)["check"]["damage"];
    assert_eq!(damage[0]["file"], segment.to_str().unwrap());
    assert_eq!(damage[0]["rows_lost"], 100);
    let exported = run(dir.path(), &["export", "--format", "csv"]);
    assert_ne!(exported.status.code(), Some(0));
    let said = String::from_utf8_lossy(&exported.stderr).into_owned();
    assert!(said.contains("do not match their checksum"), "{said}");

    let dry = run(dir.path(), &["store", "repair", "--dry-run", "--json"]);
    assert_eq!(json(&dry)["repair"]["lost"][0]["rows_lost"], 100);
    assert_eq!(run(dir.path(), &["store", "check"]).status.code(), Some(1));
    assert_eq!(run(dir.path(), &["store", "repair"]).status.code(), Some(0));
    assert_eq!(run(dir.path(), &["store", "check"]).status.code(), Some(0));
    assert_eq!(count(dir.path()), (220, 0));
    assert_eq!(files(dir.path(), "lost+found").len(), 2);
}

#[test]
fn a_flipped_bit_of_the_log_is_told_in_json_too() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    assert_eq!(count(dir.path()), (320, 0));
    let log = files(dir.path(), "log").into_iter().rfind(|path| path.extension().is_some());
    // In the last block: what comes before is in segments too.
    flip(&log.unwrap(), |len| len - 200);
    let (rows, damage) = count(dir.path());
    assert_eq!((rows, damage), (300, 1));
}

#[test]
fn serve_refuses_a_store_without_its_manifest_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    std::fs::remove_file(dir.path().join("manifest")).unwrap();
    let before = (files(dir.path(), "segments"), files(dir.path(), "sketches"));
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["classes"], &["store", "check"]] {
        let refused = run(dir.path(), command);
        assert_eq!(refused.status.code(), Some(4), "{command:?}");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("no manifest") && said.contains("store repair"), "{said}");
    }
    assert_eq!((files(dir.path(), "segments"), files(dir.path(), "sketches")), before);
    let repaired = run(dir.path(), &["store", "repair", "--json"]);
    assert_eq!(json(&repaired)["repair"]["manifest_rebuilt"], true);
    assert_eq!(count(dir.path()), (320, 0));
}
