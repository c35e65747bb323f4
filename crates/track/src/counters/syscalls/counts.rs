//! System calls of a program.

use crate::counters::width::width;
use chronoscope_figures::numbers::grouped;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Calls whose number depends on scheduling.
pub const UNSTEADY: [&str; 3] = ["futex", "restart_syscall", "sched_yield"];

/// The system calls of a program's process images, in the order in which their processes were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Syscalls {
    /// One entry for each executed program, and for each forked child.
    pub processes: Vec<ProcessSyscalls>,
    /// Processes that were still there when the program had ended, and were killed.
    pub left: u64,
}

/// The system calls of a process image with all its threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSyscalls {
    /// The last part of the executable's path.
    pub program: String,
    /// Made by fork, and nothing was executed since.
    pub forked: bool,
    /// Threads that it had in all.
    pub threads: u64,
    /// Number of calls of each kind.
    pub calls: BTreeMap<String, u64>,
}

impl ProcessSyscalls {
    /// Number of all calls.
    pub fn total(&self) -> u64 {
        self.calls.values().sum()
    }

    /// Number of calls without those that depend on scheduling.
    pub fn steady(&self) -> u64 {
        let steady = self.calls.iter().filter(|(name, _)| !UNSTEADY.contains(&name.as_str()));
        steady.map(|(_, count)| count).sum()
    }
}

impl Syscalls {
    /// Number of all calls of all processes.
    pub fn total(&self) -> u64 {
        self.processes.iter().map(ProcessSyscalls::total).sum()
    }

    /// Number of calls without those that depend on scheduling.
    pub fn steady(&self) -> u64 {
        self.processes.iter().map(ProcessSyscalls::steady).sum()
    }

    /// A row for each process: how many, and the most frequent kinds.
    pub fn text(&self) -> String {
        let name = |process: &ProcessSyscalls| {
            let forked = if process.forked { " (forked)" } else { "" };
            format!("{}{forked}", process.program)
        };
        let names: Vec<String> = self.processes.iter().map(name).collect();
        let first = width(names.iter().map(String::as_str), "process name");
        let mut out =
            format!("{:<first$}  {:>7}  {:>14}  of which", "process name", "threads", "calls");
        for (process, name) in self.processes.iter().zip(names) {
            let mut calls: Vec<_> = process.calls.iter().collect();
            calls.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
            let most: Vec<_> = calls
                .iter()
                .take(5)
                .map(|(name, count)| format!("{name} {}", grouped(**count)))
                .collect();
            let total = grouped(process.total());
            out += &format!(
                "\n{name:<first$}  {:>7}  {total:>14}  {}",
                process.threads,
                most.join(", ")
            );
        }
        if self.left > 0 {
            out += &format!("\n{} processes were left running, and were killed", self.left);
        }
        out.push('\n');
        out
    }
}
