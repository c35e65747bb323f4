//! Instants as people write and read them, in the local time zone or in UTC.

use crate::usage::Usage;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::ops::Range;

/// The time zone that instants are read and printed in.
#[derive(Clone, Debug)]
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// UTC, or the zone of this machine.
    pub(crate) fn new(utc: bool) -> Self {
        Self(if utc { TimeZone::UTC } else { TimeZone::system() })
    }

    /// Name of the time zone, for output.
    pub(crate) fn name(&self) -> String {
        self.0.iana_name().unwrap_or("local time").to_owned()
    }

    /// An instant with milliseconds: `2026-11-21 14:01:17.250`.
    pub(crate) fn instant(&self, utc_ns: i64) -> String {
        self.format(utc_ns, "%Y-%m-%d %H:%M:%S%.3f")
    }

    /// Offset of the zone from UTC at a time, in nanoseconds; positive when ahead.
    pub(crate) fn offset_ns(&self, utc_ns: i64) -> i64 {
        let at = Timestamp::from_nanosecond(utc_ns.into()).unwrap_or_default();
        i64::from(self.0.to_offset(at).seconds()) * 1_000_000_000
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

    /// The range from `--from` to `--until`, open where one is not given. `now_ns` is the present,
    /// UTC nanoseconds.
    ///
    /// # Errors
    /// When one is no instant, or the range is empty or ends before it begins.
    pub(crate) fn range(
        &self,
        from: Option<&str>,
        until: Option<&str>,
        now_ns: i64,
    ) -> Result<Range<i64>, Usage> {
        self.range_of(["--from", "--until"], [from, until], now_ns)
    }

    /// As [`Self::range`], for arguments with other names.
    ///
    /// # Errors
    /// As [`Self::range`].
    pub(crate) fn range_of(
        &self,
        names: [&str; 2],
        [from, until]: [Option<&str>; 2],
        now_ns: i64,
    ) -> Result<Range<i64>, Usage> {
        let read = |name: &str, text: Option<&str>, open_ns| {
            let read = text.map_or(Ok(open_ns), |text| self.parse(text, now_ns));
            read.map_err(|reason| Usage::new(format!("{name}: {reason}")))
        };
        let start_ns = read(names[0], from, i64::MIN)?;
        let end_ns = read(names[1], until, i64::MAX)?;
        if start_ns >= end_ns {
            let [from, until] = [start_ns, end_ns].map(|ns| self.instant(ns));
            return Err(Usage::new(format!(
                "{} is {from} and {} is {until} ({}): the range has to begin before it ends",
                names[0],
                names[1],
                self.name()
            )));
        }
        Ok(start_ns..end_ns)
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
                "{text:?} is not a time: expected a value such as 14:01:17, \"2026-11-21 14:01\", \
                 2026-11-21T14:01:17Z or -10min"
            )),
        }
    }
}

fn nanoseconds(instant: Timestamp) -> Result<i64, String> {
    i64::try_from(instant.as_nanosecond())
        .map_err(|_| format!("{instant} is outside the years 1678 to 2261"))
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
        assert!(utc.parse("yesterday", NOON).unwrap_err().contains("expected a value such as"));
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_an_error_with_both_instants() {
        let utc = Zone::new(true);
        let range = |from, until| utc.range(from, until, NOON).map_err(|e| e.to_string());
        assert_eq!(range(Some("-1min"), Some("12:00")), Ok(NOON - 60_000_000_000..NOON));
        assert_eq!(range(None, None), Ok(i64::MIN..i64::MAX));
        for (from, until) in [("12:00", "11:00"), ("11:00", "11:00")] {
            let error = range(Some(from), Some(until)).unwrap_err();
            let instant = |time| format!("2026-11-21 {time}:00.000");
            assert!(error.contains(&format!("--from is {}", instant(from))), "{error}");
            assert!(error.contains(&format!("--until is {}", instant(until))), "{error}");
        }
        let error = range(Some("yesterday"), None).unwrap_err();
        assert!(error.starts_with("--from: \"yesterday\" is not a time"), "{error}");
    }
}
