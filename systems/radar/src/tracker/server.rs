//! The tracker's process: plots in by UDP, track messages out by TCP.
//!
//! One thread, one poll. Each datagram is taken through the whole tracker and its messages are
//! flushed to the subscribers before the next one is read.

use super::{Counts, Precision, Processor, ProcessorCounts, Radars, Settings};
use crate::asterix::DataSource;
use crate::geodesy::Wgs84;
use crate::link::{Hub, HubCounts, Signals, announce};
use chronoscope_clock as clock;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// How the tracker's process is set up.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Where plots arrive, UDP.
    pub plots: SocketAddr,
    /// Multicast groups to join on the interface of `plots`.
    pub join: Vec<IpAddr>,
    /// File that gets the address on which plots are received.
    pub plots_port_file: Option<PathBuf>,
    /// Where subscribers connect, TCP.
    pub listen: SocketAddr,
    /// File that gets the address on which subscribers are served.
    pub port_file: Option<PathBuf>,
    /// Octets that may wait for one subscriber before it is cut.
    pub queue_octets_max: usize,
    /// Origin of the tracker's plane.
    pub origin: Wgs84,
    /// Radars whose positions are known beforehand.
    pub radars: Vec<(DataSource, Wgs84)>,
    /// How precisely the radars measure.
    pub precision: Precision,
    /// SAC/SIC of the tracker.
    pub source: DataSource,
}

/// What the process did, for its `--json` summary. No CPU time is in it: what a replay prints is
/// the same every time, and who runs the program measures that.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Summary {
    /// Format of this summary; raised when a field changes its meaning.
    pub version: u32,
    /// Seconds from the start to the end.
    pub seconds: f64,
    /// Radars heard of.
    pub radars: usize,
    /// Believed tracks at the end.
    pub tracks: usize,
    /// Decoding, conversion and encoding.
    pub processor: ProcessorCounts,
    /// Correlation and track life.
    pub tracker: Counts,
    /// Subscribers.
    pub subscribers: HubCounts,
    /// Datagrams that could not be received.
    pub receive_errors: u64,
}

const SIGNALS: Token = Token(0);
const PLOTS: Token = Token(1);
const HUB: Token = Token(2);
/// How often ended tracks are looked for when no plots come, ms.
const TICK_MS: u64 = 500;
/// Datagrams taken before subscribers and signals are looked after again.
const DATAGRAMS_A_TURN: usize = 64;

/// Runs until SIGINT or SIGTERM.
///
/// # Errors
/// When a socket, a port file or the poll cannot be set up or fails for good.
pub fn run(settings: &ServerSettings) -> io::Result<Summary> {
    let mut server = Server::start(settings)?;
    let begin_ns = clock::monotonic_ns();
    let mut events = Events::with_capacity(256);
    while !server.signals.stop() {
        let wait = if server.readable { 0 } else { TICK_MS };
        match server.poll.poll(&mut events, Some(Duration::from_millis(wait))) {
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        for event in &events {
            match event.token() {
                SIGNALS => server.signals.acknowledge(),
                PLOTS => server.readable = true,
                _ => server.hub.ready(server.poll.registry(), event),
            }
        }
        server.receive();
        let hub = &mut server.hub;
        server.processor.tick(clock::utc_now_ns(), |message| hub.push(message));
        hub.flush(server.poll.registry());
    }
    Ok(server.summary(begin_ns))
}

struct Server {
    poll: Poll,
    signals: Signals,
    socket: UdpSocket,
    hub: Hub,
    processor: Processor,
    /// The socket may hold more: its event comes once.
    readable: bool,
    buffer: Vec<u8>,
    receive_errors: u64,
}

impl Server {
    fn start(settings: &ServerSettings) -> io::Result<Self> {
        let poll = Poll::new()?;
        let signals = Signals::catch(poll.registry(), SIGNALS)?;
        let mut socket = UdpSocket::bind(settings.plots)?;
        for group in &settings.join {
            join(&socket, *group, settings.plots)?;
        }
        poll.registry().register(&mut socket, PLOTS, Interest::READABLE)?;
        let hub = Hub::bind(settings.listen, poll.registry(), HUB, settings.queue_octets_max)?;

        let mut radars = Radars::new(settings.origin, settings.precision);
        for (source, at) in &settings.radars {
            radars.place(*source, *at).map_err(io::Error::other)?;
        }
        let processor = Processor::new(radars, Settings::default(), settings.source);
        let plots = socket.local_addr()?;
        announce("radar-tracker", "plots by UDP", plots, settings.plots_port_file.as_deref())?;
        let listen = hub.local_addr()?;
        announce("radar-tracker", "tracks by TCP", listen, settings.port_file.as_deref())?;
        // The largest UDP datagram.
        let buffer = vec![0; 65_536];
        Ok(Self {
            poll,
            signals,
            socket,
            hub,
            processor,
            readable: false,
            buffer,
            receive_errors: 0,
        })
    }

    fn receive(&mut self) {
        for _ in 0..DATAGRAMS_A_TURN {
            if !self.readable {
                return;
            }
            match self.socket.recv_from(&mut self.buffer) {
                Ok((octets, _)) => {
                    let hub = &mut self.hub;
                    let datagram = &self.buffer[..octets];
                    self.processor
                        .datagram(datagram, clock::utc_now_ns(), |message| hub.push(message));
                    hub.flush(self.poll.registry());
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.readable = false,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // An ICMP answer to something we never sent, or memory short for a moment.
                Err(_) => {
                    self.receive_errors += 1;
                    self.readable = false;
                }
            }
        }
    }

    fn summary(&self, begin_ns: u64) -> Summary {
        let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
        Summary {
            version: 2,
            seconds: seconds(clock::monotonic_ns() - begin_ns),
            radars: self.processor.radar_count(),
            tracks: self.processor.confirmed_count(),
            processor: self.processor.counts().clone(),
            tracker: self.processor.tracker_counts(),
            subscribers: self.hub.counts(),
            receive_errors: self.receive_errors,
        }
    }
}

fn join(socket: &UdpSocket, group: IpAddr, at: SocketAddr) -> io::Result<()> {
    match (group, at.ip()) {
        (IpAddr::V4(group), IpAddr::V4(interface)) => socket.join_multicast_v4(&group, &interface),
        (IpAddr::V4(group), IpAddr::V6(_)) => {
            socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED)
        }
        (IpAddr::V6(group), _) => socket.join_multicast_v6(&group, 0),
    }
}
