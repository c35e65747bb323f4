//! An open transaction of one thread.

use crate::issued;
use crate::open::Opened;
use crate::transaction;
use chronoscope_model::context::ContextEntry;
use chronoscope_model::{Correlator, Status};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// An open transaction of one thread. Dropped, it ends GOOD, or ABORTED while the thread panics.
///
/// Guards end in the opposite order of their beginning. Where one ends before those begun inside
/// it, they end with it, ABORTED, and their own end does nothing; counted as out of order. One
/// that is leaked (`mem::forget`) stays open until something around it ends, or the thread.
#[derive(Debug)]
#[must_use = "a transaction ends where its guard is dropped"]
pub struct Guard {
    opened: Opened,
    thread: PhantomData<*const ()>, // the thread's own: neither Send nor Sync
}

impl Guard {
    #[inline(always)]
    pub(crate) fn new(opened: Opened) -> Self {
        Self { opened, thread: PhantomData }
    }

    /// Adds a property to the transaction. Text beyond the [240
    /// bytes](chronoscope_model::context::MAX_BYTES) of its context is left out, and the record is
    /// marked as cut.
    pub fn property(&mut self, key: &str, value: &str) {
        crate::context::append(self.opened, ContextEntry::Property(key, value));
    }

    /// Says a number about the transaction, within the same bound.
    pub fn metric(&mut self, key: &str, value: f64) {
        crate::context::append(self.opened, ContextEntry::Metric(key, value));
    }

    /// Adds an input besides the parent: the transaction that issued the correlator. Its chain
    /// reaches this transaction too, and what is begun under it (`docs/glossary.md`, "Fan-in"). A
    /// link to the parent, and a second one to the same transaction, count once.
    ///
    /// Each is 52 bytes in private memory, copied at the end; the first links of a thread allocate.
    /// At most 1,255: with more, or where the ring has no room for them, the transaction says only
    /// that it has links, and its inputs are unknown.
    pub fn link(&mut self, issuer: &Correlator) {
        crate::context::link(self.opened, issuer);
    }

    /// The correlator that travels with a message: the transaction of the receiver becomes a child
    /// of this one. If this one is not recorded (its class is switched off, or it was dropped for a
    /// limit) it is the correlator of the enclosing one, which keeps the chain together.
    pub fn correlator(&self) -> Correlator {
        crate::context::correlator(self.opened)
    }

    /// Ends the transaction.
    #[inline]
    pub fn stop(self, status: Status) {
        let guard = ManuallyDrop::new(self);
        transaction::end(guard.opened, status);
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        let status = if std::thread::panicking() { Status::Aborted } else { Status::Good };
        transaction::end(self.opened, status);
    }
}

/// The token of the thread's open transaction, if there is one.
pub fn current() -> Option<Correlator> {
    issued::current()
}
