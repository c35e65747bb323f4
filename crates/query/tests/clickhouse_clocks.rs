//! Durations from one host to another, where the hosts' clocks were read: two ClickHouse shards tell
//! their error bounds as files do, and nothing of the leaves is fetched for that.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod cluster;
mod every;
mod world;

use chronoscope_chain::{Crossings, KNOTS_MAX};
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_model::{Flags, ProcessId, Record};
use chronoscope_query::{ClusterView, Progress, QueryEnvironment, Question, Raster, StoreLocation};
use chronoscope_statistics::Scale;
use chronoscope_store::{Append, ClockReading, ClockTable, MINUTE_NS, Options, Store};
use cluster::Servers;
use std::fmt::Write;
use world::{HOSTS, World};

/// Agents tell a reading of their host's clock so often.
const STEP_NS: i64 = 10_000_000_000;

#[test]
fn clocks_that_were_read() {
    let Some(servers) = Servers::start(2) else { return };
    native_rows(&servers);
    foreign_and_late_rows(&servers);
}

/// Numbers at random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        (((self.0 >> 33) ^ (self.0 >> 45)) % bound) as i64
    }

    /// Between both, the second excluded.
    fn between(&mut self, from: i64, to: i64) -> i64 {
        from + self.below(from.abs_diff(to))
    }
}

/// Rows whose durations are from below nothing to a second, some on hosts that are not known.
fn world(seed: u64) -> World {
    let mut world = World::new(seed, 300).on_hosts().without_dropped_ancestors();
    for record in &mut world.records {
        let id = record.id.0;
        let is_foreign = record.flags().contains(Flags::FOREIGN);
        record.elapsed_ns *= [1, 1000, 1, 1_000_000, 30][id as usize % 5];
        if !record.parent.is_none() && id.is_multiple_of(7) {
            record.start_ns -= (id % 900) as i64 * 1000;
            if is_foreign {
                record.root_start_ns = record.start_ns;
            }
        }
        // A chain's rows are told of the host that its root's row is on.
        let of_unknown = (id / 100).is_multiple_of(13);
        let is_unknown = if record.parent.is_none() { of_unknown } else { id.is_multiple_of(17) };
        if is_unknown {
            record.process = ProcessId::NONE;
        }
        if of_unknown && !is_foreign {
            record.root_process = ProcessId::NONE;
        }
    }
    world
}

/// Readings of the hosts' clocks of several kinds, with their names; the rows are of the minutes from
/// 100 to 102.
fn readings() -> Vec<(&'static str, Vec<ClockReading>)> {
    let mut random = Random(5);
    let at = |minute: i64| minute * MINUTE_NS;
    let mut reading = |host: usize, at_ns: i64, offsets: (i64, i64), error_max: u64| {
        let (offset_ns, error_ns) = (random.between(offsets.0, offsets.1), random.below(error_max));
        ClockReading { host: HOSTS[host].into(), at_ns, offset_ns, error_ns: error_ns as u64 }
    };
    let few = [(0, 101), (1, 100), (1, 101), (1, 104)];
    let few = few.map(|(host, minute)| reading(host, at(minute) + 5, (-30_000, 30_000), 400));
    // Of two successive readings at most one can be true.
    let set = (0..90).map(|n| (n as usize % 3, at(95) + n / 3 * 3 * STEP_NS));
    let set = set.map(|(host, at_ns)| reading(host, at_ns, (-2_000_000, 2_000_000), 5000));
    let set: Vec<_> = set.collect();
    // So many that most of those in the rows' time are not kept.
    let many = (0..2 * KNOTS_MAX as i64).flat_map(|n| [(0, n), (1, n)]);
    let many = many.map(|(host, n)| {
        let ahead = (n % 40 - 20) * 40_000 * (1 + host as i64);
        reading(host, at(80) + n * STEP_NS, (ahead - 9000, ahead + 9000), 3000)
    });
    let many: Vec<_> = many.collect();
    // Clocks that show another minute.
    let far = (0..120).flat_map(|n| [(0, n), (1, n), (2, n)]);
    let far = far.map(|(host, n)| {
        let ahead = [7, -40, 95][host] * 1_000_000_000 + n * 70_000;
        reading(host, at(90) + n * STEP_NS, (ahead, ahead + 100_000), 50_000)
    });
    let far: Vec<_> = far.collect();
    let mut strange = few.to_vec();
    strange[2].offset_ns = i64::MIN / 2;
    strange[3].error_ns = u64::MAX - 5;
    vec![
        ("few", few.to_vec()),
        ("set", set),
        ("many", many),
        ("far", far),
        ("strange", strange),
        ("none", Vec::new()),
    ]
}

