//! A process that runs only for a share of the time, as on a slower or busier computer.
//!
//! It is stopped and continued by signals, some fifty times a second. No rights are needed, and its
//! speed while it runs is unchanged.

use chronoscope_clock::sleep;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(20);

/// Holds a process back until this is dropped.
#[derive(Debug)]
pub(super) struct Throttle {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Throttle {
    /// `share` in (0, 1]; 1 leaves the process alone.
    pub(super) fn start(process: u32, share: f64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        if share >= 1.0 {
            return Self { stop, thread: None };
        }
        let process = Pid::from_raw(process.cast_signed());
        let (runs, asked) = (PERIOD.mul_f64(share.max(0.01)), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            while !asked.load(Ordering::Relaxed) {
                // It may have ended: then there is nothing to hold back.
                let _ = kill(process, Signal::SIGSTOP);
                sleep(PERIOD - runs);
                let _ = kill(process, Signal::SIGCONT);
                sleep(runs);
            }
            let _ = kill(process, Signal::SIGCONT);
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic in it was reported by its thread.
            let _ = thread.join();
        }
    }
}
