//! Scenarios: the programs of a replay, their inputs, and their initial state
//! (`docs/formats/scenario.md`).
//!
//! ```no_run
//! use chronoscope_replay::scenario::{Options, Scenario};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario = Scenario::read("radar.toml".as_ref())?;
//! let options = Options::new("target/release".as_ref(), "/tmp/replayed".as_ref());
//! let report = scenario.run(&options, &mut |progress| eprintln!("{:?}", progress.elapsed))?;
//! println!("{}", serde_json::to_string_pretty(&report)?);
//! # Ok(()) }
//! ```
//!
//! Every replay has fresh folders, a fixed environment, and a network of its own where that is
//! possible ([`isolation`]): it begins from the same state every time.

mod callgrind;
mod file;
pub mod isolation;
mod numbers;
mod outputs;
mod place;
mod report;
mod run;
mod values;

pub use outputs::{Difference, INSTRUCTIONS_PPM_MAX, differences};
pub use report::{Count, OutputReport, ProcessReport, Report, StoredReport};
pub use run::Options;
pub use values::parse_duration;

use file::{File, Input, Process};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::player::{FeedError, Transport};

/// Version of the file that is read here.
pub const VERSION: u32 = 1;

/// A scenario, read and found to make sense.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name in reports.
    pub name: String,
    /// UTC at the beginning, ns since 1970; of the first input without.
    pub start_utc_ns: Option<i64>,
    /// Virtual duration; without it, until 10 s after the last input.
    pub duration: Option<Duration>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Inputs of so long come together, when parallel.
    pub step: Duration,
    folder: PathBuf,
    ports: BTreeMap<String, Transport>,
    environment: BTreeMap<String, String>,
    processes: Vec<Process>,
    inputs: Vec<Input>,
}

/// Reasons why a scenario cannot be read or its replay cannot begin. Later failures are in the
/// [`Report`].
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
        "{}: scenario of version {version}, this program reads {VERSION}: use a later one",
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
        /// What is wrong.
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
    #[error("{} is not empty: a replay needs a fresh folder", path.display())]
    NotFresh {
        /// Path of the folder.
        path: PathBuf,
    },
    /// Callgrind was asked for and is not there.
    #[error("valgrind cannot be run: {0}; install it, or count without (--count none)")]
    NoValgrind(io::Error),
}

impl Scenario {
    /// Reads a scenario. Recordings are opened when it runs.
    ///
    /// # Errors
    /// [`ScenarioError`] with the fault and its position.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let io = |error| ScenarioError::Io { path: path.to_owned(), error };
        let text = std::fs::read_to_string(path).map_err(io)?;
        let path = path.canonicalize().map_err(io)?;
        File::parse(&text, &path)
    }
}
