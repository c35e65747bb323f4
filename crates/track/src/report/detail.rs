//! Detail of a change: the profiles of a process in both runs, compared.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::comparison::Row;
use crate::callgrind::diff::{self, Diff};
use crate::callgrind::{GraphError, Profile};
use crate::run::{AgainError, Process, Record, profile_again};

/// Changes in a process, function by function.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The process's name, with its item's.
    pub name: String,
    /// The differences.
    pub diff: Diff,
    /// Both profiles.
    pub profiles: [Profile; 2],
    /// Options of the comparison.
    pub options: diff::Options,
}

/// Reason why there is no detail.
#[derive(Debug, thiserror::Error)]
pub enum DetailError {
    /// The run does not have the process.
    #[error("{run} has no process {process}")]
    NoProcess {
        /// The run.
        run: String,
        /// The process.
        process: String,
    },
    /// The process cannot be profiled.
    #[error(transparent)]
    Again(#[from] AgainError),
    /// The profiles lack the requested event.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// One of two runs, and the folder of its executables when it has moved.
pub type ComparedRun<'a> = (&'a Record, Option<&'a Path>);

/// Profiles a process of both runs, where no profile was kept, and compares them.
///
/// # Errors
/// [`DetailError`].
pub fn detail(
    row: &Row,
    [before, after]: [ComparedRun<'_>; 2],
    limit: Duration,
    stop: &Arc<AtomicBool>,
) -> Result<Detail, DetailError> {
    let profile = |(record, bin): ComparedRun<'_>| {
        let process = process(record, row).ok_or_else(|| DetailError::NoProcess {
            run: record.id.clone(),
            process: row.name(),
        })?;
        Ok::<_, DetailError>(profile_again(record, process, bin, limit, stop)?)
    };
    let profiles = [profile(before)?, profile(after)?];
    let floor = row.main().map_or(1e-5, |judged| judged.verdict.threshold.part);
    // When the whole change is as small as the threshold, the part in one function is smaller
    // still.
    let options = diff::Options { floor: floor / 4.0, ..diff::Options::default() };
    let diff = diff::diff(&profiles[0], &profiles[1], &options)?;
    Ok(Detail { name: row.name(), diff, profiles, options })
}

fn process<'a>(record: &'a Record, row: &Row) -> Option<&'a Process> {
    record.item(&row.item)?.processes.iter().find(|process| process.name == row.process)
}

impl Detail {
    /// The differential flame graph.
    ///
    /// # Errors
    /// None that profiles which were compared can cause.
    pub fn svg(&self) -> Result<String, GraphError> {
        diff::svg(&self.profiles[0], &self.profiles[1], &self.options)
    }
}
