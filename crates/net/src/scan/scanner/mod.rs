//! Scanner: queries all hosts of a list at once.
//!
//! One thread; a UDP socket for every 128 hosts, where an answer's address and request id identify
//! its host, and a kept connection to every `node_exporter`. Each host has its own timeout from its
//! first query on: a silent host is reported and does not delay the others. Queries are sent a few
//! at a time, which lets the answers fit the sockets' buffers. The cost of unrequested datagrams is
//! bounded; the kernel keeps a flooding address off until the next scan.
//!
//! Not here: hosts `by=agent`, which send by themselves. A host that answers from another address
//! than the queried one counts as silent.

mod host;
mod http;
mod resolve;
mod scrape;
mod sockets;

use super::hosts::Target;
use super::readings::{ReadingStep, Readings};
use super::snmp::OCTETS_MAX;
use crate::rows::{Outcome, ScanRow};
use chronoscope_clock::{monotonic_ns, utc_now_ns};
use host::{Host, HostProtocol, Phase};
use mio::{Events, Poll, Token};
use sockets::{HOSTS_PER_SOCKET, SharedSocket};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Queries of one socket that may be without an answer for [`YOUNG_NS`]: their answers fit the
/// smallest buffer that a system gives (212 992 octets, an answer and the kernel's overhead for it
/// being less than 4 KiB).
const YOUNG_MAX: usize = 48;
const YOUNG_NS: u64 = 20_000_000;
/// Between two looks at who is late.
const TICK_NS: u64 = 5_000_000;
/// Datagrams of one socket before the others' turn.
const AT_ONCE: usize = 128;
/// Tokens from here on are of exporters.
const EXPORTERS: usize = 1 << 20;

/// Options of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Timeout of each host, from its first query on. After a third of it the query is repeated
    /// once.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: Duration::from_millis(400) }
    }
}

/// Result of a scan for one host.
#[derive(Clone, Debug, PartialEq)]
pub struct Scanned {
    /// Row to store.
    pub row: ScanRow,
    /// Differences of its interfaces' counters, where there is an earlier reading.
    pub step: Option<ReadingStep>,
}

/// Asks the same hosts again and again.
#[derive(Debug)]
pub struct Scanner {
    poll: Poll,
    sockets: Vec<SharedSocket>,
    hosts: Vec<Host>,
    by_address: HashMap<SocketAddr, Vec<usize>>,
    readings: Readings,
    timeout_ns: u64,
    kept_off: u64,
}

/// A scan on its way.
struct Turn {
    /// Hosts not asked yet, by their socket.
    waiting: Vec<VecDeque<usize>>,
    /// Times of each socket's last queries, the oldest first.
    young: Vec<VecDeque<u64>>,
    open: usize,
}

