//! Transactions that have not ended, out of a ring.

use super::directory::ChunkPosition;
use super::drain::BlockReader;
use super::error::RingError;
use super::ring_bytes::RingBytes;
use crate::layout::{BORROWED, DEPTH_MAX, Frame, RECORD_WORDS, STARTED_A_CHUNK, word};
use bytemuck::{Pod, Zeroable};
use chronoscope_model::{NO_PROCESS_CPU, ProcessId, Record, Status, TransactionId, context};

/// A transaction that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTransaction {
    /// The record so far. Elapsed is until now, or until the last record of a process that has
    /// ended; CPU is 0 and the status UNKNOWN.
    pub record: Record,
    /// The context so far.
    pub context: Vec<u8>,
    /// Depth in its thread, the outermost at 0; `None` for one started with a handle.
    pub depth: Option<u32>,
}

/// A frame as bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawFrame {
    ready: u64,
    words: [u64; RECORD_WORDS],
    context: [[u8; 16]; 15],
    reserved: [u64; 2],
}

const _: () = assert!(size_of::<RawFrame>() == size_of::<Frame>());

/// Appends the open transactions of a thread.
pub(crate) fn of_thread(
    block: &BlockReader<'_>,
    now_ns: i64,
    open: &mut Vec<OpenTransaction>,
) -> Result<(), RingError> {
    let head = block.head()?;
    let depth = head.depth;
    if depth as usize > DEPTH_MAX {
        let what = format!("{depth} frames in use, at most {DEPTH_MAX} expected");
        return Err(RingError::damaged(block.part.position + 24, what));
    }
    let first = block.part.position + block.directory.shape.frames as u64;
    for at in 0..depth {
        let position = first + u64::from(at) * size_of::<RawFrame>() as u64;
        if let Some(frame) = whole_frame(block.source, position)? {
            open.extend(transaction(&frame, block.process, now_ns, Some(at)));
        }
    }
    Ok(())
}

/// Appends transactions that were started with handles and not stopped.
pub(crate) fn started(
    source: &RingBytes,
    part: ChunkPosition,
    process: ProcessId,
    now_ns: i64,
    open: &mut Vec<OpenTransaction>,
) -> Result<(), RingError> {
    let frames: Vec<RawFrame> = source.get_many(part.position, STARTED_A_CHUNK)?;
    for (at, _) in frames.iter().enumerate().filter(|(_, frame)| frame.ready != 0) {
        let position = part.position + (at * size_of::<RawFrame>()) as u64;
        if let Some(frame) = whole_frame(source, position)? {
            open.extend(transaction(&frame, process, now_ns, None));
        }
    }
    Ok(())
}

/// A frame that stayed the same while it was copied; `None` when it ended meanwhile.
fn whole_frame(source: &RingBytes, position: u64) -> Result<Option<RawFrame>, RingError> {
    const TRIES: u32 = 3;
    for _ in 0..TRIES {
        let before: u64 = source.get(position)?;
        let frame: RawFrame = source.get(position)?;
        let after: u64 = source.get(position)?;
        if before == after && frame.ready == after && after != 0 {
            return Ok(Some(frame));
        }
    }
    Ok(None)
}

fn transaction(
    frame: &RawFrame,
    process: ProcessId,
    now_ns: i64,
    depth: Option<u32>,
) -> Option<OpenTransaction> {
    if frame.words[word::THREAD] & BORROWED != 0 {
        return None;
    }
    let mut words = frame.words;
    words[word::THREAD] &= 0x0000_ff00_ffff_ffff;
    let mut record: Record = bytemuck::cast(words);
    record.id = TransactionId(frame.ready);
    record.process = process;
    record.cpu_ns = 0;
    record.process_cpu_ns = NO_PROCESS_CPU;
    record.status = Status::Unknown as u8;
    record.elapsed_ns = u64::try_from(now_ns.saturating_sub(record.start_ns)).unwrap_or(0);
    let len = usize::from(record.context_len).min(context::MAX_BYTES);
    let context = frame.context.as_flattened()[..len].to_vec();
    record.context_offset = 0;
    record.context_len = u16::try_from(len).unwrap_or(0);
    Some(OpenTransaction { record, context, depth })
}