/// Puts rows into a database.
fn insert(servers: &Servers, database: &str, world: &World, records: &[Record], key: u128) {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    let sink = ClusterWriter::new(cluster);
    sink.insert(&world.batch(records), &world.names, key).unwrap();
}

fn seal(servers: &Servers, database: &str) {
    let view = ClusterView::new(Cluster::new(&servers.url(database)).unwrap());
    assert!(view.seal(&(i64::MIN..=i64::MAX), &Progress::default()).unwrap().minutes > 0);
}

/// The readings that a database has from now on; they are what the first shard's own clock says.
fn read(servers: &Servers, database: &str, readings: &[ClockReading]) {
    servers.sql(0, &format!("TRUNCATE TABLE {database}.clocks"));
    let mut rows = String::new();
    for ClockReading { host, at_ns, offset_ns, error_ns } in readings {
        let comma = if rows.is_empty() { "" } else { "," };
        write!(rows, "{comma}('{host}',{at_ns},{offset_ns},{error_ns})").unwrap();
    }
    if !rows.is_empty() {
        let columns = "host, at_ns, offset_ns, error_ns";
        servers.sql(0, &format!("INSERT INTO {database}.clocks ({columns}) VALUES {rows}"));
    }
}

/// Files with the rows of a world and with readings.
struct Files {
    location: StoreLocation,
    _dir: tempfile::TempDir,
}

impl Files {
    fn new(world: &World, clocks: &[ClockReading]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), &[1.0], true);
        let now = 110 * MINUTE_NS;
        let store = Store::open(dir.path(), Options::default(), now).unwrap();
        store.append(&Append { clocks, ..Append::default() }, now).unwrap();
        store.sync().unwrap();
        drop(store);
        Self { location: StoreLocation::Files(dir.path().to_owned()), _dir: dir }
    }
}

fn clocks(location: &StoreLocation) -> ClockTable {
    location.with(|view| view.clocks()).unwrap()
}

/// What a store says of leaves where it says how well their durations are known.
fn answers(location: &StoreLocation) -> Vec<(String, String)> {
    let (limits, progress, cache) = Default::default();
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    let answers = location.with(|view| {
        let mut answers = Vec::new();
        for (name, question) in every::leaves::leaf_questions() {
            // With points nothing is counted by the shards.
            let question = Question { points: false, ..question };
            let asked = format!("{:#?}", every::told(&view.ask(&question, &limits)?));
            answers.push((name.to_owned(), asked));
            let again = format!("{:#?}", every::told(&view.ask_again(&question, &asking)?));
            answers.push((format!("{name}, again"), again));
            let raster = Raster { width: 20, height: 30, scale: Scale::Log };
            let mut picture = view.scatter(&question, raster, &asking)?;
            picture.rows_read = 0;
            answers.push((format!("{name}, picture"), format!("{picture:#?}")));
        }
        Ok(answers)
    });
    answers.unwrap()
}

/// The answers of a database and of files that have the same, with some of the readings.
fn compare(servers: &Servers, database: &str, world: &World, kinds: &[&str]) {
    for (name, readings) in readings().into_iter().filter(|(name, _)| kinds.contains(name)) {
        read(servers, database, &readings);
        let files = Files::new(world, &readings);
        let remote = StoreLocation::open(&servers.url(database)).unwrap();
        assert_eq!(clocks(&remote), clocks(&files.location), "{name}");
        let is_thinned = clocks(&remote).hosts().any(|(_, track)| {
            let within = 100 * MINUTE_NS..103 * MINUTE_NS;
            let knots = track.knots().windows(2);
            let mut knots = knots.filter(|two| two[1].at_ns > within.start);
            knots.any(|two| two[0].at_ns < within.end && two[1].dropped.is_some())
        });
        assert_eq!(is_thinned, name == "many");
        let (found, expected) = (answers(&remote), answers(&files.location));
        for ((what, found), (_, expected)) in found.into_iter().zip(expected) {
            let lines = found.lines().zip(expected.lines()).filter(|(found, read)| found != read);
            let lines: Vec<_> = lines.take(9).collect();
            assert!(found == expected, "{database}, {name}, {what}: {lines:#?}");
        }
    }
}

