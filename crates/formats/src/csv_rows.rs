//! Transactions as comma-separated values (RFC 4180), lossless. Format: `docs/formats/csv.md`.
//!
//! ```
//! use chronoscope_formats::csv_rows::{Reader, Writer};
//! # use chronoscope_model::{ClassId, Names, Record, Transaction};
//! # let transaction = Transaction::from_record(&Record::default(), b"", &Names::default());
//! let mut writer = Writer::new(Vec::new())?;
//! writer.write(&transaction)?;
//! let bytes = writer.finish()?;
//! let back: Result<Vec<_>, _> = Reader::new(&bytes[..])?.collect();
//! assert_eq!(back?, [transaction]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Limits: a line of at most 1 MiB.

use crate::bounded::Bounded;
use crate::pairs;
use chronoscope_model::{
    ChainId, ClassName, Flags, ProcessName, Status, Transaction, TransactionId,
};
use std::io::{self, Read, Write};

/// Largest line in bytes, including what was read ahead.
const LINE_MAX: usize = 1 << 20;

/// The columns in order: those of the Arrow schema under their names, without the two derived ones
/// (`root_class`, `links`), and three that identify processes.
pub const COLUMNS: [&str; 26] = [
    "application",
    "class",
    "host",
    "process",
    "thread",
    "start",
    "elapsed_ns",
    "cpu_ns",
    "process_cpu_ns",
    "status",
    "id",
    "parent",
    "chain_high",
    "chain_low",
    "flags",
    "level",
    "path",
    "root_application",
    "root_start",
    "root_host",
    "root_process",
    "properties",
    "metrics",
    "process_application",
    "process_start",
    "root_process_start",
];

/// Columns without which rows mean nothing.
const REQUIRED: [&str; 8] =
    ["application", "class", "start", "elapsed_ns", "id", "parent", "chain_high", "chain_low"];

/// Reason why a text is not a valid table.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// The input cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is no comma-separated line of this table.
    #[error("line {line}: {reason}")]
    Line {
        /// Number of the line, from 1.
        line: u64,
        /// Description of the error.
        reason: String,
    },
    /// A line has no end in sight.
    #[error("line {line}: more than {LINE_MAX} bytes")]
    TooLong {
        /// Number of the line, from 1.
        line: u64,
    },
    /// A column is missing in the header.
    #[error("line 1: the column {column} is missing; required are {}", REQUIRED.join(", "))]
    NoColumn {
        /// Name of the column.
        column: &'static str,
    },
    /// A field does not hold what its column should.
    #[error("line {line}: {column}: {value:?} is not {expected}")]
    Field {
        /// Number of the line, from 1.
        line: u64,
        /// The column.
        column: &'static str,
        /// The beginning of what stands there.
        value: String,
        /// Description of a valid value.
        expected: &'static str,
    },
}

/// Writes transactions, one a line, after a header.
pub struct Writer<W: Write> {
    csv: csv::Writer<W>,
}

impl<W: Write> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("csv_rows::Writer").finish_non_exhaustive()
    }
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(out: W) -> io::Result<Self> {
        let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        csv.write_record(COLUMNS).map_err(io::Error::from)?;
        Ok(Self { csv })
    }

    /// Writes a transaction.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&mut self, t: &Transaction) -> io::Result<()> {
        let text = |n: Option<&dyn ToString>| n.map_or_else(String::new, |n| n.to_string());
        let (own, root) = (t.process.as_ref(), t.root_process.as_ref());
        let host = |p: Option<&ProcessName>| p.map_or_else(String::new, |p| p.host.clone());
        let application =
            |p: Option<&ProcessName>| p.map_or_else(String::new, |p| p.application.clone());
        let pid = |p: Option<&ProcessName>| p.map_or_else(String::new, |p| p.pid.to_string());
        let start =
            |p: Option<&ProcessName>| p.map_or_else(String::new, |p| p.start_ns.to_string());
        let fields: [String; COLUMNS.len()] = [
            t.class.application.clone(),
            t.class.class.clone(),
            host(own),
            pid(own),
            t.thread.to_string(),
            t.start_ns.to_string(),
            t.elapsed_ns.to_string(),
            text(t.known_cpu_ns().as_ref().map(|ns| ns as &dyn ToString)),
            text(t.process_cpu_ns.as_ref().map(|ns| ns as &dyn ToString)),
            t.status.name().to_owned(),
            t.id.0.to_string(),
            t.parent.0.to_string(),
            t.chain.high().to_string(),
            t.chain.low().to_string(),
            t.flags.0.to_string(),
            t.level.to_string(),
            t.path.clone(),
            application(root),
            text(t.root_start_ns.as_ref().map(|ns| ns as &dyn ToString)),
            host(root),
            pid(root),
            pairs::texts(&t.properties),
            pairs::numbers(&t.metrics),
            application(own),
            start(own),
            start(root),
        ];
        self.csv.write_record(&fields).map_err(io::Error::from)
    }

    /// Flushes the buffer, and returns the underlying writer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<W> {
        self.csv.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// Reads transactions. Columns are found by their names; unknown ones do not matter, and without
