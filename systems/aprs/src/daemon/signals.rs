//! Signals by which operators control the running server.

use nix::sys::signal::{SigSet, SigmaskHow, Signal as OsSignal, pthread_sigmask};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::{flag, low_level::pipe};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Request that a signal stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// HUP: the log was moved away.
    ReopenLog,
    /// USR1: the configuration has changed.
    Reload,
    /// USR2: the program has changed.
    Upgrade,
    /// TERM, INT, QUIT: end.
    Shutdown,
}

const SIGNALS: [(libc::c_int, Signal); 6] = [
    (SIGHUP, Signal::ReopenLog),
    (SIGUSR1, Signal::Reload),
    (SIGUSR2, Signal::Upgrade),
    (SIGTERM, Signal::Shutdown),
    (SIGINT, Signal::Shutdown),
    (SIGQUIT, Signal::Shutdown),
];

/// Signals that have come.
#[derive(Debug)]
pub struct Signals {
    /// Has octets to read when there is something.
    woken: UnixStream,
    come: Vec<(Arc<AtomicBool>, Signal)>,
}

impl Signals {
    /// Handles them from now on, those included that have come since [`Signals::hold`].
    ///
    /// # Errors
    /// When a handler or the pipe to it cannot be had.
    pub fn register() -> io::Result<Self> {
        let (woken, waker) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let mut come = Vec::with_capacity(SIGNALS.len());
        for (number, signal) in SIGNALS {
            let flag = Arc::new(AtomicBool::new(false));
            // The flag first: handlers run in the order of their registration.
            flag::register(number, Arc::clone(&flag))?;
            pipe::register(number, waker.try_clone()?)?;
            come.push((flag, signal));
        }
        pthread_sigmask(SigmaskHow::SIG_UNBLOCK, Some(&all()), None)?;
        Ok(Self { woken, come })
    }

    /// Blocks the signals of this process until [`Signals::register`], also across an `exec`: none
    /// of them may end a program that is about to be executed. To be called by the thread that
    /// executes it.
    ///
    /// # Errors
    /// Error of the system.
    pub fn hold() -> io::Result<()> {
        Ok(pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&all()), None)?)
    }

    /// Returns the signals received since the last call, each once; does not wait.
    pub fn take(&mut self) -> Vec<Signal> {
        let mut octets = [0; 64];
        while matches!(self.woken.read(&mut octets), Ok(count) if count > 0) {}
        let come = self.come.iter().filter(|(flag, _)| flag.swap(false, Ordering::AcqRel));
        let mut signals: Vec<Signal> = come.map(|(_, signal)| *signal).collect();
        signals.sort();
        signals.dedup();
        signals
    }

    /// Waits until signals come, at most so long; which they are. None when the time is over.
    ///
    /// # Errors
    /// When waiting fails.
    pub fn wait(&mut self, at_most: Option<Duration>) -> io::Result<Vec<Signal>> {
        let come = self.take();
        if !come.is_empty() {
            return Ok(come);
        }
        self.woken.set_nonblocking(false)?;
        self.woken.set_read_timeout(at_most.map(|time| time.max(Duration::from_millis(1))))?;
        let outcome = self.woken.read(&mut [0]);
        self.woken.set_nonblocking(true)?;
        match outcome.map_err(|error| error.kind()) {
            Ok(_) | Err(io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => Ok(self.take()),
            Err(kind) => Err(kind.into()),
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

fn all() -> SigSet {
    SIGNALS.iter().filter_map(|(number, _)| OsSignal::try_from(*number).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Signal, Signals};
    use nix::sys::signal::{Signal as OsSignal, raise};
    use std::time::Duration;

    #[test]
    fn signals_are_taken_once_and_kept_while_held() {
        let mut signals = Signals::register().unwrap();
        assert_eq!(signals.wait(Some(Duration::from_millis(1))).unwrap(), []);
        raise(OsSignal::SIGUSR1).unwrap();
        raise(OsSignal::SIGHUP).unwrap();
        raise(OsSignal::SIGUSR1).unwrap();
        assert_eq!(signals.wait(None).unwrap(), [Signal::ReopenLog, Signal::Reload]);
        assert_eq!(signals.take(), []);
        Signals::hold().unwrap();
        raise(OsSignal::SIGUSR2).unwrap(); // to this thread, which holds it
        assert_eq!(signals.take(), []);
        let mut later = Signals::register().unwrap();
        assert_eq!(later.wait(Some(Duration::from_secs(10))).unwrap(), [Signal::Upgrade]);
    }
}
