//! Outcome of a replay, complete or not.

use super::heap_use::HeapUse;
use crate::counters::Counts;
use crate::page::Activity;
use crate::process::Usage;
use std::time::Duration;

/// Result of a replay. What was measured until a failure is in it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Reason why it ended early; `None` for a complete replay.
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
    /// Destination addresses that no process of the replay owns.
    pub strangers: Vec<String>,
    /// Requests of processes that cannot be virtual, and other remarks.
    pub remarks: Vec<String>,
    /// What came before the window, which all figures leave out; `None` without a window.
    pub lead_in: Option<LeadIn>,
    /// Real time for which it was paused; not in `real`.
    pub paused: Duration,
}

/// What came before a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeadIn {
    /// Virtual time that passed.
    pub elapsed: Duration,
    /// Real time that passed.
    pub real: Duration,
    /// CPU time of all processes, in hundredths of a second.
    pub cpu: Duration,
    /// Times that a process was granted the run.
    pub grants: u64,
}

/// Outcome of one process of a replay.
#[derive(Clone, Debug, Default)]
pub struct ProcessOutcome {
    /// Name given, or for children their command line.
    pub name: String,
    /// Program and arguments, as the process reported them.
    pub program: String,
    /// Name of the program started whose child it is, or that it is itself.
    pub(super) started: String,
    /// The kernel's process number; 0 when the process never sent its hello.
    pub pid: i32,
    /// Exit status, for processes that the coordinator started.
    pub exit: Option<String>,
    /// Resources that the kernel reports, for ended processes.
    pub usage: Option<Usage>,
    /// Executed instructions and branches, where the machine counts them.
    pub counts: Option<Counts>,
    /// Activity that the library counted in it.
    pub activity: Activity,
    /// Times that it was granted the run.
    pub grants: u64,
    /// Resident memory at the end, before it was asked to end, octets; `None` when it had ended.
    pub rss_bytes_end: Option<u64>,
    /// Its heap, where that was counted.
    pub heap: Option<HeapUse>,
}

impl ProcessOutcome {
    /// Name of the program that was started and is it, or begot it.
    #[must_use]
    pub fn started_as(&self) -> &str {
        &self.started
    }
}

/// Reasons why a replay ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A process runs without end, reading a clock that stands still meanwhile.
    #[error(
        "{name} (pid {pid}) waits in a busy loop: it read the clock {reads} times in {real:?} \
         without a blocking call, and the virtual clock stands still while a process runs"
    )]
    Spins {
        /// Name of the process.
        name: String,
        /// Process number.
        pid: i32,
        /// Reads since it was granted the run.
        reads: u64,
        /// Real time since then.
        real: Duration,
    },
    /// A process runs and never waits.
    #[error(
        "{name} (pid {pid}) never became quiescent: it ran for {real:?} of real time without waiting"
    )]
    NeverQuiescent {
        /// Name of the process.
        name: String,
        /// Process number.
        pid: i32,
        /// Real time since it was granted the run.
        real: Duration,
    },
    /// A process never sent its hello.
    #[error(
        "{name} (pid {pid}) does not take part in the replay: no hello within {real:?}; a \
         statically linked program cannot take part"
    )]
    NoHello {
        /// Name of the process.
        name: String,
        /// Process number.
        pid: i32,
        /// Real time waited.
        real: Duration,
    },
    /// A process ended before it took part.
    #[error("{name} (pid {pid}) ended before it took part: {exit}")]
    EndedEarly {
        /// Name of the process.
        name: String,
        /// Process number.
        pid: i32,
        /// Exit status.
        exit: String,
    },
    /// A packet of it cannot be read.
    #[error("packet of {name} (pid {pid}): {error}")]
    Wire {
        /// Name of the process.
        name: String,
        /// Process number.
        pid: i32,
        /// Fault of the packet.
        error: crate::wire::WireError,
    },
    /// The replay was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The replay exceeded its limit of real time.
    #[error("the replay took longer than {limit:?} and had reached {elapsed:?} of virtual time")]
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