/// those that [`CsvError::NoColumn`] does not name a transaction is as if they were empty. After an
/// error there is nothing more.
pub struct Reader<R: Read> {
    csv: csv::Reader<Bounded<R>>,
    /// Position of each of [`COLUMNS`] in the file.
    places: [Option<usize>; COLUMNS.len()],
    record: csv::StringRecord,
    /// Lines that the library is behind: it takes the LF of a CR LF as the begin of the next line.
    lines_behind: u64,
    done: bool,
}

impl<R: Read> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("csv_rows::Reader").field("places", &self.places).finish_non_exhaustive()
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`CsvError`] when a needed column is not there or the input cannot be read.
    pub fn new(input: R) -> Result<Self, CsvError> {
        let mut csv = csv::ReaderBuilder::new().from_reader(Bounded::new(input, LINE_MAX));
        let header = csv.headers().map_err(|error| refused(error, 1, 0))?.clone();
        let place = |name: &str| header.iter().position(|column| column == name);
        for column in REQUIRED {
            if place(column).is_none() {
                return Err(CsvError::NoColumn { column });
            }
        }
        let places = COLUMNS.map(place);
        // After a header that ends in LF alone it is at line 2.
        let lines_behind = u64::from(csv.position().line() == 1);
        Ok(Self { csv, places, record: csv::StringRecord::new(), lines_behind, done: false })
    }

    fn read(&mut self) -> Result<Option<Transaction>, CsvError> {
        self.csv.get_mut().next_piece();
        let behind = self.lines_behind;
        let line = self.csv.position().line() + behind;
        match self.csv.read_record(&mut self.record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let line = self.record.position().map_or(line, |at| at.line() + behind);
                Line { record: &self.record, places: &self.places, line }.transaction().map(Some)
            }
            Err(error) => Err(refused(error, line, behind)),
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Transaction, CsvError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let read = self.read().transpose();
        self.done = !matches!(read, Some(Ok(_)));
        read
    }
}

fn refused(error: csv::Error, line: u64, lines_behind: u64) -> CsvError {
    let line = error.position().map_or(line, |at| at.line() + lines_behind);
    let reason = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) if Bounded::<()>::is_too_long(&error) => {
            CsvError::TooLong { line }
        }
        csv::ErrorKind::Io(error) => CsvError::Io(error),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let reason = format!("{len} fields, the header has {expected_len}");
            CsvError::Line { line, reason }
        }
        csv::ErrorKind::Utf8 { .. } => CsvError::Line { line, reason: "not UTF-8".to_owned() },
        _ => CsvError::Line { line, reason },
    }
}

/// A line and where its fields are.
struct Line<'a> {
    record: &'a csv::StringRecord,
    places: &'a [Option<usize>; COLUMNS.len()],
    line: u64,
}

