//! Process numbers of a replay's own: the first process has number 2, whatever else runs on the
//! host. Process numbers in programs' output are then the same every time.
#![allow(unsafe_code)] // a process that is forked and never executes a program

use crate::parent::kill_when_parent_ends;
use nix::sched::{CloneFlags, unshare};
use std::io;

/// A process number namespace, which ends with this: whoever is left in it is killed.
#[derive(Debug)]
pub(super) struct Numbers {
    first: i32,
}

impl Numbers {
    /// Later children of the calling thread are numbered from 2 on. It cannot make threads any
    /// longer, and no processes once this is dropped.
    ///
    /// # Errors
    /// When this is not permitted.
    pub(super) fn new() -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWPID)?;
        // SAFETY: the child only makes system calls and never returns.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: this is the child, right after the fork.
            0 => unsafe { reap_for_ever() },
            first => Ok(Self { first }),
        }
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        // SAFETY: the child is ours and was not waited for, so its number is still its own.
        unsafe {
            libc::kill(self.first, libc::SIGKILL);
            libc::waitpid(self.first, std::ptr::null_mut(), 0);
        }
    }
}

/// Number 1: takes what others left behind, dies with the thread that made it.
///
/// # Safety
/// To be called in a child that has one thread, right after the fork.
unsafe fn reap_for_ever() -> ! {
    // A signal of one's own cannot be refused; without it the parent's `Drop` ends this process.
    let _ = kill_when_parent_ends();
    // SAFETY: nothing but system calls on memory of this frame.
    unsafe {
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut signals);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const signals, std::ptr::null_mut());
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGCHLD);
        loop {
            if libc::waitpid(-1, std::ptr::null_mut(), 0) == -1 {
                let mut signal = 0; // nobody is left to it; the next one tells
                libc::sigwait(&raw const signals, &raw mut signal);
            }
        }
    }
}
