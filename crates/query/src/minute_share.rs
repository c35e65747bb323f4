//! Time ranges that begin or end within a minute. Sketches answer for whole minutes; of a minute
//! that a range cuts, rows are read.

use chronoscope_model::Record;
use chronoscope_model::schema::column;
use chronoscope_store::{Minute, RowKind, Slot};
use std::ops::Range;

/// Share of a minute's rows that may lie in a time range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MinuteShare {
    /// None of them.
    Nothing,
    /// Some of them; each row has to be compared with the range.
    Some,
    /// All of them.
    All,
}

impl MinuteShare {
    /// Share of `minute` for root starts in `start_ns`: UTC, nanoseconds since 1970.
    pub(crate) fn of(minute: Minute, start_ns: &Range<i64>) -> Self {
        let (begin, end) = (minute.start_ns(), minute.end_ns());
        // The last minute of time ends in itself.
        if start_ns.is_empty() || begin >= start_ns.end || (end <= start_ns.start && end < i64::MAX)
        {
            Self::Nothing
        } else if start_ns.start <= begin && end <= start_ns.end {
            Self::All
        } else {
            Self::Some
        }
    }
}

/// The column that places a row in its minute.
pub(crate) const fn root_start_column(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Native => column::ROOT_START,
        RowKind::Foreign => column::START,
    }
}

/// The same of a record: UTC, nanoseconds since 1970.
pub(crate) fn root_start_ns(record: &Record) -> i64 {
    match Slot::of(record).kind {
        RowKind::Native => record.root_start_ns,
        RowKind::Foreign => record.start_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_store::MINUTE_NS;

    #[test]
    fn shares_by_hand() {
        let of = |start_ns: Range<i64>| MinuteShare::of(Minute(1), &start_ns);
        let (begin, end) = (MINUTE_NS, 2 * MINUTE_NS);
        assert_eq!(of(begin..end), MinuteShare::All);
        assert_eq!(of(i64::MIN..i64::MAX), MinuteShare::All);
        assert_eq!(of(begin + 1..end), MinuteShare::Some);
        assert_eq!(of(begin..end - 1), MinuteShare::Some);
        assert_eq!(of(0..begin + 1), MinuteShare::Some);
        assert_eq!((of(0..begin), of(end..i64::MAX)), (MinuteShare::Nothing, MinuteShare::Nothing));
        #[allow(clippy::reversed_empty_ranges)] // what a caller may ask
        let reversed = end..begin;
        assert_eq!(of(reversed), MinuteShare::Nothing);
    }
}
