//! A file that was read to its end.

use crate::fingerprint::fingerprint;
use crate::piece::Pieces;
use crate::transactions::{FileFormat, ImportError, read};
use chronoscope_formats::rows;
use chronoscope_store::StreamId;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Interval at which the progress of a check is told, in transactions.
const TELL_EVERY: u64 = 8192;

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
