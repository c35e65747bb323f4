//! Links of an open transaction: its parents besides the one in its record, until it ends.
//!
//! They are kept in private memory, because a batch has more of them than a frame of the ring has
//! room for, and are written behind the transaction's context when it ends. A reader of the ring
//! sees of an open transaction only that it has links ([`Flags::FURTHER_PARENTS`]).

use chronoscope_model::context::{self, ContextEntry, PARENT_ENTRY_BYTES};
use chronoscope_model::{Correlator, Flags};

/// Most bytes of a transaction's links: with its own context they fill the length of a record.
const BYTES_MAX: usize = context::STORED_MAX_BYTES - context::MAX_BYTES;
/// Bytes that a buffer keeps for the next transaction: about 1,250 links are 64 KiB, and a thread
/// that had one such batch may never have another.
const BYTES_KEPT: usize = 8 * 1024;

/// Links of one transaction, as entries of a context.
#[derive(Debug, Default)]
pub(crate) struct LinkBuffer {
    bytes: Vec<u8>,
    /// There were more than a record can say.
    is_over: bool,
}

impl LinkBuffer {
    /// Empties the buffer for another transaction.
    pub(crate) fn reset(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BYTES_KEPT);
        self.is_over = false;
    }

    /// Adds the transaction that issued a correlator. A transaction has all of its links in its
    /// record or none: beyond the bound all are dropped, and readers know that there were some.
    pub(crate) fn push(&mut self, issuer: &Correlator) {
        let len = self.bytes.len();
        if self.is_over || len + PARENT_ENTRY_BYTES > BYTES_MAX {
            self.bytes.clear();
            self.is_over = true;
            return;
        }
        self.bytes.resize(len + PARENT_ENTRY_BYTES, 0);
        let end = context::append(&mut self.bytes, len, ContextEntry::Parent(issuer.into()));
        self.bytes.truncate(end.unwrap_or(len));
    }

    /// The links as entries of a context.
    pub(crate) fn entries(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bit of a record with links.
pub(crate) const FLAG: u8 = Flags::FURTHER_PARENTS.0;

/// Whether a correlator names a transaction. One that was issued where nothing was recorded does
/// not, and is no link.
pub(crate) fn is_link(issuer: &Correlator) -> bool {
    !issuer.parent().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Ancestor, ChainId, ClassId, ProcessId, TransactionId};

    fn correlator(id: u64) -> Correlator {
        let root = Ancestor { class: ClassId(7), start_ns: 1_000 };
        Correlator::root(ChainId::from_halves(1, id), TransactionId(id), ProcessId(3), root)
    }

    #[test]
    fn all_links_are_kept_up_to_the_bound_and_none_beyond_it() {
        let most = (BYTES_MAX / PARENT_ENTRY_BYTES) as u64;
        assert_eq!(most, 1_255);
        let mut links = LinkBuffer::default();
        (0..most).for_each(|id| links.push(&correlator(id + 1)));
        let parents = |links: &LinkBuffer| context::entries(links.entries()).count() as u64;
        assert_eq!(parents(&links), most);
        links.push(&correlator(most + 1));
        assert_eq!(parents(&links), 0);
        links.push(&correlator(most + 2));
        assert_eq!(parents(&links), 0, "one of many would look like all");
        links.reset();
        links.push(&correlator(1));
        assert_eq!(parents(&links), 1);
    }
}
