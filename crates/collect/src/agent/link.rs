//! The way to the collector: spool, target and state, over all connections.

use super::delivery_state::DeliveryState;
use super::link_error::LinkError;
use super::rows::Cuts;
use super::target::Target;
use chronoscope_store::Spool;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tonic::Request;

/// The way to one collector.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) spool: Arc<Spool>,
    pub(super) to: Target,
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
        to: Target,
        ring_dir: PathBuf,
        shared: Arc<DeliveryState>,
    ) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = host.trim().to_owned();
        shared.status().to = to.url().to_owned();
        shared.add_host(host.clone());
        Self { spool, to, shared, host, ring_dir, cuts: Mutex::default() }
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
        let mut request = Request::new(message);
        if let Some(token) = self.to.token() {
            request.metadata_mut().insert("authorization", token.clone());
        }
        request
    }
}
