//! Records out of a ring, while it is being written.
//!
//! A thread writes its slots in turn and publishes the next sequence number afterwards. Copied
//! first and asked afterwards how far the thread has come, a slot is whole unless the thread has
//! come round to it again: sequence `n` lies in the slot of `n + M`, and that one may be in
//! writing once `n + M` records are complete; then the slot's own number, asked for once more,
//! tells. Contexts work the same way, in bytes.

use super::directory::{ChunkPosition, Directory};
use super::error::RingError;
use super::ring_bytes::RingBytes;
use crate::layout::{BlockHead, Slot};
use bytemuck::{Pod, Zeroable};
use chronoscope_model::{Batch, ProcessId, Record};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// Up to where each thread block was drained: block index to the next sequence number. Kept by
/// the caller, together with the ring's [process id](super::Ring::process_id).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursors(pub BTreeMap<u32, u64>);

/// Result of a drain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Number of records read.
    pub read: u64,
    /// Records that were overwritten before they were read.
    pub lapped: u64,
}

/// Slots that are copied at once: 64 KiB.
const PIECE: u64 = 512;

/// A slot as bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawSlot {
    sequence: u64,
    record: Record,
}

const _: () = assert!(size_of::<RawSlot>() == size_of::<Slot>());

/// Memory that drains use again and again.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    slots: Vec<RawSlot>,
    contexts: Vec<u8>,
    /// Bytes of contexts that the drain may still take. Those of a whole ring do not overlap; in a
    /// damaged or hostile one a small ring could become any number of bytes.
    contexts_left: usize,
}

/// Contexts for which memory is kept between drains, in bytes: those of a ring of the default size
/// take a quarter of it.
const CONTEXTS_KEPT: usize = 1 << 20;

impl Buffers {
    /// Gives back what an unusually large ring needed.
    pub(crate) fn shrink(&mut self) {
        if self.contexts.len() > CONTEXTS_KEPT {
            self.contexts = Vec::new();
        }
    }
}

impl std::fmt::Debug for RawSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RawSlot({})", self.sequence)
    }
}

/// Reader of the records in one thread's block.
pub(crate) struct BlockReader<'a> {
    pub(crate) source: &'a RingBytes,
    pub(crate) directory: &'a Directory,
    pub(crate) part: ChunkPosition,
    pub(crate) process: ProcessId,
}

