//! One transaction as chain analysis sees it.

use chronoscope_model::{ClassId, Record, TransactionId};

/// The fields of a transaction that place it in its chain, with its times. 40 bytes, so that a
/// chain of a dozen fits in a few cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The transaction's id; [`TransactionId::NONE`] when not known: such a row is no row's parent.
    pub id: TransactionId,
    /// The parent's id; [`TransactionId::NONE`] for a root.
    pub parent: TransactionId,
    /// The transaction's class.
    pub class: ClassId,
    /// Start time: UTC, nanoseconds since 1970, raw.
    pub start_ns: i64,
    /// Elapsed time, in nanoseconds.
    pub elapsed_ns: u64,
}

impl Hop {
    /// End time: UTC, nanoseconds since 1970; saturating.
    pub const fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add_unsigned(self.elapsed_ns)
    }

    /// Order by which one of several rows is chosen, independent of the order in which rows arrive:
    /// start, then elapsed, then id, then the rest.
    pub(crate) const fn rank(&self) -> (i64, u64, u64, u64, u64) {
        (self.start_ns, self.elapsed_ns, self.id.0, self.parent.0, self.class.0)
    }
}

impl From<&Record> for Hop {
    fn from(record: &Record) -> Self {
        Self {
            id: record.id,
            parent: record.parent,
            class: record.class,
            start_ns: record.start_ns,
            elapsed_ns: record.elapsed_ns,
        }
    }
}
