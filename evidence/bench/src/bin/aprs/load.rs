//! Clients of a server, all in one thread: senders at a steady rate, receivers that check what they
//! get for loss, order and doubles.

use crate::packets::{Packets, mark};
use crate::passcode::passcode;
use crate::server::Server;
use anyhow::{Context, Result, bail, ensure};
use chronoscope_clock as clock;
use chronoscope_statistics::Random;
use hdrhistogram::Histogram;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// Logins that send: what one sends stays in its order.
const SENDERS: usize = 4;
/// Longest wait for packets after the last was sent.
const DRAIN_NS: u64 = 2_000_000_000;
/// Instants in marks are known to so many bits.
const TIME_MASK: u64 = (1 << 48) - 1;

/// Plan of one run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Filter of every receiver; empty for one that gets the full feed.
    pub(crate) filters: Vec<String>,
    /// Lines a second, those that are sent twice included.
    pub(crate) rate: f64,
    /// The share of lines that were sent before, in [0, 1).
    pub(crate) duplicates: f64,
    /// Seconds before the figures count.
    pub(crate) warm_s: f64,
    /// Seconds that count.
    pub(crate) window_s: f64,
    /// A client that must not harm the others.
    pub(crate) trouble: Trouble,
}

/// A client that must not harm the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No such client.
    None,
    /// Ten clients of the full feed that never read.
    Stuck,
    /// A client that sends the same line over and over, as fast as it can.
    Flood,
    /// Five hundred that connect and never finish their login.
    SlowLogin,
}

/// Results of a run.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub(crate) struct Outcome {
    /// Lines sent in all, and how many of them were repeated ones.
    pub(crate) sent: u64,
    /// Lines sent that were repeated ones.
    pub(crate) repeated: u64,
    /// Lines sent per second in the window.
    pub(crate) rate: f64,
    /// Packets that receivers got in the window, a second.
    pub(crate) delivered_per_s: f64,
    /// Octets of them, a second.
    pub(crate) octets_per_s: f64,
    /// Packets that full feeds did not get.
    pub(crate) missing: u64,
    /// Packets that arrived after a later one of their sender, or twice.
    pub(crate) misordered: u64,
    /// Receivers that were cut.
    pub(crate) cut: u64,
    /// CPU time of the server a million packets delivered, in seconds.
    pub(crate) cpu_s_per_million: f64,
    /// CPU time of the server a million lines sent, in seconds.
    pub(crate) cpu_s_per_million_in: f64,
    /// CPU time of the server a second.
    pub(crate) cpu: f64,
    /// Median time from sending to receiving, in milliseconds.
    pub(crate) p50_ms: f64,
    /// 90 % within.
    pub(crate) p90_ms: f64,
    /// 99 % within.
    pub(crate) p99_ms: f64,
    /// Largest delay, ms.
    pub(crate) max_ms: f64,
    /// Resident memory at the end, in kB.
    pub(crate) rss_kb: u64,
}

/// A receiving client.
#[derive(Debug)]
struct Receiver {
    stream: TcpStream,
    /// The beginning of a line whose end has not come.
    part: Vec<u8>,
    /// Number of the next packet of every sender.
    next: [u32; SENDERS],
    full: bool,
    open: bool,
}

/// A sending client.
#[derive(Debug)]
struct Sender {
    stream: TcpStream,
    login: String,
    number: u32,
    /// Octets that the kernel did not accept yet.
    waiting: Vec<u8>,
    /// Lines that may be sent again.
    recent: Vec<String>,
}

/// Counted while receiving.
#[derive(Debug)]
struct Tally {
    delivered: u64,
    octets: u64,
    missing: u64,
    misordered: u64,
    cut: u64,
    latency_us: Histogram<u64>,
}

/// Clients of one server.
struct Swarm {
    poll: Poll,
    receivers: Vec<Receiver>,
    senders: Vec<Sender>,
    tally: Tally,
    buffer: Box<[u8]>,
}

