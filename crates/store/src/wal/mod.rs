//! The write-ahead log: rows in the order of their coming, durable once `fdatasync` returned.
//!
//! A log is a sequence of files, a file a sequence of blocks, a block a checked piece of rows
//! with the cursors that say where they were read: so rows and cursors become durable together or
//! not at all. Format: `docs/formats/wal.md`.

mod block;
mod block_reader;
mod durable;
mod read;
mod write;

pub(crate) use block::{Block, CONTENT_MAX, ROWS_MAX};
pub(crate) use block_reader::{BlockReader, LogContent};
pub(crate) use durable::DurableEnd;
pub(crate) use read::{LogFile, list, scan};
pub(crate) use write::{FileSpan, LogWriter};
