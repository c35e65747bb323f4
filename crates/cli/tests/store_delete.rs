//! `chronoscope store delete`: what it says, what it deletes, and what a kill in the middle leaves.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_model::{Batch, ClassId, ClassName, Names, PathId, Record, TransactionId};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// 2026-11-21T12:00:00Z
const NOON: i64 = 1_795_262_400_000_000_000;
/// From half past 12:00 to half past 12:03.
const RANGE: [&str; 5] =
    ["--utc", "--from", "2026-11-21 12:00:30", "--until", "2026-11-21 12:03:30"];

/// A store with 600 rows in each of five minutes, and 60 of each in the log.
fn store(dir: &Path) {
    let class = ClassId::of("MRTS", "decodePlots");
    let mut names = Names::default();
    names.add_class(ClassName { application: "MRTS".into(), class: "decodePlots".into() });
    let path = PathId::of(&[class]);
    names.add_path(path, vec![class]);
    let rows = |first: u64, each: i64| {
        let mut batch = Batch::default();
        for n in 0..5 * each {
            let start_ns = NOON + n * MINUTE_NS / each;
            let chain_low = first + n.unsigned_abs();
            let record = Record {
                start_ns,
                root_start_ns: start_ns,
                elapsed_ns: 1000,
                id: TransactionId(chain_low),
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
    append(&rows(1, 600));
    store.seal_all(NOON).unwrap();
    append(&rows(10_000, 60));
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).env("CHRONOSCOPE_DATA", dir).env("TZ", "UTC").env("USER", "ann");
    command.env_remove("CHRONOSCOPE_STORE");
    command
}

fn run(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

fn delete(dir: &Path, more: &[&str]) -> Output {
    run(dir, &[&["store", "delete"], &RANGE[..], more].concat())
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn durations(dir: &Path) -> Value {
    let args = ["chains", "--sync", "decodePlots", "--limit", "1s", "--json"];
    json(&run(dir, &args))["chains"].take()
}

fn rows(dir: &Path) -> u64 {
    json(&run(dir, &["store", "check", "--json"]))["check"]["rows"].as_u64().unwrap()
}

#[test]
fn it_shows_first_and_deletes_when_it_is_told_to() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    store(dir);
    let shown = json(&delete(dir, &["--json"]))["delete"].take();
    assert_eq!(
        (&shown["rows"], &shown["chains"], &shown["minutes"]),
        (&1980.into(), &1980.into(), &4.into())
    );
    assert_eq!(shown["deleted"], Value::Null);
    let said = String::from_utf8(delete(dir, &[]).stdout).unwrap();
    assert!(said.contains("1,980 rows of 1,980 chains") && said.contains("--yes"), "{said}");
    assert_eq!(rows(dir), 3300);
    assert_eq!(durations(dir)["verdict"]["holds"], true);
    let done = json(&delete(dir, &["--yes", "--json"]))["delete"].take();
    assert_eq!(done["deleted"]["rows"], 1980);
    assert_eq!(rows(dir), 1320);
    // Questions over that time say it, and the verdict is not certain any more.
    let asked = durations(dir);
    assert_eq!(asked["losses"]["deleted_rows"], 1980);
    assert_eq!(asked["losses"]["deletions"][0]["by"], "ann");
    assert_ne!(asked["verdict"]["holds"], true);
    let said = run(dir, &["chains", "--sync", "decodePlots"]);
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("1,980 rows of this time were deleted on request"), "{said}");
    let later =
        ["chains", "--sync", "decodePlots", "--utc", "--from", "2026-11-21 12:04", "--json"];
    assert_eq!(json(&run(dir, &later))["chains"]["losses"]["deleted_rows"], Value::Null);
    let checked = String::from_utf8(run(dir, &["store", "check"]).stdout).unwrap();
    assert!(checked.contains("by ann: 1,980 rows from 2026-11-21T12:00:30"), "{checked}");
    // There is nothing more.
    let again = delete(dir, &["--yes"]);
    assert_eq!(again.status.code(), Some(3));
}

#[test]
fn a_store_that_is_written_is_refused_with_what_to_do_and_a_cluster_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let held = Store::open(dir.path(), Options::default(), NOON).unwrap();
    let refused = delete(dir.path(), &["--yes"]);
    assert_eq!(refused.status.code(), Some(4));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("nothing was deleted") && said.contains("view Data"), "{said}");
    drop(held);
    // Nobody listens there: its own rows are not touched either.
    let none = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = delete(dir.path(), &["--yes", "--store", &format!("clickhouse://{none}/traces")]);
    assert_eq!(refused.status.code(), Some(4));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains(&none.to_string()) && said.contains("cannot be reached"), "{said}");
    assert_eq!(rows(dir.path()), 3300);
}

/// Killed at any time: all rows are there, or all of the range are gone, and the store is whole.
#[test]
fn a_kill_in_the_middle_leaves_all_rows_or_deletes_all() {
    let kept = tempfile::tempdir().unwrap();
    store(kept.path());
    for ms in (0..).step_by(6).take(20) {
        let dir = tempfile::tempdir().unwrap();
        copy(kept.path(), dir.path());
        let args = [&["store", "delete", "--yes"], &RANGE[..]].concat();
        let mut child = command(dir.path(), &args);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        chronoscope_clock::sleep(std::time::Duration::from_millis(ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let checked = json(&run(dir.path(), &["store", "check", "--json"]))["check"].take();
        let noted = checked["deletions"].as_array().unwrap().len();
        let rows = checked["rows"].as_u64().unwrap();
        assert!(checked["whole"] == true, "{ms} ms: {checked}");
        assert!((rows, noted) == (3300, 0) || (rows, noted) == (1320, 1), "{ms} ms: {checked}");
        // What the kill left does not hinder the next one.
        delete(dir.path(), &["--yes"]);
        let checked = json(&run(dir.path(), &["store", "check", "--json"]))["check"].take();
        assert_eq!(checked["rows"], 1320, "{ms} ms");
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
