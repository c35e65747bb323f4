//! What rows say of themselves: the columns of their properties and metrics.
//!
//! Keys and texts are read as dictionaries, as they are stored: few different ones stand in many
//! rows, and what is asked of a key is asked once a batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, DictionaryArray, Float64Array, MapArray, StringArray};
use chronoscope_model::schema::column;
use chronoscope_store::StoreError;
use chronoscope_store::segment_file::SegmentColumns;
use std::ops::Range;

/// The properties and metrics of a batch's rows, read by
/// [`SegmentFile::read_contexts`](chronoscope_store::segment_file::SegmentFile::read_contexts).
pub(crate) struct ContextColumns<'a> {
    properties: Pairs<'a>,
    texts: Words<'a>,
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
        let texts = Words::of(properties.column.values());
        let numbers = metrics.column.values().as_primitive_opt::<Float64Type>();
        Ok(Self {
            texts: texts.ok_or_else(|| unexpected(column::PROPERTIES))?,
            numbers: numbers.ok_or_else(|| unexpected(column::METRICS))?,
            properties,
            metrics,
        })
    }

    /// The keys of properties, by the numbers of [`Self::properties_of`].
    pub(crate) fn property_keys(&self) -> impl Iterator<Item = &'a str> {
        self.properties.keys.words()
    }

    /// The keys of metrics, by the numbers of [`Self::metrics_of`].
    pub(crate) fn metric_keys(&self) -> impl Iterator<Item = &'a str> {
        self.metrics.keys.words()
    }

    /// The properties of a row, in their order: the number of the key, and the place of the text
    /// for [`Self::text`].
    pub(crate) fn properties_of(&self, row: usize) -> impl Iterator<Item = (usize, usize)> {
        self.properties.of_row(row).map(|at| (self.properties.keys.number(at), at))
    }

    /// The metrics of a row, in their order: the number of the key, and the value.
    pub(crate) fn metrics_of(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let numbers = self.numbers;
        self.metrics.of_row(row).map(|at| (self.metrics.keys.number(at), numbers.value(at)))
    }

    /// A text of a property, and its number: below [`Self::text_count`], or beyond all where there
    /// is none.
    pub(crate) fn text(&self, at: usize) -> (&'a str, usize) {
        (self.texts.word(at), self.texts.number(at))
    }

    /// Number of the texts of the batch.
    pub(crate) fn text_count(&self) -> usize {
        self.texts.words.len()
    }

    /// The properties of a row, in their order.
    pub(crate) fn properties(&self, row: usize) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.properties.of_row(row).map(|at| (self.properties.keys.word(at), self.texts.word(at)))
    }

    /// The metrics of a row, in their order.
    pub(crate) fn metrics(&self, row: usize) -> impl Iterator<Item = (&'a str, f64)> {
        let numbers = self.numbers;
        self.metrics.of_row(row).map(|at| (self.metrics.keys.word(at), numbers.value(at)))
    }
}

/// A column of words as a dictionary.
struct Words<'a> {
    column: &'a DictionaryArray<Int32Type>,
    words: &'a StringArray,
}

impl<'a> Words<'a> {
    fn of(column: &'a dyn Array) -> Option<Self> {
        let column = column.as_dictionary_opt::<Int32Type>()?;
        Some(Self { column, words: column.values().as_string_opt::<i32>()? })
    }

    fn words(&self) -> impl Iterator<Item = &'a str> {
        self.words.iter().map(Option::unwrap_or_default)
    }

    /// The number of the word at a place; beyond all words where it is null.
    fn number(&self, at: usize) -> usize {
        self.column.key(at).unwrap_or(usize::MAX)
    }

    /// The word at a place; empty where it is null.
    fn word(&self, at: usize) -> &'a str {
        self.column.key(at).map_or("", |key| self.words.value(key))
    }
}

/// A column of maps.
struct Pairs<'a> {
    column: &'a MapArray,
    keys: Words<'a>,
}

impl<'a> Pairs<'a> {
    fn of(columns: &SegmentColumns<'a>, name: &str) -> Option<Self> {
        let column: &MapArray = columns.batch.column_by_name(name)?.as_map_opt()?;
        Some(Self { column, keys: Words::of(column.keys())? })
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
