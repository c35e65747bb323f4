//! Positions as text and compressed: chapters 8 and 9 of the APRS Protocol Reference.

use super::{Position, Symbol};

/// `DDMM.hhN`, table, `DDDMM.hhE`, code.
const TEXT_LEN: usize = 19;
/// Table, four digits of latitude and four of longitude to base 91, code, two of speed or height,
/// and how it was compressed.
const COMPRESSED_LEN: usize = 13;

/// The position at the beginning of `body`, with its symbol. The position alone may be missing:
/// what receivers without a fix send is none.
pub(super) fn decode(body: &[u8]) -> Option<(Option<Position>, Option<Symbol>)> {
    match *body.first()? {
        b'0'..=b'9' => text(body.first_chunk()?),
        b'/' | b'\\' | b'A'..=b'Z' | b'a'..=b'j' => compressed(body.first_chunk()?),
        _ => None,
    }
}

fn text(body: &[u8; TEXT_LEN]) -> Option<(Option<Position>, Option<Symbol>)> {
    let mut body = *body;
    // Digits left out for privacy are replaced by the middle of their range.
    for (at, middle) in
        [(2, b'3'), (3, b'5'), (5, b'5'), (6, b'5'), (12, b'3'), (13, b'5'), (15, b'5'), (16, b'5')]
    {
        if body[at] == b' ' {
            body[at] = middle;
        }
    }
    if body[4] != b'.' || body[14] != b'.' {
        return None;
    }
    let (lat_degrees, lon_degrees) = (digits(&body[0..2])?, digits(&body[9..12])?);
    if lat_degrees > 89 || lon_degrees > 179 {
        return None;
    }
    let latitude = hundredths(lat_degrees, digits(&body[2..4])?, digits(&body[5..7])?);
    let longitude = hundredths(lon_degrees, digits(&body[12..14])?, digits(&body[15..17])?);
    let north = sign(body[7], b'N', b'S')?;
    let east = sign(body[17], b'E', b'W')?;
    let symbol = is_table(body[8]).then_some(Symbol { table: body[8], code: body[18] });
    Some((known(north * latitude, east * longitude), symbol))
}

fn compressed(body: &[u8; COMPRESSED_LEN]) -> Option<(Option<Position>, Option<Symbol>)> {
    let latitude = 90.0 - base91(&body[1..5])? / 380_926.0;
    let longitude = -180.0 + base91(&body[5..9])? / 190_463.0;
    let table = match body[0] {
        // The digits of overlays, which would look like the beginning of a text position.
        letter @ b'a'..=b'j' => letter - b'a' + b'0',
        table => table,
    };
    Some((known(latitude, longitude), Some(Symbol { table, code: body[9] })))
}

/// A table of symbols, or the overlay over a symbol of the second table.
pub(super) fn is_table(octet: u8) -> bool {
    matches!(octet, b'/' | b'\\' | b'A'..=b'Z' | b'0'..=b'9')
}

/// A position, unless it is out of range or what receivers without a fix say: the poles on the
/// prime meridian, and the equator at longitudes 0 and ±90.
pub(super) fn known(latitude: f64, longitude: f64) -> Option<Position> {
    let near = |value: f64, to: f64, within: f64| (value - to).abs() <= within;
    let pole = latitude.abs() > 89.9 && near(longitude, 0.0, 0.0001);
    let equator = near(latitude, 0.0, 0.0001)
        && (near(longitude, 0.0, 0.0001) || near(longitude.abs(), 90.0, 0.01));
    let inside = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
    (inside && !pole && !equator)
        .then(|| Position { latitude: narrow(latitude), longitude: narrow(longitude) })
}

/// Whether it points to the positive or the negative side, in either case.
pub(super) fn sign(octet: u8, positive: u8, negative: u8) -> Option<f64> {
    match octet.to_ascii_uppercase() {
        upper if upper == positive => Some(1.0),
        upper if upper == negative => Some(-1.0),
        _ => None,
    }
}

/// Degrees from degrees, minutes and hundredths of a minute.
pub(super) fn hundredths(degrees: u32, minutes: u32, hundredths: u32) -> f64 {
    f64::from(degrees * 6_000 + minutes * 100 + hundredths) / 6_000.0
}

/// The number that digits are; `None` when one is none.
pub(super) fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0, |number: u32, octet| {
        octet.is_ascii_digit().then(|| number * 10 + u32::from(octet - b'0'))
    })
}

/// The number that four digits to base 91 are, `!` being 0.
fn base91(text: &[u8]) -> Option<f64> {
    text.iter()
        .try_fold(0, |number: u32, octet| {
            (b'!'..=b'{').contains(octet).then(|| number * 91 + u32::from(octet - b'!'))
        })
        .map(f64::from)
}

/// A place on the Earth to 1.7 m at worst, which is finer than the text form's 18 m.
#[allow(clippy::cast_possible_truncation)]
fn narrow(degrees: f64) -> f32 {
    degrees as f32
}
