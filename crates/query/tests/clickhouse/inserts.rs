//! Rows on their way into the shards: once, under their names, on their shard, and still there after a
//! server was killed.

use crate::both::{batch, rows, sink};
use crate::cluster::Servers;
use crate::every;
use crate::world::World;
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_model::{Batch, ClassId, Names, PathId, Record, TransactionId};
use chronoscope_query::{Limits, QueryError, Question, StoreLocation};
use std::collections::BTreeSet;

pub(super) fn a_batch_is_taken_once(servers: &Servers) {
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
pub(super) fn names_are_found_again(servers: &Servers) {
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
    let stray =
        Record { id: TransactionId(9), class: ClassId(0xabc), path: PathId(0xdef), ..second[0] };
    after.insert(&batch(&[stray]), &Names::default(), 4).unwrap();
    let source = StoreLocation::open(&servers.url("names")).unwrap();
    let (chain, _) = source.chain(stray.chain(), None).unwrap();
    let stray = chain.iter().find(|t| t.id == TransactionId(9)).unwrap();
    assert_eq!((&*stray.class.class, &*stray.path), ("?0000000000000abc", "?0000000000000def"));
    source.ask(&Question::acpd("a", "c"), &Limits::default()).unwrap();
}

pub(super) fn tables_belong_to_their_shard(servers: &Servers) {
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

pub(super) fn a_shard_that_is_killed_keeps_what_was_acknowledged(servers: &mut Servers) {
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
    let found = source.ask(&question, &Limits::default()).unwrap();
    assert_eq!(format!("{:?}", every::told(&found)), format!("{:?}", every::told(&expected)));
}
