//! Rows as the columns of the schema.

use super::dictionaries::{ClassWords, Dictionaries, Dictionary, PathWords, ProcessWords};
use super::extras::ExtraColumns;
use super::order::{Order, Sorted, sort};
use crate::rows::Rows;
use arrow_array::builder::{Float64Builder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array, new_null_array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::ArrowError;
use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Batch, Extras, Flags, NO_PROCESS_CPU, Names, ProcessId, Record, Status,
    schema::{self, column},
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Rows that are turned into columns at a time: their records fit into a core's cache, through
/// which each of the columns goes.
pub(crate) const CHUNK_ROWS: usize = 8192;

/// A slot's rows on their way into a segment: sorted, linked, with their words.
pub(crate) struct Columns<'a> {
    rows: &'a Rows,
    words: Dictionaries,
    /// Of the rows' processes, those that have one.
    process_contexts: HashMap<ProcessId, Vec<u8>>,
    values: Values,
    sorted: Vec<Sorted>,
}

/// The dictionaries' values, shared by all chunks.
struct Values {
    application: Arc<StringArray>,
    class: Arc<StringArray>,
    host: Arc<StringArray>,
    status: Arc<StringArray>,
    path: Arc<StringArray>,
    root_application: Arc<StringArray>,
    root_class: Arc<StringArray>,
    root_host: Arc<StringArray>,
}

/// Names of a row's ids.
#[derive(Clone, Copy)]
struct RowWords {
    class: ClassWords,
    process: ProcessWords,
    path: PathWords,
    root_process: ProcessWords,
}

const NO_CLASS: ClassWords = ClassWords { application: 0, class: 0 };
const NO_PROCESS: ProcessWords = ProcessWords { host: 0, root_host: 0, pid: 0 };
const NO_PATH: PathWords = PathWords { path: 0, root: None, rank: 0 };

/// Gives rows to `each` as record batches of [`schema::transactions`], some thousand at a time, in
/// the order of a segment. Each row's `links` say what the rows of `batch` say about its chain.
///
/// # Errors
/// [`ArrowError`] when the columns do not fit the schema, and what `each` returns.
pub fn each_schema_batch(
    batch: &Batch,
    names: &Names,
    order: Order,
    mut each: impl FnMut(RecordBatch) -> Result<(), ArrowError>,
) -> Result<(), ArrowError> {
    let rows = Rows::of(batch);
    Columns::new(&rows, names, order).batches().try_for_each(|columns| each(columns?))
}

impl<'a> Columns<'a> {
    /// Sorts and links `rows`.
    pub(crate) fn new(rows: &'a Rows, names: &Names, order: Order) -> Self {
        let words = Dictionaries::of(rows, names);
        let sorted = sort(rows, &words, order);
        let process_contexts = process_contexts(rows, names);
        let of = Dictionary::values;
        let values = Values {
            application: of(&words.application),
            class: of(&words.class),
            host: of(&words.host),
            status: of(&words.status),
            path: of(&words.path),
            root_application: of(&words.root_application),
            root_class: of(&words.root_class),
            root_host: of(&words.root_host),
        };
        Self { rows, words, process_contexts, values, sorted }
    }

