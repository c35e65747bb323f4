//! The threads of the server, and how others reach them.

use super::arrival::{Arrival, Origin};
use super::plan::{HttpPort, HttpUse, Inherited, Plan, Port, PortError, protocol_name};
use super::threads::{Command, Log, Saved, Step, Threads, UplinkMessage, WorkerHandle};
use super::{socket, uplinks, worker};
use crate::clock::now;
use crate::config::{Config, Listener, Protocol};
use crate::engine::{ConnId, LogLevel, Server, WorkerState};
use crate::http;
use mio::{Poll, Waker};
use socket2::Socket;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest wait for a worker to stop and return its state.
const PAUSED_WITHIN: Duration = Duration::from_secs(4);

/// The fault that ports are which cannot be served.
const PORTS_FAULT: &str = "ports_not_served";

/// Ports that are bound but not served yet, which lets the process drop its privileges in between.
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
        let (bound, errors) = Self::with_inherited(config, Vec::new());
        if errors.is_empty() { Ok(bound) } else { Err(errors) }
    }

    /// As `new`, but takes those sockets of `inherited` that the configuration has as they are, and
    /// leaves out ports that cannot be served.
    pub(crate) fn with_inherited(
        config: Arc<Config>,
        mut inherited: Vec<Inherited>,
    ) -> (Self, Vec<PortError>) {
        let (plan, errors) = Plan::new(config, None, &mut inherited);
        (Self { plan: Arc::new(plan) }, errors)
    }

    /// Every port: its name, its protocol (`tcp`, `udp`, `sctp`, `websocket`, `peers`, `http`),
    /// and where it really is. Ports of HTTP have their directive's name.
    pub fn addresses(&self) -> Vec<(String, &'static str, SocketAddr)> {
        let bound = self.plan.bound();
        bound.map(|(name, protocol, _, port)| (name.to_owned(), protocol, port.address)).collect()
    }
}

/// Says which ports of a configuration are not served: in the log and as a fault, which is over once
/// all are.
pub(super) fn tell_ports(server: &Server, log: &Log, errors: &[PortError]) {
    for error in errors {
        log(LogLevel::Error, format_args!("{error}"));
    }
    if errors.is_empty() {
        return server.fault_over(PORTS_FAULT);
    }
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let text = format!("not served until the configuration is read again: {}", errors.join("; "));
    server.fault(PORTS_FAULT, &text, now());
}

/// The running threads.
pub struct Running {
    handle: Handle,
    joined: Vec<JoinHandle<()>>,
}

/// Reaches the running threads, from any thread.
#[derive(Clone)]
pub struct Handle {
    pub(super) threads: Arc<Threads>,
    pub(super) plan: Arc<Mutex<Arc<Plan>>>,
}

/// State taken over from an earlier program: for each worker its connections, and its engine's
/// part.
pub(crate) type Restored = Vec<(Vec<(ConnId, Socket, Protocol)>, WorkerState)>;

impl Running {
    /// Starts the threads. `server` has the configuration for which `bound` was made.
    ///
    /// # Errors
    /// When the system refuses a thread or a descriptor.
    pub fn start(server: Arc<Server>, bound: Bound, log: Log) -> io::Result<Self> {
        Self::with_restored(server, bound, log, Vec::new())
    }

