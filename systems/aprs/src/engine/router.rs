//! What is decided once for all workers: whether a packet is new.

use super::block::Routed;
use super::seam::Now;
use super::state::ServerState;
use crate::config::Config;
use crate::status::{DupeStatus, HistoryStatus};
use crate::why::DropLog;

/// Behind one lock, taken once for each batch of packets.
#[derive(Debug)]
pub(super) struct Router {
    dupes: DupeStatus,
    /// As worker 0 counted.
    pub(super) history: HistoryStatus,
    /// Why packets were dropped.
    pub(super) why: DropLog,
}

impl Router {
    pub(super) fn new(_config: &Config, seed: u64) -> Self {
        Self {
            dupes: DupeStatus::default(),
            history: HistoryStatus::default(),
            why: DropLog::new(seed),
        }
    }

    pub(super) fn configure(&mut self, _config: &Config) {}

    /// Marks those of a batch that are duplicates.
    pub(super) fn check(&mut self, packets: &mut [Routed], _now_ns: u64) {
        self.dupes.uniques += packets.len() as u64;
    }

    pub(super) fn dupes_status(&self) -> DupeStatus {
        self.dupes.clone()
    }

    pub(super) fn save(&self, _config: &Config, _state: &mut ServerState) {}

    pub(super) fn restore(&mut self, _state: &ServerState, _now: Now) {}
}
