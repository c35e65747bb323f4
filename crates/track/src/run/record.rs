//! The stored record of a run: `run.json`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::callgrind::{self, Limits, Profile, SetError};
use crate::compare::Exactness;
use crate::counters::{Calibration, Method};
use crate::flame::ReadProfileError;
use crate::system::{Load, System};

/// Version of the format that is written. Fields are added without a new one.
pub const VERSION: u32 = 1;
/// Largest `run.json` that is read, octets.
const SIZE_BYTES_MAX: u64 = 64 << 20;
/// Name of the file.
const FILE: &str = "run.json";

/// Counts and times of one execution by their names, as `instructions` and `user_ns`.
pub type Figures = BTreeMap<String, u64>;

/// A run of a suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format.
    pub version: u32,
    /// Name of the run, that of its folder.
    pub id: String,
    /// The suite's name.
    pub suite: String,
    /// Start of the measurement, nanoseconds since 1970 (UTC).
    pub started_ns: i64,
    /// The measured commit.
    pub commit: Option<Commit>,
    /// The system on which it ran.
    pub system: System,
    /// Method of counting instructions.
    pub method: Method,
    /// Calibration of the counters, where there are any.
    pub calibration: Option<Calibration>,
    /// System load before the run.
    pub load_before: Load,
    /// System load after the run.
    pub load_after: Load,
    /// The whole suite: not interrupted.
    pub complete: bool,
    /// Measured items, in the suite's order.
    pub items: Vec<Measured>,
    /// Value of `{bin}`.
    #[serde(default)]
    pub bin: PathBuf,
    /// Value of `{suite}`.
    #[serde(default)]
    pub suite_folder: PathBuf,
    /// Folder of the record.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A version of the measured project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Hash of the commit, or the name that was given.
    pub id: String,
    /// Commit time, seconds since 1970 (UTC).
    pub time_s: Option<i64>,
    /// The first line of its message.
    pub subject: Option<String>,
    /// Files were modified since: this is not quite that commit.
    #[serde(default)]
    pub modified: bool,
}

impl Commit {
    /// A version by its name only.
    pub fn named(name: &str) -> Commit {
        Commit { id: name.to_owned(), time_s: None, subject: None, modified: false }
    }

    /// The beginning of its hash, or its name, and a `+` when files were modified.
    pub fn short(&self) -> String {
        let hash = self.id.len() >= 40 && self.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = if hash { &self.id[..10] } else { &self.id };
        format!("{id}{}", if self.modified { "+" } else { "" })
    }
}

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// One program.
    Unit,
    /// A replay of a system.
    Replay,
}

/// One unit or replay, measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Name of the item in the suite.
    pub name: String,
    /// Kind of the item.
    pub kind: ItemKind,
    /// Repeatability of its counts.
    pub exactness: Exactness,
    /// Its processes; a unit has one.
    pub processes: Vec<Process>,
    /// Figures of each execution of a replay as a whole: elapsed time, and the sums of its
    /// processes'. Older runs have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<Figures>,
    /// Executions that cannot be believed, and why.
    #[serde(default)]
    pub discarded: Vec<Discarded>,
    /// Digests of what a replay's processes wrote, by path.
    #[serde(default)]
    pub outputs: BTreeMap<String, String>,
    /// Remarks on the measurement.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Reason why it was not measured, or not to its end.
    pub failure: Option<String>,
}

/// Name of the row of a replay as a whole, beside those of its processes.
pub(crate) const WHOLE: &str = "whole system";

impl Measured {
    /// All processes of a replay together, as a process; `None` for one process alone, and for a run
    /// that did not keep the figures.
    pub(crate) fn whole_system(&self) -> Option<Process> {
        let is_kept = !self.whole.is_empty() && self.processes.len() > 1;
        is_kept.then(|| Process {
            name: WHOLE.to_owned(),
            runs: self.whole.clone(),
            ..Process::default()
        })
    }
}