    /// The rows as record batches, in the order of the segment.
    pub(crate) fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
        let mut records = Vec::with_capacity(CHUNK_ROWS);
        let mut words = Vec::with_capacity(CHUNK_ROWS);
        self.sorted.chunks(CHUNK_ROWS).map(move |chunk| {
            records.clear();
            records.extend(chunk.iter().map(|row| self.rows.records[row.index as usize]));
            self.look_up(&records, &mut words);
            self.batch(chunk, &records, &words)
        })
    }

    fn look_up(&self, records: &[Record], words: &mut Vec<RowWords>) {
        words.clear();
        let mut last: Option<(&Record, RowWords)> = None;
        for record in records {
            let process = |id: u64| *self.words.processes.get(&id).unwrap_or(&NO_PROCESS);
            // In the order of the file a path goes on for long, processes take turns.
            let (class, path) = match last {
                Some((before, words))
                    if before.path == record.path && before.class == record.class =>
                {
                    (words.class, words.path)
                }
                _ => (
                    *self.words.classes.get(&record.class.0).unwrap_or(&NO_CLASS),
                    *self.words.paths.get(&record.path.0).unwrap_or(&NO_PATH),
                ),
            };
            let of = RowWords {
                class,
                path,
                process: process(record.process.0),
                root_process: process(record.root_process.0),
            };
            words.push(of);
            last = Some((record, of));
        }
    }

    fn batch(
        &self,
        chunk: &[Sorted],
        records: &[Record],
        words: &[RowWords],
    ) -> Result<RecordBatch, ArrowError> {
        let v = &self.values;
        let native = natives(records);
        let native = native.as_ref();
        let rooted = nulls(records.len(), |row| {
            words[row].path.root.is_some() && !records[row].flags().contains(Flags::FOREIGN)
        });
        let rooted = Some(&rooted).filter(|rooted| rooted.null_count() > 0);
        let root = |words: &RowWords| words.path.root.unwrap_or(NO_CLASS);
        let said = match self.nothing_said(records) {
            Some(columns) => columns,
            None => self.said(records)?,
        };
        let mut columns: Vec<ArrayRef> = vec![
            word(words.iter().map(|w| w.class.application), None, &v.application)?,
            word(words.iter().map(|w| w.class.class), None, &v.class)?,
            word(words.iter().map(|w| w.process.host), None, &v.host)?,
            Arc::new(UInt32Array::from_iter_values(words.iter().map(|w| w.process.pid))),
            Arc::new(UInt32Array::from_iter_values(records.iter().map(|r| r.thread))),
            instants(records.iter().map(|r| r.start_ns), None),
            numbers(records.iter().map(|r| signed(r.elapsed_ns))),
            numbers(records.iter().map(|r| signed(r.cpu_ns))),
            process_cpu(records),
            word(
                records.iter().map(|r| i32::from(r.status).min(Status::Unknown as i32)),
                None,
                &v.status,
            )?,
            ids(records.iter().map(|r| r.id.0)),
            ids(records.iter().map(|r| r.parent.0)),
            ids(records.iter().map(|r| r.chain_high)),
            ids(records.iter().map(|r| r.chain_low)),
            Arc::new(UInt8Array::from_iter_values(records.iter().map(|r| r.flags))),
            Arc::new(UInt16Array::from_iter_values(records.iter().map(|r| r.level))),
            word(words.iter().map(|w| w.path.path), None, &v.path)?,
            word(words.iter().map(|w| root(w).application), rooted, &v.root_application)?,
            word(words.iter().map(|w| root(w).class), rooted, &v.root_class)?,
            instants(records.iter().map(|r| r.root_start_ns), native),
            word(words.iter().map(|w| w.root_process.root_host), native, &v.root_host)?,
            Arc::new(UInt32Array::new(
                words.iter().map(|w| w.root_process.pid).collect(),
                native.cloned(),
            )),
            Arc::new(UInt8Array::from_iter_values(chunk.iter().map(|row| row.links))),
        ];
        columns.extend(said);
        RecordBatch::try_new(schema::transactions(), columns)
    }

    /// The columns of what contexts say, of rows without contexts, which most are.
    fn nothing_said(&self, records: &[Record]) -> Option<Vec<ArrayRef>> {
        let has_context = |record: &Record| {
            record.context_len > 0
                || !self.process_contexts.is_empty()
                    && self.process_contexts.contains_key(&record.process)
        };
        if records.iter().any(has_context) {
            return None;
        }
        let schema = schema::transactions();
        let fields = schema.fields().iter().skip_while(|field| field.name() != column::PROPERTIES);
        Some(fields.map(|field| new_null_array(field.data_type(), records.len())).collect())
    }

    /// The columns of what contexts say: from `properties` on.
    fn said(&self, records: &[Record]) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut extras = ExtraColumns::default();
        records.iter().for_each(|record| extras.add(&Extras::of(self.rows.context(record))));
        let mut columns = vec![self.properties(records)?, self.metrics(records)?];
        columns.extend(extras.finish()?);
        Ok(columns)
    }

    /// The entries of a row: its own, then those of its process, as
    /// [`Names::entries`] has them.
    fn entries(&self, record: &Record) -> impl Iterator<Item = ContextEntry<'_>> {
        let of_process = self.process_contexts.get(&record.process).map_or(&[][..], Vec::as_slice);
        context::entries(self.rows.context(record)).chain(context::entries(of_process))
    }

    fn properties(&self, records: &[Record]) -> Result<ArrayRef, ArrowError> {
        let mut maps =
            MapBuilder::new(Some(map_names()), StringBuilder::new(), StringBuilder::new());
        for record in records {
            let mut any = false;
            for entry in self.entries(record) {
                if let ContextEntry::Property(key, value) = entry {
                    maps.keys().append_value(key);
                    maps.values().append_value(value);
                    any = true;
                }
            }
            maps.append(any)?;
        }
        Ok(Arc::new(maps.finish()))
    }

    fn metrics(&self, records: &[Record]) -> Result<ArrayRef, ArrowError> {
        let mut maps =
            MapBuilder::new(Some(map_names()), StringBuilder::new(), Float64Builder::new());
        for record in records {
            let mut any = false;
            for entry in self.entries(record) {
                if let ContextEntry::Metric(key, value) = entry {
                    maps.keys().append_value(key);
                    maps.values().append_value(value);
                    any = true;
                }
            }
            maps.append(any)?;
        }
        Ok(Arc::new(maps.finish()))
    }
}

