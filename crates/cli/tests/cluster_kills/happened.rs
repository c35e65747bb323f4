//! What has happened so far, for all threads of a run.

use crate::programs::wait_until;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What has happened so far.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    /// Rows that may come in before the next kill.
    pub(crate) due: AtomicU64,
    /// Rows that were acknowledged, in their order.
    pub(crate) acknowledged: AtomicU64,
    /// Kills of a server; some of them just before a `serve` is killed in the same turn.
    pub(crate) servers: AtomicU64,
    /// Kills of the `serve` that links, and those of them in the middle of a turn.
    pub(crate) collectors: AtomicU64,
    pub(crate) in_a_turn: AtomicU64,
    pub(crate) answered: AtomicU64,
    pub(crate) refused: AtomicU64,
    /// Foreign rows that the test itself linked, and what it pruned.
    pub(crate) foreign_rows: AtomicU64,
    pub(crate) replaced: AtomicU64,
    pub(crate) unpublished: AtomicU64,
    pub(crate) durations: AtomicU64,
    pub(crate) is_done: AtomicBool,
}

impl Happened {
    /// Waits until so many rows are acknowledged; panics where none is for a minute.
    pub(crate) fn wait_for_rows(&self, rows: u64) {
        let acknowledged = || count(&self.acknowledged);
        while acknowledged() < rows {
            let before = acknowledged();
            wait_until("further rows are in", || acknowledged() > before);
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::SeqCst)
    }
}

pub(crate) fn add(to: &AtomicU64, count: u64) {
    to.fetch_add(count, Ordering::SeqCst);
}

pub(crate) fn count(of: &AtomicU64) -> u64 {
    of.load(Ordering::SeqCst)
}
