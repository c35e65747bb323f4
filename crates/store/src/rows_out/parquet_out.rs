//! Rows into one Parquet file outside of a store, with the columns and encodings of a segment.

use crate::disk::{Access, Disk};
use crate::rows::Rows;
use crate::segment::{Columns, Order, SegmentWriter, parquet_error};
use crate::{Slot, StoreError};
use chronoscope_model::{Batch, Names};
use std::path::{Path, PathBuf};

/// A Parquet file being written.
pub struct ParquetWriter {
    writer: SegmentWriter,
    path: PathBuf,
}

impl std::fmt::Debug for ParquetWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

impl ParquetWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// [`StoreError::Io`] or [`StoreError::Parquet`] when it cannot be written.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let writer = SegmentWriter::transactions(&Disk::of(Access::Umask), path)?;
        Ok(Self { writer, path: path.to_owned() })
    }

    /// Adds rows, ordered as a segment's. The column `links` tells what these rows say about each
    /// other: rows of one chain belong into one call.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn write(&mut self, batch: &Batch, names: &Names) -> Result<(), StoreError> {
        let Some(first) = batch.records().first() else { return Ok(()) };
        let order = Order::of(Slot::of(first).kind);
        let rows = Rows::of(batch);
        for batch in Columns::new(&rows, names, order).batches() {
            self.writer.write(&batch.map_err(|error| parquet_error(&self.path, error.into()))?)?;
        }
        Ok(())
    }

    /// Ends the file and makes it durable; its size in bytes.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn finish(self) -> Result<u64, StoreError> {
        Ok(self.writer.finish()?.size_bytes)
    }
}