/// The contexts of the processes of some rows.
fn process_contexts(rows: &Rows, names: &Names) -> HashMap<ProcessId, Vec<u8>> {
    if names.process_contexts().next().is_none() {
        return HashMap::new();
    }
    let processes: HashSet<ProcessId> = rows.records.iter().map(|row| row.process).collect();
    let of = |id| Some((id, names.process_context(id).to_vec()));
    processes.into_iter().filter_map(of).filter(|(_, context)| !context.is_empty()).collect()
}

/// The names that the schema gives to the parts of a map.
fn map_names() -> MapFieldNames {
    MapFieldNames { entry: "entries".into(), key: "keys".into(), value: "values".into() }
}

/// Marks the records that know their root; `None` when all do.
fn natives(records: &[Record]) -> Option<NullBuffer> {
    if !records.iter().any(|record| record.flags().contains(Flags::FOREIGN)) {
        return None;
    }
    Some(nulls(records.len(), |row| !records[row].flags().contains(Flags::FOREIGN)))
}

/// Marks those of `count` rows that have a value; works on 64 rows at a time.
fn nulls(count: usize, is_known: impl FnMut(usize) -> bool) -> NullBuffer {
    NullBuffer::new(BooleanBuffer::collect_bool(count, is_known))
}

fn word(
    keys: impl Iterator<Item = i32>,
    nulls: Option<&NullBuffer>,
    values: &Arc<StringArray>,
) -> Result<ArrayRef, ArrowError> {
    let keys = Int32Array::new(keys.collect(), nulls.cloned());
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values.clone())?))
}

fn instants(stamps: impl Iterator<Item = i64>, nulls: Option<&NullBuffer>) -> ArrayRef {
    let stamps = TimestampNanosecondArray::new(stamps.collect(), nulls.cloned());
    Arc::new(stamps.with_timezone("UTC"))
}

fn numbers(numbers: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(numbers))
}

fn ids(ids: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(ids))
}

/// Saturating: 292 years are enough for a duration.
fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

fn process_cpu(records: &[Record]) -> ArrayRef {
    let known = |record: &Record| record.process_cpu_ns != NO_PROCESS_CPU;
    let nulls = nulls(records.len(), |row| known(&records[row]));
    let values = records.iter().map(|r| if known(r) { signed(r.process_cpu_ns) } else { 0 });
    Arc::new(Int64Array::new(values.collect(), Some(nulls)))
}
