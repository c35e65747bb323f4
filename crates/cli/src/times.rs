//! Instants as people write and read them, in the local time zone or in UTC.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The time zone that instants are read and printed in.
#[derive(Clone, Debug)]
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// UTC, or the zone of this machine.
    pub(crate) fn new(utc: bool) -> Self {
        Self(if utc { TimeZone::UTC } else { TimeZone::system() })
    }

    /// Its name, so that every print can say which it is.
    pub(crate) fn name(&self) -> String {
        self.0.iana_name().unwrap_or("local time").to_owned()
    }

    /// An instant with milliseconds: `2026-11-21 14:01:17.250`.
    pub(crate) fn instant(&self, utc_ns: i64) -> String {
        self.format(utc_ns, "%Y-%m-%d %H:%M:%S%.3f")
    }

    /// A time of day: `14:01:17`.
    pub(crate) fn time_of_day(&self, utc_ns: i64) -> String {
        self.format(utc_ns, "%H:%M:%S")
    }

    fn format(&self, utc_ns: i64, how: &str) -> String {
        match Timestamp::from_nanosecond(i128::from(utc_ns)) {
            Ok(instant) => instant.to_zoned(self.0.clone()).strftime(how).to_string(),
            Err(_) => format!("{utc_ns} ns"),
        }
    }

    /// Reads an instant: `14:01:17` (today), `2026-11-21 14:01`, RFC 3339 with its own offset, or
    /// a time ago: `-10min`. `now_ns` is the present, UTC nanoseconds.
    ///
    /// # Errors
    /// A sentence that names the forms.
    pub(crate) fn parse(&self, text: &str, now_ns: i64) -> Result<i64, String> {
        if let Some(ago) = text.strip_prefix('-') {
            let ago = crate::text::parse_duration(ago)?;
            return Ok(now_ns.saturating_sub(i64::try_from(ago.as_nanos()).unwrap_or(i64::MAX)));
        }
        if let Ok(instant) = text.parse::<Timestamp>() {
            return nanoseconds(instant);
        }
        let today = || {
            let now = Timestamp::from_nanosecond(i128::from(now_ns)).ok()?;
            Some(now.to_zoned(self.0.clone()).date())
        };
        let civil = text
            .parse::<DateTime>()
            .ok()
            .or_else(|| Some(today()?.to_datetime(text.parse::<Time>().ok()?)));
        let zoned: Option<Zoned> = civil.and_then(|c| c.to_zoned(self.0.clone()).ok());
        match zoned {
            Some(zoned) => nanoseconds(zoned.timestamp()),
            None => Err(format!(
                "{text:?} is no instant: expected such as 14:01:17, \"2026-11-21 14:01\", \
                 2026-11-21T14:01:17Z or -10min"
            )),
        }
    }
}

fn nanoseconds(instant: Timestamp) -> Result<i64, String> {
    i64::try_from(instant.as_nanosecond())
        .map_err(|_| format!("{instant} is beyond the years 1678 to 2261"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_795_262_400_000_000_000; // 2026-11-21T12:00:00Z

    #[test]
    fn every_form_reads() {
        let utc = Zone::new(true);
        assert_eq!(utc.instant(NOON), "2026-11-21 12:00:00.000");
        for text in ["12:00", "12:00:00", "2026-11-21 12:00", "2026-11-21T13:00:00+01:00", "-0s"] {
            assert_eq!(utc.parse(text, NOON), Ok(NOON), "{text}");
        }
        assert_eq!(utc.parse("-10min", NOON), Ok(NOON - 600_000_000_000));
        assert!(utc.parse("yesterday", NOON).unwrap_err().contains("expected such as"));
    }
}
