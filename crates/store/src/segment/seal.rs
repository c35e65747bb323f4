//! Rows of a slot as a segment and its sketches.

use super::columns::Columns;
use super::order::Order;
use super::parquet_file::{SegmentWriter, Written, parquet_error};
use super::sketch::{Sketches, write_sketch};
use crate::disk::Disk;
use crate::rows::Rows;
use crate::{Slot, StoreError};
use chronoscope_model::Names;
use std::path::Path;

/// Writes both files and makes their bytes durable; their names are the caller's to sync, once for all
/// files of a directory.
pub(crate) fn seal(
    disk: &Disk,
    [path, sketch_path]: [&Path; 2],
    slot: Slot,
    rows: &Rows,
    names: &Names,
) -> Result<[Written; 2], StoreError> {
    let mut writer = SegmentWriter::transactions(disk, path)?;
    for batch in Columns::new(rows, names, Order::of(slot.kind)).batches() {
        writer.write(&batch.map_err(|error| parquet_error(path, error.into()))?)?;
    }
    let segment = writer.finish()?;
    let sketches = Sketches::of(rows).rows(slot.minute, names);
    Ok([segment, write_sketch(disk, sketch_path, slot, &sketches)?])
}
