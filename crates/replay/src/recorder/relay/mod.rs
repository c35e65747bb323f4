//! Takes inputs in the system's place, records them, and passes them on.
//!
//! One thread, one poll. Only what comes from outside is recorded; answers are passed back as they
//! are. A receiver that is slow makes its sender slow, as without the relay: of each direction of a
//! connection at most one piece is held.

mod connection;
mod counts;
mod datagrams;
mod token;

use super::log::Log;
use connection::{Connection, Pumped};
pub use counts::RelayCounts;
use datagrams::DatagramPort;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use slab::Slab;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use token::{LISTENER, OUTSIDE, SENDER, token};

/// Longest delay until the relay ends.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Octets of one read.
const PIECE_BYTES: usize = super::segments::SEGMENT_BYTES_MAX;
/// Connections accepted in a row before others have their turn.
const ACCEPT_MAX: usize = 64;

/// Lets this process have as many descriptors as its administrator allows: a connection takes two.
/// Returns how many that are.
///
/// # Errors
/// When the kernel refuses.
pub fn allow_connections() -> io::Result<u64> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    Ok(most)
}

/// Reasons why a relay cannot begin or continue.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Address of the port.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// The kernel refuses what the relay waits with.
    #[error("relay: {0}")]
    Poll(#[from] io::Error),
}

#[derive(Debug)]
struct StreamPort {
    listener: TcpListener,
    to: SocketAddr,
    /// Connections wait to be accepted.
    waiting: bool,
}

/// Listens in the system's place.
#[derive(Debug)]
pub struct Relay {
    poll: Poll,
    datagrams: Vec<DatagramPort>,
    /// Port and sender of each token of [`SENDER`].
    senders: Slab<(usize, SocketAddr)>,
    streams: Vec<StreamPort>,
    connections: Slab<Connection>,
    /// Connections that have something to do.
    again: Vec<usize>,
    /// A connection has interrupted its work for others and has more to do.
    has_more: bool,
    piece: Vec<u8>,
    /// Counts of relayed inputs.
    pub passed: RelayCounts,
}

impl Relay {
    /// A relay that listens nowhere yet.
    ///
    /// # Errors
    /// When the kernel has no descriptor for it.
    pub fn new() -> Result<Self, RelayError> {
        Ok(Self {
            poll: Poll::new()?,
            datagrams: Vec::new(),
            senders: Slab::new(),
            streams: Vec::new(),
            connections: Slab::new(),
            again: Vec::new(),
            has_more: false,
            piece: vec![0; PIECE_BYTES],
            passed: RelayCounts::default(),
        })
    }

    /// Takes datagrams at `listen` (a multicast group is joined) and passes them on to `to`.
    /// Returns where it listens, with the port that the kernel chose for 0.
    ///
    /// # Errors
    /// [`RelayError::Listen`].
    pub fn udp(&mut self, listen: SocketAddr, to: SocketAddr) -> Result<SocketAddr, RelayError> {
        let fail = |source| RelayError::Listen { address: listen, source };
        let mut port = DatagramPort::open(listen, to).map_err(fail)?;
        let index = self.datagrams.len();
        let registry = self.poll.registry();
        registry.register(&mut port.socket, token(LISTENER, index << 1), Interest::READABLE)?;
        let listens = port.listens;
        self.datagrams.push(port);
        Ok(listens)
    }

    /// Takes connections at `listen` and passes them on to `to`. Returns where it listens.
    ///
    /// # Errors
    /// [`RelayError::Listen`].
    pub fn tcp(&mut self, listen: SocketAddr, to: SocketAddr) -> Result<SocketAddr, RelayError> {
        let fail = |source| RelayError::Listen { address: listen, source };
        let mut listener = TcpListener::bind(listen).map_err(fail)?;
        let listens = listener.local_addr().map_err(fail)?;
        let index = self.streams.len();
        let registry = self.poll.registry();
        registry.register(&mut listener, token(LISTENER, index << 1 | 1), Interest::READABLE)?;
        self.streams.push(StreamPort { listener, to, waiting: false });
        Ok(listens)
    }

