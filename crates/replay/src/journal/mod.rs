//! Journals: what a system received from outside, as it arrived, where it did not come over the
//! network (that is [`crate::capture`]'s).
//!
//! Frames with a checksum in files of bounded size and age (`docs/formats/journal.md`). What was
//! synced survives any crash; a tail that was being written is cut on reading, and said.

mod read;
mod write;

pub use read::{JournalError, JournalReader, Tail, TornFile, files, read_all};
pub use write::{Limits, Writer};

/// First octets of a file: its name and its version, 1.
pub const MAGIC: [u8; 8] = *b"CHRJNL\0\x01";
/// Octets before a frame's body: its length and its checksum.
pub const FRAME_HEAD_BYTES: usize = 8;
/// Longest body, octets.
pub const BODY_BYTES_MAX: usize = 16 << 20;

const KIND_CHANNEL: u8 = 1;
const KIND_INPUT: u8 = 2;

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// When it arrived, UTC, ns since 1970.
    pub at_ns: i64,
    /// Over what: a name of the system's own, at most 65,535 octets.
    pub channel: String,
    /// As it arrived.
    pub octets: Vec<u8>,
}

#[cfg(test)]
mod tests;
