//! Takes connections, up to a number.

use super::slot::{ConnectionSlot, ConnectionSlots};
use std::fmt;
use std::fs::{self, Permissions};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use super::options::OptionError;
use super::protocol::ConnectionProtocol;
use super::wait::{SocketInterest, Waker, wait};
use super::{CommandSender, Driver, DriverLimits, SocketOptions};
use crate::time::Now;

/// Pause after a failed accept, when no file descriptor is left, in nanoseconds.
const PAUSE_NS: u64 = 100_000_000;

/// Why one does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenerError {
    /// An option was refused.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The address, or the thread.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address, or the path of a local link.
        address: String,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// Who made a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionPeer {
    /// A host.
    Network(SocketAddr),
    /// A process of this host: so many have connected before.
    Local(u64),
}

impl ConnectionPeer {
    /// Its port, or which local one it is.
    #[must_use]
    pub fn number(&self) -> u64 {
        match self {
            Self::Network(address) => address.port().into(),
            Self::Local(number) => *number,
        }
    }
}

impl fmt::Display for ConnectionPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(address) => address.fmt(f),
            Self::Local(number) => write!(f, "local {number}"),
        }
    }
}

/// A port that takes connections, in a thread of its own. Dropping it ends that; the connections
/// live on.
pub struct Listener {
    address: SocketAddr,
    acceptor: Acceptor,
}

/// A local link that takes connections of this user's processes, as [`Listener`] does. Dropping it
/// removes its file.
pub struct LocalListener {
    path: PathBuf,
    _acceptor: Acceptor,
}

/// The thread that accepts; dropping it ends that.
struct Acceptor {
    shared: Arc<ListenerState>,
    thread: Option<JoinHandle<()>>,
}

/// State that the thread shares with others.
struct ListenerState {
    waker: Waker,
    stop: AtomicBool,
    seats: Arc<ConnectionSlots>,
    refused: AtomicU64,
    failed: AtomicU64,
}

/// A connection that somebody made.
pub struct AcceptedConnection {
    /// The connection, ready to be driven.
    pub socket: Socket,
    /// The peer.
    pub peer: ConnectionPeer,
    options: SocketOptions,
    slot: ConnectionSlot,
}

impl AcceptedConnection {
    /// As [`Driver::spawn`]; the connection counts among the listener's until its thread ends.
    ///
    /// # Errors
    /// No thread or no descriptor is to be had.
    pub fn drive<P: ConnectionProtocol>(
        self,
        name: &str,
        limits: DriverLimits,
        protocol: impl FnOnce(&CommandSender<P::Command>) -> P,
    ) -> io::Result<Driver<P>> {
        let Self { socket, options, slot, .. } = self;
        Driver::spawn_in(Some(slot), name, socket, &options, limits, protocol)
    }

    /// For whoever drives it in another way: the socket, and its place among the listener's, which
    /// is free when that is dropped.
    pub(crate) fn into_parts(self) -> (Socket, ConnectionSlot) {
        (self.socket, self.slot)
    }
}

impl Listener {
    /// Listens at `address` (port 0: any that is free) and gives each connection to `accept`, in
    /// the listener's thread. There are at most `connections_max`, and from four on, three quarters
    /// of them from one address; more are reset and counted.
    ///
    /// # Errors
    /// [`ListenerError`]; connections that fail later are counted.
    pub fn start(
        address: SocketAddr,
        options: &SocketOptions,
        connections_max: usize,
        accept: impl FnMut(AcceptedConnection) + Send + 'static,
    ) -> Result<Self, ListenerError> {
        let failed = |source| ListenerError::Listen { address: address.to_string(), source };
        let socket =
            Socket::new(Domain::for_address(address), Type::STREAM, None).map_err(failed)?;
        options.set_before(&socket)?;
        socket.set_reuse_address(true).map_err(failed)?;
        socket.bind(&address.into()).map_err(failed)?;
        let local = socket.local_addr().map_err(failed)?.as_socket().unwrap_or(address);
        let name = format!("accept-{}", local.port());
        let acceptor = Acceptor::start(name, socket, options.clone(), connections_max, accept);
        Ok(Self { address: local, acceptor: acceptor.map_err(failed)? })
    }

    /// Address of the port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections that are there.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.acceptor.shared.seats.count()
    }

    /// Connections that were refused because there were too many.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.acceptor.shared.refused.load(Relaxed)
    }

    /// Connections that failed before they were given to anybody, and times that none could be
    /// accepted.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.acceptor.shared.failed.load(Relaxed)
    }
}