impl BlockReader<'_> {
    fn slot_count(&self) -> u64 {
        u64::from(self.directory.header.slot_count)
    }

    pub(crate) fn head(&self) -> Result<BlockHead, RingError> {
        self.source.get(self.part.position)
    }

    fn word(&self, offset: usize) -> Result<u64, RingError> {
        self.source.get(self.part.position + offset as u64)
    }

    /// Appends at most `max` records from sequence number `*next` on; `*next` moves behind the
    /// records that were read or overwritten, and behind a slot that is refused. A block with fewer
    /// records than were read of it before is damaged, and `*next` goes back.
    pub(crate) fn drain(
        &self,
        next: &mut u64,
        max: u64,
        batch: &mut Batch,
        buffers: &mut Buffers,
    ) -> Result<Drained, RingError> {
        let end = self.head()?.next_sequence;
        let oldest = end.saturating_sub(self.slot_count());
        let mut drained = Drained::default();
        buffers.contexts_left = self.directory.header.context_bytes as usize;
        if *next > end {
            let what = format!("{end} records, of which {next} were read before");
            *next = end;
            return Err(RingError::damaged(self.part.position, what));
        }
        if *next < oldest {
            drained.lapped += oldest - *next;
            *next = oldest;
        }
        while *next < end && drained.read < max {
            let index = *next & (self.slot_count() - 1);
            let count =
                PIECE.min(end - *next).min(max - drained.read).min(self.slot_count() - index);
            self.piece(next, index, count, batch, buffers, &mut drained)?;
        }
        Ok(drained)
    }

    /// Copies `count` slots from `index` on, without wrapping, and keeps those that are whole.
    fn piece(
        &self,
        next: &mut u64,
        index: u64,
        count: u64,
        batch: &mut Batch,
        buffers: &mut Buffers,
        drained: &mut Drained,
    ) -> Result<(), RingError> {
        let slots_at = self.part.position + self.directory.shape.slots as u64;
        let position = slots_at + index * size_of::<RawSlot>() as u64;
        #[allow(clippy::cast_possible_truncation)] // at most PIECE
        buffers.slots.resize(count as usize, RawSlot::zeroed());
        self.source.read(position, bytemuck::cast_slice_mut(&mut buffers.slots))?;
        let context_head = self.copy_contexts(buffers)?;
        let written = self.word(offset_of!(BlockHead, next_sequence))?;
        let oldest = written.saturating_sub(self.slot_count());
        for (at, slot) in buffers.slots.iter().enumerate() {
            let sequence = *next;
            *next += 1;
            let slot_at = position + (at * size_of::<RawSlot>()) as u64;
            // The oldest one's slot may be in writing, or written and not yet published.
            let is_oldest = sequence == oldest && written >= self.slot_count();
            let is_taken = || -> Result<bool, RingError> {
                Ok(slot.sequence != sequence + 1
                    || self.source.get::<u64>(slot_at)? != sequence + 1)
            };
            if sequence < oldest || is_oldest && is_taken()? {
                drained.lapped += 1;
                continue;
            }
            if slot.sequence != sequence + 1 {
                let (found, expected) = (slot.sequence, sequence + 1);
                return Err(RingError::Slot { position: slot_at, found, expected });
            }
            let mut record = slot.record;
            record.process = self.process;
            let context = self.context(&record, context_head, &buffers.contexts);
            let context = if context.len() <= buffers.contexts_left { context } else { &[] };
            buffers.contexts_left -= context.len();
            batch.push(record, context);
            drained.read += 1;
        }
        Ok(())
    }

    /// Copies what the slots need of the thread's context ring: how far it was written by then.
    fn copy_contexts(&self, buffers: &mut Buffers) -> Result<u64, RingError> {
        let mut needed = buffers.slots.iter().filter(|slot| slot.record.context_len > 0);
        let Some(first) = needed.next().map(|slot| slot.record) else { return Ok(0) };
        let last = needed.next_back().map_or(first, |slot| slot.record);
        let bytes = self.directory.header.context_bytes as usize;
        if buffers.contexts.len() < bytes {
            // Allocated zeroed and untouched: only the part that is copied into takes memory.
            buffers.contexts = vec![0; bytes];
        }
        let (from, to) = self.span(&first, &last)?.unwrap_or((0, bytes));
        let position = self.part.position + (self.directory.shape.context + from) as u64;
        self.source.read(position, &mut buffers.contexts[from..to])?;
        self.word(offset_of!(BlockHead, context_head))
    }

    /// Position in the context ring of the contexts of two records and of those between them;
    /// `None` where that is not one piece.
    #[allow(clippy::cast_possible_truncation)] // offsets are kept modulo 2^32; rings are below
    fn span(&self, first: &Record, last: &Record) -> Result<Option<(usize, usize)>, RingError> {
        let head = self.word(offset_of!(BlockHead, context_head))?;
        let bytes = u64::from(self.directory.header.context_bytes);
        let age = |record: &Record| u64::from((head as u32).wrapping_sub(record.context_offset));
        let (oldest, newest) = (age(first), age(last));
        let len = (oldest.saturating_sub(newest)) + u64::from(last.context_len);
        let from = head.wrapping_sub(oldest) & (bytes - 1);
        let is_one_piece = newest <= oldest && oldest <= bytes.min(head) && from + len <= bytes;
        Ok(is_one_piece.then_some((from as usize, (from + len) as usize)))
    }

    /// A record's context, empty when it was overwritten.
    fn context<'b>(&self, record: &Record, head: u64, contexts: &'b [u8]) -> &'b [u8] {
        let len = usize::from(record.context_len);
        if len == 0 {
            return &[];
        }
        // The buffer may be that of a larger ring.
        let bytes = self.directory.header.context_bytes as usize;
        let contexts = contexts.get(..bytes).unwrap_or(&[]);
        #[allow(clippy::cast_possible_truncation)] // offsets are kept modulo 2^32
        let age = u64::from((head as u32).wrapping_sub(record.context_offset));
        if age > contexts.len() as u64 || age > head {
            return &[];
        }
        #[allow(clippy::cast_possible_truncation)] // below the ring's length
        let from = ((head - age) & (contexts.len() as u64 - 1)) as usize;
        contexts.get(from..from + len).unwrap_or(&[])
    }
}
