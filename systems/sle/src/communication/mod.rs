//! The communication server: a process between applications and the network, which has their
//! connections.
//!
//! ```text
//! user ── TCP ──▶ communication server ── Unix socket (or TCP) ──▶ provider's application
//! user's application ── Unix socket (or TCP) ──▶ communication server ── TCP ──▶ provider
//! ```
//!
//! It has the TML of both connections of a session: it sends and expects heartbeats on each, passes
//! PDUs on as they are, and reads nothing in them. So its peers on the network see the octets that the
//! application itself would have sent, whatever the service, its version and its credentials.
//!
//! * **Memory is bounded.** A connection is not read while more than
//!   [`SessionLimits::buffer_bytes`] wait to be sent on the other: who does not read makes its peer wait,
//!   as on one connection. A PDU more and what one read brings may wait besides.
//! * **The end of one side is passed on.** Its PEER-ABORT with its diagnostic, its orderly end as an
//!   end. A fault of the transport, or a process that died, is a PEER-ABORT for the other side: the
//!   diagnostic of the fault, or 199.
//! * A responder is connected to when the initiator has introduced itself by the context message: what
//!   is no ISP1 never reaches an application.
//!
//! Not here: who may bind, and where to. A route leads every connection of its listening end to one
//! address; applications judge BIND and its credentials.
//!
//! One thread for each session, and one for each listening end. Dropped, the server aborts all its
//! sessions for operational reasons.

mod endpoint;
mod limits;
mod session;
mod side;

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::net::{
    AcceptedConnection, Listener, ListenerError, LocalListener, SocketOptions, Waker,
};
use crate::provider::ProviderLog;
use crate::time::Now;
use crate::tml::{HeartbeatLimits, PDU_BYTES_MAX, Tml};

pub use endpoint::{Endpoint, Route, RouteError};
pub use limits::{Relayed, SessionLimits};
use session::Session;
use side::Side;

/// Settings of a communication server.
#[derive(Clone, Debug)]
pub struct CommunicationSettings {
    /// Where it listens, and where that leads.
    pub routes: Vec<Route>,
    /// Options of its TCP sockets.
    pub options: SocketOptions,
    /// Sessions of a route at a time; three quarters of them from one host.
    pub sessions: usize,
    /// Limits of each.
    pub limits: SessionLimits,
}

/// Why a communication server does not run.
#[derive(Debug, thiserror::Error)]
pub enum CommunicationError {
    /// A listening end cannot be had.
    #[error(transparent)]
    Listener(#[from] ListenerError),
    /// The host of a listening end is not known, or no descriptor is to be had.
    #[error("{what}: {error}")]
    Io {
        /// The resource.
        what: String,
        /// Error of the operating system.
        error: io::Error,
    },
}

/// A communication server that runs.
pub struct CommunicationServer {
    shared: Arc<ServerState>,
    listeners: Vec<Listener>,
    local_listeners: Vec<LocalListener>,
}

/// Between the server and its sessions.
struct ServerState {
    ends: AtomicBool,
    /// Wakes all sessions at the end.
    waker: Waker,
    relayed: Mutex<Relayed>,
    sessions: AtomicU64,
    threads: Mutex<Vec<JoinHandle<()>>>,
    log: ProviderLog,
}

impl fmt::Debug for CommunicationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommunicationServer")
            .field("addresses", &self.addresses())
            .finish_non_exhaustive()
    }
}

