//! Bisection: finds the commit that changed a count. Builds and measures commits between a good and
//! a bad one, each time the middle of the remaining range.
//!
//! All commits are built in one folder, so that paths are the same. Runs are kept in the cache
//! folder: an interrupted search continues where it was, and a second search in the same range
//! reuses them.

mod search;
mod search_plan;
mod state;

pub use search_plan::Bisect;
use search_plan::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;

use serde::Serialize;

use crate::git::{GitError, Worktree};
use crate::report::{Comparison, FigureVerdict, ProcessResult, Row, Unchanged};
use crate::run::{Commit, ExecuteError, Progress, Record, RecordError, Request, Version, execute};
use search::{CommitState, Next};
pub use state::StateError;
use state::Steps;

/// Version of a result as JSON.
pub const VERSION: u32 = 1;

/// Progress of a search.
#[derive(Debug)]
pub enum BisectStep<'a> {
    /// A commit is tried; so many may be left after it.
    Try {
        /// The commit.
        commit: &'a Commit,
        /// Commits that may be it.
        suspects: usize,
    },
    /// The stored result of this commit is used.
    Known(&'a Commit),
    /// The commit cannot be measured.
    Skipped {
        /// The commit.
        commit: &'a Commit,
        /// The reason.
        because: &'a str,
    },
    /// The commit was measured and compared with the good one.
    Judged {
        /// The commit.
        commit: &'a Commit,
        /// The verdict.
        judged: &'a FigureVerdict,
        /// Whether the count changed in the same direction as in the bad commit.
        bad: bool,
    },
    /// A measurement is in progress.
    Measuring(Progress<'a>),
}

/// Result of a search.
#[derive(Clone, Debug, Serialize)]
pub struct BisectResult {
    /// Version of this structure as JSON; grows when something changes its meaning.
    pub version: u32,
    /// The process whose count decided.
    pub process: String,
    /// The good commit.
    pub good: Commit,
    /// The bad commit.
    pub bad: Commit,
    /// The verdict on the two.
    pub whole: FigureVerdict,
    /// The commits that may have done it, the oldest first: one, when all beside it could be
    /// measured.
    pub suspects: Vec<Commit>,
    /// The verdict on the last suspect beside the commit before the first.
    pub step: Option<FigureVerdict>,
    /// The part of the whole change, in logarithms, that this step is; the rest is elsewhere.
    pub share: Option<f64>,
    /// Commits that were built and measured, now or before.
    pub measured: usize,
    /// Commits that could not be, and why.
    pub skipped: Vec<(Commit, String)>,
}

/// Reason why no commit was found.
#[derive(Debug, thiserror::Error)]
pub enum BisectError {
    /// Git did not do it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A commit cannot be measured at all.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The search's state cannot be stored.
    #[error(transparent)]
    ProcessResult(#[from] StateError),
    /// A kept run cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// There are no commits between the two.
    #[error(
        "{good} must be an ancestor of {bad} and another commit: there are no commits between them"
    )]
    NothingBetween {
        /// The good commit.
        good: String,
        /// The bad commit.
        bad: String,
    },
    /// One of the two ends cannot be measured.
    #[error("{commit}, one of the two ends, cannot be measured: {because}")]
    End {
        /// The commit.
        commit: String,
        /// The reason.
        because: String,
    },
    /// No count changed between the two ends.
    #[error("nothing moved from {good} to {bad}{0}", statement.as_ref().map(|said| format!(": {said}")).unwrap_or_default())]
    NothingMoved {
        /// The good commit.
        good: String,
        /// The bad commit.
        bad: String,
        /// The verdict on the requested process.
        statement: Option<String>,
    },
    /// No process has this name.
    #[error("process {name:?} is not in both runs: common processes are {there}")]
    NoProcess {
        /// The requested name.
        name: String,
        /// The available names.
        there: String,
    },
    /// The search was cancelled.
    #[error("it was stopped; the measurements are kept, and the same command continues from there")]
    Stopped,
}

/// State of a running search.
struct Search<'a> {
    bisect: &'a Bisect,
    commits: Vec<Commit>,
    steps: Steps,
    worktree: Option<Worktree>,
}

