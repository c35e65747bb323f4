//! A thread that does not wait for others' programs.
#![allow(unsafe_code)]

use std::io;

/// Makes the calling thread run before all ordinary ones whenever it is ready (`SCHED_FIFO`, lowest
/// priority): for threads that carry and measure packets, because a busy machine must not look like
/// a slow network. Not for threads that compute: they would starve all others.
///
/// # Errors
/// Error of the system; `PermissionDenied` without the right to (`CAP_SYS_NICE`).
pub fn run_first() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the structure lives until the call is over; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
