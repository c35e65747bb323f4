//! A table in an SQLite database.
//!
//! All rows are one transaction of the database: until it is complete, nobody sees any of
//! them, and when the program is killed before, the database rolls them back. A file that is new is
//! written without a journal: whoever makes it gives it its name when it is complete.

use super::{COLUMNS, Cell, INDEXES, Kind, TableName, cells};
use chronoscope_model::Transaction;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Statement, ToSql};
use std::fmt::Write as _;
use std::path::Path;

/// Reason why rows cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SqliteError {
    /// The database has a table of that name.
    #[error(
        "the table {table} exists; rows are not added to it, because they may be there already: \
         name another one with --table, or drop it"
    )]
    Exists {
        /// Name of the table.
        table: String,
    },
    /// SQLite refused.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// The table that is being written.
#[derive(Debug)]
pub struct Rows<'a> {
    insert: Statement<'a>,
}

impl Rows<'_> {
    /// Writes a transaction.
    ///
    /// # Errors
    /// [`SqliteError::Sqlite`].
    pub fn write(&mut self, t: &Transaction) -> Result<(), SqliteError> {
        self.insert.execute(rusqlite::params_from_iter(&cells(t)))?;
        Ok(())
    }
}

/// Makes a database with the table in a new file, which is nobody's until this returns; `fill` writes
/// the rows.
///
/// # Errors
/// Those of `fill`; [`SqliteError::Sqlite`] when the file cannot be written.
pub fn create<E: From<SqliteError>>(
    path: &Path,
    table: &TableName,
    fill: impl FnOnce(&mut Rows<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let connection = Connection::open(path).map_err(SqliteError::from)?;
    // Nothing is rolled back here, and the caller makes the file durable.
    let fast = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF";
    connection.execute_batch(fast).map_err(SqliteError::from)?;
    write(connection, table, fill)
}

/// Makes the table in a database that exists, as one transaction of it; `fill` writes the rows.
///
/// # Errors
/// Those of `fill`; [`SqliteError::Exists`]; [`SqliteError::Sqlite`] when the file is no database, or
/// cannot be written. Then the database is unchanged.
pub fn add<E: From<SqliteError>>(
    path: &Path,
    table: &TableName,
    fill: impl FnOnce(&mut Rows<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(SqliteError::from)?;
    write(connection, table, fill)
}

fn write<E: From<SqliteError>>(
    connection: Connection,
    table: &TableName,
    fill: impl FnOnce(&mut Rows<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let run = |sql: &str| connection.execute_batch(sql).map_err(SqliteError::from);
    run("BEGIN IMMEDIATE")?;
    if connection.table_exists(None, table.as_str()).map_err(SqliteError::from)? {
        return Err(SqliteError::Exists { table: table.to_string() }.into());
    }
    run(&create_table(table))?;
    let marks = vec!["?"; COLUMNS.len()].join(", ");
    let insert = connection.prepare(&format!("INSERT INTO {table} VALUES ({marks})"));
    let mut rows = Rows { insert: insert.map_err(SqliteError::from)? };
    fill(&mut rows)?;
    drop(rows);
    for (name, columns) in INDEXES {
        run(&format!("CREATE INDEX {table}_{name} ON {table} ({columns})"))?;
    }
    // Statistics of the indexes: without them SQLite guesses which one serves a question.
    run(&format!("ANALYZE {table}; COMMIT"))?;
    connection.close().map_err(|(_, error)| SqliteError::from(error))?;
    Ok(())
}

/// The table. It is STRICT, so that a value of another type is an error.
fn create_table(table: &TableName) -> String {
    let mut sql = format!("CREATE TABLE {table} (");
    for (index, column) in COLUMNS.iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        let kind = match column.kind {
            Kind::Integer => "INTEGER",
            Kind::Text | Kind::Json => "TEXT",
        };
        let null = if column.nullable { "" } else { " NOT NULL" };
        let _ = write!(sql, "{comma}{} {kind}{null}", column.name); // into a String
    }
    sql + ") STRICT"
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}
