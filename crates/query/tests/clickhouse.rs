//! A store of two ClickHouse shards gives the answers of files. One start of the servers serves all
//! tests here: each has a database of its own.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod cluster;
#[path = "../../store/tests/support/mod.rs"]
mod support;
mod world;

use chronoscope_chain::PartStatistics;
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_model::{Batch, ChainId, ClassName, Names, TransactionId};
use chronoscope_query::{Answer, ClassStatistics, LeafLevel, Limits, Point, Question};
use chronoscope_query::{QueryError, StoreLocation};
use chronoscope_statistics::{Histogram, Quantile};
use chronoscope_store::MINUTE_NS;
use cluster::Servers;
use std::collections::BTreeSet;
use world::World;

/// Puts a world into a database, in batches; what it is asked through.
fn store(servers: &Servers, database: &str, world: &World, batches: usize) -> StoreLocation {
    let sink = sink(servers, database);
    for (index, records) in world.records.chunks(world.records.len().div_ceil(batches)).enumerate()
    {
        sink.insert(&batch(records), &world.names, index as u128 + 1).unwrap();
    }
    StoreLocation::open(&servers.url(database)).unwrap()
}

fn sink(servers: &Servers, database: &str) -> ClusterWriter {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    ClusterWriter::new(cluster)
}

fn batch(records: &[chronoscope_model::Record]) -> Batch {
    let mut batch = Batch::default();
    records.iter().for_each(|record| batch.push(*record, b""));
    batch
}

fn rows(servers: &Servers, database: &str) -> Vec<u64> {
    let count = |index| servers.sql(index, &format!("SELECT count() FROM {database}.transactions"));
    [count(0), count(1)].map(|count| count.parse().unwrap()).to_vec()
}

#[test]
fn two_shards() {
    let Some(mut servers) = Servers::start(2) else { return };
    answers_are_those_of_files(&servers);
    chains_and_classes_are_those_of_files(&servers);
    excerpts_are_those_of_files(&servers);
    a_batch_is_taken_once(&servers);
    names_are_found_again(&servers);
    tables_belong_to_their_shard(&servers);
    a_shard_that_is_killed_keeps_what_was_acknowledged(&mut servers);
}

/// Questions of every kind.
fn questions() -> Vec<(&'static str, Question)> {
    let acpd =
        |root, leaf| Question { points: true, limit_ns: Some(500), ..Question::acpd(root, leaf) };
    let minute = 101 * MINUTE_NS..102 * MINUTE_NS;
    vec![
        ("any level", acpd("X::a", "c")),
        ("level 2", Question { level: LeafLevel::Exactly(2), ..acpd("a", "Y::c") }),
        ("every leaf", Question { leaf: None, ..acpd("a", "") }),
        ("an inner root", acpd("X::b", "Y::c")),
        ("an inner root at a level", Question { level: LeafLevel::Exactly(1), ..acpd("b", "d") }),
        ("split", Question { split: true, ..acpd("a", "d") }),
        ("an inner root, split", Question { split: true, ..acpd("b", "c") }),
        ("a minute", Question { start_ns: minute.clone(), ..acpd("a", "c") }),
        ("a minute of an inner root", Question { start_ns: minute.clone(), ..acpd("b", "c") }),
        ("whole chains", Question { points: true, ..Question::apcd("a") }),
        ("whole inner chains", Question { points: true, ..Question::apcd("X::b") }),
        ("each for itself", Question { points: true, ..Question::sync("Y::c") }),
        ("each of a minute", Question { start_ns: minute, points: true, ..Question::sync("d") }),
        ("nothing", acpd("a", "nobody")),
    ]
}

