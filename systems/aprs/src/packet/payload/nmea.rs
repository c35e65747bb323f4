//! Sentences of a GPS receiver as it sent them: `$GPRMC,…`.

use super::Position;
use super::position::{digits, known, sign};

/// The position in a sentence (without its `$`); `None` in one that has none, or is not known.
/// Neither the checksum nor the fix is looked at: aprsc does not either.
pub(super) fn decode(body: &[u8]) -> Option<Position> {
    let mut fields = body.split(|octet| *octet == b',');
    // How many fields come before the latitude.
    let skip = match fields.next()? {
        // `$GPGGA,time,latitude,N,longitude,E,…`, of any satellites' receiver (GP, GN, GL, …).
        [b'G', _, b'G', b'G', b'A'] => 1,
        [b'G', _, b'G', b'L', b'L'] | [b'G', _, b'W', b'P', b'L'] => 0,
        // `$GPRMC,time,A,…`: A is a fix, V an old one.
        [b'G', _, b'R', b'M', b'C'] => {
            fields.next()?;
            if !matches!(fields.next()?, b"A" | b"V") {
                return None;
            }
            0
        }
        // Alinco: `$PNTS,1,code,day,month,year,time,latitude,N,longitude,E,…`.
        b"PNTS" if fields.next()? == b"1" => {
            if fields.next()?.len() != 1 {
                return None;
            }
            4
        }
        _ => return None,
    };
    let mut fields = fields.skip(skip);
    let latitude = angle(fields.next()?, 2)? * sign(*fields.next()?.first()?, b'N', b'S')?;
    let longitude = angle(fields.next()?, 3)? * sign(*fields.next()?.first()?, b'E', b'W')?;
    known(latitude, longitude)
}

/// Degrees from `DDMM.mmm`, with the given number of digits of degrees.
fn angle(text: &[u8], degree_digits: usize) -> Option<f64> {
    let (degrees, minutes) = text.split_at_checked(degree_digits)?;
    let mut parts = minutes.splitn(2, |octet| *octet == b'.');
    let whole = parts.next().filter(|whole| (1..=2).contains(&whole.len()))?;
    // More than six digits are less than a millimetre.
    let fraction = parts.next().unwrap_or_default();
    let fraction = &fraction[..fraction.len().min(6)];
    let mut scale = 1.0;
    for _ in fraction {
        scale *= 10.0;
    }
    let minutes = f64::from(digits(whole)?) + f64::from(digits(fraction)?) / scale;
    Some(f64::from(digits(degrees)?) + minutes / 60.0)
}
