//! Arrivals in a capture: datagrams and octets of streams.

use super::fragments::Fragments;
use super::packet::{PacketError, ip, transport};
use super::reader::{CaptureError, CaptureReader, CapturedPacket};
use super::streams::Streams;
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

/// Iterator over arrivals, in the order of the capture.
#[derive(Debug)]
pub struct Arrivals<R> {
    packets: CaptureReader<R>,
    fragments: Fragments,
    streams: Streams,
    waiting: VecDeque<Arrival>,
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
            self.waiting.push_back(Arrival { at_ns: packet.at_ns, from, to, what });
        };
        let Some(tcp) = transport.tcp else {
            add(ArrivalContent::Datagram(transport.payload.to_vec()));
            return Ok(());
        };
        let segment = self.streams.take((from, to), tcp, transport.payload);
        if segment.opened {
            add(ArrivalContent::Opened);
        }
        if !segment.octets.is_empty() {
            add(ArrivalContent::Octets(segment.octets));
        }
        if segment.ended {
            add(ArrivalContent::Ended);
        }
        Ok(())
    }
}

impl<R: Read> Iterator for Arrivals<R> {
    type Item = Result<Arrival, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(arrival) = self.waiting.pop_front() {
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
