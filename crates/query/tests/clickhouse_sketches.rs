//! Sketches of a cluster: they say what the rows say, are used where they hold, and follow late rows,
//! deletions, retention and tables of before.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod cluster;
mod world;

use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_model::{ClassName, Record};
use chronoscope_query::{
    ClassStatistics, ClusterView, PathMinuteKey, PathMinuteRows, PathStatistics, Progress,
    StoreLocation, StoreView,
};
use chronoscope_statistics::Histogram;
use chronoscope_store::{MINUTE_NS, Minute};
use cluster::Servers;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use world::World;

#[test]
fn sketches() {
    let Some(servers) = Servers::start(2) else { return };
    they_say_what_rows_say(&servers);
    a_sketch_that_holds_is_read(&servers);
    late_rows_and_deletions(&servers);
    rows_that_come_while_it_is_asked(&servers);
    they_go_with_their_rows(&servers);
    tables_of_before(&servers);
}

/// Classes and paths of a range.
#[derive(Debug, PartialEq)]
struct Counted {
    classes: BTreeMap<ClassName, ClassStatistics>,
    paths: BTreeMap<String, PathStatistics>,
}

/// Whole minutes, parts of minutes, both, and nothing; rows are in the minutes from 100 to 102.
fn ranges() -> [Range<i64>; 6] {
    let at = |thousandths: i64| thousandths * MINUTE_NS / 1000;
    [
        i64::MIN..i64::MAX,
        at(101_000)..at(102_000),
        at(100_400)..at(102_000),
        at(100_400)..at(102_700),
        at(101_200)..at(101_700),
        1..2,
    ]
}

fn counted(location: &StoreLocation) -> Vec<Counted> {
    let of = |view: &StoreView, range: Range<i64>| {
        let (classes, damage) = view.classes(&range).unwrap();
        assert_eq!(damage, []);
        let (paths, damage) = view.paths(&range, &Progress::default()).unwrap();
        assert_eq!(damage, []);
        Counted { classes, paths }
    };
    location.with(|view| Ok(ranges().map(|range| of(view, range)).into())).unwrap()
}

/// What files say.
fn expected(world: &World) -> Vec<Counted> {
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    counted(&StoreLocation::Files(dir.path().to_owned()))
}

fn view(servers: &Servers, database: &str) -> ClusterView {
    ClusterView::new(Cluster::new(&servers.url(database)).unwrap())
}

fn prepare(servers: &Servers, database: &str, options: &TableOptions) -> ClusterWriter {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    cluster.prepare(options).unwrap();
    ClusterWriter::new(cluster)
}

fn put(servers: &Servers, database: &str, world: &World, records: &[Record], key: u128) {
    let sink = prepare(servers, database, &TableOptions::default());
    sink.insert(&world.batch(records), &world.names, key).unwrap();
}

/// Number of minutes of which sketches were made, each on each shard.
fn seal(view: &ClusterView) -> u64 {
    view.seal(&(i64::MIN..=i64::MAX), &Progress::default()).unwrap().sketched
}

/// Elapsed times, and times since the root, of each path in three of four minutes.
fn minutes_by_path(view: &ClusterView) -> BTreeMap<PathMinuteKey, [Histogram; 2]> {
    let found = view.path_minutes(&[99, 100, 102].map(Minute)).unwrap();
    assert!(found.keys().any(|(minute, ..)| minute.0 == 102));
    assert!(found.keys().all(|(minute, ..)| minute.0 != 101));
    let of = |rows: PathMinuteRows| [rows.elapsed.histogram(), rows.since_root.histogram()];
    found.into_iter().map(|(key, rows)| (key, of(rows))).collect()
}

/// A number that SQL on both servers adds up to.
fn sum(servers: &Servers, sql: &str) -> u64 {
    (0..2).map(|index| servers.sql(index, sql).parse::<u64>().unwrap()).sum()
}

