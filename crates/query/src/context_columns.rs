//! What rows say of themselves: the columns of their properties and metrics.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, MapArray, StringArray};
use chronoscope_model::schema::column;
use chronoscope_store::StoreError;
use chronoscope_store::segment_file::SegmentColumns;
use std::ops::Range;

/// The properties and metrics of a batch's rows.
pub(crate) struct ContextColumns<'a> {
    properties: Pairs<'a>,
    texts: &'a StringArray,
    metrics: Pairs<'a>,
    numbers: &'a Float64Array,
}

impl<'a> ContextColumns<'a> {
    /// The columns that have to be read.
    pub(crate) const NAMES: [&'static str; 2] = [column::PROPERTIES, column::METRICS];

    pub(crate) fn of(columns: &SegmentColumns<'a>) -> Result<Self, StoreError> {
        let unexpected = |name: &str| columns.file.unexpected_column(name);
        let pairs = |name: &str| Pairs::of(columns, name).ok_or_else(|| unexpected(name));
        let (properties, metrics) = (pairs(column::PROPERTIES)?, pairs(column::METRICS)?);
        let texts = properties.column.values().as_string_opt::<i32>();
        let numbers = metrics.column.values().as_primitive_opt::<Float64Type>();
        Ok(Self {
            texts: texts.ok_or_else(|| unexpected(column::PROPERTIES))?,
            numbers: numbers.ok_or_else(|| unexpected(column::METRICS))?,
            properties,
            metrics,
        })
    }

    /// The properties of a row, in their order.
    pub(crate) fn properties(&self, row: usize) -> impl Iterator<Item = (&'a str, &'a str)> {
        let (keys, texts) = (self.properties.keys, self.texts);
        self.properties.of_row(row).map(|at| (keys.value(at), texts.value(at)))
    }

    /// The metrics of a row, in their order.
    pub(crate) fn metrics(&self, row: usize) -> impl Iterator<Item = (&'a str, f64)> {
        let (keys, numbers) = (self.metrics.keys, self.numbers);
        self.metrics.of_row(row).map(|at| (keys.value(at), numbers.value(at)))
    }
}

/// A column of maps from a text.
struct Pairs<'a> {
    column: &'a MapArray,
    keys: &'a StringArray,
}

impl<'a> Pairs<'a> {
    fn of(columns: &SegmentColumns<'a>, name: &str) -> Option<Self> {
        let column: &MapArray = columns.batch.column_by_name(name)?.as_map_opt()?;
        Some(Self { column, keys: column.keys().as_string_opt::<i32>()? })
    }

    /// Range of a row's entries.
    fn of_row(&self, row: usize) -> Range<usize> {
        if self.column.is_null(row) {
            return 0..0;
        }
        let offsets = self.column.value_offsets();
        let at = |index: usize| usize::try_from(offsets[index]).unwrap_or(0);
        at(row)..at(row + 1)
    }
}
