//! The way to the collector: spool, target and state, over all connections.

use super::delivery_state::DeliveryState;
use super::link_error::LinkError;
use super::rows::Cuts;
use super::target::Target;
use chronoscope_store::Spool;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tonic::Request;

/// The way to a collector, one of a list.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) spool: Arc<Spool>,
    /// At least one.
    targets: Vec<Target>,
    /// Index of the one that is delivered to, or tried.
    current: AtomicUsize,
    pub(super) shared: Arc<DeliveryState>,
    pub(super) host: String,
    /// The folder of the rings about which the collector may ask.
    pub(super) ring_dir: PathBuf,
    /// Over all connections.
    cuts: Mutex<Cuts>,
}

impl Link {
    pub(super) fn new(
        spool: Arc<Spool>,
        targets: Vec<Target>,
        ring_dir: PathBuf,
        shared: Arc<DeliveryState>,
    ) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = host.trim().to_owned();
        shared.add_host(host.clone());
        let current = AtomicUsize::new(0);
        let link = Self { spool, targets, current, shared, host, ring_dir, cuts: Mutex::default() };
        link.choose(0);
        link
    }

    /// The collector that is delivered to, or tried.
    pub(super) fn to(&self) -> &Target {
        &self.targets[self.current.load(Ordering::Relaxed)]
    }

    /// Chooses the collector at an index of the list, from its beginning again behind its end.
    pub(super) fn choose(&self, index: usize) {
        let index = index % self.targets.len();
        self.current.store(index, Ordering::Relaxed);
        self.shared.status().to = self.targets[index].url().to_owned();
    }

    /// Index of the collector that is delivered to, or tried.
    pub(super) fn current(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    /// Whether it is the last of the list.
    pub(super) fn is_last(&self) -> bool {
        self.current() + 1 == self.targets.len()
    }

    /// The collectors that are preferred to the one that is delivered to, the best first.
    pub(super) fn preferred(&self) -> &[Target] {
        &self.targets[..self.current()]
    }

    /// Ends of the messages that may have to be sent again.
    pub(super) fn cuts(&self) -> MutexGuard<'_, Cuts> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether rows up to `row` may be at the collector by this spool's own doing.
    pub(super) fn check_sent(&self, row: u64) -> Result<(), LinkError> {
        match self.spool.sent_rows() {
            Some(sent) if row > sent => Err(LinkError::Impostor { there: row, sent }),
            _ => Ok(()),
        }
    }

    /// A request that shows the token.
    pub(super) fn request<T>(&self, message: T) -> Request<T> {
        self.to().request(message)
    }
}
