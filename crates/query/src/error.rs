//! Why a question has no answer.

use chronoscope_chain::fan_in::TooManyWays;
use chronoscope_clickhouse::ClickHouseError;
use chronoscope_store::StoreError;

/// Why a question could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The files could not be read, or the question was cancelled.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The cluster could not answer.
    #[error(transparent)]
    ClickHouse(#[from] ClickHouseError),
    /// A URL that names no store.
    #[error("store {url:?}: {reason}; expected file:DIR or clickhouse://HOST/DATABASE")]
    Url {
        /// The URL as given, without a password.
        url: String,
        /// Description of the error.
        reason: String,
    },
    /// More rows than memory allows have to be read at once.
    #[error(
        "{rows} rows to join over all chains, and memory for {most}; ask for a shorter time \
         (--from, --until)"
    )]
    TooManyRows {
        /// Rows within reach of the time range.
        rows: u64,
        /// The largest number.
        most: u64,
    },
    /// Durations over links are not filtered or grouped.
    #[error("durations over parents and links are not filtered or grouped by attributes")]
    LinksByAttributes,
    /// Too many ways lead from roots to leaves.
    #[error(transparent)]
    TooManyWays(#[from] TooManyWays),
    /// What was linked of a cluster's chains was replaced, and deleted, before all of it was read.
    #[error(
        "the chains of these minutes were linked anew while the question was answered: ask again, \
         or for a shorter time (--from, --until)"
    )]
    LinkedAnew,
    /// A question needs more of a cluster's rows here than the disk is meant to hold.
    #[error(
        "the rows that this question needs from the cluster take more than {} GB here; ask for a \
         shorter time (--from, --until)", most >> 30
    )]
    TooMuchToFetch {
        /// Most bytes of fetched rows.
        most: u64,
    },
}

impl QueryError {
    /// Whether the question was cancelled, so that nothing is wrong with what was read.
    pub const fn is_cancelled(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_cancelled())
    }

    /// Whether a file is not there (any more).
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_missing())
    }
}
