//! One chain in words, and statistics of classes.

mod world;

use chronoscope_model::{ChainId, ClassName, Flags, Transaction};
use chronoscope_query::{Progress, chain, classes, paths};
use chronoscope_store::{MINUTE_NS, Snapshot};
use std::collections::BTreeMap;
use world::World;

#[test]
fn every_chain_comes_back_as_it_was_stored() {
    let world = World::new(21, 60);
    let mut chains: BTreeMap<ChainId, Vec<Transaction>> = BTreeMap::new();
    for record in &world.records {
        let mut transaction = Transaction::from_record(record, b"", &world.names);
        if record.flags().contains(Flags::FOREIGN) {
            transaction.root_process = None;
        }
        chains.entry(record.chain()).or_default().push(transaction);
    }
    for (shares, sealed) in [(&[1.0][..], true), (&[0.5, 0.5][..], false)] {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), shares, sealed);
        let snapshot = Snapshot::open(dir.path()).unwrap();
        for (id, expected) in &mut chains {
            expected.sort_by_key(|t| (t.start_ns, t.level, t.id));
            let near = expected[0].start_ns..expected[0].start_ns + 1;
            let (found, damage) = chain(&snapshot, *id, Some(near)).unwrap();
            assert_eq!((&found, damage), (&*expected, vec![]));
        }
        let (none, _) = chain(&snapshot, ChainId(12345), None).unwrap();
        assert_eq!(none, []);
        let (far, _) = chain(&snapshot, *chains.keys().next().unwrap(), Some(0..1)).unwrap();
        assert_eq!(far, [], "nothing is read of minutes far away");
    }
}

#[test]
fn classes_count_every_row_sealed_or_not() {
    let world = World::new(22, 200);
    for (shares, sealed) in [(&[1.0][..], true), (&[0.5, 0.5][..], false), (&[1.0][..], false)] {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), shares, sealed);
        let snapshot = Snapshot::open(dir.path()).unwrap();
        let (found, damage) = classes(&snapshot, &(0..i64::MAX)).unwrap();
        assert_eq!(damage, []);
        let mut expected: BTreeMap<&ClassName, Vec<u64>> = BTreeMap::new();
        for record in &world.records {
            let name = world.names.class(record.class).unwrap();
            expected.entry(name).or_default().push(record.elapsed_ns);
        }
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().copied().collect::<Vec<_>>());
        for (name, elapsed) in expected {
            let class = &found[name];
            assert_eq!(class.elapsed.count(), elapsed.len() as u64, "{name}");
            assert_eq!(class.elapsed.sum(), elapsed.iter().map(|ns| u128::from(*ns)).sum());
            assert_eq!(class.elapsed.max(), elapsed.iter().max().copied());
        }
        let (one, _) = classes(&snapshot, &(101 * MINUTE_NS..102 * MINUTE_NS)).unwrap();
        let count = |of: &BTreeMap<ClassName, chronoscope_query::ClassStatistics>| {
            of.values().map(|class| class.elapsed.count()).sum::<u64>()
        };
        assert!(count(&one) > 100 && count(&one) < count(&found) / 2);
    }
}

/// Ranges that begin or end within a minute, in the middle of one, and over several.
fn ranges_that_cut_minutes() -> Vec<std::ops::Range<i64>> {
    let at = |seconds: i64| 100 * MINUTE_NS + seconds * 1_000_000_000;
    vec![at(10)..at(40), at(50)..at(70), at(30)..i64::MAX, i64::MIN..at(95), at(59)..at(121)]
}

#[test]
fn a_range_that_cuts_minutes_counts_exactly_its_rows() {
    let world = World::new(23, 300);
    for (shares, sealed) in [(&[1.0][..], true), (&[0.5, 0.5][..], false), (&[1.0][..], false)] {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), shares, sealed);
        let snapshot = Snapshot::open(dir.path()).unwrap();
        for range in ranges_that_cut_minutes() {
            let asked = world.records.iter().filter(|record| range.contains(&record.root_start_ns));
            let mut expected: BTreeMap<ClassName, (u64, u128)> = BTreeMap::new();
            for record in asked.clone() {
                let class = world.names.class(record.class).unwrap().clone();
                let (count, sum_ns) = expected.entry(class).or_default();
                (*count, *sum_ns) = (*count + 1, *sum_ns + u128::from(record.elapsed_ns));
            }
            assert!(asked.count() > 50, "{range:?} has rows");
            let (found, damage) = classes(&snapshot, &range).unwrap();
            assert_eq!(damage, []);
            let found: BTreeMap<ClassName, (u64, u128)> = found
                .into_iter()
                .map(|(name, class)| (name, (class.elapsed.count(), class.elapsed.sum())))
                .collect();
            assert_eq!(found, expected, "{range:?}, sealed: {sealed}");
        }
    }
}

#[test]
fn a_range_that_cuts_minutes_counts_exactly_the_chains_of_its_paths() {
    let world = World::new(24, 300);
    for (shares, sealed) in [(&[1.0][..], true), (&[0.5, 0.5][..], false)] {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), shares, sealed);
        let snapshot = Snapshot::open(dir.path()).unwrap();
        for range in ranges_that_cut_minutes() {
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for record in world.records.iter().filter(|r| range.contains(&r.root_start_ns)) {
                let is_in = record.since_root_ns().is_some_and(|ns| ns >= 0);
                if is_in && !record.path.is_none() {
                    *expected.entry(world.names.path_text(record.path)).or_default() += 1;
                }
            }
            let (found, damage) = paths(&snapshot, &range, &Progress::default()).unwrap();
            assert_eq!(damage, []);
            let found: BTreeMap<String, u64> = found
                .into_iter()
                .map(|(path, statistics)| (path, statistics.since_root.count()))
                .filter(|(_, count)| *count > 0)
                .collect();
            assert!(expected.len() > 5, "{range:?} has paths");
            assert_eq!(found, expected, "{range:?}, sealed: {sealed}");
        }
    }
}

#[test]
fn cpu_time_of_foreign_rows_that_carry_none_is_unknown() {
    let mut world = World::new(25, 200);
    for record in &mut world.records {
        record.cpu_ns = if record.flags().contains(Flags::FOREIGN) { 0 } else { 5 };
    }
    let native = world.records.iter().filter(|r| !r.flags().contains(Flags::FOREIGN)).count();
    assert!(native > 100 && native < world.records.len() - 100);
    let minute = 100 * MINUTE_NS;
    for sealed in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), &[1.0], sealed);
        let snapshot = Snapshot::open(dir.path()).unwrap();
        for range in [i64::MIN..i64::MAX, minute + 1..minute + 10 * MINUTE_NS] {
            let (found, _) = classes(&snapshot, &range).unwrap();
            let asked = world.records.iter().filter(|record| range.contains(&record.root_start_ns));
            let native = asked.filter(|record| !record.flags().contains(Flags::FOREIGN)).count();
            let known: u64 = found.values().map(|class| class.cpu_known).sum();
            assert_eq!(known, native as u64, "sealed: {sealed}, {range:?}");
            let means = found.values().filter_map(|class| class.cpu_mean_ns());
            means.for_each(|mean| assert_eq!(mean.to_bits(), 5_f64.to_bits()));
        }
    }
}
