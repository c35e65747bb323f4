//! Payload parser: types and position.
//!
//! Only the fields for filters are parsed, in the forms of the APRS Protocol Reference 1.0.1. A
//! payload that breaks the rules of its form has the type of its first octet, and no position.

mod destination;
mod mic_e;
mod named;
mod nmea;
mod position;
mod third_party;

use super::header::split;
use super::{DropReason, Position, Symbol, Types};
use crate::callsign::CALLSIGN_LEN_MAX;
use std::ops::Range;

/// Largest offset in the payload at which a `!` still begins a position (chapter 6: TNCs put text
/// before it).
const BANG_WITHIN: usize = 40;

/// Packet of a payload, and its place in the line: the packet itself, or a third-party packet in
/// it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PayloadContext<'a> {
    /// The source callsign.
    pub(super) source: &'a [u8],
    /// The destination callsign with its SSID: Mic-E keeps the latitude in it, GPS its symbol.
    pub(super) destination: &'a [u8],
    /// Begin of the payload in the line.
    pub(super) payload_at: usize,
}

/// Parsed fields of a payload. Ranges are in the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    /// Types of the payload.
    pub(super) types: Types,
    /// Reported position.
    pub(super) position: Option<Position>,
    /// Symbol on the map.
    pub(super) symbol: Option<Symbol>,
    /// Source of the innermost third-party packet.
    pub(super) inner_source: Option<Range<usize>>,
    /// Name of the object or item.
    pub(super) name: Option<Range<usize>>,
    /// Addressee of a message.
    pub(super) addressee: Option<Range<usize>>,
}

/// Parses `payload`, which is not empty.
///
/// # Errors
/// Reason to drop the packet: a fault in the header of a third-party packet.
pub(super) fn classify(place: &PayloadContext<'_>, payload: &[u8]) -> Result<Content, DropReason> {
    let mut content = Content::default();
    if is_cwop(place.source) {
        content.types |= Types::CWOP;
    }
    let (mut place, mut payload) = (*place, payload);
    while let Some(inner) = third_party::inner(&place, payload)? {
        content.types |= Types::THIRD_PARTY;
        let source_at = place.payload_at + 1;
        content.inner_source = Some(source_at..source_at + inner.place.source.len());
        (place, payload) = (inner.place, inner.payload);
    }
    content.read(&place, payload);
    Ok(content)
}

/// Members of the Citizen Weather Observer Program have `CW` to `GW` and digits for a callsign.
fn is_cwop(source: &[u8]) -> bool {
    matches!(source, [b'C'..=b'G', b'W', digits @ ..]
        if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

impl Content {
    fn read(&mut self, place: &PayloadContext<'_>, payload: &[u8]) {
        let Some((&kind, body)) = payload.split_first() else { return };
        match kind {
            b'`' | b'\'' => self.read_mic_e(place, body),
            b'!' if body.first() == Some(&b'!') => self.types |= Types::WEATHER,
            b'!' | b'=' => self.read_position(body),
            b'/' | b'@' => self.read_position(body.get(7..).unwrap_or_default()),
            b'$' => self.read_nmea(place, body),
            b':' => self.read_message(place.payload_at + 1, body),
            b';' => self.read_object(place.payload_at + 1, body),
            b')' => self.read_item(place.payload_at + 1, body),
            b'>' => self.types |= Types::STATUS,
            b'<' => self.types |= Types::CAPABILITIES,
            b'?' => self.types |= Types::QUERY,
            b'T' if body.first() == Some(&b'#') => self.types |= Types::TELEMETRY,
            // Peet Bros U-II and U-I, and weather without position.
            b'#' | b'*' | b'_' => self.types |= Types::WEATHER,
            b'{' => self.types |= Types::USER_DEFINED,
            b'}' => self.types |= Types::THIRD_PARTY,
            _ => self.read_late_position(payload),
        }
    }

    fn read_mic_e(&mut self, place: &PayloadContext<'_>, body: &[u8]) {
        if body.len() >= mic_e::BODY_LEN_MIN {
            self.types |= Types::POSITION;
            if let Some((position, symbol)) = mic_e::decode(place.destination, body) {
                self.put(position, Some(symbol));
            }
        }
    }

    fn read_position(&mut self, body: &[u8]) {
        self.types |= Types::POSITION;
        if let Some((position, symbol)) = position::decode(body) {
            self.put(position, symbol);
        }
    }

    fn read_late_position(&mut self, payload: &[u8]) {
        let start = &payload[..payload.len().min(BANG_WITHIN)];
        if let Some(bang) = start.iter().position(|octet| *octet == b'!')
            && let Some((position, symbol)) = position::decode(&payload[bang + 1..])
        {
            self.types |= Types::POSITION;
            self.put(position, symbol);
        }
    }

    fn read_nmea(&mut self, place: &PayloadContext<'_>, body: &[u8]) {
        if body.starts_with(b"ULT") {
            self.types |= Types::WEATHER;
        } else if let Some(position) = nmea::decode(body) {
            self.types |= Types::POSITION;
            self.put(Some(position), destination::symbol(place.destination));
        }
    }

    fn read_object(&mut self, at: usize, body: &[u8]) {
        if body.len() >= named::OBJECT_LEN_MIN {
            self.types |= Types::OBJECT;
            self.read_named(at, named::object(body), body);
        }
    }

    fn read_item(&mut self, at: usize, body: &[u8]) {
        if body.len() >= named::ITEM_LEN_MIN {
            self.types |= Types::ITEM;
            self.read_named(at, named::item(body), body);
        }
    }

    fn read_named(&mut self, at: usize, named: Option<named::Named>, body: &[u8]) {
        let Some(named) = named else { return };
        self.name = Some(at..at + named.name_len);
        if let Some((position, symbol)) = position::decode(&body[named.position_at..]) {
            self.put(position, symbol);
        }
    }

    /// A message is for whoever its first nine octets name. Definitions of telemetry (`:PARM.` and
    /// so on) come as messages of a station to itself; a text that begins with `?` asks one station and
    /// is a message as well.
    fn read_message(&mut self, at: usize, body: &[u8]) {
        let definition = body
            .get(9..15)
            .is_some_and(|text| matches!(text, b":PARM." | b":UNIT." | b":EQNS." | b":BITS."));
        let asks = body.get(9..11) == Some(b":?");
        self.types |= match (definition, asks) {
            (true, _) => Types::TELEMETRY,
            (false, true) => Types::MESSAGE | Types::QUERY,
            (false, false) => Types::MESSAGE,
        };
        if [&b"NWS-"[..], b"NWS_", b"SKY"].iter().any(|start| body.starts_with(start)) {
            self.types |= Types::NWS;
        }
        let len = body
            .iter()
            .take(CALLSIGN_LEN_MAX)
            .take_while(|octet| !matches!(octet, 0 | b' ' | b':'))
            .count();
        if len > 0 {
            self.addressee = Some(at..at + len);
        }
    }

    fn put(&mut self, position: Option<Position>, symbol: Option<Symbol>) {
        self.position = position;
        self.symbol = symbol;
        // A weather station, and a hurricane, in either table and with any overlay.
        if let Some(Symbol { code: b'_' | b'@', .. }) = symbol {
            self.types |= Types::WEATHER;
        }
    }
}

#[cfg(test)]
mod tests;
