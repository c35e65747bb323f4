//! Files and a cluster with the same rows, and their answers.

use crate::cluster::Servers;
use crate::every::leaves::{Extent, leaf_answers, leaf_questions};
use crate::every::{self, Answers};
use crate::world::World;
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_model::{Batch, Record};
use chronoscope_query::{DurationCache, Limits, Progress, Sealed, StoreLocation, StoreView};
use chronoscope_store::{Delivery, RemoteNotes};
use std::sync::OnceLock;

/// Files and a cluster with the rows of a world.
pub(super) struct Both {
    pub(super) remote: StoreLocation,
    pub(super) local: StoreLocation,
    /// What files answer, however often the cluster is asked the same.
    expected: OnceLock<Answers>,
    expected_leaves: OnceLock<Answers>,
    _dir: tempfile::TempDir,
}

impl Both {
    pub(super) fn new(servers: &Servers, database: &str, world: &World, batches: usize) -> Self {
        Self::of(store(servers, database, world, batches), world)
    }

    /// A cluster beside files that have the rows of a world.
    pub(super) fn of(remote: StoreLocation, world: &World) -> Self {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), &[1.0], true);
        let local = StoreLocation::Files(dir.path().to_owned());
        let (expected, expected_leaves) = Default::default();
        Self { remote, local, expected, expected_leaves, _dir: dir }
    }

    /// All answers of files.
    pub(super) fn expected(&self) -> &Answers {
        self.expected.get_or_init(|| every::answers(&self.local, &DurationCache::default()))
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
            leaf_questions().into_iter().all(|(_, question)| {
                let rows = view.leaf_rows_of(&question, false, &limits, &Progress::default());
                rows.unwrap().segments().iter().any(|segment| segment.is_linked)
            })
        };
        self.remote.with(|view| Ok(of(view))).unwrap()
    }

    /// Those answers of both that are made of linked rows, where there are such.
    pub(super) fn assert_same_leaves(&self, what: &str) {
        let expected = self.expected_leaves.get_or_init(|| leaf_answers(&self.local, Extent::All));
        leaf_answers(&self.remote, Extent::All).compare(expected, what);
    }

    /// Some of these.
    pub(super) fn assert_same_in_short(&self, extent: Extent, what: &str) {
        leaf_answers(&self.remote, extent).compare(&leaf_answers(&self.local, extent), what);
    }

    /// All answers of both.
    pub(super) fn assert_same(&self, what: &str) {
        self.assert_same_with(&DurationCache::default(), what);
    }

    /// The same, where the cluster's may be kept.
    pub(super) fn assert_same_with(&self, cache: &DurationCache, what: &str) {
        every::answers(&self.remote, cache).compare(self.expected(), what);
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
