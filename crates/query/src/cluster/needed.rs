//! The minutes that a question needs.

use super::row_counts::{MinuteRows, minutes_of};
use crate::minutes::{REACH, around};
use crate::question::{Limits, Question, VerdictSubject};
use std::ops::{Range, RangeInclusive};

/// The minutes that a question needs: all rows of some, and of later ones those that have foreign
/// rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NeededMinutes {
    pub(super) whole: RangeInclusive<i64>,
    /// The last minute whose foreign rows are needed.
    pub(super) foreign_last: i64,
}

impl NeededMinutes {
    /// The minutes that touch a range of root starts: UTC, nanoseconds since 1970.
    pub(crate) fn of_range(range: &Range<i64>) -> Option<Self> {
        let whole = minutes_of(range);
        let foreign_last = *whole.end();
        (!range.is_empty()).then_some(Self { whole, foreign_last })
    }

    /// Those of a question about durations.
    pub(crate) fn of_question(question: &Question, limits: &Limits) -> Option<Self> {
        let range = around(&question.start_ns, limits.foreign_reach.max(REACH));
        let needed = Self::of_range(&range).filter(|_| !question.start_ns.is_empty())?;
        Some(match question.judged {
            VerdictSubject::Durations => needed,
            // A leaf belongs to its root whenever it comes.
            _ => Self { foreign_last: i64::MAX, ..needed },
        })
    }

    /// All of them.
    pub(super) const fn range(&self) -> RangeInclusive<i64> {
        *self.whole.start()..=self.foreign_last
    }

    /// Whether a minute with so many rows on the shards is needed.
    pub(super) fn has(&self, minute: i64, rows: &[MinuteRows]) -> bool {
        let later = minute > *self.whole.end() && minute <= self.foreign_last;
        self.whole.contains(&minute) || (later && rows.iter().any(|rows| rows.foreign > 0))
    }
}
