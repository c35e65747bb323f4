//! The ring file's layout, version 2: what the recorder writes and every reader relies on.
//!
//! Described in words in `docs/formats/ring.md`. Little-endian; the structures are the bytes.

use bytemuck::{Pod, Zeroable};
use chronoscope_model::{PROCESS_CONTEXT_MAX_BYTES, Record, context};
use chronoscope_statistics::BUCKET_COUNT;
use std::cell::UnsafeCell;
use std::mem::offset_of;
use std::sync::atomic::AtomicU64;

/// First eight bytes of a ring: `CHRORING`.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"CHRORING");
/// The version of the layout that this program writes. It reads all from 1 on: version 1 has the
/// same bytes without [`Header::locked`] and [`Header::pid_namespace`], and no lock.
pub(crate) const VERSION: u32 = 2;
/// Unit of all sizes: the layout's own page, whatever the machine's is.
pub(crate) const PAGE: usize = 4096;
/// Class numbers, 0 (none) among them.
pub(crate) const CLASS_MAX: usize = 4096;
/// Offset of the bytes that switch classes, one a class.
pub(crate) const SWITCHES_OFFSET: usize = PAGE;
/// Offset of the chunk directory.
pub(crate) const DIRECTORY_OFFSET: usize = 2 * PAGE;
/// Entries of the chunk directory.
pub(crate) const CHUNK_MAX: usize = 4096;
/// Bytes before the first chunk.
pub(crate) const HEADER_BYTES: usize = DIRECTORY_OFFSET + CHUNK_MAX * size_of::<Chunk>();
/// Open transactions of one thread.
pub(crate) const DEPTH_MAX: usize = 64;
/// Bytes of context that a thread keeps, for each of its slots.
pub(crate) const CONTEXT_BYTES_A_SLOT: usize = 16;
/// Bytes of one chunk of names.
pub(crate) const NAMES_CHUNK_BYTES: usize = 64 * 1024;
/// Chunks of names at most: paths come in from other hosts, and must not fill the memory.
pub(crate) const NAMES_CHUNK_COUNT_MAX: usize = 64;
/// Transactions started with a handle, in one chunk.
pub(crate) const STARTED_A_CHUNK: usize = 1024;
/// Words of a record.
pub(crate) const RECORD_WORDS: usize = size_of::<Record>() / 8;

/// Switch byte: the class is recorded.
pub(crate) const SWITCH_ENABLED: u8 = 1;
/// Switch byte: process CPU time is recorded too.
pub(crate) const SWITCH_PROCESS_CPU: u8 = 2;
/// Switch byte: the number belongs to a class.
pub(crate) const SWITCH_KNOWN: u8 = 4;

/// The words of a record; their order is [`Record`]'s.
pub(crate) mod word {
    pub(crate) const START: usize = 0;
    pub(crate) const ELAPSED: usize = 1;
    pub(crate) const CPU: usize = 2;
    pub(crate) const PROCESS_CPU: usize = 3;
    pub(crate) const CHAIN_HIGH: usize = 4;
    pub(crate) const CHAIN_LOW: usize = 5;
    pub(crate) const ID: usize = 6;
    pub(crate) const PARENT: usize = 7;
    pub(crate) const CLASS: usize = 8;
    pub(crate) const PATH: usize = 9;
    pub(crate) const ROOT_START: usize = 10;
    pub(crate) const ROOT_PROCESS: usize = 11;
    pub(crate) const PROCESS: usize = 12;
    /// Context offset (bits 0–31), context length (32–47), level (48–63).
    pub(crate) const CONTEXT: usize = 13;
    /// Thread (bits 0–31), status (32–39), flags (40–47), reserved (48–63).
    pub(crate) const THREAD: usize = 14;
}

const _: () = {
    assert!(offset_of!(Record, start_ns) == word::START * 8);
    assert!(offset_of!(Record, elapsed_ns) == word::ELAPSED * 8);
    assert!(offset_of!(Record, cpu_ns) == word::CPU * 8);
    assert!(offset_of!(Record, process_cpu_ns) == word::PROCESS_CPU * 8);
    assert!(offset_of!(Record, chain_high) == word::CHAIN_HIGH * 8);
    assert!(offset_of!(Record, chain_low) == word::CHAIN_LOW * 8);
    assert!(offset_of!(Record, id) == word::ID * 8);
    assert!(offset_of!(Record, parent) == word::PARENT * 8);
    assert!(offset_of!(Record, class) == word::CLASS * 8);
    assert!(offset_of!(Record, path) == word::PATH * 8);
    assert!(offset_of!(Record, root_start_ns) == word::ROOT_START * 8);
    assert!(offset_of!(Record, root_process) == word::ROOT_PROCESS * 8);
    assert!(offset_of!(Record, process) == word::PROCESS * 8);
    assert!(offset_of!(Record, context_offset) == word::CONTEXT * 8);
    assert!(offset_of!(Record, context_len) == word::CONTEXT * 8 + 4);
    assert!(offset_of!(Record, level) == word::CONTEXT * 8 + 6);
    assert!(offset_of!(Record, thread) == word::THREAD * 8);
    assert!(offset_of!(Record, status) == word::THREAD * 8 + 4);
    assert!(offset_of!(Record, flags) == word::THREAD * 8 + 5);
    assert!(cfg!(target_endian = "little"), "ring files are little-endian");
    assert!(usize::BITS == 64, "rings are written by 64-bit programs");
};

