//! The one lock of the library: around registrations, never around transactions.
//!
//! It is held during a `fork`: a child must find the guarded data whole and the lock free.
#![allow(unsafe_code)] // the guarded value, pthread_atfork

use crate::registered::Registered;
use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

struct Gate {
    locked: AtomicBool,
    value: UnsafeCell<Option<Registered>>,
}

// SAFETY: the value is touched by whoever has locked only.
unsafe impl Sync for Gate {}

static GATE: Gate = Gate { locked: AtomicBool::new(false), value: UnsafeCell::new(None) };

/// Runs `work` on the registered data under the lock. `work` must not call this function again.
pub(crate) fn with<R>(work: impl FnOnce(&mut Registered) -> R) -> R {
    static FORKS: Once = Once::new();
    FORKS.call_once(|| {
        // SAFETY: plain functions of this library, which is never unloaded. Without memory for
        // them a fork in the middle of a registration is all that goes wrong.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(in_child)) };
    });
    lock();
    let _unlock = Unlock; // by a panic too
    // SAFETY: locked.
    let known = unsafe { &mut *GATE.value.get() };
    work(known.get_or_insert_default())
}

fn lock() {
    while GATE.locked.swap(true, Ordering::Acquire) {
        // Registrations are short and few.
        std::thread::yield_now();
    }
}

struct Unlock;

impl Drop for Unlock {
    fn drop(&mut self) {
        GATE.locked.store(false, Ordering::Release);
    }
}

extern "C" fn before() {
    lock();
}

extern "C" fn after() {
    drop(Unlock);
}

extern "C" fn in_child() {
    after();
    crate::thread_number::forget();
}
