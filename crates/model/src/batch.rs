//! Records together with the bytes their contexts point into.

use crate::context::STORED_MAX_BYTES;
use crate::{Flags, Record};

/// Some records and their contexts, as they go from rings to the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    records: Vec<Record>,
    contexts: Vec<u8>,
}

impl Batch {
    /// Adds a record with its context; the record's offset and length are set to match. A context
    /// above [`STORED_MAX_BYTES`] is cut there, and the record is marked ([`Flags::CONTEXT_CUT`]).
    pub fn push(&mut self, mut record: Record, context: &[u8]) {
        let context = match context.get(..STORED_MAX_BYTES) {
            Some(cut) if cut.len() < context.len() => {
                record.flags = Flags(record.flags).with(Flags::CONTEXT_CUT).0;
                cut
            }
            _ => context,
        };
        let offset = u32::try_from(self.contexts.len());
        // Beyond 4 GiB of contexts a record keeps its numbers and loses its words; a batch that
        // large would not be one.
        let context = if offset.is_ok() { context } else { &[] };
        record.context_offset = offset.unwrap_or(0);
        #[allow(clippy::cast_possible_truncation)] // at most STORED_MAX_BYTES
        let len = context.len() as u16;
        record.context_len = len;
        self.contexts.extend_from_slice(context);
        self.records.push(record);
    }

    /// The records, in the order they were added.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The records, for changes. The offset and length of a record's context must stay.
    pub fn records_mut(&mut self) -> &mut [Record] {
        &mut self.records
    }

    /// The context of one of [`Self::records`]; empty when it has none.
    pub fn context(&self, record: &Record) -> &[u8] {
        let from = record.context_offset as usize;
        self.contexts.get(from..from + usize::from(record.context_len)).unwrap_or(&[])
    }

    /// The contexts of all records, one after the other.
    pub fn contexts(&self) -> &[u8] {
        &self.contexts
    }

    /// A batch from its two parts, as a log holds them. Offsets that point nowhere read as no
    /// context.
    pub fn from_parts(records: Vec<Record>, contexts: Vec<u8>) -> Self {
        Self { records, contexts }
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.contexts.clear();
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn contexts_stay_with_their_records() {
        let mut batch = Batch::default();
        batch.push(Record::zeroed(), b"one");
        batch.push(Record { context_offset: 77, context_len: 9, ..Record::zeroed() }, b"");
        batch.push(Record::zeroed(), b"three");
        let contexts: Vec<_> = batch.records().iter().map(|r| batch.context(r)).collect();
        assert_eq!(contexts, [&b"one"[..], b"", b"three"]);
        let lost = Record { context_offset: 900, context_len: 9, ..Record::zeroed() };
        assert_eq!(batch.context(&lost), b"");
    }

    #[test]
    fn a_context_that_is_too_long_is_cut_and_says_so() {
        let mut batch = Batch::default();
        batch.push(Record::zeroed(), &[7; STORED_MAX_BYTES]);
        batch.push(Record::zeroed(), &[7; STORED_MAX_BYTES + 1]);
        let [whole, cut] = batch.records() else { panic!("two records") };
        assert_eq!((whole.flags, cut.flags), (0, Flags::CONTEXT_CUT.0));
        assert_eq!(batch.context(cut), batch.context(whole));
    }
}
