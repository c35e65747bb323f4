//! Clients' connections in a capture: the octets that each sends, segment by segment.
//!
//! Only the direction towards the server is written: the replies are the server's own work, which a
//! replay does again.

use super::CaptureWriter;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddrV4;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const PUSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// Writes connections over IPv4 as they would have been captured.
#[derive(Debug)]
pub struct ConnectionWriter<W> {
    capture: CaptureWriter<W>,
    /// Next sequence number of what each client sends, by its address and the server's.
    next: BTreeMap<(SocketAddrV4, SocketAddrV4), u32>,
}

impl<W: Write> ConnectionWriter<W> {
    /// Writes into a capture.
    pub const fn new(capture: CaptureWriter<W>) -> Self {
        Self { capture, next: BTreeMap::new() }
    }

    /// The capture, for what else arrived.
    pub const fn capture(&mut self) -> &mut CaptureWriter<W> {
        &mut self.capture
    }

    /// A client connects, at UTC ns since 1970.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn open(&mut self, at_ns: u64, from: SocketAddrV4, to: SocketAddrV4) -> io::Result<()> {
        self.next.insert((from, to), 1000);
        self.segment(at_ns, from, to, SYN, &[])
    }

    /// Sends one segment.
    ///
    /// # Errors
    /// When the file cannot be written, or the segment is longer than IPv4 allows.
    pub fn send(
        &mut self,
        at_ns: u64,
        from: SocketAddrV4,
        to: SocketAddrV4,
        octets: &[u8],
    ) -> io::Result<()> {
        self.segment(at_ns, from, to, PUSH | ACK, octets)
    }

    /// Ends the stream of the client.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn close(&mut self, at_ns: u64, from: SocketAddrV4, to: SocketAddrV4) -> io::Result<()> {
        self.segment(at_ns, from, to, FIN | ACK, &[])?;
        self.next.remove(&(from, to));
        Ok(())
    }

    /// The capture's file, flushed.
    ///
    /// # Errors
    /// When it cannot be flushed.
    pub fn finish(self) -> io::Result<W> {
        self.capture.finish()
    }

    fn segment(
        &mut self,
        at_ns: u64,
        from: SocketAddrV4,
        to: SocketAddrV4,
        flags: u8,
        octets: &[u8],
    ) -> io::Result<()> {
        let length = u16::try_from(40 + octets.len()).map_err(io::Error::other)?;
        let next = self.next.get_mut(&(from, to));
        let next = next.ok_or_else(|| io::Error::other(format!("{from} is not connected")))?;
        let mut packet = vec![0x45, 0];
        packet.extend(length.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]); // never in fragments, TCP
        packet.extend(from.ip().octets());
        packet.extend(to.ip().octets());
        let checksum = checksum(0, &packet);
        packet[10..12].copy_from_slice(&checksum);
        packet.extend(from.port().to_be_bytes());
        packet.extend(to.port().to_be_bytes());
        packet.extend(next.to_be_bytes());
        packet.extend([0, 0, 0, if flags & ACK == 0 { 0 } else { 1 }]);
        packet.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        packet.extend(octets);
        // The pseudo header: addresses, protocol and length (RFC 9293 §3.1).
        let pseudo = 6 + u32::from(length - 20);
        let sum = self::checksum(pseudo, &packet[12..]);
        packet[36..38].copy_from_slice(&sum);
        let occupied = u32::from(length - 40) + u32::from(flags & (SYN | FIN) != 0);
        *next = next.wrapping_add(occupied);
        self.capture.packet(at_ns, &packet)
    }
}

/// The Internet checksum (RFC 1071) of `octets`, with `sum` added.
fn checksum(mut sum: u32, octets: &[u8]) -> [u8; 2] {
    for pair in octets.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!u16::try_from(sum).unwrap_or(0)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::reader::CaptureReader;
    use super::*;
    use crate::capture::ArrivalContent;
    use crate::capture::Arrivals;

    /// The example of RFC 1071 §3: 0001 f203 f4f5 f6f7 sum to ddf2.
    #[test]
    fn checksums() {
        let octets = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(0, &octets), (!0xddf2_u16).to_be_bytes());
        assert_eq!(checksum(0xddf2, &[]), [0x22, 0x0d]);
    }

    #[test]
    fn what_was_written_arrives() {
        let ends: [SocketAddrV4; 2] = ["10.0.0.1:4000", "10.0.0.2:80"].map(|a| a.parse().unwrap());
        let [from, to] = ends;
        let mut writer = ConnectionWriter::new(CaptureWriter::new(Vec::new()).unwrap());
        assert!(writer.send(0, from, to, b"early").is_err());
        writer.open(1, from, to).unwrap();
        writer.send(2, from, to, b"one ").unwrap();
        writer.capture().datagram(3, from, to, b"beside").unwrap();
        writer.send(4, from, to, b"two").unwrap();
        writer.close(5, from, to).unwrap();
        let file = writer.finish().unwrap();
        let mut seen = Vec::new();
        for arrival in Arrivals::new(CaptureReader::new(&file[..]).unwrap()) {
            let arrival = arrival.unwrap();
            seen.push((
                arrival.at_ns,
                match arrival.what {
                    ArrivalContent::Opened => "opened".to_owned(),
                    ArrivalContent::Ended => "ended".to_owned(),
                    ArrivalContent::Datagram(octets) | ArrivalContent::Octets(octets) => {
                        String::from_utf8(octets).unwrap()
                    }
                },
            ));
        }
        let wanted = [(1, "opened"), (2, "one "), (3, "beside"), (4, "two"), (5, "ended")];
        assert_eq!(seen, wanted.map(|(at, what)| (at, what.to_owned())));
    }
}
