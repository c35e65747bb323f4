//! Packets of a capture file, one after the other.

use std::io::{self, Read};

/// Longest block or packet that is read, octets.
pub const BLOCK_BYTES_MAX: u32 = 16 << 20;

/// Longest usual packet, for which memory is taken before it is read, octets.
const USUAL_BYTES: u32 = 64 << 10;

/// Interfaces of one section.
pub(super) const INTERFACES_MAX: usize = 4096;

/// One captured packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// UTC, ns since 1970.
    pub at_ns: i64,
    /// Link type, as tcpdump.org numbers them.
    pub link: u16,
    /// Octets on the wire; more than `octets` when the capture cut it.
    pub original_bytes: u32,
    /// Octets from the link's header on.
    pub octets: Vec<u8>,
}

/// Reasons why a capture cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// Neither pcap nor pcapng.
    #[error("not a capture: the file begins with {0:08x}")]
    Magic(u32),
    /// Written by a later format.
    #[error("capture at octet {position} has version {major}, this program reads version {known}")]
    Version {
        /// Begin of the block with the version.
        position: u64,
        /// Major version of the file.
        major: u16,
        /// Version that this reader knows.
        known: u16,
    },
    /// The capture ends within a block: the capturing program was killed, or the file was cut.
    #[error("capture ends within the block at octet {position}")]
    Truncated {
        /// Begin of the block.
        position: u64,
    },
    /// A block that contradicts itself.
    #[error("block at octet {position}: {what}")]
    Block {
        /// Begin of the block.
        position: u64,
        /// Description of the error.
        what: &'static str,
    },
    /// The file cannot be read.
    #[error("capture: {0}")]
    Io(#[from] io::Error),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    link: u16,
    /// Ticks of a second.
    per_s: u64,
    offset_s: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Classic { per_s: u64, link: u16 },
    Blocks,
}

/// Packets of a capture, in the order of the file. Ends after the first error.
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: R,
    position: u64,
    format: Format,
    big: bool,
    interfaces: Vec<Interface>,
    last_ns: i64,
    failed: bool,
    /// Blocks of kinds that say nothing about packets.
    pub skipped_count: u64,
}

pub(super) const SECTION: u32 = 0x0a0d_0d0a;

pub(super) const BYTE_ORDER: u32 = 0x1a2b_3c4d;

impl<R: Read> CaptureReader<R> {
    /// Reads the beginning.
    ///
    /// # Errors
    /// [`CaptureError`] when it is no capture, or one of a future version.
    pub fn new(input: R) -> Result<Self, CaptureError> {
        let mut reader = Self {
            input,
            position: 0,
            format: Format::Blocks,
            big: false,
            interfaces: Vec::new(),
            last_ns: 0,
            failed: false,
            skipped_count: 0,
        };
        let head = reader.octets::<4>(0)?.ok_or(CaptureError::Truncated { position: 0 })?;
        let magic = u32::from_le_bytes(head);
        if magic == SECTION {
            reader.section(0)?;
            return Ok(reader);
        }
        let (per_s, big) = match (magic, magic.swap_bytes()) {
            (0xa1b2_c3d4, _) => (1_000_000, false),
            (0xa1b2_3c4d, _) => (1_000_000_000, false),
            (_, 0xa1b2_c3d4) => (1_000_000, true),
            (_, 0xa1b2_3c4d) => (1_000_000_000, true),
            _ => return Err(CaptureError::Magic(magic)),
        };
        reader.big = big;
        let rest = reader.octets::<20>(0)?.ok_or(CaptureError::Truncated { position: 0 })?;
        let (major, known) = (reader.u16(&rest, 0), 2);
        if major != known {
            return Err(CaptureError::Version { position: 0, major, known });
        }
        let link = reader.u16(&rest, if big { 18 } else { 16 });
        reader.format = Format::Classic { per_s, link };
        Ok(reader)
    }

