//! A segment's Parquet file, read column by column.

pub use super::extras::{further_parents, read_extras};
use crate::checked::{CheckedFile, open_checked};
use crate::{Segment, StoreError};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrowPrimitiveType, DictionaryArray, RecordBatch, StringArray};
use arrow_schema::{DataType, FieldRef, Fields, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::statistics::Statistics;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are decoded at once: large enough that a call costs nothing beside its rows, small
/// enough that a column of them stays in the second-level cache.
const BATCH_ROWS: usize = 16 * 1024;

/// An open segment.
pub struct SegmentFile {
    path: PathBuf,
    file: CheckedFile,
    metadata: ArrowReaderMetadata,
}

impl SegmentFile {
    /// Opens a segment; nothing is read but its footer.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be read or its footer is not what was written.
    pub fn open(segment: &Segment) -> Result<Self, StoreError> {
        // The offset index lets a selection of rows pass over pages without reading them.
        let options = ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Optional);
        let (file, metadata) = open_checked(&segment.path, segment.tail, options)?;
        Ok(Self { path: segment.path.clone(), file, metadata })
    }

    /// The number of its rows.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Smallest and largest value of a column of signed numbers, or of unsigned ones below half of
    /// their range, as the file's statistics have it; `None` where a row group has none.
    pub fn range(&self, column: &str) -> Option<RangeInclusive<i64>> {
        let mut range: Option<RangeInclusive<i64>> = None;
        for group in self.metadata.metadata().row_groups() {
            let chunk = group.columns().iter().find(|c| c.column_path().string() == column)?;
            let (min, max) = match chunk.statistics()? {
                Statistics::Int64(known) => (*known.min_opt()?, *known.max_opt()?),
                Statistics::Int32(known) => {
                    (i64::from(*known.min_opt()?), i64::from(*known.max_opt()?))
                }
                _ => return None,
            };
            range = Some(match range {
                Some(known) => min.min(*known.start())..=max.max(*known.end()),
                None => min..=max,
            });
        }
        range
    }

    /// The word that stands in every row of a column, as far as the file's statistics can say.
    pub fn only_word(&self, column: &str) -> Option<String> {
        let mut only: Option<&[u8]> = None;
        for group in self.metadata.metadata().row_groups() {
            let chunk = group.columns().iter().find(|c| c.column_path().string() == column)?;
            let Some(Statistics::ByteArray(statistics)) = chunk.statistics() else { return None };
            let (min, max) = (statistics.min_opt()?.data(), statistics.max_opt()?.data());
            let exact = statistics.min_is_exact() && statistics.max_is_exact();
            if min != max || !exact || only.is_some_and(|only| only != min) {
                return None;
            }
            if statistics.null_count_opt().is_none_or(|nulls| nulls > 0) {
                return None;
            }
            only = Some(min);
        }
        std::str::from_utf8(only?).ok().map(str::to_owned)
    }

    /// The row groups whose column may hold a number: by statistics, which are of unsigned
    /// numbers as the schema says.
    pub fn groups_with(&self, column: &str, number: u64) -> Vec<usize> {
        let groups = self.metadata.metadata().row_groups().iter().enumerate();
        let may = groups.filter(|(_, group)| {
            let mut chunks = group.columns().iter();
            let chunk = chunks.find(|c| c.column_path().string() == column);
            let Some(Statistics::Int64(statistics)) = chunk.and_then(|c| c.statistics()) else {
                return true;
            };
            let bound = |value: Option<&i64>| value.map(|value| value.cast_unsigned());
            let (min, max) = (bound(statistics.min_opt()), bound(statistics.max_opt()));
            min.is_none_or(|min| min <= number) && max.is_none_or(|max| number <= max)
        });
        may.map(|(index, _)| index).collect()
    }

    /// Reads some columns of all rows, of the selected ones, or of some row groups.
    ///
    /// # Errors
    /// [`StoreError::Parquet`] when the columns cannot be read.
    pub fn read(
        &self,
        columns: &[&str],
        groups: Option<Vec<usize>>,
        selection: Option<RowSelection>,
    ) -> Result<ParquetRecordBatchReader, StoreError> {
        self.read_as(self.metadata.clone(), columns, groups, selection)
    }

    /// As [`Self::read`], with the keys of properties and metrics, and the texts of properties, as
    /// dictionaries ([`DataType::Dictionary`] of `i32` and UTF-8): as they are stored, so that each
    /// different one is made a text once a batch.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_contexts(
        &self,
        columns: &[&str],
        selection: Option<RowSelection>,
    ) -> Result<ParquetRecordBatchReader, StoreError> {
        let schema = with_dictionaries(self.metadata.schema());
        let options = ArrowReaderOptions::new().with_schema(schema);
        let metadata = ArrowReaderMetadata::try_new(self.metadata.metadata().clone(), options);
        self.read_as(metadata.map_err(unreadable(&self.path))?, columns, None, selection)
    }

    fn read_as(
        &self,
        metadata: ArrowReaderMetadata,
        columns: &[&str],
        groups: Option<Vec<usize>>,
        selection: Option<RowSelection>,
    ) -> Result<ParquetRecordBatchReader, StoreError> {
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), metadata);
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
        let mut builder = builder.with_projection(mask).with_batch_size(BATCH_ROWS);
        if let Some(groups) = groups {
            builder = builder.with_row_groups(groups);
        }
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        builder.build().map_err(unreadable(&self.path))
    }

    /// Names the file in what the Parquet library has to say.
    pub fn unreadable<E: Into<ParquetError>>(&self) -> impl Fn(E) -> StoreError {
        unreadable(&self.path)
    }

    /// The error for a column whose type is not the schema's.
    pub fn unexpected_column(&self, column: &str) -> StoreError {
        let what = format!("the column {column} is missing or of another type");
        unreadable(&self.path)(ParquetError::General(what))
    }
}

