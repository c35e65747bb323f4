//! State shared by all requests: the server, its last snapshot, the series of the last 48 hours.

use super::series::Series;
use crate::clock::now;
use crate::config::{Config, Listener};
use crate::engine::Server;
use crate::status::{ClientStatus, MemoryUse, Role, StatusSnapshot};
use bytes::Bytes;
use chronoscope_clock as clock;
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, timeout_at};

/// Largest age of a snapshot that a request is answered from, nanoseconds. It bounds how often
/// requests disturb the workers.
const FRESH_NS: u64 = 1_000_000_000;
/// Longest wait for the workers' lists of clients.
const WORKERS_WITHIN: Duration = Duration::from_millis(1500);
/// The fault that a worker which does not answer is.
const SILENT: &str = "worker_silent";

/// Takes a client of a WebSocket port: a stream that carries lines as TCP would, the port, the
/// client's address and ours. An error means that the client is refused.
pub type Adopt =
    Box<dyn Fn(UnixStream, &Listener, SocketAddr, SocketAddr) -> io::Result<WasCut> + Send + Sync>;

/// Hears that a client was cut because it reads too slowly: counts and logs it.
pub type WasCut = Box<dyn FnOnce() + Send>;

/// State shared by all requests.
pub(super) struct Site {
    pub(super) server: Arc<Server>,
    pub(super) adopt: Adopt,
    pub(super) web_dir: PathBuf,
    pub(super) series: Mutex<Series>,
    pub(super) requests: AtomicU64,
    /// No requests are served: the workers wait for another program.
    pub(super) paused: AtomicBool,
    last: AsyncMutex<Option<Arc<View>>>,
}

/// Figures of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkerFigures {
    /// Its connections, uplinks included.
    pub(super) connections: usize,
    /// Blocks of packets that wait for it.
    pub(super) mail_waiting: u64,
}

/// A snapshot and the responses made of it so far.
pub(super) struct View {
    pub(super) config: Arc<Config>,
    pub(super) status: StatusSnapshot,
    /// Each worker's figures, `None` of one that did not answer in time.
    pub(super) workers: Vec<Option<WorkerFigures>>,
    /// Memory of the workers' tables, of all workers together.
    pub(super) memory: Vec<MemoryUse>,
    /// Clients that may be shown, in the order of their connections.
    pub(super) clients: Vec<ClientStatus>,
    pub(super) uplinks: Vec<ClientStatus>,
    pub(super) peers: Vec<ClientStatus>,
    /// `status.json`, and the same compressed.
    pub(super) json: OnceLock<Bytes>,
    pub(super) gzip: OnceLock<Bytes>,
}

impl Site {
    pub(super) fn new(server: Arc<Server>, adopt: Adopt, web_dir: PathBuf, series: Series) -> Self {
        Self {
            server,
            adopt,
            web_dir,
            series: Mutex::new(series),
            requests: AtomicU64::new(0),
            paused: AtomicBool::new(false),
            last: AsyncMutex::new(None),
        }
    }

    /// A snapshot of now, or of at most a second ago. Requests that come together wait for one.
    pub(super) async fn view(&self) -> Arc<View> {
        let mut last = self.last.lock().await;
        let age = |view: &View| clock::monotonic_ns() - view.status.now.monotonic_ns;
        if let Some(view) = last.as_ref().filter(|view| age(view) < FRESH_NS) {
            return Arc::clone(view);
        }
        let view = Arc::new(self.fresh().await);
        *last = Some(Arc::clone(&view));
        view
    }

    async fn fresh(&self) -> View {
        let until = Instant::now() + WORKERS_WITHIN;
        let mut connections = Vec::new();
        let mut workers = Vec::new();
        let mut memory: Vec<MemoryUse> = Vec::new();
        for answer in self.server.worker_statuses() {
            let worker = timeout_at(until, answer).await.ok().and_then(Result::ok);
            workers.push(worker.as_ref().map(|worker| WorkerFigures {
                connections: worker.connections.len(),
                mail_waiting: worker.mail_waiting,
            }));
            let Some(worker) = worker else { continue };
            connections.extend(worker.connections);
            for part in worker.memory {
                match memory.iter_mut().find(|known| known.name == part.name) {
                    Some(known) => known.add(&part),
                    None => memory.push(part),
                }
            }
        }
        if workers.contains(&None) {
            let text = "a worker did not report its clients within 1.5 s: it hangs, or the \
                        machine is overloaded; its clients are not listed";
            self.server.fault(SILENT, text, now());
        } else {
            self.server.fault_over(SILENT);
        }
        connections.sort_by_key(|row| row.conn);
        let mut of = |is: fn(Role) -> bool| -> Vec<ClientStatus> {
            connections.extract_if(.., |row| is(row.role)).filter(|row| !row.hidden).collect()
        };
        View {
            uplinks: of(|role| matches!(role, Role::Uplink(_))),
            peers: of(|role| role == Role::Peer),
            clients: of(|role| matches!(role, Role::Client(_))),
            workers,
            memory,
            config: self.server.config(),
            status: self.server.status(now()),
            json: OnceLock::new(),
            gzip: OnceLock::new(),
        }
    }

    /// Samples the counters; they need no worker.
    pub(super) fn sample(&self) {
        let status = self.server.status(now());
        self.with_series(|series| series.sample(&status));
    }

    pub(super) fn with_series<T>(&self, what: impl FnOnce(&mut Series) -> T) -> T {
        // A series is whole at every instant at which a thread could panic.
        what(&mut self.series.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }
}
