//! Reasons why the heap's figures cannot be had.

use super::page::PageError;
use std::io;
use std::path::PathBuf;

/// Reason why there are no heap figures.
#[derive(Debug, thiserror::Error)]
pub enum HeapError {
    /// The library cannot be put where the program finds it, or its figures cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A page is none.
    #[error("{path}: {source}")]
    Page {
        /// The file.
        path: PathBuf,
        /// Fault of the page.
        source: PageError,
    },
    /// The program was never seen.
    #[error("no process was observed: the program is statically linked, or may not be traced")]
    Nobody,
}
