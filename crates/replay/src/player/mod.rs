//! Player: delivers recorded inputs to real sockets, at their virtual instants under a coordinator,
//! or in real time, or faster or slower by a factor.
//!
//! Inputs are read while they are delivered. Under a coordinator the player's sends and receives
//! follow the processes' tokens and never the kernel's buffers, which makes them the same every
//! time.

mod answers;
mod before;
mod delivered;
mod feed;
mod login;
mod recordings;
mod select;
mod streams;
mod thinning;

pub use answers::Answers;
pub use delivered::{Delivered, RecordingReport};
pub use feed::{Feed, FeedPart};
pub use login::Lines;
pub use recordings::FeedError;
pub use select::{FeedKind, Select, Transport};

use crate::capture::{Arrival, ArrivalContent};
use crate::schedule::ScheduleMode;
use crate::wire::{ConnectionEvent, Endpoint, Token};
use chronoscope_clock as clock;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;
use streams::{Link, Streams};

/// Senders of datagrams that have a socket of their own at a time.
const SENDERS_MAX: usize = 256;
/// Room of a receiver's socket that the datagrams of one delivery may take, octets: half of the
/// kernel's usual 208 kB, each datagram with what the kernel books for it.
const DATAGRAM_ROOM: usize = 96 << 10;
const DATAGRAM_OVERHEAD: usize = 768;
/// Connections opened in one delivery: what a listener's queue holds.
const OPENED_MAX: usize = 64;

/// An input that comes later than this is counted.
const LATE: Duration = Duration::from_millis(1);

/// Result of playing a recording in real time, or at a factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Elapsed time from the first input until after the last.
    pub elapsed: Duration,
    /// Recorded time from the first input to the last one played.
    pub recorded: Duration,
    /// Inputs delivered more than a millisecond after their time: this program, or a receiver that
    /// does not accept a connection, is too slow for the factor.
    pub late_count: u64,
    /// The latest, after its time.
    pub late_max: Duration,
}

/// Player of recorded inputs.
#[derive(Debug, Default)]
pub struct Player {
    feeds: Vec<Feed>,
    start_utc_ns: i64,
    step_ns: i64,
    /// The local end that stands for a recorded sender; by feed, as two recordings may have the
    /// same addresses.
    senders: BTreeMap<(usize, Endpoint), Endpoint>,
    sender_order: VecDeque<(usize, Endpoint)>,
    sockets: BTreeMap<Endpoint, (usize, UdpSocket)>,
    buffer: Vec<u8>,
    streams: Streams,
    answers: Answers,
    last_after_start_ns: Option<i64>,
    failure: Option<String>,
}

impl Player {
    /// A player without inputs.
    #[must_use]
    pub fn none() -> Self {
        Self { step_ns: 1, ..Self::default() }
    }

    /// Delivers recorded inputs. `start_utc_ns`: the replay's beginning; what arrived before it
    /// comes at the beginning.
    #[must_use]
    pub fn new(feeds: Vec<Feed>, start_utc_ns: i64) -> Self {
        Self { feeds, start_utc_ns, ..Self::none() }
    }

    /// Delivers the arrivals of one step together at its end, so that processes work on them in
    /// parallel. At least a nanosecond.
    #[must_use]
    pub fn step(mut self, step: Duration) -> Self {
        self.step_ns = i64::try_from(step.as_nanos()).unwrap_or(i64::MAX).max(1);
        self
    }

    /// Keeps what comes back, in a folder.
    #[must_use]
    pub fn keeping(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// Result of each input.
    #[must_use]
    pub fn delivered(&self) -> Vec<Delivered> {
        self.feeds.iter().map(Feed::result).collect()
    }

    /// Number of delivered inputs, the lead-in's included.
    #[must_use]
    pub fn inputs(&self) -> u64 {
        let all = |feed: &Feed| feed.delivered.lead_in_inputs + feed.delivered.inputs;
        self.feeds.iter().map(all).sum()
    }

    /// From now on deliveries and replies are those of the window; replies until now are in their
    /// files.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn begin_window(&mut self) -> io::Result<()> {
        self.feeds.iter_mut().for_each(Feed::begin_window);
        self.answers.finish()
    }

