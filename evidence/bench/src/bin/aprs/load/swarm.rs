//! All clients of a run, and its course: lines are sent at their instants, for the warm-up and the
//! window; what is under way then is waited for.

use super::lines::Lines;
use super::logins::logged_in;
use super::outcome::Latency;
use super::plan::{Plan, SENDERS};
use super::receiver::{Receiver, Tally};
use super::sender::Sender;
use super::sink::Sink;
use crate::filters::{NamedClients, names_only};
use crate::process::Usage;
use crate::server::Server;
use crate::status::{APART, Counts, Reading, StatusPage};
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use chronoscope_statistics::Random;
use mio::{Events, Interest, Poll, Token};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for packets after the last was sent.
const DRAIN_NS: u64 = 2_000_000_000;
/// Nothing is under way any more when nothing came for so long: longer than the server collects.
const QUIET_NS: u64 = 400_000_000;
/// Time between reading the server's counters and the counted window: the answer is long with many
/// clients, and the server's work for it is not that of the load.
const SETTLE_S: f64 = 0.15;
/// Most octets that wait for a sender's socket: what the server does not take is not piled up.
const WAITING_MAX: usize = 1 << 20;

/// Clients of one server.
pub(super) struct Swarm {
    poll: Poll,
    receivers: Vec<Receiver>,
    /// Their events follow those of the receivers.
    sinks: Vec<Sink>,
    senders: Vec<Sender>,
    named: NamedClients,
    /// Octets written to the server, logins included.
    octets_sent: u64,
    pub(super) tally: Tally,
    /// Lines sent, and how many of them were repeated ones.
    pub(super) sent: u64,
    pub(super) repeated: u64,
    /// Packets that clients which name callsigns should get.
    pub(super) named_expected: u64,
    buffer: Box<[u8]>,
}

/// What was measured in the window.
pub(super) struct Window {
    pub(super) length_s: f64,
    /// Lines sent.
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) octets: u64,
    /// Reads that brought something.
    pub(super) reads: u64,
    /// CPU time of this thread.
    pub(super) generator_cpu_s: f64,
    pub(super) latency: Latency,
    pub(super) in_bursts: Latency,
    /// Usage of the server at its begin and its end.
    pub(super) before: Usage,
    pub(super) after: Usage,
    /// The server's counters shortly before its begin, and at its end.
    pub(super) readings: Option<[Reading; 2]>,
}

impl Swarm {
    /// Connects and logs in all clients of a plan.
    pub(super) fn connect(server: &Server, plan: &Plan) -> Result<Self> {
        let poll = Poll::new()?;
        let (full, igate) = (server.port("full")?, server.port("igate")?);
        let mut tally = Tally::new(Arc::clone(&plan.bursting))?;
        let mut octets_sent = 0;
        let mut receivers = Vec::with_capacity(plan.filters.len());
        for (index, filter) in plan.filters.iter().enumerate() {
            let address = if filter.is_empty() { full } else { igate };
            let mut login = logged_in(address, &format!("RX{index}"), filter)?;
            poll.registry().register(&mut login.stream, Token(index), Interest::READABLE)?;
            octets_sent += login.sent;
            tally.octets_read += login.received;
            receivers.push(Receiver::new(login.stream, filter.is_empty(), names_only(filter)));
        }
        let mut sinks = Vec::new();
        for index in 0..plan.sinks {
            let mut login = logged_in(full, &format!("SINK{index}"), "")?;
            let token = Token(receivers.len() + index);
            poll.registry().register(&mut login.stream, token, Interest::READABLE)?;
            octets_sent += login.sent;
            tally.octets_read += login.received;
            sinks.push(Sink::new(login.stream));
        }
        let mut senders = Vec::new();
        for index in 0..SENDERS {
            let call = format!("BENCH-{}", index + 1);
            // Nothing matches this filter: senders receive keepalives, and messages to stations
            // that they are the igates of.
            let login = logged_in(igate, &call, "b/NOBODY")?;
            octets_sent += login.sent;
            tally.octets_read += login.received;
            senders.push(Sender::new(login.stream, call, u8::try_from(index)?));
        }
        let named = NamedClients::of(&plan.filters);
        let buffer = vec![0; 1 << 18].into();
        let (sent, repeated, named_expected) = (0, 0, 0);
        Ok(Self {
            poll,
            receivers,
            sinks,
            senders,
            named,
            octets_sent,
            tally,
            sent,
            repeated,
            named_expected,
            buffer,
        })
    }