impl Scanner {
    /// Resolves the hosts' names, which may take a while. A name without an address is reported by
    /// every scan; hosts `by=agent` are left out.
    ///
    /// # Errors
    /// When a socket cannot be had, or the system gives no random numbers.
    pub fn new(targets: &[Target], options: Options) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut hosts = resolve::hosts(targets)?;
        let sockets = assign(&mut hosts, &poll)?;
        let mut by_address: HashMap<SocketAddr, Vec<usize>> = HashMap::new();
        for (index, host) in hosts.iter().enumerate() {
            if let (HostProtocol::Snmp(_), Ok(address)) = (&host.kind, &host.address) {
                by_address.entry(*address).or_default().push(index);
            }
        }
        let timeout_ns = u64::try_from(options.timeout.as_nanos()).unwrap_or(u64::MAX);
        let readings = Readings::default();
        Ok(Self { poll, sockets, hosts, by_address, readings, timeout_ns, kept_off: 0 })
    }

    /// Number of hosts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether there are no hosts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Number of times that an address was kept off because it flooded.
    #[must_use]
    pub const fn kept_off(&self) -> u64 {
        self.kept_off
    }

    /// Queries all hosts. Returns their results in the order of the list.
    ///
    /// # Errors
    /// When the sockets fail; an error of a host is in that host's result.
    pub fn scan(&mut self) -> io::Result<Vec<Scanned>> {
        let mut turn = self.begin();
        let mut events = Events::with_capacity(1024);
        let mut buffer = vec![0; OCTETS_MAX + 1];
        let mut tick_ns = 0;
        while turn.open > 0 {
            self.send(&mut turn);
            let now_ns = monotonic_ns();
            let is_full = turn.waiting.iter().any(|waiting| !waiting.is_empty());
            let wait = if is_full { Duration::from_millis(1) } else { Duration::from_millis(5) };
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                if let Some(index) = event.token().0.checked_sub(EXPORTERS) {
                    self.scrape(index, &mut turn);
                }
            }
            // Without regard to events: readiness is reported once only.
            for socket in 0..self.sockets.len() {
                self.receive(socket, &mut buffer, &mut turn)?;
            }
            if now_ns >= tick_ns {
                tick_ns = now_ns + TICK_NS;
                self.sweep(&mut turn);
            }
        }
        Ok((0..self.hosts.len()).map(|index| self.scanned(index)).collect())
    }

    fn begin(&mut self) -> Turn {
        self.sockets.iter_mut().for_each(SharedSocket::begin);
        let none = || vec![VecDeque::new(); self.sockets.len()];
        let mut turn = Turn {
            waiting: none(),
            young: vec![VecDeque::new(); self.sockets.len()],
            open: self.hosts.len(),
        };
        let (now_ns, now_utc_ns) = (monotonic_ns(), utc_now_ns());
        for index in 0..self.hosts.len() {
            let host = &mut self.hosts[index];
            host.begin(now_ns, now_utc_ns);
            match (&mut host.kind, &host.address) {
                (_, Err(why)) => {
                    let why = why.clone();
                    host.refuse(&mut turn.open, why);
                }
                (HostProtocol::Snmp(_), Ok(_)) => turn.waiting[host.socket].push_back(index),
                (HostProtocol::Exporter(scrape), Ok(_)) => {
                    let started = scrape.start(self.poll.registry(), Token(EXPORTERS + index));
                    host.phase = Phase::Asked;
                    match started {
                        Ok(()) => self.scrape(index, &mut turn),
                        Err(error) => host.refuse(&mut turn.open, error.to_string()),
                    }
                }
            }
        }
        turn
    }

    /// Asks who is not asked yet, as far as the answers have room.
    fn send(&mut self, turn: &mut Turn) {
        let now_ns = monotonic_ns();
        for socket in 0..self.sockets.len() {
            while turn.young[socket].front().is_some_and(|sent| sent + YOUNG_NS <= now_ns) {
                turn.young[socket].pop_front();
            }
            while turn.young[socket].len() < YOUNG_MAX {
                let Some(index) = turn.waiting[socket].pop_front() else { break };
                let host = &mut self.hosts[index];
                let now_ns = monotonic_ns();
                host.begin(now_ns, utc_now_ns());
                let HostProtocol::Snmp(session) = &mut host.kind else { continue };
                host.phase = Phase::Asked;
                match session.start(now_ns) {
                    Ok(question) => host.question = question,
                    Err(error) => host.refuse(&mut turn.open, error.to_string()),
                }
                self.ask(index, turn);
            }
        }
    }

    /// Sends a host's query. One that the kernel does not accept now is repeated later.
    fn ask(&mut self, index: usize, turn: &mut Turn) {
        let host = &mut self.hosts[index];
        let Ok(address) = host.address else { return };
        if host.phase != Phase::Asked {
            return;
        }
        let now_ns = monotonic_ns();
        host.sent_ns = now_ns;
        turn.young[host.socket].push_back(now_ns);
        match self.sockets[host.socket].send(&host.question, address) {
            Ok(_) => host.unsent = None,
            Err(error) => host.unsent = Some(error.to_string()),
        }
    }

    /// Processes the datagrams of a socket.
    fn receive(&mut self, socket: usize, buffer: &mut [u8], turn: &mut Turn) -> io::Result<()> {
        for _ in 0..AT_ONCE {
            let Some((len, from)) = self.sockets[socket].receive(buffer)? else { return Ok(()) };
            if self.take(&buffer[..len], from, turn) {
                turn.young[socket].pop_front();
            } else if self.sockets[socket].unasked(from)? {
                self.kept_off += 1;
            }
        }
        Ok(())
    }

    /// Whether a datagram was an answer.
    fn take(&mut self, octets: &[u8], from: SocketAddr, turn: &mut Turn) -> bool {
        let Some(indices) = self.by_address.get(&from) else { return false };
        let now_ns = monotonic_ns();
        for index in indices.clone() {
            let host = &mut self.hosts[index];
            let (HostProtocol::Snmp(session), Phase::Asked) = (&mut host.kind, host.phase) else {
                continue;
            };
            match host::answer(session, octets, now_ns) {
                host::Answered::Ignored(why) => host.ignored(why),
                host::Answered::Ask(question) => {
                    (host.question, host.retried) = (question, false);
                    self.ask(index, turn);
                    return true;
                }
                host::Answered::Done(reading) => {
                    let step = self.readings.take(&host.name, reading);
                    host.done(&mut turn.open, step);
                    return true;
                }
                host::Answered::Refused(why) => {
                    host.refuse(&mut turn.open, why);
                    return true;
                }
            }
        }
        false
    }

    /// Goes on with an exporter.
    fn scrape(&mut self, index: usize, turn: &mut Turn) {
        let Some(host) = self.hosts.get_mut(index) else { return };
        let (HostProtocol::Exporter(scrape), Phase::Asked) = (&mut host.kind, host.phase) else {
            return;
        };
        match scrape.go_on(self.poll.registry(), Token(EXPORTERS + index)) {
            Ok(None) => {}
            Ok(Some(exported)) => {
                let reading = host::exported(exported, monotonic_ns(), utc_now_ns());
                let step = self.readings.take(&host.name, reading);
                host.done(&mut turn.open, step);
            }
            Err(why) => host.refuse(&mut turn.open, why),
        }
    }

    /// Asks once more who is late, and gives up who is too late.
    fn sweep(&mut self, turn: &mut Turn) {
        let now_ns = monotonic_ns();
        for index in 0..self.hosts.len() {
            let host = &mut self.hosts[index];
            if host.phase != Phase::Asked {
                continue;
            }
            if now_ns.saturating_sub(host.start_ns) >= self.timeout_ns {
                host.give_up(&mut turn.open);
            } else if !host.retried
                && now_ns.saturating_sub(host.sent_ns) >= self.timeout_ns / 3
                && matches!(host.kind, HostProtocol::Snmp(_))
            {
                host.retried = true;
                self.ask(index, turn);
            }
        }
    }

    fn scanned(&mut self, index: usize) -> Scanned {
        let host = &mut self.hosts[index];
        let (outcome, step) = host.outcome.take().unwrap_or((Outcome::NoAnswer, None));
        let row = ScanRow {
            host: host.name.clone(),
            by: host.by().to_owned(),
            start_ns: host.start_utc_ns,
            elapsed_ns: host.elapsed_ns,
            outcome,
            bits_per_s: step.as_ref().and_then(|step| step.bits_per_s),
        };
        Scanned { row, step }
    }
}

/// Assigns each host with a UDP protocol a socket of its address family.
fn assign(hosts: &mut [Host], poll: &Poll) -> io::Result<Vec<SharedSocket>> {
    let mut sockets = Vec::new();
    let mut room: [(usize, usize); 2] = [(0, 0); 2]; // of each kind: which socket, and how many more
    for host in hosts {
        let (HostProtocol::Snmp(_), Ok(address)) = (&host.kind, &host.address) else { continue };
        let (socket, left) = &mut room[usize::from(address.is_ipv6())];
        if *left == 0 {
            *socket = sockets.len();
            *left = HOSTS_PER_SOCKET;
            sockets.push(SharedSocket::open(*address, poll.registry(), Token(*socket))?);
        }
        host.socket = *socket;
        *left -= 1;
    }
    Ok(sockets)
}
