//! State shared by the workers.

use super::block::Block;
use super::faults::Faults;
use super::journal::Journal;
use super::meter::{Gauge, Meter, Port, PortCounters, Total};
use super::router::Router;
use super::seam::{ConnId, Now};
use super::state::ServerState;
use crate::callsign::Callsign;
use crate::config::{Config, Listener, Protocol};
use crate::status::{ListenerStatus, Posted, StatusSnapshot, UplinkStatus, WorkerStatus};
use crate::why;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use tokio::sync::oneshot;

/// aprsc's name of the alarm.
const NO_UPLINK: &str = "no_uplink";
/// The fault that the duplicate check is which has no room.
const DUPES_FORGOTTEN: &str = "dupes_forgotten_early";

/// Wakes the thread of a worker, from any thread.
pub type Waker = Box<dyn Fn() + Send + Sync>;

/// Identity of the server.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The program: one word.
    pub software: Arc<str>,
    /// Version, one word.
    pub version: Arc<str>,
}

/// State shared by the workers of one server. It lives as long as the program; its configuration
/// can be replaced.
pub struct Server {
    config: RwLock<Arc<Config>>,
    pub(super) identity: Identity,
    pub(super) seed: u64,
    started: RwLock<Now>,
    router: Mutex<Router>,
    logins: RwLock<Logins>,
    mailboxes: Vec<Mailbox>,
    ports: RwLock<Vec<Arc<Port>>>,
    pub(super) all: Gauge,
    totals: [Meter; 3],
    faults: Mutex<Faults>,
    /// Addresses on which ports really listen, as reported by the sockets.
    bound: Mutex<Vec<(Arc<Listener>, SocketAddr)>>,
    forgotten_early: AtomicU64,
    uplinks: Mutex<BTreeMap<String, UplinkState>>,
    stale_cuts: AtomicU64,
    next_conn: AtomicU64,
    journal: OnceLock<Journal>,
}

/// Verified logins by callsign.
pub(super) type Logins = HashMap<Callsign, LoggedIn, foldhash::fast::FixedState>;

/// Connection of a login.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedIn {
    pub(super) conn: ConnId,
    pub(super) worker: usize,
}

