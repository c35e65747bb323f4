//! Plan of a search, and the knowledge about each commit.

use crate::git::Repository;
use crate::run::{Record, Request};
use std::path::PathBuf;

/// Range, build and measurement of a search.
#[derive(Clone, Debug)]
pub struct Bisect {
    /// The repository.
    pub repository: Repository,
    /// A commit before the change.
    pub good: String,
    /// A commit after the change.
    pub bad: String,
    /// Builds a commit, in its folder.
    pub build: Vec<String>,
    /// Folder of the programs after the build, relative to the commit's folder.
    pub bin: PathBuf,
    /// The item and process whose count decides, as `item` or `item/process`; the default is the
    /// process that changed most.
    pub process: Option<String>,
    /// Folder of builds and runs.
    pub cache: PathBuf,
    /// Suite and method of measurement; its folder of runs is not used.
    pub request: Request,
}

/// A commit's run, or why there is none.
pub(super) type Outcome = Result<Record, String>;
