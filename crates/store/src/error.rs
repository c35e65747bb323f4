//! Errors of a store, and damage found in it.

use std::io;
use std::path::{Path, PathBuf};

/// Why a store could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused a file operation.
    #[error("{}: {operation}: {source}", path.display())]
    Io {
        /// The operation: `create`, `write`, `fdatasync`, ….
        operation: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// The answer.
        source: io::Error,
    },
    /// Another server writes this store.
    #[error(
        "{}: another server ({holder}) writes this store; stop it first or choose another directory",
        dir.display()
    )]
    Locked {
        /// The store's directory.
        dir: PathBuf,
        /// The holder's description of itself in the lock file.
        holder: String,
    },
    /// A file of ours does not say what it should at a byte.
    #[error("{}: byte {position}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the damage, in bytes from the file's start.
        position: u64,
        /// Description of the damage.
        reason: String,
    },
    /// The file is of a version that this program does not know.
    #[error("{}: version {version}, this program reads up to {known}: use a newer one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the format.
        version: u32,
        /// The newest version that is known here.
        known: u32,
    },
    /// A batch must be one block, so that its rows and its cursors become durable together.
    #[error("a batch of {rows} rows: at most {rows_max} go into one; drain fewer at a time")]
    BatchTooLarge {
        /// Rows in the batch.
        rows: usize,
        /// Most rows that a batch may have.
        rows_max: usize,
    },
    /// The batch exceeds the size of one block in bytes.
    #[error("a batch of {bytes} bytes: at most {bytes_max} go into one; take fewer rows at a time")]
    BytesTooMany {
        /// Bytes of rows, contexts and names.
        bytes: usize,
        /// Most bytes that a batch may have.
        bytes_max: usize,
    },
    /// The directory is an agent's spool and no store, or the other way round.
    #[error("{}: an agent's spool and a store cannot share a directory; choose another", dir.display())]
    Spool {
        /// The directory.
        dir: PathBuf,
    },
    /// There are files of rows and nothing that says what they are.
    #[error(
        "{}: {files} files of rows but no manifest, which lists them; nothing was changed: restore \
         the manifest from a copy, or see what `chronoscope store repair --dry-run` can recover",
        dir.display()
    )]
    NoManifest {
        /// The store's directory.
        dir: PathBuf,
        /// Number of files of rows.
        files: usize,
    },
    /// The manifest is that of another store: following it would give up files that hold rows.
    #[error(
        "{}: none of the segments in its manifest exists, and {files} files exist that are not in \
         it: this is the manifest of another store. Nothing was changed: restore this store's own manifest, or see what `chronoscope store repair --dry-run` can make of the files",
        dir.display()
    )]
    ForeignManifest {
        /// The store's directory.
        dir: PathBuf,
        /// The number of files that the manifest does not explain.
        files: usize,
    },
    /// Sealing cannot keep up; nothing of the batch was taken. Come again.
    #[error("{buffered_bytes} bytes wait for sealing, the limit is {bytes_max}: try again later")]
    Backlog {
        /// Bytes of rows that are in the log and not yet in a segment.
        buffered_bytes: u64,
        /// Most that may be.
        bytes_max: u64,
    },
    /// The log could not be made durable; rows are saved as segments before more are taken.
    #[error("the log could not be written ({reason}): try again after the next maintenance")]
    LogFailed {
        /// Error of the operating system at that time.
        reason: String,
    },
    /// A deletion would take more rows than were confirmed; nothing was deleted.
    #[error(
        "{rows} rows would be deleted, and {rows_max} were confirmed: rows have come meanwhile; \
         nothing was deleted, look again"
    )]
    MoreRows {
        /// Rows in the range.
        rows: u64,
        /// Rows that were confirmed.
        rows_max: u64,
    },
    /// The caller cancelled the question.
    #[error("cancelled")]
    Cancelled,
    /// The Parquet library refused.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The segment.
        path: PathBuf,
        /// Error of the Parquet reader.
        source: parquet::errors::ParquetError,
    },
}

impl StoreError {
    /// Names the operation and the file of an operating system's answer.
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { operation, path: path.to_owned(), source }
    }

    /// A position in a file that does not say what it should.
    pub(crate) fn damaged(path: &Path, position: u64, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), position, reason: reason.into() }
    }

    /// Whether there is no space: waiting, or deleting, helps.
    pub fn is_full(&self) -> bool {
        let Self::Io { source, .. } = self else { return false };
        matches!(source.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG))
    }

    /// Whether the same call may succeed later without anybody's doing.
    pub fn is_passing(&self) -> bool {
        self.is_full() || matches!(self, Self::Backlog { .. } | Self::LogFailed { .. })
    }

    /// Whether the question was cancelled, so that nothing is wrong with what was read.
    pub const fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }

    /// Whether a file is not there (any more).
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Damage that was found and skipped, with the loss it causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// Offset of the damage, in bytes from the file's start.
    pub position: u64,
    /// Description of the damage.
    pub reason: String,
    /// Rows that are known to be lost by it; [`Self::UNCOUNTED`] when nobody can say.
    pub rows_lost: u64,
}

impl Damage {
    /// Stands for an unknown number of rows.
    pub const UNCOUNTED: u64 = u64::MAX;

    /// A part of a store that does not answer, such as a shard of a cluster: nobody can say how
    /// many rows it has.
    pub fn missing_part(name: impl Into<PathBuf>, reason: String) -> Self {
        Self { path: name.into(), position: 0, reason, rows_lost: Self::UNCOUNTED }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, position, reason, rows_lost } = self;
        if *rows_lost == Self::UNCOUNTED {
            let path = path.display();
            return write!(f, "{path} is missing: {reason}; its rows are not in this answer");
        }
        write!(f, "{}: byte {position}: {reason}; {rows_lost} rows lost", path.display())
    }
}
