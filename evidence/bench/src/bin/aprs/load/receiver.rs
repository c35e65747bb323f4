//! Receiving clients: each packet is checked for loss, order and doubles.

use super::plan::SENDERS;
use crate::packets::{BURST_SENDER, mark};
use chronoscope_clock as clock;
use hdrhistogram::Histogram;
use mio::net::TcpStream;
use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Instants in marks are known to so many bits.
const TIME_MASK: u64 = (1 << 48) - 1;
/// Longest latency that a histogram has, microseconds.
const LATENCY_US_MAX: u64 = 600_000_000;

/// A receiving client.
#[derive(Debug)]
pub(super) struct Receiver {
    stream: TcpStream,
    /// The beginning of a line whose end has not come.
    part: Vec<u8>,
    /// Number of the next packet of every sender.
    pub(super) next: [u32; SENDERS],
    /// Gets every packet.
    pub(super) full: bool,
    /// Gets the packets of certain callsigns, and no others.
    named: bool,
    pub(super) open: bool,
    /// Octets read since the login.
    pub(super) octets: u64,
}

/// Counted while receiving.
#[derive(Debug)]
pub(super) struct Tally {
    /// Packets in the window.
    pub(super) delivered: u64,
    /// Octets of them.
    pub(super) octets: u64,
    pub(super) missing: u64,
    pub(super) misordered: u64,
    pub(super) cut: u64,
    /// Packets of clients that name callsigns, since the start.
    pub(super) named: u64,
    /// Packets of bursts at full feeds, since the start.
    pub(super) of_bursts: u64,
    /// Octets read by all clients since the start, and packets of them.
    pub(super) octets_read: u64,
    pub(super) packets_read: u64,
    /// Reads that brought something, in the window: about as many as the server's writes.
    pub(super) reads: u64,
    pub(super) latency_us: Histogram<u64>,
    /// Latency while a burst of other clients goes on.
    pub(super) in_bursts_us: Histogram<u64>,
    /// Whether one does.
    bursting: Arc<AtomicBool>,
}

impl Tally {
    pub(super) fn new(bursting: Arc<AtomicBool>) -> anyhow::Result<Self> {
        let histogram = || Histogram::new_with_bounds(1, LATENCY_US_MAX, 3);
        Ok(Self {
            delivered: 0,
            octets: 0,
            missing: 0,
            misordered: 0,
            cut: 0,
            named: 0,
            of_bursts: 0,
            octets_read: 0,
            packets_read: 0,
            reads: 0,
            latency_us: histogram()?,
            in_bursts_us: histogram()?,
            bursting,
        })
    }

    /// Begins the counted window.
    pub(super) fn begin(&mut self) {
        (self.delivered, self.octets, self.reads) = (0, 0, 0);
        self.latency_us.reset();
        self.in_bursts_us.reset();
    }

    fn latency(&mut self, latency_us: u64) {
        let histogram = match self.bursting.load(Ordering::Relaxed) {
            false => &mut self.latency_us,
            true => &mut self.in_bursts_us,
        };
        histogram.saturating_record(latency_us);
    }
}

impl Receiver {
    /// A client that is logged in.
    pub(super) fn new(stream: TcpStream, full: bool, named: bool) -> Self {
        Self { stream, part: Vec::new(), next: [0; SENDERS], full, named, open: true, octets: 0 }
    }

    /// Takes all that has come.
    pub(super) fn take(&mut self, buffer: &mut [u8], tally: &mut Tally) {
        loop {
            match self.stream.read(buffer) {
                Ok(count) if count > 0 => {
                    tally.octets_read += count as u64;
                    tally.reads += 1;
                    self.octets += count as u64;
                    self.lines(&buffer[..count], tally);
                }
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
        if line[0] == b'#' {
            return;
        }
        tally.packets_read += 1;
        let Some((sender, number, time)) = line.strip_suffix(b"\r\n").and_then(mark) else {
            return;
        };
        if sender == BURST_SENDER {
            tally.of_bursts += u64::from(self.full);
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
        tally.named += u64::from(self.named);
        tally.octets += line.len() as u64;
        tally.latency((now.wrapping_sub(time) & TIME_MASK) / 1000);
    }
}

/// Counts packets in a stream of lines: all lines but those that begin with `#`.
#[derive(Debug, Default)]
pub(super) struct PacketCounter {
    within: bool,
    comment: bool,
}

impl PacketCounter {
    /// Lines that end in these octets, which follow those of the last call.
    pub(super) fn count(&mut self, bytes: &[u8]) -> u64 {
        let mut packets = 0;
        for piece in bytes.split_inclusive(|octet| *octet == b'\n') {
            if !self.within {
                self.comment = piece[0] == b'#';
            }
            self.within = !piece.ends_with(b"\n");
            packets += u64::from(!self.within && !self.comment);
        }
        packets
    }
}

#[cfg(test)]
mod tests {
    use super::PacketCounter;

    #[test]
    fn packets_are_counted_wherever_the_stream_is_cut() {
        let text = b"# keepalive\r\nA>B:1\r\nA>B:#2\r\n#\r\nA>B:3\r\n";
        for cut in 0..text.len() {
            let mut counter = PacketCounter::default();
            let packets = counter.count(&text[..cut]) + counter.count(&text[cut..]);
            assert_eq!(packets, 3, "cut at {cut}");
        }
    }
}
