//! The gate: builds and measures two commits in turns, for a CI job before a merge.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use sha2::{Digest, Sha256};

use crate::bisect::build;
use crate::compare::{Exactness, MARGIN};
use crate::git::{GitError, Repository, Worktree};
use crate::lock::{Lock, LockError};
use crate::report::{Comparison, ProcessResult, Row, Unchanged};
use crate::run::{
    Commit, ExecuteError, Progress, Record, RecordError, Request, Version, execute_together,
};
use crate::suite::{Suite, SuiteError};

/// Programs that the gate measures.
#[derive(Clone, Debug)]
pub enum GateTarget {
    /// A suite, by its path from the top of the repository; the head's is taken for both.
    Suite(PathBuf),
    /// One program with its arguments, relative to the top of the repository.
    Command(Vec<String>),
}

/// Two commits, and how they are measured.
#[derive(Clone, Debug)]
pub struct Gate {
    /// The repository.
    pub repository: Repository,
    /// Commit to compare with; its merge base with the head is used.
    pub base: String,
    /// The commit that is judged.
    pub head: String,
    /// Builds a commit, in its folder; nothing when it is empty.
    pub build: Vec<String>,
    /// Folder of the programs after the build, relative to the commit's folder.
    pub bin: PathBuf,
    /// Programs to measure.
    pub what: GateTarget,
    /// Repeatability of the counts; determined by measurement when `None`.
    pub exactness: Option<Exactness>,
    /// Folder in which the folders of both commits are created.
    pub cache: PathBuf,
    /// Method of measurement; its suite is replaced.
    pub request: Request,
}

/// Progress of the gate.
#[derive(Debug)]
pub enum GateStep<'a> {
    /// A commit is built.
    Build(&'a Commit),
    /// A measurement is in progress.
    Measuring(Progress<'a>),
}

/// Measurements of both commits.
#[derive(Debug)]
pub struct Measured {
    /// Base and head, held against each other.
    pub comparison: Comparison,
    /// Their runs, kept in the request's folder.
    pub records: [Record; 2],
    worktrees: [Worktree; 2],
    /// Held until both folders are no longer needed.
    _lock: Lock,
}

/// Reason why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// Git did not do it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The suite cannot be read.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// A program cannot be measured, or a run not stored.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A run cannot be kept.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A commit does not build.
    #[error("{commit} does not build: {because}")]
    Build {
        /// The commit.
        commit: String,
        /// End of the output.
        because: String,
    },
    /// A folder cannot be made.
    #[error("{path}: {source}")]
    Folder {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Another gate builds or measures in the same folders.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Base and head are the same commit.
    #[error("base and head are the same commit, {commit}")]
    Same {
        /// The commit.
        commit: String,
    },
    /// The gate was cancelled.
    #[error("it was stopped")]
    Stopped,
}

impl Gate {
    /// Builds and measures both.
    ///
    /// # Errors
    /// [`GateError`] when one of them cannot be built or measured.
    pub fn run(&self, say: &mut dyn FnMut(GateStep<'_>)) -> Result<Measured, GateError> {
        let head = self.repository.commit(&self.head)?;
        let base = self.repository.commit(&self.base)?;
        let base = self.repository.commit(&self.repository.merge_base(&base.id, &head.id)?)?;
        if base.id == head.id {
            return Err(GateError::Same { commit: head.short() });
        }
        let folder = self.folder()?;
        let lock = Lock::take(&folder)?;
        // Names of one length: paths are in a program's memory.
        let tree =
            |name: &str, commit: &Commit| self.repository.worktree(&folder.join(name), &commit.id);
        let worktrees = [tree("base", &base)?, tree("head", &head)?];
        let commits = [base, head];
        for (worktree, commit) in worktrees.iter().zip(&commits) {
            say(GateStep::Build(commit));
            build(&self.build, worktree.path())
                .map_err(|because| GateError::Build { commit: commit.short(), because })?;
            self.go_on()?;
        }
        let (suite, below) = self.suite(worktrees[1].path())?;
        let versions = worktrees.iter().zip(commits).map(|(worktree, commit)| Version {
            bin: worktree.path().join(&self.bin),
            suite: worktree.path().join(&below),
            commit: Some(commit),
        });
        let versions: Vec<Version> = versions.collect();
        let request = Request { suite, ..self.request.clone() };
        let mut say = |progress: Progress<'_>| say(GateStep::Measuring(progress));
        let mut records = execute_together(&request, &versions, &mut say)?;
        self.go_on()?;
        if self.exactness.is_none() && matches!(self.what, GateTarget::Command(_)) {
            find_exactness(&mut records)?;
        }
        let [base, head] = <[Record; 2]>::try_from(records)
            .unwrap_or_else(|_| unreachable!("a record for each version"));
        let unchanged = Unchanged::of([&base, &head], &head);
        let comparison = Comparison::of(&base, &head, &unchanged, true);
        Ok(Measured { comparison, records: [base, head], worktrees, _lock: lock })
    }

    fn go_on(&self) -> Result<(), GateError> {
        if self.request.stop.load(Ordering::Relaxed) { Err(GateError::Stopped) } else { Ok(()) }
    }

    /// The folder of both commits' folders: one for each repository.
    fn folder(&self) -> Result<PathBuf, GateError> {
        let digest = Sha256::digest(self.repository.top().to_string_lossy().as_bytes());
        let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let path = self.cache.join(format!("gate-{name}"));
        std::fs::create_dir_all(&path)
            .map_err(|source| GateError::Folder { path: path.clone(), source })?;
        Ok(path)
    }

    /// The suite, and its folder below a commit's folder.
    fn suite(&self, head: &Path) -> Result<(Suite, PathBuf), GateError> {
        match &self.what {
            GateTarget::Suite(file) => {
                let below = file.parent().unwrap_or(Path::new("")).to_owned();
                Ok((Suite::read(&head.join(file))?, below))
            }
            GateTarget::Command(command) => {
                let exactness = self.exactness.unwrap_or(Exactness::Threaded);
                let mut suite = Suite::of_command(head, command.clone(), exactness);
                // Not the name of its folder, which is the same for every head.
                let top = self.repository.top().file_name().unwrap_or_default();
                suite.name = top.to_string_lossy().into_owned();
                Ok((suite, PathBuf::new()))
            }
        }
    }
}

/// Takes a program for serialised when the executions of each commit say so.
fn find_exactness(records: &mut [Record]) -> Result<(), RecordError> {
    let part = Exactness::Serialised.floor() / MARGIN;
    let repeats = records.iter().flat_map(|record| &record.items).all(|item| {
        item.processes.iter().all(|process| {
            let values = process.values("instructions");
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(0.0, f64::max);
            values.len() >= 2 && high <= low * (1.0 + part)
        })
    });
    if repeats {
        for record in records {
            for item in &mut record.items {
                item.exactness = Exactness::Serialised;
            }
            record.write()?;
        }
    }
    Ok(())
}

impl Measured {
    /// Removes the folders of both commits, including their builds.
    ///
    /// # Errors
    /// When git fails.
    pub fn remove(self) -> Result<(), GitError> {
        self.worktrees.into_iter().try_for_each(Worktree::remove)
    }
}

/// Whether a row keeps a change out: it moved, towards more unless `any`, by more than `allowed` (a
/// part of the count before).
pub fn refuses(row: &Row, allowed: f64, any: bool) -> bool {
    let beyond = |change: f64| if any { change.abs() > allowed } else { change > allowed };
    row.state == ProcessResult::Moved
        && row.judged.iter().any(|judged| judged.verdict.moved && beyond(judged.change))
}
