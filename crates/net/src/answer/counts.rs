//! Counts of a server: served and refused requests.

use super::options::Options;
use chronoscope_clock as clock;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Counts of requests since the server's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Replies over UDP.
    pub datagrams: u64,
    /// Datagrams that were no requests, or whose reply the system did not take.
    pub refused_datagrams: u64,
    /// Replies over TCP.
    pub frames: u64,
    /// Bulk transfers and series of round trips that were done for others.
    pub asks: u64,
    /// Requests that were refused: without the token, beyond the limits, too many at a time.
    pub refused_asks: u64,
    /// Connections that were let in.
    pub connections: u64,
    /// Connections too many: all in all, or of one address.
    pub turned_away: u64,
    /// Connections that were closed because of invalid frames.
    pub refused_frames: u64,
    /// Connections that were closed because their peer sent or read nothing for too long.
    pub cut: u64,
}

/// State that the threads of a server share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) options: Options,
    pub(super) stop: AtomicBool,
    pub(super) datagrams: AtomicU64,
    pub(super) refused_datagrams: AtomicU64,
    pub(super) frames: AtomicU64,
    pub(super) asks: AtomicU64,
    pub(super) refused_asks: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) turned_away: AtomicU64,
    pub(super) refused_frames: AtomicU64,
    pub(super) cut: AtomicU64,
    /// Time of the last request, on the monotonic clock.
    asked_ns: AtomicU64,
}

/// Adds one to a counter.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl ServerState {
    pub(super) fn new(options: Options) -> Self {
        Self {
            options,
            stop: AtomicBool::new(false),
            datagrams: AtomicU64::new(0),
            refused_datagrams: AtomicU64::new(0),
            frames: AtomicU64::new(0),
            asks: AtomicU64::new(0),
            refused_asks: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            turned_away: AtomicU64::new(0),
            refused_frames: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            asked_ns: AtomicU64::new(clock::monotonic_ns()),
        }
    }

    /// A request has come: what has to be done for each is done.
    pub(super) fn asked(&self) {
        self.touch();
        let work_ns = u64::try_from(self.options.work.as_nanos()).unwrap_or(u64::MAX);
        if work_ns > 0 {
            let until_ns = clock::thread_cpu_ns().saturating_add(work_ns);
            while clock::thread_cpu_ns() < until_ns && !self.is_stopped() {
                std::hint::spin_loop();
            }
        }
    }

    /// Notes that a client needs the server now.
    pub(super) fn touch(&self) {
        self.asked_ns.store(clock::monotonic_ns(), Ordering::Relaxed);
    }

    /// Time since the last request.
    pub(super) fn idle(&self) -> Duration {
        let asked_ns = self.asked_ns.load(Ordering::Relaxed);
        Duration::from_nanos(clock::monotonic_ns().saturating_sub(asked_ns))
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            datagrams: read(&self.datagrams),
            refused_datagrams: read(&self.refused_datagrams),
            frames: read(&self.frames),
            asks: read(&self.asks),
            refused_asks: read(&self.refused_asks),
            connections: read(&self.connections),
            turned_away: read(&self.turned_away),
            refused_frames: read(&self.refused_frames),
            cut: read(&self.cut),
        }
    }
}
