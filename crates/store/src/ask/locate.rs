//! Which chain a duration belongs to.
//!
//! Durations are kept without their chain's id, which would double what a scan has to decode. For
//! the few that somebody wants to look at the id is looked up by the root's start.

use super::file::{Columns, SegmentFile};
use super::run::REACH;
use super::series::Point;
use crate::{Segment, Snapshot, StoreError};
use chronoscope_model::ChainId;

/// The chain of a duration; `None` when it is no longer there. Should two roots have started in
/// the same nanosecond, it is the chain of one of them.
///
/// Cost: two columns of instants of one minute's segments are decoded, and of up to [`REACH`]
/// before it where the root asked for is an inner one.
///
/// # Errors
/// [`StoreError`] when a segment cannot be read; with [`StoreError::is_missing`] when it has been
/// removed since the snapshot was taken: take a new one.
pub fn locate(snapshot: &Snapshot, point: &Point) -> Result<Option<ChainId>, StoreError> {
    let starts = |start, root_start| start == point.start_ns || root_start == point.start_ns;
    let unsealed = snapshot.unsealed().records().iter();
    let mut open = unsealed.filter(|record| starts(record.start_ns, record.root_start_ns));
    if let Some(record) = open.next() {
        return Ok(Some(record.chain()));
    }
    let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
    let earliest = point.start_ns.saturating_sub(reach);
    let is_near = |segment: &&Segment| {
        let minute = segment.slot.minute;
        minute.end_ns() > earliest && minute.start_ns() <= point.start_ns
    };
    let mut segments: Vec<_> = snapshot.segments().iter().filter(is_near).collect();
    // The root's own minute first: only an inner root lies in an earlier one.
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.slot.minute.start_ns()));
    for segment in segments {
        if let Some(chain) = search(segment, starts)? {
            return Ok(Some(chain));
        }
    }
    Ok(None)
}

fn search(
    segment: &Segment,
    starts: impl Fn(i64, i64) -> bool,
) -> Result<Option<ChainId>, StoreError> {
    let file = SegmentFile::open(&segment.path)?;
    for batch in file.read(&["start", "root_start", "chain_high", "chain_low"], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = Columns { file: &file, batch: &batch };
        let instants = columns.instants("start")?.iter().zip(columns.instants("root_start")?);
        let mut rows = instants.enumerate();
        if let Some((row, _)) = rows.find(|(_, (start, root))| starts(**start, **root)) {
            let half = |name| -> Result<u64, StoreError> { Ok(columns.ids(name)?[row]) };
            return Ok(Some(ChainId::from_halves(half("chain_high")?, half("chain_low")?)));
        }
    }
    Ok(None)
}
