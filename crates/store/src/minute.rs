//! The minute that a row belongs to, and the two kinds of rows.

use chronoscope_model::{Flags, Record};
use std::fmt;

/// Nanoseconds in a minute.
pub const MINUTE_NS: i64 = 60_000_000_000;

/// A minute of UTC, counted from 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minute(pub i64);

impl Minute {
    /// The minute that an instant (UTC, nanoseconds since 1970) lies in.
    pub const fn of(instant_ns: i64) -> Self {
        Self(instant_ns.div_euclid(MINUTE_NS))
    }

    /// First nanosecond of the minute, saturating.
    pub const fn start_ns(self) -> i64 {
        self.0.saturating_mul(MINUTE_NS)
    }

    /// The first nanosecond after it, saturating.
    pub const fn end_ns(self) -> i64 {
        self.start_ns().saturating_add(MINUTE_NS)
    }
}

impl fmt::Display for Minute {
    /// `2026-11-21T22-13`: sorts as the minutes do and is a file name everywhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, minute) = (self.0.div_euclid(1440), self.0.rem_euclid(1440));
        let (year, month, day) = civil_from_days(day);
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}-{:02}", minute / 60, minute % 60)
    }
}

/// Year, month and day of the proleptic Gregorian calendar, `days` after 1 January 1970.
/// The year is counted from 1 March, so that the leap day is its last.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let days = days + 719_468; // from 1 March of the year 0
    let era = days.div_euclid(DAYS_IN_400_YEARS);
    let day_of_era = days.rem_euclid(DAYS_IN_400_YEARS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Whether rows carry their ancestors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RowKind {
    /// Rows that carry their root's start; they are stored in the minute of that start.
    Native = 0,
    /// Rows without ancestors ([`Flags::FOREIGN`]); they are stored in the minute of their own
    /// start.
    Foreign = 1,
}

impl RowKind {
    /// The kind in a file's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Foreign => "foreign",
        }
    }
}

/// Minute and kind of a row: rows of one slot share segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Minute of the root's start; for foreign rows, of the row's own start.
    pub minute: Minute,
    /// Native or foreign.
    pub kind: RowKind,
}

impl Slot {
    /// The slot of a record.
    #[inline]
    pub fn of(record: &Record) -> Self {
        if record.flags().contains(Flags::FOREIGN) {
            Self { minute: Minute::of(record.start_ns), kind: RowKind::Foreign }
        } else {
            Self { minute: Minute::of(record.root_start_ns), kind: RowKind::Native }
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.minute, self.kind.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_spelt_as_its_date() {
        assert_eq!(Minute(0).to_string(), "1970-01-01T00-00");
        assert_eq!(Minute(-1).to_string(), "1969-12-31T23-59");
        // `date -ud 2024-02-29T12:34 +%s` says 1709210040.
        assert_eq!(Minute(1_709_210_040 / 60).to_string(), "2024-02-29T12-34");
        assert_eq!(Minute::of(-1), Minute(-1));
    }
}
