//! The collector: rings of this host, and what others bring, into a store.

use crate::ingest::Ingest;
use crate::intake::{self, Rings};
use crate::ring_destination::RingDestination;
use crate::scrub::Scrub;
use crate::status::Status;
use chronoscope_clock as clock;
use chronoscope_store::{Store, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Options of a collector.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder where programs put their rings.
    pub ring_dir: PathBuf,
    /// The store's directory.
    pub data_dir: PathBuf,
    /// Options of the store.
    pub store: chronoscope_store::Options,
    /// Interval at which rows are made durable. Default: 25 ms.
    pub sync_every: Duration,
    /// Interval at which the status is reported and written. Default: 1 s.
    pub tell_every: Duration,
    /// Whether rings of dead processes are removed once their rows are durable. Default: yes.
    pub remove_rings: bool,
    /// Only programs that call themselves so; `None` takes all. Default: all.
    pub application: Option<String>,
}

impl Options {
    /// The defaults, from `ring_dir` to `data_dir`.
    pub fn new(ring_dir: PathBuf, data_dir: PathBuf) -> Self {
        let store = chronoscope_store::Options::default();
        let (sync_every, tell_every) = (Duration::from_millis(25), Duration::from_secs(1));
        let (remove_rings, application) = (true, None);
        Self { ring_dir, data_dir, store, sync_every, tell_every, remove_rings, application }
    }
}

/// Why a collector cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads rings into a store.
#[derive(Debug)]
pub struct Collector {
    options: Options,
    store: Arc<Store>,
    ingest: Ingest,
}

impl Collector {
    /// Opens the store and recovers what a crash left.
    ///
    /// # Errors
    /// As [`Store::open`]: most often that another collector is at work there.
    pub fn new(options: Options) -> Result<Self, CollectError> {
        let store = Store::open(&options.data_dir, options.store.clone(), clock::utc_now_ns())?;
        let store = Arc::new(store);
        let ingest = Ingest::into_files(store.clone());
        Ok(Self { options, store, ingest })
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A door into the same store for rows that come from elsewhere; good while [`Self::run`] does,
    /// which is what keeps the store in order.
    pub fn ingest(&self) -> Ingest {
        self.ingest.clone()
    }

    /// Collects until `stop` is set; then reads what is in the rings at that moment, syncs, and
    /// returns the last status. `tell` is called about once a second.
    ///
    /// Nothing ends it but `stop`: what goes wrong meanwhile is told in [`Status::error`] and
    /// tried again.
    pub fn run(&self, stop: &AtomicBool, tell: &mut dyn FnMut(&Status)) -> Status {
        let rings = Rings {
            ring_dir: self.options.ring_dir.clone(),
            dir: self.options.data_dir.clone(),
            sync_every: self.options.sync_every,
            tell_every: self.options.tell_every,
            remove_rings: self.options.remove_rings,
            application: self.options.application.clone(),
        };
        let scrub = Scrub::new(self.options.data_dir.clone());
        let add = |status: &mut Status| {
            status.agents = self.ingest.agents();
            scrub.fill(status);
        };
        std::thread::scope(|scope| {
            scope.spawn(|| scrub.run());
            let last = intake::run(
                &RingDestination::Files(self.store.clone()),
                &rings,
                stop,
                &add,
                tell,
                || (),
            );
            scrub.stop();
            last
        })
    }
}
