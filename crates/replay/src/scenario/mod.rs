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
mod description;
mod error;
mod file;
pub mod isolation;
mod item;
mod numbers;
mod options;
mod output_folders;
mod outputs;
mod report;
mod run;
mod values;
mod window;

pub use description::{Scenario, VERSION};
pub use error::ScenarioError;
pub use options::Options;
pub use outputs::{Difference, INSTRUCTIONS_PPM_MAX, differences, window_differences};
pub use report::{Count, OutputReport, ProcessReport, Report, StoredReport, WindowReport};
pub use window::Window;

use file::File;

use std::path::Path;

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
