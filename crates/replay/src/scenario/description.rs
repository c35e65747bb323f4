//! A scenario as its file describes it.

use super::item::{Input, Process};
use crate::player::Transport;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

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
    pub(super) folder: PathBuf,
    pub(super) ports: BTreeMap<String, Transport>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) processes: Vec<Process>,
    pub(super) inputs: Vec<Input>,
}
