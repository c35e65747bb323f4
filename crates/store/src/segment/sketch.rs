//! Sketches: what a dashboard needs of a minute, per class and path, without reading its rows.
//!
//! Verdicts never use them: a sketch's quantile is a bucket's bound (at most 3.125 % too large).

use super::dictionaries::IdMap;
use super::parquet_file::{SegmentWriter, Written, common_properties, parquet_error};
use crate::checked::open_checked;
use crate::disk::Disk;
use crate::rows::Rows;
use crate::{Minute, Segment, Slot, StoreError};
use arrow_array::builder::{Int32Builder, Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampNanosecondType};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use chronoscope_model::{Names, Record, Status, Transaction};
use chronoscope_statistics::{BUCKET_COUNT, Histogram};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Counts of one class on one path in one minute (of one segment: add them up where a minute has
/// several).
#[derive(Clone, Debug, PartialEq)]
pub struct SketchRow {
    /// The minute of the root's start; of its own start for foreign rows.
    pub minute: Minute,
    /// The application that declares the class.
    pub application: String,
    /// The class.
    pub class: String,
    /// The path in words; empty for foreign rows.
    pub path: String,
    /// Elapsed times in nanoseconds. Count, smallest and largest are exact, the sum to 53 bits.
    pub elapsed: Histogram,
    /// Sum of the squares of elapsed times, in ns².
    pub elapsed_squares: f64,
    /// Times from the root's start to the row's end (ACPD), in nanoseconds; empty for foreign
    /// rows. Exact as `elapsed` is.
    pub since_root: Histogram,
    /// Sum of the squares of these, in ns².
    pub since_root_squares: f64,
    /// Rows that ended before their root started, by clocks that disagree: not in `since_root`.
    pub before_root: u64,
    /// Thread CPU time of all rows together, in nanoseconds.
    pub cpu_ns: u64,
    /// Rows whose status is not GOOD.
    pub not_good: u64,
    /// Rows without a parent: roots of their chains, but for links found later. `None` where the file is
    /// of before they were counted.
    pub roots: Option<u64>,
}

#[derive(Default)]
struct Sums {
    record: Option<Record>,
    elapsed: Histogram,
    elapsed_squares: f64,
    since_root: Histogram,
    since_root_squares: f64,
    before_root: u64,
    cpu_ns: u64,
    not_good: u64,
    roots: u64,
}

/// What is counted of a row.
struct Counted {
    elapsed_ns: u64,
    /// `None` of a foreign row.
    since_root_ns: Option<i64>,
    cpu_ns: u64,
    is_good: bool,
    is_root: bool,
}

impl Sums {
    fn add(&mut self, row: &Counted) {
        self.elapsed.add(row.elapsed_ns);
        self.elapsed_squares += (row.elapsed_ns as f64) * (row.elapsed_ns as f64);
        match row.since_root_ns.map(u64::try_from) {
            Some(Ok(ns)) => {
                self.since_root.add(ns);
                self.since_root_squares += (ns as f64) * (ns as f64);
            }
            Some(Err(_)) => self.before_root += 1,
            None => {}
        }
        self.cpu_ns = self.cpu_ns.saturating_add(row.cpu_ns);
        self.not_good += u64::from(!row.is_good);
        self.roots += u64::from(row.is_root);
    }

    fn row(self, minute: Minute, [application, class, path]: [String; 3]) -> SketchRow {
        SketchRow {
            minute,
            application,
            class,
            path,
            elapsed: self.elapsed,
            elapsed_squares: self.elapsed_squares,
            since_root: self.since_root,
            since_root_squares: self.since_root_squares,
            before_root: self.before_root,
            cpu_ns: self.cpu_ns,
            not_good: self.not_good,
            roots: Some(self.roots),
        }
    }
}

/// Counts transactions, which have names for ids, into sketches.
#[derive(Default)]
pub(crate) struct TransactionSketches(BTreeMap<[String; 3], Sums>);

impl TransactionSketches {
    /// Counts a row.
    pub(crate) fn add(&mut self, t: &Transaction) {
        let key = [t.path.clone(), t.class.application.clone(), t.class.class.clone()];
        let end_ns = t.start_ns.saturating_add_unsigned(t.elapsed_ns);
        self.0.entry(key).or_default().add(&Counted {
            elapsed_ns: t.elapsed_ns,
            since_root_ns: t.root_start_ns.map(|root_ns| end_ns.saturating_sub(root_ns)),
            cpu_ns: t.cpu_ns,
            is_good: t.status == Status::Good,
            is_root: t.parent.is_none(),
        });
    }

    /// The sketches, by class and path.
    pub(crate) fn rows(self, minute: Minute) -> Vec<SketchRow> {
        let row = |([path, application, class], sums): ([String; 3], Sums)| {
            sums.row(minute, [application, class, path])
        };
        self.0.into_iter().map(row).collect()
    }
}

/// Counts rows into sketches.
#[derive(Default)]
pub(crate) struct Sketches {
    sums: Vec<Sums>,
    by_path: IdMap<usize>,
}

impl Sketches {
    /// Counts all of `rows`.
    pub(crate) fn of(rows: &Rows) -> Self {
        let mut sketches = Self::default();
        for record in &rows.records {
            sketches.add(record);
        }
        sketches
    }

    fn add(&mut self, record: &Record) {
        // A native path ends in the class; foreign rows have no path and are told apart by class.
        let key = if record.path.is_none() { record.class.0 } else { record.path.0 };
        let index = *self.by_path.entry(key).or_insert_with(|| {
            self.sums.push(Sums { record: Some(*record), ..Sums::default() });
            self.sums.len() - 1
        });
        self.sums[index].add(&Counted {
            elapsed_ns: record.elapsed_ns,
            since_root_ns: record.since_root_ns(),
            cpu_ns: record.cpu_ns,
            is_good: record.status == 0,
            is_root: record.parent.is_none(),
        });
    }

    /// The sketches in words, by class and path.
    pub(crate) fn rows(self, minute: Minute, names: &Names) -> Vec<SketchRow> {
        let named = |sums: Sums| {
            let record = sums.record?;
            let name = names.class(record.class);
            let words = [
                name.map_or(String::new(), |name| name.application.clone()),
                name.map_or_else(|| format!("?{}", record.class), |name| name.class.clone()),
                names.path_text(record.path),
            ];
            Some(sums.row(minute, words))
        };
        let mut rows: Vec<_> = self.sums.into_iter().filter_map(named).collect();
        rows.sort_by(|a, b| {
            (&a.path, &a.application, &a.class).cmp(&(&b.path, &b.application, &b.class))
        });
        rows
    }
}

/// Adds up rows about the same class and path.
pub(crate) fn merge(mut rows: Vec<SketchRow>) -> Vec<SketchRow> {
    rows.sort_by(|a, b| {
        (&a.path, &a.application, &a.class).cmp(&(&b.path, &b.application, &b.class))
    });
    rows.dedup_by(|row, into| {
        let same = (&row.path, &row.application, &row.class)
            == (&into.path, &into.application, &into.class);
        if same {
            into.elapsed.merge(&row.elapsed);
            into.elapsed_squares += row.elapsed_squares;
            into.since_root.merge(&row.since_root);
            into.since_root_squares += row.since_root_squares;
            into.before_root += row.before_root;
            into.cpu_ns = into.cpu_ns.saturating_add(row.cpu_ns);
            into.not_good += row.not_good;
            into.roots = into.roots.zip(row.roots).map(|(own, other)| own + other);
        }
        same
    });
    rows
}

/// The columns of a sketch file. Times in nanoseconds; `*_buckets` are the numbers of the
/// histogram's buckets that counted anything and `*_counts` their counts.
fn sketch_schema() -> SchemaRef {
    let instant = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    let mut fields = vec![
        Field::new("minute", instant, false),
        Field::new("application", DataType::Utf8, false),
        Field::new("class", DataType::Utf8, false),
        Field::new("path", DataType::Utf8, false),
        Field::new("cpu_ns", DataType::Int64, false),
        Field::new("not_good", DataType::Int64, false),
        Field::new("before_root", DataType::Int64, false),
    ];
    let list = |kind| DataType::List(Arc::new(Field::new("element", kind, false)));
    for of in ["elapsed", "since_root"] {
        fields.push(Field::new(format!("{of}_count"), DataType::Int64, false));
        fields.push(Field::new(format!("{of}_sum"), DataType::Float64, false));
        fields.push(Field::new(format!("{of}_squares"), DataType::Float64, false));
        fields.push(Field::new(format!("{of}_min"), DataType::Int64, true));
        fields.push(Field::new(format!("{of}_max"), DataType::Int64, true));
        fields.push(Field::new(format!("{of}_buckets"), list(DataType::Int32), false));
        fields.push(Field::new(format!("{of}_counts"), list(DataType::Int64), false));
    }
    fields.push(Field::new("roots", DataType::Int64, true));
    Arc::new(Schema::new(fields))
}

/// Writes a sketch file.
pub(crate) fn write_sketch(
    disk: &Disk,
    path: &Path,
    slot: Slot,
    rows: &[SketchRow],
) -> Result<Written, StoreError> {
    let start = slot.minute.start_ns();
    let text = |of: fn(&SketchRow) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
    };
    let total = |of: fn(&SketchRow) -> u64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| of(row).cast_signed())))
    };
    let minutes = rows.iter().map(|_| start);
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(TimestampNanosecondArray::from_iter_values(minutes).with_timezone("UTC")),
        text(|row| &row.application),
        text(|row| &row.class),
        text(|row| &row.path),
        total(|row| row.cpu_ns),
        total(|row| row.not_good),
        total(|row| row.before_root),
    ];
    let elapsed = rows.iter().map(|row| (&row.elapsed, row.elapsed_squares));
    push_histograms(&mut columns, &elapsed.collect::<Vec<_>>());
    let since_root = rows.iter().map(|row| (&row.since_root, row.since_root_squares));
    push_histograms(&mut columns, &since_root.collect::<Vec<_>>());
    let roots = rows.iter().map(|row| row.roots.map(u64::cast_signed));
    columns.push(Arc::new(Int64Array::from_iter(roots)));
    let schema = sketch_schema();
    let batch = RecordBatch::try_new(schema.clone(), columns);
    let batch = batch.map_err(|error| parquet_error(path, error.into()))?;
    let mut writer = SegmentWriter::begin(disk, path, schema, properties())?;
    writer.write(&batch)?;
    writer.finish()
}

