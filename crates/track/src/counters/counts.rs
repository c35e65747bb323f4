//! Counts of one execution.

use super::beyond::Beyond;
use super::program::Usage;
use chronoscope_replay::counters::Reading;
use serde::{Deserialize, Serialize};

/// Counts of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// The processor's counters, in user space, of the program, its threads, and its children that
    /// ended.
    Hardware {
        /// Executed instructions.
        instructions: Reading,
        /// Executed branches.
        branches: Reading,
        /// Processor cycles.
        cycles: Reading,
    },
    /// Callgrind's counts of the program and its children.
    Callgrind {
        /// Executed instructions.
        instructions: u64,
        /// Calls of `malloc` and its kin.
        allocations: u64,
        /// Number of system calls.
        syscalls: u64,
        /// CPU time of the system calls, ns; 0 in older runs.
        #[serde(default)]
        syscalls_cpu_ns: u64,
    },
}

/// One run of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The kernel's resource usage, of a run without instrumentation.
    pub usage: Usage,
    /// Counts of the run.
    pub counts: Counts,
    /// Heap and system calls, from runs beside the counted one; `None` when nobody asked.
    #[serde(default)]
    pub beyond: Option<Beyond>,
}

impl Run {
    /// Instructions as they were counted.
    pub fn instructions(&self) -> u64 {
        match &self.counts {
            Counts::Hardware { instructions, .. } => instructions.count,
            Counts::Callgrind { instructions, .. } => *instructions,
        }
    }

    /// Instructions without what interrupts add: minus branches where the processor counted, see
    /// [`Calibration`](super::Calibration); as they are under Callgrind, which no interrupt reaches.
    pub fn corrected(&self) -> u64 {
        match &self.counts {
            Counts::Hardware { instructions, branches, .. } => {
                instructions.count.saturating_sub(branches.count)
            }
            Counts::Callgrind { instructions, .. } => *instructions,
        }
    }
}
