//! Rows of transactions on a ClickHouse cluster: URL, tables, inserts, and queries over HTTP.
//!
//! Each shard is a ClickHouse server of its own with the same tables. All rows of a chain are on one
//! shard, which [`shard_of`] names. This crate writes to the shards and queries them itself, in
//! parallel; no server needs to know another. `docs/clickhouse.md` has the tables and the
//! operator's choices.
//!
//! ```no_run
//! use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
//! use chronoscope_model::{Batch, Names};
//!
//! let cluster = Cluster::new("clickhouse://one,two/chronoscope")?;
//! cluster.prepare(&TableOptions::default())?;
//! ClusterWriter::new(cluster).insert(&Batch::default(), &Names::default(), 1)?;
//! # Ok::<(), chronoscope_clickhouse::ClickHouseError>(())
//! ```
//!
//! Guarantees: when [`ClusterWriter::insert`] returns, every row is on its shard's disk. A batch
//! under the same key is taken once, however often it is sent. The result of [`Cluster::on_all`] is
//! of all shards, or an error that names a shard.
//!
//! Limits: at most 2^18 rows in one insert; keys are remembered for the last 10,000 inserts into
//! each day of each shard; the shards of a database are fixed when it is made.
//!
//! A shard may have several copies (`ReplicatedMergeTree`, which servers keep equal): the first that
//! answers is spoken to, and an insert is acknowledged when a quorum of them has it.
//!
//! Not here: questions (`query`), starting servers, making copies equal (`docs/clickhouse.md`).

mod aliases;
mod cluster;
mod durations;
mod error;
mod http;
mod insert;
mod linked;
mod rows;
mod schema;
mod sealed;
mod shared;
mod sketches;
mod tail;
mod url;

pub use cluster::{Cluster, MissingShard, shard_of};
pub use durations::{DURATIONS_KEPT, duration_cell};
pub use error::ClickHouseError;
pub use http::{Node, SentTable};
pub use insert::{ClusterWriter, root_class_text};
pub use linked::{
    ChainLink, ForeignChain, LinkedCell, LinkedRow, Linkings, PrunedLinkings, Publication,
    fingerprint, new_version,
};
pub use rows::ResultRows;
pub use schema::TableOptions;
pub use sealed::{SealedMinute, UnusualRow, sealed_sql};
pub use shared::{AgentRow, CollectorRow, OpenRow, ProgramRow, Published, Register, RegisterEntry};
pub use sketches::SketchedMinute;
