//! Ctrl-C and SIGTERM: long commands end cleanly and save their results.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Set once the user or the system asked the program to end.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// Set by SIGHUP from now on, which ends the program no longer.
///
/// # Errors
/// When the signal cannot be handled.
pub(crate) fn hang_up() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGHUP, flag.clone())?;
    Ok(flag)
}

impl Interrupt {
    /// Listens for SIGINT and SIGTERM from now on; a second one ends the program at once.
    ///
    /// # Errors
    /// When the signals cannot be handled.
    pub(crate) fn install() -> io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone())?;
            signal_hook::flag::register(signal, flag.clone())?;
        }
        Ok(Self(flag))
    }

    /// As [`Self::install`], for a command that must restore the terminal however it ends: a second
    /// signal does not end the program at once, and SIGHUP and SIGQUIT end it like the others.
    ///
    /// # Errors
    /// When the signals cannot be handled.
    pub(crate) fn install_for_terminal() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register(signal, flag.clone())?;
        }
        Ok(Self(flag))
    }

    /// Whether an interrupt was requested.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag that signals set.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// The flag itself, for another thread.
    pub(crate) fn shared(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Waits for `time`, or less when it is asked meanwhile.
    pub(crate) fn sleep(&self, time: Duration) {
        let step = Duration::from_millis(50);
        let mut left = time;
        while !left.is_zero() && !self.is_set() {
            chronoscope_clock::sleep(left.min(step));
            left = left.saturating_sub(step);
        }
    }
}