/// Runs a plan against a server.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn run(server: &Server, plan: &Plan) -> Result<Outcome> {
    let mut swarm = Swarm::connect(server, &plan.filters)?;
    let _troubled = trouble(server, plan.trouble)?;
    let mut packets = Packets::new(7, 20_000);
    let mut random = Random(11);
    let started_ns = clock::monotonic_ns();
    let (mut sent, mut repeated) = (0u64, 0u64);
    let window_from = started_ns + ns(plan.warm_s);
    let until = window_from + ns(plan.window_s);
    let mut before = None;
    let mut line = String::new();
    loop {
        let now = clock::monotonic_ns();
        if before.is_none() && now >= window_from {
            swarm.tally.begin();
            before = Some((server.usage()?, now, sent));
        }
        if now >= until {
            break;
        }
        let due = ((now - started_ns) as f64 / 1e9 * plan.rate) as u64;
        // What the server does not take is not piled up without end.
        while sent < due && swarm.senders.iter().all(|sender| sender.waiting.len() < 1 << 20) {
            let index = (sent % SENDERS as u64) as usize;
            let again = !swarm.senders[index].recent.is_empty() && random.share() < plan.duplicates;
            line.clear();
            swarm.senders[index].line(again, index as u8, &mut packets, &mut random, &mut line);
            sent += 1;
            repeated += u64::from(again);
        }
        swarm.senders.iter_mut().try_for_each(Sender::flush)?;
        swarm.receive(Duration::from_micros(500))?;
    }
    let (usage, from_ns, sent_before) = before.context("the window is before the beginning")?;
    let after = server.usage()?;
    let window_s = (clock::monotonic_ns() - from_ns) as f64 / 1e9;
    let (delivered, octets) = (swarm.tally.delivered, swarm.tally.octets);
    let in_window = sent - sent_before;
    swarm.drain()?;
    let tally = &swarm.tally;
    let quantile = |share| tally.latency_us.value_at_quantile(share) as f64 / 1e3;
    let cpu_s = after.cpu_s - usage.cpu_s;
    Ok(Outcome {
        sent,
        repeated,
        rate: in_window as f64 / window_s,
        delivered_per_s: delivered as f64 / window_s,
        octets_per_s: octets as f64 / window_s,
        missing: tally.missing + swarm.tail(),
        misordered: tally.misordered,
        cut: tally.cut,
        cpu_s_per_million: cpu_s * 1e6 / delivered.max(1) as f64,
        cpu_s_per_million_in: cpu_s * 1e6 / in_window.max(1) as f64,
        cpu: cpu_s / window_s,
        p50_ms: quantile(0.5),
        p90_ms: quantile(0.9),
        p99_ms: quantile(0.99),
        max_ms: tally.latency_us.max() as f64 / 1e3,
        rss_kb: after.rss_kb,
    })
}

/// Connects and logs in `client_count` clients as fast as possible; seconds until the last was
/// answered.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn burst(address: SocketAddr, client_count: usize, filter: &str) -> Result<(f64, Held)> {
    let started_ns = clock::monotonic_ns();
    let mut poll = Poll::new()?;
    let mut streams = Vec::with_capacity(client_count);
    for number in 0..client_count {
        streams.push(open(&poll, address, number)?);
    }
    let mut events = Events::with_capacity(4096);
    let mut seen = vec![Vec::new(); client_count];
    let mut asked = vec![false; client_count];
    let mut left = client_count;
    let mut buffer = [0; 4096];
    while left > 0 {
        ensure!(clock::monotonic_ns() - started_ns < 60_000_000_000, "{left} logins not answered");
        poll.poll(&mut events, Some(Duration::from_millis(200)))?;
        for event in &events {
            let index = event.token().0;
            if event.is_writable() && !asked[index] {
                asked[index] = true;
                let login = login_line(&format!("IDLE{index}"), filter);
                streams[index].write_all(login.as_bytes()).context("sending a login")?;
            }
            loop {
                match streams[index].read(&mut buffer) {
                    Ok(0) => bail!("the server cut client {index} at its login"),
                    Ok(count) => {
                        let text: &mut Vec<u8> = &mut seen[index];
                        let before = text.windows(10).any(|part| part == b"# logresp ");
                        text.extend_from_slice(&buffer[..count]);
                        let after = text.windows(10).any(|part| part == b"# logresp ");
                        left -= usize::from(after && !before);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error).context("waiting for a login's answer"),
                }
            }
        }
    }
    Ok(((clock::monotonic_ns() - started_ns) as f64 / 1e9, Held(streams)))
}

