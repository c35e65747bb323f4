//! Handler for a ring file that is truncated under a running program.
//!
//! Touching a mapped page that its file no longer has raises SIGBUS, which ends a program. The file
//! cannot be sealed against it: seals exist for memfd only, and a memfd is gone with its process,
//! whereas the ring must outlive `kill -9`. So the recorder has a handler: a fault inside the
//! ring's addresses puts private memory there, is reported once, and the program continues; any
//! other fault goes to the previous handler of the signal. It is installed with the first ring and
//! not reinstalled: a program that sets its own later keeps its own.
#![allow(unsafe_code)] // signal handling

use crate::os;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static BEGIN: AtomicUsize = AtomicUsize::new(0);
static FILE_END: AtomicUsize = AtomicUsize::new(0);
static DAMAGED: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();
static PREVIOUS: Previous = Previous(UnsafeCell::new(MaybeUninit::zeroed()));

struct Previous(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: written once, before the handler that reads it is installed.
unsafe impl Sync for Previous {}

const MESSAGE: &[u8] =
    b"chronoscope: another program truncated the ring file; recording continues in private \
      memory\n";

/// Guards the addresses of a region that starts at `begin` (replaces an earlier one: a child's
/// own region after a fork).
pub(crate) fn guard(begin: usize) {
    FILE_END.store(begin, Ordering::Relaxed);
    BEGIN.store(begin, Ordering::Relaxed);
    DAMAGED.store(false, Ordering::Relaxed);
    INSTALL.call_once(install);
}

/// The file's part of the region now ends here.
pub(crate) fn set_file_end(end: usize) {
    FILE_END.store(end, Ordering::Release);
}

/// Whether the file was truncated.
pub(crate) fn is_damaged() -> bool {
    DAMAGED.load(Ordering::Relaxed)
}

fn install() {
    // SAFETY: a zeroed sigaction is a valid one; `handle` has the signature of SA_SIGINFO; the
    // previous action is stored before any fault can reach the handler, because it is queried
    // first.
    unsafe {
        let previous = (*PREVIOUS.0.get()).as_mut_ptr();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), previous) != 0 {
            return;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

/// Runs in signal context: system calls and atomics only.
extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel hands over a valid siginfo; errno is the thread's own.
    unsafe {
        let address = (*info).si_addr() as usize;
        let (begin, end) = (BEGIN.load(Ordering::Relaxed), FILE_END.load(Ordering::Acquire));
        let errno = *libc::__errno_location();
        if (begin..end).contains(&address) && replace(address, end) {
            *libc::__errno_location() = errno;
            return;
        }
        pass_on(signal, info, context);
    }
}

/// Puts private memory from the faulting page to the end of the file's part: the file has nothing
/// behind its new end, so nothing more is lost.
fn replace(address: usize, end: usize) -> bool {
    let page = os::page_bytes(); // the library's own constant, no system call
    // SAFETY: mmap is a plain system call; the addresses are the ring's own. Reads
    // there return zero from now on, which the hot path takes as data.
    unsafe {
        let from = address & !(page - 1);
        let mapped = libc::mmap(
            from as *mut libc::c_void,
            end - from,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        );
        if mapped == libc::MAP_FAILED {
            return false;
        }
        if !DAMAGED.swap(true, Ordering::Relaxed) {
            libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        }
        true
    }
}

/// Leaves the fault to the action that was there before.
///
/// # Safety
/// Only from the handler, with its own arguments.
unsafe fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: `PREVIOUS` was filled before the handler was installed, and a handler address in it
    // has the signature that its flags say.
    unsafe {
        let previous = (*PREVIOUS.0.get()).assume_init_ref();
        match previous.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                // The instruction faults again, and then the kernel takes its default action.
                libc::sigaction(signal, previous, std::ptr::null_mut());
            }
            handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(i32) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}
