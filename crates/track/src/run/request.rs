//! Request of a run: the items to measure, and the method.

use super::record::Commit;
use crate::counters::{Calibration, Method};
use crate::suite::Suite;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Suite, versions and method of a measurement.
#[derive(Clone, Debug)]
pub struct Request {
    /// Suite to run.
    pub suite: Suite,
    /// Names of the items that are wanted; all when there are none.
    pub only: Vec<String>,
    /// Executions of each unit; one under Callgrind, six with counters, when it does not say.
    pub runs: Option<usize>,
    /// Count heap and system calls too, by two executions more of each unit.
    pub beyond: bool,
    /// Sample the stacks of each unit too, by an execution more under `perf`.
    pub stacks: bool,
    /// Method of counting instructions.
    pub method: Method,
    /// Calibration of the counters.
    pub calibration: Option<Calibration>,
    /// The folder of runs.
    pub folder: PathBuf,
    /// Cancellation flag: when it is set, the running program is killed and completed measurements
    /// are kept.
    pub stop: Arc<AtomicBool>,
}

/// One version to measure.
#[derive(Clone, Debug)]
pub struct Version {
    /// Value of `{bin}`.
    pub bin: PathBuf,
    /// Value of `{suite}`.
    pub suite: PathBuf,
    /// Commit of this version.
    pub commit: Option<Commit>,
}
