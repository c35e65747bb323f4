//! State of the running process beside its ring: made at first use, and anew in a forked child.
#![allow(unsafe_code)] // shared by pointer

use crate::process::Process;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value of the running process. A parent's, which a forked child finds here, is left alone.
#[derive(Debug)]
pub(crate) struct PerProcess<T>(AtomicPtr<Owned<T>>);

#[derive(Debug)]
struct Owned<T> {
    process: &'static Process,
    value: T,
}

impl<T: Default + Send + Sync + 'static> PerProcess<T> {
    /// Without a value yet.
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The value of the running process, which is `process`. Never freed, as its ring.
    pub(crate) fn of(&self, process: &'static Process) -> &'static T {
        let mut current = self.0.load(Ordering::Acquire);
        loop {
            // SAFETY: a published value is never freed.
            if let Some(owned) = unsafe { current.as_ref() }
                && std::ptr::eq(owned.process, process)
            {
                return &owned.value;
            }
            let new = Box::into_raw(Box::new(Owned { process, value: T::default() }));
            match self.0.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => current = new,
                Err(faster) => {
                    // SAFETY: made above, and not published.
                    drop(unsafe { Box::from_raw(new) });
                    current = faster;
                }
            }
        }
    }
}
