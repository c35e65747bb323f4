//! A transaction class: declared once, begun often.

use crate::{Correlator, Guard, Measured, Started, draft};
use std::sync::atomic::{AtomicBool, Ordering};

/// A transaction class. Declare it with [`class!`](crate::class!).
#[derive(Debug)]
pub struct Class {
    name: &'static str,
    enabled: AtomicBool,
}

/// Declares a class: `static DECODE: Class = class!("decodePlots");`
#[macro_export]
macro_rules! class {
    ($name:expr) => {
        $crate::Class::new($name, false)
    };
    ($name:expr, process_cpu) => {
        $crate::Class::new($name, true)
    };
}

impl Class {
    #[doc(hidden)]
    pub const fn new(name: &'static str, _process_cpu: bool) -> Self {
        Self { name, enabled: AtomicBool::new(true) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Switches recording of the class on or off.
    pub fn set_enabled(&self, enabled: bool) {
        self.enabled.store(enabled, Ordering::Relaxed);
    }

    /// Whether it is recorded.
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Begins a transaction under the thread's open one, else as the root of a new chain.
    pub fn begin(&self) -> Guard {
        Guard::new(draft::begin(self.name, None))
    }

    /// Begins a transaction under the one that issued `parent`.
    pub fn begin_with(&self, parent: &Correlator) -> Guard {
        Guard::new(draft::begin(self.name, Some(parent)))
    }

    /// As [`Self::begin`], for a transaction that may be stopped on another thread and is not the
    /// thread's open one.
    pub fn start(&self) -> Started {
        Started::new(draft::child(self.name, None))
    }

    /// As [`Self::start`], under the one that issued `parent`.
    pub fn start_with(&self, parent: &Correlator) -> Started {
        Started::new(draft::child(self.name, Some(parent)))
    }

    /// A future as one transaction, from its first poll until it is ready or dropped.
    pub fn measure<F: Future>(&'static self, future: F) -> Measured<F> {
        Measured::new(self, future)
    }

    /// As [`Self::measure`]; ends FAILED when the future's result is `Err`.
    pub fn measure_result<T, E, F>(&'static self, future: F) -> Measured<F>
    where
        F: Future<Output = Result<T, E>>,
    {
        Measured::new(self, future)
    }
}
