//! Progress of a question, for those who wait for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between a question that is being answered and those who watch or end it. Any thread may
/// use it; numbers are for people and follow the work with a little delay.
#[derive(Debug, Default)]
pub struct Progress {
    /// Set by who no longer wants the answer; the question then ends with
    /// [`StoreError::Cancelled`](chronoscope_store::StoreError::Cancelled) as soon as it looks.
    pub cancel: AtomicBool,
    /// Number of those of [`Self::total`] that are done.
    pub done: AtomicU64,
    /// Number of steps, which are segments for a question over rows; 0 while it is unknown.
    pub total: AtomicU64,
}

impl Progress {
    /// Says that `total` more are to be done.
    pub fn expect(&self, total: u64) {
        self.total.fetch_add(total, Ordering::Relaxed);
    }

    /// One more is done; an error when the answer is no longer wanted.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`](chronoscope_store::StoreError::Cancelled).
    pub fn tick(&self) -> Result<(), chronoscope_store::StoreError> {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.check()
    }

    /// An error when the answer is no longer wanted.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`](chronoscope_store::StoreError::Cancelled).
    pub fn check(&self) -> Result<(), chronoscope_store::StoreError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(chronoscope_store::StoreError::Cancelled);
        }
        Ok(())
    }
}
