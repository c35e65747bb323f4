//! A segment outside of a store.

use super::columns::Columns;
use super::order::Order;
use super::parquet_file::{SegmentWriter, parquet_error};
use crate::StoreError;
use crate::disk::{Access, Disk};
use crate::rows::Rows;
use chronoscope_model::{Batch, Names};
use std::path::Path;

/// Writes rows into one Parquet file, as a segment is written, in an order of choice; its size in
/// bytes. For handing rows on, and for comparing orders; a store writes its own.
///
/// # Errors
/// [`StoreError::Io`] or [`StoreError::Parquet`] when the file cannot be written.
pub fn write_segment(
    path: &Path,
    batch: &Batch,
    names: &Names,
    order: Order,
) -> Result<u64, StoreError> {
    let rows = Rows::of(batch);
    let mut writer = SegmentWriter::transactions(&Disk::of(Access::Umask), path)?;
    for batch in Columns::new(&rows, names, order).batches() {
        writer.write(&batch.map_err(|error| parquet_error(path, error.into()))?)?;
    }
    Ok(writer.finish()?.size_bytes)
}
