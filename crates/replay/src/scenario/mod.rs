//! Scenarios: which programs take part in a replay, what they are fed, and from which state they
//! begin (`docs/formats/scenario.md`).
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
//! possible ([`isolation`]), so that it begins from the same state every time.

mod callgrind;
mod file;
pub mod isolation;
mod numbers;
mod outputs;
mod place;
mod report;
mod run;
mod words;

pub use outputs::{Difference, INSTRUCTIONS_PPM_MAX, differences};
pub use report::{Count, OutputReport, ProcessReport, Report, StoredReport};
pub use run::Options;
pub use words::parse_duration;

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
    /// Its name in reports.
    pub name: String,
    /// UTC at the beginning, ns since 1970; of the first input without.
    pub start_utc_ns: Option<i64>,
    /// How long; until 10 s after the last input without.
    pub duration: Option<Duration>,
    /// Of all random numbers.
    pub seed: u64,
    /// Inputs of so long come together, when parallel.
    pub step: Duration,
    folder: PathBuf,
    ports: BTreeMap<String, Transport>,
    environment: BTreeMap<String, String>,
    processes: Vec<Process>,
    inputs: Vec<Input>,
}

/// Why a scenario cannot be read or its replay not be begun. What goes wrong later is in the
/// [`Report`].
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It is no scenario.
    #[error("{}: {what}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// Written for a later program.
    #[error(
        "{}: scenario of version {version}, this program reads {VERSION}: use a later one",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// What it says.
        version: i64,
    },
    /// It contradicts itself.
    #[error("{}: {what}", path.display())]
    Sense {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// An input cannot be read.
    #[error("input {name}: {error}")]
    Input {
        /// Which.
        name: String,
        /// Why.
        error: FeedError,
    },
    /// The output folder has something in it.
    #[error("{} is not empty: a replay needs a fresh folder", path.display())]
    NotFresh {
        /// The folder.
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
    /// [`ScenarioError`] with what is wrong and where.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let io = |error| ScenarioError::Io { path: path.to_owned(), error };
        let text = std::fs::read_to_string(path).map_err(io)?;
        let path = path.canonicalize().map_err(io)?;
        File::parse(&text, &path)
    }
}
