//! Worker: the part of the server that one thread runs.

use super::block::{Block, Routed};
use super::client::{Application, Client, Stage};
use super::feed::Feed;
use super::flush::Turns;
use super::interest::Interest;
use super::journal::Journal;
use super::meter::Port;
use super::output;
use super::peers::Peers;
use super::seam::{Close, ConnId, Input, LogLevel, Now, Output};
use super::server::{Mail, Server, Waker};
use super::shared::Shared;
use super::unsummed::Unsummed;
use crate::callsign::Callsign;
use crate::config::{Config, Protocol};
use crate::filter::{ClientSlot, FilterIndex};
use crate::heard::STATION_BYTES;
use crate::packet::DropReason;
use crate::recording::Writes;
use crate::status::{ClientStatus, MemoryUse, Posted, Traffic, WorkerStatus};
use hashbrown::HashMap;
use slab::Slab;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::oneshot;

pub(super) const SECOND_NS: u64 = 1_000_000_000;
/// A client that hears nothing for so long takes the server for dead.
pub(super) const KEEPALIVE_NS: u64 = 20 * SECOND_NS;
/// Interval between two removals of expired entries.
const EXPIRY_NS: u64 = 600 * SECOND_NS;

/// Worker of one thread: connections, their input, and output to them.
///
/// Connections may be with any worker and stay there. [`Input::Datagram`], [`Input::PeerDatagram`]
/// and [`Input::Posted`] are for worker 0, which also sends to core peers.
pub struct Worker {
    pub(super) server: Arc<Server>,
    pub(super) index: usize,
    pub(super) config: Arc<Config>,
    /// The ports of that configuration: what comes in names them by index.
    pub(super) ports: Vec<Arc<Port>>,
    pub(super) version: Arc<str>,
    pub(super) clients: Slab<Client>,
    pub(super) by_conn: HashMap<ConnId, usize, foldhash::fast::FixedState>,
    /// Clients of each class that packets are written to, uplinks left out.
    pub(super) joined: [usize; 3],
    /// Uplinks that get packets, clients with all packets by UDP: their slots.
    pub(super) uplinks: Vec<usize>,
    pub(super) full_by_udp: Vec<usize>,
    /// Clients that get packets by UDP.
    pub(super) by_udp: usize,
    pub(super) filters: FilterIndex,
    pub(super) interest: Interest,
    /// What many clients have in common.
    pub(super) programs: Shared<Application>,
    pub(super) locals: Shared<SocketAddr>,
    pub(super) peers: Peers,
    pub(super) feed: Feed,
    pub(super) duplicate_feed: Feed,
    /// When clients of each class are written to.
    pub(super) turns: [Turns; 3],
    /// Clients to which the kernel takes nothing, each once.
    pub(super) blocked: Vec<usize>,
    /// Packets that wait to be written to clients of each class.
    pub(super) writes: [Writes; 3],
    /// What was written in this turn and is not yet in the sums of its port.
    pub(super) unsummed: Unsummed,
    /// Others know that their packets can wait until the next turn.
    pub(super) is_quiet: bool,
    /// Packets of the input that is being processed.
    pub(super) batch: Vec<Routed>,
    pub(super) drops: Vec<Dropped>,
    pub(super) counted: Traffic,
    pub(super) posted: Option<Posted>,
    pub(super) message_number: u64,
    second_ns: Option<u64>,
    expiry_ns: u64,
    mail: Vec<Mail>,
    /// Journal that records all input.
    pub(super) journal: Option<Journal>,
    pub(super) matched: Vec<ClientSlot>,
    pub(super) scratch: Vec<u8>,
    /// Clients whose turn it is.
    pub(super) slots: Vec<usize>,
}

/// A line that is no packet for us, for the log of drops.
pub(super) struct Dropped {
    pub(super) reason: DropReason,
    pub(super) login: Option<Callsign>,
    pub(super) line: Vec<u8>,
}

