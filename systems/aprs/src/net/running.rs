//! The threads of the server, and how others reach them.

use super::plan::{HttpPort, HttpUse, Inherited, Plan, Port, PortError, protocol_name};
use super::sockets::{Arrival, Origin};
use super::{socket, uplinks, worker};
use crate::config::{Config, Protocol, Uplink};
use crate::engine::{ConnId, LogLevel, Server, WorkerState};
use crate::http;
use mio::{Poll, Waker};
use socket2::Socket;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a worker may take to stop, and to say what it has.
const PAUSED_WITHIN: Duration = Duration::from_secs(4);

/// Where lines for the log go, from any thread.
pub type Log = Arc<dyn Fn(LogLevel, fmt::Arguments<'_>) + Send + Sync>;

/// What a worker's thread is asked to do.
pub(crate) enum Command {
    /// Serve this connection.
    Arrived(Box<Arrival>),
    /// End this connection.
    Drop(ConnId, String),
    /// Serve these ports.
    Configure(Arc<Plan>),
    /// Take no input, and do the steps asked for.
    Pause { paused: Sender<()>, steps: Receiver<Step> },
    /// End.
    Stop,
}

/// What a paused worker does.
pub(crate) enum Step {
    /// Say what the next program needs.
    Save(Sender<Saved>),
    /// Go on as if nothing had been.
    Resume,
}

/// What the next program needs of a worker.
#[derive(Debug)]
pub(crate) struct Saved {
    /// Connections, their descriptors and protocols.
    pub(crate) clients: Vec<(ConnId, RawFd, Protocol)>,
    /// The engine's part.
    pub(crate) state: WorkerState,
}

/// A worker's thread, as others see it.
pub(crate) struct WorkerHandle {
    inbox: Mutex<Vec<Command>>,
    waker: Arc<Waker>,
    /// Connections that it has.
    pub(crate) connections: AtomicUsize,
}

impl WorkerHandle {
    pub(crate) fn take(&self) -> Vec<Command> {
        std::mem::take(&mut self.inbox.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, command: Command) {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push(command);
        self.wake();
    }

    fn wake(&self) {
        // It fails where the poll is gone, and with it the worker.
        drop(self.waker.wake());
    }
}

/// What all threads of this room share.
pub(crate) struct Shared {
    pub(crate) server: Arc<Server>,
    pub(crate) log: Log,
    pub(crate) workers: Vec<WorkerHandle>,
    uplinks: Sender<uplinks::Message>,
    lost_datagrams: AtomicU64,
    accepting: AtomicBool,
}

impl Shared {
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

    pub(crate) fn tell_uplinks(&self, message: uplinks::Message) {
        // The thread is gone only when the server ends.
        drop(self.uplinks.send(message));
    }

    pub(crate) fn uplink_gone(&self, uplink: Arc<Uplink>, conn: ConnId, reason: String) {
        self.tell_uplinks(uplinks::Message::Gone { uplink, conn, reason });
    }

    /// A datagram was lost here.
    pub(crate) fn count_lost_datagram(&self) {
        let lost = self.lost_datagrams.fetch_add(1, Ordering::Relaxed) + 1;
        // Each is counted; it is said at the 1st, 2nd, 4th, 8th…
        if lost.is_power_of_two() {
            let text = format!("{lost} datagrams could not be sent");
            self.server.fault("datagrams_lost", &text, worker::now());
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

/// Ports that are bound and served by nobody yet: so that privileges can be given up in between.
#[derive(Clone, Debug)]
pub struct Bound {
    plan: Arc<Plan>,
}

impl Bound {
    /// Binds the ports of a configuration.
    ///
    /// # Errors
    /// All ports that cannot be served, and why.
    pub fn new(config: Arc<Config>) -> Result<Self, Vec<PortError>> {
        Self::with_inherited(config, Vec::new())
    }

    /// The same; those of `inherited` that the configuration has are taken as they are.
    pub(crate) fn with_inherited(
        config: Arc<Config>,
        mut inherited: Vec<Inherited>,
    ) -> Result<Self, Vec<PortError>> {
        let (plan, errors) = Plan::new(config, None, &mut inherited);
        if errors.is_empty() { Ok(Self { plan: Arc::new(plan) }) } else { Err(errors) }
    }

    /// Every port: its name, its protocol (`tcp`, `udp`, `sctp`, `websocket`, `peers`, `http`),
    /// and where it really is. Ports of HTTP have their directive's name.
    pub fn addresses(&self) -> Vec<(String, &'static str, SocketAddr)> {
        let bound = self.plan.bound();
        bound.map(|(name, protocol, _, port)| (name.to_owned(), protocol, port.address)).collect()
    }
}

/// The running threads.
pub struct Running {
    handle: Handle,
    threads: Vec<JoinHandle<()>>,
}

/// What a reload did to the ports.
#[derive(Debug)]
pub struct Reloaded {
    /// Ports that cannot be served.
    pub errors: Vec<PortError>,
    /// The HTTP side has to be started anew: [`Running::http_ports`] are others.
    pub http_changed: bool,
}

/// Reaches the running threads, from any thread.
#[derive(Clone)]
pub struct Handle {
    pub(super) shared: Arc<Shared>,
    pub(super) plan: Arc<Mutex<Arc<Plan>>>,
}

/// What the threads of a program begin with that takes the place of an earlier one: for each
/// worker its connections, and its engine's part.
pub(crate) type Restored = Vec<(Vec<(ConnId, Socket, Protocol)>, WorkerState)>;

impl Running {
    /// Starts the threads: `server` has the configuration that `bound` was made for.
    ///
    /// # Errors
    /// When the system has no more threads or descriptors.
    pub fn start(server: Arc<Server>, bound: Bound, log: Log) -> io::Result<Self> {
        Self::with_restored(server, bound, log, Vec::new())
    }

    pub(crate) fn with_restored(
        server: Arc<Server>,
        bound: Bound,
        log: Log,
        restored: Restored,
    ) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let mut polls = Vec::new();
        let mut workers = Vec::new();
        for _ in 0..server.workers() {
            let poll = Poll::new()?;
            let waker = Arc::new(Waker::new(poll.registry(), worker::WAKE)?);
            workers.push(WorkerHandle {
                inbox: Mutex::default(),
                waker,
                connections: AtomicUsize::new(0),
            });
            polls.push(poll);
        }
        let shared = Arc::new(Shared {
            server,
            log,
            workers,
            uplinks: sender.clone(),
            lost_datagrams: AtomicU64::new(0),
            accepting: AtomicBool::new(true),
        });
        let mut threads = Vec::new();
        let mut restored = restored.into_iter();
        for (index, poll) in polls.into_iter().enumerate() {
            let waker = Arc::clone(&shared.workers[index].waker);
            // It fails where the poll is gone, and with it the worker.
            let wake = Box::new(move || drop(waker.wake()));
            let engine = shared.server.worker(index, wake);
            let plan = Arc::clone(&bound.plan);
            let mut worker = worker::Worker::new(Arc::clone(&shared), index, poll, engine, plan)?;
            if let Some((clients, state)) = restored.next() {
                worker.restore(clients, state);
            }
            let name = format!("worker-{index}");
            threads.push(std::thread::Builder::new().name(name).spawn(move || worker.run())?);
        }
        let config = Arc::clone(&bound.plan.config);
        let there = Arc::clone(&shared);
        let name = "uplinks".to_owned();
        threads.push(
            std::thread::Builder::new()
                .name(name)
                .spawn(move || uplinks::run(&there, &sender, &receiver))?,
        );
        shared.tell_uplinks(uplinks::Message::Configure(config));
        let handle = Handle { shared, plan: Arc::new(Mutex::new(bound.plan)) };
        Ok(Self { handle, threads })
    }

    /// Reaches the threads.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Puts the server's new configuration in force: new ports are opened, those that are gone
    /// closed, and those that stay keep their clients. Ports that cannot be opened are left out and
    /// returned. The number of workers stays.
    pub fn reload(&self, config: Arc<Config>) -> Reloaded {
        let shared = &self.handle.shared;
        let mut current = self.handle.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let (plan, errors) = Plan::new(Arc::clone(&config), Some(&current), &mut Vec::new());
        let uses = |plan: &Plan| -> Vec<_> {
            let ports = plan.http_side();
            ports.into_iter().map(|(for_what, port)| (for_what, port.socket.as_raw_fd())).collect()
        };
        let http_changed = uses(&plan) != uses(&current);
        let plan = Arc::new(plan);
        *current = Arc::clone(&plan);
        for worker in &shared.workers {
            worker.tell(Command::Configure(Arc::clone(&plan)));
        }
        shared.tell_uplinks(uplinks::Message::Configure(config));
        Reloaded { errors, http_changed }
    }

    /// The sockets that the HTTP side serves.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn http_ports(&self) -> io::Result<http::Ports> {
        let mut ports = http::Ports::default();
        for (for_what, port) in self.handle.plan().http_side() {
            let listener = TcpListener::from(port.socket.try_clone()?);
            match for_what {
                HttpUse::Http(HttpPort::Status) => ports.status.push(listener),
                HttpUse::Http(HttpPort::Upload) => ports.upload.push(listener),
                HttpUse::WebSocket(index) => ports.websocket.push((index, listener)),
            }
        }
        Ok(ports)
    }

    /// Ends all threads, and with them all connections.
    pub fn stop(self) {
        for worker in &self.handle.shared.workers {
            worker.tell(Command::Stop);
        }
        self.handle.shared.tell_uplinks(uplinks::Message::Stop);
        for thread in self.threads {
            // A worker that panicked has said so on standard error.
            drop(thread.join());
        }
    }
}

impl Handle {
    /// The server whose threads these are.
    pub fn server(&self) -> &Arc<Server> {
        &self.shared.server
    }

    fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where the listener with this index really is.
    pub fn listening(&self, listener: usize) -> Option<SocketAddr> {
        Some(self.plan().listeners.get(listener)?.as_ref()?.address)
    }

    /// Serves a client whose bytes come through a pair of sockets: one of a WebSocket port.
    ///
    /// # Errors
    /// When the port's access list refuses it, or there is no such port.
    pub fn adopt(
        &self,
        stream: UnixStream,
        listener: usize,
        remote: SocketAddr,
        local: SocketAddr,
    ) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let plan = self.plan();
        let (remote, local) = (socket::canonical(remote), socket::canonical(local));
        let listener_there = plan.config.listeners.get(listener);
        let listener_there = listener_there.ok_or(io::ErrorKind::NotFound)?;
        if listener_there.acl.as_ref().is_some_and(|acl| !acl.allows(remote.ip())) {
            self.shared.server.refused(listener);
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not in the access list"));
        }
        let arrival = Arrival {
            conn: self.shared.server.next_conn(),
            socket: Socket::from(std::os::fd::OwnedFd::from(stream)),
            origin: Origin::Client(Arc::clone(listener_there)),
            remote,
            local,
        };
        self.shared.give(self.shared.least_loaded(), arrival);
        Ok(())
    }

    /// All workers take no input from now on, until the returned one is dropped.
    pub(super) fn pause(&self) -> Paused {
        let mut steps = Vec::new();
        let (paused, acknowledged) = channel();
        for worker in &self.shared.workers {
            let (sender, receiver) = channel();
            worker.tell(Command::Pause { paused: paused.clone(), steps: receiver });
            steps.push(sender);
        }
        drop(paused);
        // A worker whose thread is gone never says so; saving will find that out.
        for _ in 0..steps.len() {
            if acknowledged.recv_timeout(PAUSED_WITHIN).is_err() {
                break;
            }
        }
        Paused { steps }
    }

    pub(super) fn open_ports(&self) -> Vec<(String, &'static str, SocketAddr, Port)> {
        let plan = self.plan();
        let all = plan.bound();
        all.map(|(name, protocol, address, port)| {
            (name.to_owned(), protocol, address, port.clone())
        })
        .collect()
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("server", &self.shared.server).finish_non_exhaustive()
    }
}

/// Workers that wait. They go on when this is dropped.
pub(super) struct Paused {
    steps: Vec<Sender<Step>>,
}

impl Paused {
    /// What each worker has, in their order; `None` for one whose thread is gone.
    pub(super) fn save(&self) -> Vec<Option<Saved>> {
        let save = |worker: &Sender<Step>| {
            let (reply, saved) = channel();
            worker.send(Step::Save(reply)).ok()?;
            saved.recv_timeout(PAUSED_WITHIN).ok()
        };
        self.steps.iter().map(save).collect()
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        for worker in &self.steps {
            // One whose thread is gone has nothing to go on with.
            drop(worker.send(Step::Resume));
        }
    }
}

/// The name of a listener's protocol, as in announcements and in the file of a live upgrade.
pub(super) fn protocol_of(name: &str) -> Option<Protocol> {
    [Protocol::Tcp, Protocol::Sctp, Protocol::WebSocket, Protocol::Udp]
        .into_iter()
        .find(|protocol| protocol_name(*protocol) == name)
}
