//! What is read from a spool, and where the next reading continues.

use crate::wal::BlockReader;
use crate::wire::Extras;
use chronoscope_model::{Batch, Names};

/// Rows that are to be sent, with all that a receiver needs for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolBlock {
    /// The first row's number. Where it is above the one that was asked for, the rows between
    /// were dropped, or lost by damage.
    pub first_row: u64,
    /// The rows; at least one.
    pub batch: Batch,
    /// Names of the ids in the rows, as far as they are known here.
    pub names: Names,
    /// Further content that came with the rows, or since the block before.
    pub extras: Extras,
}

impl SpoolBlock {
    /// The number after the last row's: what is read, and acknowledged, next.
    pub fn end_row(&self) -> u64 {
        self.first_row + self.batch.len() as u64
    }
}

/// End of the last reading, at which the next one continues.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) at: Option<BlockReader>,
    /// Rows below are behind.
    pub(super) row: u64,
    /// From blocks without rows, for the next one with some.
    pub(super) extras: Extras,
}
