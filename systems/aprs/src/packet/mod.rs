//! A packet that passes through the server, with its parsed fields.

mod build;
mod drop_reason;
mod header;
mod payload;
mod types;

pub use drop_reason::DropReason;
pub use header::{PACKET_LEN_MAX, Parsed, Unverified, header, is_q_construct, is_station, parse};
pub use types::Types;

use std::ops::Range;

/// A place on the Earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Degrees, north positive, in [-90, 90].
    pub latitude: f32,
    /// Degrees, east positive, in [-180, 180].
    pub longitude: f32,
}

/// A symbol of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// `/`, `\`, or the overlay's letter or digit.
    pub table: u8,
    /// The symbol's code in the table.
    pub code: u8,
}

/// A packet as it leaves the server: with its final q construct, ending with CR LF, and with the
/// fields that filters ask for.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// `SOURCE>DESTINATION,PATH,qAX,ENTRY:PAYLOAD` CR LF.
    pub line: Box<[u8]>,
    /// End of the source callsign in `line`.
    pub source_end: u16,
    /// Position of the destination callsign in `line`, with its SSID.
    pub destination: Range<u16>,
    /// Position of the digipeaters in `line`: all of the path before the q construct; empty for
    /// none.
    pub digis: Range<u16>,
    /// Begin of the q construct in `line`: its `q`. Always set once the server made the packet.
    pub q_at: u16,
    /// Begin of the payload in `line`: after the colon.
    pub payload_at: u16,
    /// Types of the packet.
    pub types: Types,
    /// Reported position: of the packet, or of the object or item in it.
    pub position: Option<Position>,
    /// Symbol on the map.
    pub symbol: Option<Symbol>,
    /// Position in `line` of the source callsign of the innermost third-party packet.
    pub inner_source: Option<Range<u16>>,
    /// Position of the object's or item's name in `line`, without trailing spaces.
    pub name: Option<Range<u16>>,
    /// Position of a message's addressee in `line`, without trailing spaces.
    pub addressee: Option<Range<u16>>,
}

impl Packet {
    /// The source callsign.
    pub fn source(&self) -> &[u8] {
        &self.line[..usize::from(self.source_end)]
    }

    /// The destination callsign with its SSID.
    pub fn destination(&self) -> &[u8] {
        self.part(&self.destination)
    }

    /// The elements of the path before the q construct, each with its `*` where it has one.
    pub fn digis(&self) -> impl Iterator<Item = &[u8]> {
        self.part(&self.digis).split(|octet| *octet == b',').filter(|digi| !digi.is_empty())
    }

    /// The three octets of the q construct, as `qAC`.
    pub fn q(&self) -> &[u8] {
        let at = usize::from(self.q_at);
        &self.line[at..at + 3]
    }

    /// The callsigns after the q construct; the first of them is where the packet entered.
    pub fn entries(&self) -> impl Iterator<Item = &[u8]> {
        let after = usize::from(self.q_at) + 3..usize::from(self.payload_at) - 1;
        self.line[after].split(|octet| *octet == b',').filter(|call| !call.is_empty())
    }

    /// All after the colon, without CR LF.
    pub fn payload(&self) -> &[u8] {
        &self.line[usize::from(self.payload_at)..self.line.len() - 2]
    }

    /// The source callsign of the innermost third-party packet.
    pub fn inner_source(&self) -> Option<&[u8]> {
        self.inner_source.as_ref().map(|range| self.part(range))
    }

    /// Subject of the packet: the object or item, else the innermost third-party packet's source,
    /// else the source.
    pub fn subject(&self) -> &[u8] {
        self.name().or_else(|| self.inner_source()).unwrap_or_else(|| self.source())
    }

    /// The name of the object or item.
    pub fn name(&self) -> Option<&[u8]> {
        self.name.as_ref().map(|range| self.part(range))
    }

    /// Whether it is for one station: a message, which a query to one station is too.
    pub fn is_message(&self) -> bool {
        self.types.contains(Types::MESSAGE)
    }

    /// Addressee of a message.
    pub fn addressee(&self) -> Option<&[u8]> {
        self.addressee.as_ref().map(|range| self.part(range))
    }

    fn part(&self, range: &Range<u16>) -> &[u8] {
        &self.line[usize::from(range.start)..usize::from(range.end)]
    }
}