    /// Passes on and records until `stop` is set, and tells `each` now and then how it goes.
    ///
    /// # Errors
    /// [`RelayError::Poll`]; what goes wrong with single connections is counted.
    pub fn run(
        &mut self,
        log: &Log,
        stop: &AtomicBool,
        mut each: impl FnMut(&RelayCounts),
    ) -> Result<(), RelayError> {
        let mut events = Events::with_capacity(1024);
        while !stop.load(Ordering::Relaxed) {
            let wait = if self.has_more { Duration::ZERO } else { LOOK_EVERY };
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
                _ => {}
            }
            for event in &events {
                let (kind, index) = (event.token().0 & 3, event.token().0 >> 2);
                match kind {
                    LISTENER if index & 1 == 0 => {
                        if let Some(port) = self.datagrams.get_mut(index >> 1) {
                            port.readable = true;
                        }
                    }
                    LISTENER => {
                        if let Some(port) = self.streams.get_mut(index >> 1) {
                            port.waiting = true;
                        }
                    }
                    SENDER => self.answers(index),
                    _ => {
                        if let Some(connection) = self.connections.get_mut(index) {
                            connection.ready(kind == OUTSIDE, event);
                            self.again.push(index);
                        }
                    }
                }
            }
            self.turn(log);
            each(&self.passed);
        }
        for (_, connection) in &mut self.connections {
            connection.cut(log);
        }
        Ok(())
    }

    /// Does a bounded part of what there is to do.
    fn turn(&mut self, log: &Log) {
        self.has_more = false;
        for index in 0..self.datagrams.len() {
            if self.datagrams[index].readable {
                let registry = self.poll.registry();
                let port = &mut self.datagrams[index];
                port.take(index, &mut self.senders, registry, log, &mut self.passed);
            }
        }
        for index in 0..self.streams.len() {
            if self.streams[index].waiting {
                self.accept(index, log);
            }
        }
        let mut ready = std::mem::take(&mut self.again);
        ready.sort_unstable();
        ready.dedup();
        for index in ready {
            let Some(connection) = self.connections.get_mut(index) else { continue };
            match connection.pump(&mut self.piece, log, &mut self.passed) {
                Pumped::Waits => {}
                Pumped::HasMore => self.again.push(index),
                Pumped::Over => {
                    self.connections.remove(index); // closing takes it out of the poll
                    self.passed.open_count -= 1;
                }
            }
        }
        self.has_more |= !self.again.is_empty();
        self.has_more |= self.datagrams.iter().any(|port| port.readable);
    }

    fn answers(&mut self, sender: usize) {
        let Some((port, from)) = self.senders.get(sender).copied() else { return };
        if let Some(port) = self.datagrams.get_mut(port) {
            port.answer(from, &mut self.piece, &mut self.passed);
        }
    }

    fn accept(&mut self, index: usize, log: &Log) {
        for _ in 0..ACCEPT_MAX {
            let port = &mut self.streams[index];
            let (outside, from) = match port.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    port.waiting = false;
                    return;
                }
                // No descriptor is free, or the peer went again: what waits is looked at again at
                // the next turn.
                Err(error) => {
                    self.passed.last_error = Some(format!("accepting a connection: {error}"));
                    return;
                }
            };
            let number = self.passed.connection_count;
            self.passed.connection_count += 1;
            let opened = Connection::open(outside, from, port.to, number, log);
            let mut connection = match opened {
                Ok(connection) => connection,
                Err(error) => {
                    self.passed.refused_count += 1;
                    self.passed.last_error = Some(format!("{}: {error}", port.to));
                    continue;
                }
            };
            let entry = self.connections.vacant_entry();
            let key = entry.key();
            match connection.register(self.poll.registry(), key) {
                Ok(()) => {
                    entry.insert(connection);
                    self.passed.open_count += 1;
                }
                Err(error) => self.passed.last_error = Some(error.to_string()),
            }
        }
        self.has_more = true;
    }
}