    /// Exactly `N` octets; `None` at the end of the file.
    fn octets<const N: usize>(&mut self, block: u64) -> Result<Option<[u8; N]>, CaptureError> {
        let mut octets = [0; N];
        let mut length = 0;
        while length < N {
            match self.input.read(&mut octets[length..]) {
                Ok(0) if length == 0 => return Ok(None),
                Ok(0) => return Err(CaptureError::Truncated { position: block }),
                Ok(n) => length += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.position += N as u64;
        Ok(Some(octets))
    }

    fn body(&mut self, block: u64, length: u32) -> Result<Vec<u8>, CaptureError> {
        // In one piece, which is not the file's word for it where it says more than usual.
        let mut octets = Vec::with_capacity(length.min(USUAL_BYTES) as usize);
        let got = (&mut self.input).take(length.into()).read_to_end(&mut octets)?;
        self.position += got as u64;
        if got as u64 == u64::from(length) {
            Ok(octets)
        } else {
            Err(CaptureError::Truncated { position: block })
        }
    }

    fn u16(&self, octets: &[u8], at: usize) -> u16 {
        let pair = [octets[at], octets[at + 1]];
        if self.big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    }

    fn u32(&self, octets: &[u8], at: usize) -> u32 {
        let (a, b) = (u32::from(self.u16(octets, at)), u32::from(self.u16(octets, at + 2)));
        if self.big { a << 16 | b } else { b << 16 | a }
    }

    /// The rest of a section header, whose type was read; it decides the byte order.
    fn section(&mut self, block: u64) -> Result<(), CaptureError> {
        let cut = CaptureError::Truncated { position: block };
        let head = self.octets::<8>(block)?.ok_or(cut)?;
        self.big = u32::from_be_bytes([head[4], head[5], head[6], head[7]]) == BYTE_ORDER;
        if self.u32(&head, 4) != BYTE_ORDER {
            return Err(CaptureError::Block { position: block, what: "unknown byte order" });
        }
        let length = self.u32(&head, 0);
        if !(28..=BLOCK_BYTES_MAX).contains(&length) || !length.is_multiple_of(4) {
            return Err(CaptureError::Block { position: block, what: "impossible length" });
        }
        let body = self.body(block, length - 12)?;
        let (major, known) = (self.u16(&body, 0), 1);
        if major != known {
            return Err(CaptureError::Version { position: block, major, known });
        }
        self.interfaces.clear();
        self.trailer(block, length, &body)
    }

    fn trailer(&self, block: u64, length: u32, body: &[u8]) -> Result<(), CaptureError> {
        if self.u32(body, body.len() - 4) == length {
            return Ok(());
        }
        Err(CaptureError::Block { position: block, what: "its two lengths differ" })
    }

    fn read(&mut self) -> Result<Option<CapturedPacket>, CaptureError> {
        match self.format {
            Format::Classic { per_s, link } => self.record(per_s, link),
            Format::Blocks => loop {
                let block = self.position;
                let Some(head) = self.octets::<4>(block)? else { return Ok(None) };
                let kind = self.u32(&head, 0);
                if kind == SECTION {
                    self.section(block)?;
                } else if let Some(packet) = self.block(block, kind)? {
                    return Ok(Some(packet));
                }
            },
        }
    }

    fn record(&mut self, per_s: u64, link: u16) -> Result<Option<CapturedPacket>, CaptureError> {
        let block = self.position;
        let Some(head) = self.octets::<16>(block)? else { return Ok(None) };
        let [s, fraction, length, original_bytes] = [0, 4, 8, 12].map(|at| self.u32(&head, at));
        if length > BLOCK_BYTES_MAX {
            return Err(CaptureError::Block { position: block, what: "impossible length" });
        }
        let fraction_ns = u64::from(fraction) * (1_000_000_000 / per_s);
        let at_ns = i64::from(s) * 1_000_000_000 + fraction_ns.cast_signed();
        let octets = self.body(block, length)?;
        Ok(Some(CapturedPacket { at_ns, link, original_bytes, octets }))
    }

    fn block(&mut self, block: u64, kind: u32) -> Result<Option<CapturedPacket>, CaptureError> {
        let wrong = |what| CaptureError::Block { position: block, what };
        let length = self.octets::<4>(block)?.ok_or(CaptureError::Truncated { position: block })?;
        let length = self.u32(&length, 0);
        if !(12..=BLOCK_BYTES_MAX).contains(&length) || !length.is_multiple_of(4) {
            return Err(wrong("impossible length"));
        }
        let mut octets = self.body(block, length - 8)?;
        self.trailer(block, length, &octets)?;
        octets.truncate(octets.len() - 4);
        let body = &octets[..];
        match kind {
            1 if body.len() < 8 => Err(wrong("interface description too short")),
            1 if self.interfaces.len() == INTERFACES_MAX => Err(wrong("too many interfaces")),
            1 => {
                let interface = self.interface(body);
                self.interfaces.push(interface.ok_or(wrong("impossible time resolution"))?);
                Ok(None)
            }
            6 if body.len() < 20 => Err(wrong("enhanced packet too short")),
            6 => {
                let [id, high, low, length, original_bytes] =
                    [0, 4, 8, 12, 16].map(|at| self.u32(body, at));
                let interface = self.interfaces.get(id as usize);
                let interface = *interface.ok_or(wrong("interface was not described"))?;
                if body.len() - 20 < length as usize {
                    return Err(wrong("packet longer than its block"));
                }
                self.last_ns = time_ns(interface, u64::from(high) << 32 | u64::from(low));
                let (at_ns, link) = (self.last_ns, interface.link);
                octets.truncate(20 + length as usize);
                octets.drain(..20);
                Ok(Some(CapturedPacket { at_ns, link, original_bytes, octets }))
            }
            3 if body.len() < 4 => Err(wrong("simple packet too short")),
            3 => {
                // It has no time of its own: that of the packet before.
                let interface =
                    *self.interfaces.first().ok_or(wrong("interface was not described"))?;
                let original_bytes = self.u32(body, 0);
                let length = (original_bytes as usize).min(body.len() - 4);
                octets.truncate(4 + length);
                octets.drain(..4);
                Ok(Some(CapturedPacket {
                    at_ns: self.last_ns,
                    link: interface.link,
                    original_bytes,
                    octets,
                }))
            }
            _ => {
                self.skipped_count += 1;
                Ok(None)
            }
        }
    }

    /// Link type and resolution; `None` for one finer than a nanosecond's divisor can say.
    fn interface(&self, body: &[u8]) -> Option<Interface> {
        let mut interface = Interface { link: self.u16(body, 0), per_s: 1_000_000, offset_s: 0 };
        let mut options = &body[8..];
        while options.len() >= 4 {
            let (code, length) = (self.u16(options, 0), usize::from(self.u16(options, 2)));
            let Some(value) = options[4..].get(..length) else { break };
            match (code, value) {
                (0, _) => break,
                (9, [power]) if power & 0x80 != 0 => {
                    interface.per_s = 1u64.checked_shl(u32::from(power & 0x7f))?;
                }
                (9, [power]) => interface.per_s = 10u64.checked_pow(u32::from(*power))?,
                (14, value) if value.len() == 8 => {
                    let (a, b) = (u64::from(self.u32(value, 0)), u64::from(self.u32(value, 4)));
                    let offset = if self.big { a << 32 | b } else { b << 32 | a };
                    interface.offset_s = offset.cast_signed();
                }
                _ => {}
            }
            options = options.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        }
        Some(interface)
    }
}

pub(super) fn time_ns(interface: Interface, ticks: u64) -> i64 {
    let ns = u128::from(ticks) * 1_000_000_000 / u128::from(interface.per_s);
    let offset_ns = i128::from(interface.offset_s) * 1_000_000_000;
    let ns = i128::try_from(ns).unwrap_or(i128::MAX).saturating_add(offset_ns);
    i64::try_from(ns).unwrap_or(i64::MAX)
}

impl<R: Read> Iterator for CaptureReader<R> {
    type Item = Result<CapturedPacket, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.read().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}
