//! A worker's thread: waits for sockets, and gives what comes to its engine.

use super::accept::{self, Accepted};
use super::arrival::{Arrival, Origin};
use super::plan::{Plan, Port};
use super::ring::Ring;
use super::sockets::{Conn, Pending, Proof, Sockets, conn_of};
use super::threads::{Command, Saved, Step, Threads};
use super::transport::Transport;
use crate::clock::now;
use crate::config::Protocol;
use crate::engine::{self, Close, ConnId, Input, LogLevel, Output};
use chronoscope_clock as clock;
use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

/// The token of the waker.
pub(crate) const WAKE: Token = Token(0);

/// Octets that are taken from one connection before the others have their turn.
const READ_BYTES_MAX: usize = 32 * 1024;

/// Datagrams that are taken from one port before the others have their turn.
const DATAGRAMS_PER_ROUND: usize = 64;

/// Interval between two checks of slow work: handshakes, last octets, accepting after a failure.
const LOOK_AFTER_NS: u64 = 250_000_000;

/// Said to those whose connection does not survive a live upgrade.
const UPGRADING: &[u8] = b"# Server is being upgraded, please connect again\r\n";

/// A port in the poll.
#[derive(Debug)]
pub(crate) enum Served {
    /// Connections of the listener with this index.
    Connections(usize, Arc<Socket>),
    /// Datagrams of the listener with this index.
    Datagrams(usize, UdpSocket),
    /// Datagrams of the peer group with this index.
    Peers(usize, UdpSocket),
}

impl Served {
    fn fd(&self) -> i32 {
        match self {
            Self::Connections(_, socket) => socket.as_raw_fd(),
            Self::Datagrams(_, socket) | Self::Peers(_, socket) => socket.as_raw_fd(),
        }
    }
}

/// The thread's whole state.
pub(crate) struct Worker {
    threads: Arc<Threads>,
    index: usize,
    poll: Poll,
    events: Events,
    engine: engine::Worker,
    sockets: Sockets,
    /// All ports, if this is the worker that serves them (0).
    served: Vec<Served>,
    /// Indices of entries in `served` with something to accept or receive.
    ready: Vec<usize>,
    /// No connection can be accepted before this instant, monotonic.
    accept_from_ns: Option<u64>,
    handshakes: Vec<ConnId>,
    look_after_ns: Option<u64>,
    /// Commands of other threads that were not carried out yet.
    inbox: VecDeque<Command>,
    buffer: Box<[u8]>,
}

impl Worker {
    pub(crate) fn new(
        threads: Arc<Threads>,
        index: usize,
        poll: Poll,
        engine: engine::Worker,
        plan: Arc<Plan>,
    ) -> io::Result<Self> {
        let registry = poll.registry().try_clone()?;
        let sockets = Sockets::new(Arc::clone(&threads), index, registry, plan);
        let mut worker = Self {
            threads,
            index,
            poll,
            events: Events::with_capacity(1024),
            engine,
            sockets,
            served: Vec::new(),
            ready: Vec::new(),
            accept_from_ns: None,
            handshakes: Vec::new(),
            look_after_ns: None,
            inbox: VecDeque::new(),
            buffer: vec![0; 64 * 1024].into(),
        };
        worker.serve_ports()?;
        Ok(worker)
    }

    /// Takes clients over from an earlier program.
    pub(crate) fn restore(
        &mut self,
        clients: Vec<(ConnId, Socket, Protocol)>,
        state: engine::WorkerState,
    ) {
        for (id, socket, protocol) in clients {
            let conn = Conn {
                transport: Transport::plain(socket, protocol),
                uplink: None,
                pending: None,
                // What it has to read or can take is found out by trying.
                blocked: true,
                queued: false,
                ending: false,
                is_pair: false,
            };
            if let Err(error) = self.sockets.insert(id, conn) {
                self.log(
                    LogLevel::Error,
                    format_args!("a client was lost in the upgrade: {error}"),
                );
            }
            self.sockets.queue(id, false);
        }
        self.engine.restore(now(), state, &mut self.sockets);
        self.settle();
    }

