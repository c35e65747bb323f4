//! The bytes of every version are read for ever: a store as version 1 wrote it.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_store::{Kind, Options, Snapshot, Store, read_sketch};
use std::path::{Path, PathBuf};
use support::{Chains, append, foreign, ids, open};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version_1")
}

/// Wrote the kept store; run by hand when a version is added: `cargo test make_ -- --ignored`.
#[test]
#[ignore = "makes the kept files of a new version"]
fn make_a_kept_store() {
    let dir = kept();
    let store = open(&dir, Options::default(), 100);
    let mut chains = Chains::default();
    let sealed = chains.batch(100, 4);
    append(&store, &chains, &sealed, 100);
    let others = foreign(&chains.batch(100, 2));
    append(&store, &chains, &others, 100);
    store.seal_all(103).unwrap();
    let waiting = chains.batch(101, 1);
    append(&store, &chains, &waiting, 101);
    store.sync().unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

#[test]
fn version_1_is_read() {
    let dir = tempfile::tempdir().unwrap();
    copy(&kept(), dir.path());
    let snapshot = Snapshot::open(dir.path()).unwrap();
    assert_eq!(snapshot.damage(), []);
    let segments: Vec<_> = snapshot.segments().iter().map(|s| (s.slot.kind, s.row_count)).collect();
    assert_eq!(segments, [(Kind::Native, 20), (Kind::Foreign, 10)]);
    assert_eq!(snapshot.unsealed().len(), 5);
    assert_eq!(
        snapshot.names().class_text(snapshot.unsealed().records()[0].class),
        "MRTS::decodePlots"
    );
    assert_eq!(ids(dir.path()), (1..=35).collect::<Vec<_>>());
    let sketches = read_sketch(&snapshot.segments()[0].sketch_path).unwrap();
    assert_eq!((sketches.len(), sketches[0].elapsed.count()), (5, 4));
    let store = Store::open(dir.path(), Options::default(), 0).unwrap();
    assert_eq!((store.recovery().rows, store.backlog().rows), (5, 35));
}
