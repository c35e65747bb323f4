//! Rows of a chain that goes on in another one's name.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

#[path = "../../store/tests/support/mod.rs"]
mod support;

use chronoscope_model::{Batch, ChainId};
use chronoscope_query::chain;
use chronoscope_store::{Append, ChainAlias, MINUTE_NS, Options, Snapshot, Store};
use std::path::Path;
use support::{Chains, append, foreign, open};

/// The chains of all rows, with how many rows each has.
fn chains_of(dir: &Path) -> Vec<(u64, usize)> {
    use arrow_array::types::UInt64Type;
    let snapshot = Snapshot::open(dir).unwrap();
    let mut lows: Vec<u64> = snapshot.unsealed().records().iter().map(|r| r.chain_low).collect();
    for segment in snapshot.segments() {
        lows.extend(support::column::<UInt64Type>(&segment.path, "chain_low"));
    }
    lows.sort_unstable();
    let runs = lows.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], run.len())).collect()
}

/// Producer's rows (chain 1, native) and consumer's (chain 6, foreign).
fn two_chains(store: &Store) -> Chains {
    let mut chains = Chains::default();
    let producer = chains.batch(100, 1);
    append(store, &chains, &producer, 100);
    let consumer = foreign(&chains.batch(100, 1));
    append(store, &chains, &consumer, 100);
    chains
}

fn tell(store: &Store, chain: u64, continues: u64, now: i64) {
    let id = |low| ChainId::from_halves(77, low);
    let aliases = [ChainAlias { chain: id(chain), continues: id(continues) }];
    let input = Append { aliases: &aliases, ..Append::default() };
    store.append(&input, now * MINUTE_NS).unwrap();
    store.sync().unwrap();
}

#[test]
fn an_alias_that_comes_after_its_rows_holds_before_and_after_sealing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    two_chains(&store);
    assert_eq!(chains_of(dir.path()), [(1, 5), (6, 5)]);
    tell(&store, 6, 1, 100);
    assert_eq!(chains_of(dir.path()), [(1, 10)]);
    store.seal_all(103 * MINUTE_NS).unwrap();
    let snapshot = Snapshot::open(dir.path()).unwrap();
    assert_eq!((snapshot.unsealed().len(), snapshot.segments().len()), (0, 2));
    assert_eq!(chains_of(dir.path()), [(1, 10)]);
    let (rows, _) = chain(&snapshot, ChainId::from_halves(77, 1), None).unwrap();
    assert_eq!(rows.len(), 10);
    // Rows that come later still, to a minute that was sealed.
    let mut late = Chains::default();
    late.count_from(6);
    let batch = foreign(&late.batch(100, 1));
    append(&store, &late, &batch, 104);
    assert_eq!(chains_of(dir.path()), [(1, 15)]);
}

#[test]
fn aliases_outlive_restarts_the_log_and_a_torn_end() {
    let dir = tempfile::tempdir().unwrap();
    {
        let store = open(dir.path(), Options::default(), 100);
        two_chains(&store);
        tell(&store, 6, 1, 100);
    }
    // Out of the log.
    let store = open(dir.path(), Options::default(), 100);
    assert_eq!(chains_of(dir.path()), [(1, 10)]);
    store.seal_all(103 * MINUTE_NS).unwrap();
    drop(store);
    // The log is gone: out of the manifest.
    let store = open(dir.path(), Options::default(), 103);
    let mut chains = Chains::default();
    chains.count_from(6);
    let batch = foreign(&chains.batch(103, 1));
    append(&store, &chains, &batch, 103);
    store.sync().unwrap();
    assert_eq!(chains_of(dir.path()), [(1, 15)]);
    // One more alias, whose block is torn: it was never durable, the one before holds.
    let log = newest_log(dir.path());
    let before = std::fs::metadata(&log).unwrap().len();
    tell(&store, 1, 3, 103);
    // What is sealed keeps the chain that it was sealed under.
    assert_eq!(chains_of(dir.path()), [(1, 10), (3, 5)]);
    drop(store);
    let after = std::fs::metadata(&log).unwrap().len();
    // As if the block had been written and nobody told that it is durable.
    std::fs::remove_file(dir.path().join("log/durable")).unwrap();
    let file = std::fs::File::options().write(true).open(&log).unwrap();
    for cut in (before..after).rev().step_by(7) {
        file.set_len(cut).unwrap();
        assert_eq!(chains_of(dir.path()), [(1, 15)], "cut at {cut}");
    }
    let store = open(dir.path(), Options::default(), 103);
    assert_eq!(store.recovery().damage, []);
    assert_eq!(chains_of(dir.path()), [(1, 15)]);
}

#[test]
fn streams_are_durable_with_their_rows_and_outlive_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let stream = chronoscope_store::StreamId(5 << 100);
    for now in [100, 101, 102] {
        let store = open(dir.path(), Options::default(), now);
        let next = store.stream(stream).unwrap_or(0);
        assert_eq!(next, (now as u64 - 100) * 5);
        let mut chains = Chains::default();
        chains.count_from(next + 1);
        let batch: Batch = chains.batch(100, 1);
        let input = Append {
            batch: Some(&batch),
            names: Some(&chains.names),
            stream: Some((stream, next + 5)),
            ..Append::default()
        };
        store.append(&input, now * MINUTE_NS).unwrap();
        store.sync().unwrap();
        store.seal_all(now * MINUTE_NS).unwrap();
    }
    assert_eq!(support::ids(dir.path()), (1..=15).collect::<Vec<_>>());
}

fn newest_log(dir: &Path) -> std::path::PathBuf {
    let entries = std::fs::read_dir(dir.join("log")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some()).max().unwrap()
}