/// A schema with the texts inside of maps as dictionaries.
fn with_dictionaries(schema: &Schema) -> SchemaRef {
    let text = |kind: &DataType| match kind {
        DataType::Utf8 => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        other => other.clone(),
    };
    let fields = schema.fields().iter().map(|field| {
        let DataType::Map(entries, is_sorted) = field.data_type() else { return field.clone() };
        let DataType::Struct(parts) = entries.data_type() else { return field.clone() };
        let part = |part: &FieldRef| part.as_ref().clone().with_data_type(text(part.data_type()));
        let parts: Fields = parts.iter().map(part).collect();
        let entries = entries.as_ref().clone().with_data_type(DataType::Struct(parts));
        let kind = DataType::Map(Arc::new(entries), *is_sorted);
        Arc::new(field.as_ref().clone().with_data_type(kind))
    });
    let fields: Fields = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn unreadable<E: Into<ParquetError>>(path: &Path) -> impl Fn(E) -> StoreError {
    move |error| StoreError::Parquet { path: path.to_owned(), source: error.into() }
}

/// The columns of a batch, by name and type.
pub struct SegmentColumns<'a> {
    /// The segment that the batch was read from, for errors.
    pub file: &'a SegmentFile,
    /// The rows.
    pub batch: &'a RecordBatch,
}

impl<'a> SegmentColumns<'a> {
    fn numbers<T: ArrowPrimitiveType>(&self, name: &str) -> Result<&'a [T::Native], StoreError> {
        let column = self.batch.column_by_name(name).and_then(|c| c.as_primitive_opt::<T>());
        column.map(|c| &c.values()[..]).ok_or_else(|| self.file.unexpected_column(name))
    }

    /// A column of nanoseconds that are no instants.
    ///
    /// # Errors
    /// [`StoreError::Parquet`] when the column is missing or of another type.
    pub fn nanoseconds(&self, name: &str) -> Result<&'a [i64], StoreError> {
        self.numbers::<Int64Type>(name)
    }

    /// A column of instants: UTC, nanoseconds since 1970. Where it is null the value is 0.
    ///
    /// # Errors
    /// [`StoreError::Parquet`] when the column is missing or of another type.
    pub fn instants(&self, name: &str) -> Result<&'a [i64], StoreError> {
        self.numbers::<TimestampNanosecondType>(name)
    }

    /// A column of ids.
    ///
    /// # Errors
    /// [`StoreError::Parquet`] when the column is missing or of another type.
    pub fn ids(&self, name: &str) -> Result<&'a [u64], StoreError> {
        self.numbers::<UInt64Type>(name)
    }

    /// A column of numbers of processes or threads.
    ///
    /// # Errors
    /// [`StoreError::Parquet`] when the column is missing or of another type.
    pub fn numbers32(&self, name: &str) -> Result<&'a [u32], StoreError> {
        self.numbers::<UInt32Type>(name)
    }

    /// A column of levels.
    ///
    /// # Errors
    /// [`StoreError::Parquet`] when the column is missing or of another type.
    pub fn levels(&self, name: &str) -> Result<&'a [u16], StoreError> {
        self.numbers::<UInt16Type>(name)
    }

    /// A column of bits.
    ///
    /// # Errors
    /// [`StoreError::Parquet`] when the column is missing or of another type.
    pub fn bits(&self, name: &str) -> Result<&'a [u8], StoreError> {
        self.numbers::<UInt8Type>(name)
    }

    /// A column of words: the keys of the rows, and the words.
    ///
    /// # Errors
    /// [`StoreError::Parquet`] when the column is missing or of another type.
    pub fn words(&self, name: &str) -> Result<(&'a [i32], Vec<&'a str>), StoreError> {
        let words = |column: &'a DictionaryArray<Int32Type>| {
            let texts: &StringArray = column.values().as_string_opt::<i32>()?;
            Some((
                &column.keys().values()[..],
                texts.iter().map(Option::unwrap_or_default).collect(),
            ))
        };
        let column = self.batch.column_by_name(name);
        let column = column.and_then(|c| c.as_dictionary_opt::<Int32Type>());
        column.and_then(words).ok_or_else(|| self.file.unexpected_column(name))
    }
}
