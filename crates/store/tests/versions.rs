//! The bytes of every version are read for ever: stores as each version wrote them.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{ChainId, ProcessId, Transaction};
use chronoscope_query::{AttributeRows, Progress, attribute_values};
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
    let dir = kept(4);
    let store = open(&dir, Options::default(), 100);
    let mut chains = Chains::default();
    runs_in(&mut chains, "host-0", "pod-0");
    let sealed = chains.batch(100, 4);
    append(&store, &chains, &sealed, 100);
    let others = foreign(&chains.batch(100, 2));
    append(&store, &chains, &others, 100);
    tell(&store, 3);
    store.seal_all(103).unwrap();
    runs_in(&mut chains, "host-1", "pod-1");
    let waiting = chains.batch(101, 1);
    append(&store, &chains, &waiting, 101);
    tell(&store, 7);
    store.sync().unwrap();
}

/// Gives the processes of a host a context: a pod.
fn runs_in(chains: &mut Chains, host: &str, pod: &str) {
    let mut bytes = [0; 64];
    let entry = ContextEntry::Property("otel.resource.k8s.pod.name", pod);
    let len = context::append(&mut bytes, 0, entry).unwrap();
    let of_host: Vec<_> = chains.names.processes().filter(|(_, name)| name.host == host).collect();
    for id in of_host.into_iter().map(|(id, _)| id).collect::<Vec<_>>() {
        chains.names.add_process_context(id, &bytes[..len]);
    }
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

#[test]
fn version_4_is_read() {
    let dir = tempfile::tempdir().unwrap();
    copy(&kept(4), dir.path());
    let snapshot = Snapshot::open(dir.path()).unwrap();
    assert_eq!((snapshot.damage(), snapshot.unsealed().len()), (&[][..], 5));
    assert_eq!(ids(dir.path()), (1..=35).collect::<Vec<_>>());
    assert_whole(dir.path(), 0);
    // The context of one process is in the manifest, that of another in the log.
    let pods = |snapshot: &Snapshot| {
        let (names, unsealed) = (snapshot.names(), snapshot.unsealed());
        let pod = |t: Transaction| {
            let pod = t.properties.iter().find(|(key, _)| key == "otel.resource.k8s.pod.name");
            (t.process.unwrap().host, pod.map(|(_, pod)| pod.clone()))
        };
        let rows = unsealed.records().iter();
        rows.map(|r| pod(Transaction::from_record(r, unsealed.context(r), names)))
            .collect::<Vec<_>>()
    };
    let of = |host: &str, pod: Option<&str>| (host.to_owned(), pod.map(str::to_owned));
    let (first, second) = (of("host-0", Some("pod-0")), of("host-1", Some("pod-1")));
    let expected = [first.clone(), first, second.clone(), second, of("host-2", None)];
    assert_eq!(pods(&snapshot), expected);
    // Sealed, the rows themselves have it.
    let store = Store::open(dir.path(), Options::default(), 101 * MINUTE_NS).unwrap();
    store.seal_all(103).unwrap();
    drop(store);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let (progress, key) = (Progress::default(), "k8s.pod.name".parse().unwrap());
    let all =
        AttributeRows { start_ns: i64::MIN..i64::MAX, most: None, threads: 1, progress: &progress };
    let sealed = attribute_values(&snapshot, &key, &all).unwrap();
    let mut rows: Vec<_> =
        sealed.values.iter().map(|(pod, rows)| (pod.to_string(), *rows)).collect();
    rows.sort();
    // Two rows of each of the seven chains are of host-0, two of the last one of host-1.
    assert_eq!(rows, [("pod-0".to_owned(), 14), ("pod-1".to_owned(), 2)]);
}
