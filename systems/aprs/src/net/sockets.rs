//! A worker's connections, and what its engine does to them.

use super::arrival::Origin;
use super::plan::Plan;
use super::ring::{Ring, Send};
use super::socket;
use super::threads::{Threads, UplinkMessage};
use super::transport::Transport;
use crate::callsign::Callsign;
use crate::config::Uplink;
use crate::engine::{Close, ConnId, DatagramPort, LogLevel, Output, Write};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use socket2::Socket;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, IoSlice, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Longest time for the last octets to a client to arrive.
const LAST_WORDS_NS: u64 = 2_000_000_000;

/// Connections that are ending and whose last words are under way, at most: further ones end at
/// once.
const ENDING_MAX: usize = 1024;

/// Input for the engine once TLS has agreed on keys, or at once without TLS.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) origin: Origin,
    pub(crate) remote: SocketAddr,
    pub(crate) local: SocketAddr,
    /// Monotonic: the handshake has to be over.
    pub(crate) deadline_ns: u64,
}

/// A connection of this worker.
#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) transport: Transport,
    /// The uplink that it is, if it is one.
    pub(crate) uplink: Option<Arc<Uplink>>,
    /// While TLS agrees on keys.
    pub(crate) pending: Option<Box<Pending>>,
    /// The engine could not write all.
    pub(crate) blocked: bool,
    /// Whether it is in the queue of connections with something to read.
    pub(crate) queued: bool,
    /// The other side will send no more: the received octets have to be read to the end.
    pub(crate) ending: bool,
    /// Whether it is a WebSocket's pair, which exists only within this program.
    pub(crate) is_pair: bool,
}

/// All connections of a worker.
pub(crate) struct Sockets {
    pub(crate) threads: Arc<Threads>,
    index: usize,
    registry: Registry,
    pub(crate) plan: Arc<Plan>,
    pub(crate) conns: HashMap<ConnId, Conn, FixedState>,
    /// Connections with something to read, in order of arrival.
    pub(crate) readable: VecDeque<ConnId>,
    /// Connections that broke while the engine wrote to them: the engine is still to be informed.
    pub(crate) broken: Vec<(ConnId, String)>,
    /// Their last words are under way: until when.
    last_words: Vec<(u64, Transport)>,
    /// Time of the input that is being worked on, monotonic.
    pub(crate) now_ns: u64,
    /// For many writes at once, where the kernel has it: of the thread that serves.
    pub(crate) ring: Option<Ring>,
}

/// The token of a connection: odd. Even ones are ports; 0 is the waker.
pub(crate) fn token(conn: ConnId) -> Token {
    Token(usize::try_from(conn.0 << 1 | 1).unwrap_or(usize::MAX))
}

/// The connection of a token.
pub(crate) fn conn_of(token: Token) -> Option<ConnId> {
    (token.0 & 1 == 1).then_some(ConnId(token.0 as u64 >> 1))
}

impl Sockets {
    pub(crate) fn new(
        threads: Arc<Threads>,
        index: usize,
        registry: Registry,
        plan: Arc<Plan>,
    ) -> Self {
        Self {
            threads,
            index,
            registry,
            plan,
            conns: HashMap::with_hasher(FixedState::with_seed(0)),
            readable: VecDeque::new(),
            broken: Vec::new(),
            last_words: Vec::new(),
            now_ns: 0,
            ring: None,
        }
    }

    /// Registers a connection with the poll, for its whole life.
    ///
    /// # Errors
    /// Error of the system; the connection is closed then.
    pub(crate) fn insert(&mut self, id: ConnId, conn: Conn) -> io::Result<()> {
        let fd = conn.transport.fd();
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.registry.register(&mut SourceFd(&fd), token(id), interest)?;
        self.threads.workers[self.index].connections.fetch_add(1, Ordering::Relaxed);
        self.conns.insert(id, conn);
        Ok(())
    }

