//! Records out of a ring, while it is being written.
//!
//! A thread writes its slots in turn and publishes the next sequence number afterwards. Copied
//! first and asked afterwards how far the thread has come, a slot is whole unless the thread has
//! come round to it again: sequence `n` lies in the slot of `n + M`, and that one may be in
//! writing once `n + M` records are complete. Contexts work the same way, in bytes.

use super::directory::{Directory, Part};
use super::error::RingError;
use super::source::Source;
use crate::layout::{BlockHead, Slot};
use bytemuck::{Pod, Zeroable};
use chronoscope_model::{Batch, ProcessId, Record, context};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// Up to where each thread block was drained: block index to the next sequence number. Kept by
/// the caller, together with the ring's [process id](super::Ring::process_id).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursors(pub BTreeMap<u32, u64>);

/// What a drain did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Records read.
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
}

impl std::fmt::Debug for RawSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RawSlot({})", self.sequence)
    }
}

/// One thread's block, to read records from.
pub(crate) struct BlockReader<'a> {
    pub(crate) source: &'a Source,
    pub(crate) directory: &'a Directory,
    pub(crate) part: Part,
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

    /// Appends at most `max` records from sequence number `*next` on; `*next` moves behind what
    /// was read, and behind a slot that is refused.
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
        *next = (*next).min(end); // a cursor of another ring
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
        let whole_from = (written + 1).saturating_sub(self.slot_count());
        for (at, slot) in buffers.slots.iter().enumerate() {
            let sequence = *next;
            *next += 1;
            if sequence < whole_from {
                drained.lapped += 1;
                continue;
            }
            if slot.sequence != sequence + 1 {
                let at = position + (at * size_of::<RawSlot>()) as u64;
                let what = format!("slot says {}, {} expected", slot.sequence, sequence + 1);
                return Err(RingError::damaged(at, what));
            }
            let mut record = slot.record;
            record.process = self.process;
            let context = self.context(&record, context_head, &buffers.contexts);
            batch.push(record, context);
            drained.read += 1;
        }
        Ok(())
    }

    /// Copies the thread's context ring when a slot needs it: how far it was written by then.
    fn copy_contexts(&self, buffers: &mut Buffers) -> Result<u64, RingError> {
        if buffers.slots.iter().all(|slot| slot.record.context_len == 0) {
            return Ok(0);
        }
        let bytes = self.directory.header.context_bytes as usize;
        buffers.contexts.resize(bytes, 0);
        let position = self.part.position + self.directory.shape.context as u64;
        self.source.read(position, &mut buffers.contexts)?;
        self.word(offset_of!(BlockHead, context_head))
    }

    /// A record's context, empty when it was overwritten.
    fn context<'b>(&self, record: &Record, head: u64, contexts: &'b [u8]) -> &'b [u8] {
        let len = usize::from(record.context_len);
        if len == 0 || len > context::MAX_BYTES {
            return &[];
        }
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
