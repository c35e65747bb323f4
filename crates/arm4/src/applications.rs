//! Running applications: what `arm_start_application` gives a handle to.
#![allow(unsafe_code)] // instances are leaked and shared by pointer
#![allow(clippy::cast_possible_truncation)] // places are below 2^12

use crate::codes::{self, Code};
use crate::definitions::Application;
use crate::gate;
use crate::instance::Instance;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Applications that run at a time.
const RUNNING_MAX: usize = 4096;
/// Different instances that a process may have had: each stays in memory, because a start on
/// another thread may be looking at it.
const INSTANCES_MAX: usize = 65_536;

/// A place for a running application.
struct Place {
    /// The handle, while it runs; else 0.
    handle: AtomicU64,
    instance: AtomicPtr<Instance>,
}

static PLACES: [Place; RUNNING_MAX] =
    [const { Place { handle: AtomicU64::new(0), instance: AtomicPtr::new(std::ptr::null_mut()) } };
        RUNNING_MAX];

/// The next handle's upper part.
static GENERATION: AtomicU64 = AtomicU64::new(1);

fn place(handle: i64) -> &'static Place {
    &PLACES[handle as usize % RUNNING_MAX]
}

/// The running application with this handle.
#[inline]
pub(crate) fn find(handle: i64) -> Option<&'static Instance> {
    let place = place(handle);
    let instance = place.instance.load(Ordering::Acquire);
    if handle == 0 || place.handle.load(Ordering::Acquire) != handle.cast_unsigned() {
        return None;
    }
    // SAFETY: leaked. Where another took the place between the loads it is that one's: still one.
    unsafe { instance.as_ref() }
}

/// Starts an instance: its handle.
pub(crate) fn start(application: &'static Application, identity: Vec<u8>) -> Result<i64, Code> {
    let instance = gate::with(|known| {
        let same = |there: &&&Instance| {
            std::ptr::eq(there.application, application) && there.identity == identity
        };
        if let Some(there) = known.instances.iter().rev().find(same) {
            return Some(*there);
        }
        if known.instances.len() >= INSTANCES_MAX {
            return None;
        }
        let new: &'static Instance =
            Box::leak(Box::new(Instance { application, identity: identity.clone() }));
        known.instances.push(new);
        Some(new)
    });
    let instance = std::ptr::from_ref(instance.ok_or(codes::FULL)?).cast_mut();
    let generation = GENERATION.fetch_add(1, Ordering::Relaxed) % (1 << 50);
    for (at, place) in PLACES.iter().enumerate() {
        let handle = generation << 12 | at as u64;
        // Reserved first: the handle must not be found before its instance is there.
        if place.handle.compare_exchange(0, u64::MAX, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            place.instance.store(instance, Ordering::Release);
            place.handle.store(handle, Ordering::Release);
            return Ok(handle.cast_signed());
        }
    }
    Err(codes::FULL)
}

/// Stops an instance; whether it ran.
pub(crate) fn stop(handle: i64) -> bool {
    // A reserved place has the handle -1, which is never given out.
    handle > 0
        && place(handle)
            .handle
            .compare_exchange(handle.cast_unsigned(), 0, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
}

/// Stops all instances of an application that is destroyed.
pub(crate) fn stop_all(application: &'static Application) {
    for place in &PLACES {
        let handle = place.handle.load(Ordering::Acquire).cast_signed();
        if find(handle).is_some_and(|there| std::ptr::eq(there.application, application)) {
            stop(handle);
        }
    }
}
