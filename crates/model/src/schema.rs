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
        required("application", word()),
        required("class", word()),
        required("host", word()),
        required("process", DataType::UInt32),
        required("thread", DataType::UInt32),
        required("start", instant()),
        required("elapsed_ns", DataType::Int64),
        required("cpu_ns", DataType::Int64),
        optional("process_cpu_ns", DataType::Int64),
        required("status", word()),
        required("id", DataType::UInt64),
        required("parent", DataType::UInt64),
        required("chain_high", DataType::UInt64),
        required("chain_low", DataType::UInt64),
        required("flags", DataType::UInt8),
        required("level", DataType::UInt16),
        required("path", word()),
        optional("root_application", word()),
        optional("root_class", word()),
        optional("root_start", instant()),
        optional("root_host", word()),
        optional("root_process", DataType::UInt32),
        required("links", DataType::UInt8),
        optional("properties", map(DataType::Utf8)),
        optional("metrics", map(DataType::Float64)),
        optional("arrival", instant()),
        optional("run_queue_ns", DataType::Int64),
        optional("blocked_ns", DataType::Int64),
        optional("sampling_threshold", DataType::UInt64),
        optional("further_parents", DataType::List(Arc::new(further_parent()))),
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