/// One process, measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Name of the process: a unit's program, a replay's process.
    pub name: String,
    /// Command line, with names of folders in place of their paths.
    pub command: Vec<String>,
    /// Requested environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The folder that it ran in, with names of folders; an empty one when it does not say.
    #[serde(default)]
    pub folder: Option<String>,
    /// SHA-256 of its executable.
    pub program_sha256: Option<String>,
    /// Path of the executable.
    pub program_path: Option<PathBuf>,
    /// Figures of each execution.
    pub runs: Vec<Figures>,
    /// Callgrind's profile of the first, relative to the run's folder, where that was the method.
    pub profile: Option<PathBuf>,
    /// Sampled stacks of one execution, relative to the run's folder, where they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacks: Option<PathBuf>,
}

/// An execution that cannot be believed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discarded {
    /// The reason.
    pub why: String,
    /// The figures.
    pub figures: Figures,
}

/// Reason why a run cannot be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is larger than any run.
    #[error("{path} has more than {SIZE_BYTES_MAX} octets: it is not a run")]
    TooLarge {
        /// The path.
        path: PathBuf,
    },
    /// The content is not a valid run.
    #[error("{path}: {source}")]
    Json {
        /// The path.
        path: PathBuf,
        /// The parser's error, with its position.
        source: serde_json::Error,
    },
    /// The version is newer than this program.
    #[error("{path}: format version {found}, this program reads version {VERSION}")]
    Version {
        /// The path.
        path: PathBuf,
        /// Version of the file.
        found: u64,
    },
    /// A profile that it names cannot be read.
    #[error(transparent)]
    Profile(#[from] SetError),
    /// A profile that it names cannot be read, or not with this event.
    #[error(transparent)]
    Measured(#[from] ReadProfileError),
    /// A profile's path leads outside the run's folder.
    #[error("{path}: the profile {profile} is outside the run's folder")]
    Outside {
        /// The run.
        path: PathBuf,
        /// Path of the profile.
        profile: PathBuf,
    },
}

impl Record {
    /// Reads a run from its folder, or from its `run.json`.
    ///
    /// # Errors
    /// [`RecordError`], with the file's name and the position where there is one.
    pub fn read(path: &Path) -> Result<Record, RecordError> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        let io = |source| RecordError::Io { path: file.clone(), source };
        let mut octets = Vec::new();
        let open = File::open(&file).map_err(io)?;
        open.take(SIZE_BYTES_MAX + 1).read_to_end(&mut octets).map_err(io)?;
        if octets.len() as u64 > SIZE_BYTES_MAX {
            return Err(RecordError::TooLarge { path: file });
        }
        let mut record = Record::parse(&octets, &file)?;
        record.folder = file.parent().unwrap_or(Path::new("")).to_owned();
        Ok(record)
    }

    fn parse(octets: &[u8], file: &Path) -> Result<Record, RecordError> {
        #[derive(Deserialize)]
        struct Head {
            version: u64,
        }
        let json = |source| RecordError::Json { path: file.to_owned(), source };
        // The version is checked first: in a later version the same names may mean other things.
        let head: Head = serde_json::from_slice(octets).map_err(json)?;
        if head.version != u64::from(VERSION) {
            return Err(RecordError::Version { path: file.to_owned(), found: head.version });
        }
        serde_json::from_slice(octets).map_err(json)
    }

    /// Writes `run.json` into its folder: the old one or the new one is there, whatever happens.
    ///
    /// # Errors
    /// [`RecordError::Io`].
    pub fn write(&self) -> Result<(), RecordError> {
        let (file, new) = (self.folder.join(FILE), self.folder.join("run.json.new"));
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| RecordError::Io { path, source }
        };
        let text = serde_json::to_vec_pretty(self)
            .map_err(|source| RecordError::Json { path: file.clone(), source })?;
        let mut open = File::create(&new).map_err(io(&new))?;
        open.write_all(&text).and_then(|()| open.sync_all()).map_err(io(&new))?;
        fs::rename(&new, &file).map_err(io(&file))
    }

    /// The item of this name.
    pub fn item(&self, name: &str) -> Option<&Measured> {
        self.items.iter().find(|item| item.name == name)
    }

    /// One line with the run's commit and time.
    pub fn title(&self) -> String {
        let commit = self.commit.as_ref();
        let short = commit.map_or("(no commit)".to_owned(), Commit::short);
        let subject = commit.and_then(|commit| commit.subject.clone());
        let subject = subject.map(|subject| format!(" {subject}")).unwrap_or_default();
        format!("{short}{subject}")
    }

    /// The profile of a process that was kept with the run.
    ///
    /// # Errors
    /// [`RecordError`] when it cannot be read.
    pub fn profile(&self, process: &Process) -> Result<Option<Profile>, RecordError> {
        let Some(profile) = &process.profile else { return Ok(None) };
        let set = callgrind::read_set(&self.inside(profile)?, Limits::default())?;
        Ok(Some(set.profile))
    }

    /// A file of the run by its path from the run's folder, which it may not leave.
    pub(super) fn inside(&self, file: &Path) -> Result<PathBuf, RecordError> {
        let plain = |part| matches!(part, std::path::Component::Normal(_));
        if !file.components().all(plain) {
            let (path, profile) = (self.folder.join(FILE), file.to_owned());
            return Err(RecordError::Outside { path, profile });
        }
        Ok(self.folder.join(file))
    }
}

