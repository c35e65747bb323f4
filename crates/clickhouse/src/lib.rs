//! Stored transactions past one machine: a ClickHouse cluster by URL.
//!
//! Every shard is a ClickHouse server of its own, with the same tables in it; a chain's rows are
//! all on one shard, which [`shard_of`] names. We write to the shards and ask them ourselves, in
//! parallel, and no server needs to know of another. `docs/clickhouse.md` has the tables and what
//! an operator chooses.
//!
//! What it promises: when [`ClusterWriter::insert`] returns, every row is on its shard's disk; the same
//! batch under the same key is taken once, however often it is sent; an answer is of all shards,
//! or an error that names the one that is missing. Answers are the same as those of files, to the
//! last digit: rows are put together by the same code.
//!
//! Limits: at most 2^18 rows in one insert; keys are remembered for the last 10,000 inserts into
//! each day of each shard; the shards of a database are fixed when it is made.
//!
//! Not here: starting servers, copies of a shard (`docs/clickhouse.md`).

mod cluster;
mod error;
mod http;
mod insert;
mod rows;
mod schema;
mod url;

pub use cluster::{Cluster, shard_of};
pub use error::ClickHouseError;
pub use http::Node;
pub use insert::{ClusterWriter, root_class_text};
pub use rows::ResultRows;
pub use schema::TableOptions;
