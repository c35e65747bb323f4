//! Writing record batches into a Parquet file, durably.

use super::dictionary_column::{DictionaryColumn, ZSTD_LEVEL};
use crate::StoreError;
use crate::checked::{EndChecksum, Summed};
use crate::disk::{Disk, DiskFile};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use chronoscope_model::schema;
use chronoscope_model::schema::column;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowLeafColumn, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::path::{Path, PathBuf};

/// Rows of a row group: the piece that a reader may skip, and that two threads may share out.
pub(crate) const ROW_GROUP_ROWS: usize = 1 << 18;

/// Batches with fewer rows are encoded by one thread: starting another costs more.
const PARALLEL_ROWS: usize = 4096;

/// A Parquet file being written. The columns of a batch are encoded by two threads: encoding is
/// what bounds the rate at which rows are sealed.
pub(crate) struct SegmentWriter {
    writer: SerializedFileWriter<Summed<std::io::BufWriter<DiskFile>>>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// Columns of the open row group, one for every leaf of the schema.
    columns: Vec<Column>,
    group_rows: usize,
    group_count: usize,
    file: DiskFile,
    path: PathBuf,
}

/// A file that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) size_bytes: u64,
    pub(crate) tail: EndChecksum,
}

/// Writer of a leaf of the schema.
enum Column {
    /// By the library; anew for every row group, `None` between two.
    Library(Option<Box<ArrowColumnWriter>>),
    /// From the keys that its words have already.
    Dictionary(Box<DictionaryColumn>),
}

/// Rows for a [`Column`].
enum Leaf<'a> {
    Library(ArrowLeafColumn),
    Dictionary(&'a ArrayRef),
}

impl Column {
    fn write(&mut self, leaf: &Leaf<'_>) -> Result<(), ParquetError> {
        match (self, leaf) {
            (Self::Library(Some(column)), Leaf::Library(leaf)) => column.write(leaf),
            (Self::Dictionary(column), Leaf::Dictionary(array)) => column.write(array),
            _ => Err(ParquetError::General("a column for another leaf".to_owned())),
        }
    }
}

impl SegmentWriter {
    /// Begins a segment of transactions.
    pub(crate) fn transactions(disk: &Disk, path: &Path) -> Result<Self, StoreError> {
        Self::begin(disk, path, schema::transactions(), transaction_properties())
    }

    /// Begins a file with some of the columns of transactions, for a short time.
    pub(crate) fn uncompressed(
        disk: &Disk,
        path: &Path,
        schema: SchemaRef,
    ) -> Result<Self, StoreError> {
        let properties = common_properties()
            .set_compression(Compression::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_statistics_truncate_length(None);
        Self::begin(disk, path, schema, properties.build())
    }

    /// Begins a file with another schema.
    pub(crate) fn begin(
        disk: &Disk,
        path: &Path,
        schema: SchemaRef,
        properties: WriterProperties,
    ) -> Result<Self, StoreError> {
        let file = disk.create(path)?;
        let sink = Summed::new(std::io::BufWriter::with_capacity(1 << 20, file.clone()));
        let begun = ArrowWriter::try_new(sink, schema.clone(), Some(properties));
        let (writer, factory) = begun
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(|error| parquet_error(path, error))?;
        let path = path.to_owned();
        let columns = Vec::new();
        Ok(Self { writer, factory, schema, columns, group_rows: 0, group_count: 0, file, path })
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        self.encode(batch).map_err(|error| parquet_error(&self.path, error))
    }

    fn encode(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        if self.group_rows == 0 {
            self.begin_group()?;
        }
        let mut leaves = Vec::with_capacity(self.columns.len());
        for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
            if DictionaryColumn::suits(field.data_type()) {
                leaves.push(Leaf::Dictionary(array));
            } else {
                leaves.extend(compute_leaves(field, array)?.into_iter().map(Leaf::Library));
            }
        }
        let work = self.columns.iter_mut().zip(&leaves);
        if batch.num_rows() < PARALLEL_ROWS {
            work.into_iter().try_for_each(|(column, leaf)| column.write(leaf))?;
        } else {
            encode_by_two(work.collect())?;
        }
        self.group_rows += batch.num_rows();
        if self.group_rows >= ROW_GROUP_ROWS { self.end_group() } else { Ok(()) }
    }

    fn begin_group(&mut self) -> Result<(), ParquetError> {
        let mut library = self.factory.create_column_writers(self.group_count)?.into_iter();
        if self.columns.is_empty() {
            self.columns = self.new_columns()?;
        }
        for column in &mut self.columns {
            let new = library.next();
            if let Column::Library(column) = column {
                *column = new.map(Box::new);
            }
        }
        Ok(())
    }

