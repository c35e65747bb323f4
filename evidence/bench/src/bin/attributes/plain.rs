//! The same spans as plain OTLP in Parquet: a column for each field of a span, a map for its
//! attributes, as converters of OpenTelemetry write them; zstd, dictionaries where they help.

use crate::spans::{STEPS, Span, key, spans, value};
use anyhow::Result;
use arrow_array::builder::{
    ArrayBuilder, FixedSizeBinaryBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder,
    UInt64Builder,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows of a batch.
const BATCH_ROWS: usize = 100_000;
/// LeafLevel of zstd: Parquet's usual one. The store's own segments have 1.
const LEVEL: i32 = 3;

struct Columns {
    trace_id: FixedSizeBinaryBuilder,
    span_id: FixedSizeBinaryBuilder,
    parent_span_id: FixedSizeBinaryBuilder,
    name: StringDictionaryBuilder<Int32Type>,
    service: StringDictionaryBuilder<Int32Type>,
    host: StringDictionaryBuilder<Int32Type>,
    start: UInt64Builder,
    end: UInt64Builder,
    attributes: MapBuilder<StringBuilder, StringBuilder>,
}

impl Columns {
    fn new() -> Self {
        Self {
            trace_id: FixedSizeBinaryBuilder::new(16),
            span_id: FixedSizeBinaryBuilder::new(8),
            parent_span_id: FixedSizeBinaryBuilder::new(8),
            name: StringDictionaryBuilder::new(),
            service: StringDictionaryBuilder::new(),
            host: StringDictionaryBuilder::new(),
            start: UInt64Builder::new(),
            end: UInt64Builder::new(),
            attributes: MapBuilder::new(None, StringBuilder::new(), StringBuilder::new()),
        }
    }

    fn push(&mut self, span: &Span, keys: &[String]) -> Result<()> {
        let (service, name, host) = STEPS[span.step];
        let (high, low) = span.chain;
        let trace = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
        self.trace_id.append_value(trace)?;
        self.span_id.append_value(span.id.to_be_bytes())?;
        self.parent_span_id.append_value(span.parent.to_be_bytes())?;
        self.name.append(name)?;
        self.service.append(service)?;
        self.host.append(host)?;
        self.start.append_value(span.start_ns.unsigned_abs());
        self.end.append_value(span.start_ns.unsigned_abs() + span.elapsed_ns);
        for (key, number) in keys.iter().zip(&span.values) {
            self.attributes.keys().append_value(key);
            self.attributes.values().append_value(value(*number));
        }
        self.attributes.append(true)?;
        Ok(())
    }

    fn finish(&mut self) -> Result<RecordBatch> {
        Ok(RecordBatch::try_from_iter([
            ("trace_id", Arc::new(self.trace_id.finish()) as ArrayRef),
            ("span_id", Arc::new(self.span_id.finish())),
            ("parent_span_id", Arc::new(self.parent_span_id.finish())),
            ("name", Arc::new(self.name.finish())),
            ("service.name", Arc::new(self.service.finish())),
            ("host.name", Arc::new(self.host.finish())),
            ("start_time_unix_nano", Arc::new(self.start.finish())),
            ("end_time_unix_nano", Arc::new(self.end.finish())),
            ("attributes", Arc::new(self.attributes.finish())),
        ])?)
    }
}

/// Writes the spans into a file; its size in bytes.
pub(crate) fn write(path: &Path, shape: (u64, usize, u64)) -> Result<u64> {
    let mut columns = Columns::new();
    let keys: Vec<String> = (0..shape.1).map(key).collect();
    let compression = Compression::ZSTD(ZstdLevel::try_new(LEVEL)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let schema = columns.finish()?.schema();
    let mut writer = ArrowWriter::try_new(File::create(path)?, schema, Some(properties))?;
    spans(shape, |span| {
        columns.push(&span, &keys)?;
        if columns.start.len() >= BATCH_ROWS {
            writer.write(&columns.finish()?)?;
        }
        Ok(())
    })?;
    writer.write(&columns.finish()?)?;
    writer.close()?;
    Ok(std::fs::metadata(path)?.len())
}
