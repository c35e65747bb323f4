//! Takes connections, up to a number.

use super::slot::{ConnectionSlot, ConnectionSlots};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

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
        /// The address.
        address: SocketAddr,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// A port that takes connections, in a thread of its own. Dropping it ends that; the connections
/// live on.
pub struct Listener {
    address: SocketAddr,
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
    /// Address of the peer.
    pub peer: SocketAddr,
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
        mut accept: impl FnMut(AcceptedConnection) + Send + 'static,
    ) -> Result<Self, ListenerError> {
        let failed = |source| ListenerError::Listen { address, source };
        let socket =
            Socket::new(Domain::for_address(address), Type::STREAM, None).map_err(failed)?;
        options.set_before(&socket)?;
        socket.set_reuse_address(true).map_err(failed)?;
        socket.bind(&address.into()).map_err(failed)?;
        socket.listen(128).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let local = socket.local_addr().map_err(failed)?.as_socket().unwrap_or(address);
        let shared = Arc::new(ListenerState {
            waker: Waker::new().map_err(failed)?,
            stop: AtomicBool::new(false),
            seats: Arc::default(),
            refused: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        });
        let door = Arc::clone(&shared);
        let options = options.clone();
        let thread = thread::Builder::new()
            .name(format!("accept-{}", local.port()))
            .spawn(move || door.run(&socket, &options, connections_max, &mut accept))
            .map_err(failed)?;
        Ok(Self { address: local, shared, thread: Some(thread) })
    }

    /// Address of the port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections that are there.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.seats.count()
    }

    /// Connections that were refused because there were too many.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Relaxed)
    }

    /// Connections that failed before they were given to anybody, and times that none could be
    /// accepted.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.shared.failed.load(Relaxed)
    }
}

impl Drop for Listener {
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
        while !self.stop.load(Relaxed) {
            match socket.accept() {
                Ok((socket, address)) => {
                    let Some(peer) = address.as_socket() else { continue };
                    let Some(slot) = self.seats.take(peer.ip(), connections_max) else {
                        self.refused.fetch_add(1, Relaxed);
                        // The peer sees a reset, not an end that it could take for ours.
                        let _ = socket.set_linger(Some(Duration::ZERO));
                        continue;
                    };
                    if options.set_on(&socket).is_err() {
                        self.failed.fetch_add(1, Relaxed);
                        continue;
                    }
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