    /// Remarks on the recordings.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.feeds.iter().flat_map(|feed| feed.remarks().iter().cloned()).collect()
    }

    /// Virtual time from the beginning to the last input, once there are no more.
    pub(crate) fn over_after_start_ns(&self) -> Option<i64> {
        self.last_after_start_ns.filter(|_| self.next_feed().is_none())
    }

    /// Reason why reading or storing failed.
    pub(crate) fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    fn next_feed(&self) -> Option<(usize, i64)> {
        let next = |(index, feed): (usize, &Feed)| feed.next_ns().map(|at| (index, at));
        self.feeds.iter().enumerate().filter_map(next).min_by_key(|(_, at)| *at)
    }

    fn due_after_start_ns(&self, at_ns: i64) -> i64 {
        let after = at_ns.saturating_sub(self.start_utc_ns).max(0);
        after.saturating_add(self.step_ns - 1) / self.step_ns * self.step_ns
    }

    /// Virtual time since the replay's beginning at which the next input is due, in ns.
    pub(crate) fn next_after_start_ns(&self) -> Option<i64> {
        self.next_feed().map(|(_, at_ns)| self.due_after_start_ns(at_ns))
    }

    /// Delivers due inputs: one input in serial mode; in parallel mode all of the instant, as far
    /// as they fit into the receivers' queues.
    pub(crate) fn deliver(
        &mut self,
        now_after_start_ns: i64,
        mode: ScheduleMode,
    ) -> io::Result<Vec<Token>> {
        let mut tokens = Vec::new();
        let mut room: BTreeMap<SocketAddr, usize> = BTreeMap::new();
        let mut opened = 0;
        while let Some((index, at_ns)) = self.next_feed() {
            if self.due_after_start_ns(at_ns) > now_after_start_ns || opened == OPENED_MAX {
                break;
            }
            let used = room.entry(self.feeds[index].target).or_default();
            if *used > DATAGRAM_ROOM {
                break;
            }
            self.last_after_start_ns = Some(now_after_start_ns);
            let Some(arrival) = self.read(index) else { break };
            match &arrival.what {
                ArrivalContent::Datagram(octets) => *used += octets.len() + DATAGRAM_OVERHEAD,
                ArrivalContent::Opened => opened += 1,
                _ => {}
            }
            self.arrival(index, arrival, &mut tokens)?;
            if mode == ScheduleMode::Serial {
                break;
            }
        }
        Ok(tokens)
    }

    fn read(&mut self, index: usize) -> Option<Arrival> {
        match self.feeds[index].take() {
            Ok(arrival) => arrival,
            Err(error) => {
                self.failure = Some(error.to_string());
                None
            }
        }
    }

    /// Plays without a coordinator: each input when its time since the first has passed, divided by
    /// `factor` (1: as recorded; 10: ten times as fast). Blocks until the last; `goes_on` is called
    /// before each and during waits.
    ///
    /// # Errors
    /// When a socket fails or a recording cannot be read on.
    pub fn play(&mut self, factor: f64, mut goes_on: impl FnMut() -> bool) -> io::Result<Played> {
        let mut played = Played::default();
        let Some((_, first_ns)) = self.next_feed() else { return Ok(played) };
        let start_ns = clock::monotonic_ns();
        while let Some((index, at_ns)) = self.next_feed().filter(|_| goes_on()) {
            let recorded = Duration::from_nanos((at_ns - first_ns).max(0).cast_unsigned());
            let due = Duration::try_from_secs_f64(recorded.as_secs_f64() / factor)
                .unwrap_or(Duration::MAX);
            loop {
                let passed = Duration::from_nanos(clock::monotonic_ns() - start_ns);
                let Some(left) = due.checked_sub(passed).filter(|left| !left.is_zero()) else {
                    break;
                };
                if !goes_on() {
                    played.elapsed = Duration::from_nanos(clock::monotonic_ns() - start_ns);
                    return Ok(played);
                }
                clock::sleep(left.min(Duration::from_millis(20)));
                self.take_all()?;
            }
            let passed = Duration::from_nanos(clock::monotonic_ns() - start_ns);
            played.recorded = recorded;
            played.late_max = played.late_max.max(passed.saturating_sub(due));
            played.late_count += u64::from(passed.saturating_sub(due) > LATE);
            if let Some(arrival) = self.read(index) {
                self.arrival(index, arrival, &mut Vec::new())?;
            }
            self.take_all()?;
            if let Some(failure) = self.failure.take() {
                return Err(io::Error::other(failure));
            }
        }
        played.elapsed = Duration::from_nanos(clock::monotonic_ns() - start_ns);
        Ok(played)
    }

    /// Receives late replies, and passes on inputs that receivers had no room for, for a time.
    ///
    /// # Errors
    /// When a socket fails.
    pub fn settle(&mut self, time: Duration, mut goes_on: impl FnMut() -> bool) -> io::Result<()> {
        let start_ns = clock::monotonic_ns();
        while u128::from(clock::monotonic_ns() - start_ns) < time.as_nanos() && goes_on() {
            self.take_all()?;
            clock::sleep(Duration::from_millis(5).min(time));
        }
        self.take_all()
    }

    fn arrival(
        &mut self,
        index: usize,
        arrival: Arrival,
        tokens: &mut Vec<Token>,
    ) -> io::Result<()> {
        let feed = &self.feeds[index];
        let (transport, target) = (feed.transport, feed.target);
        let bytes = match &arrival.what {
            ArrivalContent::Datagram(octets) | ArrivalContent::Octets(octets) => {
                octets.len() as u64
            }
            ArrivalContent::Opened | ArrivalContent::Ended => 0,
        };
        let link = Link { feed: index, from: arrival.from, to: arrival.to };
        let done = match (arrival.what, transport) {
            (ArrivalContent::Datagram(octets), Transport::Udp) => {
                let from = self.send_datagram((index, arrival.from), &octets, target)?;
                tokens.push(Token {
                    event: ConnectionEvent::Datagram,
                    count: 1,
                    from,
                    to: target.into(),
                });
                true
            }
            (ArrivalContent::Opened, Transport::Tcp) => {
                let name = &self.feeds[index].delivered.name;
                self.streams.open(link, name, target, tokens)?
            }
            (ArrivalContent::Octets(octets), Transport::Tcp) => {
                self.streams.octets(link, octets, tokens)?
            }
            (ArrivalContent::Ended, Transport::Tcp) => self.streams.end(link, tokens)?,
            _ => false,
        };
        let delivered = &mut self.feeds[index].delivered;
        if done {
            delivered.inputs += 1;
            delivered.bytes += bytes;
        } else {
            delivered.undelivered += 1;
        }
        Ok(())
    }

    /// By the socket that stands for a recorded sender; with its port where it is free.
    fn send_datagram(
        &mut self,
        who: (usize, Endpoint),
        octets: &[u8],
        target: SocketAddr,
    ) -> io::Result<Endpoint> {
        let local = match self.senders.get(&who) {
            Some(local) => *local,
            None => self.sender(who)?,
        };
        match self.sockets[&local].1.send_to(octets, target) {
            Ok(_) => {}
            // The port is closed (by now): the kernel reports that of an earlier datagram.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(io::Error::other(format!("datagram to {target}: {error}"))),
        }
        Ok(local)
    }

    fn sender(&mut self, who: (usize, Endpoint)) -> io::Result<Endpoint> {
        if self.senders.len() == SENDERS_MAX {
            let oldest = self.sender_order.pop_front();
            if let Some(local) = oldest.and_then(|oldest| self.senders.remove(&oldest)) {
                self.sockets.remove(&local);
            }
        }
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, who.1.port))
            .or_else(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)))?;
        socket.set_nonblocking(true)?;
        let local = socket.local_addr()?.into();
        self.sockets.insert(local, (who.0, socket));
        self.sender_order.push_back(who);
        self.senders.insert(who, local);
        Ok(local)
    }

    /// Handles a process's action that concerns the player. Returns the player's own actions.
    ///
    /// # Errors
    /// When a socket or an answer's file fails.
    pub(crate) fn heard(&mut self, token: &Token) -> io::Result<Vec<Token>> {
        if self.feeds.is_empty() {
            return Ok(Vec::new());
        }
        if token.event == ConnectionEvent::Datagram {
            self.take_datagram(token.to)?;
            return Ok(Vec::new());
        }
        let mut tokens = Vec::new();
        let taken = self.streams.heard(token, &mut self.answers, &mut tokens)?;
        if let Some((feed, bytes)) = taken {
            self.feeds[feed].delivered.answer_bytes += bytes;
        }
        Ok(tokens)
    }

    fn take_datagram(&mut self, at: Endpoint) -> io::Result<()> {
        let Some((feed, socket)) = self.sockets.get(&at) else { return Ok(()) };
        streams::wait_readable(socket)?;
        self.buffer.resize(65_536, 0);
        if let Ok(length) = socket.recv(&mut self.buffer) {
            let delivered = &mut self.feeds[*feed].delivered;
            self.answers.add(&delivered.name, &self.buffer[..length])?;
            delivered.answer_bytes += length as u64;
        }
        Ok(())
    }

    /// Without a coordinator: receives replies, and sends inputs that found no room before.
    fn take_all(&mut self) -> io::Result<()> {
        self.buffer.resize(65_536, 0);
        for (feed, socket) in self.sockets.values() {
            while let Ok(length) = socket.recv(&mut self.buffer) {
                let delivered = &mut self.feeds[*feed].delivered;
                self.answers.add(&delivered.name, &self.buffer[..length])?;
                delivered.answer_bytes += length as u64;
            }
        }
        for (feed, bytes) in self.streams.take_all(&mut self.answers)? {
            self.feeds[feed].delivered.answer_bytes += bytes;
        }
        Ok(())
    }

    /// Writes the received replies to their files.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.answers.finish()
    }
}