/// Without a compressor: a reader makes one and a decompressor for each of the columns, which for a
/// file of this size takes as long as everything else. What there is much of, buckets and their
/// counts, ascends or is small, and is as short in deltas.
fn properties() -> WriterProperties {
    let mut properties = common_properties()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false);
    for of in ["elapsed", "since_root"] {
        for list in ["buckets", "counts"] {
            let leaf = [format!("{of}_{list}"), "list".to_owned(), "element".to_owned()];
            let column = ColumnPath::new(leaf.to_vec());
            properties = properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    properties.build()
}

fn push_histograms(columns: &mut Vec<ArrayRef>, histograms: &[(&Histogram, f64)]) {
    let integers = |of: fn(&Histogram) -> Option<u64>| -> ArrayRef {
        let values = histograms.iter().map(|(h, _)| of(h).map(u64::cast_signed));
        Arc::new(Int64Array::from_iter(values))
    };
    let sums = histograms.iter().map(|(h, _)| h.sum() as f64);
    let squares = histograms.iter().map(|(_, squares)| *squares);
    let field = |kind| Arc::new(Field::new("element", kind, false));
    let mut buckets = ListBuilder::new(Int32Builder::new()).with_field(field(DataType::Int32));
    let mut counts = ListBuilder::new(Int64Builder::new()).with_field(field(DataType::Int64));
    for (histogram, _) in histograms {
        for (index, count) in histogram.buckets() {
            buckets.values().append_value(i32::try_from(index).unwrap_or(i32::MAX));
            counts.values().append_value(count.cast_signed());
        }
        buckets.append(true);
        counts.append(true);
    }
    columns.push(integers(|h| Some(h.count())));
    columns.push(Arc::new(Float64Array::from_iter_values(sums)));
    columns.push(Arc::new(Float64Array::from_iter_values(squares)));
    columns.push(integers(Histogram::min));
    columns.push(integers(Histogram::max));
    columns.push(Arc::new(buckets.finish()));
    columns.push(Arc::new(counts.finish()));
}

/// Reads the sketches of a segment.
///
/// # Errors
/// [`StoreError::Io`] when their file cannot be read, [`StoreError::Parquet`] or
/// [`StoreError::Damaged`] when it is no sketch file or does not match its checksums.
pub fn read_sketch(segment: &Segment) -> Result<Vec<SketchRow>, StoreError> {
    read(segment, Wanted::All)
}

/// Reads of a sketch file how long chains take along its paths, which costs a third of it all:
/// application, class, path and `since_root` of each row, the rest being empty.
///
/// # Errors
/// As [`read_sketch`].
pub fn read_since_root(segment: &Segment) -> Result<Vec<SketchRow>, StoreError> {
    read(segment, Wanted::SinceRoot)
}

/// Selects the columns to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    SinceRoot,
}

