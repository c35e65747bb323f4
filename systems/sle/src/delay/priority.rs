//! A thread that goes before others.
#![allow(unsafe_code)] // setpriority(2), which no crate here has

/// Lets the calling thread go before others of the machine, where that is allowed: a packet's time
/// is not to depend on who else computes. Without the right to it the thread stays as it is.
pub(super) fn raise() {
    // SAFETY: it takes numbers and touches no memory of ours; on Linux 0 is the calling thread.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -19) };
}
