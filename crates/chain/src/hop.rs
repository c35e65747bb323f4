//! One transaction as chain analysis sees it.

use chronoscope_model::{ClassId, Record, TransactionId};

/// A transaction reduced to what places it in its chain and times it. 40 bytes, so that a chain
/// of a dozen fits in a few cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Its id; [`TransactionId::NONE`] when not known, and then it is nobody's parent.
    pub id: TransactionId,
    /// The parent's id; [`TransactionId::NONE`] for a root.
    pub parent: TransactionId,
    /// Its class.
    pub class: ClassId,
    /// When it started: UTC, nanoseconds since 1970, raw.
    pub start_ns: i64,
    /// How long it took, in nanoseconds.
    pub elapsed_ns: u64,
}

impl Hop {
    /// When it stopped: UTC, nanoseconds since 1970; saturating.
    pub const fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add_unsigned(self.elapsed_ns)
    }

    /// What decides between rows where one has to be chosen, so that the choice does not depend on
    /// the order in which rows arrive: start, then elapsed, then id, then the rest.
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