/// Bit of a frame's thread word: it stands for a transaction that is recorded elsewhere.
pub(crate) const BORROWED: u64 = 1 << 48;

/// The first bytes of the file.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Header {
    /// [`MAGIC`]; written last.
    pub(crate) magic: u64,
    pub(crate) version: u32,
    pub(crate) header_bytes: u32,
    /// Address at which the process has mapped the file: identifies the ring in a core file.
    pub(crate) base_address: u64,
    pub(crate) pid: u32,
    /// [`Storage`](crate::Storage) as its number.
    pub(crate) storage: u32,
    pub(crate) start_ns: i64,
    /// Field 22 of `/proc/PID/stat`: tells the process from a later one of the same number.
    pub(crate) start_time: u64,
    pub(crate) chain_high: u64,
    pub(crate) process: u64,
    /// Nanoseconds a tick, times 2^32, when the process began.
    pub(crate) scale_multiplier: u64,
    pub(crate) tick_source: u32,
    /// [`CpuMethod`](crate::CpuMethod) as its number.
    pub(crate) cpu_method: u32,
    pub(crate) slot_count: u32,
    pub(crate) worst_count: u32,
    pub(crate) depth_max: u32,
    pub(crate) class_max: u32,
    /// Bytes of a thread's context ring; a power of two.
    pub(crate) context_bytes: u32,
    /// 1 when the process has locked its file ([`crate::liveness`]); from version 2 on.
    pub(crate) locked: u32,
    pub(crate) chunk_count: u64,
    /// The inode of `/proc/self/ns/pid`, in which `pid` counts; 0 when not known. From version 2 on.
    pub(crate) pid_namespace: u64,
    pub(crate) reserved: u64,
    pub(crate) counters: [u64; 16],
    /// First byte: length.
    pub(crate) application: [u8; 256],
    /// First byte: length.
    pub(crate) host: [u8; 256],
}

const _: () = assert!(size_of::<Header>() == 768);

/// Offset of the process's context: its length in four bytes, then its entries
/// ([`chronoscope_model::context`]). Zeroes in rings of recorders that write none.
pub(crate) const PROCESS_CONTEXT_OFFSET: usize = size_of::<Header>();

const _: () = assert!(PROCESS_CONTEXT_OFFSET + 4 + PROCESS_CONTEXT_MAX_BYTES <= SWITCHES_OFFSET);

/// One entry of the chunk directory.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Chunk {
    /// [`ChunkKind`] as its number, with [`PRIVATE`] when the bytes are not in the file.
    pub(crate) kind: u32,
    /// Counts chunks of its kind.
    pub(crate) index: u32,
    /// Begin of the chunk, in pages.
    pub(crate) page: u32,
    /// Length of the chunk, in pages.
    pub(crate) pages: u32,
}

/// Bit of a chunk's kind: only the process itself, or its core file, has these bytes.
pub(crate) const PRIVATE: u32 = 1 << 31;

/// Kind of a chunk's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum ChunkKind {
    Names = 1,
    Thread = 2,
    Started = 3,
}

/// Begin of a chunk of names; entries follow.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct NamesHead {
    /// Bytes of complete entries; grows only.
    pub(crate) used: u64,
    pub(crate) reserved: u64,
}

/// Kind of a names entry; follows its length.
pub(crate) const NAME_CLASS: u16 = 1;
pub(crate) const NAME_PATH: u16 = 2;

