//! Values that begin a transaction of a class: guards, started transactions and measured futures.

use crate::class::Class;
use crate::future::Measured;
use crate::guard::Guard;
use crate::started::{Parent, Started};
use crate::transaction;
use chronoscope_model::{Correlator, Status};

impl Class {
    /// Begins a transaction under the thread's open one, else as the root of a new chain.
    #[inline]
    pub fn begin(&self) -> Guard {
        Guard::new(transaction::begin(self))
    }

    /// Begins a transaction under the one that issued `parent`.
    #[inline]
    pub fn begin_with(&self, parent: &Correlator) -> Guard {
        Guard::new(transaction::begin_with(self, parent))
    }

    /// Begins a transaction that takes several messages: under the issuer of the first correlator,
    /// with links to the issuers of the others ([`Guard::link`]). Without any it is [`Self::begin`].
    pub fn begin_with_all(&self, parents: &[Correlator]) -> Guard {
        let Some((parent, links)) = parents.split_first() else { return self.begin() };
        let mut guard = self.begin_with(parent);
        links.iter().for_each(|issuer| guard.link(issuer));
        guard
    }

    /// Starts a transaction as [`Self::begin`] does, which may be stopped on another thread. It
    /// does not become the thread's open one.
    pub fn start(&self) -> Started {
        Started::new(self, Parent::Current)
    }

    /// Starts a transaction as [`Self::start`] does, under the one that issued `parent`.
    pub fn start_with(&self, parent: &Correlator) -> Started {
        Started::new(self, Parent::Issuer(parent))
    }

    /// Starts a transaction as [`Self::start`] does, with the parents of [`Self::begin_with_all`].
    pub fn start_with_all(&self, parents: &[Correlator]) -> Started {
        let Some((parent, links)) = parents.split_first() else { return self.start() };
        let mut started = self.start_with(parent);
        links.iter().for_each(|issuer| started.link(issuer));
        started
    }

    /// A future as one transaction, from its first poll until it is ready (GOOD) or dropped
    /// (ABORTED). Its parent is the transaction that is open where it is polled first.
    pub fn measure<F: Future>(&'static self, future: F) -> Measured<F> {
        Measured::new(self, future, |_| Status::Good)
    }

    /// Measures a future as [`Self::measure`] does; ends FAILED when the future's result is `Err`.
    pub fn measure_result<T, E, F>(&'static self, future: F) -> Measured<F>
    where
        F: Future<Output = Result<T, E>>,
    {
        Measured::new(self, future, crate::status_of)
    }
}
