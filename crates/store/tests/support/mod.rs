//! Common part of the store's tests: chains to store, and words for the content of a store.
#![allow(dead_code, unreachable_pub)] // every test uses some of it
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

use chronoscope_model::{
    Batch, ChainId, ClassId, ClassName, Extras, Flags, FurtherParent, Names, ParentRoot, PathId,
    ProcessId, ProcessName, Record, TransactionId,
};
use chronoscope_store::{Append, MINUTE_NS, Options, Snapshot, Store};
use std::path::Path;

/// The steps of a chain of the radar system, root first.
pub const STEPS: [(&str, &str); 5] = [
    ("MRTS", "decodePlots"),
    ("MRTS", "Correlate"),
    ("MSG", "TrackStore_updateTrack"),
    ("CWP", "TrackStore_updateTrack"),
    ("CWP", "TargetView_redraw"),
];

/// Names, and chains in arrival order.
pub struct Chains {
    pub names: Names,
    paths: Vec<PathId>,
    classes: Vec<ClassId>,
    processes: Vec<ProcessId>,
    next: u64,
}

impl Default for Chains {
    fn default() -> Self {
        let mut names = Names::default();
        let (mut paths, mut classes, mut processes) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (application, class)) in STEPS.into_iter().enumerate() {
            names.add_class(ClassName { application: application.into(), class: class.into() });
            classes.push(ClassId::of(application, class));
            let path = PathId::of(&classes);
            names.add_path(path, classes.clone());
            paths.push(path);
            let process = ProcessName {
                application: application.into(),
                host: format!("host-{}", index / 2),
                pid: 100 + index as u32,
                start_ns: 1,
            };
            processes.push(process.id());
            names.add_process(process);
        }
        Self { names, paths, classes, processes, next: 1 }
    }
}

impl Chains {
    /// The next row's id will be `id`.
    pub fn count_from(&mut self, id: u64) {
        self.next = id;
    }

    /// One chain of five rows whose root starts at `root_start_ns`; `id`s count up from the last.
    pub fn chain(&mut self, root_start_ns: i64) -> Vec<Record> {
        let first = self.next;
        self.next += 5;
        (0..5u64)
            .map(|step| {
                let index = step as usize;
                Record {
                    start_ns: root_start_ns + step as i64 * 1_000_000,
                    elapsed_ns: 500_000 + first % 1000,
                    cpu_ns: 400_000,
                    process_cpu_ns: chronoscope_model::NO_PROCESS_CPU,
                    chain_high: 77,
                    chain_low: first,
                    id: TransactionId(first + step),
                    parent: TransactionId(if step == 0 { 0 } else { first + step - 1 }),
                    class: self.classes[index],
                    path: self.paths[index],
                    root_start_ns,
                    root_process: self.processes[0],
                    process: self.processes[index],
                    context_offset: 0,
                    context_len: 0,
                    level: step as u16,
                    thread: 9,
                    status: 0,
                    flags: if step == 0 { 0 } else { Flags::ASYNCHRONOUS.0 },
                    reserved: 0,
                }
            })
            .collect()
    }

    /// `count` chains, all in minute `minute`, as one batch; every row has its id as a property.
    pub fn batch(&mut self, minute: i64, count: u64) -> Batch {
        let mut batch = Batch::default();
        for n in 0..count {
            for record in self.chain(minute * MINUTE_NS + n as i64 * 1_000_000) {
                push(&mut batch, record);
            }
        }
        batch
    }
}

/// Adds a record with its id as a property, and what few rows have where the id says so.
pub fn push(batch: &mut Batch, record: Record) {
    let mut bytes = [0; 256];
    let text = record.id.to_string();
    let entry = chronoscope_model::context::ContextEntry::Property("id", &text);
    let len = chronoscope_model::context::append(&mut bytes, 0, entry).unwrap();
    let len = chronoscope_model::context::append(
        &mut bytes,
        len,
        chronoscope_model::context::ContextEntry::Metric("half", record.id.0 as f64 / 2.0),
    )
    .unwrap();
    let len = extras(record.id.0).entries().fold(len, |len, entry| {
        chronoscope_model::context::append(&mut bytes, len, entry).unwrap()
    });
    batch.push(record, &bytes[..len]);
}