/// The columns of [`Wanted::SinceRoot`].
const SINCE_ROOT: [&str; 9] = [
    "minute",
    "application",
    "class",
    "path",
    "since_root_sum",
    "since_root_min",
    "since_root_max",
    "since_root_buckets",
    "since_root_counts",
];

fn read(segment: &Segment, wanted: Wanted) -> Result<Vec<SketchRow>, StoreError> {
    let path = &segment.sketch_path;
    let (file, metadata) = open_checked(path, segment.sketch_tail, ArrowReaderOptions::new())?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let builder = match wanted {
        Wanted::All => builder,
        Wanted::SinceRoot => {
            let mask = ProjectionMask::columns(builder.parquet_schema(), SINCE_ROOT);
            builder.with_projection(mask)
        }
    };
    let reader = builder.build().map_err(|error| parquet_error(path, error))?;
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.map_err(|error| parquet_error(path, error.into()))?;
        for index in 0..batch.num_rows() {
            let row = read_row(&batch, index, wanted);
            rows.push(
                row.ok_or_else(|| StoreError::damaged(path, 0, "not the columns of a sketch"))?,
            );
        }
    }
    Ok(rows)
}

fn read_row(batch: &RecordBatch, index: usize, wanted: Wanted) -> Option<SketchRow> {
    let text = |name: &str| {
        Some(batch.column_by_name(name)?.as_string_opt::<i32>()?.value(index).to_owned())
    };
    let total = |name: &str| {
        let column = batch.column_by_name(name)?.as_primitive_opt::<Int64Type>()?;
        Some(column.value(index).cast_unsigned())
    };
    let real = |name: &str| {
        Some(batch.column_by_name(name)?.as_primitive_opt::<Float64Type>()?.value(index))
    };
    let histogram = |of: &str| {
        let buckets = batch.column_by_name(&format!("{of}_buckets"))?.as_list_opt::<i32>()?;
        let counts = batch.column_by_name(&format!("{of}_counts"))?.as_list_opt::<i32>()?;
        let (buckets, counts) = (buckets.value(index), counts.value(index));
        let buckets = buckets.as_primitive_opt::<Int32Type>()?;
        let counts = counts.as_primitive_opt::<Int64Type>()?;
        let mut histogram = Histogram::default();
        for (bucket, count) in buckets.values().iter().zip(counts.values()) {
            let bucket = usize::try_from(*bucket).ok().filter(|bucket| *bucket < BUCKET_COUNT)?;
            histogram.add_bucket(bucket, count.cast_unsigned());
        }
        if histogram.count() > 0 {
            let sum = real(&format!("{of}_sum"))?;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
            let sum = sum as u128;
            histogram.set_exact(sum, total(&format!("{of}_min"))?, total(&format!("{of}_max"))?);
        }
        Some(histogram)
    };
    let minute = batch.column_by_name("minute")?.as_primitive_opt::<TimestampNanosecondType>()?;
    let row = SketchRow {
        minute: Minute::of(minute.value(index)),
        application: text("application")?,
        class: text("class")?,
        path: text("path")?,
        since_root: histogram("since_root")?,
        elapsed: Histogram::default(),
        elapsed_squares: 0.0,
        since_root_squares: 0.0,
        before_root: 0,
        cpu_ns: 0,
        not_good: 0,
        roots: None,
    };
    if wanted == Wanted::SinceRoot {
        return Some(row);
    }
    Some(SketchRow {
        elapsed: histogram("elapsed")?,
        elapsed_squares: real("elapsed_squares")?,
        since_root_squares: real("since_root_squares")?,
        before_root: total("before_root")?,
        cpu_ns: total("cpu_ns")?,
        not_good: total("not_good")?,
        roots: match batch.column_by_name("roots") {
            None => None,
            Some(column) => {
                let column = column.as_primitive_opt::<Int64Type>()?;
                column.is_valid(index).then(|| column.value(index).cast_unsigned())
            }
        },
        ..row
    })
}
