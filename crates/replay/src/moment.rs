//! Moments of a recording as people write them: `05:30`, `2026-07-01T05:30`.

use std::str::FromStr;

const DAY_NS: i64 = 86_400_000_000_000;

/// A moment of a recording, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub enum Moment {
    /// A time of day, ns since midnight: the first such time at or after another moment.
    OfDay(i64),
    /// An instant, UTC ns since 1970.
    At(i64),
}

impl Moment {
    /// The instant, UTC ns since 1970; a time of day is the first one at or after `from_ns`.
    #[must_use]
    pub fn at_or_after(self, from_ns: i64) -> i64 {
        match self {
            Self::At(at_ns) => at_ns,
            Self::OfDay(day_ns) => {
                let passed_ns = from_ns.rem_euclid(DAY_NS);
                from_ns.saturating_add((day_ns - passed_ns).rem_euclid(DAY_NS))
            }
        }
    }
}

impl TryFrom<String> for Moment {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong =
            || format!("\"{text}\" is not a time: write 05:30, 05:30:15 or 2026-07-01T05:30 (UTC)");
        let (date, time) = match text.split_once(['T', ' ']) {
            Some((date, time)) => (Some(date), time.trim_end_matches('Z')),
            None => (None, text.trim_end_matches('Z')),
        };
        let seconds = if time.matches(':').count() == 1 { ":00" } else { "" };
        let of = |date: &str| parse_time(&format!("{date}T{time}{seconds}Z")).map_err(|_| wrong());
        match date {
            Some(date) => of(date).map(Self::At),
            None => of("1970-01-01").map(Self::OfDay),
        }
    }
}

/// UTC, ns since 1970, of `2026-07-01T05:00:00Z`.
///
/// # Errors
/// A sentence with the form.
pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    let wrong = || format!("\"{text}\" is not a time: write 2026-07-01T05:00:00Z (UTC)");
    let at: toml::value::Datetime = text.trim().parse().map_err(|_| wrong())?;
    let (Some(date), Some(time), Some(toml::value::Offset::Z)) = (at.date, at.time, at.offset)
    else {
        return Err(wrong());
    };
    let days = days_since_1970(date.year.into(), date.month.into(), date.day.into());
    let second = i64::from(time.hour) * 3600
        + i64::from(time.minute) * 60
        + i64::from(time.second.unwrap_or(0));
    let ns = time.nanosecond.unwrap_or(0);
    (days * 86_400 + second)
        .checked_mul(1_000_000_000)
        .and_then(|s| s.checked_add(ns.into()))
        .ok_or_else(wrong)
}

/// Howard Hinnant's days_from_civil: the proleptic Gregorian calendar with years from March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(parse_time("1970-01-01T00:00:00Z"), Ok(0));
        assert_eq!(parse_time("2026-07-01T05:00:00Z"), Ok(1_782_882_000_000_000_000));
        assert_eq!(parse_time("2000-02-29T00:00:01.5Z"), Ok(951_782_401_500_000_000));
        for wrong in ["2026-07-01", "05:00:00", "2026-07-01T05:00:00+02:00", "9999-01-01T00:00:00Z"]
        {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_of_day_is_the_first_one_after() {
        let at = |text: &str| parse_time(text).unwrap();
        let start_ns = at("2026-07-01T05:00:00Z");
        for (text, is) in [
            ("05:00", "2026-07-01T05:00:00Z"),
            ("05:30", "2026-07-01T05:30:00Z"),
            ("23:59:59.5", "2026-07-01T23:59:59.5Z"),
            ("04:59", "2026-07-02T04:59:00Z"),
            ("2026-07-03T01:02", "2026-07-03T01:02:00Z"),
            ("2026-07-03 01:02:03Z", "2026-07-03T01:02:03Z"),
        ] {
            let moment: Moment = text.parse().unwrap();
            assert_eq!(moment.at_or_after(start_ns), at(is), "{text}");
        }
        for wrong in ["5", "25:00", "05:30+02:00", "2026-07-01", "", "soon"] {
            assert!(wrong.parse::<Moment>().unwrap_err().contains("write 05:30"), "{wrong}");
        }
    }
}