    /// Serves until it is stopped.
    pub(crate) fn run(mut self) {
        self.sockets.ring = Ring::new();
        loop {
            if self.engine.rest() {
                self.mail();
            }
            let timeout = self.timeout();
            match self.poll.poll(&mut self.events, timeout) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    let line = format_args!("worker {} cannot wait: {error}", self.index);
                    return self.log(LogLevel::Critical, line);
                }
            }
            let woken = self.note_events();
            if woken && !self.take_commands() {
                return;
            }
            self.serve_ready();
            self.read_round();
            self.tick();
            self.look_after();
        }
    }

    fn log(&self, level: LogLevel, line: std::fmt::Arguments<'_>) {
        (self.threads.log)(level, line);
    }

    fn timeout(&self) -> Option<Duration> {
        let accepting = self.accept_from_ns.is_none() && !self.ready.is_empty();
        if accepting || !self.sockets.readable.is_empty() {
            return Some(Duration::ZERO);
        }
        let due = [self.engine.deadline(), self.accept_from_ns, self.look_after_ns];
        let next_ns = due.into_iter().flatten().min()?;
        Some(Duration::from_nanos(next_ns.saturating_sub(clock::monotonic_ns())))
    }

    /// Sorts the poll's events into queues. Returns whether this worker was woken.
    fn note_events(&mut self) -> bool {
        let mut woken = false;
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        for event in &events {
            match conn_of(event.token()) {
                Some(id) => self.note_connection(id, event),
                None if event.token() == WAKE => woken = true,
                None => {
                    let index = event.token().0 / 2 - 1;
                    if index < self.served.len() && !self.ready.contains(&index) {
                        self.ready.push(index);
                    }
                }
            }
        }
        self.events = events;
        woken
    }

    fn note_connection(&mut self, id: ConnId, event: &Event) {
        let over = event.is_read_closed() || event.is_error();
        if event.is_readable() || over {
            self.sockets.queue(id, over);
        }
        let Some(conn) = self.sockets.conns.get_mut(&id) else { return };
        if !event.is_writable() {
            return;
        }
        if conn.pending.is_some() {
            return self.sockets.queue(id, over);
        }
        match conn.transport.flush() {
            Ok(true) if conn.blocked => {
                conn.blocked = false;
                self.give(Input::Writable { conn: id });
            }
            Ok(_) => {}
            Err(error) => self.lost(id, &error.to_string()),
        }
    }

    /// Gives input to the engine, and does what comes of it.
    fn give(&mut self, input: Input<'_>) {
        self.quiet_mail();
        let now = now();
        self.sockets.now_ns = now.monotonic_ns;
        self.engine.input(now, input, &mut self.sockets);
        self.settle();
    }

    /// Tells the engine of connections that broke while it wrote.
    fn settle(&mut self) {
        while let Some((id, reason)) = self.sockets.broken.pop() {
            if self.sockets.remove(id, &reason).is_some() {
                let now = now();
                let input = Input::Closed { conn: id, reason: &reason };
                self.engine.input(now, input, &mut self.sockets);
            }
        }
        if self.sockets.has_last_words() && self.look_after_ns.is_none() {
            self.look_after_ns = Some(self.sockets.now_ns + LOOK_AFTER_NS);
        }
    }

    /// Removes a connection that is gone. The engine is informed if it knew the connection.
    fn lost(&mut self, id: ConnId, reason: &str) {
        let Some(conn) = self.sockets.remove(id, reason) else { return };
        if conn.pending.is_none() {
            self.give(Input::Closed { conn: id, reason });
        }
    }

    fn tick(&mut self) {
        let now = now();
        if self.engine.deadline().is_some_and(|at_ns| at_ns <= now.monotonic_ns) {
            self.quiet_mail();
            self.sockets.now_ns = now.monotonic_ns;
            self.engine.tick(now, &mut self.sockets);
            self.settle();
        }
    }

    /// Reads once from each connection that has something.
    fn read_round(&mut self) {
        for _ in 0..self.sockets.readable.len() {
            let Some(id) = self.sockets.readable.pop_front() else { return };
            self.read(id);
            self.tick();
        }
    }

    fn read(&mut self, id: ConnId) {
        self.quiet_mail();
        let Some(conn) = self.sockets.conns.get_mut(&id) else { return };
        conn.queued = false;
        if conn.pending.is_some() {
            return self.handshake(id);
        }
        match conn.transport.read(&mut self.buffer[..READ_BYTES_MAX]) {
            Ok(0) => self.lost(id, "closed by the other side"),
            Ok(octets) => {
                // A short read means that a socket is empty, unless its end follows.
                let more = octets == READ_BYTES_MAX || conn.ending || conn.transport.is_tls();
                if more {
                    self.sockets.queue(id, false);
                }
                let now = now();
                self.sockets.now_ns = now.monotonic_ns;
                let input = Input::Received { conn: id, bytes: &self.buffer[..octets] };
                self.engine.input(now, input, &mut self.sockets);
                self.settle();
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => self.lost(id, &error.to_string()),
        }
    }

    /// Takes connections and datagrams.
    fn serve_ready(&mut self) {
        for index in std::mem::take(&mut self.ready) {
            let more = match &self.served[index] {
                Served::Connections(listener, socket) => {
                    let (listener, socket) = (*listener, Arc::clone(socket));
                    self.accept(listener, &socket)
                }
                Served::Datagrams(..) | Served::Peers(..) => self.datagrams(index),
            };
            if more {
                self.ready.push(index);
            }
        }
    }

    /// Takes connections of a port. Whether there may be more.
    fn accept(&mut self, listener: usize, socket: &Socket) -> bool {
        if self.accept_from_ns.is_some() {
            return true;
        }
        let (threads, plan) = (Arc::clone(&self.threads), Arc::clone(&self.sockets.plan));
        match accept::round(&threads, &plan, listener, socket, |arrival| self.arrived(arrival)) {
            Accepted::All => false,
            Accepted::More => true,
            Accepted::Failed { again_ns } => {
                self.accept_from_ns = Some(again_ns);
                true
            }
        }
    }

    /// Takes datagrams of a port. Whether there may be more.
    fn datagrams(&mut self, index: usize) -> bool {
        self.quiet_mail();
        for _ in 0..DATAGRAMS_PER_ROUND {
            let (Served::Datagrams(_, socket) | Served::Peers(_, socket)) = &self.served[index]
            else {
                return false;
            };
            let (octets, from) = match socket.recv_from(&mut self.buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) => {
                    self.log(LogLevel::Error, format_args!("datagrams cannot be read: {error}"));
                    return false;
                }
            };
            let (from, bytes) = (super::socket::canonical(from), &self.buffer[..octets]);
            let input = match self.served[index] {
                Served::Peers(group, _) => Input::PeerDatagram { group, from, bytes },
                Served::Datagrams(listener, _) | Served::Connections(listener, _) => {
                    Input::Datagram { listener, from, bytes }
                }
            };
            let now = now();
            self.sockets.now_ns = now.monotonic_ns;
            self.engine.input(now, input, &mut self.sockets);
            self.settle();
        }
        true
    }

    /// Takes a connection, of a client or to an uplink.
    fn arrived(&mut self, arrival: Arrival) {
        let Arrival { conn: id, socket, origin, remote, local } = arrival;
        let uplink = match &origin {
            Origin::Client(_) => None,
            Origin::Uplink(uplink, _) => Some(Arc::clone(uplink)),
        };
        let is_pair =
            matches!(&origin, Origin::Client(port) if port.protocol == Protocol::WebSocket);
        let transport = if is_pair {
            Ok(Transport::plain(socket, Protocol::WebSocket))
        } else {
            self.sockets.transport(socket, &origin)
        };
        let transport = match transport {
            Ok(transport) => transport,
            Err(error) => {
                self.log(LogLevel::Error, format_args!("{remote}: {error}"));
                if let Some(uplink) = uplink {
                    self.threads.uplink_gone(uplink, id, error);
                }
                return;
            }
        };
        let now_ns = clock::monotonic_ns();
        let within = self.sockets.plan.config.login_timeout;
        let deadline_ns = now_ns + u64::try_from(within.as_nanos()).unwrap_or(u64::MAX / 2);
        let is_handshaking = transport.is_handshaking();
        let pending = Some(Box::new(Pending { origin, remote, local, deadline_ns }));
        let conn = Conn {
            transport,
            uplink: uplink.clone(),
            pending,
            blocked: false,
            queued: false,
            ending: false,
            is_pair,
        };
        if let Err(error) = self.sockets.insert(id, conn) {
            self.log(LogLevel::Error, format_args!("{remote}: cannot be polled: {error}"));
            if let Some(uplink) = uplink {
                self.threads.uplink_gone(uplink, id, error.to_string());
            }
            return;
        }
        if is_handshaking {
            self.handshakes.push(id);
            self.look_after_ns.get_or_insert(now_ns + LOOK_AFTER_NS);
        }
        self.handshake(id);
    }

    /// Goes on with TLS; once that is done the engine hears of the connection.
    fn handshake(&mut self, id: ConnId) {
        let Some(conn) = self.sockets.conns.get_mut(&id) else { return };
        match conn.transport.handshake() {
            Ok(false) => return,
            Ok(true) => {}
            Err(error) => {
                if let Some(pending) = &conn.pending {
                    let line = format!("{}: no TLS: {error}", pending.remote);
                    self.log(LogLevel::Info, format_args!("{line}"));
                }
                return self.lost(id, &format!("no TLS: {error}"));
            }
        }
        let Some(pending) = conn.pending.take() else { return };
        let (remote, local) = (pending.remote, pending.local);
        let Some(conn) = self.sockets.conns.get(&id) else { return };
        let input = match self.sockets.proof(&conn.transport, &pending.origin) {
            Proof::Client(listener, certificate) => {
                Input::Opened { conn: id, listener, remote, local, certificate }
            }
            Proof::Uplink(uplink, certificate) => {
                Input::UplinkOpened { conn: id, uplink, remote, local, certificate }
            }
            Proof::Refused(reason) => return self.refused(id, &pending, &reason),
            Proof::Gone => {
                self.sockets.remove(id, "not in the configuration any more");
                return;
            }
        };
        self.give(input);
        // Octets that arrived with the end of the handshake are in the library already, and no
        // event will report them.
        self.sockets.queue(id, false);
    }

    fn refused(&mut self, id: ConnId, pending: &Pending, reason: &str) {
        let line = format_args!("{}: client certificate {reason}", pending.remote);
        self.log(LogLevel::Info, line);
        if let Origin::Client(listener) = &pending.origin
            && let Some(index) = self.sockets.plan.index_of(listener)
        {
            self.threads.server.refused(index);
        }
        let words = format!("# Client certificate {reason}\r\n");
        // Who has left already does not need to know.
        let _gone = self.sockets.write(id, &[IoSlice::new(words.as_bytes())]);
        self.sockets.broken.retain(|(broken, _)| *broken != id);
        self.sockets.now_ns = clock::monotonic_ns();
        self.sockets.close(id, Close::Graceful, reason);
        self.settle();
    }

    /// Checks slow work: handshakes, last octets, accepting after a failure.
    fn look_after(&mut self) {
        let now_ns = clock::monotonic_ns();
        if self.accept_from_ns.is_some_and(|from_ns| from_ns <= now_ns) {
            self.accept_from_ns = None;
        }
        if self.look_after_ns.is_none_or(|at_ns| at_ns > now_ns) {
            return;
        }
        self.sockets.now_ns = now_ns;
        self.sockets.hear_last_words(&mut self.buffer);
        let mut late = Vec::new();
        let conns = &self.sockets.conns;
        self.handshakes.retain(|id| {
            let pending = conns.get(id).and_then(|conn| conn.pending.as_ref());
            let is_late = pending.is_some_and(|pending| pending.deadline_ns <= now_ns);
            if is_late {
                late.push(*id);
            }
            pending.is_some() && !is_late
        });
        for id in late {
            self.lost(id, "TLS took too long");
        }
        let busy = self.sockets.has_last_words() || !self.handshakes.is_empty();
        self.look_after_ns = busy.then_some(now_ns + LOOK_AFTER_NS);
    }

    /// Does what other threads want. Whether to go on.
    fn take_commands(&mut self) -> bool {
        self.inbox.extend(self.threads.workers[self.index].take());
        while let Some(command) = self.inbox.pop_front() {
            match command {
                Command::Arrived(arrival) => self.arrived(*arrival),
                Command::Drop(id, reason) => {
                    self.sockets.now_ns = clock::monotonic_ns();
                    if let Some(conn) = self.sockets.remove(id, &reason) {
                        self.sockets.let_go(conn);
                        self.give(Input::Closed { conn: id, reason: &reason });
                    }
                }
                Command::Configure(plan) => self.configure(plan),
                Command::Pause { paused, steps } => {
                    // Who asked for it waits; where it is gone the pause is over.
                    if paused.send(()).is_ok() && !self.paused(&steps) {
                        return false;
                    }
                }
                Command::Stop => {
                    self.mail();
                    self.tick();
                    return false;
                }
            }
        }
        self.mail();
        true
    }

    /// Takes mail of which this worker was not woken: before anything that comes after it.
    fn quiet_mail(&mut self) {
        if self.engine.has_quiet_mail() {
            self.mail();
        }
    }

    fn mail(&mut self) {
        let now = now();
        self.sockets.now_ns = now.monotonic_ns;
        self.engine.mail(now, &mut self.sockets);
        self.settle();
    }

    fn configure(&mut self, plan: Arc<Plan>) {
        self.sockets.plan = plan;
        let now = now();
        self.engine.configure(now, &mut self.sockets);
        self.settle();
        if let Err(error) = self.serve_ports() {
            self.log(LogLevel::Error, format_args!("a port cannot be polled: {error}"));
        }
    }

    /// Stops reading, in all workers; then saves the state and leaves the place to another program.
    /// Returns whether this failed and the worker is to continue.
    fn paused(&mut self, steps: &std::sync::mpsc::Receiver<Step>) -> bool {
        loop {
            match steps.recv() {
                Ok(Step::Save(reply)) => {
                    self.take_late_arrivals();
                    self.mail();
                    self.cut_those_who_cannot_stay();
                    let state = self.engine.save(now(), &mut self.sockets);
                    let mut clients: Vec<_> = self
                        .sockets
                        .conns
                        .iter()
                        .map(|(id, conn)| (*id, conn.transport.fd(), conn.transport.protocol()))
                        .collect();
                    clients.sort_by_key(|(id, ..)| *id);
                    // Who asked for it waits.
                    drop(reply.send(Saved { clients, state }));
                }
                Ok(Step::Resume) | Err(_) => return true,
            }
        }
    }

    /// Connections that were given to this worker after it was asked to wait: the next program is to
    /// have them as well. Whoever gives them waits by now.
    fn take_late_arrivals(&mut self) {
        self.inbox.extend(self.threads.workers[self.index].take());
        for command in std::mem::take(&mut self.inbox) {
            match command {
                Command::Arrived(arrival) => self.arrived(*arrival),
                other => self.inbox.push_back(other),
            }
        }
    }

    /// Ends what only this program can go on with: keys of TLS, pairs of WebSockets, uplinks.
    fn cut_those_who_cannot_stay(&mut self) {
        let cannot_stay = |conn: &Conn| {
            conn.transport.is_tls()
                || conn.is_pair
                || conn.uplink.is_some()
                || conn.pending.is_some()
        };
        let conns = self.sockets.conns.iter();
        let mut cut: Vec<_> =
            conns.filter(|(_, conn)| cannot_stay(conn)).map(|(id, _)| *id).collect();
        cut.sort_unstable();
        self.sockets.now_ns = clock::monotonic_ns();
        for id in cut {
            let is_client = self.sockets.conns.get(&id).is_some_and(|conn| conn.uplink.is_none());
            if is_client {
                // The client may be gone already: a failure does not matter.
                let _gone = self.sockets.write(id, &[IoSlice::new(UPGRADING)]);
            }
            let Some(conn) = self.sockets.remove(id, "live upgrade") else { continue };
            let known = conn.pending.is_none();
            self.sockets.let_go(conn);
            if known {
                self.give(Input::Closed { conn: id, reason: "live upgrade" });
            }
        }
        self.settle();
    }

    /// Polls the ports of the plan, where this is the worker that does.
    fn serve_ports(&mut self) -> io::Result<()> {
        if self.index != 0 {
            return Ok(());
        }
        let registry = self.poll.registry();
        self.ready.clear();
        for served in self.served.drain(..) {
            // A closed descriptor is not in the poll's set.
            let _gone = registry.deregister(&mut SourceFd(&served.fd()));
        }
        let plan = Arc::clone(&self.sockets.plan);
        for (index, port) in plan.listeners.iter().enumerate() {
            let Some(port) = port else { continue };
            match plan.config.listeners[index].protocol {
                // Its connections are taken by the HTTP side.
                Protocol::WebSocket => {}
                Protocol::Udp => self.served.push(Served::Datagrams(index, datagram_socket(port)?)),
                Protocol::Tcp | Protocol::Sctp => {
                    self.served.push(Served::Connections(index, Arc::clone(&port.socket)));
                }
            }
        }
        for (index, port) in plan.groups.iter().enumerate() {
            let Some(port) = port else { continue };
            self.served.push(Served::Peers(index, datagram_socket(port)?));
        }
        for (index, served) in self.served.iter().enumerate() {
            let token = Token((index + 1) * 2);
            registry.register(&mut SourceFd(&served.fd()), token, Interest::READABLE)?;
        }
        Ok(())
    }
}

fn datagram_socket(port: &Port) -> io::Result<UdpSocket> {
    Ok(port.socket.try_clone()?.into())
}
