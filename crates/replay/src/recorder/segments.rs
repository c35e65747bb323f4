//! Inputs as the IP packets in which they could have arrived.
//!
//! A relay sees payloads, a capture holds packets. The headers give sender, receiver and position
//! in the stream; fields that a payload does not determine (time to live, window, options) are
//! those of a quiet network. Addresses of one family stay; a pair of both becomes IPv6.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const UDP: u8 = 17;
const TCP: u8 = 6;
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const UDP_HEADER_BYTES: usize = 8;
const TCP_HEADER_BYTES: usize = 20;

/// Octets of a stream in one packet: IPv4's header and TCP's leave room for a few more.
pub(super) const SEGMENT_BYTES_MAX: usize = 65_000;

/// A UDP datagram as one IP packet; `None` when it is longer than the family allows, which none is
/// that arrived over it.
pub(super) fn datagram(from: SocketAddr, to: SocketAddr, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(UDP_HEADER_BYTES + payload.len()).ok()?;
    let mut header = [0; UDP_HEADER_BYTES];
    header[0..2].copy_from_slice(&from.port().to_be_bytes());
    header[2..4].copy_from_slice(&to.port().to_be_bytes());
    header[4..6].copy_from_slice(&length.to_be_bytes());
    packet(from, to, UDP, &mut header, 6, payload)
}

/// One direction of a TCP connection, as packets.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    from: SocketAddr,
    to: SocketAddr,
    /// Sequence number of the next octet.
    next: u32,
}

impl Stream {
    /// A connection that `from` opened, and its first packet. `number` distinguishes it from
    /// earlier ones of the same two ends.
    pub(super) fn open(from: SocketAddr, to: SocketAddr, number: u32) -> (Self, Option<Vec<u8>>) {
        let mut stream = Self { from, to, next: number.wrapping_mul(0x9e37_79b9) };
        let packet = stream.segment(SYN, &[]);
        stream.next = stream.next.wrapping_add(1);
        (stream, packet)
    }

    /// The packet of at most [`SEGMENT_BYTES_MAX`] octets that arrived.
    pub(super) fn octets(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        let packet = self.segment(PSH | ACK, payload);
        // Also when it is not kept: a reader sees the gap.
        self.next = self.next.wrapping_add(u32::try_from(payload.len()).unwrap_or(0));
        packet
    }

    /// Packet that ends the direction.
    pub(super) fn end(&mut self) -> Option<Vec<u8>> {
        let packet = self.segment(FIN | ACK, &[]);
        self.next = self.next.wrapping_add(1);
        packet
    }

    /// Packet that resets the connection.
    pub(super) fn reset(&self) -> Option<Vec<u8>> {
        self.segment(RST | ACK, &[])
    }

    fn segment(&self, flags: u8, payload: &[u8]) -> Option<Vec<u8>> {
        let mut header = [0; TCP_HEADER_BYTES];
        header[0..2].copy_from_slice(&self.from.port().to_be_bytes());
        header[2..4].copy_from_slice(&self.to.port().to_be_bytes());
        header[4..8].copy_from_slice(&self.next.to_be_bytes());
        header[12] = 5 << 4; // five words of header
        header[13] = flags;
        header[14..16].copy_from_slice(&u16::MAX.to_be_bytes()); // window
        packet(self.from, self.to, TCP, &mut header, 16, payload)
    }
}

/// An IP packet with a transport header, whose checksum at `checksum_at` is filled in.
fn packet(
    from: SocketAddr,
    to: SocketAddr,
    protocol: u8,
    header: &mut [u8],
    checksum_at: usize,
    payload: &[u8],
) -> Option<Vec<u8>> {
    let length = header.len() + payload.len();
    let (mut octets, addresses_at) = match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let mut ip = vec![0; 20];
            ip[0] = 0x45; // version 4, five words
            ip[2..4].copy_from_slice(&u16::try_from(20 + length).ok()?.to_be_bytes());
            ip[6] = 0x40; // not to be fragmented
            ip[8] = 64; // time to live
            ip[9] = protocol;
            ip[12..16].copy_from_slice(&from.octets());
            ip[16..20].copy_from_slice(&to.octets());
            let checksum = !folded(sum(&ip));
            ip[10..12].copy_from_slice(&checksum.to_be_bytes());
            (ip, 12)
        }
        (from, to) => {
            let mut ip = vec![0; 40];
            ip[0] = 0x60; // version 6
            ip[4..6].copy_from_slice(&u16::try_from(length).ok()?.to_be_bytes());
            ip[6] = protocol;
            ip[7] = 64; // hop limit
            ip[8..24].copy_from_slice(&v6(from).octets());
            ip[24..40].copy_from_slice(&v6(to).octets());
            (ip, 8)
        }
    };
    // The pseudo header of RFC 9293 §3.1 and RFC 8200 §8.1: addresses, protocol, length.
    let pseudo = sum(&octets[addresses_at..]) + u64::from(protocol) + length as u64;
    let checksum = match !folded(pseudo + sum(header) + sum(payload)) {
        0 if protocol == UDP => 0xffff, // 0 would say that there is none (RFC 768)
        checksum => checksum,
    };
    header[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    octets.reserve_exact(length);
    octets.extend_from_slice(header);
    octets.extend_from_slice(payload);
    Some(octets)
}

fn v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    }
}

/// The sum of 16-bit words (RFC 1071), an odd octet padded with zero.
fn sum(octets: &[u8]) -> u64 {
    let pairs = octets.chunks_exact(2);
    let odd = pairs.remainder().first().map_or(0, |octet| u64::from(*octet) << 8);
    pairs.map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]]))).sum::<u64>() + odd
}

#[allow(clippy::cast_possible_truncation)] // folded to 16 bits
fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    /// A receiver's check: header, pseudo header and payload sum to all ones.
    fn checks(octets: &[u8]) -> bool {
        let (addresses, protocol, rest) = if octets[0] >> 4 == 4 {
            assert_eq!(folded(sum(&octets[..20])), 0xffff, "IPv4's own header");
            (&octets[12..20], octets[9], &octets[20..])
        } else {
            (&octets[8..40], octets[6], &octets[40..])
        };
        let pseudo = sum(addresses) + u64::from(protocol) + rest.len() as u64;
        folded(pseudo + sum(rest)) == 0xffff
    }

    #[test]
    fn every_packet_passes_its_receivers_check() {
        for (from, to) in [
            ("10.0.0.1:4000", "10.0.0.2:8600"),
            ("[2001:db8::1]:4000", "[2001:db8::2]:8600"),
            ("10.0.0.1:4000", "[::1]:8600"),
        ] {
            let (from, to) = (address(from), address(to));
            let (mut stream, opened) = Stream::open(from, to, 7);
            let packets = [
                datagram(from, to, b"odd"),
                datagram(from, to, &[0xff; 1000]),
                datagram(from, to, b""),
                opened,
                stream.octets(b"GET / HTTP/1.0"),
                stream.end(),
                stream.reset(),
            ];
            for packet in packets {
                assert!(checks(&packet.unwrap()), "{from} {to}");
            }
        }
    }

    #[test]
    fn the_longest_fit_and_longer_do_not() {
        let (from, to) = (address("10.0.0.1:1"), address("10.0.0.2:2"));
        assert_eq!(datagram(from, to, &[0; 65_507]).unwrap().len(), 65_535);
        assert!(datagram(from, to, &[0; 65_508]).is_none());
        let (mut stream, _) = Stream::open(from, to, 0);
        assert!(stream.octets(&[0; SEGMENT_BYTES_MAX]).is_some());
    }
}