impl Worker {
    pub(super) fn new(server: Arc<Server>, index: usize) -> Self {
        let (config, ports) = server.in_force();
        let seed = server.seed;
        let journal = server.journal();
        let peers = if index == 0 { Peers::new(&config, &server) } else { Peers::default() };
        Self {
            version: server.version(&config),
            server,
            index,
            config,
            ports,
            clients: Slab::new(),
            by_conn: HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed)),
            joined: [0; 3],
            uplinks: Vec::new(),
            full_by_udp: Vec::new(),
            by_udp: 0,
            filters: FilterIndex::new(seed),
            interest: Interest::new(seed),
            programs: Shared::default(),
            locals: Shared::default(),
            peers,
            feed: Feed::default(),
            duplicate_feed: Feed::default(),
            turns: Default::default(),
            blocked: Vec::new(),
            writes: Default::default(),
            unsummed: Unsummed::default(),
            is_quiet: false,
            batch: Vec::new(),
            drops: Vec::new(),
            counted: Traffic::default(),
            posted: None,
            message_number: 0,
            second_ns: None,
            expiry_ns: 0,
            mail: Vec::new(),
            journal,
            matched: Vec::new(),
            scratch: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// Processes one input from outside.
    pub(super) fn take_input(&mut self, now: Now, input: Input<'_>, out: &mut impl Output) {
        self.second_ns.get_or_insert(now.monotonic_ns + SECOND_NS);
        match input {
            Input::Opened { conn, listener, remote, local, certificate } => {
                self.opened(now, conn, listener, (remote, local), certificate, out);
            }
            Input::UplinkOpened { conn, uplink, remote, local, certificate } => {
                self.uplink_opened(now, conn, uplink, (remote, local), certificate, out);
            }
            Input::Received { conn, bytes } => self.received(now, conn, bytes, out),
            Input::Writable { conn } => self.writable(now, conn, out),
            Input::Closed { conn, reason } => {
                if let Some(slot) = self.slot(conn) {
                    self.forget(now, slot, reason, (LogLevel::Info, reason), out);
                }
            }
            Input::Datagram { listener, from, bytes } => {
                self.datagram(now, listener, from, bytes, out);
            }
            Input::PeerDatagram { group, from, bytes } => {
                self.peer_datagram(now, group, from, bytes, out);
            }
            Input::Posted { from, bytes } => {
                let posted = self.upload(now, from, bytes, out);
                self.posted = Some(posted);
            }
        }
        self.submit(now, out);
    }

    /// Result of the last [`Input::Posted`]; each result is returned once.
    pub fn posted(&mut self) -> Option<Posted> {
        self.posted.take()
    }

    /// Takes what other threads have for this worker: to be called after its waker was.
    pub(super) fn take_mail(&mut self, now: Now, out: &mut impl Output) {
        let mut mail = std::mem::take(&mut self.mail);
        self.server.take_mail(self.index, &mut mail);
        // Uploads bring packets of their own, which have to be delivered after those that are here.
        let mut uploads = Vec::new();
        for letter in mail.drain(..) {
            match letter {
                Mail::Packets(block) => self.deliver(now, &block, out),
                Mail::Disconnect { conn, reason } => {
                    if let Some(slot) = self.slot(conn) {
                        self.close(now, slot, Close::Graceful, reason, out);
                    }
                }
                Mail::Post { from, bytes, reply } => uploads.push((from, bytes, reply)),
                Mail::Tell(reply) => tell(reply, self.status(now)),
            }
        }
        self.mail = mail;
        for (from, bytes, reply) in uploads {
            self.input(now, Input::Posted { from, bytes: &bytes }, out);
            tell(reply, self.posted.take().unwrap_or(Posted::InvalidLogin));
        }
    }

    /// Time when [`tick`](Self::tick) is to be called, monotonic nanoseconds; `None` for not at
    /// all.
    pub fn deadline(&self) -> Option<u64> {
        [self.flush_ns(), self.second_ns].into_iter().flatten().min()
    }

    /// Does what is due at `now`.
    pub(super) fn take_tick(&mut self, now: Now, out: &mut impl Output) {
        if self.flush_ns().is_some_and(|at| now.monotonic_ns >= at) {
            self.flush(now, out);
        }
        if self.second_ns.is_some_and(|at| now.monotonic_ns >= at) {
            self.second_ns = Some(now.monotonic_ns + SECOND_NS);
            self.every_second(now, out);
        }
    }