impl Line<'_> {
    fn transaction(&self) -> Result<Transaction, CsvError> {
        let text = |name| self.field(name).to_owned();
        let flags = Flags(self.number("flags", "a number of 8 bits")?.unwrap_or(0));
        let class = ClassName { application: text("application"), class: text("class") };
        let id = |name| self.needed(name, "a number of 64 bits");
        let own = if self.has("process_application") {
            text("process_application")
        } else {
            class.application.clone()
        };
        Ok(Transaction {
            process: self.process(own, "host", "process", "process_start")?,
            class,
            thread: self.number("thread", "a number of 32 bits")?.unwrap_or(0),
            start_ns: self.needed("start", "nanoseconds since 1970")?,
            elapsed_ns: self.needed("elapsed_ns", "nanoseconds")?,
            cpu_ns: self.number("cpu_ns", "nanoseconds")?.unwrap_or(0),
            process_cpu_ns: self.number("process_cpu_ns", "nanoseconds")?,
            status: self.number::<Status>("status", "a status")?.unwrap_or_default(),
            id: TransactionId(id("id")?),
            parent: TransactionId(id("parent")?),
            chain: ChainId::from_halves(id("chain_high")?, id("chain_low")?),
            flags,
            level: self.number("level", "a number of 16 bits")?.unwrap_or(0),
            path: text("path"),
            root_start_ns: self.number("root_start", "nanoseconds since 1970")?,
            root_process: self.process(
                text("root_application"),
                "root_host",
                "root_process",
                "root_process_start",
            )?,
            properties: self.pairs("properties", pairs::parse_texts)?,
            metrics: self.pairs("metrics", pairs::parse_numbers)?,
            // CSV has no columns for them.
            extras: chronoscope_model::Extras::default(),
        })
    }

    fn place(&self, name: &str) -> Option<usize> {
        let column = COLUMNS.iter().position(|column| *column == name)?;
        self.places[column]
    }

    fn has(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Value of a column; empty where the column is absent.
    fn field(&self, name: &str) -> &str {
        self.place(name).and_then(|place| self.record.get(place)).unwrap_or("")
    }

    fn strange(&self, column: &'static str, expected: &'static str) -> CsvError {
        let value = self.field(column).chars().take(40).collect();
        CsvError::Field { line: self.line, column, value, expected }
    }

    /// A number; `None` where the field is empty.
    fn number<T: std::str::FromStr>(
        &self,
        column: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, CsvError> {
        match self.field(column) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| self.strange(column, expected)),
        }
    }

    fn needed<T: std::str::FromStr>(
        &self,
        column: &'static str,
        expected: &'static str,
    ) -> Result<T, CsvError> {
        self.number(column, expected)?.ok_or_else(|| self.strange(column, expected))
    }

    fn process(
        &self,
        application: String,
        host: &'static str,
        pid: &'static str,
        start: &'static str,
    ) -> Result<Option<ProcessName>, CsvError> {
        let Some(pid) = self.number(pid, "a number of 32 bits")? else { return Ok(None) };
        let start_ns = self.number(start, "nanoseconds since 1970")?.unwrap_or(0);
        Ok(Some(ProcessName { application, host: self.field(host).to_owned(), pid, start_ns }))
    }

    fn pairs<T>(
        &self,
        column: &'static str,
        parse: impl Fn(&str) -> Option<Vec<(String, T)>>,
    ) -> Result<Vec<(String, T)>, CsvError> {
        match self.field(column) {
            "" => Ok(Vec::new()),
            text => parse(text).ok_or_else(|| self.strange(column, "a JSON object")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::samples::transaction;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Vec<Transaction>, CsvError> {
        Reader::new(text.as_bytes())?.collect()
    }

    const HEAD: &str = "class,application,start,elapsed_ns,id,parent,chain_high,chain_low,extra\n";

    #[test]
    fn few_columns_in_any_order_are_enough() {
        let rows = read(&format!("{HEAD}c,A,5,7,1,0,0,9,x\n")).unwrap();
        assert_eq!((rows[0].class.to_string(), rows[0].elapsed_ns), ("A::c".to_owned(), 7));
        assert_eq!((rows[0].status, &rows[0].process), (Status::Good, &None));
    }

    #[test]
    fn errors_name_line_and_column() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(error("a,b\n1,2\n").starts_with("line 1: the column application is missing"));
        let line = format!("{HEAD}c,A,5,7,1,0,0,9,x\nc,A,then,7,1,0,0,9,x\n");
        assert_eq!(error(&line), "line 3: start: \"then\" is not nanoseconds since 1970");
        // With CR LF, as we write it, the lines have the same numbers.
        let crlf = line.replace('\n', "\r\n");
        assert_eq!(error(&crlf), error(&line));
        assert_eq!(error(&format!("{HEAD}c,A\n")), "line 2: 2 fields, the header has 9");
        let endless = format!("{HEAD}c,A,5,7,1,0,0,9,\"{}", "x".repeat(3 << 20));
        assert_eq!(error(&endless), "line 2: more than 1048576 bytes");
    }

    proptest! {
        /// Every field survives writing and reading.
        #[test]
        fn what_is_written_reads_back(rows in prop::collection::vec(transaction(), 0..8)) {
            let mut writer = Writer::new(Vec::new()).unwrap();
            rows.iter().for_each(|row| writer.write(row).unwrap());
            let bytes = writer.finish().unwrap();
            let back: Vec<_> = Reader::new(&bytes[..]).unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(back, rows);
        }
    }
}
