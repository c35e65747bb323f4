//! Stored state of a search in a folder: one line for each commit tried.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::search_plan::{Bisect, Outcome};
use crate::lock::{Lock, LockError};
use crate::run::{Record, RecordError};

/// Largest file that is read, octets.
const SIZE_BYTES_MAX: u64 = 64 << 20;

/// The folder of a search.
pub(super) struct Steps {
    folder: PathBuf,
    kept: Vec<Line>,
    _lock: Lock,
}

/// Result for one commit.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    commit: String,
    /// The run's name.
    run: Option<String>,
    /// The reason why there is no run.
    because: Option<String>,
}

/// Reason why the state cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A file or folder cannot be used.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A line is none.
    #[error("{path}, line {line}: {source}; remove the file to start again")]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A run cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The same search is already running.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl Steps {
    /// The folder of this search: one and the same for one repository, suite, build and method,
    /// whatever the ends are.
    pub(super) fn open(cache: &Path, bisect: &Bisect) -> Result<Steps, StateError> {
        let request = &bisect.request;
        let what = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            bisect.repository.top(),
            request.suite,
            bisect.build,
            bisect.bin,
            request.only,
            request.runs,
            std::mem::discriminant(&request.method),
        );
        let digest = Sha256::digest(what.as_bytes());
        let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let folder = cache.join(format!("bisect-{name}"));
        fs::create_dir_all(folder.join("runs")).map_err(io_at(&folder))?;
        let lock = Lock::take(&folder)?;
        let kept = read(&folder.join("steps"))?;
        Ok(Steps { folder, kept, _lock: lock })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The stored result of a commit.
    pub(super) fn known(&self, commit: &str) -> Result<Option<Outcome>, StateError> {
        let Some(line) = self.kept.iter().find(|line| line.commit == commit) else {
            return Ok(None);
        };
        match &line.run {
            Some(run) => Ok(Some(Ok(Record::read(&self.folder.join("runs").join(run))?))),
            None => Ok(Some(Err(line.because.clone().unwrap_or_default()))),
        }
    }

    pub(super) fn keep(&mut self, commit: &str, outcome: &Outcome) -> Result<(), StateError> {
        let line = Line {
            commit: commit.to_owned(),
            run: outcome.as_ref().ok().map(|record| record.id.clone()),
            because: outcome.as_ref().err().cloned(),
        };
        let path = self.folder.join("steps");
        let text = serde_json::to_string(&line).map_err(|source| StateError::Line {
            path: path.clone(),
            line: 0,
            source,
        })?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut file = file.map_err(io_at(&path))?;
        file.write_all(format!("{text}\n").as_bytes()).map_err(io_at(&path))?;
        self.kept.push(line);
        Ok(())
    }
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> StateError {
    let path = path.to_owned();
    move |source| StateError::Io { path, source }
}

/// All lines. A last line without an end was cut by an interruption and is ignored.
fn read(path: &Path) -> Result<Vec<Line>, StateError> {
    let mut text = String::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => {
            let file = file.map_err(io_at(path))?;
            file.take(SIZE_BYTES_MAX).read_to_string(&mut text).map_err(io_at(path))?;
        }
    }
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    if whole.len() < text.len() {
        let file = OpenOptions::new().write(true).open(path).map_err(io_at(path))?;
        file.set_len(whole.len() as u64).map_err(io_at(path))?;
    }
    let lines = whole.lines().enumerate().map(|(index, line)| {
        serde_json::from_str(line).map_err(|source| StateError::Line {
            path: path.to_owned(),
            line: index + 1,
            source,
        })
    });
    lines.collect()
}
