//! The questions, answered by a ClickHouse cluster.
//!
//! The shards select the rows; durations are computed from them by the same code as those of files.

mod ask;
mod buckets;
mod fetch;
mod present;
mod worst;

pub use ask::ClusterView;
pub use buckets::BucketCounts;
pub use present::{EndedRows, HostMeasure, PathMinuteKey, PathMinuteRows};
