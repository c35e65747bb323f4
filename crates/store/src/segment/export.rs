//! A segment outside of a store.

use super::columns::Columns;
use super::order::Order;
use super::parquet_file::{SegmentWriter, parquet_error};
use super::seal::seal;
use crate::disk::{Access, Disk};
use crate::rows::Rows;
use crate::{Segment, Slot, StoreError};
use arrow_array::RecordBatch;
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

/// Writes some columns of rows of a slot, as [`seal_aside`] writes all of them. There are no sketches.
///
/// # Errors
/// [`StoreError::Io`] or [`StoreError::Parquet`] when the file cannot be written.
pub fn seal_columns_aside(
    dir: &Path,
    number: u64,
    slot: Slot,
    batch: &RecordBatch,
) -> Result<Segment, StoreError> {
    let path = dir.join(format!("{slot}-{number}.columns.parquet"));
    let mut writer = SegmentWriter::uncompressed(&Disk::passing(), &path, batch.schema())?;
    writer.write(batch)?;
    let written = writer.finish()?;
    Ok(Segment {
        sketch_path: path.clone(),
        path,
        slot,
        row_count: batch.num_rows() as u64,
        size_bytes: written.size_bytes,
        tail: Some(written.tail),
        sketch_tail: None,
        parts: 1,
        is_linked: true,
    })
}

/// Seals rows of a slot, as a store does, into two new files of a directory that is not a store's:
/// rows of a store elsewhere, for the questions of this process. `number` tells files of a slot
/// apart. The files are for the owner only and need not survive a crash. A slot with several such
/// segments needs their number in [`Segment::parts`], which is 1 here.
///
/// # Errors
/// [`StoreError::Io`] or [`StoreError::Parquet`] when a file cannot be written.
pub fn seal_aside(
    dir: &Path,
    number: u64,
    slot: Slot,
    batch: &Batch,
    names: &Names,
) -> Result<Segment, StoreError> {
    let path = dir.join(format!("{slot}-{number}.parquet"));
    let sketch_path = dir.join(format!("{slot}-{number}.sketch.parquet"));
    let rows = Rows::of(batch);
    let files = [path.as_path(), sketch_path.as_path()];
    let [segment, sketch] = seal(&Disk::passing(), files, slot, &rows, names)?;
    Ok(Segment {
        path,
        sketch_path,
        slot,
        row_count: batch.len() as u64,
        size_bytes: segment.size_bytes + sketch.size_bytes,
        tail: Some(segment.tail),
        sketch_tail: Some(sketch.tail),
        parts: 1,
        is_linked: false,
    })
}
