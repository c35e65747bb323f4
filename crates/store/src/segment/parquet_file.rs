//! Writing record batches into a Parquet file, durably.

use crate::StoreError;
use crate::disk::{Disk, DiskFile};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use chronoscope_model::schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use std::path::{Path, PathBuf};

/// Rows of a row group: the piece that a reader may skip, and that two threads may share out.
pub(crate) const ROW_GROUP_ROWS: usize = 1 << 18;

/// A Parquet file being written.
pub(crate) struct SegmentWriter {
    writer: ArrowWriter<std::io::BufWriter<DiskFile>>,
    file: DiskFile,
    path: PathBuf,
}

impl SegmentWriter {
    /// Begins a segment of transactions.
    pub(crate) fn transactions(disk: &Disk, path: &Path) -> Result<Self, StoreError> {
        Self::begin(disk, path, schema::transactions(), transaction_properties())
    }

    /// Begins a file with another schema.
    pub(crate) fn begin(
        disk: &Disk,
        path: &Path,
        schema: SchemaRef,
        properties: WriterProperties,
    ) -> Result<Self, StoreError> {
        let file = disk.create(path)?;
        let sink = std::io::BufWriter::with_capacity(1 << 20, file.clone());
        let writer = ArrowWriter::try_new(sink, schema, Some(properties));
        let writer = writer.map_err(|error| parquet_error(path, error))?;
        Ok(Self { writer, file, path: path.to_owned() })
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        self.writer.write(batch).map_err(|error| parquet_error(&self.path, error))
    }

    /// Ends the file and makes it durable; its size in bytes. The name is made durable by the
    /// caller, once for all files of a directory.
    pub(crate) fn finish(mut self) -> Result<u64, StoreError> {
        let error = |error| parquet_error(&self.path, error);
        self.writer.finish().map_err(error)?;
        let size_bytes = self.writer.bytes_written() as u64;
        let flushed = std::io::Write::flush(self.writer.inner_mut());
        flushed.map_err(StoreError::io("write", &self.path))?;
        self.file.sync()?;
        Ok(size_bytes)
    }
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

/// What all our Parquet files have in common.
pub(crate) fn common_properties() -> WriterPropertiesBuilder {
    let level = ZstdLevel::try_new(1).unwrap_or_default();
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
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for field in schema::transactions().fields() {
        let column = || ColumnPath::from(field.name().as_str());
        properties = match field.name().as_str() {
            "start" | "root_start" | "elapsed_ns" | "cpu_ns" | "process_cpu_ns" => {
                properties.set_column_encoding(column(), Encoding::DELTA_BINARY_PACKED)
            }
            "id" | "parent" | "chain_low" => {
                properties.set_column_encoding(column(), Encoding::BYTE_STREAM_SPLIT)
            }
            _ => properties.set_column_dictionary_enabled(column(), true),
        };
    }
    properties.build()
}
