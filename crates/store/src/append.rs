//! One append to a store or a spool.

use crate::wal::{CONTENT_MAX, ROWS_MAX};
use crate::{ChainAlias, ClockReading, Loss, StoreError};
use chronoscope_model::{Batch, Names, ProcessId};

/// Read position in the ring of one process: pairs of thread block and next sequence number.
pub type Positions = Vec<(u32, u64)>;

/// One sender's spool, for as long as that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u128);

/// The content of one append: rows, and everything that must become durable in the same instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Append<'a> {
    /// The rows; `None` when there are only notes.
    pub batch: Option<&'a Batch>,
    /// Names, among them those that are perhaps new.
    pub names: Option<&'a Names>,
    /// Read positions in the rings, valid once these rows are stored.
    pub cursors: &'a [(ProcessId, Positions)],
    /// Total losses of processes, in rows.
    pub lost: &'a [(ProcessId, u64)],
    /// When rows of these were lost; the same rows are in `lost`.
    pub losses: &'a [Loss],
    /// Processes that have delivered everything that ended before an instant: UTC, nanoseconds
    /// since 1970, or [`DELIVERED_ALL`](crate::DELIVERED_ALL). Taken together with the rows of
    /// this append.
    pub delivered: &'a [(ProcessId, i64)],
    /// The same of processes that export spans.
    pub exported: &'a [(ProcessId, i64)],
    /// Processes whose rings are gone: their cursors are not needed any more.
    pub forget: &'a [ProcessId],
    /// The sender of the rows, and the number in its count of the row after them.
    pub stream: Option<(StreamId, u64)>,
    /// Chains that go on in another one's name.
    pub aliases: &'a [ChainAlias],
    /// Measurements of hosts' clocks.
    pub clocks: &'a [ClockReading],
    /// The sender's key of these rows, the same at every attempt. Where the store has the key
    /// already, the append succeeds and takes nothing.
    pub key: Option<u128>,
}

impl Append<'_> {
    /// Refuses what does not go into one block of the log.
    pub(crate) fn check_size(&self, notes_bytes: usize) -> Result<(), StoreError> {
        let Some(batch) = self.batch else { return Ok(()) };
        if batch.len() > ROWS_MAX {
            return Err(StoreError::BatchTooLarge { rows: batch.len(), rows_max: ROWS_MAX });
        }
        let bytes = size_of_val(batch.records()) + batch.contexts().len() + notes_bytes;
        if bytes > CONTENT_MAX {
            return Err(StoreError::BytesTooMany { bytes, bytes_max: CONTENT_MAX });
        }
        Ok(())
    }
}
