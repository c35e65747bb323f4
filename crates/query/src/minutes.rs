//! Selects the rows that a question may need, minute by minute.

use crate::question::{Limits, Question, VerdictSubject};
use chronoscope_model::Record;
use chronoscope_store::{Minute, RowKind, Segment, Slot, Snapshot};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// Time after its root's start within which a native transaction is looked for, where a time range
/// bounds the question.
pub const REACH: Duration = Duration::from_hours(1);

/// The rows of one native minute.
#[derive(Default)]
pub(crate) struct NativeMinute<'a> {
    pub(crate) parts: Vec<&'a Segment>,
    pub(crate) unsealed: Vec<&'a Record>,
}

/// All rows that may matter.
#[derive(Default)]
pub(crate) struct Minutes<'a> {
    pub(crate) native: BTreeMap<Minute, NativeMinute<'a>>,
    pub(crate) foreign: Vec<&'a Segment>,
    pub(crate) foreign_unsealed: Vec<&'a Record>,
    /// Rows whose chains were linked elsewhere ([`Segment::is_linked`]): each for itself.
    pub(crate) linked: Vec<&'a Segment>,
}

impl<'a> Minutes<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot, question: &Question, limits: &Limits) -> Self {
        let mut minutes = Self::default();
        let wanted = |slot: Slot| {
            let reach = match slot.kind {
                RowKind::Native => REACH,
                RowKind::Foreign => limits.foreign_reach,
            };
            let mut range = around(&question.start_ns, reach);
            if slot.kind == RowKind::Foreign && question.judged != VerdictSubject::Durations {
                // A leaf belongs to its root whenever it comes.
                range.end = i64::MAX;
            }
            slot.minute.end_ns() > range.start && slot.minute.start_ns() < range.end
        };
        for segment in snapshot.segments().iter().filter(|segment| wanted(segment.slot)) {
            match segment.slot.kind {
                _ if segment.is_linked => minutes.linked.push(segment),
                RowKind::Native => {
                    minutes.native.entry(segment.slot.minute).or_default().parts.push(segment);
                }
                RowKind::Foreign => minutes.foreign.push(segment),
            }
        }
        for record in snapshot.unsealed().records() {
            let slot = Slot::of(record);
            match slot.kind {
                _ if !wanted(slot) => {}
                RowKind::Native => {
                    minutes.native.entry(slot.minute).or_default().unsealed.push(record);
                }
                RowKind::Foreign => minutes.foreign_unsealed.push(record),
            }
        }
        minutes
    }

    /// All segments of whole rows, native and foreign.
    pub(crate) fn all_segments(&self) -> impl Iterator<Item = &'a Segment> {
        let native = self.native.values().flat_map(|minute| minute.parts.iter().copied());
        native.chain(self.foreign.iter().copied())
    }

    /// All rows that no segment holds yet.
    pub(crate) fn all_unsealed(&self) -> impl Iterator<Item = &'a Record> {
        let native = self.native.values().flat_map(|minute| minute.unsealed.iter().copied());
        native.chain(self.foreign_unsealed.iter().copied())
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> u64 {
        let segments = self.all_segments().chain(self.linked.iter().copied());
        let sealed: u64 = segments.map(|segment| segment.row_count).sum();
        sealed + self.all_unsealed().count() as u64
    }

    /// Number of segments.
    pub(crate) fn segments(&self) -> u64 {
        (self.all_segments().count() + self.linked.len()) as u64
    }
}

/// A time range, wider by `reach` on both sides.
pub(crate) fn around(range: &Range<i64>, reach: Duration) -> Range<i64> {
    let reach = i64::try_from(reach.as_nanos()).unwrap_or(i64::MAX);
    range.start.saturating_sub(reach)..range.end.saturating_add(reach)
}
