//! The questions, answered by a ClickHouse cluster.
//!
//! The shards select the rows; durations are computed from them by the same code as those of files.

mod ask;
mod fetch;
mod rows;

pub use ask::ClusterView;
