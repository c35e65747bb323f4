//! Durations of minutes that were linked twice, and how those of before are deleted.

use crate::both::{Both, sink};
use crate::cluster::Servers;
use crate::world::World;
use chronoscope_clickhouse::{Cluster, SealedMinute, duration_cell, new_version};
use chronoscope_model::Flags;
use chronoscope_query::{Limits, Question, StoreLocation};
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn durations_that_were_replaced_are_deleted() {
    let Some(servers) = Servers::start(2) else { return };
    let mut world = World::new(11, 60).on_hosts();
    world.records.retain(|record| !record.flags().contains(Flags::FOREIGN));
    let early = World::of(world.names.clone(), world.records[..world.records.len() / 2].to_vec());
    let (late, database) = (world.batch(&world.records[early.records.len()..]), "replaced");
    let before = Both::new(&servers, database, &early, 1);
    before.seal();
    sink(&servers, database).insert(&late, &world.names, 98).unwrap();
    before.seal();
    let answer = |of: &StoreLocation| {
        let answer = of.ask(&Question::acpd("X::a", "c"), &Limits::default()).unwrap();
        (answer.durations_ns, answer.counts)
    };
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let expected = answer(&StoreLocation::Files(dir.path().to_owned()));
    assert!(expected.0.len() > 20 && answer(&before.remote) == expected);
    replaced_durations_are_deleted(&servers, database);
    assert_eq!(answer(&before.remote), expected, "what was replaced is deleted");
}

/// Versions with durations by shard: `MINUTE.VERSION`.
fn duration_cells(servers: &Servers, database: &str, table: &str) -> [BTreeSet<String>; 2] {
    let sql = format!("SELECT DISTINCT cell FROM {database}.{table}");
    [0, 1].map(|shard| servers.sql(shard, &sql).lines().map(str::to_owned).collect())
}

/// Of minutes that were linked twice the shards keep the durations of the newest version, and what a
/// writer leaves that was killed before it published goes once its minute is linked; what may still be
/// published stays.
fn replaced_durations_are_deleted(servers: &Servers, database: &str) {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    let all = i64::MIN..=i64::MAX;
    let newest = || -> [BTreeSet<String>; 2] {
        let by_shard = cluster.sealed_minutes(&all).unwrap();
        let cell = |(minute, of): (&i64, &SealedMinute)| duration_cell(*minute, of.version);
        [0, 1].map(|shard: usize| by_shard[shard].iter().map(cell).collect())
    };
    let tables = ["durations", "path_extents"];
    let stored = || tables.map(|table| duration_cells(servers, database, table));
    let (kept, before) = (newest(), stored());
    let replaced: usize =
        (0..2).map(|shard| before[0][shard].difference(&kept[shard]).count()).sum();
    assert!(replaced > 0 && before[0] == before[1], "{before:?}");
    assert!(cluster.is_linked_anew(&all, Duration::from_hours(1)).unwrap());
    let never = i64::MAX - 1..=i64::MAX;
    assert!(!cluster.is_linked_anew(&never, Duration::from_hours(1)).unwrap());
    let prune = |minutes, grace| cluster.prune_durations(minutes, grace).unwrap();
    assert_eq!(prune(&all, Duration::from_hours(1)), 0, "who reads them has an hour");
    assert_eq!(prune(&never, Duration::ZERO), 0, "of other minutes");
    assert_eq!(stored(), before);
    // Two writers that were killed before they published: one before the minute was linked, and
    // one after, which is not told from one that is still at work.
    let minute = *cluster.sealed_minutes(&all).unwrap()[0].keys().next().unwrap();
    let (dead, at_work) = (7, new_version() + (1 << 40));
    for version in [dead, at_work] {
        cluster.fill_durations(0, (minute, version), 0).unwrap();
    }
    // The first one was killed between the two tables.
    let of_dead = duration_cell(minute, dead);
    let sql = format!("DELETE FROM {database}.path_extents WHERE cell = '{of_dead}'");
    servers.sql(0, &sql);
    assert!(stored()[0][0].contains(&of_dead) && !stored()[1][0].contains(&of_dead));
    assert_eq!(prune(&all, Duration::ZERO), replaced as u64 + 1);
    let mut expected = kept.clone();
    expected[0].insert(duration_cell(minute, at_work));
    assert_eq!(stored(), [expected.clone(), expected]);
    assert_eq!(prune(&all, Duration::ZERO), 0, "there is nothing left to delete");
    assert_eq!(newest(), kept, "which version counts is as before");
}
