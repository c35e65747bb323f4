//! Why rows from outside were not taken.

use super::limits::{DURABLE_WITHIN, OPEN_SLOTS_MAX};
use chronoscope_store::{RemoteError, StoreError};

/// Why rows were not taken.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Not now: disk full, sealing behind, log failed. Nothing of it was taken; come again.
    #[error("temporarily refused, try again later: {0}")]
    Busy(StoreError),
    /// The rows are in the log and could not be made durable in time. They may be there or not
    /// after a crash; a sender that comes again may double them unless its [`super::RowSource`]
    /// prevents it.
    #[error(
        "the rows were accepted but are not durable after {} s: {reason}",
        DURABLE_WITHIN.as_secs()
    )]
    NotDurable {
        /// The last obstacle.
        reason: String,
    },
    /// Not now: too many minutes wait for being sealed, and these rows, or the rest of them, are of
    /// further ones. Come again in some minutes with what was not taken.
    #[error(
        "{} minutes wait for sealing, and rows of further past minutes cannot be accepted: try \
         again later",
        OPEN_SLOTS_MAX
    )]
    Minutes,
    /// Coming again does not help.
    #[error(transparent)]
    Refused(StoreError),
    /// The cluster is away, or has too much to do. Come again.
    #[error("temporarily refused, try again later: {0}")]
    ClusterBusy(RemoteError),
    /// The cluster refuses the rows: coming again does not help.
    #[error(transparent)]
    ClusterRefused(RemoteError),
    /// The numbers are not those of the rows.
    #[error("{rows} rows do not match the numbers from {first_row} to {end_row}")]
    Numbers {
        /// Rows that are there.
        rows: usize,
        /// Number of the first.
        first_row: u64,
        /// Number after the last.
        end_row: u64,
    },
}

impl IngestError {
    /// Whether the same rows may be offered again later.
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Busy(_) | Self::ClusterBusy(_) | Self::NotDurable { .. } | Self::Minutes
        )
    }
}

/// The error of a store of files, by whether coming again helps.
pub(super) fn refused(error: StoreError) -> IngestError {
    if error.is_passing() { IngestError::Busy(error) } else { IngestError::Refused(error) }
}

/// The error of a cluster, by whether coming again helps.
pub(super) fn refused_by_cluster(error: RemoteError) -> IngestError {
    if error.is_passing() {
        IngestError::ClusterBusy(error)
    } else {
        IngestError::ClusterRefused(error)
    }
}