/// Clients that are logged in and do nothing, until dropped.
#[derive(Debug)]
pub(crate) struct Held(#[allow(dead_code)] Vec<TcpStream>);

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn open(poll: &Poll, address: SocketAddr, token: usize) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).with_context(|| format!("to {address}"))?;
    let interest = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(&mut stream, Token(token), interest)?;
    Ok(stream)
}

fn login_line(call: &str, filter: &str) -> String {
    let filter = if filter.is_empty() { String::new() } else { format!(" filter {filter}") };
    format!("user {call} pass {} vers load 1.0{filter}\r\n", passcode(call))
}

/// A connection that is logged in.
fn logged_in(address: SocketAddr, call: &str, filter: &str) -> Result<TcpStream> {
    let mut stream = std::net::TcpStream::connect(address)?;
    // A line is sent at its instant, not when the last one is acknowledged.
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.write_all(login_line(call, filter).as_bytes())?;
    let mut text = Vec::new();
    let mut octet = [0];
    while !text.windows(10).any(|part| part == b"# logresp ") || octet != *b"\n" {
        let count = stream.read(&mut octet).with_context(|| format!("login of {call}"))?;
        ensure!(count == 1, "the server cut {call} at its login");
        text.push(octet[0]);
    }
    let verified = text.windows(10).any(|part| part == b" verified,");
    ensure!(verified, "{call} is not verified: {}", String::from_utf8_lossy(&text));
    stream.set_nonblocking(true)?;
    Ok(TcpStream::from_std(stream))
}

impl Swarm {
    fn connect(server: &Server, filters: &[String]) -> Result<Self> {
        let poll = Poll::new()?;
        let (full, igate) = (server.port("full")?, server.port("igate")?);
        let mut receivers = Vec::with_capacity(filters.len());
        for (index, filter) in filters.iter().enumerate() {
            let address = if filter.is_empty() { full } else { igate };
            let mut stream = logged_in(address, &format!("RX{index}"), filter)?;
            poll.registry().register(&mut stream, Token(index), Interest::READABLE)?;
            let full = filter.is_empty();
            let part = Vec::new();
            receivers.push(Receiver { stream, part, next: [0; SENDERS], full, open: true });
        }
        let mut senders = Vec::new();
        for index in 0..SENDERS {
            let login = format!("BENCH-{}", index + 1);
            // Nothing matches this filter: senders receive nothing but keepalives.
            let stream = logged_in(igate, &login, "b/NOBODY")?;
            let (waiting, recent) = (Vec::new(), Vec::new());
            senders.push(Sender { stream, login, number: 0, waiting, recent });
        }
        let latency_us = Histogram::new_with_bounds(1, 600_000_000, 3)?;
        let tally =
            Tally { delivered: 0, octets: 0, missing: 0, misordered: 0, cut: 0, latency_us };
        Ok(Self { poll, receivers, senders, tally, buffer: vec![0; 1 << 18].into() })
    }

    /// Takes what has come, and waits for something at most so long.
    fn receive(&mut self, timeout: Duration) -> Result<()> {
        let mut events = Events::with_capacity(1024);
        match self.poll.poll(&mut events, Some(timeout)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            self.receivers[event.token().0].take(&mut self.buffer, &mut self.tally);
        }
        // Senders get keepalives, which must not fill anything.
        for sender in &mut self.senders {
            while matches!(sender.stream.read(&mut self.buffer[..4096]), Ok(count) if count > 0) {}
        }
        Ok(())
    }

    /// Receives packets in flight.
    fn drain(&mut self) -> Result<()> {
        let until = clock::monotonic_ns() + DRAIN_NS;
        while clock::monotonic_ns() < until {
            self.senders.iter_mut().try_for_each(Sender::flush)?;
            self.receive(Duration::from_millis(5))?;
        }
        Ok(())
    }

    /// Packets that were sent last and that full feeds did not get.
    fn tail(&self) -> u64 {
        let open = self.receivers.iter().filter(|receiver| receiver.full && receiver.open);
        open.map(|receiver| {
            let senders = self.senders.iter().zip(receiver.next);
            senders.map(|(sender, next)| u64::from(sender.number - next)).sum::<u64>()
        })
        .sum()
    }
}

