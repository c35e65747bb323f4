//! Two commits built and measured in turns: what a CI job asks before a change is merged.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use sha2::{Digest, Sha256};

use crate::bisect::build;
use crate::compare::{Exactness, MARGIN};
use crate::git::{GitError, Repository, Worktree};
use crate::lock::{Lock, LockError};
use crate::report::{Comparison, Row, State, Unchanged};
use crate::run::{
    Commit, ExecuteError, Progress, Record, RecordError, Request, Version, execute_together,
};
use crate::suite::{Suite, SuiteError};

/// What is measured.
#[derive(Clone, Debug)]
pub enum What {
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
    /// What the head is held against; the commit where both parted is taken.
    pub base: String,
    /// The commit that is judged.
    pub head: String,
    /// Builds a commit, in its folder; nothing when it is empty.
    pub build: Vec<String>,
    /// Where in a commit's folder its programs are after that.
    pub bin: PathBuf,
    /// What is measured.
    pub what: What,
    /// How exactly counts repeat; found out when it does not say.
    pub exactness: Option<Exactness>,
    /// Where the folders of both are made.
    pub cache: PathBuf,
    /// How it is measured; its suite is replaced.
    pub request: Request,
}

/// How far it is.
#[derive(Debug)]
pub enum Step<'a> {
    /// A commit is built.
    Build(&'a Commit),
    /// Something is measured.
    Measuring(Progress<'a>),
}

/// Both measured.
#[derive(Debug)]
pub struct Measured {
    /// Base and head, held against each other.
    pub comparison: Comparison,
    /// Their runs, kept in the request's folder.
    pub records: [Record; 2],
    worktrees: [Worktree; 2],
    /// Until nobody wants the folders of both any more.
    _lock: Lock,
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// Git did not do it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// There is no suite.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// Nothing can be measured or kept.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A run cannot be kept.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A commit does not build.
    #[error("{commit} does not build: {because}")]
    Build {
        /// Which.
        commit: String,
        /// What was said.
        because: String,
    },
    /// A folder cannot be made.
    #[error("{path}: {source}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another gate builds or measures in the same folders.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is nothing to compare.
    #[error("base and head are the same commit, {commit}")]
    Same {
        /// That commit.
        commit: String,
    },
    /// Somebody wanted no more.
    #[error("it was stopped")]
    Stopped,
}

impl Gate {
    /// Builds and measures both.
    ///
    /// # Errors
    /// [`GateError`] when one of them cannot be built or measured.
    pub fn run(&self, say: &mut dyn FnMut(Step<'_>)) -> Result<Measured, GateError> {
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
            say(Step::Build(commit));
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
        let mut say = |progress: Progress<'_>| say(Step::Measuring(progress));
        let mut records = execute_together(&request, &versions, &mut say)?;
        self.go_on()?;
        if self.exactness.is_none() && matches!(self.what, What::Command(_)) {
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

    /// What is measured, and where below a commit's folder its suite is.
    fn suite(&self, head: &Path) -> Result<(Suite, PathBuf), GateError> {
        match &self.what {
            What::Suite(file) => {
                let below = file.parent().unwrap_or(Path::new("")).to_owned();
                Ok((Suite::read(&head.join(file))?, below))
            }
            What::Command(command) => {
                let exactness = self.exactness.unwrap_or(Exactness::Threaded);
                let mut suite = Suite::of_command(head, command.clone(), exactness);
                // Not by its folder, which is called as every head is.
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
    /// Removes the folders of both commits, with what was built there.
    ///
    /// # Errors
    /// When git cannot.
    pub fn remove(self) -> Result<(), GitError> {
        self.worktrees.into_iter().try_for_each(Worktree::remove)
    }
}

/// Whether a row keeps a change out: it moved, towards more unless `any`, by more than `allowed` (a
/// part of the count before).
pub fn refuses(row: &Row, allowed: f64, any: bool) -> bool {
    let beyond = |change: f64| if any { change.abs() > allowed } else { change > allowed };
    row.state == State::Moved
        && row.judged.iter().any(|judged| judged.verdict.moved && beyond(judged.change))
}
