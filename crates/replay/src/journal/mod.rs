//! Journals: recorded input of a system that did not come over the network (network input is in a
//! [`crate::capture`]).
//!
//! Frames with a checksum in files of bounded size and age (`docs/formats/journal.md`). Synced
//! frames survive any crash; a torn tail is cut on reading and reported.

mod frame;
mod read;
mod write;

pub use frame::{BODY_BYTES_MAX, FRAME_HEAD_BYTES, Input, MAGIC};
pub use read::{JournalError, JournalReader, Tail, TornFile, files, read_all};
pub use write::{Limits, Writer};

#[cfg(test)]
mod tests;
