//! Positions as trackers send them: chapter 10 of the APRS Protocol Reference. The latitude is in
//! the destination callsign.

use super::position::{hundredths, is_table, known};
use super::{Position, Symbol};

/// Longitude, speed and course, three octets each but the last two share, symbol code and table.
pub(super) const BODY_LEN_MIN: usize = 8;

/// The position and symbol of `body` (without its first octet, the type) to `destination`.
pub(super) fn decode(destination: &[u8], body: &[u8]) -> Option<(Option<Position>, Symbol)> {
    let body: &[u8; BODY_LEN_MIN] = body.first_chunk()?;
    let base = destination.split(|octet| *octet == b'-').next()?;
    let base: &[u8; 6] = base.try_into().ok()?;
    let valid = matches!(body[0], 0x26..=0x7f)
        && matches!(body[1], 0x26..=0x61)
        && matches!(body[2], 0x1c..=0x7f)
        && matches!(body[3], 0x1c..=0x7f)
        && matches!(body[4], 0x1c..=0x7d)
        && matches!(body[5], 0x1c..=0x7f)
        && matches!(body[6], 0x21..=0x7b | 0x7d)
        && is_table(body[7]);
    if !valid {
        return None;
    }
    let (latitude, ambiguity) = latitude(base)?;
    let longitude = longitude(body, is_high(base[4]), ambiguity);
    let north = if is_high(base[3]) { 1.0 } else { -1.0 };
    let east = if is_high(base[5]) { -1.0 } else { 1.0 };
    let symbol = Symbol { table: body[7], code: body[6] };
    Some((known(north * latitude, east * longitude), symbol))
}

/// Degrees of latitude, and how many of its digits were left out.
fn latitude(base: &[u8; 6]) -> Option<(f64, usize)> {
    let mut digits = [0; 6];
    let mut ambiguity = 0;
    for (at, octet) in base.iter().enumerate() {
        digits[at] = match octet {
            b'0'..=b'9' => octet - b'0',
            b'A'..=b'J' if at < 3 => octet - b'A',
            b'P'..=b'Y' => octet - b'P',
            // The middle of the blanked range. Both digits of degrees must be present.
            b'K' | b'L' | b'Z' if at == 2 => 3,
            b'L' | b'Z' if at > 2 => 5,
            _ => return None,
        };
        if ambiguity == 0 && matches!(octet, b'K' | b'L' | b'Z') {
            ambiguity = 6 - at;
        }
    }
    let pair = |at: usize| u32::from(digits[at]) * 10 + u32::from(digits[at + 1]);
    Some((hundredths(pair(0), pair(2), pair(4)), ambiguity))
}

/// Degrees of longitude without sign. `offset` adds 100 degrees; `ambiguity` is the number of
/// digits that do not count.
fn longitude(body: &[u8; BODY_LEN_MIN], offset: bool, ambiguity: usize) -> f64 {
    let degrees = match u32::from(body[0]) - 28 + if offset { 100 } else { 0 } {
        degrees @ 180..=189 => degrees - 80,
        degrees @ 190..=199 => degrees - 190,
        degrees => degrees,
    };
    let minutes = match u32::from(body[1]) - 28 {
        minutes @ 60.. => minutes - 60,
        minutes => minutes,
    };
    let fraction = u32::from(body[2]) - 28;
    match ambiguity {
        0 => hundredths(degrees, minutes, fraction),
        1 => hundredths(degrees, minutes, fraction - fraction % 10 + 5),
        2 => hundredths(degrees, minutes, 50),
        3 => hundredths(degrees, minutes - minutes % 10 + 5, 0),
        _ => hundredths(degrees, 30, 0),
    }
}

/// North, 100 degrees more, or west: the destination's letters above `O` say so.
fn is_high(octet: u8) -> bool {
    octet >= b'P'
}
