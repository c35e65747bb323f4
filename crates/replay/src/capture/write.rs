//! pcapng, little-endian, nanoseconds.

use std::io::{self, Write};
use std::net::SocketAddrV4;

/// Link type of packets that begin with their IP header.
const RAW_IP: u16 = 101;
/// Longest remark, octets.
const REMARK_BYTES_MAX: usize = 1024;

/// Writes packets as a pcapng file, which Wireshark opens.
#[derive(Debug)]
pub struct CaptureWriter<W> {
    output: W,
    /// Link types of the interfaces, in the order of their numbers.
    links: Vec<u16>,
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = u32::try_from(padded + 12).unwrap_or(u32::MAX).to_le_bytes();
    let mut octets = kind.to_le_bytes().to_vec();
    octets.extend(length);
    octets.extend(body);
    octets.resize(8 + padded, 0);
    octets.extend(length);
    octets
}

/// An option of a block, padded.
fn option(code: u16, value: &[u8], body: &mut Vec<u8>) {
    body.extend(code.to_le_bytes());
    body.extend(u16::try_from(value.len()).unwrap_or(0).to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// High and low half of a time, as blocks have it; before 1970 is 1970.
fn halves(at_ns: i64) -> [[u8; 4]; 2] {
    let at = u64::try_from(at_ns).unwrap_or(0);
    [at >> 32, at & 0xffff_ffff].map(|half| u32::try_from(half).unwrap_or(0).to_le_bytes())
}

impl<W: Write> CaptureWriter<W> {
    /// Writes the section and the interface of packets that begin with their IP header.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(output: W) -> io::Result<Self> {
        let mut writer = Self::begin(output, "")?;
        writer.interface(RAW_IP)?;
        Ok(writer)
    }

    /// Writes the section, with a remark (of which 1024 octets are kept) if it is not empty.
    /// Interfaces are written when a packet needs them.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn begin(mut output: W, remark: &str) -> io::Result<Self> {
        let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
        section.extend([1, 0, 0, 0]); // version 1.0
        section.extend([0xff; 8]); // length of the section not said
        if !remark.is_empty() {
            let cut = remark.floor_char_boundary(REMARK_BYTES_MAX);
            option(1, &remark.as_bytes()[..cut], &mut section); // opt_comment
            section.extend([0, 0, 0, 0]);
        }
        output.write_all(&block(0x0a0d_0d0a, &section))?;
        Ok(Self { output, links: Vec::new() })
    }

    /// The number of the interface of a link type (as tcpdump.org numbers them), which is written
    /// the first time.
    fn interface(&mut self, link: u16) -> io::Result<u32> {
        let known = self.links.iter().position(|known| *known == link);
        if let Some(number) = known {
            return u32::try_from(number).map_err(io::Error::other);
        }
        let mut body = link.to_le_bytes().to_vec();
        body.extend([0, 0]);
        body.extend(0u32.to_le_bytes()); // nothing is cut
        option(9, &[9], &mut body); // if_tsresol: 10⁻⁹ s
        body.extend([0, 0, 0, 0]);
        self.output.write_all(&block(1, &body))?;
        self.links.push(link);
        u32::try_from(self.links.len() - 1).map_err(io::Error::other)
    }

    /// A packet that begins with its IP header, at UTC ns since 1970.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn packet(&mut self, at_ns: u64, octets: &[u8]) -> io::Result<()> {
        let length = u32::try_from(octets.len()).map_err(io::Error::other)?;
        self.captured(RAW_IP, i64::try_from(at_ns).unwrap_or(i64::MAX), length, octets)
    }

    /// Writes a packet of a link type, at UTC ns since 1970 (an earlier time is written as 1970);
    /// on the wire it had `original_bytes` octets.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn captured(
        &mut self,
        link: u16,
        at_ns: i64,
        original_bytes: u32,
        octets: &[u8],
    ) -> io::Result<()> {
        let interface = self.interface(link)?.to_le_bytes();
        let captured = u32::try_from(octets.len()).map_err(io::Error::other)?;
        let padding = octets.len().next_multiple_of(4) - octets.len();
        let length = captured.next_multiple_of(4).saturating_add(32).to_le_bytes();
        let [high, low] = halves(at_ns);
        let fields = [6u32.to_le_bytes(), length, interface, high, low, captured.to_le_bytes()];
        self.output.write_all(fields.as_flattened())?;
        self.output.write_all(&original_bytes.to_le_bytes())?;
        self.output.write_all(octets)?;
        self.output.write_all(&[0; 4][..padding])?;
        self.output.write_all(&length)
    }

    /// Writes the number of packets of the first interface that were received, and that the kernel
    /// dropped, by `at_ns` (UTC ns since 1970).
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn statistics(&mut self, at_ns: i64, received: u64, dropped: u64) -> io::Result<()> {
        self.interface(RAW_IP)?;
        let mut body = 0u32.to_le_bytes().to_vec();
        body.extend(halves(at_ns).as_flattened());
        option(4, &received.to_le_bytes(), &mut body); // isb_ifrecv
        option(5, &dropped.to_le_bytes(), &mut body); // isb_ifdrop
        body.extend([0, 0, 0, 0]);
        self.output.write_all(&block(5, &body))
    }

    /// The output.
    #[must_use]
    pub const fn get_ref(&self) -> &W {
        &self.output
    }

    /// The output.
    pub const fn get_mut(&mut self) -> &mut W {
        &mut self.output
    }

    /// A UDP datagram over IPv4, with the headers that it arrived in.
    ///
    /// # Errors
    /// When the file cannot be written, or the datagram is longer than IPv4 allows.
    pub fn datagram(
        &mut self,
        at_ns: u64,
        from: SocketAddrV4,
        to: SocketAddrV4,
        payload: &[u8],
    ) -> io::Result<()> {
        let size = |header: usize| {
            let too_long = |_| io::Error::other(format!("datagram of {} octets", payload.len()));
            u16::try_from(payload.len() + header).map_err(too_long)
        };
        let mut ip = vec![0x45, 0];
        ip.extend(size(28)?.to_be_bytes());
        ip.extend([0, 0, 0, 0, 64, 17, 0, 0]);
        ip.extend(from.ip().octets());
        ip.extend(to.ip().octets());
        let sum =
            ip.chunks_exact(2).map(|p| u32::from(u16::from_be_bytes([p[0], p[1]]))).sum::<u32>();
        let sum = (sum & 0xffff) + (sum >> 16);
        let checksum = !u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap_or(0);
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        for port in [from.port(), to.port()] {
            ip.extend(port.to_be_bytes());
        }
        ip.extend(size(8)?.to_be_bytes());
        ip.extend([0, 0]); // no checksum, as UDP over IPv4 allows
        ip.extend(payload);
        self.packet(at_ns, &ip)
    }

    /// The file, flushed.
    ///
    /// # Errors
    /// When it cannot be flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}
