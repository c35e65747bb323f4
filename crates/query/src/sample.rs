//! Some whole chains of a time, for what may be told from a sample.

use crate::fetch::transactions;
use crate::progress::Progress;
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, Transaction};
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{Damage, Segment, Slot, Snapshot, StoreError};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::ops::Range;

/// Segments that are read; spread evenly over the time.
const SEGMENTS_MAX: usize = 16;

/// About `rows_max` transactions at most, all of those chains whose ids come up; and what could not
/// be read. The same store gives the same sample.
///
/// `start_ns` (UTC, nanoseconds since 1970) is cut at whole minutes of root starts. Of a long time
/// only some minutes are looked at, and of chains that reach over several minutes or are not whole
/// in the store some rows may be missing.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one. [`StoreError::Cancelled`].
pub fn sample(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
    rows_max: usize,
    progress: &Progress,
) -> Result<(Vec<Transaction>, Vec<Damage>), StoreError> {
    let wanted = |segment: &&Segment| start_ns.contains(&segment.slot.minute.start_ns());
    let mut segments: Vec<_> = snapshot.segments().iter().filter(wanted).collect();
    let every = segments.len().div_ceil(SEGMENTS_MAX).max(1);
    segments = segments.into_iter().step_by(every).collect();
    progress.expect(segments.len() as u64);
    let unsealed = snapshot.unsealed();
    let is_wanted = |slot: Slot| start_ns.contains(&slot.minute.start_ns());
    let records = || unsealed.records().iter().filter(|record| is_wanted(Slot::of(record)));
    let rows: u64 = segments.iter().map(|segment| segment.row_count).sum::<u64>();
    let one_in = (rows + records().count() as u64).div_ceil(rows_max.max(1) as u64).max(1);
    let (mut found, mut damage) = (Vec::new(), snapshot.damage().to_vec());
    for segment in segments {
        match read(segment, one_in) {
            Ok(rows) => found.extend(rows),
            Err(error) if error.is_missing() => return Err(error),
            Err(error) => damage.push(Damage {
                path: segment.path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            }),
        }
        progress.tick()?;
    }
    let records = records().filter(|record| comes_up(record.chain(), one_in));
    found.extend(records.map(|record| {
        Transaction::from_record(record, unsealed.context(record), snapshot.names())
    }));
    Ok((found, damage))
}

/// Whether a chain is one of those taken; ids need not be random.
fn comes_up(chain: ChainId, one_in: u64) -> bool {
    let spread = (chain.low() ^ chain.high()).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    spread.is_multiple_of(one_in)
}

fn read(segment: &Segment, one_in: u64) -> Result<Vec<Transaction>, StoreError> {
    let file = SegmentFile::open(segment)?;
    let mut selectors = Vec::new();
    for batch in file.read(&[column::CHAIN_HIGH, column::CHAIN_LOW], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file: &file, batch: &batch };
        for (high, low) in
            columns.ids(column::CHAIN_HIGH)?.iter().zip(columns.ids(column::CHAIN_LOW)?)
        {
            selectors.push(if comes_up(ChainId::from_halves(*high, *low), one_in) {
                RowSelector::select(1)
            } else {
                RowSelector::skip(1)
            });
        }
    }
    transactions(&file, None, RowSelection::from(selectors)) // which joins neighbours
}
