//! Segments: the sealed rows of a minute, as Parquet. Format: `docs/formats/segment.md`.

mod columns;
mod cut;
mod dictionaries;
mod dictionary_column;
mod export;
mod extras;
mod hybrid;
mod merge;
mod order;
mod parquet_file;
mod seal;
pub mod segment_file;
mod sketch;

#[cfg(test)]
mod dictionary_tests;

pub(crate) use columns::Columns;
pub use columns::each_schema_batch;
pub(crate) use cut::{read_columns, rows_within};
pub use export::{seal_aside, seal_columns_aside, write_segment};
pub(crate) use extras::read_extras;
pub(crate) use merge::merge;
pub use order::Order;
pub(crate) use parquet_file::{SegmentWriter, Written, parquet_error};
pub(crate) use seal::seal;
pub use sketch::{SketchRow, read_since_root, read_sketch};
pub(crate) use sketch::{TransactionSketches, merge as merge_sketches, write_sketch};