fn they_say_what_rows_say(servers: &Servers) {
    let world = World::new(41, 400).on_hosts().with_attributes();
    for (index, records) in world.records.chunks(333).enumerate() {
        put(servers, "told", &world, records, index as u128 + 1);
    }
    let source = StoreLocation::open(&servers.url("told")).unwrap();
    let before = counted(&source);
    assert_eq!(before, expected(&world));
    assert!(before[0].paths.len() > 4 && before[5].classes.is_empty());
    let view = view(servers, "told");
    let by_path = minutes_by_path(&view);
    let minutes = sum(servers, "SELECT uniqExact(minute) FROM told.transactions");
    assert_eq!(seal(&view), minutes);
    assert_eq!(counted(&source), before);
    assert_eq!(minutes_by_path(&view), by_path);
    assert_eq!(seal(&view), 0, "nothing has changed");
    // Each row is counted once, and a shard has those of its own rows.
    let rows = sum(servers, "SELECT sum(elapsed_count) FROM told.sketches");
    assert_eq!(rows, world.records.len() as u64);
    let all = "SELECT sum(elapsed_count) FROM told.sketches_all";
    assert_eq!(servers.sql(0, all), rows.to_string());
    // What no answer has.
    let (mut roots, mut squares) = (0, 0.0);
    for record in &world.records {
        roots += u64::from(record.parent.is_none());
        squares += (record.elapsed_ns as f64).powi(2);
    }
    assert_eq!(sum(servers, "SELECT sum(roots) FROM told.sketches"), roots);
    let found: f64 =
        servers.sql(0, "SELECT sum(elapsed_squares) FROM told.sketches_all").parse().unwrap();
    assert!((found - squares).abs() < 1e-9 * squares, "{found} {squares}");
    let tops = "SELECT count() FROM told.sketches WHERE path != '' AND NOT startsWith(path, top)";
    assert_eq!(sum(servers, tops), 0);
}

/// With other numbers in it, the answer has them: of whole minutes, and of no others.
fn a_sketch_that_holds_is_read(servers: &Servers) {
    let source = StoreLocation::open(&servers.url("told")).unwrap();
    let before = counted(&source);
    for index in 0..2 {
        let change = "ALTER TABLE told.sketches UPDATE not_good = not_good + 1000, \
            since_root_max = since_root_max + 1000000 WHERE 1 SETTINGS mutations_sync = 2";
        servers.sql(index, change);
    }
    let after = counted(&source);
    let bad = |of: &Counted| of.classes.values().map(|class| class.not_good).sum::<u64>();
    let slowest = |of: &Counted| of.paths.values().filter_map(|path| path.since_root.max()).max();
    for (index, is_read) in [true, true, true, true, false].into_iter().enumerate() {
        assert_eq!(bad(&after[index]) >= bad(&before[index]) + 1000, is_read, "{index}");
        assert_eq!(slowest(&after[index]) > slowest(&before[index]), is_read, "{index}");
    }
}

fn late_rows_and_deletions(servers: &Servers) {
    let mut world = World::new(42, 300).on_hosts();
    let (early, late) = world.records.split_at(world.records.len() / 2);
    put(servers, "late", &world, early, 1);
    let view = view(servers, "late");
    assert!(seal(&view) > 0);
    put(servers, "late", &world, late, 2);
    let source = StoreLocation::open(&servers.url("late")).unwrap();
    let all = expected(&world);
    assert_eq!(counted(&source), all, "late rows are in no sketch");
    assert!(seal(&view) > 0);
    assert_eq!(counted(&source), all);
    (0..2).for_each(|index| drop(servers.sql(index, "OPTIMIZE TABLE late.sketches FINAL")));
    let rows = "SELECT sum(elapsed_count) FROM late.sketches";
    assert_eq!(sum(servers, rows), world.records.len() as u64, "the former ones are merged away");
    assert_eq!(counted(&source), all);
    // A minute and a half, without one class.
    let gone = 100 * MINUTE_NS + MINUTE_NS / 2..102 * MINUTE_NS;
    view.cluster().delete_range(&gone, ("a test", 1)).unwrap();
    let within = "SELECT count() FROM late.sketches WHERE minute BETWEEN 100 AND 101";
    assert_eq!(sum(servers, within), 0);
    world.records.retain(|record| {
        let is_foreign = record.flags().contains(chronoscope_model::Flags::FOREIGN);
        !gone.contains(if is_foreign { &record.start_ns } else { &record.root_start_ns })
    });
    let left = expected(&world);
    assert_eq!(counted(&source), left);
    assert!(seal(&view) > 0);
    assert_eq!(counted(&source), left);
    let projected = sum(
        servers,
        "SELECT sum(rows) FROM (SELECT minute, count() AS rows FROM late.transactions \
         WHERE minute >= 0 GROUP BY minute)",
    );
    assert_eq!(projected, world.records.len() as u64);
}