/// Message from one worker to another.
pub(super) enum Mail {
    Packets(Arc<Block>),
    Disconnect { conn: ConnId, reason: &'static str },
    Post { from: SocketAddr, bytes: Vec<u8>, reply: oneshot::Sender<Posted> },
    Tell(oneshot::Sender<WorkerStatus>),
}

/// State of an uplink beside its connection.
#[derive(Clone, Debug, Default)]
struct UplinkState {
    conn: Option<ConnId>,
    attempts: u64,
    error: Option<String>,
}

/// Mail that a worker has not taken.
#[derive(Default)]
struct Waiting {
    mail: Vec<Mail>,
    /// The worker was woken for it.
    is_woken: bool,
    /// The worker looks by itself soon: packets are no reason to wake it.
    is_quiet: bool,
}

#[derive(Default)]
struct Mailbox {
    mail: Mutex<Waiting>,
    waker: OnceLock<Waker>,
}

impl Server {
    /// A server without clients. `seed` decides the order of hash tables; equal seeds and inputs
    /// make equal outputs with one worker.
    pub fn new(config: Arc<Config>, seed: u64, identity: Identity, now: Now) -> Arc<Self> {
        let workers = config.workers.max(1);
        let router = Router::new(&config, seed);
        let server = Self {
            identity,
            seed,
            started: RwLock::new(now),
            router: Mutex::new(router),
            logins: RwLock::new(HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed))),
            mailboxes: (0..workers).map(|_| Mailbox::default()).collect(),
            ports: RwLock::new(ports_of(&config, &[])),
            config: RwLock::new(config),
            all: Gauge::default(),
            totals: Default::default(),
            faults: Mutex::new(Faults::default()),
            bound: Mutex::default(),
            forgotten_early: AtomicU64::new(0),
            uplinks: Mutex::new(BTreeMap::new()),
            stale_cuts: AtomicU64::new(0),
            next_conn: AtomicU64::new(1),
            journal: OnceLock::new(),
        };
        Arc::new(server)
    }

    /// Has the workers that are made from now on record what comes in.
    pub(super) fn record_to(&self, journal: Journal) {
        // The first one stays, as with a waker.
        let _ = self.journal.set(journal);
    }

    pub(super) fn journal(&self) -> Option<Journal> {
        self.journal.get().cloned()
    }

    /// Number of workers; their indices are in [0, this).
    pub fn workers(&self) -> usize {
        self.mailboxes.len()
    }

    pub(super) fn set_waker(&self, index: usize, waker: Waker) {
        // A second waker for an index would be our own mistake; the first one stays.
        drop(self.mailboxes[index].waker.set(waker));
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The configuration in force, and its ports.
    pub(super) fn in_force(&self) -> (Arc<Config>, Vec<Arc<Port>>) {
        // A reload has this lock for as long as the one is new and the other not yet.
        let ports = self.ports.read().unwrap_or_else(PoisonError::into_inner);
        (self.config(), ports.clone())
    }

    /// Puts a configuration in force. Each worker has to call
    /// [`Worker::configure`](super::Worker::configure) at the moment from which its indices of
    /// ports, uplinks and peer groups are the new ones. The number of workers stays.
    pub fn reload(&self, config: Arc<Config>) {
        let mut ports = self.ports.write().unwrap_or_else(PoisonError::into_inner);
        *ports = ports_of(&config, &ports);
        self.router().configure(&config);
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&config);
        drop(ports);
        let mut states = lock(&self.uplinks);
        states.retain(|name, _| has_uplink(&config, name));
        if config.uplinks.is_empty() {
            self.fault_over(NO_UPLINK);
        }
    }

    /// A name for a connection that no other one has.
    pub fn next_conn(&self) -> ConnId {
        ConnId(self.next_conn.fetch_add(1, Ordering::Relaxed))
    }

    /// Hands an upload to a worker: a login line, a line end, a packet line.
    pub fn post(&self, from: SocketAddr, bytes: Vec<u8>) -> oneshot::Receiver<Posted> {
        let (reply, answer) = oneshot::channel();
        self.send(0, Mail::Post { from, bytes, reply });
        answer
    }

    /// Asks all workers for their connections; the answers in the workers' order.
    pub fn worker_statuses(&self) -> Vec<oneshot::Receiver<WorkerStatus>> {
        let ask = |index| {
            let (reply, answer) = oneshot::channel();
            self.send(index, Mail::Tell(reply));
            answer
        };
        (0..self.mailboxes.len()).map(ask).collect()
    }

    /// Reasons why packets of a callsign, or from it as a client, were dropped; of all where it is
    /// empty.
    pub fn why(&self, call: &[u8], recent_max: usize) -> why::Answer {
        self.router().why.about(call, recent_max)
    }

    /// Records the addresses on which ports really listen: the kernel chose the port where the
    /// configuration has 0.
    pub fn listens(&self, bound: Vec<(Arc<Listener>, SocketAddr)>) {
        *lock(&self.bound) = bound;
    }

    /// Snapshot of all counters. Ports that [`listens`](Self::listens) did not name have the
    /// addresses of the configuration.
    pub fn status(&self, now: Now) -> StatusSnapshot {
        let config = self.config();
        let all = self.all.read();
        let (dupes, history, memory, forgotten_early) = {
            let router = self.router();
            let forgotten_early = router.forgotten_early();
            (router.dupes_status(), router.history_status(), router.memory(), forgotten_early)
        };
        if self.forgotten_early.swap(forgotten_early, Ordering::Relaxed) < forgotten_early {
            let text = format!(
                "{forgotten_early} forms of packets were forgotten before their 30 s were over, \
                 because there were too many: duplicates of them are let through"
            );
            self.fault(DUPES_FORGOTTEN, &text, now);
        }
        let bound = lock(&self.bound).clone();
        let address = |port: &Port| {
            let is_same = |(of, _): &&(Arc<Listener>, SocketAddr)| Arc::ptr_eq(of, &port.listener);
            bound.iter().find(is_same).map_or(port.listener.address, |(_, address)| *address)
        };
        StatusSnapshot {
            now,
            started: *self.started.read().unwrap_or_else(PoisonError::into_inner),
            clients: all.clients,
            connects: all.connects,
            refused: all.refused,
            stale_cuts: self.stale_cuts.load(Ordering::Relaxed),
            tcp: self.totals[0].read(),
            udp: self.totals[1].read(),
            sctp: self.totals[2].read(),
            listeners: self
                .ports()
                .iter()
                .map(|port| listener_status(port, address(port)))
                .collect(),
            uplinks: self.uplink_statuses(&config),
            dupes,
            history,
            memory,
            faults: lock(&self.faults).list(),
        }
    }

    fn uplink_statuses(&self, config: &Config) -> Vec<UplinkStatus> {
        let states = lock(&self.uplinks);
        let status = |uplink: &Arc<crate::config::Uplink>| {
            let state = states.get(&uplink.name).cloned().unwrap_or_default();
            UplinkStatus {
                uplink: Arc::clone(uplink),
                conn: state.conn,
                attempts: state.attempts,
                error: state.error,
            }
        };
        config.uplinks.iter().map(status).collect()
    }

    /// An uplink is about to be connected.
    pub fn uplink_attempt(&self, name: &str) {
        let mut states = lock(&self.uplinks);
        if has_uplink(&self.config(), name) {
            states.entry(name.to_owned()).or_default().attempts += 1;
        }
    }

    /// Records that an uplink is connected, or is not and why. An uplink that was removed from the
    /// configuration is ignored.
    pub fn uplink_is(&self, name: &str, conn: Option<ConnId>, error: Option<String>, now: Now) {
        let mut states = lock(&self.uplinks);
        // Asked for with the states locked, as a reload drops those of uplinks that are gone.
        let config = self.config();
        if has_uplink(&config, name) {
            let state = states.entry(name.to_owned()).or_default();
            state.conn = conn;
            if conn.is_some() || error.is_some() {
                state.error.clone_from(&error);
            }
        }
        let is_any_there = states.values().any(|state| state.conn.is_some());
        match (is_any_there || config.uplinks.is_empty(), error) {
            (true, _) => self.fault_over(NO_UPLINK),
            (false, error) => {
                let why = error.unwrap_or_else(|| "disconnected".to_owned());
                self.fault(NO_UPLINK, &format!("no uplink is connected; {name}: {why}"), now);
            }
        }
    }

    /// A connection was refused before the engine saw it: by the ACL.
    pub fn refused(&self, listener: usize) {
        self.all.refuse();
        if let Some(port) = self.port(listener) {
            port.gauge.refuse();
        }
    }

    /// Reports something that does not work: each name is one row of the status page.
    pub fn fault(&self, name: &'static str, text: &str, now: Now) {
        lock(&self.faults).raise(name, text, now.utc_ns);
    }

    /// Reports that it works again.
    pub fn fault_over(&self, name: &str) {
        lock(&self.faults).over(name);
    }

    pub(crate) fn count_stale_cut(&self) {
        self.stale_cuts.fetch_add(1, Ordering::Relaxed);
    }

    /// State for the next program, once the workers have stopped.
    pub fn save(&self, now: Now) -> ServerState {
        let all = self.all.read();
        let key = |port: &Arc<Port>| (port_key(&port.listener), port.gauge.read());
        let mut state = ServerState {
            started_utc_ns: self.started.read().unwrap_or_else(PoisonError::into_inner).utc_ns,
            ports: self.ports().iter().map(key).collect(),
            totals: [0, 1, 2].map(|index: usize| self.totals[index].read()),
            clients_peak: all.clients_peak,
            connects: all.connects,
            refused: all.refused,
            stale_cuts: self.stale_cuts.load(Ordering::Relaxed),
            next_conn: self.next_conn.load(Ordering::Relaxed),
            ..ServerState::default()
        };
        self.router().save(now.monotonic_ns, &mut state);
        state
    }

    /// Takes over what an earlier program saved; before the first input.
    pub fn restore(&self, state: &ServerState, now: Now) {
        let passed = now.utc_ns.saturating_sub(state.started_utc_ns).max(0);
        *self.started.write().unwrap_or_else(PoisonError::into_inner) = Now {
            monotonic_ns: now.monotonic_ns.saturating_sub(passed.unsigned_abs()),
            utc_ns: state.started_utc_ns,
        };
        for port in self.ports() {
            let key = port_key(&port.listener);
            if let Some((_, counters)) = state.ports.iter().find(|(of, _)| *of == key) {
                port.gauge.restore(counters);
            }
        }
        for (meter, traffic) in self.totals.iter().zip(&state.totals) {
            meter.add(traffic);
        }
        let everywhere = PortCounters {
            clients_peak: state.clients_peak,
            connects: state.connects,
            refused: state.refused,
            ..Default::default()
        };
        self.all.restore(&everywhere);
        self.stale_cuts.fetch_add(state.stale_cuts, Ordering::Relaxed);
        self.next_conn.fetch_max(state.next_conn, Ordering::Relaxed);
        self.router().restore(state, now.monotonic_ns);
    }

    /// The version that is sent to others.
    pub(super) fn version(&self, config: &Config) -> Arc<str> {
        config.fake_version.as_deref().map_or_else(|| Arc::clone(&self.identity.version), Arc::from)
    }

    pub(super) fn router(&self) -> MutexGuard<'_, Router> {
        lock(&self.router)
    }

    pub(super) fn port(&self, index: usize) -> Option<Arc<Port>> {
        self.ports.read().unwrap_or_else(PoisonError::into_inner).get(index).cloned()
    }

    pub(super) fn ports(&self) -> Vec<Arc<Port>> {
        self.ports.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn total(&self, total: Total) -> &Meter {
        &self.totals[total as usize]
    }

    /// Puts mail into the box of worker `index`, and wakes it once where it does not look by itself.
    pub(super) fn send(&self, index: usize, mail: Mail) {
        let mailbox = &self.mailboxes[index];
        let wakes = {
            let mut waiting = lock(&mailbox.mail);
            let can_wait = waiting.is_quiet && matches!(mail, Mail::Packets(_));
            waiting.mail.push(mail);
            !can_wait && !std::mem::replace(&mut waiting.is_woken, true)
        };
        if let (true, Some(waker)) = (wakes, mailbox.waker.get()) {
            waker();
        }
    }

    /// Whether a worker looks for packets by itself soon. Whether mail is there that it has to look
    /// at now, as it no longer does.
    pub(super) fn set_quiet(&self, index: usize, is_quiet: bool) -> bool {
        let mut waiting = lock(&self.mailboxes[index].mail);
        waiting.is_quiet = is_quiet;
        !is_quiet && !waiting.mail.is_empty()
    }

    /// Puts a block into all mailboxes. To be called with the router locked: all workers must see
    /// blocks in one order. `own` is not woken, because it looks itself.
    pub(super) fn broadcast(&self, own: usize, block: &Arc<Block>) {
        for (index, mailbox) in self.mailboxes.iter().enumerate() {
            if index == own {
                lock(&mailbox.mail).mail.push(Mail::Packets(Arc::clone(block)));
            } else {
                self.send(index, Mail::Packets(Arc::clone(block)));
            }
        }
    }

    /// Has the worker of a connection close it.
    pub(super) fn disconnect(&self, login: LoggedIn, reason: &'static str) {
        self.send(login.worker, Mail::Disconnect { conn: login.conn, reason });
    }

    pub(super) fn logins(&self) -> RwLockReadGuard<'_, Logins> {
        self.logins.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn logins_mut(&self) -> RwLockWriteGuard<'_, Logins> {
        self.logins.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn mail_count(&self, index: usize) -> usize {
        lock(&self.mailboxes[index].mail).mail.len()
    }

    pub(super) fn take_mail(&self, index: usize, into: &mut Vec<Mail>) {
        let mut waiting = lock(&self.mailboxes[index].mail);
        waiting.is_woken = false;
        into.append(&mut waiting.mail);
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("identity", &self.identity).finish_non_exhaustive()
    }
}

