//! A transaction that may be stopped on another thread.

use crate::{Correlator, Status};

/// A started transaction; ABORTED when dropped without being stopped.
#[derive(Debug)]
#[must_use = "a transaction that is not stopped ends ABORTED"]
pub struct Started {
    correlator: Correlator,
}

impl Started {
    pub(crate) fn new(correlator: Correlator) -> Self {
        Self { correlator }
    }

    /// Says a word about the transaction.
    pub fn property(&mut self, _key: &str, _value: &str) {}

    /// Says a number about the transaction.
    pub fn metric(&mut self, _key: &str, _value: f64) {}

    /// The token for those that continue the chain.
    pub fn correlator(&self) -> Correlator {
        self.correlator.clone()
    }

    /// Stops the transaction.
    pub fn stop(self, _status: Status) {}
}
