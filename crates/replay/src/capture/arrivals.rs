//! Arrivals in a capture: datagrams and octets of streams.

use super::fragments::Fragments;
use super::packet::{PacketError, ip, transport};
use super::reader::{CaptureError, CaptureReader, CapturedPacket};
use super::streams::{Segment, StreamGap, Streams};
use crate::wire::Endpoint;
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::net::SocketAddr;

/// One arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Capture time of its last packet, UTC, ns since 1970.
    pub at_ns: i64,
    /// Address of the sender.
    pub from: Endpoint,
    /// Address of the receiver.
    pub to: Endpoint,
    /// Content of the arrival.
    pub what: ArrivalContent,
}

/// Content of an arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivalContent {
    /// A UDP datagram.
    Datagram(Vec<u8>),
    /// A TCP connection was opened by `from`.
    Opened,
    /// Octets of a stream, in order.
    Octets(Vec<u8>),
    /// `from` will send no more.
    Ended,
}

/// Further facts about the octets of a stream, for a reader that follows its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OctetsDetail {
    /// Octets that the capture lacks before or among them.
    pub gaps: Vec<StreamGap>,
    /// Whether the last octet is the last one of urgent data.
    pub ends_urgent: bool,
}

/// Iterator over arrivals, in the order of the capture.
#[derive(Debug)]
pub struct Arrivals<R> {
    packets: CaptureReader<R>,
    fragments: Fragments,
    streams: Streams,
    waiting: VecDeque<(Arrival, OctetsDetail)>,
    detail: OctetsDetail,
    /// Packets that say nothing about an input, by reason.
    pub ignored: BTreeMap<PacketError, u64>,
}

impl<R: Read> Arrivals<R> {
    /// Arrivals of a capture.
    #[must_use]
    pub fn new(packets: CaptureReader<R>) -> Self {
        Self {
            packets,
            fragments: Fragments::default(),
            streams: Streams::default(),
            waiting: VecDeque::new(),
            detail: OctetsDetail::default(),
            ignored: BTreeMap::new(),
        }
    }

    /// Goes on with another file's packets; streams and fragments go on where they were.
    pub fn continue_with(&mut self, next: Self) {
        self.packets = next.packets;
    }

    /// Packets whose fragments did not all come, octets of streams that the capture lacks, and
    /// segments of streams too many.
    #[must_use]
    pub fn lost(&self) -> (u64, u64, u64) {
        (self.fragments.lost_count, self.streams.lost_bytes, self.streams.refused_count)
    }

    /// Further facts about the arrival that was returned last.
    #[must_use]
    pub const fn detail(&self) -> &OctetsDetail {
        &self.detail
    }

    /// Octets that wait behind a gap when the capture has ended, at `at_ns`: nothing fills it any more.
    /// A replay does not take them.
    #[must_use]
    pub fn rest(&mut self, at_ns: i64) -> Vec<(Arrival, OctetsDetail)> {
        let rest = self.streams.rest().into_iter();
        rest.map(|((from, to), segment)| octets(at_ns, (from, to), segment)).collect()
    }

    fn packet(&mut self, packet: &CapturedPacket) -> Result<(), PacketError> {
        let ip = ip(packet.link, &packet.octets)?;
        let whole;
        let payload = match ip.fragment {
            None => ip.payload,
            Some((id, offset, more)) => {
                let key = (ip.from, ip.to, ip.protocol, id);
                let Some(all) = self.fragments.take(key, offset, more, ip.payload) else {
                    return Ok(());
                };
                whole = all;
                &whole[..]
            }
        };
        let transport = transport(ip.protocol, payload)?;
        let from = Endpoint::from(SocketAddr::new(ip.from, transport.from_port));
        let to = Endpoint::from(SocketAddr::new(ip.to, transport.to_port));
        let mut add = |what| {
            let arrival = Arrival { at_ns: packet.at_ns, from, to, what };
            self.waiting.push_back((arrival, OctetsDetail::default()));
        };
        let Some(tcp) = transport.tcp else {
            add(ArrivalContent::Datagram(transport.payload.to_vec()));
            return Ok(());
        };
        let segment = self.streams.take((from, to), tcp, transport.payload);
        let ended = segment.ended;
        if segment.opened {
            add(ArrivalContent::Opened);
        }
        if !segment.octets.is_empty() {
            self.waiting.push_back(octets(packet.at_ns, (from, to), segment));
        }
        if ended {
            let arrival = Arrival { at_ns: packet.at_ns, from, to, what: ArrivalContent::Ended };
            self.waiting.push_back((arrival, OctetsDetail::default()));
        }
        Ok(())
    }
}

/// The arrival of a segment's octets.
fn octets(
    at_ns: i64,
    (from, to): (Endpoint, Endpoint),
    segment: Segment,
) -> (Arrival, OctetsDetail) {
    let what = ArrivalContent::Octets(segment.octets);
    let detail = OctetsDetail { gaps: segment.gaps, ends_urgent: segment.ends_urgent };
    (Arrival { at_ns, from, to, what }, detail)
}

impl<R: Read> Iterator for Arrivals<R> {
    type Item = Result<Arrival, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((arrival, detail)) = self.waiting.pop_front() {
                self.detail = detail;
                return Some(Ok(arrival));
            }
            match self.packets.next()? {
                Ok(packet) => {
                    if let Err(reason) = self.packet(&packet) {
                        *self.ignored.entry(reason).or_default() += 1;
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