impl Bisect {
    /// Runs the search.
    ///
    /// # Errors
    /// [`BisectError`]; measurements made so far are kept.
    pub fn run(&self, say: &mut dyn FnMut(BisectStep<'_>)) -> Result<BisectResult, BisectError> {
        let (good, bad) = (self.repository.commit(&self.good)?, self.repository.commit(&self.bad)?);
        let mut search = Search {
            commits: self.commits(good, bad)?,
            steps: Steps::open(&self.cache, self)?,
            bisect: self,
            worktree: None,
        };
        let found = search.run(say);
        // The worktree has served its purpose. Builds in other tools' caches are not in it.
        match search.worktree.take() {
            Some(worktree) if found.is_ok() => worktree.remove()?,
            _ => {}
        }
        found
    }

    /// The good commit and all after it until the bad one.
    fn commits(&self, good: Commit, bad: Commit) -> Result<Vec<Commit>, BisectError> {
        let nothing = || BisectError::NothingBetween { good: good.short(), bad: bad.short() };
        if good.id == bad.id || !self.repository.is_ancestor(&good.id, &bad.id)? {
            return Err(nothing());
        }
        let after = self.repository.between(&good.id, &bad.id)?;
        let mut commits = vec![good.clone()];
        for id in &after {
            commits.push(self.repository.commit(id)?);
        }
        Ok(commits)
    }
}

impl Search<'_> {
    fn run(&mut self, say: &mut dyn FnMut(BisectStep<'_>)) -> Result<BisectResult, BisectError> {
        let last = self.commits.len() - 1;
        let good = self.end(0, say)?;
        let bad = self.end(last, say)?;
        let row = self.row(&good, &bad)?;
        let name = row.name();
        let Some(whole) = row.main().cloned() else { return Err(self.nothing_moved(None)) };
        let judge = |record: &Record, judged: &FigureVerdict| {
            let found = compare(&good, record);
            let row = found.rows.into_iter().find(|row| row.name() == name);
            let row = row.ok_or_else(|| format!("it has no {name}"))?;
            let same = row.judged.into_iter().find(|other| other.figure == judged.figure);
            same.ok_or_else(|| format!("there is no verdict on {name}: {:?}", row.state))
        };
        let mut known = vec![CommitState::Nothing; self.commits.len()];
        (known[0], known[last]) = (CommitState::Good, CommitState::Bad);
        let mut skipped = Vec::new();
        let suspects = loop {
            let index = match search::next(&known) {
                Next::Found(suspects) => break suspects,
                Next::Try(index) => index,
            };
            let outcome = self.outcome(index, left(&known), say)?;
            let commit = &self.commits[index];
            known[index] = match outcome.and_then(|record| judge(&record, &whole)) {
                Ok(judged) => {
                    let towards = judged.verdict.log_ratio * whole.verdict.log_ratio > 0.0;
                    let bad = judged.verdict.moved && towards;
                    say(BisectStep::Judged { commit, judged: &judged, bad });
                    if bad { CommitState::Bad } else { CommitState::Good }
                }
                Err(because) => {
                    say(BisectStep::Skipped { commit, because: &because });
                    skipped.push((commit.clone(), because));
                    CommitState::Skipped
                }
            };
        };
        let step = self.step(&suspects, &name, &whole, say)?;
        let share = step.as_ref().map(|s| s.verdict.log_ratio / whole.verdict.log_ratio);
        let measured =
            known.iter().filter(|k| matches!(k, CommitState::Good | CommitState::Bad)).count();
        Ok(BisectResult {
            version: VERSION,
            process: name,
            good: self.commits[0].clone(),
            bad: self.commits[last].clone(),
            whole,
            suspects: suspects.iter().map(|index| self.commits[*index].clone()).collect(),
            step,
            share,
            measured,
            skipped,
        })
    }

    /// The process whose count changed, with its verdict.
    fn row(&self, good: &Record, bad: &Record) -> Result<Row, BisectError> {
        let found = compare(good, bad);
        if let Some(wanted) = &self.bisect.process {
            let named = |row: &&Row| row.name() == *wanted || row.item == *wanted;
            let mut rows: Vec<&Row> = found.rows.iter().filter(named).collect();
            rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
            let Some(row) = rows.first() else {
                let names: Vec<_> = found.rows.iter().map(Row::name).collect();
                let (name, there) = (wanted.clone(), names.join(", "));
                return Err(BisectError::NoProcess { name, there });
            };
            if row.state != ProcessResult::Moved {
                let said = row.main().map(|judged| judged.statement.clone());
                return Err(self.nothing_moved(said.or(Some(format!("{:?}", row.state)))));
            }
            return Ok((*row).clone());
        }
        let largest = found.moved().max_by(|a, b| size(a).total_cmp(&size(b)));
        largest.cloned().ok_or_else(|| self.nothing_moved(None))
    }

    fn nothing_moved(&self, statement: Option<String>) -> BisectError {
        let (good, bad) = (&self.commits[0], &self.commits[self.commits.len() - 1]);
        BisectError::NothingMoved { good: good.short(), bad: bad.short(), statement }
    }

    /// The verdict on the step from the commit before the suspects to the last of them.
    fn step(
        &mut self,
        suspects: &[usize],
        name: &str,
        whole: &FigureVerdict,
        say: &mut dyn FnMut(BisectStep<'_>),
    ) -> Result<Option<FigureVerdict>, BisectError> {
        let (Some(first), Some(last)) = (suspects.first(), suspects.last()) else {
            return Ok(None);
        };
        // Both ends were measured before: one is good, the other bad.
        let before = self.outcome(first - 1, 0, say)?;
        let after = self.outcome(*last, 0, say)?;
        let (Ok(before), Ok(after)) = (before, after) else { return Ok(None) };
        let found = compare(&before, &after).rows.into_iter().find(|row| row.name() == name);
        let judged = found.into_iter().flat_map(|row| row.judged);
        Ok(judged.into_iter().find(|judged| judged.figure == whole.figure))
    }

    fn end(
        &mut self,
        index: usize,
        say: &mut dyn FnMut(BisectStep<'_>),
    ) -> Result<Record, BisectError> {
        let suspects = self.commits.len() - 1;
        self.outcome(index, suspects, say)?
            .map_err(|because| BisectError::End { commit: self.commits[index].short(), because })
    }

    /// The run of a commit: the kept one, else a new one.
    fn outcome(
        &mut self,
        index: usize,
        suspects: usize,
        say: &mut dyn FnMut(BisectStep<'_>),
    ) -> Result<Outcome, BisectError> {
        let commit = self.commits[index].clone();
        if let Some(known) = self.steps.known(&commit.id)? {
            if suspects > 0 {
                say(BisectStep::Known(&commit));
            }
            return Ok(known);
        }
        say(BisectStep::Try { commit: &commit, suspects });
        let stop = self.bisect.request.stop.clone();
        let path = self.put(&commit)?;
        let outcome = match build(&self.bisect.build, &path) {
            Ok(()) => self.measure(&commit, &path, say)?,
            Err(because) => Err(because),
        };
        if stop.load(Ordering::Relaxed) {
            return Err(BisectError::Stopped);
        }
        self.steps.keep(&commit.id, &outcome)?;
        Ok(outcome)
    }

    /// The folder with a commit's files.
    fn put(&mut self, commit: &Commit) -> Result<PathBuf, BisectError> {
        match &self.worktree {
            Some(worktree) => worktree.put(&commit.id)?,
            None => {
                let path = self.steps.folder().join("tree");
                self.worktree = Some(self.bisect.repository.worktree(&path, &commit.id)?);
            }
        }
        Ok(self.steps.folder().join("tree"))
    }

    fn measure(
        &self,
        commit: &Commit,
        path: &Path,
        say: &mut dyn FnMut(BisectStep<'_>),
    ) -> Result<Outcome, BisectError> {
        let bin = path.join(&self.bisect.bin);
        if !bin.is_dir() {
            return Ok(Err(format!("the build did not make the folder {}", bin.display())));
        }
        let suite = self.bisect.request.suite.folder.clone();
        let version = Version { bin, suite, commit: Some(commit.clone()) };
        let request =
            Request { folder: self.steps.folder().join("runs"), ..self.bisect.request.clone() };
        let record =
            execute(&request, &version, &mut |progress| say(BisectStep::Measuring(progress)))?;
        match record.items.iter().find_map(|item| item.failure.clone()) {
            // Of several items one may be new in this commit: the process under search decides.
            Some(failure) if record.items.len() == 1 => Ok(Err(failure)),
            _ => Ok(Ok(record)),
        }
    }
}

/// Commits that may still be it.
fn left(known: &[CommitState]) -> usize {
    let bad = known.iter().position(|known| *known == CommitState::Bad).unwrap_or(known.len());
    let good = known[..bad].iter().rposition(|known| *known == CommitState::Good).unwrap_or(0);
    bad - good
}

fn size(row: &Row) -> f64 {
    row.main().map_or(0.0, |judged| judged.verdict.log_ratio.abs())
}

fn compare(before: &Record, after: &Record) -> Comparison {
    let unchanged = Unchanged::of([before, after], after);
    Comparison::of(before, after, &unchanged, false)
}

/// Runs the build command; on failure returns the end of its output.
pub(crate) fn build(command: &[String], folder: &Path) -> Result<(), String> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} ended with {}{}", status(output.status), tail(&output.stderr)))
}

fn status(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"))
}

/// The last lines of an output.
fn tail(octets: &[u8]) -> String {
    let text = String::from_utf8_lossy(octets);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(5)..].join("\n");
    if last.is_empty() { String::new() } else { format!("; it said: {last}") }
}
