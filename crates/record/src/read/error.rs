//! Reasons why a ring cannot be read.

use std::io;
use std::path::PathBuf;

/// Reason why a ring cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The file cannot be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The path is not opened: it is no plain file or folder, or its owner must not put rings
    /// there.
    #[error("{}: {reason}", path.display())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// The reason, and what to do.
        reason: String,
    },
    /// The first bytes are not a ring's. A process that is just starting writes them last.
    #[error("byte 0: {found:#018x} is not the start of a ring")]
    NotARing {
        /// The first eight bytes, as found.
        found: u64,
    },
    /// The ring is of another version.
    #[error("byte 8: ring version {0} is not known (1 is): update this program")]
    Version(u32),
    /// The ring ends too early: it was truncated, or is still growing.
    #[error("byte {position}: the ring ends here, {missing} more bytes expected")]
    Cut {
        /// End of the ring, in bytes.
        position: u64,
        /// Number of missing bytes.
        missing: u64,
    },
    /// The bytes contradict the layout: somebody has written to the ring.
    #[error("byte {position}: {what}")]
    Damaged {
        /// Position of the damage, in bytes.
        position: u64,
        /// Found and expected value.
        what: String,
    },
    /// A slot holds another record than the one of its number: that one record is lost.
    #[error("byte {position}: the slot holds {found}, {expected} expected")]
    Slot {
        /// Position of the slot, in bytes.
        position: u64,
        /// The record's number there.
        found: u64,
        /// The number that belongs there.
        expected: u64,
    },
    /// The file is no core file of a 64-bit process.
    #[error("byte {position}: not a core file: {what}")]
    NotACore {
        /// Position, in bytes.
        position: u64,
        /// Description of the fault.
        what: &'static str,
    },
    /// The ring was read from a core file or from memory: a change would not reach any process.
    #[error("this ring is a copy: its classes cannot be switched on or off")]
    Copy,
}

impl RingError {
    pub(crate) fn damaged(position: u64, what: impl Into<String>) -> Self {
        Self::Damaged { position, what: what.into() }
    }
}
