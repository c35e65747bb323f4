//! Errors of a cluster.

use std::path::PathBuf;

/// Why a cluster could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ClickHouseError {
    /// The URL is none.
    #[error(
        "store {url:?}: {reason}; expected \
         clickhouse://[user[:password]@]host[:port][|copy…][,host…]/database"
    )]
    Url {
        /// The URL as given, without user and password.
        url: String,
        /// Description of the error.
        reason: String,
    },
    /// The certificate that was named cannot be used.
    #[error("{}: {reason}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Description of the error.
        reason: String,
    },
    /// A server does not answer.
    #[error("shard {node} cannot be reached: {reason}")]
    Unreachable {
        /// `HOST:PORT`.
        node: String,
        /// Reason of the failure.
        reason: String,
    },
    /// A server answers with an error of its own.
    #[error("shard {node}: ClickHouse error {code}: {text}")]
    Refused {
        /// `HOST:PORT`.
        node: String,
        /// ClickHouse's number for it; 0 where it gave none.
        code: u32,
        /// ClickHouse's words, cut at 2000 bytes.
        text: String,
    },
    /// A server's answer ended in the middle.
    #[error("shard {node}: the answer ended early: {reason}")]
    BrokenOff {
        /// `HOST:PORT`.
        node: String,
        /// Symptom of the difference.
        reason: String,
    },
    /// A server's answer is not what was asked for.
    #[error("shard {node}: the column {column} is missing in the answer or of another type")]
    Strange {
        /// `HOST:PORT`.
        node: String,
        /// Name of the column.
        column: String,
    },
    /// A server's tables are another shard's, or were made by a newer program.
    #[error("shard {node}: {reason}")]
    Tables {
        /// `HOST:PORT`.
        node: String,
        /// Description of the error.
        reason: String,
    },
    /// Rows could not be turned into columns.
    #[error("the rows cannot be sent: {reason}")]
    Rows {
        /// Reason of the failure.
        reason: String,
    },
}

impl ClickHouseError {
    /// Whether the same call may succeed later without anybody's doing: the server is away, or has
    /// too much to do.
    pub fn is_passing(&self) -> bool {
        // TOO_MANY_SIMULTANEOUS_QUERIES, MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS, NOT_ENOUGH_SPACE,
        // TIMEOUT_EXCEEDED, SOCKET_TIMEOUT, NETWORK_ERROR.
        const PASSING: [u32; 7] = [202, 241, 252, 243, 159, 209, 210];
        match self {
            Self::Unreachable { .. } | Self::BrokenOff { .. } => true,
            Self::Refused { code, .. } => PASSING.contains(code) || self.is_of_copy(),
            _ => false,
        }
    }

    /// Whether another copy of the same shard may do what this one did not: this one is away, or
    /// has no connection to Keeper, or too few other copies live that it knows of.
    pub(crate) fn is_of_copy(&self) -> bool {
        // NO_ZOOKEEPER, TABLE_IS_READ_ONLY, TOO_FEW_LIVE_REPLICAS,
        // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, UNKNOWN_STATUS_OF_INSERT, REPLICA_IS_NOT_IN_QUORUM,
        // KEEPER_EXCEPTION.
        const OF_COPY: [u32; 7] = [225, 242, 285, 286, 319, 289, 999];
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { code, .. } => OF_COPY.contains(code),
            _ => false,
        }
    }
}
