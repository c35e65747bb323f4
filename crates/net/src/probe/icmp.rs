//! Echo requests of ICMP (RFC 792) and ICMPv6 (RFC 4443), answered by the kernel of the target.
//!
//! A socket of the kernel's own for this needs no privilege where `net.ipv4.ping_group_range`
//! allows it; where it does not, a raw socket is tried.

use super::deadline::{Deadline, ProbeResult, loss_of};
use super::stream::Waits;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, SocketAddr};

const HEADER: usize = 8;
/// Octets of a request's payload: at least the number that tells it from others.
const PAYLOAD_MIN: usize = 8;
/// Longest payload of an IPv4 datagram beside both headers.
const PAYLOAD_MAX: usize = 65_507;
/// Longest IPv4 header, which a raw socket shows.
const IPV4_HEADER_MAX: usize = 60;

/// Octets of payload, for a size that was asked for.
pub(crate) fn octets(asked: usize) -> usize {
    asked.clamp(PAYLOAD_MIN, PAYLOAD_MAX)
}

/// A client of one host.
#[derive(Debug)]
pub(crate) struct Client {
    socket: Socket,
    waits: Waits,
    /// Raw sockets show the IPv4 header, and everybody's replies.
    raw: bool,
    v6: bool,
    request: Vec<u8>,
    reply: Vec<u8>,
    number: u64,
}

impl Client {
    /// With requests of `octets` of payload.
    ///
    /// # Errors
    /// [`ErrorKind::PermissionDenied`] with what to do about it.
    pub(crate) fn open(host: IpAddr, octets: usize) -> io::Result<Self> {
        let v6 = host.is_ipv6();
        let (domain, protocol) = match v6 {
            true => (Domain::IPV6, Protocol::ICMPV6),
            false => (Domain::IPV4, Protocol::ICMPV4),
        };
        let (socket, raw) = match Socket::new(domain, Type::DGRAM, Some(protocol)) {
            Ok(socket) => (socket, false),
            Err(_) => (Socket::new(domain, Type::RAW, Some(protocol)).map_err(explained)?, true),
        };
        socket.connect(&SocketAddr::new(host, 0).into())?;
        let mut request = vec![0; HEADER + self::octets(octets)];
        request[0] = if v6 { 128 } else { 8 };
        let [.., one, two] = std::process::id().to_be_bytes();
        request[4..6].copy_from_slice(&[one, two]);
        let reply = vec![0; IPV4_HEADER_MAX + request.len() + 1];
        let number = u64::from(std::process::id()) << 32;
        Ok(Self { socket, waits: Waits::default(), raw, v6, request, reply, number })
    }

    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<ProbeResult> {
        match self.round_trip(deadline) {
            Ok(()) => Ok(Ok(())),
            Err(error) => Ok(Err(loss_of(error)?)),
        }
    }

    fn round_trip(&mut self, deadline: Deadline) -> io::Result<()> {
        self.number += 1;
        let number = self.number.to_be_bytes();
        self.request[6..8].copy_from_slice(&number[6..]);
        self.request[HEADER..][..PAYLOAD_MIN].copy_from_slice(&number);
        if !self.v6 {
            self.request[2..4].fill(0);
            let sum = checksum(&self.request);
            self.request[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        self.socket.send(&self.request)?;
        loop {
            if let Some(left) = self.waits.until(deadline)? {
                self.socket.set_read_timeout(Some(left))?;
            }
            match (&self.socket).read(&mut self.reply) {
                Ok(len) if self.is_reply(&self.reply[..len]) => return Ok(()),
                // To another request; or an error's, or a request, which raw sockets see.
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn is_reply(&self, packet: &[u8]) -> bool {
        let message = match packet.first() {
            Some(first) if self.raw && !self.v6 => packet.get(usize::from(first & 0xf) * 4..),
            _ => Some(packet),
        };
        let Some(message) = message.filter(|message| message.len() == self.request.len()) else {
            return false;
        };
        // The kernel's own sockets choose the identifier, and see to it.
        let is_of_us = !self.raw || message[4..6] == self.request[4..6];
        message[0] == if self.v6 { 129 } else { 0 }
            && message[1] == 0
            && is_of_us
            && message[6..] == self.request[6..]
    }
}

fn explained(error: io::Error) -> io::Error {
    if error.kind() != ErrorKind::PermissionDenied {
        return error;
    }
    io::Error::new(
        ErrorKind::PermissionDenied,
        "no permission to send ICMP: allow it by sysctl -w net.ipv4.ping_group_range=\"0 \
         2147483647\", or use udp:HOST:PORT instead",
    )
}

/// The Internet checksum (RFC 1071).
fn checksum(octets: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for pair in octets.chunks(2) {
        let low = pair.get(1).copied().unwrap_or(0);
        sum += u32::from(u16::from_be_bytes([pair[0], low]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_the_specification() {
        // RFC 1071 §3: the sum of these is ddf2.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff; 9]), !0xff00);
        assert_eq!(checksum(&vec![0xff; 65_515]), !0xff00);
    }
}
