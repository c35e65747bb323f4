//! Classes that this program has declared, numbered in the order of their first use.
//!
//! Numbers stay the same in a forked child: numbers cached in `Class` must stay right.
#![allow(unsafe_code)] // entries are leaked and shared by pointer

use crate::layout::{CLASS_MAX, SWITCH_ENABLED, SWITCH_KNOWN, SWITCH_PROCESS_CPU};
use chronoscope_model::ClassId;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

static ENTRIES: [AtomicPtr<RegisteredClass>; CLASS_MAX] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; CLASS_MAX];
static COUNT: AtomicU32 = AtomicU32::new(1); // number 0 is nobody's

/// A class that has a number.
#[derive(Debug)]
pub(crate) struct RegisteredClass {
    application: String,
    name: String,
    id: ClassId,
    switch: AtomicU8,
}

impl RegisteredClass {
    pub(crate) fn application(&self) -> &str {
        &self.application
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn id(&self) -> ClassId {
        self.id
    }

    /// The switch byte as the program itself last set it.
    pub(crate) fn switch(&self) -> u8 {
        self.switch.load(Ordering::Relaxed)
    }

    /// Remembers a switch, for a forked child.
    pub(crate) fn set_switch(&self, switch: u8) {
        self.switch.store(switch, Ordering::Relaxed);
    }
}

/// All classes with their numbers.
pub(crate) fn all() -> impl Iterator<Item = (u32, &'static RegisteredClass)> {
    (1..COUNT.load(Ordering::Acquire)).filter_map(|index| Some((index, get(index)?)))
}

/// The class with this number.
pub(crate) fn get(index: u32) -> Option<&'static RegisteredClass> {
    let entry = ENTRIES.get(index as usize)?.load(Ordering::Acquire);
    // SAFETY: entries are leaked: never moved, never freed.
    unsafe { entry.as_ref() }
}

/// Gives a class its number, or finds the one it has; whether it is new. `None` when all numbers
/// are taken. To be called under the process's lock.
pub(crate) fn number(application: &str, name: &str, process_cpu: bool) -> Option<(u32, bool)> {
    let id = ClassId::of(application, name);
    if let Some((index, _)) = all().find(|(_, entry)| entry.id == id) {
        return Some((index, false));
    }
    let index = COUNT.load(Ordering::Relaxed);
    let slot = ENTRIES.get(index as usize)?;
    let wish = if process_cpu { SWITCH_PROCESS_CPU } else { 0 };
    let entry = RegisteredClass {
        application: application.to_owned(),
        name: name.to_owned(),
        id,
        switch: AtomicU8::new(SWITCH_KNOWN | SWITCH_ENABLED | wish),
    };
    slot.store(Box::into_raw(Box::new(entry)), Ordering::Release);
    COUNT.store(index + 1, Ordering::Release);
    Some((index, true))
}
