//! The message server's process: subscribes to the tracker, serves the displays.

use super::{Forwarder, ForwarderCounts, PlanBook};
use crate::link::{Hub, HubCounts, Signals, Upstream, UpstreamCounts, announce};
use chronoscope_clock as clock;
use mio::{Events, Poll, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How the message server is set up.
#[derive(Debug)]
pub struct ServerSettings {
    /// The tracker.
    pub tracker: SocketAddr,
    /// Where displays connect, TCP.
    pub listen: SocketAddr,
    /// File that gets the address on which displays are served.
    pub port_file: Option<PathBuf>,
    /// Octets that may wait for one display before it is cut.
    pub queue_octets_max: usize,
    /// The flight plans.
    pub book: PlanBook,
}

/// What the process did, for its `--json` summary.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Summary {
    /// Format of this summary; raised when a field changes its meaning.
    pub version: u32,
    /// Seconds from the start to the end.
    pub seconds: f64,
    /// CPU seconds used.
    pub cpu_seconds: f64,
    /// Flight plans known.
    pub flight_plans: usize,
    /// Tracks that had a plan at the end.
    pub correlated: usize,
    /// Track messages.
    pub forwarder: ForwarderCounts,
    /// The subscription to the tracker.
    pub tracker: UpstreamCounts,
    /// The displays.
    pub displays: HubCounts,
}

const SIGNALS: Token = Token(0);
const TRACKER: Token = Token(1);
const HUB: Token = Token(2);
/// How often what is over is looked for, ns.
const TICK_NS: u64 = 1_000_000_000;
/// Reads from the tracker before displays and signals are looked after again.
const READS_A_TURN: usize = 16;

/// Runs until SIGINT or SIGTERM.
///
/// # Errors
/// When a socket, the port file or the poll cannot be set up or fails for good.
pub fn run(settings: ServerSettings) -> io::Result<Summary> {
    let mut poll = Poll::new()?;
    let mut signals = Signals::catch(poll.registry(), SIGNALS)?;
    let mut hub = Hub::bind(settings.listen, poll.registry(), HUB, settings.queue_octets_max)?;
    let address = hub.local_addr()?;
    announce("radar-messages", "displays by TCP", address, settings.port_file.as_deref())?;
    let mut upstream = Upstream::new(settings.tracker, TRACKER);
    let mut forwarder = Forwarder::new(settings.book);

    let begin_ns = clock::monotonic_ns();
    let mut tick_ns = begin_ns + TICK_NS;
    let mut events = Events::with_capacity(256);
    while !signals.stop() {
        let now_ns = clock::monotonic_ns();
        upstream.tick(poll.registry(), now_ns);
        if now_ns >= tick_ns {
            tick_ns = now_ns + TICK_NS;
            forwarder.tick(now_ns);
        }
        let due_ns = upstream.deadline_ns().map_or(tick_ns, |d| d.min(tick_ns));
        let wait_ns = if upstream.is_readable() { 0 } else { due_ns.saturating_sub(now_ns) };
        match poll.poll(&mut events, Some(Duration::from_nanos(wait_ns))) {
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        let now_ns = clock::monotonic_ns();
        for event in &events {
            match event.token() {
                SIGNALS => signals.acknowledge(),
                TRACKER => upstream.ready(event, now_ns),
                _ => hub.ready(poll.registry(), event),
            }
        }
        for _ in 0..READS_A_TURN {
            if !upstream.is_readable() {
                break;
            }
            upstream.read(now_ns, |block| {
                forwarder.block(block, now_ns, |message| hub.push(message));
            });
            // Everything that has arrived is worked off: nothing rests here.
            hub.flush(poll.registry());
        }
    }
    let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
    Ok(Summary {
        version: 1,
        seconds: seconds(clock::monotonic_ns() - begin_ns),
        cpu_seconds: seconds(clock::process_cpu_ns()),
        flight_plans: forwarder.book().plan_count(),
        correlated: forwarder.book().correlated_count(),
        forwarder: forwarder.counts(),
        tracker: upstream.counts(),
        displays: hub.counts(),
    })
}