    /// Takes the configuration that [`Server::reload`] put in force: from the next input on,
    /// indices are those in it. Clients of ports that are gone stay until they leave.
    pub(super) fn take_configure(&mut self, now: Now, out: &mut impl Output) {
        (self.config, self.ports) = self.server.in_force();
        self.version = self.server.version(&self.config);
        if self.index == 0 {
            self.peers.configure(&self.config, &self.server);
        }
        let slots: Vec<usize> = self.clients.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            self.reconfigure(now, slot, out);
        }
    }

    /// The worker's connections, and the core peers where it has them.
    pub fn status(&self, now: Now) -> WorkerStatus {
        let mut connections: Vec<ClientStatus> = Vec::with_capacity(self.clients.len());
        for (_, client) in &self.clients {
            let feed = self.feed_of(client);
            let waiting_ns = output::oldest_ns(client, feed)
                .map_or(0, |at_ns| now.monotonic_ns.saturating_sub(at_ns));
            connections.push(client.status(now, (output::waiting_bytes(client, feed), waiting_ns)));
        }
        connections.sort_by_key(|row| row.conn);
        connections.extend(self.peers.status(now));
        WorkerStatus {
            index: self.index,
            mail_waiting: self.server.mail_count(self.index) as u64,
            connections,
            memory: self.memory(),
        }
    }

    /// Memory of the tables of this worker, by aprsc's names where it has them.
    fn memory(&self) -> Vec<MemoryUse> {
        let client_bytes = size_of::<Client>();
        let allocated = self.clients.capacity() * client_bytes;
        let clients = MemoryUse::of("client", self.clients.len(), client_bytes, allocated);
        let (mut stations, mut courtesy) = ((0, 0), (0, 0));
        for heard in self.clients.iter().filter_map(|(_, client)| client.heard.as_deref()) {
            let (counts, octets) = (heard.len(), heard.allocated());
            stations = (stations.0 + counts.0, stations.1 + octets.0);
            courtesy = (courtesy.0 + counts.1, courtesy.1 + octets.1);
        }
        let of = |name, (count, octets)| MemoryUse::of(name, count, STATION_BYTES, octets);
        let waiting = |name, feed: &Feed| {
            let (packets, used, allocated) = feed.memory();
            let entry_bytes = used.checked_div(packets).unwrap_or(0);
            MemoryUse {
                entries_max: packets as u64,
                ..MemoryUse::of(name, packets, entry_bytes, allocated)
            }
        };
        vec![
            clients,
            of("client_heard", stations),
            of("client_courtesy", courtesy),
            waiting("feed", &self.feed),
            waiting("duplicate_feed", &self.duplicate_feed),
        ]
    }

    pub(super) fn second_is_due(&mut self, at_ns: u64) {
        self.second_ns.get_or_insert(at_ns);
    }

    pub(super) fn slot(&self, conn: ConnId) -> Option<usize> {
        self.by_conn.get(&conn).copied()
    }

    pub(super) fn feed_of(&self, client: &Client) -> &Feed {
        if client.is_dupefeed() { &self.duplicate_feed } else { &self.feed }
    }

    /// Sends what the input brought through the router and to all workers.
    fn submit(&mut self, now: Now, out: &mut impl Output) {
        if self.batch.is_empty() && self.drops.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.batch);
        let server = Arc::clone(&self.server);
        let mut router = server.router();
        for dropped in self.drops.drain(..) {
            router.why.note(now.utc_ns, dropped.reason.name(), dropped.login, &dropped.line);
        }
        if batch.is_empty() {
            return;
        }
        let block = router.check(batch, now.monotonic_ns);
        if server.workers() == 1 {
            drop(router);
            self.deliver(now, &block, out);
            return self.keep_batch(block);
        }
        server.broadcast(self.index, &Arc::new(block));
        drop(router);
        self.take_mail(now, out);
    }

    /// Keeps a block's memory for the next batch.
    fn keep_batch(&mut self, mut block: Block) {
        block.packets.clear();
        self.batch = block.packets;
    }

    /// Cuts a client for which something has waited too long, here or in the kernel.
    pub(super) fn cut_if_stale(&mut self, now: Now, slot: usize, out: &mut impl Output) -> bool {
        let client = &self.clients[slot];
        let waited_ns = output::oldest_ns(client, self.feed_of(client))
            .map_or(0, |at_ns| now.monotonic_ns.saturating_sub(at_ns));
        let is_stale = u128::from(waited_ns) > self.stale_after_ns(client);
        if is_stale {
            self.cut(now, slot, waited_ns, out);
        }
        is_stale
    }

    /// Largest wait of a packet for a client, here and in the kernel: half of the bound for a
    /// WebSocket client, because the other half belongs to the bridge before it.
    fn stale_after_ns(&self, client: &Client) -> u128 {
        let bound_ns = self.config.stale_after.as_nanos();
        if client.protocol() == Protocol::WebSocket { bound_ns / 2 } else { bound_ns }
    }

    fn cut(&mut self, now: Now, slot: usize, waited_ns: u64, out: &mut impl Output) {
        let client = &self.clients[slot];
        let (seconds, tenths) = (waited_ns / SECOND_NS, waited_ns % SECOND_NS / (SECOND_NS / 10));
        let said = format!("cut: reads {seconds}.{tenths} s late");
        let word = b"# Too slow: disconnecting\r\n";
        // Where nothing of it goes out, the log and the status page tell.
        if client.outbox.text().is_empty() && !client.outbox.blocked {
            let _ = out.write(client.conn, &[std::io::IoSlice::new(word)]);
        }
        self.server.count_stale_cut();
        let reason = "reads too slowly";
        out.close(self.clients[slot].conn, Close::Reset, reason);
        self.forget(now, slot, reason, (LogLevel::Warning, &said), out);
    }

    fn every_second(&mut self, now: Now, out: &mut impl Output) {
        let slots: Vec<usize> = self.clients.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            if self.timed_out(now, slot, out) || self.cut_if_stale(now, slot, out) {
                continue;
            }
            let client = &mut self.clients[slot];
            let conn = client.conn;
            let in_kernel_ns =
                client.outbox.unacknowledged_ns(now.monotonic_ns, || out.unacknowledged(conn));
            if u128::from(in_kernel_ns) > self.stale_after_ns(&self.clients[slot]) {
                self.cut(now, slot, in_kernel_ns, out);
                continue;
            }
            let client = &self.clients[slot];
            if now.monotonic_ns >= client.keepalive_ns {
                let line = self.keepalive(now, *client.local);
                self.clients[slot].keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
                self.say(now, slot, line.as_bytes(), out);
            }
        }
        if self.flush_ns().is_none() {
            self.trim();
        }
        if now.monotonic_ns >= self.expiry_ns {
            self.expiry_ns = now.monotonic_ns + EXPIRY_NS;
            self.expire(now);
        }
        if self.clients.is_empty() && self.peers.is_empty() {
            self.second_ns = None;
        }
    }

    fn timed_out(&mut self, now: Now, slot: usize, out: &mut impl Output) -> bool {
        let client = &self.clients[slot];
        let silent_ns = now.monotonic_ns.saturating_sub(client.last_read_ns);
        let (limit, reason) = match client.stage {
            _ if client.uplink_kind().is_some() => {
                (self.config.upstream_timeout, "uplink is silent")
            }
            Stage::Login { .. } => (self.config.login_timeout, "login timed out"),
            _ => (self.config.client_timeout, "client is silent"),
        };
        // Until login the connection's age counts, whatever it sends.
        let age_ns = match client.stage {
            Stage::Login { .. } => now.monotonic_ns.saturating_sub(client.connected.monotonic_ns),
            _ => silent_ns,
        };
        let is_over = u128::from(age_ns) >= limit.as_nanos();
        if is_over {
            self.close(now, slot, Close::Graceful, reason, out);
        }
        is_over
    }

    fn expire(&mut self, now: Now) {
        if self.index == 0 {
            self.server.router().expire(now.monotonic_ns);
        }
        for (_, client) in &mut self.clients {
            if let Some(heard) = client.heard.as_deref_mut() {
                heard.expire(now.monotonic_ns);
            }
        }
        self.interest.rebuild(&self.clients, now.monotonic_ns);
    }
}

fn tell<T>(reply: oneshot::Sender<T>, answer: T) {
    // The receiver may have gone away meanwhile; no other needs the answer.
    drop(reply.send(answer));
}

impl Server {
    /// The worker `index`, to be made once each. `waker` is called when there is mail for it.
    pub fn worker(self: &Arc<Self>, index: usize, waker: Waker) -> Worker {
        self.set_waker(index, waker);
        Worker::new(Arc::clone(self), index)
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clients = self.clients.len();
        let mut shown = f.debug_struct("Worker");
        shown.field("index", &self.index).field("clients", &clients).finish_non_exhaustive()
    }
}
