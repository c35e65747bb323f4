//! Profiles a process of a kept run on request: the executable must be the measured one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::surroundings::Surroundings;
use super::{Process, Record, RecordError};
use crate::callgrind::Profile;
use crate::counters::{self, CountError};

/// Reason why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// A folder that it ran in is no longer there.
    #[error("{path}: {source}")]
    Folder {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another executable is there now, or none.
    #[error(
        "{path} differs from the measured program ({sha256}): build that version again, or name \
         its folder"
    )]
    Other {
        /// Path of the executable.
        path: PathBuf,
        /// Digest of the measured executable.
        sha256: String,
    },
    /// The process is part of a replay and cannot run alone.
    #[error("{run} has no profile of this replay: measure it with --method callgrind")]
    Replayed {
        /// The run.
        run: String,
    },
    /// The process did not run to its end.
    #[error(transparent)]
    Count(#[from] CountError),
    /// The kept files cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// The profile of a unit's process: the kept one, else from one more execution, under Callgrind.
/// `bin` is where its executable is now, when that is elsewhere.
///
/// # Errors
/// [`AgainError`] when the executable is not the one that was measured, or fails.
pub fn profile_again(
    record: &Record,
    process: &Process,
    bin: Option<&Path>,
    limit: Duration,
    stop: &Arc<AtomicBool>,
) -> Result<Profile, AgainError> {
    if let Some(profile) = record.profile(process)? {
        return Ok(profile);
    }
    if process.command.is_empty() {
        return Err(AgainError::Replayed { run: record.id.clone() });
    }
    let bin = bin.unwrap_or(&record.bin);
    let places = Surroundings::new(bin, &record.suite_folder)
        .map_err(|source| AgainError::Folder { path: bin.to_owned(), source })?;
    let (program, found) = places.unit(process, limit, stop);
    if found.program_sha256 != process.program_sha256 {
        let path = found.program_path.unwrap_or(program.path);
        let sha256 = process.program_sha256.clone().unwrap_or_default();
        return Err(AgainError::Other { path, sha256 });
    }
    Ok(counters::profile(&program)?)
}