    /// Sends and receives through the warm-up and the window.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn drive(&mut self, server: &Server, plan: &Plan) -> Result<Window> {
        let mut lines = Lines::new(plan.recording.as_ref());
        let mut random = Random(11);
        let mut line = String::new();
        let started_ns = clock::monotonic_ns();
        let warm_until = started_ns + ns(plan.warm_s);
        let mut window_from = warm_until + ns(SETTLE_S);
        let (mut reading, mut before) = (None, None);
        loop {
            let now = clock::monotonic_ns();
            if reading.is_none() && now >= warm_until && !plan.others {
                reading = Some(Reading::take(server.port("HTTPStatus")?)?);
                // An answer may take long on a busy machine: the window is as long all the same.
                window_from = clock::monotonic_ns() + ns(SETTLE_S);
            }
            if before.is_none() && now >= window_from {
                self.tally.begin();
                let generator_ns = clock::thread_cpu_ns();
                before = Some((server.usage()?, now, self.sent, generator_ns));
            }
            if before.is_some() && now >= window_from + ns(plan.window_s) {
                break;
            }
            self.send_due(now - started_ns, plan, &mut lines, &mut random, &mut line);
            self.senders.iter_mut().try_for_each(Sender::flush)?;
            self.receive(Duration::from_micros(500))?;
        }
        let (before, from_ns, sent_before, generator_ns) =
            before.context("the window has no begin")?;
        let after = server.usage()?;
        let generator_cpu_s = (clock::thread_cpu_ns() - generator_ns) as f64 / 1e9;
        Ok(Window {
            length_s: (clock::monotonic_ns() - from_ns) as f64 / 1e9,
            sent: self.sent - sent_before,
            delivered: self.tally.delivered,
            octets: self.tally.octets,
            reads: self.tally.reads,
            generator_cpu_s,
            latency: Latency::of(&self.tally.latency_us),
            in_bursts: Latency::of(&self.tally.in_bursts_us),
            before,
            after,
            readings: match reading {
                None => None,
                Some(from) => Some([from, Reading::take(server.port("HTTPStatus")?)?]),
            },
        })
    }

    /// Sends the lines that are due `elapsed_ns` after the start.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn send_due(
        &mut self,
        elapsed_ns: u64,
        plan: &Plan,
        lines: &mut Lines,
        random: &mut Random,
        line: &mut String,
    ) {
        let due = (elapsed_ns as f64 / 1e9 * plan.rate) as u64;
        while self.sent < due && self.senders.iter().all(|one| one.waiting.len() < WAITING_MAX) {
            let sender = &mut self.senders[(self.sent % SENDERS as u64) as usize];
            self.sent += 1;
            if sender.can_repeat() && random.share() < plan.duplicates {
                self.octets_sent += sender.repeat(random) as u64;
                self.repeated += 1;
                continue;
            }
            sender.send(lines, line);
            self.octets_sent += line.len() as u64;
            let source = line.split('>').next().unwrap_or_default();
            self.named_expected += self.named.getting(source);
        }
    }

    /// Takes what has come, and waits for something at most so long.
    fn receive(&mut self, timeout: Duration) -> Result<()> {
        let mut events = Events::with_capacity(1024);
        match self.poll.poll(&mut events, Some(timeout)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            let index = event.token().0;
            match self.receivers.get_mut(index) {
                Some(receiver) => receiver.take(&mut self.buffer, &mut self.tally),
                None => {
                    self.sinks[index - self.receivers.len()].take(&mut self.buffer, &mut self.tally)
                }
            }
        }
        for sender in &mut self.senders {
            sender.take(&mut self.buffer[..4096], &mut self.tally);
        }
        Ok(())
    }

    /// Receives packets in flight. Where the server's counters are to be read again, it takes as
    /// long as the server needs for a new snapshot.
    pub(super) fn drain(&mut self, is_read_again: bool) -> Result<()> {
        let began_ns = clock::monotonic_ns();
        let at_least_ns = if is_read_again { u64::try_from(APART.as_nanos())? } else { 0 };
        let (mut octets, mut last_ns) = (self.tally.octets_read, began_ns);
        loop {
            self.senders.iter_mut().try_for_each(Sender::flush)?;
            self.receive(Duration::from_millis(5))?;
            let now = clock::monotonic_ns();
            if self.tally.octets_read != octets {
                (octets, last_ns) = (self.tally.octets_read, now);
            }
            let waited_ns = now - began_ns;
            let is_quiet = now - last_ns >= QUIET_NS && waited_ns >= at_least_ns;
            if waited_ns >= DRAIN_NS || is_quiet && self.tail() == 0 {
                return Ok(());
            }
        }
    }

    /// Packets that were sent last and that full feeds did not get.
    pub(super) fn tail(&self) -> u64 {
        let open = self.receivers.iter().filter(|receiver| receiver.full && receiver.open);
        open.map(|receiver| {
            let senders = self.senders.iter().zip(receiver.next);
            senders.map(|(sender, next)| u64::from(sender.number - next)).sum::<u64>()
        })
        .sum()
    }

    /// Packets that sinks did not get: by the octets that those who read the same feed got, in
    /// packets of mean length.
    pub(super) fn missing_of_sinks(&self) -> u64 {
        let reader = self.receivers.iter().find(|receiver| receiver.full && receiver.open);
        let Some(reader) = reader.filter(|_| self.sent > 0) else { return 0 };
        let mean = (reader.octets / self.sent).max(1);
        let missing = self.sinks.iter().map(|sink| reader.octets.saturating_sub(sink.octets));
        missing.map(|octets| octets.div_ceil(mean)).sum()
    }

    /// The server's counters over the window and in all, beside what these clients counted.
    pub(super) fn status_page(
        &self,
        server: &Server,
        window: &Window,
    ) -> Result<Option<StatusPage>> {
        let Some([from, to]) = window.readings else { return Ok(None) };
        let last = Reading::take(server.port("HTTPStatus")?)?;
        Ok(Some(StatusPage::new(from, to, last.counts, self.counts())))
    }

    /// What the server must have counted.
    fn counts(&self) -> Counts {
        let open = self.receivers.iter().filter(|receiver| receiver.open).count();
        Counts {
            clients: (open + self.sinks.len() + self.senders.len()) as u64,
            connects: (self.receivers.len() + self.sinks.len() + self.senders.len()) as u64,
            tcp_bytes_rx: self.octets_sent,
            tcp_bytes_tx: self.tally.octets_read,
            tcp_packets_rx: self.sent,
            tcp_packets_tx: self.tally.packets_read,
            duplicates: self.repeated,
            uniques: self.sent - self.repeated,
            ..Counts::default()
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
