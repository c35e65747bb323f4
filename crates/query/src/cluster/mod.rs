//! The questions, answered by a ClickHouse cluster.
//!
//! The shards select the rows; durations are computed from them by the same code as those of files:
//! from the columns that chains are put together from, as they come ([`chain_stream`]), or from whole minutes
//! that are fetched once and kept as segments ([`fetched`]).

mod ask;
mod buckets;
mod cell_sql;
mod chain_stream;
mod class_counts;
mod class_numbers;
mod clock_sql;
mod decode;
mod duration_rows;
mod fetch;
mod fetched;
mod folder;
mod inputs;
mod kept;
mod leaf_fetch;
mod leaf_tables;
mod leaves;
mod linked_cells;
mod linking;
mod minute_states;
mod missing;
mod names;
mod needed;
mod notes;
mod open_minutes;
mod packing;
mod path_counts;
mod path_minutes;
mod picture_grid;
mod present;
mod row_counts;
mod rows_view;
mod sealing;
mod shard_cells;
mod shard_crossings;
mod shard_durations;
mod shard_elapsed;
mod shard_extents;
mod shard_lists;
mod shard_picture;
mod sketched;
mod sketching;
mod sql;
mod take;
mod transactions;
mod words;
mod worst;

pub use ask::ClusterView;
pub use buckets::BucketCounts;
pub(crate) use needed::NeededMinutes;
pub use path_minutes::{PathMinuteKey, PathMinuteRows};
pub use present::{EndedRows, HostMeasure};
pub use rows_view::RowsView;
pub use sealing::Sealed;
pub(crate) use shard_durations::ShardAnswer;
pub(crate) use shard_picture::ShardPicture;
pub(crate) use transactions::ClusterTransactions;