    /// Takes a connection out.
    pub(crate) fn remove(&mut self, id: ConnId, reason: &str) -> Option<Conn> {
        let conn = self.conns.remove(&id)?;
        self.threads.workers[self.index].connections.fetch_sub(1, Ordering::Relaxed);
        // A descriptor that is not in the poll's set cannot be removed from it: nothing to do.
        let _gone = self.registry.deregister(&mut SourceFd(&conn.transport.fd()));
        if let Some(uplink) = &conn.uplink {
            let reason = reason.to_owned();
            self.threads.tell_uplinks(UplinkMessage::Gone {
                uplink: Arc::clone(uplink),
                conn: id,
                reason,
            });
        }
        Some(conn)
    }

    /// Closes a connection after its written octets were sent.
    pub(crate) fn let_go(&mut self, mut conn: Conn) {
        conn.transport.finish();
        if self.last_words.len() < ENDING_MAX {
            self.last_words.push((self.now_ns + LAST_WORDS_NS, conn.transport));
        }
    }

    /// Closes connections whose last octets arrived, or took too long. A socket that is closed with
    /// unread octets discards its unsent ones, so the unread ones are read first.
    pub(crate) fn hear_last_words(&mut self, scratch: &mut [u8]) {
        let now_ns = self.now_ns;
        self.last_words.retain(|(until, transport)| {
            let mut socket = transport.socket();
            // Bounded: a peer that keeps sending must not extend its time.
            let left = (0..16).find_map(|_| match socket.read(scratch) {
                Ok(0) => Some(false),
                Ok(_) => None,
                Err(error) => Some(error.kind() == ErrorKind::WouldBlock),
            });
            left.unwrap_or(true) && now_ns < *until
        });
    }

    /// Whether somebody's last words are under way.
    pub(crate) fn has_last_words(&self) -> bool {
        !self.last_words.is_empty()
    }

    /// Marks a connection as one with something to read.
    pub(crate) fn queue(&mut self, id: ConnId, ending: bool) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.ending |= ending;
        if !conn.queued {
            conn.queued = true;
            self.readable.push_back(id);
        }
    }

    fn port(&self, port: DatagramPort) -> Option<&super::plan::Port> {
        match port {
            DatagramPort::Listener(index) => self.plan.listeners.get(index)?.as_ref(),
            DatagramPort::PeerGroup(index) => self.plan.groups.get(index)?.as_ref(),
        }
    }
}

impl Sockets {
    /// Notes the result of a write of `asked` octets.
    fn written(
        &mut self,
        id: ConnId,
        asked: usize,
        result: io::Result<usize>,
    ) -> io::Result<usize> {
        let result = match result {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            result => result,
        };
        match (&result, self.conns.get_mut(&id)) {
            (Ok(written), Some(conn)) => conn.blocked = *written < asked,
            (Ok(_), None) => {}
            (Err(error), _) => self.broken.push((id, error.to_string())),
        }
        result
    }
}

/// The send that a write is, where it is nothing else.
fn send_of<'a>(
    conns: &HashMap<ConnId, Conn, FixedState>,
    write: &'a Write<'_>,
) -> Option<Send<'a>> {
    let [slice] = &write.slices[..] else { return None };
    let transport = &conns.get(&write.conn)?.transport;
    transport.is_plain_stream().then(|| Send { fd: transport.fd(), bytes: slice })
}

impl Output for Sockets {
    fn write(&mut self, id: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let Some(conn) = self.conns.get_mut(&id) else {
            return Err(ErrorKind::NotConnected.into());
        };
        let asked: usize = slices.iter().map(|slice| slice.len()).sum();
        let result = conn.transport.write(slices);
        self.written(id, asked, result)
    }

