//! One block of the log: a head of 64 bytes, rows, contexts, notes, padding to 8 bytes.

use bytemuck::Zeroable;
use chronoscope_model::{Batch, Record};

/// First bytes of a block.
pub(crate) const MAGIC: [u8; 8] = *b"CHRNOBK1";
/// Size of a block's head, in bytes.
pub(crate) const HEAD_LEN: usize = 64;
/// Most rows in one block.
pub(crate) const ROWS_MAX: usize = 1 << 18;
/// Most bytes that a block's contents may claim; more is damage, and an append of more is refused.
/// 2^18 rows with contexts as rings have them take 94 MB.
pub(crate) const CONTENT_MAX: usize = 256 << 20;

/// A block's head. As bytes, all numbers little-endian: magic (8), CRC-32 of the head from byte 12
/// to its end (4), CRC-32 of the contents (4), first row (8), file's sequence number (8), time of
/// writing (8), rows (4), bytes of contexts (4), bytes of notes (4), zero (12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    pub(crate) first_row: u64,
    /// Sequence number of the file it was written to: a block of another file is not accepted.
    pub(crate) sequence: u64,
    /// When it was written: UTC, nanoseconds since 1970.
    pub(crate) written_ns: i64,
    pub(crate) row_count: u32,
    pub(crate) contexts_len: u32,
    pub(crate) notes_len: u32,
    pub(crate) content_crc: u32,
}

impl BlockHeader {
    pub(crate) fn encode(&self) -> [u8; HEAD_LEN] {
        let mut bytes = [0; HEAD_LEN];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        put(&MAGIC);
        put(&[0; 4]);
        put(&self.content_crc.to_le_bytes());
        put(&self.first_row.to_le_bytes());
        put(&self.sequence.to_le_bytes());
        put(&self.written_ns.to_le_bytes());
        put(&self.row_count.to_le_bytes());
        put(&self.contexts_len.to_le_bytes());
        put(&self.notes_len.to_le_bytes());
        let crc = crc32fast::hash(&bytes[12..]);
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The head in `bytes`, when they are one.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let Some(bytes) = bytes.first_chunk::<HEAD_LEN>() else {
            return Err("a block's head is cut off");
        };
        if bytes[..8] != MAGIC {
            return Err("not the start of a block");
        }
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if word(8) != crc32fast::hash(&bytes[12..]) {
            return Err("a block's head does not match its checksum");
        }
        let head = Self {
            content_crc: word(12),
            first_row: long(16),
            sequence: long(24),
            written_ns: long(32).cast_signed(),
            row_count: word(40),
            contexts_len: word(44),
            notes_len: word(48),
        };
        if head.row_count as usize > ROWS_MAX || head.content_len() > CONTENT_MAX {
            return Err("a block states more than the largest size");
        }
        Ok(head)
    }

    /// Whether the block has rows and all of them are below `row`.
    pub(crate) fn is_before(&self, row: u64) -> bool {
        self.row_count > 0 && self.first_row.saturating_add(u64::from(self.row_count)) <= row
    }

    /// Bytes of its contents, without padding.
    pub(crate) fn content_len(&self) -> usize {
        let rows = self.row_count as usize * size_of::<Record>();
        rows.saturating_add(self.contexts_len as usize).saturating_add(self.notes_len as usize)
    }

    /// Bytes of the whole block, with padding.
    pub(crate) fn block_len(&self) -> usize {
        HEAD_LEN + self.content_len().next_multiple_of(8)
    }
}

/// Zeros after contents of `len` bytes.
pub(crate) const fn padding(len: usize) -> usize {
    len.next_multiple_of(8) - len
}

/// A block as read.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) first_row: u64,
    /// When it was written, by the clock of then: UTC, nanoseconds since 1970.
    pub(crate) written_ns: i64,
    pub(crate) batch: Batch,
    pub(crate) notes: Vec<u8>,
}

impl Block {
    /// The number after its last row's.
    pub(crate) fn end_row(&self) -> u64 {
        self.first_row.saturating_add(self.batch.len() as u64)
    }

    /// Checks and takes apart a block's contents.
    pub(crate) fn decode(head: &BlockHeader, content: &[u8]) -> Result<Self, &'static str> {
        let Some(content) = content.get(..head.content_len()) else {
            return Err("a block is cut off");
        };
        if crc32fast::hash(content) != head.content_crc {
            return Err("a block's contents do not match their checksum");
        }
        let (rows, rest) = content.split_at(head.row_count as usize * size_of::<Record>());
        let (contexts, notes) = rest.split_at(head.contexts_len as usize);
        let mut records = vec![Record::zeroed(); head.row_count as usize];
        bytemuck::cast_slice_mut(&mut records).copy_from_slice(rows);
        let batch = Batch::from_parts(records, contexts.to_vec());
        let (first_row, written_ns) = (head.first_row, head.written_ns);
        Ok(Self { first_row, written_ns, batch, notes: notes.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: BlockHeader = BlockHeader {
        first_row: 5,
        sequence: 2,
        written_ns: -1,
        row_count: 3,
        contexts_len: 1,
        notes_len: 0,
        content_crc: 77,
    };

    #[test]
    fn a_head_reads_back_and_no_bit_may_change() {
        let bytes = HEAD.encode();
        assert_eq!(BlockHeader::decode(&bytes), Ok(HEAD));
        assert_eq!(HEAD.block_len(), 64 + 3 * 120 + 8);
        for bit in 0..HEAD_LEN * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The last twelve bytes are under the checksum as well.
            assert!(BlockHeader::decode(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_head_that_claims_too_much_is_refused() {
        let bytes = BlockHeader { notes_len: u32::MAX, contexts_len: u32::MAX, ..HEAD }.encode();
        assert_eq!(BlockHeader::decode(&bytes), Err("a block states more than the largest size"));
    }
}
