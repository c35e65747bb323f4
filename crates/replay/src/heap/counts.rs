//! Counts of a process's heap allocations.

use serde::{Deserialize, Serialize};

/// Heap of one process image. Bytes are the requested ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessHeap {
    /// The last part of the executable's path.
    pub program: String,
    /// Forked, with no other program executed since.
    pub forked: bool,
    /// Number of allocated blocks; a resize counts as one allocation and one free.
    pub allocations: u64,
    /// Bytes of the allocated blocks.
    pub bytes: u64,
    /// Number of freed blocks.
    pub frees: u64,
    /// Number of blocks that were not freed at the end.
    pub held: u64,
    /// Bytes of the blocks that were not freed.
    pub held_bytes: u64,
    /// Largest number of bytes held at once.
    pub held_bytes_max: u64,
    /// Bytes inherited from the parent by a forked child.
    pub inherited_bytes: u64,
    /// Number of frees of blocks that were not allocated through libc's functions.
    pub foreign: u64,
    /// Blocks that could not be recorded for lack of memory: they are not in the held figures.
    pub lost: u64,
    /// Statistics of glibc at exit; `None` when the process was killed, or uses another allocator.
    pub glibc: Option<Glibc>,
}

/// glibc's allocator, at exit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glibc {
    /// Bytes in use in arenas, including the overhead of each block.
    pub used_bytes: u64,
    /// Bytes in arenas that are free.
    pub free_bytes: u64,
    /// Bytes of all arenas: used and free.
    pub arena_bytes: u64,
    /// Bytes in blocks that have a mapping of their own.
    pub mapped_bytes: u64,
    /// Arenas; 0 when it could not say.
    pub arenas: u64,
    /// Largest number of bytes that arenas had obtained from the system.
    pub system_bytes_max: u64,
}