    pub(crate) fn with_restored(
        server: Arc<Server>,
        bound: Bound,
        log: Log,
        restored: Restored,
    ) -> io::Result<Self> {
        server.listens(bound.plan.listening());
        let (sender, receiver) = channel();
        let mut polls = Vec::new();
        let mut workers = Vec::new();
        for _ in 0..server.workers() {
            let poll = Poll::new()?;
            let waker = Arc::new(Waker::new(poll.registry(), worker::WAKE)?);
            workers.push(WorkerHandle::new(waker));
            polls.push(poll);
        }
        let threads = Arc::new(Threads::new(server, log, workers, sender.clone()));
        // All pollers exist before any worker runs: mail for a worker that cannot be woken yet
        // would wait for ever, because only the first letter in a mailbox wakes.
        let mut ready = Vec::new();
        let mut restored = restored.into_iter();
        for (index, poll) in polls.into_iter().enumerate() {
            let waker = threads.workers[index].waker();
            // It fails where the poll is gone, and with it the worker.
            let wake = Box::new(move || drop(waker.wake()));
            ready.push((poll, threads.server.worker(index, wake)));
        }
        let mut joined = Vec::new();
        for (index, (poll, engine)) in ready.into_iter().enumerate() {
            let plan = Arc::clone(&bound.plan);
            let mut worker = worker::Worker::new(Arc::clone(&threads), index, poll, engine, plan)?;
            if let Some((clients, state)) = restored.next() {
                worker.restore(clients, state);
            }
            let name = format!("worker-{index}");
            joined.push(std::thread::Builder::new().name(name).spawn(move || worker.run())?);
        }
        let config = Arc::clone(&bound.plan.config);
        let there = Arc::clone(&threads);
        let name = "uplinks".to_owned();
        joined.push(
            std::thread::Builder::new()
                .name(name)
                .spawn(move || uplinks::run(&there, &sender, &receiver))?,
        );
        threads.tell_uplinks(UplinkMessage::Configure(config));
        let handle = Handle { threads, plan: Arc::new(Mutex::new(bound.plan)) };
        Ok(Self { handle, joined })
    }

    /// Reaches the threads.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Puts the server's new configuration in force: new ports are opened, those that are gone
    /// closed, and those that stay keep their clients. Ports that cannot be opened are left out,
    /// logged, a fault on the status page, and returned. The number of workers stays. The web side
    /// is to be given [`Running::http_ports`] anew.
    pub fn reload(&self, config: Arc<Config>) -> Vec<PortError> {
        let threads = &self.handle.threads;
        let mut current = self.handle.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let (plan, errors) = Plan::new(Arc::clone(&config), Some(&current), &mut Vec::new());
        let plan = Arc::new(plan);
        threads.server.listens(plan.listening());
        *current = Arc::clone(&plan);
        // In reverse order, so that worker 0 is last: it accepts, and its connections must find the
        // new ports in the other workers.
        for worker in threads.workers.iter().rev() {
            worker.tell(Command::Configure(Arc::clone(&plan)));
        }
        threads.tell_uplinks(UplinkMessage::Configure(config));
        tell_ports(&threads.server, &threads.log, &errors);
        errors
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
                HttpUse::WebSocket(of) => ports.websocket.push((of, listener)),
            }
        }
        Ok(ports)
    }

    /// Ends all threads, and with them all connections.
    pub fn stop(self) {
        for worker in &self.handle.threads.workers {
            worker.tell(Command::Stop);
        }
        self.handle.threads.tell_uplinks(UplinkMessage::Stop);
        for thread in self.joined {
            // The panic of a worker was reported on standard error.
            drop(thread.join());
        }
    }
}

impl Handle {
    /// The server whose threads these are.
    pub fn server(&self) -> &Arc<Server> {
        &self.threads.server
    }

    pub(super) fn log(&self, level: LogLevel, line: fmt::Arguments<'_>) {
        (self.threads.log)(level, line);
    }

    fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Actual address of the listener with this index.
    pub fn listening(&self, listener: usize) -> Option<SocketAddr> {
        Some(self.plan().listeners.get(listener)?.as_ref()?.address)
    }

    /// Serves a client whose bytes pass through a pair of sockets, as those of a WebSocket port do.
    /// The returned function is to be called when the client was cut on its side of the pair
    /// because it reads too slowly.
    ///
    /// # Errors
    /// When the port's access list refuses it, or the port no longer exists.
    pub fn adopt(
        &self,
        stream: UnixStream,
        listener: &Listener,
        remote: SocketAddr,
        local: SocketAddr,
    ) -> io::Result<http::WasCut> {
        stream.set_nonblocking(true)?;
        let plan = self.plan();
        let (remote, local) = (socket::canonical(remote), socket::canonical(local));
        // The web side may have another configuration's for a moment.
        let index = plan.index_of(listener).ok_or(io::ErrorKind::NotFound)?;
        let listener = &plan.config.listeners[index];
        if listener.acl.as_ref().is_some_and(|acl| !acl.allows(remote.ip())) {
            self.threads.server.refused(index);
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not in the access list"));
        }
        let arrival = Arrival {
            conn: self.threads.server.next_conn(),
            socket: Socket::from(std::os::fd::OwnedFd::from(stream)),
            origin: Origin::Client(Arc::clone(listener)),
            remote,
            local,
        };
        self.threads.give(self.threads.least_loaded(), arrival);
        let threads = Arc::clone(&self.threads);
        Ok(Box::new(move || {
            threads.server.count_stale_cut();
            let line = format_args!("{remote}: cut: reads too slowly by WebSocket");
            (threads.log)(LogLevel::Warning, line);
        }))
    }

