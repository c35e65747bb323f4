//! The tracker's process: plots in by UDP or from a capture, track messages out by TCP and into a
//! capture.
//!
//! One thread, one poll. Each datagram is taken through the whole tracker and its messages are
//! flushed to the subscribers before the next one is read, unless they are to be held
//! ([`Sending`]).

use super::recording::{Output, Playback};
use super::regularity::RadarReport;
use super::sites::RadarSite;
use super::{
    Counts, Precision, Processor, ProcessorCounts, RadarBias, RadarClock, Radars, Settings,
};
use crate::asterix::DataSource;
use crate::geodesy::Wgs84;
use crate::link::{Hub, HubCounts, Sending, Signals, announce};
use chronoscope_clock as clock;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the tracker's process.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Input of plots.
    pub input: Input,
    /// Capture (pcapng) that gets all messages about tracks.
    pub out: Option<PathBuf>,
    /// Address for subscribers, TCP.
    pub listen: SocketAddr,
    /// File that gets the address on which subscribers are served.
    pub port_file: Option<PathBuf>,
    /// Octets that may wait for one subscriber before it is cut.
    pub queue_octets_max: usize,
    /// Sending policy.
    pub sending: Sending,
    /// Origin of the tracker's plane.
    pub origin: Wgs84,
    /// Radars whose positions are known beforehand.
    pub radars: Vec<RadarSite>,
    /// File that gets the smoothed paths of all tracks at the end.
    pub smoothed: Option<PathBuf>,
    /// Settings of the tracker.
    pub tuning: Settings,
    /// SAC/SIC of the tracker.
    pub source: DataSource,
    /// Whether the radars' systematic errors are learnt and corrected.
    pub registration: bool,
}

/// Input of plots.
#[derive(Clone, Debug)]
pub enum Input {
    /// Live, by UDP.
    Udp {
        /// Address and port on which they arrive.
        at: SocketAddr,
        /// Multicast groups to join on the interface of `at`.
        join: Vec<IpAddr>,
        /// File that gets the address on which plots are received.
        port_file: Option<PathBuf>,
    },
    /// Recorded: the datagrams of a capture (pcap or pcapng). The process ends with it.
    Capture {
        /// Path of the capture.
        file: PathBuf,
        /// Speed relative to the arrival times; `None` for as fast as possible.
        speed: Option<f64>,
    },
}

/// Summary of the process for `--json`. It has no CPU time: a replay must print the same every
/// time, and the caller of the program can measure it.
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
    /// Systematic errors of the radars, where any could be estimated.
    pub registration: Vec<RadarBias>,
    /// Judgement on the clock of each radar.
    pub clocks: Vec<RadarClock>,
    /// Regularity of each radar's data, and its irregularities.
    pub radar_reports: Vec<RadarReport>,
    /// Counts of subscribers.
    pub subscribers: HubCounts,
    /// Datagrams that could not be received.
    pub receive_errors: u64,
    /// Reason why a capture was not read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_failure: Option<String>,
}

const SIGNALS: Token = Token(0);
const PLOTS: Token = Token(1);
const HUB: Token = Token(2);
/// Interval between two searches for ended tracks when no plots arrive, ms.
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
    while !(server.signals.stop() || server.is_over()) {
        match server.poll.poll(&mut events, Some(server.wait())) {
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        for event in &events {
            match event.token() {
                SIGNALS => server.signals.acknowledge(),
                PLOTS => server.socket_is_readable(),
                _ => server.hub.ready(server.poll.registry(), event),
            }
        }
        server.receive();
        server.tick()?;
    }
    server.hub.finish(server.poll.registry());
    let summary = server.summary(begin_ns);
    if let Some(path) = &settings.smoothed {
        let named = |e: io::Error| io::Error::other(format!("{}: {e}", path.display()));
        let file = std::fs::File::create(path).map_err(named)?;
        server.processor.write_paths(io::BufWriter::new(file)).map_err(named)?;
    }
    server.out.map_or(Ok(()), Output::finish)?;
    Ok(summary)
}

/// Source of datagrams.
#[derive(Debug)]
enum Source {
    Socket {
        socket: UdpSocket,
        /// Whether it may hold more: its event is reported once.
        readable: bool,
        buffer: Vec<u8>,
    },
    Capture(Box<Playback>),
}

struct Server {
    poll: Poll,
    signals: Signals,
    source: Source,
    hub: Hub,
    out: Option<Output>,
    processor: Processor,
    receive_errors: u64,
}