/// Every answer about durations of a database and of files that have the same, where clocks were set.
fn compare_all(servers: &Servers, database: &str, world: &World) {
    let (name, set) = readings().swap_remove(1);
    read(servers, database, &set);
    let files = Files::new(world, &set);
    let remote = StoreLocation::open(&servers.url(database)).unwrap();
    let expected = every::duration_answers(&files.location);
    let found = every::duration_answers(&remote);
    found.compare(&expected, &format!("{database}, {name}, all"));
    every::assert_no_difference();
}

/// What a store says of the durations that cross hosts, and how many durations it uses for each of
/// the questions that a cluster's shards answer.
fn told(location: &StoreLocation) -> (Option<Crossings>, [u64; 4]) {
    let (limits, progress, cache) = Default::default();
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    let question = Question::acpd("X::a", "c");
    let told = location.with(|view| {
        let asked = view.ask(&question, &limits)?;
        let again = view.ask_again(&question, &asking)?;
        let raster = Raster { width: 20, height: 30, scale: Scale::Log };
        let picture = view.scatter(&question, raster, &asking)?;
        let (listed, _) = view.list_chains(&question, (Default::default(), 5), &asking)?;
        let crossings = asked.clocks.map(|clocks| clocks.crossings);
        Ok((crossings, [asked.counts.used, again.counts.used, picture.total, listed]))
    });
    told.unwrap()
}

fn native_rows(servers: &Servers) {
    let database = "native_clocks";
    let mut world = world(31);
    let foreign: Vec<_> =
        world.records.iter().filter(|r| r.flags != 0).map(Record::chain).collect();
    world.records.retain(|record| !foreign.contains(&record.chain()));
    insert(servers, database, &world, &world.records, 1);
    compare_all(servers, database, &world);
    seal(servers, database);
    compare(servers, database, &world, &["few", "set", "many", "far", "strange", "none"]);
    let location = || StoreLocation::open(&servers.url(database)).unwrap();
    for (name, readings) in readings() {
        read(servers, database, &readings);
        let (crossings, used) = told(&location());
        assert!(used.into_iter().all(|used| used > 50), "{name}: {used:?}");
        let Some(all) = crossings else {
            assert_eq!(name, "none");
            continue;
        };
        let few = [all.count, all.unknown, all.negative, all.share_count];
        assert!(few.into_iter().all(|few| few > 5), "{name}: {all:?}");
    }
    // Nothing of the leaves was fetched: with what the shards have filled in there are none.
    (0..2).for_each(|shard| {
        drop(servers.sql(shard, &format!("TRUNCATE TABLE {database}.durations")))
    });
    for (name, readings) in readings() {
        read(servers, database, &readings);
        let (_, used) = told(&location());
        // No shard counts with readings that cannot be.
        assert_eq!(used == [0; 4], name != "strange", "{name}: {used:?}");
    }
}

/// Linked chains with foreign rows, and with rows that came when their minute was linked.
fn foreign_and_late_rows(servers: &Servers) {
    let database = "foreign_clocks";
    let world = world(32);
    let is_late = |record: &&Record| {
        record.id.0.is_multiple_of(19) && record.root_start_ns >= 102 * MINUTE_NS
    };
    let late: Vec<Record> = world.records.iter().filter(is_late).copied().collect();
    let mut early = World::of(world.names.clone(), world.records.clone());
    early.records.retain(|record| !is_late(&record));
    assert!(late.len() > 10);
    insert(servers, database, &early, &early.records, 1);
    compare_all(servers, database, &early);
    seal(servers, database);
    compare(servers, database, &early, &["set", "many", "far"]);
    insert(servers, database, &world, &late, 2);
    compare(servers, database, &world, &["few", "set"]);
    seal(servers, database);
    compare_all(servers, database, &world);
}
