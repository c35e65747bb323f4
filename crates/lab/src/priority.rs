//! A thread that does not wait for others' programs.
#![allow(unsafe_code)]

use std::io;

/// The calling thread runs before all ordinary ones from now on, whenever it has something to do
/// (`SCHED_FIFO`, lowest priority): for those who carry and measure packets, so that a busy machine
/// is not taken for a slow network. Not for threads that reckon: they would leave nothing to others.
///
/// # Errors
/// What the kernel says; `PermissionDenied` without the right to (`CAP_SYS_NICE`).
pub fn run_first() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the structure lives until the call is over; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
