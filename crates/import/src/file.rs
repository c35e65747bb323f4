//! A file that was read to its end.

use crate::fingerprint::fingerprint;
use crate::piece::Pieces;
use chronoscope_formats::arm_xml::{self, XmlError};
use chronoscope_formats::csv_rows::{self, CsvError};
use chronoscope_formats::rows::{self, TextTooLong};
use chronoscope_model::Transaction;
use chronoscope_store::{ParquetRows, StoreError, StreamId};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// Interval at which the progress of a check is told, in transactions.
const TELL_EVERY: u64 = 8192;

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// XML with the terms of ARM.
    Xml,
    /// Comma-separated values.
    Csv,
    /// Parquet with the columns of a store's segments.
    Parquet,
}

impl FileFormat {
    /// Its name, as `--format` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// The format that a file's name says.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("xml") => Some(Self::Xml),
            Some("csv") => Some(Self::Csv),
            Some("parquet") => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Reason why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("open {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Neither its name nor its beginning says what it is.
    #[error("the file is not XML, CSV or Parquet: name its format with --format")]
    Unknown,
    /// It is no XML of this kind.
    #[error(transparent)]
    Xml(#[from] XmlError),
    /// It is no table of this kind.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// It is no Parquet file of this kind.
    #[error(transparent)]
    Parquet(#[from] StoreError),
    /// A transaction cannot be stored as it is.
    #[error("transaction {number}: {source}")]
    Row {
        /// Its number in the file, from 1.
        number: u64,
        /// The error.
        source: TextTooLong,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

pub(crate) type Transactions = Box<dyn Iterator<Item = Result<Transaction, ImportError>> + Send>;

/// A file whose transactions can all be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFile {
    path: PathBuf,
    format: FileFormat,
    id: StreamId,
    rows: u64,
}

impl ImportFile {
    /// Reads a file to its end. Without `format` its name, else its beginning says what it is.
    /// `progress` is told how many transactions were read, and says whether to go on.
    ///
    /// # Errors
    /// [`ImportError`] with the place of what cannot be read.
    pub fn check(
        path: &Path,
        format: Option<FileFormat>,
        mut progress: impl FnMut(u64) -> bool,
    ) -> Result<Self, ImportError> {
        let io = |source| ImportError::Io { path: path.to_owned(), source };
        let id = fingerprint(path).map_err(io)?;
        let format = match format.or_else(|| FileFormat::of_name(path)) {
            Some(format) => format,
            None => of_beginning(path).map_err(io)?.ok_or(ImportError::Unknown)?,
        };
        let mut rows: u64 = 0;
        for t in read(path, format)? {
            rows += 1;
            rows::check(&t?).map_err(|source| ImportError::Row { number: rows, source })?;
            if rows.is_multiple_of(TELL_EVERY) && !progress(rows) {
                return Err(ImportError::Interrupted);
            }
        }
        Ok(Self { path: path.to_owned(), format, id, rows })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its format.
    pub const fn format(&self) -> FileFormat {
        self.format
    }

    /// Identity of its content.
    pub const fn id(&self) -> StreamId {
        self.id
    }

    /// Number of its transactions.
    pub const fn row_count(&self) -> u64 {
        self.rows
    }

    /// Its transactions from a number on, in pieces.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn pieces(&self, first_row: u64) -> Result<Pieces, ImportError> {
        Ok(Pieces::new(read(&self.path, self.format)?, first_row))
    }
}

fn read(path: &Path, format: FileFormat) -> Result<Transactions, ImportError> {
    let open =
        || File::open(path).map_err(|source| ImportError::Io { path: path.to_owned(), source });
    Ok(match format {
        FileFormat::Xml => {
            Box::new(arm_xml::Reader::new(open()?).map(|t| t.map_err(ImportError::from)))
        }
        FileFormat::Csv => {
            let reader = csv_rows::Reader::new(BufReader::new(open()?))?;
            Box::new(reader.map(|t| t.map_err(ImportError::from)))
        }
        FileFormat::Parquet => {
            Box::new(ParquetRows::open(path)?.map(|t| t.map_err(ImportError::from)))
        }
    })
}

/// Format of a file by its first bytes.
fn of_beginning(path: &Path) -> io::Result<Option<FileFormat>> {
    let mut begin = Vec::new();
    File::open(path)?.take(1024).read_to_end(&mut begin)?;
    let text = begin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&begin).trim_ascii_start();
    let first_line = text.split(|byte| *byte == b'\n').next();
    Ok(if begin.starts_with(b"PAR1") {
        Some(FileFormat::Parquet)
    } else if text.starts_with(b"<") {
        Some(FileFormat::Xml)
    } else if first_line.is_some_and(|line| line.contains(&b',')) {
        Some(FileFormat::Csv)
    } else {
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_or_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let guessed = |name: &str, content: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, content).unwrap();
            FileFormat::of_name(&path).or_else(|| of_beginning(&path).unwrap())
        };
        assert_eq!(guessed("a.XML", ""), Some(FileFormat::Xml));
        assert_eq!(guessed("a", "\u{feff} <armData>"), Some(FileFormat::Xml));
        assert_eq!(guessed("a", "PAR1xx"), Some(FileFormat::Parquet));
        assert_eq!(guessed("a.txt", "application,class\n"), Some(FileFormat::Csv));
        assert_eq!(guessed("a.txt", "words"), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        let head = "application,class,start,elapsed_ns,id,parent,chain_high,chain_low\n";
        let check = |text: &str| {
            std::fs::write(&path, text).unwrap();
            ImportFile::check(&path, None, |_| true).unwrap_err().to_string()
        };
        let error = check(&format!("{head}A,b,1,2,3,0,0,4\nA,b,noon,2,3,0,0,4\n"));
        assert!(error.starts_with("line 3: start"), "{error}");
        assert!(check("a,b\n1,2\n").starts_with("line 1: the column"));
    }
}
