//! What a replay leaves behind, complete or not.

use crate::counters::Counts;
use crate::page::Activity;
use crate::process::Usage;
use std::time::Duration;

/// Result of a replay. What was measured until a failure is in it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it ended early; `None` for a complete replay.
    pub failure: Option<Failure>,
    /// Every process that took part, in the order of announcement.
    pub processes: Vec<ProcessOutcome>,
    /// Virtual time that passed.
    pub elapsed: Duration,
    /// Real time that passed.
    pub real: Duration,
    /// CPU time that the coordinator itself used, its player included.
    pub own_cpu: Duration,
    /// Times that a process was granted the run.
    pub grants: u64,
    /// Times that the clock moved.
    pub moves: u64,
    /// Addresses that were sent to and that nobody taking part owns.
    pub strangers: Vec<String>,
    /// What processes asked for that cannot be virtual, and other things worth knowing.
    pub remarks: Vec<String>,
}

/// One process of a replay.
#[derive(Clone, Debug, Default)]
pub struct ProcessOutcome {
    /// Name given, or for children their command line.
    pub name: String,
    /// Its program and arguments, as it said.
    pub program: String,
    /// Name of the program started whose child it is, or that it is itself.
    pub(super) started: String,
    /// The kernel's number; 0 when it never said hello.
    pub pid: i32,
    /// How it ended, for those that the coordinator started.
    pub exit: Option<String>,
    /// What the kernel says it used, for those that ended.
    pub usage: Option<Usage>,
    /// What it executed, where the machine counts.
    pub counts: Option<Counts>,
    /// What the library counted in it.
    pub activity: Activity,
    /// Times that it was granted the run.
    pub grants: u64,
}

impl ProcessOutcome {
    /// Name of the program that was started and is it, or begot it.
    #[must_use]
    pub fn started_as(&self) -> &str {
        &self.started
    }
}

/// Why a replay ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It runs and runs, reading a clock that stands still while it does.
    #[error(
        "{name} (pid {pid}) spins: it read the clock {reads} times in {real:?} without waiting, and the clock stands while it runs"
    )]
    Spins {
        /// Process.
        name: String,
        /// Its number.
        pid: i32,
        /// Reads since it was granted the run.
        reads: u64,
        /// Real time since then.
        real: Duration,
    },
    /// It runs and does not come to wait.
    #[error(
        "{name} (pid {pid}) never became quiescent: it ran for {real:?} of real time without waiting"
    )]
    NeverQuiescent {
        /// Process.
        name: String,
        /// Its number.
        pid: i32,
        /// Real time since it was granted the run.
        real: Duration,
    },
    /// It never said hello.
    #[error("{name} (pid {pid}) does not take part: no hello in {real:?}; a static program cannot")]
    NoHello {
        /// Process.
        name: String,
        /// Its number.
        pid: i32,
        /// Real time waited.
        real: Duration,
    },
    /// It ended before it took part.
    #[error("{name} (pid {pid}) ended before it took part: {exit}")]
    EndedEarly {
        /// Process.
        name: String,
        /// Its number.
        pid: i32,
        /// How.
        exit: String,
    },
    /// A packet of it cannot be read.
    #[error("packet of {name} (pid {pid}): {error}")]
    Wire {
        /// Process.
        name: String,
        /// Its number.
        pid: i32,
        /// What is wrong.
        error: crate::wire::WireError,
    },
    /// It was asked to end.
    #[error("interrupted")]
    Interrupted,
    /// It took longer than it may.
    #[error("it took longer than {limit:?}, and was at {elapsed:?} of virtual time")]
    TooLong {
        /// Real time that it may take.
        limit: Duration,
        /// Virtual time that had passed.
        elapsed: Duration,
    },
    /// A recording cannot be read on.
    #[error("input: {0}")]
    Input(String),
    /// More processes than a page has slots.
    #[error("more than {} processes in one replay", crate::page::SLOTS)]
    TooMany,
    /// The coordinator itself failed.
    #[error("coordinator: {0}")]
    Io(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error.to_string())
    }
}
