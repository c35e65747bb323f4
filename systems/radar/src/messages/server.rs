//! The message server's process: subscribes to the tracker, serves the displays.

use super::query::{Desk, QueryCounts, QueryService};
use super::{Forwarder, ForwarderCounts, Now, PlanCorrelation};
use crate::link::{Hub, HubCounts, Sending, Signals, Upstream, UpstreamCounts, announce};
use chronoscope_clock as clock;
use mio::{Events, Poll, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the message server.
#[derive(Debug)]
pub struct ServerSettings {
    /// Addresses of the trackers: one, or the two of a pair, of which one sends at a time.
    pub trackers: Vec<SocketAddr>,
    /// Address for displays, TCP.
    pub listen: SocketAddr,
    /// File that gets the address on which displays are served.
    pub port_file: Option<PathBuf>,
    /// Octets that may wait for one display before it is cut.
    pub queue_octets_max: usize,
    /// Sending policy for displays.
    pub sending: Sending,
    /// Address for queries, TCP; `None` for no queries.
    pub queries: Option<SocketAddr>,
    /// File that gets the address on which questions are answered.
    pub queries_port_file: Option<PathBuf>,
    /// The flight plans.
    pub correlation: PlanCorrelation,
}

/// Summary of the process for `--json`. It has no CPU time: a replay must print the same every
/// time, and the caller of the program can measure it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Summary {
    /// Format of this summary; raised when a field changes its meaning.
    pub version: u32,
    /// Seconds from the start to the end.
    pub seconds: f64,
    /// Flight plans known.
    pub flight_plans: usize,
    /// Tracks that had a plan at the end.
    pub correlated: usize,
    /// Counts of track messages.
    pub forwarder: ForwarderCounts,
    /// The subscription to the tracker, of a pair to the first.
    pub tracker: UpstreamCounts,
    /// The subscription to the second tracker of a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_tracker: Option<UpstreamCounts>,
    /// Counts of displays.
    pub displays: HubCounts,
    /// Counts of queries; absent when there is no address for them.
    pub queries: Option<QueryCounts>,
    /// Positions remembered for questions.
    pub positions_kept: usize,
}

const SIGNALS: Token = Token(0);
const HUB: Token = Token(1);
const QUERIES: Token = Token(HUB.0 + Hub::SUBSCRIBERS_MAX + 1);
/// The first of the subscriptions to trackers: above all others.
const TRACKERS: Token = Token(1 << 20);
/// Interval between two searches for ended tracks and old positions, ns.
const TICK_NS: u64 = 1_000_000_000;
/// Reads from the tracker before displays and signals are looked after again.
const READS_A_TURN: usize = 16;

