//! The transactions of a file, in one of its formats.

use chronoscope_formats::arm_xml::{self, XmlError};
use chronoscope_formats::csv_rows::{self, CsvError};
use chronoscope_formats::rows::TextTooLong;
use chronoscope_model::Transaction;
use chronoscope_store::{ParquetRows, StoreError};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

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

/// Reads a file from its beginning.
///
/// # Errors
/// When it cannot be opened, or its beginning is of another format.
pub(crate) fn read(path: &Path, format: FileFormat) -> Result<Transactions, ImportError> {
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
