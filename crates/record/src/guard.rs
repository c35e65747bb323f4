//! An open transaction of one thread.

use crate::{Correlator, Status, draft};
use std::marker::PhantomData;

/// An open transaction of one thread; ends GOOD when dropped.
#[derive(Debug)]
#[must_use = "a transaction ends where its guard is dropped"]
pub struct Guard {
    depth: usize,
    thread: PhantomData<*const ()>,
}

impl Guard {
    pub(crate) fn new(depth: usize) -> Self {
        Self { depth, thread: PhantomData }
    }

    /// Says a word about the transaction.
    pub fn property(&mut self, _key: &str, _value: &str) {}

    /// Says a number about the transaction.
    pub fn metric(&mut self, _key: &str, _value: f64) {}

    /// The token for those that continue the chain.
    pub fn correlator(&self) -> Correlator {
        draft::at(self.depth)
    }

    /// Ends the transaction.
    pub fn stop(self, _status: Status) {}
}

impl Drop for Guard {
    fn drop(&mut self) {
        draft::end(self.depth);
    }
}

/// FAILED for an `Err`, else GOOD.
#[doc(hidden)]
pub fn status_of<T, E>(result: &Result<T, E>) -> Status {
    if result.is_ok() { Status::Good } else { Status::Failed }
}
