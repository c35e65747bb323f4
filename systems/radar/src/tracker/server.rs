//! The tracker's process: plots in by UDP or from a capture, track messages out by TCP and into a
//! capture.
//!
//! One thread, one poll. Each datagram is taken through the whole tracker and its messages are
//! flushed to the subscribers before the next one is read, unless they are to be held
//! ([`Sending`]).

use super::pair::{Pair, PairSettings, PairSummary};
use super::recording::{Output, Playback};
use super::regularity::RadarReport;
use super::sites::RadarSite;
use super::status;
use super::surveillance::StationEditions;
use super::{
    Counts, Precision, Processor, ProcessorCounts, RadarBias, RadarClock, Radars, Settings,
};
use crate::asterix::DataSource;
use crate::geodesy::Wgs84;
use crate::link::{
    Datagrams, Destinations, GROUPS_MAX, Hub, HubCounts, Sending, Signals, announce,
};
use chronoscope_clock as clock;
use mio::{Events, Poll, Registry, Token};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
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
    /// Destinations of all messages by UDP, beside the subscribers.
    pub to: Vec<SocketAddr>,
    /// Address of the interface by which multicast leaves; the system chooses where there is none.
    pub to_interface: Option<Ipv4Addr>,
    /// Routers that multicast passes.
    pub hops: u32,
    /// The other tracker of a pair, of which one stands by.
    pub pair: Option<PairSettings>,
    /// Interval between two status messages (categories 065 and 063) by UDP.
    pub status_interval: Duration,
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
        /// Multicast groups to join on the interface that has the address of `at`; they are heard
        /// on the port of `at`.
        join: Vec<IpAddr>,
        /// File that gets the address on which plots are received.
        port_file: Option<PathBuf>,
    },
    /// Recorded: the datagrams of a capture (pcap or pcapng), or the blocks of a raw recording of
    /// ASTERIX. The process ends with it.
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
    /// Messages that the kernel did not take for a destination by UDP.
    pub udp_errors: u64,
    /// Reason of the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_failure: Option<String>,
    /// Status messages (categories 065 and 063) sent by UDP.
    pub status_messages: u64,
    /// State of the pair, where there are two trackers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<PairSummary>,
    /// Memberships of multicast groups that were renewed, their interface having been made again.
    pub rejoined: u64,
    /// Reason why a capture was not read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_failure: Option<String>,
}

const SIGNALS: Token = Token(0);
const HUB: Token = Token(1);
/// The first of the sockets of plots.
const PLOTS: Token = Token(HUB.0 + Hub::SUBSCRIBERS_MAX + 1);
/// The connection to the other tracker of a pair.
const PEER: Token = Token(PLOTS.0 + GROUPS_MAX + 1);
/// Interval between two searches for ended tracks when no plots arrive, ms.
const TICK_MS: u64 = 500;
/// Interval between two looks at the memberships of multicast groups, ns.
const REJOIN_NS: u64 = 1_000_000_000;
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
                PEER => server.pair.iter_mut().for_each(|pair| pair.ready(event)),
                token if token.0 >= PLOTS.0 => server.source.ready(token),
                _ => server.outputs.hub.ready(server.poll.registry(), event),
            }
        }
        server.follow();
        server.receive();
        server.tick()?;
    }
    server.outputs.hub.finish(server.poll.registry());
    let summary = server.summary(begin_ns);
    if let Some(path) = &settings.smoothed {
        let file = create(path)?;
        let written = server.processor.write_paths(io::BufWriter::new(file));
        written.map_err(|e| io::Error::other(format!("{}: {e}", path.display())))?;
    }
    server.outputs.out.map_or(Ok(()), Output::finish)?;
    Ok(summary)
}

/// Source of datagrams.
#[derive(Debug)]
enum Source {
    Sockets {
        datagrams: Datagrams,
        buffer: Vec<u8>,
        /// When memberships of groups were looked at, monotonic ns.
        joined_ns: u64,
    },
    Capture(Box<Playback>),
}

struct Server {
    poll: Poll,
    signals: Signals,
    source: Source,
    outputs: Outputs,
    processor: Processor,
    pair: Option<Pair>,
    status: StatusClock,
    receive_errors: u64,
}