/// Everything in an answer but the rows read for it.
fn told(answer: &Answer) -> String {
    let part = |part: &PartStatistics| {
        (part.count(), part.sum_ns(), part.negative(), part.quantile_ns(Quantile::P99))
    };
    let paths: Vec<_> = answer
        .paths
        .iter()
        .map(|path| {
            let split = path.split.as_ref().map(|split| {
                split.hops.iter().map(|(i, w)| (part(i), part(w))).collect::<Vec<_>>()
            });
            (&path.path, &path.hops, path.distribution, split)
        })
        .collect();
    // A cluster does not keep losses: what may be beyond what is here differs.
    let verdict = answer.verdict.map(|verdict| (verdict.count, verdict.within));
    let total = (answer.distribution, verdict, answer.counts, &answer.covered_ns);
    let (losses, durations, points) = (&answer.losses, &answer.durations_ns, &answer.points);
    format!("{total:#?}\n{losses:#?}\n{paths:#?}\n{durations:?}\n{points:?}")
}

fn answers_are_those_of_files(servers: &Servers) {
    for (database, seed, batches) in [("answers", 1, 1), ("in_batches", 2, 7)] {
        let world = World::new(seed, 400);
        let remote = store(servers, database, &world, batches);
        let each = rows(servers, database);
        assert!(each.iter().all(|rows| *rows > 500), "both shards have their part: {each:?}");
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), &[1.0], true);
        let local = StoreLocation::Files(dir.path().to_owned());
        let small = Limits { memory_bytes: 10_000, ..Limits::default() };
        let mut used = 0;
        for (name, question) in questions() {
            let expected = local.ask(&question, &Limits::default()).unwrap();
            used += expected.counts.used;
            for (limits, how) in [(&Limits::default(), "at once"), (&small, "in small pieces")] {
                let answer = remote.ask(&question, limits).unwrap();
                let (answer, expected) = (told(&answer), told(&expected));
                let mut lines = answer.lines().zip(expected.lines());
                let differs = lines.find(|(mine, theirs)| mine != theirs);
                assert!(answer == expected, "{database}, {name}, {how}: {differs:?}");
            }
        }
        assert!(used > 4000, "{used}");
        assert_eq!(remote.names().unwrap(), local.names().unwrap());
    }
}

/// What rows of a class say, with properties and metrics.
fn excerpts_are_those_of_files(servers: &Servers) {
    let mut chains = support::Chains::default();
    let batch = chains.batch(100, 200);
    sink(servers, "excerpts").insert(&batch, &chains.names, 1).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let store = support::open(dir.path(), chronoscope_store::Options::default(), 100);
    support::append(&store, &chains, &batch, 100);
    let class = ClassName { application: "CWP".into(), class: "TargetView_redraw".into() };
    let at = 100 * MINUTE_NS;
    for (range, count) in [(i64::MIN..i64::MAX, 200), (at + 10_000_000..at + 20_000_000, 10)] {
        let rows = |source: &StoreLocation| {
            let mut rows = Vec::new();
            source.excerpts(&class, &range, &mut |row| rows.push(format!("{row:?}"))).unwrap();
            rows.sort();
            rows
        };
        let expected = rows(&StoreLocation::Files(dir.path().to_owned()));
        assert_eq!(expected.len(), count);
        assert_eq!(rows(&StoreLocation::open(&servers.url("excerpts")).unwrap()), expected);
    }
}

