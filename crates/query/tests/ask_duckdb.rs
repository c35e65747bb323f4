//! The store's answers beside DuckDB's, which reads the same files and computes in SQL.

mod world;

use chronoscope_query::{LeafLevel, Limits, Question, ask};
use chronoscope_store::Snapshot;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use world::World;

/// A Python with DuckDB; says loudly where there is none.
fn python() -> Option<PathBuf> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/venv");
    let output = Command::new(tool).arg("duckdb").stderr(Stdio::inherit()).output();
    let path = output.ok().filter(|output| output.status.success());
    let path = path.and_then(|output| String::from_utf8(output.stdout).ok());
    if path.is_none() {
        eprintln!(
            "SKIPPED: NO DUCKDB: answers were NOT compared with SQL (tools/venv duckdb failed)"
        );
    }
    path.map(|path| PathBuf::from(path.trim()))
}

#[test]
fn duckdb_computes_the_same_durations() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    World::new(11, 600).store(dir.path(), &[1.0], true);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ask_duckdb.py");
    let output = Command::new(python).arg(script).arg(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();

    let snapshot = Snapshot::open(dir.path()).unwrap();
    let ours = |question: &Question| {
        let answer = ask(&snapshot, question, &Limits::default()).unwrap();
        (answer.durations_ns, answer.counts)
    };
    let list = |name: &str| -> Vec<u64> {
        let (_, rest) = told.split_once(&format!("\"{name}\": [")).unwrap();
        let (list, _) = rest.split_once(']').unwrap();
        list.split(", ").filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect()
    };

    let (acpd, counts) = ours(&Question::acpd("X::a", "Y::c"));
    let mut expected = list("native");
    assert_eq!(counts.foreign, list("foreign").len() as u64);
    expected.extend(list("foreign"));
    expected.sort_unstable();
    assert!(counts.foreign > 50 && counts.used > 500, "{counts:?}");
    assert_eq!(acpd, expected);

    let inner = Question { level: LeafLevel::Exactly(2), ..Question::acpd("X::b", "Y::d") };
    let (inner, counts) = ours(&inner);
    assert!(counts.used > 30, "{counts:?}");
    assert_eq!(inner, list("inner"));

    let (sync, _) = ours(&Question::sync("Y::e"));
    assert_eq!(sync, list("sync"));
    assert!(sync.len() > 500);
}

#[test]
fn duckdb_computes_the_same_whole_chains() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(12, 600);
    // Only native chains: the SQL stays readable.
    let mut mixed: Vec<_> = world.records.iter().filter(|r| r.flags & 4 != 0).collect();
    mixed.sort_by_key(|record| record.chain().0);
    let mixed: std::collections::HashSet<_> = mixed.iter().map(|record| record.chain()).collect();
    world.records.retain(|record| !mixed.contains(&record.chain()));
    world.store(dir.path(), &[1.0], true);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ask_duckdb.py");
    let output = Command::new(python).arg(script).arg(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = told.split_once("\"apcd\": [").unwrap();
    let (list, _) = rest.split_once(']').unwrap();
    let expected: Vec<u64> = list.split(", ").map(|n| n.parse().unwrap()).collect();

    let snapshot = Snapshot::open(dir.path()).unwrap();
    let answer = ask(&snapshot, &Question::apcd("X::a"), &Limits::default()).unwrap();
    assert!(answer.counts.used > 200, "{:?}", answer.counts);
    assert_eq!(answer.durations_ns, expected);
}
