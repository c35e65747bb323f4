//! Channels between the threads: commands to workers, messages to the uplinks' thread, the log.

use super::arrival::Arrival;
use super::plan::Plan;
use crate::clock::now;
use crate::config::{Config, Protocol, Uplink};
use crate::engine::{ConnId, LogLevel, Server, WorkerState};
use mio::Waker;
use std::fmt;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

/// Receiver of log lines, from any thread.
pub type Log = Arc<dyn Fn(LogLevel, fmt::Arguments<'_>) + Send + Sync>;

/// Command to a worker's thread.
pub(crate) enum Command {
    /// Serve this connection.
    Arrived(Box<Arrival>),
    /// End this connection.
    Drop(ConnId, String),
    /// Serve these ports.
    Configure(Arc<Plan>),
    /// Take no input, and do the steps asked for.
    Pause { paused: Sender<()>, steps: Receiver<Step> },
    /// The thread ends.
    Stop,
}

/// Step of a paused worker.
pub(crate) enum Step {
    /// Say what the next program needs.
    Save(Sender<Saved>),
    /// Go on as if nothing had been.
    Resume,
}

/// State of a worker for the next program.
#[derive(Debug)]
pub(crate) struct Saved {
    /// Connections, their descriptors and protocols.
    pub(crate) clients: Vec<(ConnId, RawFd, Protocol)>,
    /// The engine's part.
    pub(crate) state: WorkerState,
}

/// Message to the thread that connects to uplinks.
#[derive(Debug)]
pub(crate) enum UplinkMessage {
    /// The configuration in force.
    Configure(Arc<Config>),
    /// A try ended.
    Tried { uplink: Arc<Uplink>, result: Result<ConnId, String> },
    /// A connection ended.
    Gone { uplink: Arc<Uplink>, conn: ConnId, reason: String },
    /// Connect nothing more.
    Stop,
}

/// A worker's thread, as others see it.
pub(crate) struct WorkerHandle {
    inbox: Mutex<Vec<Command>>,
    waker: Arc<Waker>,
    /// Connections that it has.
    pub(crate) connections: AtomicUsize,
}

impl WorkerHandle {
    pub(crate) fn new(waker: Arc<Waker>) -> Self {
        Self { inbox: Mutex::default(), waker, connections: AtomicUsize::new(0) }
    }

    pub(crate) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    pub(crate) fn take(&self) -> Vec<Command> {
        std::mem::take(&mut self.inbox.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn tell(&self, command: Command) {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push(command);
        self.wake();
    }

    fn wake(&self) {
        // It fails where the poll is gone, and with it the worker.
        drop(self.waker.wake());
    }
}

/// All threads of this module, as each of them reaches the others.
pub(crate) struct Threads {
    pub(crate) server: Arc<Server>,
    pub(crate) log: Log,
    pub(crate) workers: Vec<WorkerHandle>,
    uplinks: Sender<UplinkMessage>,
    lost_datagrams: AtomicU64,
    accepting: AtomicBool,
}

impl Threads {
    pub(crate) fn new(
        server: Arc<Server>,
        log: Log,
        workers: Vec<WorkerHandle>,
        uplinks: Sender<UplinkMessage>,
    ) -> Self {
        let (lost_datagrams, accepting) = (AtomicU64::new(0), AtomicBool::new(true));
        Self { server, log, workers, uplinks, lost_datagrams, accepting }
    }

    /// Gives a connection to a worker.
    pub(crate) fn give(&self, worker: usize, arrival: Arrival) {
        self.workers[worker].tell(Command::Arrived(Box::new(arrival)));
    }

    /// The worker with the fewest connections.
    pub(crate) fn least_loaded(&self) -> usize {
        let load = |index: &usize| self.workers[*index].connections.load(Ordering::Relaxed);
        (0..self.workers.len()).min_by_key(load).unwrap_or(0)
    }

    /// Ends a connection, wherever it is.
    pub(crate) fn drop_connection(&self, conn: ConnId, reason: &str) {
        for worker in &self.workers {
            worker.tell(Command::Drop(conn, reason.to_owned()));
        }
    }

    pub(crate) fn tell_uplinks(&self, message: UplinkMessage) {
        // The thread is gone only when the server ends.
        drop(self.uplinks.send(message));
    }

    pub(crate) fn uplink_gone(&self, uplink: Arc<Uplink>, conn: ConnId, reason: String) {
        self.tell_uplinks(UplinkMessage::Gone { uplink, conn, reason });
    }

    /// A datagram was lost here.
    pub(crate) fn count_lost_datagram(&self) {
        let lost = self.lost_datagrams.fetch_add(1, Ordering::Relaxed) + 1;
        // Each is counted; a line is logged at the 1st, 2nd, 4th, 8th…
        if lost.is_power_of_two() {
            let text = format!("{lost} datagrams could not be sent");
            self.server.fault("datagrams_lost", &text, now());
        }
    }

    /// Notes whether connections can be accepted now. Whether that is new.
    pub(crate) fn accepting(&self, can: bool) -> bool {
        if self.accepting.load(Ordering::Relaxed) == can {
            return false;
        }
        self.accepting.store(can, Ordering::Relaxed);
        if can {
            self.server.fault_over("accept_failed");
        }
        true
    }
}