impl Server {
    fn start(settings: &ServerSettings) -> io::Result<Self> {
        let poll = Poll::new()?;
        let signals = Signals::catch(poll.registry(), SIGNALS)?;
        let usual = settings.tuning.surveillance.editions();
        let editions = StationEditions::new(usual, &settings.radars);
        let source = Source::open(&settings.input, editions, poll.registry())?;
        let out = settings.out.as_deref().map(Output::create).transpose()?;
        let (queue_octets_max, sending) = (settings.queue_octets_max, settings.sending);
        let hub = Hub::bind(settings.listen, poll.registry(), HUB, queue_octets_max, sending)?;

        let to = destinations(settings)?;

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
        processor.set_editions(&settings.radars);
        if let Some(path) = &settings.smoothed {
            // A file that cannot be written is refused at once, not at the end.
            create(path)?;
            processor.keep_paths();
        }
        for site in &settings.radars {
            if let Some(turn_s) = site.turn_s {
                processor.set_period(site.source, turn_s);
            }
        }
        let listen = hub.local_addr()?;
        announce("radar-tracker", "tracks by TCP", listen, settings.port_file.as_deref())?;
        let pair = settings.pair.map(|pair| Pair::new(pair, PEER));
        let outputs = Outputs { hub, to, out, muted: pair.is_some() };
        let status = StatusClock {
            source: settings.source,
            interval_ns: u64::try_from(settings.status_interval.as_nanos()).unwrap_or(u64::MAX),
            due_ns: clock::monotonic_ns(),
            subscribers_due_ns: 0,
            sent: 0,
        };
        Ok(Self { poll, signals, source, outputs, processor, pair, status, receive_errors: 0 })
    }

    /// Whether the input has ended.
    fn is_over(&self) -> bool {
        matches!(&self.source, Source::Capture(playback) if playback.is_over())
    }

    /// Longest time to wait for events.
    fn wait(&self) -> Duration {
        let mut tick = Duration::from_millis(TICK_MS);
        if let Some(due_ns) = self.outputs.hub.deadline_ns() {
            let left_ns = due_ns.saturating_sub(clock::monotonic_ns());
            tick = tick.min(Duration::from_nanos(left_ns));
        }
        if let Some(pair) = &self.pair {
            tick = tick.min(Duration::from_nanos(pair.due_in_ns()));
        }
        match &self.source {
            Source::Sockets { datagrams, .. } if datagrams.is_readable() => Duration::ZERO,
            Source::Sockets { .. } => tick,
            Source::Capture(playback) => {
                playback.due_in_ns().map_or(tick, |ns| Duration::from_nanos(ns).min(tick))
            }
        }
    }

    /// Hears the other tracker of a pair: its numbers, and whether it is there.
    fn follow(&mut self) {
        let Some(pair) = &mut self.pair else { return };
        let (processor, utc_ns) = (&mut self.processor, clock::utc_now_ns());
        if let Some(news) = pair.turn(self.poll.registry(), |t| processor.follow(t, utc_ns)) {
            say!("radar-tracker: {news}");
            self.outputs.muted = !pair.is_in_operation();
            self.status.due_ns = 0;
        }
    }

    fn receive(&mut self) {
        for _ in 0..DATAGRAMS_A_TURN {
            let outputs = &mut self.outputs;
            match &mut self.source {
                Source::Sockets { datagrams, buffer, .. } => match datagrams.receive(buffer) {
                    Ok(Some(octets)) => {
                        let now_ns = clock::utc_now_ns();
                        self.processor.datagram(&buffer[..octets], now_ns, |message| {
                            outputs.pass(message, now_ns);
                        });
                    }
                    Ok(None) => return,
                    Err(_) => self.receive_errors += 1,
                },
                Source::Capture(playback) => {
                    let Some((at_ns, octets)) = playback.take() else { return };
                    self.processor.datagram(&octets, at_ns, |message| {
                        outputs.pass(message, at_ns);
                    });
                    // Seconds may pass from one to the next.
                    self.processor.tick(at_ns, |message| outputs.pass(message, at_ns));
                }
            }
            outputs.hub.flush(self.poll.registry(), clock::monotonic_ns());
        }
    }

    /// Ends tracks that are no longer seen, as of now.
    fn tick(&mut self) -> io::Result<()> {
        self.source.tend(self.poll.registry());
        let now_ns = match &self.source {
            Source::Sockets { .. } => clock::utc_now_ns(),
            Source::Capture(playback) => playback.now_ns(),
        };
        let outputs = &mut self.outputs;
        self.processor.tick(now_ns, |message| outputs.pass(message, now_ns));
        let selected = self.pair.as_ref().map_or(0, Pair::selected);
        if outputs.to.is_some() && !outputs.muted && self.status.is_due() {
            self.status.send(&self.processor, outputs, (selected, now_ns));
        }
        let is_due = match &mut self.pair {
            Some(pair) => pair.status_is_due(),
            None => self.status.is_due_for_subscribers(),
        };
        if is_due {
            // To the other tracker, and to subscribers: who is in operation, and that anybody is.
            match status::blocks(&self.processor, self.status.source, selected, now_ns) {
                Ok(blocks) => outputs.hub.push(&blocks[0]),
                Err(e) => say!("radar-tracker: no status is sent: {e}"),
            }
        }
        outputs.hub.flush(self.poll.registry(), clock::monotonic_ns());
        outputs.out.as_mut().map_or(Ok(()), Output::check)
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
            subscribers: self.outputs.hub.counts(),
            receive_errors: self.receive_errors,
            capture_failure: match &self.source {
                Source::Sockets { .. } => None,
                Source::Capture(playback) => playback.failure.clone(),
            },
            udp_errors: self.outputs.to.as_ref().map_or(0, |to| to.errors),
            udp_failure: self.outputs.to.as_ref().and_then(|to| to.first_error.clone()),
            status_messages: self.status.sent,
            pair: self.pair.as_ref().map(Pair::summary),
            rejoined: match &self.source {
                Source::Sockets { datagrams, .. } => datagrams.rejoined(),
                Source::Capture(_) => 0,
            },
        }
    }
}

