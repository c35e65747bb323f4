//! What the collectors before one cluster tell each other, in tables of its first shard.
//!
//! Rows are spread over the shards; this is little, and one order of events: every collector writes
//! it to the first shard, and reads it there. `docs/clickhouse.md` has the tables.

mod collectors;
mod deletions;
pub(crate) mod inserts;
mod notes;
mod published;
mod register;
pub(crate) mod tables;

pub use collectors::CollectorRow;
pub use published::{AgentRow, OpenRow, ProgramRow, Published};
pub use register::{Register, RegisterEntry};
