//! What one run costs beyond instructions: its heap and its system calls, each counted in a run of
//! its own beside the counted one, since counting them moves everything else.

use serde::{Deserialize, Serialize};

use super::heap::{self, Heap};
use super::program::{Program, RunError};
use super::syscalls::{self, Syscalls};

/// What was found in an extra run of the program, or why nothing was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found<T> {
    /// It was counted.
    Counted(T),
    /// It was not.
    Missing {
        /// Why not: what the system said, or how the program ended.
        because: String,
    },
}

impl<T> Found<T> {
    /// What was counted, if it was.
    pub fn counted(&self) -> Option<&T> {
        match self {
            Found::Counted(found) => Some(found),
            Found::Missing { .. } => None,
        }
    }

    fn from<E: std::fmt::Display>(result: Result<T, E>) -> Found<T> {
        match result {
            Ok(found) => Found::Counted(found),
            Err(error) => Found::Missing { because: error.to_string() },
        }
    }
}

/// What a program costs beyond instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// Its heap, process by process.
    pub heap: Found<Heap>,
    /// Its system calls, process by process.
    pub syscalls: Found<Syscalls>,
}

/// Why something beyond instructions could not be counted.
#[derive(Debug, thiserror::Error)]
pub enum BeyondError {
    /// The program did not run to its end as it was watched.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The heap's figures cannot be had or read.
    #[error(transparent)]
    Heap(#[from] heap::HeapError),
}

/// Runs a program twice more: once with the library that counts its heap, once with a tracer that
/// counts its system calls. A figure that cannot be had says why; the other is there.
pub fn beyond(program: &Program) -> Beyond {
    Beyond {
        heap: Found::from(heap::heap(program)),
        syscalls: Found::from(syscalls::syscalls(program)),
    }
}

impl Beyond {
    /// Both as tables, with what is missing.
    pub fn text(&self) -> String {
        let heap = match &self.heap {
            Found::Counted(heap) => heap.text(),
            Found::Missing { because } => format!("the heap was not counted: {because}\n"),
        };
        let syscalls = match &self.syscalls {
            Found::Counted(syscalls) => syscalls.text(),
            Found::Missing { because } => format!("system calls were not counted: {because}\n"),
        };
        format!("{heap}\n{syscalls}")
    }
}

/// A table's first column: as wide as the widest name, at least as its head.
pub(super) fn width<'a>(names: impl Iterator<Item = &'a str>, head: &str) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0).max(head.len())
}
