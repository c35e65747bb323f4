//! Values that several categories carry.

use super::AsterixError;
use std::fmt;

/// Data source: system area code and system identification code (items 010).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct DataSource {
    /// System area code: the state or organisation.
    pub sac: u8,
    /// System identification code: the system within it.
    pub sic: u8,
}

impl fmt::Display for DataSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.sac, self.sic)
    }
}

/// The text is not a data source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a data source: expected SAC/SIC, each in [0, 255], such as 25/7")]
pub struct DataSourceError(String);

impl std::str::FromStr for DataSource {
    type Err = DataSourceError;

    /// Two decimal numbers, as `25/7`.
    ///
    /// # Errors
    /// [`DataSourceError`] for anything else.
    fn from_str(text: &str) -> Result<Self, DataSourceError> {
        let parsed = text.split_once('/').and_then(|(sac, sic)| {
            Some(Self { sac: sac.trim().parse().ok()?, sic: sic.trim().parse().ok()? })
        });
        parsed.ok_or_else(|| DataSourceError(text.to_owned()))
    }
}

/// A time of day: units of 1/128 s since the last UTC midnight, 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TimeOfDay(u32);

const DAY_NS: i64 = 86_400_000_000_000;
/// Resolution of time of day, 1/128 s.
const TICK_NS: i64 = 7_812_500;

impl TimeOfDay {
    /// Converts units of 1/128 s, as on the wire; the higher eight bits are cut off.
    #[must_use]
    pub fn from_ticks(ticks: u32) -> Self {
        Self(ticks & 0x00FF_FFFF)
    }

    /// Units of 1/128 s since midnight.
    #[must_use]
    pub fn ticks(self) -> u32 {
        self.0
    }

    /// Seconds since midnight.
    #[must_use]
    pub fn seconds(self) -> f64 {
        f64::from(self.0) / 128.0
    }

    /// The time of day of an instant in nanoseconds since the UTC epoch, cut to 1/128 s.
    #[must_use]
    pub fn from_utc_ns(utc_ns: i64) -> Self {
        let ticks = utc_ns.rem_euclid(DAY_NS) / TICK_NS;
        Self(u32::try_from(ticks).unwrap_or(0))
    }

    /// The instant, in nanoseconds since the UTC epoch, that has this time of day and is nearest
    /// to `near_utc_ns`: a plot stamped just before midnight that arrives just after is of
    /// yesterday.
    #[must_use]
    pub fn to_utc_ns(self, near_utc_ns: i64) -> i64 {
        let of_day = i64::from(self.0) * TICK_NS;
        let midnight = near_utc_ns - near_utc_ns.rem_euclid(DAY_NS);
        let here = midnight + of_day;
        if here - near_utc_ns > DAY_NS / 2 {
            here - DAY_NS
        } else if near_utc_ns - here > DAY_NS / 2 {
            here + DAY_NS
        } else {
            here
        }
    }
}

/// A position in WGS-84. Its resolution is the item's: 180°/2^25 for most, 180°/2^23 and 180°/2^30
/// (category 021), 180°/2^31 (category 010).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LatLon {
    /// Degrees, north positive.
    pub lat_deg: f64,
    /// Degrees, east positive.
    pub lon_deg: f64,
}

/// A target identification: eight characters of six bits, as an aircraft sends its callsign.
///
/// Characters are A-Z, 0-9 and space; other codes, which occur on the air, are kept and shown
/// as `?`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Callsign(u64);

impl Callsign {
    /// Converts the 48 bits on the wire; higher bits are cut off.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits & 0xFFFF_FFFF_FFFF)
    }

    /// The 48 bits on the wire.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The eight characters, trailing spaces and all.
    #[must_use]
    pub fn characters(self) -> [u8; 8] {
        let mut out = [b' '; 8];
        for (index, character) in out.iter_mut().enumerate() {
            *character = match self.0 >> (42 - 6 * index) & 0x3F {
                letter @ 1..=26 => letter.to_be_bytes()[7] + b'A' - 1,
                32 => b' ',
                digit @ 48..=57 => digit.to_be_bytes()[7],
                _ => b'?',
            };
        }
        out
    }
}

impl Default for Callsign {
    /// A callsign of eight spaces.
    fn default() -> Self {
        Self(0x8208_2082_0820)
    }
}

impl std::str::FromStr for Callsign {
    type Err = AsterixError;

    /// At most eight of A-Z, 0-9 and space, padded with spaces.
    ///
    /// # Errors
    /// [`AsterixError::Text`] for anything else.
    fn from_str(text: &str) -> Result<Self, AsterixError> {
        let refuse =
            || AsterixError::Text { item: "callsign", text: text.to_owned(), octets_max: 8 };
        if text.len() > 8 {
            return Err(refuse());
        }
        let mut bits = 0;
        for index in 0..8 {
            let code = match text.as_bytes().get(index).copied().unwrap_or(b' ') {
                letter @ b'A'..=b'Z' => letter - b'A' + 1,
                same @ (b'0'..=b'9' | b' ') => same,
                _ => return Err(refuse()),
            };
            bits = bits << 6 | u64::from(code);
        }
        Ok(Self(bits))
    }
}

impl fmt::Display for Callsign {
    /// Without trailing spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let characters = self.characters();
        f.pad(std::str::from_utf8(&characters).unwrap_or_default().trim_end())
    }
}

impl fmt::Debug for Callsign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sources() {
        assert_eq!("25/7".parse(), Ok(DataSource { sac: 25, sic: 7 }));
        for text in ["25", "25/", "25/256", "x/1", ""] {
            assert!(text.parse::<DataSource>().is_err(), "{text}");
        }
    }

    #[test]
    fn callsigns() {
        let callsign: Callsign = "DLH8JW".parse().unwrap();
        // D=4 L=12 H=8 8=56 J=10 W=23 and two spaces (32), six bits each.
        let bits = [4, 12, 8, 56, 10, 23, 32, 32].iter().fold(0_u64, |b, c| b << 6 | c);
        assert_eq!(callsign.bits(), bits);
        assert_eq!(callsign.to_string(), "DLH8JW");
        assert_eq!(Callsign::from_bits(0).to_string(), "????????");
        assert_eq!(Callsign::default().to_string(), "");
        assert_eq!(
            "dlh8jw".parse::<Callsign>().unwrap_err().to_string(),
            "callsign can hold 8 characters, not \"dlh8jw\""
        );
        assert!("TOOLONG99".parse::<Callsign>().is_err());
        assert!("ÄÖ".parse::<Callsign>().is_err());
    }

    #[test]
    fn a_plot_of_just_before_midnight_that_arrives_after() {
        let midnight = 20_000 * DAY_NS;
        let stamped = TimeOfDay::from_utc_ns(midnight - 1_000_000_000);
        assert_eq!(stamped.seconds(), 86_399.0);
        assert_eq!(stamped.to_utc_ns(midnight + 500_000_000), midnight - 1_000_000_000);
        let early = TimeOfDay::from_utc_ns(midnight + 1_000_000_000);
        assert_eq!(early.to_utc_ns(midnight - 500_000_000), midnight + 1_000_000_000);
    }
}
