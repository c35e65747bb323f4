//! The recorder that is not there: feature `off`. Same interface, no code.

use chronoscope_model::{ChainId, Correlator, Status, TransactionId};
use std::marker::PhantomData;
use std::path::PathBuf;

/// A transaction class; recorded nowhere.
#[derive(Debug)]
pub struct Class {
    name: &'static str,
}

/// An open transaction that is none.
#[derive(Debug)]
#[must_use = "a transaction ends where its guard is dropped"]
pub struct Guard(PhantomData<*const ()>);

/// A started transaction that is none.
#[derive(Debug)]
#[must_use = "a transaction that is not stopped ends ABORTED"]
pub struct Started(());

/// The future itself.
pub type Measured<F> = F;

/// Does nothing.
#[inline(always)]
pub fn init(_application: &str) {}

/// No transaction is open.
#[inline(always)]
pub fn current() -> Option<Correlator> {
    None
}

/// No ring exists.
#[inline(always)]
pub fn ring_path() -> Option<PathBuf> {
    None
}

/// Does nothing.
pub fn keep_ended(_count: usize) -> crate::Removed {
    crate::Removed::default()
}

/// Nothing is recorded.
#[inline(always)]
pub fn cpu_method() -> Option<crate::CpuMethod> {
    None
}

impl Class {
    /// Makes a class, for [`class!`](crate::class!).
    #[doc(hidden)]
    pub const fn new(name: &'static str, _process_cpu: bool) -> Self {
        Self { name }
    }

    /// A class whose name is known only while the program runs; takes no memory.
    pub fn named(_application: Option<&str>, _name: &str, _process_cpu: bool) -> &'static Self {
        static NOBODY: Class = Class::new("", false);
        &NOBODY
    }

    /// Name of the class.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Does nothing.
    #[inline(always)]
    pub fn set_enabled(&self, _enabled: bool) {}

    /// Always false: nothing is recorded.
    #[inline(always)]
    pub fn is_enabled(&self) -> bool {
        false
    }

    /// Does nothing.
    #[inline(always)]
    pub fn begin(&self) -> Guard {
        Guard(PhantomData)
    }

    /// Does nothing.
    #[inline(always)]
    pub fn begin_with(&self, _parent: &Correlator) -> Guard {
        Guard(PhantomData)
    }

    /// Does nothing.
    #[inline(always)]
    pub fn begin_with_all(&self, _parents: &[Correlator]) -> Guard {
        Guard(PhantomData)
    }

    /// Does nothing.
    #[inline(always)]
    pub fn start(&self) -> Started {
        Started(())
    }

    /// Does nothing.
    #[inline(always)]
    pub fn start_with(&self, _parent: &Correlator) -> Started {
        Started(())
    }

    /// Does nothing.
    #[inline(always)]
    pub fn start_with_all(&self, _parents: &[Correlator]) -> Started {
        Started(())
    }

    /// The future itself.
    #[inline(always)]
    pub fn measure<F: Future>(&'static self, future: F) -> F {
        future
    }

    /// The future itself.
    #[inline(always)]
    pub fn measure_result<T, E, F: Future<Output = Result<T, E>>>(&'static self, future: F) -> F {
        future
    }
}

macro_rules! nothing {
    ($kind:ident) => {
        impl $kind {
            /// Does nothing.
            #[inline(always)]
            pub fn property(&mut self, _key: &str, _value: &str) {}

            /// Does nothing.
            #[inline(always)]
            pub fn metric(&mut self, _key: &str, _value: f64) {}

            /// Does nothing.
            #[inline(always)]
            pub fn link(&mut self, _issuer: &Correlator) {}

            /// A correlator without a transaction: its receiver starts a chain of its own.
            #[inline(always)]
            pub fn correlator(&self) -> Correlator {
                Correlator::foreign(ChainId::NONE, TransactionId::NONE)
            }

            /// Does nothing.
            #[inline(always)]
            pub fn stop(self, _status: Status) {}
        }

        impl Drop for $kind {
            // Exists so that the same programs compile without lints.
            #[inline(always)]
            fn drop(&mut self) {}
        }
    };
}

nothing!(Guard);
nothing!(Started);
