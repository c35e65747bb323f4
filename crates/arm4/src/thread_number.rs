//! The kernel's number of the calling thread, asked once.

use std::cell::Cell;

thread_local! {
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// The kernel's number of the calling thread.
pub(crate) fn current() -> u32 {
    let known = THREAD.get();
    if known != 0 {
        return known;
    }
    #[allow(unsafe_code)]
    // SAFETY: no argument, cannot fail.
    let thread = unsafe { libc::gettid() }.cast_unsigned();
    THREAD.set(thread);
    thread
}

/// In a forked child, whose thread has another number.
pub(crate) fn forget() {
    THREAD.set(0);
}