fn has_uplink(config: &Config, name: &str) -> bool {
    config.uplinks.iter().any(|uplink| uplink.name == name)
}

/// Key that identifies a port across two configurations.
pub(super) fn port_key(listener: &Listener) -> (SocketAddr, String) {
    let protocol = match listener.protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Sctp => "sctp",
        Protocol::WebSocket => "websocket",
    };
    (listener.address, protocol.to_owned())
}

/// Ports of a configuration, with the counters of those that there were before.
fn ports_of(config: &Config, before: &[Arc<Port>]) -> Vec<Arc<Port>> {
    let mut ports: Vec<Arc<Port>> = Vec::with_capacity(config.listeners.len());
    for listener in &config.listeners {
        let same = |port: &&Arc<Port>| {
            port.listener.address == listener.address
                && port.listener.protocol == listener.protocol
                && port.listener.name == listener.name
        };
        let gauge = before.iter().find(same).map(|port| Arc::clone(&port.gauge));
        ports.push(Arc::new(Port {
            listener: Arc::clone(listener),
            gauge: gauge.unwrap_or_default(),
        }));
    }
    ports
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Poisoning is ignored: the guarded state is consistent wherever a thread could panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listener_status(port: &Port, address: SocketAddr) -> ListenerStatus {
    let counters = port.gauge.read();
    ListenerStatus {
        listener: Arc::clone(&port.listener),
        address,
        clients: counters.clients,
        clients_peak: counters.clients_peak,
        connects: counters.connects,
        traffic: counters.traffic,
    }
}