impl Server {
    fn start(settings: &ServerSettings) -> io::Result<Self> {
        let poll = Poll::new()?;
        let signals = Signals::catch(poll.registry(), SIGNALS)?;
        let source = Source::open(&settings.input, poll.registry())?;
        let out = settings.out.as_deref().map(Output::create).transpose()?;
        let (queue_octets_max, sending) = (settings.queue_octets_max, settings.sending);
        let hub = Hub::bind(settings.listen, poll.registry(), HUB, queue_octets_max, sending)?;

        let tuning = settings.tuning;
        let mut radars =
            Radars::new(settings.origin, Precision::default()).with_sensors(tuning.sensors);
        if !settings.registration {
            radars = radars.without_registration();
        }
        for site in &settings.radars {
            radars.know(site).map_err(io::Error::other)?;
        }
        let mut processor = Processor::new(radars, tuning, settings.source);
        if settings.smoothed.is_some() {
            processor.keep_paths();
        }
        for site in &settings.radars {
            if let Some(turn_s) = site.turn_s {
                processor.set_period(site.source, turn_s);
            }
        }
        let listen = hub.local_addr()?;
        announce("radar-tracker", "tracks by TCP", listen, settings.port_file.as_deref())?;
        Ok(Self { poll, signals, source, hub, out, processor, receive_errors: 0 })
    }

    /// Whether the input has ended.
    fn is_over(&self) -> bool {
        matches!(&self.source, Source::Capture(playback) if playback.is_over())
    }

    /// Longest time to wait for events.
    fn wait(&self) -> Duration {
        let mut tick = Duration::from_millis(TICK_MS);
        if let Some(due_ns) = self.hub.deadline_ns() {
            let left_ns = due_ns.saturating_sub(clock::monotonic_ns());
            tick = tick.min(Duration::from_nanos(left_ns));
        }
        match &self.source {
            Source::Socket { readable: true, .. } => Duration::ZERO,
            Source::Socket { .. } => tick,
            Source::Capture(playback) => {
                playback.due_in_ns().map_or(tick, |ns| Duration::from_nanos(ns).min(tick))
            }
        }
    }

    fn socket_is_readable(&mut self) {
        if let Source::Socket { readable, .. } = &mut self.source {
            *readable = true;
        }
    }

    fn receive(&mut self) {
        for _ in 0..DATAGRAMS_A_TURN {
            let (hub, out) = (&mut self.hub, &mut self.out);
            match &mut self.source {
                Source::Socket { readable: false, .. } => return,
                Source::Socket { socket, readable, buffer } => match socket.recv_from(buffer) {
                    Ok((octets, _)) => {
                        let now_ns = clock::utc_now_ns();
                        self.processor.datagram(&buffer[..octets], now_ns, |message| {
                            pass(message, now_ns, hub, out);
                        });
                    }
                    Err(e) if e.kind() == ErrorKind::WouldBlock => *readable = false,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    // An ICMP answer to something we never sent, or memory short for a moment.
                    Err(_) => {
                        self.receive_errors += 1;
                        *readable = false;
                    }
                },
                Source::Capture(playback) => {
                    let Some((at_ns, octets)) = playback.take() else { return };
                    self.processor.datagram(&octets, at_ns, |message| {
                        pass(message, at_ns, hub, out);
                    });
                    // Seconds may pass from one to the next.
                    self.processor.tick(at_ns, |message| pass(message, at_ns, hub, out));
                }
            }
            hub.flush(self.poll.registry(), clock::monotonic_ns());
        }
    }

    /// Ends tracks that are no longer seen, as of now.
    fn tick(&mut self) -> io::Result<()> {
        let now_ns = match &self.source {
            Source::Socket { .. } => clock::utc_now_ns(),
            Source::Capture(playback) => playback.now_ns(),
        };
        let (hub, out) = (&mut self.hub, &mut self.out);
        self.processor.tick(now_ns, |message| pass(message, now_ns, hub, out));
        hub.flush(self.poll.registry(), clock::monotonic_ns());
        out.as_mut().map_or(Ok(()), Output::check)
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
            registration: self.processor.registration(),
            clocks: self.processor.clocks(),
            radar_reports: self.processor.radar_reports(),
            subscribers: self.hub.counts(),
            receive_errors: self.receive_errors,
            capture_failure: match &self.source {
                Source::Socket { .. } => None,
                Source::Capture(playback) => playback.failure.clone(),
            },
        }
    }
}

/// Gives a message to the subscribers and to the capture.
fn pass(message: &[u8], at_ns: i64, hub: &mut Hub, out: &mut Option<Output>) {
    hub.push(message);
    if let Some(out) = out {
        out.message(at_ns, message);
    }
}

impl Source {
    fn open(input: &Input, registry: &Registry) -> io::Result<Self> {
        match input {
            Input::Udp { at, join: groups, port_file } => {
                let mut socket = UdpSocket::bind(*at)?;
                for group in groups {
                    join(&socket, *group, *at)?;
                }
                registry.register(&mut socket, PLOTS, Interest::READABLE)?;
                let plots = socket.local_addr()?;
                announce("radar-tracker", "plots by UDP", plots, port_file.as_deref())?;
                // The largest UDP datagram.
                Ok(Self::Socket { socket, readable: false, buffer: vec![0; 65_536] })
            }
            Input::Capture { file, speed } => {
                Playback::open(file, *speed).map(Box::new).map(Self::Capture)
            }
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