impl Tally {
    /// Begins the counted window.
    fn begin(&mut self) {
        (self.delivered, self.octets) = (0, 0);
        self.latency_us.reset();
    }
}

impl Receiver {
    fn take(&mut self, buffer: &mut [u8], tally: &mut Tally) {
        loop {
            match self.stream.read(buffer) {
                Ok(count) if count > 0 => self.lines(&buffer[..count], tally),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => {
                    tally.cut += u64::from(self.open);
                    self.open = false;
                    return;
                }
            }
        }
    }

    fn lines(&mut self, mut bytes: &[u8], tally: &mut Tally) {
        let now = clock::monotonic_ns();
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            if self.part.is_empty() {
                self.line(line, now, tally);
            } else {
                let mut part = std::mem::take(&mut self.part);
                part.extend_from_slice(line);
                self.line(&part, now, tally);
                part.clear();
                self.part = part;
            }
        }
        self.part.extend_from_slice(bytes);
    }

    fn line(&mut self, line: &[u8], now: u64, tally: &mut Tally) {
        let Some((sender, number, time)) = line.strip_suffix(b"\r\n").and_then(mark) else {
            return;
        };
        if line[0] == b'#' {
            return;
        }
        let Some(next) = self.next.get_mut(usize::from(sender)) else { return };
        if number < *next {
            tally.misordered += 1;
            return;
        }
        if self.full {
            tally.missing += u64::from(number - *next);
        }
        *next = number + 1;
        tally.delivered += 1;
        tally.octets += line.len() as u64;
        tally.latency_us.saturating_record((now.wrapping_sub(time) & TIME_MASK) / 1000);
    }
}

impl Sender {
    fn line(
        &mut self,
        again: bool,
        index: u8,
        packets: &mut Packets,
        random: &mut Random,
        line: &mut String,
    ) {
        if again {
            let which = random.below(self.recent.len() as u64);
            line.push_str(&self.recent[usize::try_from(which).unwrap_or(0)]);
        } else {
            packets.line(&self.login, index, self.number, clock::monotonic_ns(), line);
            let slot = self.number as usize % 1024;
            self.number += 1;
            match self.recent.get_mut(slot) {
                Some(old) => line.clone_into(old),
                None => self.recent.push(line.clone()),
            }
        }
        self.waiting.extend_from_slice(line.as_bytes());
    }

    fn flush(&mut self) -> Result<()> {
        while !self.waiting.is_empty() {
            match self.stream.write(&self.waiting) {
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error).with_context(|| format!("{} was cut", self.login)),
            }
        }
        Ok(())
    }
}

/// Keeps a misbehaving client running until dropped.
struct Troubled {
    _held: Vec<TcpStream>,
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Troubled {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

fn trouble(server: &Server, trouble: Trouble) -> Result<Troubled> {
    let mut held = Vec::new();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut thread = None;
    match trouble {
        Trouble::None => {}
        Trouble::Stuck => {
            for number in 0..10 {
                held.push(logged_in(server.port("full")?, &format!("STUCK-{number}"), "")?);
            }
        }
        Trouble::SlowLogin => {
            for _ in 0..500 {
                let mut stream = std::net::TcpStream::connect(server.port("igate")?)?;
                stream.write_all(b"user SL")?;
                held.push(TcpStream::from_std(stream));
            }
        }
        Trouble::Flood => {
            let stream = logged_in(server.port("igate")?, "FLOOD-1", "b/NOBODY")?;
            let stopped = stop.clone();
            thread = Some(std::thread::spawn(move || flood(stream, &stopped)));
        }
    }
    Ok(Troubled { _held: held, stop, thread })
}

/// Sends the same line until stopped or cut.
fn flood(mut stream: TcpStream, stop: &std::sync::atomic::AtomicBool) {
    let lines = b"FLOOD-1>APRS,TCPIP*:>again and again and again and again\r\n".repeat(500);
    let mut at = 0;
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        match stream.write(&lines[at..]) {
            Ok(count) => at = (at + count) % lines.len(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                clock::sleep(Duration::from_micros(200));
            }
            Err(_) => return, // cut: that is one way of dealing with it
        }
    }
}
