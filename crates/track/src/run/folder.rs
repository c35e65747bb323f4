//! The runs of a project, each in a folder of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::record::{Record, RecordError};

/// A folder of runs.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Runs that are stored in a folder.
#[derive(Debug, Default)]
pub struct StoredRuns {
    /// Readable runs, the oldest first.
    pub records: Vec<Record>,
    /// Errors of the unreadable ones.
    pub unreadable: Vec<RecordError>,
}

/// Reason why a run is not found.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The run is there and cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// No run has this name.
    #[error("{path} has no run {reference:?}; {there}")]
    None {
        /// The folder.
        path: PathBuf,
        /// The requested name.
        reference: String,
        /// The available names.
        there: String,
    },
    /// Several commits begin so.
    #[error("{reference:?} is ambiguous between {first} and {second}: give more characters")]
    Ambiguous {
        /// The requested name.
        reference: String,
        /// First match.
        first: String,
        /// Second match.
        second: String,
    },
}

impl Folder {
    /// The runs below `path`, which need not exist yet.
    pub fn new(path: &Path) -> Folder {
        Folder { path: path.to_owned() }
    }

    /// All runs: the subfolders with a `run.json`.
    ///
    /// # Errors
    /// [`FolderError::Io`]; a folder that does not exist has no runs.
    pub fn all(&self) -> Result<StoredRuns, FolderError> {
        let io = |source| FolderError::Io { path: self.path.clone(), source };
        let mut found = StoredRuns::default();
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries.map_err(io)?,
        };
        for entry in entries {
            let path = entry.map_err(io)?.path();
            if path.join("run.json").is_file() {
                match Record::read(&path) {
                    Ok(record) => found.records.push(record),
                    Err(error) => found.unreadable.push(error),
                }
            }
        }
        found.records.sort_by(|a, b| (a.started_ns, &a.id).cmp(&(b.started_ns, &b.id)));
        Ok(found)
    }

    /// The run that is meant: a folder's or file's path; `latest`, or `latest~1`, the one before
    /// it; its name, or the beginning of it; a commit, or the beginning of one: its last complete
    /// run.
    ///
    /// # Errors
    /// [`FolderError`] when there is none, or it cannot be read.
    pub fn find(&self, reference: &str) -> Result<Record, FolderError> {
        let path = Path::new(reference);
        if path.join("run.json").is_file() || (reference.ends_with(".json") && path.is_file()) {
            return Ok(Record::read(path)?);
        }
        // The name itself first: then a torn run is an error and not as if it were not there.
        let here = self.path.join(reference);
        if !reference.contains('/') && here.join("run.json").is_file() {
            return Ok(Record::read(&here)?);
        }
        let records = self.all()?.records;
        match choose(&records, reference)? {
            Some(index) => Ok(records[index].clone()),
            None => Err(self.nothing(reference, &records)),
        }
    }

    fn nothing(&self, reference: &str, records: &[Record]) -> FolderError {
        let (path, reference) = (self.path.clone(), reference.to_owned());
        let last = records.iter().rev().take(5).map(|record| record.id.as_str());
        let last: Vec<_> = last.collect();
        let there = match last.is_empty() {
            true => "it has none: `chronoscope track run` makes one".to_owned(),
            false => format!("it has {} runs, the last are {}", records.len(), last.join(", ")),
        };
        FolderError::None { path, reference, there }
    }
}

/// Index of the run that the reference names; runs are ordered oldest first.
fn choose(records: &[Record], reference: &str) -> Result<Option<usize>, FolderError> {
    let complete = |index: &usize| records[*index].complete;
    let all = 0..records.len();
    if let Some(back) = back(reference) {
        return Ok(all.rev().filter(complete).nth(back));
    }
    if reference.is_empty() {
        return Ok(None);
    }
    let commit = |index: usize| records[index].commit.as_ref();
    let named: Vec<usize> =
        all.clone().filter(|i| commit(*i).is_some_and(|c| c.id == reference)).collect();
    let begun = |index: &usize| {
        records[*index].id.starts_with(reference)
            || commit(*index).is_some_and(|c| reference.len() >= 4 && c.id.starts_with(reference))
    };
    let meant = if named.is_empty() { all.filter(begun).collect() } else { named };
    let Some(last) = meant.iter().rev().find(|i| complete(i)).or(meant.last()) else {
        return Ok(None);
    };
    let other = meant.iter().find(|i| commit(**i).map(|c| &c.id) != commit(*last).map(|c| &c.id));
    match other {
        None => Ok(Some(*last)),
        Some(other) => Err(FolderError::Ambiguous {
            reference: reference.to_owned(),
            first: records[*other].id.clone(),
            second: records[*last].id.clone(),
        }),
    }
}

/// Distance of `latest` or `latest~N` from the last run.
fn back(reference: &str) -> Option<usize> {
    match reference.strip_prefix("latest")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Commit;

    fn record(id: &str, commit: &str, complete: bool) -> Record {
        let text = format!(
            "{{\"version\":1,\"id\":{id:?},\"suite\":\"s\",\"started_ns\":0,\"system\":{{\
             \"machine\":\"\",\"cpu\":\"\",\"cpus\":1,\"memory_bytes\":1,\"kernel\":\"\",\
             \"chronoscope\":\"\"}},\"method\":\"hardware\",\"load_before\":{{\"one\":0.0,\
             \"five\":0.0,\"fifteen\":0.0}},\"load_after\":{{\"one\":0.0,\"five\":0.0,\
             \"fifteen\":0.0}},\"complete\":{complete},\"items\":[]}}"
        );
        let mut record: Record = serde_json::from_str(&text).unwrap();
        record.commit = Some(Commit::named(commit));
        record
    }

    #[test]
    fn runs_are_found_by_name_commit_and_age() {
        let runs = [
            record("1-aaaa", "aaaa1", true),
            record("2-aaaa", "aaaa1", true),
            record("3-aabb", "aabb2", true),
            record("4-aabb", "aabb2", false),
        ];
        let find = |reference: &str| choose(&runs, reference).map_err(|error| error.to_string());
        for (reference, expected) in [
            ("latest", Some(2)), // the fourth is not complete
            ("latest~2", Some(0)),
            ("latest~3", None),
            ("aaaa1", Some(1)),
            ("aabb", Some(2)),
            ("1-", Some(0)),
            ("4-aabb", Some(3)),
            ("cccc", None),
            ("", None),
        ] {
            assert_eq!(find(reference), Ok(expected), "{reference}");
        }
        // Fewer than four digits are no commit.
        assert_eq!(find("aa"), Ok(None));
        let two = [record("1", "abcd1", true), record("2", "abcd2", true)];
        let error = choose(&two, "abcd").unwrap_err().to_string();
        assert_eq!(error, "\"abcd\" is ambiguous between 1 and 2: give more characters");
    }

    #[test]
    fn a_torn_run_is_named_and_the_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        for id in ["one", "two"] {
            fs::create_dir(folder.path().join(id)).unwrap();
        }
        let mut one = record("one", "c", true);
        one.folder = folder.path().join("one");
        one.write().unwrap();
        fs::write(folder.path().join("two/run.json"), "{").unwrap();
        let runs = Folder::new(folder.path());
        let found = runs.all().unwrap();
        assert_eq!((found.records.len(), found.unreadable.len()), (1, 1));
        assert_eq!(runs.find("latest").unwrap().id, "one");
        assert!(matches!(runs.find("two"), Err(FolderError::Record(_))));
        let none = runs.find("three").unwrap_err().to_string();
        assert!(none.ends_with("has no run \"three\"; it has 1 runs, the last are one"), "{none}");
    }
}