impl Process {
    /// The median of a figure over its runs; `None` when it has none.
    pub fn median(&self, figure: &str) -> Option<f64> {
        chronoscope_statistics::median(self.values(figure))
    }

    /// A figure of each run that has it.
    pub fn values(&self, figure: &str) -> Vec<f64> {
        self.runs.iter().filter_map(|run| run.get(figure)).map(|count| *count as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_version_a_torn_file_and_one_that_points_out_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        for (text, said) in [
            ("{\"version\": 9, \"id\": 7}", "run.json: format version 9"),
            ("{\"version\": 1, \"id\": \"x\"", "run.json: EOF while parsing"),
            ("{\"version\": 1}", "missing field `id`"),
            ("", "run.json: EOF"),
        ] {
            fs::write(&file, text).unwrap();
            let error = Record::read(folder.path()).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let none = Record::read(&folder.path().join("none")).unwrap_err().to_string();
        assert!(none.contains("No such file"), "{none}");
    }

    proptest::proptest! {
        /// Whatever is cut out of a run or written into it: read or refused, never a panic.
        #[test]
        fn a_damaged_run_is_read_or_refused(
            at in 0..2000_usize,
            cut in 0..40_usize,
            octets in proptest::collection::vec(proptest::arbitrary::any::<u8>(), 0..20),
        ) {
            let whole = "{\"version\":1,\"id\":\"a\",\"suite\":\"s\",\"started_ns\":5,\"commit\":\
                {\"id\":\"é6388511a0f6388511a0f6388511a0f6388511a0f\",\"time_s\":null,\"subject\":\
                null},\"system\":{\"machine\":\"\",\"cpu\":\"\",\"cpus\":1,\"memory_bytes\":1,\
                \"kernel\":\"\",\"chronoscope\":\"\"},\"method\":\"hardware\",\"load_before\":\
                {\"one\":0.0,\"five\":0.0,\"fifteen\":0.0},\"load_after\":{\"one\":0.0,\"five\":\
                0.0,\"fifteen\":0.0},\"complete\":true,\"items\":[{\"name\":\"i\",\"kind\":\"unit\",\
                \"exactness\":\"threaded\",\"processes\":[{\"name\":\"p\",\"command\":[],\
                \"runs\":[{\"instructions\":18446744073709551615}]}]}]}";
            let mut damaged = whole.as_bytes().to_vec();
            let at = at % damaged.len();
            let end = (at + cut).min(damaged.len());
            damaged.splice(at..end, octets);
            for octets in [whole.as_bytes(), &damaged] {
                if let Ok(record) = Record::parse(octets, Path::new("run.json")) {
                    record.title();
                    let unchanged = crate::report::Unchanged::of([&record], &record);
                    let found = crate::report::Comparison::of(&record, &record, &unchanged, false);
                    crate::report::text(&found);
                    crate::report::markdown("", &found, &[]);
                }
            }
            proptest::prop_assert!(Record::parse(whole.as_bytes(), Path::new("x")).is_ok());
        }
    }

    #[test]
    fn the_name_of_a_version_is_short() {
        let hash = "6388511a0f6388511a0f6388511a0f6388511a0f";
        let commit = Commit { modified: true, ..Commit::named(hash) };
        assert_eq!(commit.short(), "6388511a0f+");
        assert_eq!(Commit::named("release-4.2").short(), "release-4.2");
    }
}
