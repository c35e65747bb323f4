//! One chain in words, and statistics of classes.

mod world;

use chronoscope_model::{ChainId, ClassName, Flags, Transaction};
use chronoscope_store::ask::{chain, classes};
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
        let count = |of: &BTreeMap<ClassName, chronoscope_store::ask::ClassStatistics>| {
            of.values().map(|class| class.elapsed.count()).sum::<u64>()
        };
        assert!(count(&one) > 100 && count(&one) < count(&found) / 2);
    }
}