/// The fields of the row with this id that few rows have.
pub fn extras(id: u64) -> Extras {
    // Kept files, which are read for ever, have rows up to here.
    let is_new = id > 15;
    let every = |n: u64| (is_new && id.is_multiple_of(n)).then_some(id);
    let foreign =
        FurtherParent { chain: ChainId::from_halves(1, id), id: TransactionId(id + 7), root: None };
    let root =
        ParentRoot { start_ns: -5, process: ProcessId(u64::MAX), level: 3, path: PathId(id) };
    let native = FurtherParent { root: Some(root), ..foreign };
    Extras {
        arrival_ns: every(3).map(u64::cast_signed),
        run_queue_ns: every(4),
        blocked_ns: every(6),
        sampling_threshold: every(7).map(|id| (1 << 56) - id),
        further_parents: every(5).map_or_else(Vec::new, |_| vec![foreign, native, foreign]),
    }
}

/// The same records without ancestors.
pub fn foreign(batch: &Batch) -> Batch {
    let mut foreign = Batch::default();
    for record in batch.records() {
        let mut record = *record;
        record.flags |= Flags::FOREIGN.0;
        record.path = PathId::NONE;
        record.root_process = ProcessId::NONE;
        record.root_start_ns = record.start_ns;
        record.level = 0;
        push(&mut foreign, record);
    }
    foreign
}

/// Opens the store in `dir` at minute `now`.
pub fn open(dir: &Path, options: Options, now: i64) -> Store {
    Store::open(dir, options, now * MINUTE_NS).unwrap()
}

/// Appends a batch with its names at minute `now`.
pub fn append(store: &Store, chains: &Chains, batch: &Batch, now: i64) {
    let input = Append { batch: Some(batch), names: Some(&chains.names), ..Append::default() };
    store.append(&input, now * MINUTE_NS).unwrap();
}

/// Maintains until nothing is to be done; what was done in all.
pub fn maintain(store: &Store, now: i64) -> chronoscope_store::Maintained {
    let mut all = chronoscope_store::Maintained::default();
    loop {
        let done = store.maintain(now * MINUTE_NS).unwrap();
        all.sealed_rows += done.sealed_rows;
        all.sealed_segments += done.sealed_segments;
        all.merged_rows += done.merged_rows;
        all.expired_rows += done.expired_rows;
        if !done.again {
            return all;
        }
    }
}

/// The ids of all rows, ascending, sealed and unsealed: doubles show.
pub fn ids(dir: &Path) -> Vec<u64> {
    let snapshot = Snapshot::open(dir).unwrap();
    let mut ids: Vec<u64> = snapshot.unsealed().records().iter().map(|r| r.id.0).collect();
    for segment in snapshot.segments() {
        ids.extend(column::<arrow_array::types::UInt64Type>(&segment.path, "id"));
    }
    ids.sort_unstable();
    ids
}

/// A column of numbers of a segment, in the order of the file.
pub fn column<T: arrow_array::types::ArrowPrimitiveType>(
    path: &Path,
    name: &str,
) -> Vec<T::Native> {
    use arrow_array::cast::AsArray;
    let file = std::fs::File::open(path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let mut values = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        values.extend(batch.column_by_name(name).unwrap().as_primitive::<T>().values().iter());
    }
    values
}

/// A column of words of a segment, in the order of the file.
pub fn words(path: &Path, name: &str) -> Vec<Option<String>> {
    use arrow_array::cast::AsArray;
    let file = std::fs::File::open(path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let mut values = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column = batch.column_by_name(name).unwrap();
        let column = column.as_dictionary::<arrow_array::types::Int32Type>();
        let column = column.downcast_dict::<arrow_array::StringArray>().unwrap();
        values.extend(column.into_iter().map(|word| word.map(str::to_owned)));
    }
    values
}
