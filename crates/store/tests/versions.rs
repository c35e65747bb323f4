//! The bytes of every version are read for ever: stores as each version wrote them.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_model::{ChainId, ProcessId};
use chronoscope_store::{
    Append, ChainAlias, ClockReading, Loss, MINUTE_NS, Options, RowKind, Snapshot, Store, StreamId,
    check, read_sketch,
};
use std::path::{Path, PathBuf};
use support::{Chains, append, foreign, ids, maintain, open};

fn kept(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/version_{version}"))
}

/// Wrote the kept store; run by hand when a version is added: `cargo test make_ -- --ignored`.
#[test]
#[ignore = "makes the kept files of a new version"]
fn make_a_kept_store() {
    let dir = kept(3);
    let store = open(&dir, Options::default(), 100);
    let mut chains = Chains::default();
    let sealed = chains.batch(100, 4);
    append(&store, &chains, &sealed, 100);
    let others = foreign(&chains.batch(100, 2));
    append(&store, &chains, &others, 100);
    tell(&store, 3);
    store.seal_all(103).unwrap();
    let waiting = chains.batch(101, 1);
    append(&store, &chains, &waiting, 101);
    tell(&store, 7);
    store.sync().unwrap();
}

/// Stores what versions 2 and 3 can represent and version 1 could not.
fn tell(store: &Store, number: u64) {
    let chain = |low| ChainId::from_halves(77, low);
    let reading = ClockReading {
        host: "host-1".into(),
        at_ns: 100 * MINUTE_NS + number.cast_signed(),
        offset_ns: -5,
        error_ns: number,
    };
    let process = ProcessId(12);
    let input = Append {
        stream: Some((StreamId(9 << 80), number)),
        aliases: &[ChainAlias { chain: chain(number), continues: chain(1) }],
        clocks: &[reading],
        lost: &[(process, number)],
        losses: &[Loss { process, from_ns: -5, until_ns: number.cast_signed(), rows: 2 }],
        delivered: &[(process, number.cast_signed())],
        ..Append::default()
    };
    store.append(&input, 100 * MINUTE_NS).unwrap();
}

/// Everything in it is read by way of its checksums, where it has some.
fn assert_whole(dir: &Path, unverified: u64) {
    let checked = check(dir, |_, _| true).unwrap();
    assert_eq!((checked.rows, checked.is_whole()), (35, true), "{:?}", checked.damage);
    assert_eq!(checked.unverified, unverified);
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
    copy(&kept(1), dir.path());
    let snapshot = Snapshot::open(dir.path()).unwrap();
    assert_eq!(snapshot.damage(), []);
    let segments: Vec<_> = snapshot.segments().iter().map(|s| (s.slot.kind, s.row_count)).collect();
    assert_eq!(segments, [(RowKind::Native, 20), (RowKind::Foreign, 10)]);
    assert_eq!(snapshot.unsealed().len(), 5);
    assert_eq!(
        snapshot.names().class_text(snapshot.unsealed().records()[0].class),
        "MRTS::decodePlots"
    );
    assert_eq!(ids(dir.path()), (1..=35).collect::<Vec<_>>());
    let sketches = read_sketch(&snapshot.segments()[0]).unwrap();
    assert_eq!((sketches.len(), sketches[0].elapsed.count()), (5, 4));
    let store = Store::open(dir.path(), Options::default(), 0).unwrap();
    assert_eq!((store.recovery().rows, store.backlog().rows), (5, 35));
    // What has no checksums is read as it is, and written anew once there is time.
    assert_whole(dir.path(), 2);
    maintain(&store, 110);
    assert_whole(dir.path(), 0);
    assert_eq!(ids(dir.path()), (1..=35).collect::<Vec<_>>());
}

#[test]
fn version_2_is_read() {
    let dir = tempfile::tempdir().unwrap();
    copy(&kept(2), dir.path());
    let snapshot = Snapshot::open(dir.path()).unwrap();
    assert_eq!((snapshot.damage(), snapshot.unsealed().len()), (&[][..], 5));
    assert_eq!(ids(dir.path()), (1..=35).collect::<Vec<_>>());
    assert_whole(dir.path(), 2);
    // One note of each kind is in the manifest, and one in the log.
    let chain = |low| ChainId::from_halves(77, low);
    let aliases = &snapshot.ledger().aliases;
    assert_eq!([3, 7, 8].map(|low| aliases.resolve(chain(low))), [chain(1), chain(1), chain(8)]);
    assert_eq!(snapshot.clocks().track("host-1").unwrap().knots().len(), 2);
    let store = Store::open(dir.path(), Options::default(), 0).unwrap();
    assert_eq!(store.stream(StreamId(9 << 80)), Some(7));
}

#[test]
fn version_3_is_read() {
    let dir = tempfile::tempdir().unwrap();
    copy(&kept(3), dir.path());
    let snapshot = Snapshot::open(dir.path()).unwrap();
    assert_eq!((snapshot.damage(), snapshot.unsealed().len()), (&[][..], 5));
    assert_eq!(ids(dir.path()), (1..=35).collect::<Vec<_>>());
    assert_whole(dir.path(), 0);
    // One note of each kind is in the manifest, and one in the log.
    let (process, ledger) = (ProcessId(12), snapshot.ledger());
    let losses: Vec<_> = ledger.losses.iter().map(|loss| (loss.until_ns, loss.rows)).collect();
    assert_eq!(losses, [(3, 2), (7, 2)]);
    assert_eq!((ledger.deliveries.of(process), ledger.lost[&process]), (Some(7), 7));
    assert_eq!(ledger.lost_at_unknown_times(process), 3);
    assert_eq!(ledger.expired_until_ns, None);
}
