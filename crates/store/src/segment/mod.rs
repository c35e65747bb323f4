//! Segments: the sealed rows of a minute, as Parquet. Format: `docs/formats/segment.md`.

mod columns;
mod dictionary_column;
mod export;
mod extras;
mod hybrid;
mod merge;
mod order;
mod parquet_file;
mod seal;
mod sketch;
mod words;

#[cfg(test)]
mod dictionary_tests;

pub(crate) use columns::Columns;
pub use export::write_segment;
pub(crate) use extras::{further_parents, read_extras};
pub(crate) use merge::merge;
pub use order::Order;
pub(crate) use parquet_file::{SegmentWriter, Written, parquet_error};
pub(crate) use seal::seal;
pub(crate) use sketch::read_since_root;
pub use sketch::{SketchRow, read_sketch};
pub(crate) use sketch::{merge as merge_sketches, write_sketch};
