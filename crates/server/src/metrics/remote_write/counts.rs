//! What remote write has done, as `/metrics` shows it.

use std::sync::{Mutex, PoisonError};

/// Counts since the start, and of now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RemoteWriteCounts {
    /// Samples that were acknowledged.
    pub(crate) sent: u64,
    /// Samples that the receiver refused.
    pub(crate) refused: u64,
    /// Samples that gave way to newer ones.
    pub(crate) dropped: u64,
    /// Requests that were not answered, or with a wish to have them again.
    pub(crate) failures: u64,
    /// Times that metrics were due and not taken.
    pub(crate) missed: u64,
    /// Samples that wait.
    pub(crate) waiting: u64,
    /// Memory that they take.
    pub(crate) waiting_bytes: usize,
    /// Last acknowledgement: UTC, nanoseconds since 1970.
    pub(crate) success_ns: Option<i64>,
}

/// The counts, for `/metrics`.
#[derive(Debug, Default)]
pub(crate) struct RemoteWriteState(Mutex<RemoteWriteCounts>);

impl RemoteWriteState {
    pub(crate) fn counts(&self) -> RemoteWriteCounts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut RemoteWriteCounts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
