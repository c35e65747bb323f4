//! Transactions as a table of a database: SQLite ([`sqlite`]), and a script for PostgreSQL
//! ([`postgres`]). Format: `docs/formats/sql.md`.
//!
//! The columns are those of CSV under their names, and three optional fields of the Parquet files.
//! Instants and durations are whole nanoseconds, as in CSV: PostgreSQL's own instants have
//! microseconds only. Ids have 64 bits; both databases have signed numbers only, so that an id from
//! 2^63 on stands there as the negative number of the same bits.
//!
//! Not here: connecting to a server (`cli` runs `psql`).

pub mod postgres;
pub mod sqlite;

use crate::{csv_rows, pairs};
use chronoscope_model::{ProcessName, Transaction};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Number of columns.
pub const COLUMN_COUNT: usize = csv_rows::COLUMNS.len() + 3;

/// Longest name of a table, in octets: PostgreSQL cuts longer ones.
const NAME_MAX: usize = 63;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Text,
    /// A JSON object.
    Json,
}

/// A column: its name, its type, and whether it may be null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
}

const fn needed(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, nullable: false }
}

const fn optional(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, nullable: true }
}

/// The columns in order.
pub(crate) const COLUMNS: [Column; COLUMN_COUNT] = [
    needed("application", Kind::Text),
    needed("class", Kind::Text),
    optional("host", Kind::Text),
    optional("process", Kind::Integer),
    needed("thread", Kind::Integer),
    needed("start", Kind::Integer),
    needed("elapsed_ns", Kind::Integer),
    optional("cpu_ns", Kind::Integer),
    optional("process_cpu_ns", Kind::Integer),
    needed("status", Kind::Text),
    needed("id", Kind::Integer),
    needed("parent", Kind::Integer),
    needed("chain_high", Kind::Integer),
    needed("chain_low", Kind::Integer),
    needed("flags", Kind::Integer),
    needed("level", Kind::Integer),
    optional("path", Kind::Text),
    optional("root_application", Kind::Text),
    optional("root_start", Kind::Integer),
    optional("root_host", Kind::Text),
    optional("root_process", Kind::Integer),
    optional("properties", Kind::Json),
    optional("metrics", Kind::Json),
    optional("process_application", Kind::Text),
    optional("process_start", Kind::Integer),
    optional("root_process_start", Kind::Integer),
    optional("arrival", Kind::Integer),
    optional("run_queue_ns", Kind::Integer),
    optional("blocked_ns", Kind::Integer),
];

/// The indexes: the end of their name, and their columns. A path from a root to a leaf in a time, a
/// class in a time, and a chain are what is asked for.
pub(crate) const INDEXES: [(&str, &str); 3] =
    [("path", "path, root_start"), ("class", "class, start"), ("chain", "chain_high, chain_low")];

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    Null,
    Integer(i64),
    Text(Cow<'a, str>),
}

/// The values of a row, by [`COLUMNS`]. A text that is empty is null where it may be.
pub(crate) fn cells(t: &Transaction) -> [Cell<'_>; COLUMN_COUNT] {
    fn text(text: &str) -> Cell<'_> {
        Cell::Text(Cow::Borrowed(text))
    }
    fn known(text: &str) -> Cell<'_> {
        if text.is_empty() { Cell::Null } else { Cell::Text(Cow::Borrowed(text)) }
    }
    fn of(process: Option<&ProcessName>, value: fn(&ProcessName) -> Cell<'_>) -> Cell<'_> {
        process.map_or(Cell::Null, value)
    }
    let json = |text: String| if text.is_empty() { Cell::Null } else { Cell::Text(text.into()) };
    let bits = |number: u64| Cell::Integer(number.cast_signed());
    let number = |number: Option<i64>| number.map_or(Cell::Null, Cell::Integer);
    let length = |ns: Option<u64>| ns.map_or(Cell::Null, bits);
    let (own, root) = (t.process.as_ref(), t.root_process.as_ref());
    let host: fn(&ProcessName) -> Cell<'_> = |process| known(&process.host);
    let pid: fn(&ProcessName) -> Cell<'_> = |process| Cell::Integer(process.pid.into());
    let application: fn(&ProcessName) -> Cell<'_> = |process| known(&process.application);
    let start: fn(&ProcessName) -> Cell<'_> = |process| Cell::Integer(process.start_ns);
    [
        text(&t.class.application),
        text(&t.class.class),
        of(own, host),
        of(own, pid),
        Cell::Integer(t.thread.into()),
        Cell::Integer(t.start_ns),
        bits(t.elapsed_ns),
        length(t.known_cpu_ns()),
        length(t.process_cpu_ns),
        text(t.status.name()),
        bits(t.id.0),
        bits(t.parent.0),
        bits(t.chain.high()),
        bits(t.chain.low()),
        Cell::Integer(t.flags.0.into()),
        Cell::Integer(t.level.into()),
        known(&t.path),
        of(root, application),
        number(t.root_start_ns),
        of(root, host),
        of(root, pid),
        json(pairs::texts(&t.properties)),
        json(pairs::numbers(&t.metrics)),
        of(own, application),
        of(own, start),
        of(root, start),
        number(t.extras.arrival_ns),
        length(t.extras.run_queue_ns),
        length(t.extras.blocked_ns),
    ]
}

/// Name of a table: letters, digits and `_`, so that no database needs an escape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableName(String);

impl TableName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is no name of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name of a table here: use a lower-case letter or '_', then these and digits, at \
     most {NAME_MAX}"
)]
pub struct TableNameError(String);

impl FromStr for TableName {
    type Err = TableNameError;

    fn from_str(text: &str) -> Result<Self, TableNameError> {
        let letter = |c: u8| c.is_ascii_lowercase() || c == b'_';
        let is_name = text.len() <= NAME_MAX
            && text.bytes().next().is_some_and(letter)
            && text.bytes().all(|c| letter(c) || c.is_ascii_digit());
        if is_name { Ok(Self(text.to_owned())) } else { Err(TableNameError(text.to_owned())) }
    }
}

#[cfg(test)]
mod tests;