/// Runs until SIGINT or SIGTERM.
///
/// # Errors
/// When a socket, a port file or the poll cannot be set up or fails for good.
pub fn run(settings: ServerSettings) -> io::Result<Summary> {
    let mut server = Server::start(settings)?;
    let begin_ns = clock::monotonic_ns();
    let mut tick_ns = begin_ns + TICK_NS;
    let mut events = Events::with_capacity(256);
    while !server.signals.stop() {
        let now_ns = clock::monotonic_ns();
        for upstream in &mut server.upstreams {
            upstream.tick(server.poll.registry(), now_ns);
        }
        if now_ns >= tick_ns {
            tick_ns = now_ns + TICK_NS;
            server.forwarder.tick(Now { monotonic_ns: now_ns, utc_ns: clock::utc_now_ns() });
        }
        let due = server.upstreams.iter().map(Upstream::deadline_ns);
        let due_ns = due.chain([server.hub.deadline_ns()]).flatten().fold(tick_ns, u64::min);
        let busy = server.upstreams.iter().any(Upstream::is_readable) || server.asked;
        let wait_ns = if busy { 0 } else { due_ns.saturating_sub(now_ns) };
        match server.poll.poll(&mut events, Some(Duration::from_nanos(wait_ns))) {
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        server.turn(&events);
    }
    server.hub.finish(server.poll.registry());
    Ok(server.summary(begin_ns))
}

struct Server {
    poll: Poll,
    signals: Signals,
    upstreams: Vec<Upstream>,
    hub: Hub,
    queries: Option<QueryService>,
    /// Questions wait that were not their client's turn.
    asked: bool,
    forwarder: Forwarder,
}

impl Server {
    fn start(settings: ServerSettings) -> io::Result<Self> {
        let poll = Poll::new()?;
        let registry = poll.registry();
        let signals = Signals::catch(registry, SIGNALS)?;
        let queue_octets_max = settings.queue_octets_max;
        let sending = settings.sending;
        let hub = Hub::bind(settings.listen, registry, HUB, queue_octets_max, sending)?;
        let file = settings.port_file.as_deref();
        announce("radar-messages", "displays by TCP", hub.local_addr()?, file)?;
        let mut forwarder = Forwarder::new(settings.correlation);
        let mut queries = None;
        if let Some(address) = settings.queries {
            forwarder = forwarder.remembering();
            let desk = Desk::new(forwarder.correlation());
            let service = QueryService::bind(address, registry, QUERIES, queue_octets_max, desk)?;
            let file = settings.queries_port_file.as_deref();
            announce("radar-messages", "queries by TCP", service.local_addr()?, file)?;
            queries = Some(service);
        }
        let tokens = (TRACKERS.0..).map(Token);
        let upstreams = settings.trackers.iter().zip(tokens);
        let upstreams = upstreams.map(|(at, token)| Upstream::new(*at, token)).collect();
        Ok(Self { poll, signals, upstreams, hub, queries, asked: false, forwarder })
    }

    fn turn(&mut self, events: &Events) {
        let now = Now { monotonic_ns: clock::monotonic_ns(), utc_ns: clock::utc_now_ns() };
        let registry = self.poll.registry();
        for event in events {
            match event.token() {
                SIGNALS => self.signals.acknowledge(),
                token if token.0 >= TRACKERS.0 => {
                    self.upstreams.iter_mut().for_each(|up| up.ready(event, now.monotonic_ns));
                }
                token if token.0 < QUERIES.0 => self.hub.ready(registry, event),
                _ => self.queries.iter_mut().for_each(|queries| queries.ready(registry, event)),
            }
        }
        for upstream in &mut self.upstreams {
            for _ in 0..READS_A_TURN {
                if !upstream.is_readable() {
                    break;
                }
                let (forwarder, hub) = (&mut self.forwarder, &mut self.hub);
                upstream.read(now.monotonic_ns, |block| {
                    forwarder.block(block, now, |message| hub.push(message));
                });
                // Everything that has arrived is worked off: nothing rests here unless it is to.
                hub.flush(registry, clock::monotonic_ns());
            }
        }
        self.hub.flush(registry, clock::monotonic_ns());
        // Tracks before questions: an answer is as new as what has arrived.
        if let (Some(queries), Some(situation)) = (&mut self.queries, self.forwarder.situation()) {
            self.asked =
                queries.turn(registry, self.forwarder.correlation(), situation, now.utc_ns);
        }
    }

    fn summary(&self, begin_ns: u64) -> Summary {
        let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
        Summary {
            version: 2,
            seconds: seconds(clock::monotonic_ns() - begin_ns),
            flight_plans: self.forwarder.correlation().plan_count(),
            correlated: self.forwarder.correlation().correlated_count(),
            forwarder: self.forwarder.counts(),
            tracker: self.upstreams.first().map(Upstream::counts).unwrap_or_default(),
            second_tracker: self.upstreams.get(1).map(Upstream::counts),
            displays: self.hub.counts(),
            queries: self.queries.as_ref().map(QueryService::counts),
            positions_kept: self.forwarder.situation().map_or(0, super::Situation::point_count),
        }
    }
}
