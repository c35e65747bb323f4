//! The transactions of one Parquet file: a segment, or one that somebody else wrote.

use super::columns::{BatchRows, REQUIRED};
use crate::checked::{CheckedFile, EndChecksum};
use crate::{Segment, StoreError};
use chronoscope_model::Transaction;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 8192;

/// Most bytes that a column of a row group may say to have: more is nobody's measurements.
const COLUMN_BYTES_MAX: i64 = 1 << 30;

/// The transactions of a Parquet file, in its order. Columns are found by the names of
/// [`chronoscope_model::schema`]; the order, further columns, and other widths of numbers do not
/// matter. These have to be there: `application`, `class`, `start`, `elapsed_ns`, `id`, `parent`,
/// `chain_high`, `chain_low`; without the others a transaction is as if they were null.
///
/// A file that is not what it says ends the sequence with an error; it may be anybody's.
pub struct ParquetRows {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
    batch: Option<BatchRows>,
    row: usize,
    /// Rows of the batches before this one.
    before: u64,
    rows: u64,
}

impl std::fmt::Debug for ParquetRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetRows").field("path", &self.path).finish_non_exhaustive()
    }
}

impl ParquetRows {
    /// Opens a file.
    ///
    /// # Errors
    /// [`StoreError::Io`] when it cannot be opened, [`StoreError::Parquet`] when it is no Parquet
    /// file, lacks a column, or says that a column has more than 1 GiB in one row group.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::checked(path, None)
    }

    /// Opens a segment.
    ///
    /// # Errors
    /// As [`Self::open`], and [`StoreError::Parquet`] when it does not match its checksums.
    pub(super) fn of_segment(segment: &Segment) -> Result<Self, StoreError> {
        Self::checked(&segment.path, segment.tail)
    }

    /// Opens a file whose end has a checksum, or one without checksums.
    pub(crate) fn checked(path: &Path, tail: Option<EndChecksum>) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let (reader, rows) = guarded(path, || {
            let (file, metadata) = CheckedFile::open(file, tail, ArrowReaderOptions::new())?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            for name in REQUIRED {
                if builder.schema().column_with_name(name).is_none() {
                    return Err(ParquetError::General(format!("there is no column {name}")));
                }
            }
            for (index, group) in builder.metadata().row_groups().iter().enumerate() {
                for column in group.columns() {
                    let size = column.uncompressed_size().max(column.compressed_size());
                    if size > COLUMN_BYTES_MAX {
                        let name = column.column_path().string();
                        let what = format!(
                            "row group {index}: column {name} has {size} bytes, at most \
                             {COLUMN_BYTES_MAX} are read"
                        );
                        return Err(ParquetError::General(what));
                    }
                }
            }
            let rows = builder.metadata().file_metadata().num_rows();
            let reader = builder.with_batch_size(BATCH_ROWS).build()?;
            Ok((reader, u64::try_from(rows).unwrap_or(0)))
        })?;
        Ok(Self { path: path.to_owned(), reader, batch: None, row: 0, before: 0, rows })
    }

    /// Number of rows according to the file's footer.
    pub const fn row_count(&self) -> u64 {
        self.rows
    }

    fn load(&mut self) -> Result<bool, StoreError> {
        self.before += self.batch.take().map_or(0, |batch| batch.len() as u64);
        self.row = 0;
        let reader = &mut self.reader;
        let batch = guarded(&self.path, || match reader.next() {
            None => Ok(None),
            Some(batch) => BatchRows::of(&batch?).map(Some),
        })?;
        self.batch = batch;
        Ok(self.batch.is_some())
    }
}

impl Iterator for ParquetRows {
    type Item = Result<Transaction, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.batch.as_ref().filter(|batch| self.row < batch.len()) {
                let row = self.row;
                self.row += 1;
                let number = self.before + row as u64;
                return Some(batch.transaction(row).map_err(|what| {
                    let source = ParquetError::General(format!("row {number}: {what}"));
                    StoreError::Parquet { path: self.path.clone(), source }
                }));
            }
            match self.load() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Calls the Parquet library. It is meant to answer with errors; should a strange file make it
/// panic all the same, that is an error about this file and not the end of the program.
fn guarded<T>(
    path: &Path,
    call: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, StoreError> {
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        Err(ParquetError::General("the Parquet library cannot read it".to_owned()))
    });
    result.map_err(|source| StoreError::Parquet { path: path.to_owned(), source })
}
