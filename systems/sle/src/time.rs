//! CCSDS day-segmented time (CDS), as SLE carries it. Source: CCSDS 301.0-B-4, §3.3.

use std::fmt;

/// Nanoseconds of a day.
const DAY_NS: u64 = 86_400_000_000_000;
/// Days from 1958-01-01, CCSDS's epoch, to 1970-01-01.
const EPOCH_DAYS: u64 = 4383;

/// The instant at which something is done: both clocks, read together by whoever has sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Monotonic clock, in nanoseconds.
    pub monotonic_ns: u64,
    /// UTC, in nanoseconds since 1970.
    pub utc_ns: u64,
}

impl Now {
    /// Reads the clocks.
    #[must_use]
    pub fn read() -> Self {
        Self {
            monotonic_ns: chronoscope_clock::monotonic_ns(),
            // Before 1970 nobody sends anything.
            utc_ns: u64::try_from(chronoscope_clock::utc_now_ns()).unwrap_or(0),
        }
    }
}

/// A time of UTC as it is on the wire: microseconds in 8 octets, or picoseconds in 10.
///
/// Equality is of the octets' meaning within one form; the two forms differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Time {
    /// Days since 1958 (2 octets), ms of the day (4), µs of the millisecond (2).
    Micro([u8; 8]),
    /// Days since 1958 (2 octets), ms of the day (4), ps of the millisecond (4).
    Pico([u8; 10]),
}

impl Time {
    /// The time from UTC in nanoseconds since 1970, truncated to microseconds.
    #[must_use]
    pub fn from_utc_ns(utc_ns: u64) -> Self {
        let (days, ms, rest_ns) = split(utc_ns);
        let mut octets = [0; 8];
        octets[..2].copy_from_slice(&days.to_be_bytes());
        octets[2..6].copy_from_slice(&ms.to_be_bytes());
        let us = u16::try_from(rest_ns / 1000).unwrap_or(999);
        octets[6..].copy_from_slice(&us.to_be_bytes());
        Self::Micro(octets)
    }

    /// The time from UTC in nanoseconds since 1970, without truncation.
    #[must_use]
    pub fn pico_from_utc_ns(utc_ns: u64) -> Self {
        let (days, ms, rest_ns) = split(utc_ns);
        let mut octets = [0; 10];
        octets[..2].copy_from_slice(&days.to_be_bytes());
        octets[2..6].copy_from_slice(&ms.to_be_bytes());
        octets[6..].copy_from_slice(&(rest_ns * 1000).to_be_bytes());
        Self::Pico(octets)
    }

    /// UTC in nanoseconds since 1970; `None` before that, or where the millisecond of the day or
    /// the part of the millisecond is not one.
    #[must_use]
    pub fn utc_ns(self) -> Option<u64> {
        let octets: &[u8] = match &self {
            Self::Micro(octets) => octets,
            Self::Pico(octets) => octets,
        };
        let days = u64::from(u16::from_be_bytes([octets[0], octets[1]]));
        let ms = u64::from(u32::from_be_bytes([octets[2], octets[3], octets[4], octets[5]]));
        let rest_ns = match self {
            Self::Micro(_) => u64::from(u16::from_be_bytes([octets[6], octets[7]])) * 1000,
            Self::Pico(_) => {
                u64::from(u32::from_be_bytes([octets[6], octets[7], octets[8], octets[9]])) / 1000
            }
        };
        // One second more than a day: UTC has leap seconds.
        if ms >= 86_401_000 || rest_ns >= 1_000_000 {
            return None;
        }
        Some(days.checked_sub(EPOCH_DAYS)? * DAY_NS + ms * 1_000_000 + rest_ns)
    }
}

/// Days since 1958, ms of the day, ns of the millisecond. Days beyond 2137 are cut.
fn split(utc_ns: u64) -> (u16, u32, u32) {
    let days = u16::try_from(utc_ns / DAY_NS + EPOCH_DAYS).unwrap_or(u16::MAX);
    let of_day = utc_ns % DAY_NS;
    let ms = u32::try_from(of_day / 1_000_000).unwrap_or(0);
    let rest_ns = u32::try_from(of_day % 1_000_000).unwrap_or(0);
    (days, ms, rest_ns)
}

/// UTC in nanoseconds since 1970 as a date with so many digits of a second, as
/// `2026-11-22T08:00:00.000000Z`. `digits` is in [1, 9]; the rest is cut.
#[must_use]
pub fn utc_text(utc_ns: u64, digits: usize) -> String {
    let (year, month, day) = civil(utc_ns / DAY_NS);
    let (seconds, ns) = (utc_ns % DAY_NS / 1_000_000_000, utc_ns % 1_000_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = format!("{ns:09}");
    let fraction = &fraction[..digits.clamp(1, 9)];
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction}Z")
}

/// Year, month and day of a day since 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years begin in March, eras of 400 years with the year 0.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.utc_ns() {
            Some(ns) => write!(f, "Time({}.{:09} s UTC)", ns / 1_000_000_000, ns % 1_000_000_000),
            None => f.write_str("Time(none)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Time, utc_text};
    use proptest::prelude::*;

    #[test]
    fn a_time_of_a_real_session() {
        let time = Time::Micro([0x62, 0x49, 0x04, 0x48, 0xee, 0xa0, 0x00, 0x00]);
        let days = 0x6249 - 4383;
        assert_eq!(time.utc_ns(), Some(days * 86_400_000_000_000 + 0x0448_eea0 * 1_000_000));
        let time = Time::Micro([0x62, 0x49, 0x90, 0x48, 0xee, 0xa0, 0, 0]);
        assert_eq!(time.utc_ns(), None, "no day has so many milliseconds");
    }

    #[test]
    fn a_date_has_as_many_digits_as_asked_for() {
        assert_eq!(utc_text(951_825_600_123_456_789, 9), "2000-02-29T12:00:00.123456789Z");
        assert_eq!(utc_text(0, 3), "1970-01-01T00:00:00.000Z");
    }

    proptest! {
        #[test]
        fn there_and_back(utc_ns in 0..5_000_000_000_000_000_000u64) {
            prop_assert_eq!(Time::from_utc_ns(utc_ns).utc_ns(), Some(utc_ns / 1000 * 1000));
            prop_assert_eq!(Time::pico_from_utc_ns(utc_ns).utc_ns(), Some(utc_ns));
        }
    }
}
