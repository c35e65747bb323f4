//! A store on other machines, as those see it who bring rows.

use crate::ChainAlias;
use crate::clocks::ClockReading;
use crate::deliveries::Delivery;
use crate::losses::Loss;
use chronoscope_model::{Batch, Names, ProcessId};
use std::error::Error;
use std::fmt::Debug;

/// A store on other machines that takes rows. A trait, so that whoever brings rows need not know
/// which kind of database it is.
///
/// The methods wait for the network: they are not to be called from a thread that others wait for.
pub trait RemoteStore: Debug + Send + Sync {
    /// Gives `look` the names that this process has sent or looked up so far.
    fn with_names(&self, look: &mut dyn FnMut(&Names));

    /// The number of the row of a sender's stream that is wanted next, asked of the store once;
    /// `None` when nothing is known of the stream.
    ///
    /// # Errors
    /// [`RemoteError`].
    fn wanted_row(&self, stream: u128) -> Result<Option<u64>, RemoteError>;

    /// The number of the row of a sender's stream that is wanted next, asked of the store every
    /// time; `None` when nothing is known of the stream.
    ///
    /// # Errors
    /// [`RemoteError`].
    fn next_row(&self, stream: u128) -> Result<Option<u64>, RemoteError>;

    /// Inserts rows; when it returns they are durable. The same rows under the same `key` are taken
    /// once. `names` may leave out what an earlier batch had.
    ///
    /// # Errors
    /// [`RemoteError`]: send the same rows again with the same key.
    fn insert(&self, batch: &Batch, names: &Names, key: u128) -> Result<(), RemoteError>;

    /// Stores that rows of chains belong to other chains, those that are there and those that come;
    /// when it returns this is durable. The same again does no harm.
    ///
    /// # Errors
    /// [`RemoteError`]: send the same again.
    fn add_aliases(&self, aliases: &[ChainAlias]) -> Result<(), RemoteError>;

    /// Inserts rows of a sender's stream, numbered from `first_row` on, as far as they are not in;
    /// the number of the row that is wanted next.
    ///
    /// # Errors
    /// [`RemoteError`]: send again from the same row on.
    fn insert_stream(
        &self,
        stream: u128,
        first_row: u64,
        batch: &Batch,
        names: &Names,
    ) -> Result<u64, RemoteError>;

    /// Writes what senders say besides rows; when it returns, losses are durable. The same again
    /// does no harm.
    ///
    /// # Errors
    /// [`RemoteError`]: send the same again.
    fn note(&self, notes: &RemoteNotes<'_>) -> Result<(), RemoteError>;
}

/// What senders say besides rows.
#[derive(Clone, Copy, Debug)]
pub struct RemoteNotes<'a> {
    /// Names of the processes that lost rows, and of others that may have none.
    pub names: &'a Names,
    /// Rows that processes have lost in all.
    pub lost: &'a [(ProcessId, u64)],
    /// When rows of these were lost.
    pub losses: &'a [Loss],
    /// Up to when processes have delivered.
    pub delivered: &'a [(ProcessId, Delivery)],
    /// Readings of hosts' clocks, beside the clock of this collector.
    pub clocks: &'a [ClockReading],
}

/// Why a store on other machines did not take rows.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct RemoteError {
    source: Box<dyn Error + Send + Sync>,
    is_passing: bool,
}

impl RemoteError {
    /// The error of a database; `is_passing` says whether the same call may succeed later without
    /// anybody's doing.
    pub fn new(is_passing: bool, source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Box::new(source), is_passing }
    }

    /// Whether the same call may succeed later without anybody's doing.
    pub const fn is_passing(&self) -> bool {
        self.is_passing
    }
}