/// Begin of a thread's block.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BlockHead {
    /// 1 while a thread has it, 0 when it waits for the next.
    pub(crate) state: u32,
    /// The thread that has it, or had it last.
    pub(crate) thread: u32,
    /// Records written so far: the next one's sequence number.
    pub(crate) next_sequence: u64,
    /// Context bytes written so far.
    pub(crate) context_head: u64,
    /// Frames in use.
    pub(crate) depth: u32,
    pub(crate) index: u32,
    pub(crate) name: [u8; 16],
    /// Threads that have had it.
    pub(crate) registrations: u64,
    /// Offset from the block's start, in bytes: a page number for each class's statistics, 0 when
    /// none.
    pub(crate) table_offset: u32,
    pub(crate) frames_offset: u32,
    pub(crate) context_offset: u32,
    pub(crate) slots_offset: u32,
}

/// Offsets in a thread's block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockShape {
    pub(crate) table: usize,
    pub(crate) frames: usize,
    pub(crate) context: usize,
    pub(crate) slots: usize,
    pub(crate) bytes: usize,
}

impl BlockShape {
    pub(crate) const fn new(slot_count: usize) -> Self {
        let table = PAGE;
        let frames = table + CLASS_MAX * 4;
        let context = frames + DEPTH_MAX * size_of::<Frame>();
        let slots = (context + context_bytes(slot_count)).next_multiple_of(PAGE);
        let bytes = (slots + slot_count * size_of::<Slot>()).next_multiple_of(PAGE);
        Self { table, frames, context, slots, bytes }
    }
}

/// Bytes of a thread's context ring. Room for one context is the least.
pub(crate) const fn context_bytes(slot_count: usize) -> usize {
    let bytes = slot_count * CONTEXT_BYTES_A_SLOT;
    if bytes < 1024 { 1024 } else { bytes }
}

/// A record in a thread's ring. Zero sequence: being written.
#[repr(C)]
pub(crate) struct Slot {
    /// The record's sequence number, plus one.
    pub(crate) sequence: AtomicU64,
    pub(crate) words: [AtomicU64; RECORD_WORDS],
}

/// A transaction that has not ended. Zero id: being written.
#[repr(C)]
pub(crate) struct Frame {
    /// Id of the class, stored once the rest is there.
    pub(crate) ready: AtomicU64,
    pub(crate) words: [AtomicU64; RECORD_WORDS],
    pub(crate) context: UnsafeCell<[u8; context::MAX_BYTES]>,
    pub(crate) reserved: [AtomicU64; 2],
}

/// Statistics of one class in one thread.
#[repr(C)]
pub(crate) struct Statistics {
    pub(crate) count: AtomicU64,
    pub(crate) elapsed_sum: AtomicU64,
    pub(crate) cpu_sum: AtomicU64,
    /// An elapsed time above this is one of the worst.
    pub(crate) threshold: AtomicU64,
    pub(crate) elapsed_min: AtomicU64,
    pub(crate) cpu_min: AtomicU64,
    pub(crate) cpu_max: AtomicU64,
    pub(crate) process_cpu_sum: AtomicU64,
    pub(crate) elapsed_max: AtomicU64,
    /// Odd while the worst cases are being written.
    pub(crate) worst_version: AtomicU64,
    pub(crate) worst_used: AtomicU64,
    pub(crate) class_index: AtomicU64,
    /// A thread CPU time above this is one of the worst by CPU.
    pub(crate) cpu_threshold: AtomicU64,
    /// Worst cases by CPU. 0 in rings of programs that keep none, which reserve no room for them.
    pub(crate) worst_cpu_used: AtomicU64,
    pub(crate) reserved: [AtomicU64; 2],
    pub(crate) elapsed: [AtomicU64; BUCKET_COUNT],
    pub(crate) cpu: [AtomicU64; BUCKET_COUNT],
    // followed by the worst cases, each a `WorstCase`: by elapsed time, then as many by CPU time
}

/// One of the transactions of a class that took most.
#[repr(C)]
pub(crate) struct WorstCase {
    pub(crate) words: [AtomicU64; RECORD_WORDS],
    pub(crate) context: UnsafeCell<[u8; context::MAX_BYTES]>,
}

const _: () = {
    assert!(size_of::<Slot>() == 128 && size_of::<Frame>() == 384 && size_of::<WorstCase>() == 360);
    assert!(size_of::<Statistics>() == 128 + 2 * 8 * BUCKET_COUNT);
    assert!(size_of::<BlockHead>() == 72 && HEADER_BYTES.is_multiple_of(PAGE));
    // Pairs of words are at multiples of 16 bytes (`pair`).
    let shape = BlockShape::new(16);
    assert!(shape.frames.is_multiple_of(128) && shape.slots.is_multiple_of(128));
};

/// Bytes of one class's statistics in one thread, whole pages.
pub(crate) const fn statistics_bytes(worst_count: usize) -> usize {
    (size_of::<Statistics>() + 2 * worst_count * size_of::<WorstCase>()).next_multiple_of(PAGE)
}
