//! A transaction class: declared once, begun often.

use crate::classes;
use crate::process::{self, Counter, Process};
use chronoscope_model::{ClassId, PathId};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A transaction class. Declare it with [`class!`](crate::class!).
#[derive(Debug)]
pub struct Class {
    /// Number of the class; 0 until first used.
    index: AtomicU32,
    process_cpu: bool,
    id: AtomicU64,
    /// The path of a root of this class.
    root_path: AtomicU64,
    name: &'static str,
    application: Option<&'static str>,
}

impl Class {
    /// Makes a class, for [`class!`](crate::class!).
    #[doc(hidden)]
    pub const fn new(name: &'static str, process_cpu: bool) -> Self {
        Self {
            index: AtomicU32::new(0),
            process_cpu,
            id: AtomicU64::new(0),
            root_path: AtomicU64::new(0),
            name,
            application: None,
        }
    }

    /// A class whose name is known only while the program runs, of the program's own application
    /// or of another. Keep it: every call takes memory for good.
    pub fn named(application: Option<&str>, name: &str, process_cpu: bool) -> &'static Self {
        let kept = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let class = Self::new(kept(name), process_cpu);
        Box::leak(Box::new(Self { application: application.map(kept), ..class }))
    }

    /// Name of the class.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Switches recording of the class on or off, as `chronoscope live` does from outside.
    /// Transactions that are open already are recorded all the same.
    pub fn set_enabled(&self, enabled: bool) {
        use crate::layout::SWITCH_ENABLED;
        let Some(process) = Process::current() else { return };
        let Some(index) = self.number(process) else { return };
        let switch = process.switch(index);
        let value = if enabled {
            switch.fetch_or(SWITCH_ENABLED, Ordering::Relaxed) | SWITCH_ENABLED
        } else {
            switch.fetch_and(!SWITCH_ENABLED, Ordering::Relaxed) & !SWITCH_ENABLED
        };
        if let Some(entry) = classes::get(index) {
            entry.set_switch(value);
        }
    }

    /// Whether the class is recorded.
    pub fn is_enabled(&self) -> bool {
        Process::current()
            .and_then(|process| switch_of(self, process))
            .is_some_and(|switch| switch & crate::layout::SWITCH_ENABLED != 0)
    }

    /// Number of the class; 0 before its first use.
    #[inline(always)]
    pub(crate) fn index(&self) -> u32 {
        self.index.load(Ordering::Acquire)
    }

    /// Id of the class; none before its first use.
    #[inline(always)]
    pub(crate) fn id(&self) -> ClassId {
        ClassId(self.id.load(Ordering::Relaxed))
    }

    /// The path of a root of this class; none before its first use.
    #[inline(always)]
    pub(crate) fn root_path(&self) -> PathId {
        PathId(self.root_path.load(Ordering::Relaxed))
    }

    /// Number of the class, assigned now if need be; `None`, counted, when all are taken.
    pub(crate) fn number(&self, process: &'static Process) -> Option<u32> {
        let index = self.index();
        if index != 0 {
            return Some(index);
        }
        let application = self.application.unwrap_or_else(process::application);
        let mut inner = process.lock();
        let Some((index, is_new)) = classes::number(application, self.name, self.process_cpu)
        else {
            drop(inner);
            process.count(Counter::ClassesFull);
            return None;
        };
        let entry = classes::get(index)?;
        if is_new {
            process.publish_class(&mut inner, index, entry);
        }
        drop(inner);
        self.id.store(entry.id().0, Ordering::Relaxed);
        self.root_path.store(PathId::root(entry.id()).0, Ordering::Relaxed);
        self.index.store(index, Ordering::Release);
        Some(index)
    }
}

/// Whether a class is recorded, and how; gives it a number first if need be.
pub(crate) fn switch_of(class: &Class, process: &'static Process) -> Option<u8> {
    let index = class.number(process)?;
    Some(process.switch(index).load(Ordering::Relaxed))
}
