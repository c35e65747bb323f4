//! The one Arrow schema of stored transactions. Parquet, SQL and JSON are views of it.
//!
//! Names are words here and numbers in [`Record`](crate::Record). Version rule: columns are only
//! ever added, at the end and nullable; a reader goes by name.

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use std::sync::Arc;

/// Version of [`transactions`], written into every file's metadata as `chronoscope.schema`.
pub const VERSION: u32 = 2;

/// Bits of the column `links`: the row's position in its chain, as found when it was sealed.
pub mod links {
    /// No row in the store names this one as parent.
    pub const LEAF: u8 = 0x01;
    /// The row is the leaf of its chain that starts last: its end determines the chain's APCD.
    pub const LAST_LEAF: u8 = 0x02;
    /// The parent or a further ancestor is not in the store.
    pub const ANCESTOR_MISSING: u8 = 0x04;
    /// The row starts before its parent does: the clocks of their hosts disagree.
    pub const BEFORE_PARENT: u8 = 0x08;
}

/// The names of the columns.
pub mod column {
    /// Application of the class.
    pub const APPLICATION: &str = "application";
    /// Class within the application.
    pub const CLASS: &str = "class";
    /// Host of the process.
    pub const HOST: &str = "host";
    /// Number of the process on its host.
    pub const PROCESS: &str = "process";
    /// Number of the thread.
    pub const THREAD: &str = "thread";
    /// Start: UTC, nanoseconds since 1970, raw.
    pub const START: &str = "start";
    /// Elapsed time, nanoseconds.
    pub const ELAPSED_NS: &str = "elapsed_ns";
    /// CPU time of the thread meanwhile, nanoseconds.
    pub const CPU_NS: &str = "cpu_ns";
    /// CPU time of the process meanwhile, nanoseconds.
    pub const PROCESS_CPU_NS: &str = "process_cpu_ns";
    /// Status in words.
    pub const STATUS: &str = "status";
    /// The transaction's id.
    pub const ID: &str = "id";
    /// The parent's id, 0 for none.
    pub const PARENT: &str = "parent";
    /// Upper half of the chain's id.
    pub const CHAIN_HIGH: &str = "chain_high";
    /// Lower half of the chain's id.
    pub const CHAIN_LOW: &str = "chain_low";
    /// Flags of the record.
    pub const FLAGS: &str = "flags";
    /// Steps below the root.
    pub const LEVEL: &str = "level";
    /// Path from the root in words.
    pub const PATH: &str = "path";
    /// Application of the root's class.
    pub const ROOT_APPLICATION: &str = "root_application";
    /// Class of the root within its application.
    pub const ROOT_CLASS: &str = "root_class";
    /// Start of the root: UTC, nanoseconds since 1970, raw by its host's clock.
    pub const ROOT_START: &str = "root_start";
    /// Host of the root.
    pub const ROOT_HOST: &str = "root_host";
    /// Number of the root's process on its host.
    pub const ROOT_PROCESS: &str = "root_process";
    /// Relations of the row to others, found when its minute was sealed: bits of
    /// [`links`](super::links).
    pub const LINKS: &str = "links";
    /// Properties, texts by name.
    pub const PROPERTIES: &str = "properties";
    /// Metrics, numbers by name.
    pub const METRICS: &str = "metrics";
    /// Arrival of the input: UTC, nanoseconds since 1970.
    pub const ARRIVAL: &str = "arrival";
    /// Time in the run queue, nanoseconds.
    pub const RUN_QUEUE_NS: &str = "run_queue_ns";
    /// Time blocked, nanoseconds.
    pub const BLOCKED_NS: &str = "blocked_ns";
    /// Threshold of the source's sampling.
    pub const SAMPLING_THRESHOLD: &str = "sampling_threshold";
    /// Further parents.
    pub const FURTHER_PARENTS: &str = "further_parents";
}

/// The columns of a stored transaction.
///
/// Times are nanoseconds; `start` and `root_start` are UTC and raw. `root_*` are null when the
/// chain is foreign, `process_cpu_ns` when the class does not measure it. A parent of 0 means none.
/// The columns after `metrics` are of version 2 ([`Extras`](crate::Extras)), and null where the
/// source did not report them.
pub fn transactions() -> SchemaRef {
    let word = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let instant = || DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    let required = |name: &str, kind: DataType| Field::new(name, kind, false);
    let optional = |name: &str, kind: DataType| Field::new(name, kind, true);
    Arc::new(Schema::new(vec![
        required(column::APPLICATION, word()),
        required(column::CLASS, word()),
        required(column::HOST, word()),
        required(column::PROCESS, DataType::UInt32),
        required(column::THREAD, DataType::UInt32),
        required(column::START, instant()),
        required(column::ELAPSED_NS, DataType::Int64),
        required(column::CPU_NS, DataType::Int64),
        optional(column::PROCESS_CPU_NS, DataType::Int64),
        required(column::STATUS, word()),
        required(column::ID, DataType::UInt64),
        required(column::PARENT, DataType::UInt64),
        required(column::CHAIN_HIGH, DataType::UInt64),
        required(column::CHAIN_LOW, DataType::UInt64),
        required(column::FLAGS, DataType::UInt8),
        required(column::LEVEL, DataType::UInt16),
        required(column::PATH, word()),
        optional(column::ROOT_APPLICATION, word()),
        optional(column::ROOT_CLASS, word()),
        optional(column::ROOT_START, instant()),
        optional(column::ROOT_HOST, word()),
        optional(column::ROOT_PROCESS, DataType::UInt32),
        required(column::LINKS, DataType::UInt8),
        optional(column::PROPERTIES, map(DataType::Utf8)),
        optional(column::METRICS, map(DataType::Float64)),
        optional(column::ARRIVAL, instant()),
        optional(column::RUN_QUEUE_NS, DataType::Int64),
        optional(column::BLOCKED_NS, DataType::Int64),
        optional(column::SAMPLING_THRESHOLD, DataType::UInt64),
        optional(column::FURTHER_PARENTS, DataType::List(Arc::new(further_parent()))),
    ]))
}

/// Number of columns that version 1 lacks: [`transactions`] begins with those of version 1.
pub const ADDED_COLUMNS: usize = 5;

/// An element of the column `further_parents`. `root_start` to `path` are null together, where the
/// parent is foreign; process and path are ids.
fn further_parent() -> Field {
    Field::new("element", DataType::Struct(further_parent_fields()), false)
}

/// The fields of an element of the column `further_parents`.
pub fn further_parent_fields() -> Fields {
    let instant = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    Fields::from(vec![
        Field::new("chain_high", DataType::UInt64, false),
        Field::new("chain_low", DataType::UInt64, false),
        Field::new("id", DataType::UInt64, false),
        Field::new("root_start", instant, true),
        Field::new("root_process", DataType::UInt64, true),
        Field::new("level", DataType::UInt16, true),
        Field::new("path", DataType::UInt64, true),
    ])
}

/// A map from a text to `value`, as Arrow and Parquet spell it.
fn map(value: DataType) -> DataType {
    let entries = Fields::from(vec![
        Field::new("keys", DataType::Utf8, false),
        Field::new("values", value, true),
    ]);
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)
}
