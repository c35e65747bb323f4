//! Files and a cluster with the same rows, and their answers.

use crate::cluster::Servers;
use crate::every;
use crate::world::World;
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_model::{Batch, Record};
use chronoscope_query::{DurationCache, Limits, Progress, Sealed, StoreLocation, StoreView};
use chronoscope_store::{Delivery, RemoteNotes};

/// Files and a cluster with the rows of a world.
pub(super) struct Both {
    pub(super) remote: StoreLocation,
    pub(super) local: StoreLocation,
    pub(super) _dir: tempfile::TempDir,
}

impl Both {
    pub(super) fn new(servers: &Servers, database: &str, world: &World, batches: usize) -> Self {
        let remote = store(servers, database, world, batches);
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), &[1.0], true);
        Self { remote, local: StoreLocation::Files(dir.path().to_owned()), _dir: dir }
    }

    /// Links the native chains of the cluster; how many rows have something wrong.
    pub(super) fn seal(&self) -> Sealed {
        let StoreLocation::Cluster(view) = &self.remote else { panic!("it is no cluster") };
        view.seal(&(i64::MIN..=i64::MAX), &Progress::default()).unwrap()
    }

    /// Whether leaves of a class are answered from linked rows.
    pub(super) fn reads_linked_rows(&self) -> bool {
        let limits = Limits::default();
        let of = |view: &StoreView| {
            every::leaf_questions().into_iter().all(|(_, question)| {
                let rows = view.leaf_rows_of(&question, false, &limits, &Progress::default());
                rows.unwrap().segments().iter().any(|segment| segment.is_linked)
            })
        };
        self.remote.with(|view| Ok(of(view))).unwrap()
    }

    /// Those answers of both that are made of linked rows, where there are such.
    pub(super) fn assert_same_leaves(&self, what: &str) {
        let expected = every::leaf_answers(&self.local);
        every::leaf_answers(&self.remote).compare(&expected, what);
    }

    /// All answers of both; of the first world once more, with what was kept.
    pub(super) fn assert_same(&self, what: &str) {
        let caches = [DurationCache::default(), DurationCache::default()];
        for round in 0..if what == "answers" { 2 } else { 1 } {
            let expected = every::answers(&self.local, &caches[0]);
            let found = every::answers(&self.remote, &caches[1]);
            found.compare(&expected, &format!("{what}, round {round}"));
        }
    }
}

/// Puts a world into a database, in batches; what it is asked through.
pub(super) fn store(
    servers: &Servers,
    database: &str,
    world: &World,
    batches: usize,
) -> StoreLocation {
    let sink = sink(servers, database);
    for (index, records) in world.records.chunks(world.records.len().div_ceil(batches)).enumerate()
    {
        sink.insert(&world.batch(records), &world.names, index as u128 + 1).unwrap();
        if index == batches / 2 {
            sink.cluster().add_aliases(&world.aliases).unwrap();
        }
    }
    note(&sink, world);
    StoreLocation::open(&servers.url(database)).unwrap()
}

/// What a world's senders say besides rows.
fn note(sink: &ClusterWriter, world: &World) {
    let delivery = |until_ns| Delivery { until_ns, exports: false };
    let delivered: Vec<_> = world.delivered.iter().map(|(id, at)| (*id, delivery(*at))).collect();
    let (names, lost, losses) = (&world.names, &world.lost()[..], &world.losses[..]);
    sink.note(&RemoteNotes { names, lost, losses, delivered: &delivered, clocks: &[] }).unwrap();
}

pub(super) fn sink(servers: &Servers, database: &str) -> ClusterWriter {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    ClusterWriter::new(cluster)
}

pub(super) fn batch(records: &[Record]) -> Batch {
    let mut batch = Batch::default();
    records.iter().for_each(|record| batch.push(*record, b""));
    batch
}

pub(super) fn rows(servers: &Servers, database: &str) -> Vec<u64> {
    let count = |index| servers.sql(index, &format!("SELECT count() FROM {database}.transactions"));
    [count(0), count(1)].map(|count| count.parse().unwrap()).to_vec()
}
