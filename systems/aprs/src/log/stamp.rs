//! Time stamps of log lines.

use std::fmt;

/// `2026/11/22 04:31:02.000123`: UTC nanoseconds since 1970.
pub(super) struct Stamp(pub(super) i64);

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1_000_000_000);
        let micros = self.0.rem_euclid(1_000_000_000) / 1000;
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let of_day = seconds.rem_euclid(86_400);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:4}/{month:02}/{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
    }
}

/// Year, month and day (from 1) of a day since 1970, in the Gregorian calendar. Counted in years
/// that begin in March, which makes the leap day a year's last.
pub(super) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::Stamp;

    #[test]
    fn stamps_are_utc() {
        assert_eq!(Stamp(0).to_string(), "1970/01/01 00:00:00.000000");
        assert_eq!(Stamp(951_782_400_000_001_000).to_string(), "2000/02/29 00:00:00.000001");
        assert_eq!(Stamp(1_795_321_982_123_456_789).to_string(), "2026/11/22 04:33:02.123456");
        assert_eq!(Stamp(-1_000).to_string(), "1969/12/31 23:59:59.999999");
    }
}