    fn new_columns(&self) -> Result<Vec<Column>, ParquetError> {
        let leaves = self.writer.schema_descr().columns().iter();
        leaves
            .map(|descr| {
                // Leaves inside of a map are not called as a column is.
                let field = self.schema.field_with_name(&descr.path().string());
                if !field.is_ok_and(|field| DictionaryColumn::suits(field.data_type())) {
                    return Ok(Column::Library(None));
                }
                let bounds = self.writer.properties().statistics_enabled(descr.path());
                let has_bounds = bounds != EnabledStatistics::None;
                DictionaryColumn::new(descr.clone(), has_bounds)
                    .map(Box::new)
                    .map(Column::Dictionary)
            })
            .collect()
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            match column {
                Column::Library(column) => {
                    if let Some(column) = column.take() {
                        column.close()?.append_to_row_group(&mut group)?;
                    }
                }
                Column::Dictionary(column) => column.end_group(&mut group)?,
            }
        }
        group.close()?;
        self.group_rows = 0;
        self.group_count += 1;
        Ok(())
    }

    /// Ends the file and makes it durable. The name is made durable by the caller, once for all
    /// files of a directory.
    pub(crate) fn finish(mut self) -> Result<Written, StoreError> {
        let ended = if self.group_rows > 0 { self.end_group() } else { Ok(()) };
        let ended = ended.and_then(|()| self.end_file());
        ended.map_err(|error| parquet_error(&self.path, error))?;
        let flushed = std::io::Write::flush(self.writer.inner_mut());
        flushed.map_err(StoreError::io("write", &self.path))?;
        self.file.sync()?;
        let tail = self.writer.inner().tail();
        let tail =
            tail.ok_or_else(|| StoreError::damaged(&self.path, 0, "its footer is too large"))?;
        Ok(Written { size_bytes: self.writer.bytes_written() as u64, tail })
    }

    /// Writes the footer, which names the checksums of all that is before it.
    fn end_file(&mut self) -> Result<(), ParquetError> {
        self.writer.flush()?;
        let checksums = self.writer.inner_mut().begin_tail();
        self.writer.append_key_value_metadata(checksums);
        self.writer.finish().map(drop)
    }
}

/// Encodes columns on this thread and on another. Neighbours cost alike (words, times, ids), so
/// they take turns.
fn encode_by_two(work: Vec<(&mut Column, &Leaf<'_>)>) -> Result<(), ParquetError> {
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for (index, column) in work.into_iter().enumerate() {
        if index % 2 == 0 { mine.push(column) } else { theirs.push(column) }
    }
    let all = |work: Vec<(&mut Column, &Leaf<'_>)>| {
        work.into_iter().try_for_each(|(column, leaf)| column.write(leaf))
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| all(theirs));
        all(mine)?;
        other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// An error of the library; the operating system's answer inside is brought out again, because a
/// full disk is not a broken one.
pub(crate) fn parquet_error(path: &Path, error: ParquetError) -> StoreError {
    if let ParquetError::External(inner) = error {
        return match inner.downcast::<std::io::Error>() {
            Ok(source) => {
                StoreError::Io { operation: "write", path: path.to_owned(), source: *source }
            }
            Err(inner) => {
                let source = ParquetError::External(inner);
                StoreError::Parquet { path: path.to_owned(), source }
            }
        };
    }
    StoreError::Parquet { path: path.to_owned(), source: error }
}

/// Writer properties common to all our Parquet files.
pub(crate) fn common_properties() -> WriterPropertiesBuilder {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).unwrap_or_default();
    WriterProperties::builder()
        .set_created_by(concat!("chronoscope ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_key_value_metadata(Some(vec![KeyValue::new(
            "chronoscope.schema".to_owned(),
            schema::VERSION.to_string(),
        )]))
}

/// The encodings of the transactions' columns, chosen by measurement: `docs/formats/segment.md`.
fn transaction_properties() -> WriterProperties {
    let mut properties = common_properties()
        .set_dictionary_enabled(false)
        .set_write_batch_size(super::columns::CHUNK_ROWS)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // Paths are long and differ at their ends: cut short, their bounds would tell nothing.
        .set_statistics_truncate_length(None);
    for field in schema::transactions().fields() {
        let column = || ColumnPath::from(field.name().as_str());
        properties = match field.name().as_str() {
            column::START
            | column::ROOT_START
            | column::ELAPSED_NS
            | column::CPU_NS
            | column::PROCESS_CPU_NS => {
                properties.set_column_encoding(column(), Encoding::DELTA_BINARY_PACKED)
            }
            column::ID | column::PARENT | column::CHAIN_LOW => {
                properties.set_column_encoding(column(), Encoding::BYTE_STREAM_SPLIT)
            }
            _ => properties.set_column_dictionary_enabled(column(), true),
        };
        // Bounds of these would skip nothing that those of `path` and `class` do not, and finding
        // them compares two texts for every row.
        let is_unbounded = [column::APPLICATION, column::HOST, column::STATUS]
            .contains(&field.name().as_str())
            || [column::ROOT_APPLICATION, column::ROOT_CLASS, column::ROOT_HOST]
                .contains(&field.name().as_str());
        if is_unbounded {
            properties =
                properties.set_column_statistics_enabled(column(), EnabledStatistics::None);
        }
    }
    // Keys and texts of attributes are few different ones in many rows.
    for (field, part) in
        [(column::PROPERTIES, "keys"), (column::PROPERTIES, "values"), (column::METRICS, "keys")]
    {
        let leaf = [field, "entries", part].map(str::to_owned).to_vec();
        properties = properties.set_column_dictionary_enabled(ColumnPath::new(leaf), true);
    }
    properties.build()
}