/// Destinations of messages.
struct Outputs {
    hub: Hub,
    to: Option<Destinations>,
    out: Option<Output>,
    /// The other tracker of a pair sends, this one does not.
    muted: bool,
}

impl Outputs {
    /// Gives a message about a track to the subscribers, to the destinations by UDP and to the
    /// capture.
    fn pass(&mut self, message: &[u8], at_ns: i64) {
        if self.muted {
            return;
        }
        self.hub.push(message);
        if let Some(to) = &mut self.to {
            to.send(0, message);
        }
        if let Some(out) = &mut self.out {
            out.message(at_ns, message);
        }
    }
}

/// The destinations by UDP, where there are any.
fn destinations(settings: &ServerSettings) -> io::Result<Option<Destinations>> {
    if settings.to.is_empty() {
        return Ok(None);
    }
    let mut to = Destinations::new(settings.to.clone(), false, settings.hops)?;
    if let Some(interface) = settings.to_interface {
        to = to.through(interface)?;
    }
    say!("radar-tracker: tracks by UDP to {}", to.describe());
    Ok(Some(to))
}

fn create(path: &Path) -> io::Result<File> {
    File::create(path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
}

/// When status messages are sent.
struct StatusClock {
    source: DataSource,
    interval_ns: u64,
    /// Monotonic.
    due_ns: u64,
    subscribers_due_ns: u64,
    sent: u64,
}

/// Interval between two status messages of a tracker alone to its subscribers, ns.
const SUBSCRIBERS_NS: u64 = 500_000_000;

impl StatusClock {
    /// Whether subscribers are to hear that this tracker is there; once in [`SUBSCRIBERS_NS`].
    fn is_due_for_subscribers(&mut self) -> bool {
        let now_ns = clock::monotonic_ns();
        let due = now_ns >= self.subscribers_due_ns;
        if due {
            self.subscribers_due_ns = now_ns + SUBSCRIBERS_NS;
        }
        due
    }

    fn is_due(&self) -> bool {
        clock::monotonic_ns() >= self.due_ns
    }

    fn send(
        &mut self,
        processor: &Processor,
        outputs: &mut Outputs,
        (selected, utc_ns): (u8, i64),
    ) {
        self.due_ns = clock::monotonic_ns().saturating_add(self.interval_ns);
        let Some(to) = &mut outputs.to else { return };
        match status::blocks(processor, self.source, selected, utc_ns) {
            Ok(blocks) => {
                blocks.iter().for_each(|block| to.send(0, block));
                self.sent += blocks.len() as u64;
            }
            Err(e) => say!("radar-tracker: no status is sent: {e}"),
        }
    }
}

impl Source {
    fn open(input: &Input, editions: StationEditions, registry: &Registry) -> io::Result<Self> {
        match input {
            Input::Udp { at, join, port_file } => {
                let datagrams = Datagrams::open(*at, join, registry, PLOTS)?;
                let plots = datagrams.local_addr();
                announce("radar-tracker", "plots by UDP", plots, port_file.as_deref())?;
                // The largest UDP datagram.
                let buffer = vec![0; 65_536];
                Ok(Self::Sockets { datagrams, buffer, joined_ns: clock::monotonic_ns() })
            }
            Input::Capture { file, speed } => Playback::open(file, *speed, editions)
                .map(|playback| Self::Capture(Box::new(playback)))
                .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", file.display()))),
        }
    }

    /// Takes note of an event of one of the sockets.
    fn ready(&mut self, token: Token) {
        if let Self::Sockets { datagrams, .. } = self {
            datagrams.ready(token);
        }
    }

    /// Looks after the memberships of groups, about once a second.
    fn tend(&mut self, registry: &Registry) {
        let Self::Sockets { datagrams, joined_ns, .. } = self else { return };
        let now_ns = clock::monotonic_ns();
        if now_ns - *joined_ns >= REJOIN_NS {
            *joined_ns = now_ns;
            datagrams.rejoin(registry);
        }
    }
}
