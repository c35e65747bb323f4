//! Costs of a run beyond instructions: its heap and its system calls. Each is counted in a run of
//! its own, since counting them changes all other counts.

use serde::{Deserialize, Serialize};

use super::heap::{self, Heap};
use super::program::Program;
use super::syscalls::{self, Syscalls};

/// Result of an extra run of the program, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtraRun<T> {
    /// The run was counted.
    Counted(T),
    /// The run was not counted.
    Missing {
        /// The reason: the system's error, or how the program ended.
        because: String,
    },
}

impl<T> ExtraRun<T> {
    /// The counts, if there are any.
    pub fn counted(&self) -> Option<&T> {
        match self {
            ExtraRun::Counted(found) => Some(found),
            ExtraRun::Missing { .. } => None,
        }
    }

    fn from<E: std::fmt::Display>(result: Result<T, E>) -> ExtraRun<T> {
        match result {
            Ok(found) => ExtraRun::Counted(found),
            Err(error) => ExtraRun::Missing { because: error.to_string() },
        }
    }
}

/// Costs of a program beyond instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// Heap, process by process.
    pub heap: ExtraRun<Heap>,
    /// System calls, process by process.
    pub syscalls: ExtraRun<Syscalls>,
}

/// Runs a program twice more: once with the library that counts its heap, once with a tracer that
/// counts its system calls. When one of them fails, its reason is reported and the other is kept.
pub fn beyond(program: &Program) -> Beyond {
    Beyond {
        heap: ExtraRun::from(heap::heap(program)),
        syscalls: ExtraRun::from(syscalls::syscalls(program)),
    }
}

impl Beyond {
    /// Both as tables, with the reasons for missing ones.
    pub fn text(&self) -> String {
        let heap = match &self.heap {
            ExtraRun::Counted(heap) => heap.text(),
            ExtraRun::Missing { because } => format!("the heap was not counted: {because}\n"),
        };
        let syscalls = match &self.syscalls {
            ExtraRun::Counted(syscalls) => syscalls.text(),
            ExtraRun::Missing { because } => format!("system calls were not counted: {because}\n"),
        };
        format!("{heap}\n{syscalls}")
    }
}