impl CommunicationServer {
    /// Starts a server.
    ///
    /// # Errors
    /// [`CommunicationError`]; nothing runs then.
    pub fn start(
        settings: &CommunicationSettings,
        log: ProviderLog,
    ) -> Result<Self, CommunicationError> {
        let no = |what: String| move |error| CommunicationError::Io { what, error };
        let waker = Waker::new().map_err(no("an event of the kernel".to_owned()))?;
        let shared = Arc::new(ServerState {
            ends: AtomicBool::new(false),
            waker,
            relayed: Mutex::default(),
            sessions: AtomicU64::new(0),
            threads: Mutex::default(),
            log,
        });
        let mut server = Self { shared, listeners: Vec::new(), local_listeners: Vec::new() };
        for route in &settings.routes {
            let accept = acceptor(Arc::clone(&server.shared), route.clone(), settings);
            match &route.listen {
                Endpoint::Local(path) => {
                    let listener = LocalListener::start(path, settings.sessions, accept)?;
                    server.local_listeners.push(listener);
                }
                Endpoint::Network(host) => {
                    let address = host
                        .to_socket_addrs()
                        .and_then(|mut all| {
                            all.next().ok_or_else(|| io::ErrorKind::NotFound.into())
                        })
                        .map_err(no(host.clone()))?;
                    let options = &settings.options;
                    let listener = Listener::start(address, options, settings.sessions, accept)?;
                    server.listeners.push(listener);
                }
            }
        }
        Ok(server)
    }

    /// Addresses of the listening ends on TCP, in the order of the routes.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(Listener::address).collect()
    }

    /// Paths of the listening ends that are local, in the order of the routes.
    #[must_use]
    pub fn paths(&self) -> Vec<&Path> {
        self.local_listeners.iter().map(LocalListener::path).collect()
    }

    /// What was relayed in sessions that are over, and how many those are.
    #[must_use]
    pub fn relayed(&self) -> (Relayed, u64) {
        let relayed = *lock(&self.shared.relayed);
        (relayed, self.shared.sessions.load(Ordering::Acquire))
    }

    /// Aborts all sessions for operational reasons, and waits until their peers were told, or had the
    /// time of [`SessionLimits::close_ns`].
    pub fn end(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        self.shared.waker.wake();
        self.listeners.clear();
        self.local_listeners.clear();
        let threads: Vec<_> = lock(&self.shared.threads).drain(..).collect();
        for thread in threads {
            // A panic of a session was said where it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for CommunicationServer {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Every update is a single step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What starts a session for a connection.
fn acceptor(
    shared: Arc<ServerState>,
    route: Route,
    settings: &CommunicationSettings,
) -> impl FnMut(AcceptedConnection) + Send + 'static {
    let (options, limits) = (settings.options.clone(), settings.limits);
    move |accepted: AcceptedConnection| {
        let (peer, name) = (accepted.peer, format!("relay-{}", accepted.peer.number()));
        let (socket, slot) = accepted.into_parts();
        let (of_thread, to, options) = (Arc::clone(&shared), route.to.clone(), options.clone());
        let thread = std::thread::Builder::new().name(name).spawn(move || {
            let shared = of_thread;
            let now = Now::read();
            let tml = Tml::responder(any_heartbeat(), PDU_BYTES_MAX, now);
            let connect =
                || Ok(Side::new(to.connect(&options, limits.connect)?, None, Now::read()));
            let session = Session::new(Side::new(socket, Some(tml), now), connect, limits);
            let ends = || shared.ends.load(Ordering::Acquire);
            let (relayed, outcome) = session.run(&shared.waker, ends);
            shared.add(&relayed);
            let [there, back] = relayed.pdus;
            shared.log.say(&format!("{peer} to {to}: {outcome}; {there} PDUs there, {back} back"));
            drop(slot);
        });
        match thread {
            Ok(thread) => {
                let mut threads = lock(&shared.threads);
                threads.retain(|thread| !thread.is_finished());
                threads.push(thread);
            }
            Err(error) => shared.log.say(&format!("{peer}: no thread can be started: {error}")),
        }
    }
}

/// Whatever an initiator proposes is proposed to the responder, which judges it.
fn any_heartbeat() -> HeartbeatLimits {
    HeartbeatLimits {
        interval_s: 1..=u16::MAX,
        dead_factor: 1..=u16::MAX,
        ..HeartbeatLimits::default()
    }
}

impl ServerState {
    fn add(&self, more: &Relayed) {
        let mut all = lock(&self.relayed);
        for side in [0, 1] {
            all.pdus[side] += more.pdus[side];
            all.octets[side] += more.octets[side];
        }
        all.calls += more.calls;
        all.waits += more.waits;
        drop(all);
        self.sessions.fetch_add(1, Ordering::Release);
    }
}