fn chains_and_classes_are_those_of_files(servers: &Servers) {
    let world = World::new(3, 60);
    let remote = store(servers, "chains", &world, 2);
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let local = StoreLocation::Files(dir.path().to_owned());
    let chains: BTreeSet<ChainId> = world.records.iter().map(|record| record.chain()).collect();
    for chain in &chains {
        let expected = local.chain(*chain, None).unwrap();
        assert_eq!(remote.chain(*chain, None).unwrap(), expected);
        let near = expected.0[0].start_ns..expected.0[0].start_ns + 1;
        assert_eq!(remote.chain(*chain, Some(near)).unwrap(), expected);
        assert_eq!(remote.chain(*chain, Some(0..1)).unwrap(), (vec![], vec![]), "far away");
    }
    assert_eq!(remote.chain(ChainId(12345), None).unwrap(), (vec![], vec![]));
    let cut = 100 * MINUTE_NS + 7_000_000_000..101 * MINUTE_NS + 9_000_000_000;
    let whole = 101 * MINUTE_NS..102 * MINUTE_NS;
    for range in [i64::MIN..i64::MAX, 0..i64::MAX, whole, cut, 1..2] {
        let (found, _) = remote.classes(&range).unwrap();
        let (expected, _) = local.classes(&range).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, class) in expected {
            let of = |h: &Histogram| {
                let buckets: Vec<_> = h.buckets().collect();
                (h.count(), h.sum(), h.min(), h.max(), buckets)
            };
            assert_eq!(of(&found[&name].elapsed), of(&class.elapsed), "{name} in {range:?}");
            let rest = |of: &ClassStatistics| (of.cpu_ns, of.cpu_known, of.not_good);
            assert_eq!(rest(&found[&name]), rest(&class), "{name} in {range:?}");
        }
    }
    let record = &world.records[0];
    let point = Point { start_ns: record.start_ns, duration_ns: 1 };
    assert_eq!(remote.locate(&point).unwrap(), local.locate(&point).unwrap());
    assert!(remote.locate(&point).unwrap().is_some());
    let nowhere = Point { start_ns: 5, duration_ns: 1 };
    assert_eq!(remote.locate(&nowhere).unwrap(), None);
}

fn a_batch_is_taken_once(servers: &Servers) {
    let world = World::new(4, 100);
    let sink = sink(servers, "once");
    let all = world.records.len() as u64;
    for _ in 0..3 {
        sink.insert(&batch(&world.records), &world.names, 77).unwrap();
        assert_eq!(rows(servers, "once").iter().sum::<u64>(), all);
    }
    // From another collector, which knows nothing of the first.
    let other = ClusterWriter::new(sink.cluster().clone());
    other.insert(&batch(&world.records), &world.names, 77).unwrap();
    assert_eq!(rows(servers, "once").iter().sum::<u64>(), all);
    // Streams: the same piece again, and how far they are in.
    assert_eq!(other.next_row(5).unwrap(), None);
    let take = |first, count| {
        let rows = batch(&world.records[first as usize - 10..][..count]);
        other.insert_stream(5, first, &rows, &world.names).unwrap()
    };
    assert_eq!(take(10, 100), 110);
    assert_eq!(take(10, 60), 110, "all of them were there");
    assert_eq!(take(60, all as usize - 50), 10 + all, "half of them were there");
    assert_eq!(rows(servers, "once").iter().sum::<u64>(), 2 * all);
    assert_eq!(sink.next_row(5).unwrap(), Some(10 + all));
    let rows_again = batch(&world.records[..50]);
    assert_eq!(sink.insert_stream(5, 10, &rows_again, &world.names).unwrap(), 10 + all);
    assert_eq!(rows(servers, "once").iter().sum::<u64>(), 2 * all);
}

/// A collector that was started anew gets rows whose names were said to the one before.
fn names_are_found_again(servers: &Servers) {
    let world = World::new(6, 50);
    let (first, second) = world.records.split_at(world.records.len() / 2);
    let before = sink(servers, "names");
    before.insert(&batch(first), &world.names, 1).unwrap();
    before.insert(&Batch::default(), &world.names, 2).unwrap();
    let after = ClusterWriter::new(before.cluster().clone());
    // Only paths of rows that came before are known to the cluster.
    let known: BTreeSet<_> = first.iter().map(|record| record.path).collect();
    let second: Vec<_> = second.iter().filter(|r| known.contains(&r.path)).copied().collect();
    assert!(second.len() > 50);
    after.insert(&batch(&second), &Names::default(), 3).unwrap();
    let unnamed = "SELECT count() FROM names.transactions WHERE class LIKE '?%'";
    assert_eq!([servers.sql(0, unnamed), servers.sql(1, unnamed)], ["0", "0"]);
    // What nobody ever named is stored under its number.
    let stray = chronoscope_model::Record {
        id: TransactionId(9),
        class: chronoscope_model::ClassId(0xabc),
        path: chronoscope_model::PathId(0xdef),
        ..second[0]
    };
    after.insert(&batch(&[stray]), &Names::default(), 4).unwrap();
    let source = StoreLocation::open(&servers.url("names")).unwrap();
    let (chain, _) = source.chain(stray.chain(), None).unwrap();
    let stray = chain.iter().find(|t| t.id == TransactionId(9)).unwrap();
    assert_eq!((&*stray.class.class, &*stray.path), ("?0000000000000abc", "?0000000000000def"));
    source.ask(&Question::acpd("a", "c"), &Limits::default()).unwrap();
}

