//! The rows of a segment that a range of time selects, and the others.

use super::parquet_file::parquet_error;
use crate::checked::open_checked;
use crate::{RowKind, Segment, StoreError};
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampNanosecondType;
use arrow_array::{BooleanArray, RecordBatch};
use chronoscope_model::schema::column;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use std::ops::Range;

/// The column of the instant that a row is selected by: as the minute that it is stored in.
pub(crate) const fn instant_column(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Native => column::ROOT_START,
        RowKind::Foreign => column::START,
    }
}

/// Reads some columns of a segment, and the instants of its rows first.
pub(crate) fn read_columns(
    part: &Segment,
    columns: &[&str],
    mut each: impl FnMut(&RecordBatch, &[i64]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let path = &part.path;
    let (file, metadata) = open_checked(path, part.tail, ArrowReaderOptions::new())?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let instant = instant_column(part.slot.kind);
    let names = columns.iter().copied().chain([instant]);
    let mask = ProjectionMask::columns(builder.parquet_schema(), names);
    let reader = builder.with_projection(mask).build();
    for batch in reader.map_err(|error| parquet_error(path, error))? {
        let batch = batch.map_err(|error| parquet_error(path, error.into()))?;
        each(&batch, instants(part, &batch)?)?;
    }
    Ok(())
}

/// Number of rows of a segment within a range.
pub(crate) fn rows_within(part: &Segment, range: &Range<i64>) -> Result<u64, StoreError> {
    let mut rows = 0;
    read_columns(part, &[], |_, instants| {
        rows += instants.iter().filter(|at| range.contains(at)).count() as u64;
        Ok(())
    })?;
    Ok(rows)
}

/// The rows of a batch that are not within a range.
pub(super) fn without(
    part: &Segment,
    batch: RecordBatch,
    range: &Range<i64>,
) -> Result<RecordBatch, StoreError> {
    let stays = |at: &i64| Some(!range.contains(at));
    let stays: BooleanArray = instants(part, &batch)?.iter().map(stays).collect();
    let kept = arrow_select::filter::filter_record_batch(&batch, &stays);
    kept.map_err(|error| parquet_error(&part.path, error.into()))
}

fn instants<'a>(part: &Segment, batch: &'a RecordBatch) -> Result<&'a [i64], StoreError> {
    let name = instant_column(part.slot.kind);
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<TimestampNanosecondType>());
    let missing = || StoreError::damaged(&part.path, 0, format!("there is no column {name}"));
    column.map(|column| &column.values()[..]).ok_or_else(missing)
}
