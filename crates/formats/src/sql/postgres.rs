//! A table as a script for `psql`: one transaction with the table, its rows as `COPY` reads them,
//! and its indexes.
//!
//! Whoever reads only a part of the script has nothing: the transaction ends in its last line.

use super::{COLUMNS, Cell, INDEXES, Kind, TableName, cells};
use chronoscope_model::Transaction;
use std::io::{self, Write};

/// Writes transactions as a script.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    table: TableName,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the beginning: the transaction and the table.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(mut out: W, table: TableName) -> io::Result<Self> {
        // Without a stop psql would read the rows of a table that exists as statements.
        writeln!(out, "\\set ON_ERROR_STOP on")?;
        writeln!(out, "SET client_encoding = 'UTF8';\nBEGIN;\nCREATE TABLE {table} (")?;
        for (index, column) in COLUMNS.iter().enumerate() {
            let comma = if index + 1 < COLUMNS.len() { "," } else { "" };
            let kind = match column.kind {
                Kind::Integer => "bigint",
                Kind::Text => "text",
                // Not jsonb, which has no NUL and no key twice.
                Kind::Json => "json",
            };
            let null = if column.nullable { "" } else { " NOT NULL" };
            writeln!(out, "  {} {kind}{null}{comma}", column.name)?;
        }
        writeln!(out, ");\nCOPY {table} FROM STDIN;")?;
        Ok(Self { out, table, line: Vec::new() })
    }

    /// Writes a transaction.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&mut self, t: &Transaction) -> io::Result<()> {
        self.line.clear();
        for (index, cell) in cells(t).iter().enumerate() {
            if index > 0 {
                self.line.push(b'\t');
            }
            match cell {
                Cell::Null => self.line.extend_from_slice(b"\\N"),
                Cell::Integer(number) => write!(self.line, "{number}")?,
                Cell::Text(text) => push_text(text, &mut self.line),
            }
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    /// Writes the indexes and the end of the transaction; returns the underlying writer.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        let (out, table) = (&mut self.out, &self.table);
        writeln!(out, "\\.")?;
        for (name, columns) in INDEXES {
            writeln!(out, "CREATE INDEX {table}_{name} ON {table} ({columns});")?;
        }
        writeln!(out, "ANALYZE {table};\nCOMMIT;")?;
        out.flush()?;
        Ok(self.out)
    }
}

/// A text as COPY reads it. PostgreSQL's texts have no NUL: U+FFFD stands for it.
fn push_text(text: &str, line: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'\\' => line.extend_from_slice(b"\\\\"),
            b'\t' => line.extend_from_slice(b"\\t"),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            0 => line.extend_from_slice("\u{fffd}".as_bytes()),
            other => line.push(other),
        }
    }
}
