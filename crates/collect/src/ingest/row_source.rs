//! Origin of rows, and the answer to their sender.

use chronoscope_store::StreamId;

/// Origin of rows; it decides what is guaranteed when rows come twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSource {
    /// Anybody: rows that come twice are there twice.
    Once,
    /// A source that gives the same key when it sends the same rows again. They are stored once, as
    /// long as the store remembers the key (files: [`chronoscope_store::KEYS_MAX`] keys).
    Keyed(u128),
    /// A sender that numbers its rows: rows that come twice are taken once, rows that never come
    /// leave a gap in the numbers.
    Stream {
        /// Stream that counts the rows.
        id: StreamId,
        /// Number of the first of the rows.
        first_row: u64,
        /// Number after the last of them.
        end_row: u64,
    },
}

/// Rows that are in, and perhaps not durable yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Rows of the sender below this number are in.
    pub next_row: u64,
    /// Rows that its numbers leave out before these, and that it did not declare as dropped: they
    /// are counted as lost.
    pub gap_rows: u64,
    /// The store's row number that has to be durable first.
    pub(super) store_row: u64,
}
