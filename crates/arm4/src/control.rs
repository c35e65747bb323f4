//! Switches for recording: from outside by the environment, from inside by the program.
//!
//! A class as a whole is switched by the recorder's own byte, which `chronoscope live --disable`
//! changes too. The parts of a transaction (metrics, blocks, users …) are switched here, for an
//! application, a class or one transaction: a part is off if any of the three switches it off.

use crate::env;
use std::sync::atomic::{AtomicU32, Ordering};

/// Parts of an application or a class that are switched off.
#[derive(Debug)]
pub(crate) struct Controls(AtomicU32);

impl Controls {
    /// Switches of an application from the environment.
    pub(crate) fn of_application(name: &str) -> Self {
        Self(AtomicU32::new(env::off(name, None)))
    }

    /// Switches of a class from the environment.
    pub(crate) fn of_class(application: &str, name: &str) -> Self {
        Self(AtomicU32::new(env::off(application, Some(name))))
    }

    /// The bits that are off.
    #[inline]
    pub(crate) fn off(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Switches one part on or off.
    pub(crate) fn set(&self, bit: u32, on: bool) {
        if on {
            self.0.fetch_and(!bit, Ordering::Relaxed);
        } else {
            self.0.fetch_or(bit, Ordering::Relaxed);
        }
    }
}