/// Rows come and sketches are made while somebody asks: each answer is of whole inserts.
fn rows_that_come_while_it_is_asked(servers: &Servers) {
    let world = World::new(43, 400).on_hosts();
    let pieces: Vec<&[Record]> = world.records.chunks(world.records.len().div_ceil(25)).collect();
    put(servers, "meanwhile", &world, pieces[0], 1);
    let source = StoreLocation::open(&servers.url("meanwhile")).unwrap();
    let asked = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let sink = prepare(servers, "meanwhile", &TableOptions::default());
            let view = view(servers, "meanwhile");
            for (index, piece) in pieces.iter().enumerate().skip(1) {
                sink.insert(&world.batch(*piece), &world.names, index as u128 + 1).unwrap();
                seal(&view);
            }
        });
        let (mut asked, mut least) = (0, 0);
        while !writing.is_finished() {
            let (classes, _) = source.classes(&(i64::MIN..i64::MAX)).unwrap();
            let rows = classes.values().map(|class| class.elapsed.count()).sum::<u64>();
            assert!((least..=world.records.len() as u64).contains(&rows), "{least} {rows}");
            (asked, least) = (asked + 1, rows);
        }
        writing.join().unwrap();
        asked
    });
    assert!(asked > 3);
    assert_eq!(counted(&source), expected(&world));
}

/// A world so many days ago.
fn aged(seed: u64, days: i64) -> World {
    let mut world = World::new(seed, 60);
    let to_ns = clock::utc_now_ns() / MINUTE_NS * MINUTE_NS - days * 24 * 60 * MINUTE_NS;
    for record in &mut world.records {
        record.start_ns += to_ns - 100 * MINUTE_NS;
        record.root_start_ns += to_ns - 100 * MINUTE_NS;
    }
    world
}

fn they_go_with_their_rows(servers: &Servers) {
    let (new, old) = (aged(44, 1), aged(45, 40));
    for (key, world) in [(1, &new), (2, &old)] {
        put(servers, "aged", world, &world.records, key);
    }
    assert!(seal(&view(servers, "aged")) > 0);
    let rows = "SELECT sum(elapsed_count) FROM aged.sketches";
    let count = |world: &World| world.records.len() as u64;
    assert_eq!(sum(servers, rows), count(&new) + count(&old));
    let keep = TableOptions { keep: Some(Duration::from_secs(30 * 86_400)) };
    prepare(servers, "aged", &keep);
    for index in 0..2 {
        for table in ["transactions", "sketches"] {
            servers.sql(
                index,
                &format!("ALTER TABLE aged.{table} MATERIALIZE TTL SETTINGS mutations_sync = 2"),
            );
            servers.sql(index, &format!("OPTIMIZE TABLE aged.{table} FINAL"));
        }
    }
    assert_eq!(sum(servers, rows), count(&new));
    let (classes, _) =
        StoreLocation::open(&servers.url("aged")).unwrap().classes(&(i64::MIN..i64::MAX)).unwrap();
    assert_eq!(classes.values().map(|class| class.elapsed.count()).sum::<u64>(), count(&new));
}

/// Tables of version 5, without sketches and the projection: rows are counted until a writer of today
/// comes, and then its sketches are used.
fn tables_of_before(servers: &Servers) {
    let world = World::new(46, 200).on_hosts();
    put(servers, "before", &world, &world.records, 1);
    for index in 0..2 {
        servers.sql(index, "DROP TABLE before.sketches SYNC");
        servers.sql(index, "DROP TABLE before.sketches_all SYNC");
        servers.sql(
            index,
            "ALTER TABLE before.transactions DROP PROJECTION minute_rows SETTINGS mutations_sync = 2",
        );
        servers.sql(
            index,
            "DELETE FROM before.versions WHERE version > 5 SETTINGS lightweight_deletes_sync = 2",
        );
    }
    let source = StoreLocation::open(&servers.url("before")).unwrap();
    let all = expected(&world);
    assert_eq!(counted(&source), all);
    prepare(servers, "before", &TableOptions::default());
    assert_eq!(counted(&source), all);
    assert!(seal(&view(servers, "before")) > 0);
    assert_eq!(counted(&source), all);
    assert_eq!(
        sum(servers, "SELECT sum(elapsed_count) FROM before.sketches"),
        world.records.len() as u64
    );
    // The parts of before have it when they are told to.
    let projected = "SELECT count() FROM system.projection_parts \
        WHERE active AND database = 'before' AND name = 'minute_rows'";
    assert_eq!(sum(servers, projected), 0);
    for index in 0..2 {
        let all = "ALTER TABLE before.transactions MATERIALIZE PROJECTION minute_rows \
            SETTINGS mutations_sync = 2";
        servers.sql(index, all);
    }
    assert!(sum(servers, projected) > 0);
    assert_eq!(counted(&source), all);
}
