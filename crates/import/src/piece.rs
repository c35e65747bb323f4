//! Pieces of a file.

use crate::transactions::{ImportError, Transactions};
use chronoscope_formats::rows::Builder;
use chronoscope_model::{Batch, Names};

/// Rows of one piece, which is durable as a whole.
const PIECE_ROWS: usize = 131_072;
/// Bytes of contexts at which a piece ends before that.
const PIECE_CONTEXT_BYTES: usize = 64 << 20;

/// Rows of a file that follow each other.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The rows.
    pub batch: Batch,
    /// Their names.
    pub names: Names,
    /// Number of the first of them in the file, from 0.
    pub first_row: u64,
    /// Number after the last of them.
    pub end_row: u64,
}

/// The pieces of a file, in its order.
pub struct Pieces {
    transactions: Transactions,
    /// Transactions to pass over before the first piece.
    skip: u64,
    next_row: u64,
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pieces").field("next_row", &self.next_row).finish_non_exhaustive()
    }
}

impl Pieces {
    pub(crate) fn new(transactions: Transactions, first_row: u64) -> Self {
        Self { transactions, skip: first_row, next_row: first_row }
    }

    fn read(&mut self) -> Result<Option<Piece>, ImportError> {
        while self.skip > 0 {
            let Some(passed) = self.transactions.next() else { return Ok(None) };
            passed?;
            self.skip -= 1;
        }
        let mut piece = Builder::default();
        while piece.len() < PIECE_ROWS && piece.context_bytes() < PIECE_CONTEXT_BYTES {
            let Some(t) = self.transactions.next() else { break };
            piece.push(&t?);
        }
        if piece.is_empty() {
            return Ok(None);
        }
        let first_row = self.next_row;
        let (batch, names) = piece.into_parts();
        self.next_row += batch.len() as u64;
        Ok(Some(Piece { batch, names, first_row, end_row: self.next_row }))
    }
}

impl Iterator for Pieces {
    type Item = Result<Piece, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