    fn write_each(&mut self, writes: &[Write<'_>], results: &mut Vec<io::Result<usize>>) {
        let mut sent = match &mut self.ring {
            Some(ring) if writes.len() > 1 => {
                let sends = writes.iter().filter_map(|write| send_of(&self.conns, write));
                ring.send(&sends.collect::<Vec<_>>())
            }
            _ => Vec::new(),
        }
        .into_iter();
        for write in writes {
            let result = send_of(&self.conns, write).and_then(|_| sent.next());
            results.push(match result {
                Some(result) => self.written(write.conn, write.slices[0].len(), result),
                None => self.write(write.conn, &write.slices),
            });
        }
    }

    fn unacknowledged(&mut self, id: ConnId) -> usize {
        self.conns.get(&id).map_or(0, |conn| conn.transport.unacknowledged())
    }

    fn send(&mut self, port: DatagramPort, to: SocketAddr, bytes: &[u8]) {
        let Some(port) = self.port(port) else {
            return self.threads.count_lost_datagram();
        };
        let to = socket::for_family(to, port.is_v6);
        if port.socket.send_to(bytes, &to.into()).is_err() {
            self.threads.count_lost_datagram();
        }
    }

    fn close(&mut self, id: ConnId, how: Close, reason: &str) {
        let Some(conn) = self.remove(id, reason) else { return };
        match how {
            Close::Graceful => self.let_go(conn),
            Close::Reset => {
                // Where this fails the connection is gone already.
                let linger = Some(std::time::Duration::ZERO);
                let _gone = conn.transport.socket().set_linger(linger);
            }
        }
    }

    fn log(&mut self, level: LogLevel, line: fmt::Arguments<'_>) {
        (self.threads.log)(level, line);
    }
}

/// Identity of the other side as the handshake proved it.
pub(crate) enum Proof {
    /// A client, and the callsign in its certificate.
    Client(usize, Option<Callsign>),
    /// An uplink, and whether its certificate was checked.
    Uplink(usize, bool),
    /// It may not log in. The reason is sent to it.
    Refused(String),
    /// Its port or uplink has been removed from the configuration.
    Gone,
}

impl Sockets {
    /// Identity of the other side, now that TLS has agreed.
    pub(crate) fn proof(&self, transport: &Transport, origin: &Origin) -> Proof {
        match origin {
            Origin::Client(listener) => {
                let Some(index) = self.plan.index_of(listener) else { return Proof::Gone };
                match &self.plan.tls[index] {
                    Some(tls) if transport.is_tls() => match tls.holder(transport.certificates()) {
                        Ok(holder) => Proof::Client(index, holder),
                        Err(reason) => Proof::Refused(reason),
                    },
                    _ => Proof::Client(index, None),
                }
            }
            Origin::Uplink(uplink, tls) => {
                let uplinks = &self.plan.config.uplinks;
                let index = uplinks.iter().position(|ours| ours.is_same_server(uplink));
                let checked = tls.as_ref().is_some_and(|tls| tls.verifies);
                index.map_or(Proof::Gone, |index| Proof::Uplink(index, checked))
            }
        }
    }

    /// A transport for an arrival: with TLS where its port or uplink has it.
    ///
    /// # Errors
    /// The reason of the refusal, as text.
    pub(crate) fn transport(&self, socket: Socket, origin: &Origin) -> Result<Transport, String> {
        match origin {
            Origin::Client(listener) => {
                let tls =
                    self.plan.index_of(listener).and_then(|index| self.plan.tls[index].as_ref());
                match tls {
                    Some(tls) => {
                        let config = Arc::clone(&tls.config);
                        Transport::server(socket, listener.protocol, config)
                            .map_err(|error| error.to_string())
                    }
                    None if listener.tls.is_some() => Err("its port has no TLS now".to_owned()),
                    None => Ok(Transport::plain(socket, listener.protocol)),
                }
            }
            Origin::Uplink(uplink, Some(tls)) => {
                let config = Arc::clone(&tls.config);
                Transport::client(socket, uplink.protocol, config, &uplink.host)
            }
            Origin::Uplink(uplink, None) => Ok(Transport::plain(socket, uplink.protocol)),
        }
    }
}
