//! Reasons why a scenario cannot be read or run.

use super::description::VERSION;
use crate::player::FeedError;
use std::io;
use std::path::PathBuf;

/// Reasons why a scenario cannot be read or its replay cannot begin. Later failures are in the
/// [`Report`](super::Report).
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The file is not a scenario.
    #[error("{}: {what}", path.display())]
    Syntax {
        /// Path of the file.
        path: PathBuf,
        /// Fault and its position.
        what: String,
    },
    /// Written for a later program.
    #[error(
        "{}: the scenario has version {version}, this program reads version {VERSION}: use a newer \
         program",
        path.display()
    )]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Version in the file.
        version: i64,
    },
    /// The scenario contradicts itself.
    #[error("{}: {what}", path.display())]
    Sense {
        /// Path of the file.
        path: PathBuf,
        /// Description of the error.
        what: String,
    },
    /// An input cannot be read.
    #[error("input {name}: {error}")]
    Input {
        /// Name of the input.
        name: String,
        /// Fault of the input.
        error: FeedError,
    },
    /// The output folder has something in it.
    #[error("{} is not empty: a replay needs a new or empty folder", path.display())]
    NotFresh {
        /// Path of the folder.
        path: PathBuf,
    },
    /// What was asked for does not fit the scenario or its recordings.
    #[error("{0}")]
    Asked(String),
    /// Callgrind was asked for and is not there.
    #[error("valgrind cannot be run: {0}; install it, or count without (--count none)")]
    NoValgrind(io::Error),
}
