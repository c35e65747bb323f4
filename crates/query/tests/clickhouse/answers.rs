//! All answers are those of files: of rows of every kind, and of rows that come late.

use crate::both::{Both, rows, sink, store};
use crate::cluster::Servers;
use crate::world::World;
use crate::{every, support};
use chronoscope_model::{ChainId, ClassName};
use chronoscope_query::{ClassStatistics, DurationCache, Limits, Point, Sealed, StoreLocation};
use chronoscope_statistics::Histogram;
use chronoscope_store::MINUTE_NS;
use std::collections::{BTreeMap, BTreeSet};

/// Native, foreign and mixed chains, rows that are missing or late, ancestors that were dropped,
/// clocks that disagree, hosts, attributes and links.
pub(super) fn answers_are_those_of_files(servers: &Servers) {
    let world = World::new(1, 400).on_hosts().with_attributes().with_links().with_losses();
    let both = Both::new(servers, "answers", &world, 1);
    let each = rows(servers, "answers");
    assert!(each.iter().all(|rows| *rows > 400), "both shards have their part: {each:?}");
    let cache = DurationCache::default();
    both.assert_same_with(&cache, "answers");
    let of_files = DurationCache::default();
    every::kept_answers(&both.local, &of_files);
    let expected = every::kept_answers(&both.local, &of_files);
    every::kept_answers(&both.remote, &cache).compare(&expected, "answers once more");
    are_the_same_linked(&both, "answers", false);
}

/// The same in several inserts: rows that come after a question are in the answer to the next. Without
/// dropped ancestors linked rows suffice.
pub(super) fn rows_that_come_later_are_seen(servers: &Servers) {
    let database = "in_batches";
    let world = World::new(2, 300).on_hosts().without_dropped_ancestors();
    let world = world.with_attributes().with_links();
    let (first, second) = world.records.split_at(world.records.len() / 2);
    let half = Both::new(servers, database, &world.with_records(first.to_vec()), 3);
    let cache = DurationCache::default();
    half.assert_same_with(&cache, "the first half");
    let sink = sink(servers, database);
    for (index, rows) in second.chunks(second.len().div_ceil(4)).enumerate() {
        sink.insert(&world.batch(rows), &world.names, index as u128 + 90).unwrap();
    }
    let mut both = Both::of(half.remote.clone(), &world);
    both.assert_same_with(&cache, "both halves");
    // By another process once it is linked, which has fetched nothing yet.
    both.remote = StoreLocation::open(&servers.url(database)).unwrap();
    are_the_same_linked(&both, database, true);
}

/// Links the chains of a cluster and asks everything again; whether linked rows suffice afterwards.
fn are_the_same_linked(both: &Both, database: &str, suffices: bool) {
    assert!(!both.reads_linked_rows());
    let sealed = both.seal();
    assert!(sealed.foreign > 400, "{sealed:?}");
    both.assert_same(&format!("{database}, linked"));
    assert_eq!(both.reads_linked_rows(), suffices);
    both.assert_same_leaves(&format!("{database}, leaves linked"));
    assert_eq!(both.seal(), Sealed::default(), "nothing has changed");
    let small = Limits { memory_bytes: 10_000, ..Limits::default() };
    for (name, question) in every::questions() {
        let found = format!("{:?}", every::told(&both.remote.ask(&question, &small).unwrap()));
        assert!(found == both.expected().of(&name), "{database}, {name}, in small pieces");
    }
}

/// Chains that go on others, told when half of their rows are there.
pub(super) fn aliases_are_those_of_files(servers: &Servers) {
    let world = World::new(12, 300).on_hosts().with_links().with_aliases();
    let both = Both::new(servers, "aliases", &world, 3);
    both.assert_same("aliases");
    both.seal();
    both.assert_same("aliases, linked");
    let chains: BTreeMap<_, _> = world.records.iter().map(|r| (r.chain(), r.start_ns)).collect();
    let chains: Vec<_> = chains.into_iter().step_by(3).collect();
    let [found, expected] = [&both.remote, &both.local].map(|of| every::chains(of, &chains));
    found.compare(&expected, "chains with aliases");
}

/// What rows of a class say, with properties and metrics.
pub(super) fn excerpts_are_those_of_files(servers: &Servers) {
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

pub(super) fn chains_and_classes_are_those_of_files(servers: &Servers) {
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
