//! Elapsed times of a class: two ClickHouse shards select them by themselves, and every field of every
//! answer is that of files.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod cluster;
mod every;
mod world;

use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_model::{ClassId, ClassName, Flags};
use chronoscope_query::{
    Answer, Clocks, DurationCache, Limits, Progress, QueryEnvironment, Question, StoreLocation,
    StoreView,
};
use chronoscope_store::{Delivery, MINUTE_NS, RemoteNotes};
use cluster::Servers;
use std::ops::{Range, RangeInclusive};
use world::World;

const HOUR_NS: i64 = 60 * MINUTE_NS;

/// A class that nobody named.
const UNNAMED: ClassId = ClassId(0xabc);

/// Rows of classes whose names are alike, contain the separators of paths, or are not known; of all
/// lengths; and such as started hours before their roots or after them.
fn world() -> World {
    let mut world = World::new(41, 300).on_hosts().with_losses().with_aliases();
    let names = [("Z", "c"), ("Z", "Y::c"), ("Z/x", "GET /a/b's")];
    for (application, class) in names {
        world.names.add_class(ClassName { application: application.into(), class: class.into() });
    }
    let classes = names.map(|(application, class)| ClassId::of(application, class));
    let lengths = [1, 1_000_000, 20_000_000_000, 7];
    for record in &mut world.records {
        let id = record.id.0;
        match id % 13 {
            0 => record.class = UNNAMED,
            at @ 1..=3 => record.class = classes[at as usize - 1],
            _ => {}
        }
        record.elapsed_ns *= lengths[id as usize % 4];
        if id.is_multiple_of(53) {
            record.elapsed_ns = [u64::from(u32::MAX), 1 << 32, i64::MAX as u64][id as usize % 3];
        }
        // Roots stay where they are.
        if id.is_multiple_of(7) && !record.parent.is_none() {
            record.start_ns += [2, -2, 0, 3][id as usize % 4] * HOUR_NS;
            if record.flags().contains(Flags::FOREIGN) {
                record.root_start_ns = record.start_ns;
            }
        }
    }
    world
}

/// Puts a world into a database, and what its senders say besides.
fn insert(servers: &Servers, database: &str, world: &World) {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    cluster.add_aliases(&world.aliases).unwrap();
    let sink = ClusterWriter::new(cluster);
    for (rows, key) in world.records.chunks(world.records.len() / 3).zip(1..) {
        sink.insert(&world.batch(rows), &world.names, key).unwrap();
    }
    let delivery = |until_ns| Delivery { until_ns, exports: false };
    let delivered: Vec<_> = world.delivered.iter().map(|(id, at)| (*id, delivery(*at))).collect();
    let (names, lost, losses) = (&world.names, &world.lost()[..], &world.losses[..]);
    sink.note(&RemoteNotes { names, lost, losses, delivered: &delivered, clocks: &[] }).unwrap();
}

/// Questions about classes, in all that can be asked of them.
fn questions() -> Vec<(String, Question)> {
    let all = i64::MIN..i64::MAX;
    let minutes = |minutes: Range<i64>| minutes.start * MINUTE_NS..minutes.end * MINUTE_NS;
    let cut = 100 * MINUTE_NS + 7_000_000_000..102 * MINUTE_NS + 9_000_000_000;
    let times =
        [all.clone(), cut, minutes(101..102), minutes(-30..30), minutes(215..225), minutes(9..9)];
    let mut questions = Vec::new();
    for root in ["c", "Y::c", "Z::c", "d", "X::a", "GET /a/b's", "?0000000000000abc", "none"] {
        for start_ns in times.clone() {
            let plain = Question { start_ns, limit_ns: Some(300), ..Question::sync(root) };
            let hosts = vec!["two".to_owned(), String::new(), "no'where".to_owned()];
            let path = Some("Y::c".to_owned());
            let of = |what: &str| format!("{root}, {what}, {:?}", plain.start_ns);
            questions.push((of("lengths"), plain.clone()));
            questions.push((of("points"), Question { points: true, ..plain.clone() }));
            questions.push((of("hosts"), Question { hosts, ..plain.clone() }));
            questions.push((of("a path"), Question { path, points: true, ..plain.clone() }));
            for lengths in
                [200..=700, 301..=u64::MAX, 1 << 32..=i64::MAX as u64, RangeInclusive::new(9, 8)]
            {
                let what = format!("lengths of {lengths:?}");
                questions.push((of(&what), Question { duration_ns: lengths, ..plain.clone() }));
            }
            let clocks = Clocks::Corrected;
            questions.push((of("corrected"), Question { clocks, ..plain.clone() }));
        }
    }
    questions
}

/// The answer to a question, and the answer for histograms.
fn asked(location: &StoreLocation, question: &Question) -> [Answer; 2] {
    let (limits, progress, cache): (Limits, Progress, DurationCache) = Default::default();
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    let both =
        |view: &StoreView| Ok([view.ask(question, &limits)?, view.ask_again(question, &asking)?]);
    location.with(both).unwrap()
}

#[test]
fn elapsed_times_are_those_of_files() {
    let Some(servers) = Servers::start(2) else { return };
    let (world, database) = (world(), "elapsed");
    insert(&servers, database, &world);
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let files = StoreLocation::Files(dir.path().to_owned());
    let remote = StoreLocation::open(&servers.url(database)).unwrap();
    let (mut used, mut foreign) = (0, 0);
    for (name, question) in questions() {
        let (found, expected) = (asked(&remote, &question), asked(&files, &question));
        for (found, expected) in found.iter().zip(&expected) {
            // The shards select: no other row is looked at.
            assert_eq!(found.rows_read, found.counts.used, "{name}");
            let [found, expected] =
                [found, expected].map(|answer| format!("{:#?}", every::told(answer)));
            let lines = found.lines().zip(expected.lines()).filter(|(found, told)| found != told);
            let lines: Vec<_> = lines.take(9).collect();
            assert!(found == expected, "{name}: {lines:#?}");
        }
        used += expected[0].counts.used;
        foreign += expected[0].counts.foreign;
    }
    assert!(used > 10_000 && foreign > 1_000, "{used}, {foreign}");
}
