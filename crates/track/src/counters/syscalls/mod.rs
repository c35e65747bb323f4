//! System calls of a program, by kind and process: counted by a tracer (ptrace(2)) in a run of its
//! own, over every thread and child.
//!
//! Calls are counted at entry; a call that a signal interrupts and the kernel restarts counts
//! twice. The number of waits between threads depends on scheduling: [`Syscalls::steady`] leaves
//! those calls out. Work that the C library does without entering the kernel (vDSO clocks) is not
//! counted.

mod counts;
mod names;
mod trace;

pub use counts::{ProcessSyscalls, Syscalls, UNSTEADY};

use super::beyond_error::BeyondError;
use super::program::Program;

/// Runs a program once under a tracer. Children that still run when it ends are killed.
///
/// # Errors
/// When it does not run to its end, or may not be traced.
pub fn syscalls(program: &Program) -> Result<Syscalls, BeyondError> {
    Ok(trace::run(program)?)
}