fn tables_belong_to_their_shard(servers: &Servers) {
    sink(servers, "shards");
    let turned = format!("clickhouse://{},{}/shards", servers.name(1), servers.name(0));
    let error = Cluster::new(&turned).unwrap().prepare(&TableOptions::default()).unwrap_err();
    assert!(error.to_string().contains("is shard"), "{error}");
    servers.sql(0, "INSERT INTO shards.versions (version, shard, shards) VALUES (99, 0, 2)");
    let cluster = Cluster::new(&servers.url("shards")).unwrap();
    let error = cluster.prepare(&TableOptions::default()).unwrap_err().to_string();
    assert!(error.contains("version 99") && error.contains(&servers.name(0)), "{error}");
    let error = StoreLocation::open(&servers.url("nowhere")).unwrap().names().unwrap_err();
    assert!(matches!(error, QueryError::ClickHouse(_)), "{error}");
    assert!(error.to_string().contains("UNKNOWN_DATABASE"), "{error}");
}

fn a_shard_that_is_killed_keeps_what_was_acknowledged(servers: &mut Servers) {
    let world = World::new(5, 2000);
    let sink = sink(servers, "killed");
    let batches: Vec<Batch> = world.records.chunks(200).map(batch).collect();
    let insert = |index: usize| sink.insert(&batches[index], &world.names, index as u128 + 1);
    let half = batches.len() / 2;
    (0..half).for_each(|index| insert(index).unwrap());
    servers.kill(1);
    // What is sent meanwhile is refused, though one shard took its part of it.
    let next = 200 * half as u64;
    let piece = |count| batch(&world.records[200 * half..][..count]);
    let error = sink.insert_stream(8, next, &piece(200), &world.names).unwrap_err();
    assert!(error.is_passing() && error.to_string().contains(&servers.name(1)), "{error}");
    let source = StoreLocation::open(&servers.url("killed")).unwrap();
    let question = Question::acpd("X::a", "c");
    let error = source.ask(&question, &Limits::default()).unwrap_err().to_string();
    assert!(error.contains(&servers.name(1)), "no half answers: {error}");
    servers.restart(1);
    let acknowledged: u64 = batches[..half].iter().map(|batch| batch.len() as u64).sum();
    let there: u64 = rows(servers, "killed").iter().sum();
    assert!(there >= acknowledged, "{there} of {acknowledged}");
    // The sender cuts its rows anew, and nothing of the piece that one shard took is doubled.
    assert_eq!(sink.insert_stream(8, next, &piece(350), &world.names).unwrap(), next + 350);
    assert_eq!(sink.insert_stream(8, next, &piece(400), &world.names).unwrap(), next + 400);
    (half + 2..batches.len()).for_each(|index| insert(index).unwrap());
    assert_eq!(rows(servers, "killed").iter().sum::<u64>(), world.records.len() as u64);
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let expected =
        StoreLocation::Files(dir.path().to_owned()).ask(&question, &Limits::default()).unwrap();
    assert_eq!(told(&source.ask(&question, &Limits::default()).unwrap()), told(&expected));
}
