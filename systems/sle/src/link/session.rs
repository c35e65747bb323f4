//! Why an association of a link has ended out of order.

use super::log_file::LinkJournalError;
use crate::client::ClientError;
use crate::journal::JournalFailed;

/// Why a session has ended out of order.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Journal(#[from] LinkJournalError),
    #[error("CLTUs were lost: the station takes none before STOP and START")]
    Lost,
    #[error(transparent)]
    JournalFailed(#[from] JournalFailed),
}
