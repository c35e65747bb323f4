//! Worker: the part of the server that one thread runs.

use super::block::{Block, Routed};
use super::client::{Client, Stage};
use super::feed::Feed;
use super::flush::{self, Round};
use super::interest::Interest;
use super::journal::Journal;
use super::meter::Port;
use super::output;
use super::peers::Peers;
use super::seam::{Close, ConnId, Input, LogLevel, Now, Output};
use super::server::{Mail, Server, Waker};
use super::subscription::first_waiting;
use crate::callsign::Callsign;
use crate::config::{Config, Protocol};
use crate::filter::{ClientSlot, FilterIndex};
use crate::heard::STATION_BYTES;
use crate::packet::DropReason;
use crate::recording::Writes;
use crate::status::{ClientStatus, MemoryUse, Posted, Traffic, WorkerStatus};
use hashbrown::HashMap;
use slab::Slab;
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
    /// Clients with all packets, with all duplicates, uplinks that get packets, clients with all
    /// packets by UDP: their slots.
    pub(super) full: Vec<usize>,
    pub(super) duplicates: Vec<usize>,
    pub(super) uplinks: Vec<usize>,
    pub(super) full_by_udp: Vec<usize>,
    pub(super) filters: FilterIndex,
    pub(super) interest: Interest,
    pub(super) peers: Peers,
    pub(super) feed: Feed,
    pub(super) duplicate_feed: Feed,
    /// Filtered clients for which something waits.
    pub(super) dirty: Vec<usize>,
    /// Clients to which the kernel takes nothing, each once.
    pub(super) blocked: Vec<usize>,
    /// The current round of writes, where something waits.
    round: Option<Round>,
    /// Groups of clients written to, ever.
    ticks: u64,
    /// Clients written to in the round before this one, where this one follows at once.
    last_round: usize,
    pub(super) writes: Writes,
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
            full: Vec::new(),
            duplicates: Vec::new(),
            uplinks: Vec::new(),
            full_by_udp: Vec::new(),
            filters: FilterIndex::new(seed),
            interest: Interest::new(seed),
            peers,
            feed: Feed::default(),
            duplicate_feed: Feed::default(),
            dirty: Vec::new(),
            blocked: Vec::new(),
            round: None,
            ticks: 0,
            last_round: 0,
            writes: Writes::default(),
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
        if let Some(due_ns) = self.flush_ns()
            && now.monotonic_ns >= due_ns
        {
            self.flush(now, due_ns, out);
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

    /// Notes that a packet entered the feed.
    pub(super) fn waits(&mut self, now: Now) {
        match &mut self.round {
            Some(round) => round.came(),
            None => self.round = Some(Round::new(now.monotonic_ns, self.clients.len())),
        }
    }

    /// The tick after which what waits now is written to all.
    pub(super) fn written_by(&self) -> u64 {
        self.ticks + self.round.as_ref().map_or(1, Round::groups) as u64
    }

    fn flush_ns(&self) -> Option<u64> {
        // Of filtered clients some were written to just now and wait for nothing yet: the last round
        // tells how many there are.
        let waiting = self.full.len() + self.dirty.len() + self.duplicates.len();
        let clients = waiting.max(self.last_round);
        let interval_ns = flush::interval_ns(self.config.batching, clients);
        self.round.as_ref().map(|round| round.due_ns(interval_ns))
    }

    /// Writes to the group of clients whose turn it is.
    fn flush(&mut self, now: Now, due_ns: u64, out: &mut impl Output) {
        let Some(mut round) = self.round.take() else { return };
        round.begin_group(&self.feed, &self.duplicate_feed);
        let mut slots = Vec::with_capacity(self.full.len() + self.dirty.len());
        let all = self.full.iter().chain(&self.duplicates).copied();
        slots.extend(all.filter(|slot| round.is_turn(*slot)));
        slots.extend(self.dirty.extract_if(.., |slot| round.is_turn(*slot)));
        round.clients += slots.len();
        for slot in slots {
            if self.clients.contains(slot) {
                self.flush_client(now, slot, out);
            }
        }
        self.ticks += 1;
        self.writes.done(self.ticks);
        // A round that is behind does not make up for it with writes of little.
        let since_ns = due_ns.max(now.monotonic_ns.saturating_sub(flush::LATE_MAX_NS));
        match round.end_group(since_ns) {
            None => self.round = Some(round),
            Some((before, again)) => {
                self.last_round = if again { round.clients } else { 0 };
                self.trim(before);
                self.round = again.then(|| Round::new(since_ns, self.clients.len()));
            }
        }
    }

    /// Forgets packets below these numbers, of the feed and the duplicates' feed, but those that a
    /// blocked client waits for.
    fn trim(&mut self, (mut feed, mut duplicates): (u64, u64)) {
        let clients = &mut self.clients;
        self.blocked.retain(|slot| {
            let Some(client) = clients.get_mut(*slot) else { return false };
            client.outbox.is_listed = client.outbox.blocked;
            client.outbox.blocked
        });
        for slot in &self.blocked {
            let client = &self.clients[*slot];
            let (least, of) = match client.is_dupefeed() {
                true => (&mut duplicates, &self.duplicate_feed),
                false => (&mut feed, &self.feed),
            };
            *least = (*least).min(first_waiting(&client.subscription, of).unwrap_or(u64::MAX));
        }
        self.feed.trim(feed);
        self.duplicate_feed.trim(duplicates);
    }

    /// Writes to a client what waits for it, unless that is too old.
    pub(super) fn flush_client(&mut self, now: Now, slot: usize, out: &mut impl Output) {
        if self.clients[slot].outbox.blocked || self.cut_if_stale(now, slot, out) {
            return;
        }
        let client = &mut self.clients[slot];
        let feed = if client.is_dupefeed() { &self.duplicate_feed } else { &self.feed };
        match output::write(client, feed, &mut self.scratch, out) {
            Ok(written) => {
                client.sent(&self.server, written.octets, written.packets);
            }
            // `Input::Closed` comes for it; until then it is not written to.
            Err(error) => {
                client.outbox.blocked = true;
                let remote = client.remote;
                out.log(LogLevel::Debug, format_args!("{remote}: write: {error}"));
            }
        }
        let outbox = &mut self.clients[slot].outbox;
        if outbox.blocked && !std::mem::replace(&mut outbox.is_listed, true) {
            self.blocked.push(slot);
        }
    }

    fn writable(&mut self, now: Now, conn: ConnId, out: &mut impl Output) {
        let Some(slot) = self.slot(conn) else { return };
        if std::mem::take(&mut self.clients[slot].outbox.blocked) {
            self.flush_client(now, slot, out);
            if self.round.is_none() {
                self.trim((self.feed.next(), self.duplicate_feed.next()));
            }
        }
    }

    /// Cuts a client for which something has waited too long, here or in the kernel.
    fn cut_if_stale(&mut self, now: Now, slot: usize, out: &mut impl Output) -> bool {
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
                let line = self.keepalive(now, client.local);
                self.clients[slot].keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
                self.say(now, slot, line.as_bytes(), out);
            }
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