    /// All workers take no input from now on, until the returned one is dropped.
    pub(super) fn pause(&self) -> Paused {
        let mut steps = Vec::new();
        let (paused, acknowledged) = channel();
        for worker in &self.threads.workers {
            let (sender, receiver) = channel();
            worker.tell(Command::Pause { paused: paused.clone(), steps: receiver });
            steps.push(sender);
        }
        drop(paused);
        // A worker whose thread is gone never answers; saving detects that.
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
        f.debug_struct("Running").field("threads", &self.joined.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("server", &self.threads.server).finish_non_exhaustive()
    }
}

/// Workers that wait. They go on when this is dropped.
pub(super) struct Paused {
    steps: Vec<Sender<Step>>,
}

impl Paused {
    /// State of each worker, in their order; `None` for one whose thread is gone.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callsign::Callsign;
    use crate::config::PortKind;
    use crate::engine::Identity;

    fn config() -> Config {
        let mut config = Config::new(Callsign::new(b"TESTING").unwrap());
        config.workers = 1;
        config.listeners = vec![Arc::new(Listener {
            name: "full".into(),
            kind: PortKind::FullFeed,
            protocol: Protocol::Tcp,
            address: ([127, 0, 0, 1], 0).into(),
            filter: None,
            clients_max: 200,
            acl: None,
            hidden: false,
            tls: None,
        })];
        config
    }

    fn running(config: Config) -> Running {
        let config = Arc::new(config);
        let identity = Identity { software: "aprs-server".into(), version: "1".into() };
        let server = Server::new(Arc::clone(&config), 1, identity, now());
        Running::start(server, Bound::new(config).unwrap(), Arc::new(|_, _| {})).unwrap()
    }

    #[test]
    fn a_connection_given_to_a_worker_that_waits_already_is_saved() {
        let running = running(config());
        let handle = running.handle();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let remote = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let paused = handle.pause();
        let arrival = Arrival {
            conn: handle.server().next_conn(),
            remote: stream.peer_addr().unwrap(),
            local: stream.local_addr().unwrap(),
            socket: stream.into(),
            origin: Origin::Client(Arc::clone(&handle.plan().config.listeners[0])),
        };
        let conn = arrival.conn;
        handle.threads.give(0, arrival);
        let saved = paused.save().remove(0).unwrap();
        assert_eq!(saved.clients.iter().map(|client| client.0).collect::<Vec<_>>(), [conn]);
        assert_eq!(saved.state.clients.len(), 1);
        drop((paused, remote));
        running.stop();
    }

    #[test]
    fn a_port_that_a_reload_could_not_open_is_a_fault_until_one_can() {
        let running = running(config());
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut other = config();
        other.http_status.push(taken.local_addr().unwrap());
        assert_eq!(running.reload(Arc::new(other)).len(), 1);
        let faults = || running.handle().server().status(now()).faults;
        assert_eq!(faults()[0].name, PORTS_FAULT);
        assert!(running.reload(Arc::new(config())).is_empty());
        assert!(faults().is_empty());
        running.stop();
    }

    #[test]
    fn a_port_that_the_kernel_chose_is_shown_as_it_is() {
        let running = running(config());
        let handle = running.handle();
        let shown = || handle.server().status(now()).listeners[0].address;
        assert_ne!(shown().port(), 0);
        assert_eq!(Some(shown()), handle.listening(0));
        let config = Arc::new(config());
        handle.server().reload(Arc::clone(&config));
        assert!(running.reload(config).is_empty());
        assert_eq!(Some(shown()), handle.listening(0));
        running.stop();
    }
}
