//! What of a store lies in a range of time: rows, chains and bytes, before they are deleted.

use crate::segment::read_columns;
use crate::{RowKind, Segment, Slot, Snapshot, StoreError};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use chronoscope_model::Record;
use chronoscope_model::schema::column;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// Largest number of foreign chains that are told apart; beyond, [`RangeContent::chains`] is a bound
/// from below. Some 200 MB.
const FOREIGN_CHAINS_MAX: usize = 4_000_000;

/// Content of a range, by the start of the rows' roots; foreign rows go by their own start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeContent {
    /// Number of rows.
    pub rows: u64,
    /// Number of chains with rows in the range. Foreign chains may have others outside.
    pub chains: u64,
    /// Whether there are more chains than were counted.
    pub chains_more: bool,
    /// Bytes that the rows take in files, or in memory where they wait. A segment of which only a
    /// part is in the range counts by the share of its rows.
    pub bytes: u64,
    /// Minutes with rows in the range.
    pub minutes: u64,
    /// Segments of which only a part is in the range.
    pub segments_cut: u64,
}

impl Snapshot {
    /// Counts what of the store lies in a range (UTC, nanoseconds since 1970). `progress` is told how
    /// many of how many segments are read, and says whether to go on.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`]; [`StoreError`] of a segment that cannot be read:
    /// [`StoreError::is_missing`] means that it was replaced meanwhile.
    pub fn range_content(
        &self,
        range: &Range<i64>,
        mut progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<RangeContent, StoreError> {
        let mut slots: BTreeMap<Slot, (Vec<&Segment>, Vec<&Record>)> = BTreeMap::new();
        for segment in self.segments() {
            let minute = segment.slot.minute;
            if minute.start_ns() < range.end && range.start < minute.end_ns() {
                slots.entry(segment.slot).or_default().0.push(segment);
            }
        }
        for record in self.unsealed().records() {
            let slot = Slot::of(record);
            let at = match slot.kind {
                RowKind::Native => record.root_start_ns,
                RowKind::Foreign => record.start_ns,
            };
            if range.contains(&at) {
                slots.entry(slot).or_default().1.push(record);
            }
        }
        let total = slots.values().map(|(segments, _)| segments.len() as u64).sum();
        let (mut content, mut done, mut foreign) = (RangeContent::default(), 0, HashSet::new());
        let mut minutes = HashSet::new();
        for (slot, (segments, waiting)) in slots {
            // A native chain is in one minute, however long it takes.
            let mut native = HashSet::new();
            let chains = if slot.kind == RowKind::Native { &mut native } else { &mut foreign };
            let rows_before = content.rows;
            for segment in segments {
                if !progress(done, total) {
                    return Err(StoreError::Cancelled);
                }
                content.add_segment(segment, range, chains)?;
                done += 1;
            }
            for record in waiting {
                content.rows += 1;
                content.bytes += size_of::<Record>() as u64 + u64::from(record.context_len);
                chains.insert((record.chain_high, record.chain_low));
            }
            content.chains += native.len() as u64;
            if foreign.len() > FOREIGN_CHAINS_MAX {
                content.chains_more = true;
                content.chains += foreign.drain().count() as u64;
            }
            if content.rows > rows_before {
                minutes.insert(slot.minute);
            }
        }
        content.chains += foreign.len() as u64;
        content.minutes = minutes.len() as u64;
        progress(total, total);
        Ok(content)
    }
}

impl RangeContent {
    fn add_segment(
        &mut self,
        segment: &Segment,
        range: &Range<i64>,
        chains: &mut HashSet<(u64, u64)>,
    ) -> Result<(), StoreError> {
        let mut rows = 0;
        read_columns(segment, &[column::CHAIN_HIGH, column::CHAIN_LOW], |batch, instants| {
            let ids = |name| ids(segment, batch, name);
            let halves = ids(column::CHAIN_HIGH)?.iter().zip(ids(column::CHAIN_LOW)?);
            for ((high, low), at) in halves.zip(instants) {
                if range.contains(at) {
                    rows += 1;
                    chains.insert((*high, *low));
                }
            }
            Ok(())
        })?;
        self.rows += rows;
        let of_all = u128::from(segment.size_bytes) * u128::from(rows);
        let share = of_all.checked_div(segment.row_count.into()).unwrap_or(0);
        self.bytes += u64::try_from(share).unwrap_or(u64::MAX);
        self.segments_cut += u64::from(rows > 0 && rows < segment.row_count);
        Ok(())
    }
}

fn ids<'a>(segment: &Segment, batch: &'a RecordBatch, name: &str) -> Result<&'a [u64], StoreError> {
    let column = batch.column_by_name(name).and_then(|c| c.as_primitive_opt::<UInt64Type>());
    let missing = || StoreError::damaged(&segment.path, 0, format!("there is no column {name}"));
    column.map(|column| &column.values()[..]).ok_or_else(missing)
}