impl LocalListener {
    /// Listens at a path, which only this user's processes may connect to. A socket there to which
    /// nobody listens any more is replaced. There are at most three quarters (rounded up) of
    /// `connections_max`, since all are from one host.
    ///
    /// # Errors
    /// [`ListenerError`]: another process listens there, or something else is there.
    pub fn start(
        path: &Path,
        connections_max: usize,
        accept: impl FnMut(AcceptedConnection) + Send + 'static,
    ) -> Result<Self, ListenerError> {
        let started = || {
            let socket = bound_at(path)?;
            let name = "accept-local".to_owned();
            Acceptor::start(name, socket, SocketOptions::default(), connections_max, accept)
        };
        let acceptor = started().map_err(|source| ListenerError::Listen {
            address: path.display().to_string(),
            source,
        })?;
        Ok(Self { path: path.to_owned(), _acceptor: acceptor })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        // Somebody may have removed it.
        let _ = fs::remove_file(&self.path);
    }
}

/// A socket that is bound to a path, which only this user's processes may connect to. A socket there to
/// which nobody listens any more is replaced.
fn bound_at(path: &Path) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    let address = SockAddr::unix(path)?;
    if let Err(error) = socket.bind(&address) {
        if error.kind() != io::ErrorKind::AddrInUse || !is_left_behind(path, &address) {
            return Err(error);
        }
        fs::remove_file(path)?;
        socket.bind(&address)?;
    }
    // Nobody connects before `listen`.
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(socket)
}

/// Listens at a path as [`LocalListener`] does, for another protocol.
pub(crate) fn bind_local(path: &Path) -> io::Result<Socket> {
    let socket = bound_at(path)?;
    socket.listen(128)?;
    Ok(socket)
}

/// Whether there is a socket at the path that no process listens to.
fn is_left_behind(path: &Path, address: &SockAddr) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let refused = |socket: Socket| match socket.connect(address) {
        Err(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        Ok(()) => false,
    };
    is_socket && Socket::new(Domain::UNIX, Type::STREAM, None).is_ok_and(refused)
}

impl Acceptor {
    fn start(
        name: String,
        socket: Socket,
        options: SocketOptions,
        connections_max: usize,
        mut accept: impl FnMut(AcceptedConnection) + Send + 'static,
    ) -> io::Result<Self> {
        socket.listen(128)?;
        socket.set_nonblocking(true)?;
        let shared = Arc::new(ListenerState {
            waker: Waker::new()?,
            stop: AtomicBool::new(false),
            seats: Arc::default(),
            refused: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        });
        let door = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(name)
            .spawn(move || door.run(&socket, &options, connections_max, &mut accept))?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
        self.shared.waker.wake();
        if let Some(thread) = self.thread.take() {
            // If `accept` panicked, that was said where it happened.
            let _ = thread.join();
        }
    }
}

impl ListenerState {
    fn run(
        &self,
        socket: &Socket,
        options: &SocketOptions,
        connections_max: usize,
        accept: &mut dyn FnMut(AcceptedConnection),
    ) {
        let mut locals = 0;
        while !self.stop.load(Relaxed) {
            match socket.accept() {
                Ok((socket, address)) => {
                    let network = address.as_socket();
                    let host = network.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |from| from.ip());
                    let Some(slot) = self.seats.take(host, connections_max) else {
                        self.refused.fetch_add(1, Relaxed);
                        // The peer sees a reset, not an end that it could take for ours.
                        let _ = socket.set_linger(Some(Duration::ZERO));
                        continue;
                    };
                    let set = match network {
                        Some(_) => options.set_on(&socket).is_ok(),
                        None => socket.set_nonblocking(true).is_ok(),
                    };
                    if !set {
                        self.failed.fetch_add(1, Relaxed);
                        continue;
                    }
                    let peer =
                        network.map_or(ConnectionPeer::Local(locals), ConnectionPeer::Network);
                    locals += u64::from(network.is_none());
                    accept(AcceptedConnection { socket, peer, options: options.clone(), slot });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.pause(socket, true, None);
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                    ) => {}
                Err(_) => {
                    self.failed.fetch_add(1, Relaxed);
                    self.pause(socket, false, Some(PAUSE_NS));
                }
            }
        }
    }

    /// Waits for a connection, the end, or so long.
    fn pause(&self, socket: &Socket, read: bool, pause_ns: Option<u64>) {
        let now_ns = Now::read().monotonic_ns;
        let until_ns = pause_ns.map(|ns| now_ns.saturating_add(ns));
        let interest = SocketInterest { read, write: false };
        if wait(socket, &self.waker, interest, now_ns, until_ns).is_err() {
            self.failed.fetch_add(1, Relaxed);
        }
    }
}
