//! Rows of an answer as records with their contexts, as the files' log has them.

use super::names::ClusterNames;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, ListArray, StringArray, UInt64Array};
use chronoscope_clickhouse::{ClickHouseError, ResultRows};
use chronoscope_model::context::{self, ContextEntry, STORED_MAX_BYTES};
use chronoscope_model::schema::column;
use chronoscope_model::{
    Batch, ChainId, ClassId, ClassName, Extras, NO_PROCESS_CPU, Names, PathId, ProcessId,
    ProcessName, Record, Status, TransactionId,
};
use chronoscope_store::Slot;
use chronoscope_store::segment_file::further_parents;
use std::collections::{BTreeMap, HashMap};

/// The columns that are read.
pub(super) const COLUMNS: &str = "application, class, host, process, thread, \
    toUnixTimestamp64Nano(start) AS start_ns, elapsed_ns, cpu_ns, process_cpu_ns, status, id, \
    parent, chain_high, chain_low, flags, level, path, \
    toUnixTimestamp64Nano(root_start) AS root_start_ns, ifNull(root_host, '') AS root_host_text, \
    root_process, toUnixTimestamp64Nano(arrival) AS arrival_ns, run_queue_ns, blocked_ns, \
    sampling_threshold, further_parents, \
    CAST(mapKeys(properties), 'Array(String)') AS property_keys, \
    mapValues(properties) AS property_values, \
    CAST(mapKeys(metrics), 'Array(String)') AS metric_keys, mapValues(metrics) AS metric_values";

/// Rows by slot, with the names that they need to be sealed.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) slots: BTreeMap<Slot, Batch>,
    /// Names of classes, and of processes by host and number.
    pub(super) names: Names,
    /// Rows in [`Self::slots`].
    pub(super) rows: u64,
    words: Words,
}

/// Ids of words that came before.
#[derive(Debug, Default)]
struct Words {
    /// By application and class.
    classes: HashMap<String, HashMap<String, ClassId>>,
    /// The row before has mostly the same path.
    path: (String, PathId),
    /// By host and number.
    processes: HashMap<String, HashMap<u32, ProcessId>>,
    statuses: HashMap<String, Status>,
    context: Vec<u8>,
}

/// Why rows could not be taken in.
pub(super) enum NotDecoded {
    /// A row's path was named after the names were read.
    NewPath,
    Strange(ClickHouseError),
}

impl From<ClickHouseError> for NotDecoded {
    fn from(error: ClickHouseError) -> Self {
        Self::Strange(error)
    }
}

impl Decoded {
    /// Adds the rows of an answer.
    pub(super) fn add(
        &mut self,
        rows: &ResultRows<'_>,
        known: &ClusterNames,
    ) -> Result<(), NotDecoded> {
        let columns = Columns::of(rows)?;
        for row in 0..rows.batch.num_rows() {
            let record = self.record(&columns, row, known)?;
            let len = columns.context(row, &mut self.words.context).ok_or_else(|| {
                rows.node.unexpected_column("properties, metrics or further_parents")
            })?;
            let batch = self.slots.entry(Slot::of(&record)).or_default();
            batch.push(record, &self.words.context[..len]);
        }
        self.rows += rows.batch.num_rows() as u64;
        Ok(())
    }

    fn record(
        &mut self,
        of: &Columns<'_>,
        row: usize,
        known: &ClusterNames,
    ) -> Result<Record, NotDecoded> {
        let process = self.process(of.host.value(row), of.process[row]);
        let root_process = self.process(of.root_host.value(row), of.root_process[row]);
        let status = self.words.status(of.status.value(row));
        let process_cpu = of.process_cpu;
        let chain = ChainId::from_halves(of.chain_high[row], of.chain_low[row]);
        let chain = known.aliases.resolve(chain);
        Ok(Record {
            start_ns: of.start[row],
            elapsed_ns: of.elapsed[row].cast_unsigned(),
            cpu_ns: of.cpu[row].cast_unsigned(),
            process_cpu_ns: match process_cpu.is_valid(row) {
                true => process_cpu.value(row).cast_unsigned(),
                false => NO_PROCESS_CPU,
            },
            chain_high: chain.high(),
            chain_low: chain.low(),
            id: TransactionId(of.id[row]),
            parent: TransactionId(of.parent[row]),
            class: self.class(of.application.value(row), of.class.value(row)),
            path: self.words.path(of.path.value(row), known)?,
            root_start_ns: of.root_start[row],
            root_process,
            process,
            context_offset: 0,
            context_len: 0,
            level: of.level[row],
            thread: of.thread[row],
            status: status as u8,
            flags: of.flags[row],
            reserved: 0,
        })
    }

    fn class(&mut self, application: &str, class: &str) -> ClassId {
        let known = self.words.classes.get(application).and_then(|classes| classes.get(class));
        if let Some(id) = known {
            return *id;
        }
        // A class that nobody named is stored under its number.
        let number = class.strip_prefix('?').filter(|_| application.is_empty());
        let number = number.and_then(|number| u64::from_str_radix(number, 16).ok());
        let id = number.map_or_else(|| ClassId::of(application, class), ClassId);
        let name = ClassName { application: application.to_owned(), class: class.to_owned() };
        self.words.classes.entry(name.application.clone()).or_default().insert(class.into(), id);
        if number.is_none() {
            self.names.add_class(name);
        }
        id
    }

    /// A process by the host and the number that rows say: nothing else of it is in a segment.
    fn process(&mut self, host: &str, pid: u32) -> ProcessId {
        if host.is_empty() && pid == 0 {
            return ProcessId::NONE;
        }
        let known = self.words.processes.get(host).and_then(|processes| processes.get(&pid));
        if let Some(id) = known {
            return *id;
        }
        let (application, host) = (String::new(), host.to_owned());
        let name = ProcessName { application, host, pid, start_ns: 0 };
        let id = name.id();
        self.words.processes.entry(name.host.clone()).or_default().insert(pid, id);
        self.names.add_process(name);
        id
    }
}

impl Words {
    fn status(&mut self, text: &str) -> Status {
        if let Some(status) = self.statuses.get(text) {
            return *status;
        }
        let status = text.parse().unwrap_or(Status::Unknown);
        self.statuses.insert(text.to_owned(), status);
        status
    }

    fn path(&mut self, text: &str, known: &ClusterNames) -> Result<PathId, NotDecoded> {
        if text.is_empty() {
            return Ok(PathId::NONE);
        }
        if self.path.0 != text {
            let id = *known.paths.get(text).ok_or(NotDecoded::NewPath)?;
            self.path = (text.to_owned(), id);
        }
        Ok(self.path.1)
    }
}

/// The columns of some rows.
struct Columns<'a> {
    application: &'a StringArray,
    class: &'a StringArray,
    host: &'a StringArray,
    status: &'a StringArray,
    path: &'a StringArray,
    root_host: &'a StringArray,
    process: &'a [u32],
    thread: &'a [u32],
    root_process: &'a [u32],
    start: &'a [i64],
    elapsed: &'a [i64],
    cpu: &'a [i64],
    root_start: &'a [i64],
    process_cpu: &'a Int64Array,
    id: &'a [u64],
    parent: &'a [u64],
    chain_high: &'a [u64],
    chain_low: &'a [u64],
    flags: &'a [u8],
    level: &'a [u16],
    arrival: &'a Int64Array,
    run_queue: &'a Int64Array,
    blocked: &'a Int64Array,
    threshold: &'a UInt64Array,
    further_parents: &'a ArrayRef,
    further_parent_lists: &'a ListArray,
    properties: [&'a ListArray; 2],
    metrics: [&'a ListArray; 2],
}

impl<'a> Columns<'a> {
    fn of(rows: &ResultRows<'a>) -> Result<Self, ClickHouseError> {
        let (batch, node) = (rows.batch, rows.node);
        let strange = |name: &str| node.unexpected_column(name);
        let column = |name: &str| batch.column_by_name(name).ok_or_else(|| strange(name));
        let long =
            |name: &str| column(name)?.as_primitive_opt::<Int64Type>().ok_or_else(|| strange(name));
        let list = |name: &str| column(name)?.as_list_opt::<i32>().ok_or_else(|| strange(name));
        let threshold = column(column::SAMPLING_THRESHOLD)?.as_primitive_opt::<UInt64Type>();
        Ok(Self {
            application: rows.texts(column::APPLICATION)?,
            class: rows.texts(column::CLASS)?,
            host: rows.texts(column::HOST)?,
            status: rows.texts(column::STATUS)?,
            path: rows.texts(column::PATH)?,
            root_host: rows.texts("root_host_text")?,
            process: rows.numbers::<UInt32Type>(column::PROCESS)?,
            thread: rows.numbers::<UInt32Type>(column::THREAD)?,
            root_process: rows.numbers::<UInt32Type>(column::ROOT_PROCESS)?,
            start: rows.times("start_ns")?,
            elapsed: rows.times(column::ELAPSED_NS)?,
            cpu: rows.times(column::CPU_NS)?,
            root_start: rows.times("root_start_ns")?,
            process_cpu: long(column::PROCESS_CPU_NS)?,
            id: rows.ids(column::ID)?,
            parent: rows.ids(column::PARENT)?,
            chain_high: rows.ids(column::CHAIN_HIGH)?,
            chain_low: rows.ids(column::CHAIN_LOW)?,
            flags: rows.numbers::<UInt8Type>(column::FLAGS)?,
            level: rows.numbers::<UInt16Type>(column::LEVEL)?,
            arrival: long("arrival_ns")?,
            run_queue: long(column::RUN_QUEUE_NS)?,
            blocked: long(column::BLOCKED_NS)?,
            threshold: threshold.ok_or_else(|| strange(column::SAMPLING_THRESHOLD))?,
            further_parents: column(column::FURTHER_PARENTS)?,
            further_parent_lists: list(column::FURTHER_PARENTS)?,
            properties: [list("property_keys")?, list("property_values")?],
            metrics: [list("metric_keys")?, list("metric_values")?],
        })
    }

    /// Writes a row's context; its length, or `None` where a column is of another type.
    fn context(&self, row: usize, buffer: &mut Vec<u8>) -> Option<usize> {
        buffer.resize(STORED_MAX_BYTES, 0);
        let mut len = 0;
        let mut append = |entry: ContextEntry<'_>| {
            // All of it came out of one context, which was no larger.
            len = context::append(buffer, len, entry).unwrap_or(len);
        };
        if self.properties[0].value_length(row) > 0 {
            let [keys, values] = self.properties.map(|list| list.value(row));
            let (keys, values) = (keys.as_string_opt::<i32>()?, values.as_string_opt::<i32>()?);
            for entry in 0..keys.len().min(values.len()) {
                append(ContextEntry::Property(keys.value(entry), values.value(entry)));
            }
        }
        if self.metrics[0].value_length(row) > 0 {
            let [keys, values] = self.metrics.map(|list| list.value(row));
            let keys = keys.as_string_opt::<i32>()?;
            let values = values.as_primitive_opt::<Float64Type>()?;
            for entry in 0..keys.len().min(values.len()) {
                append(ContextEntry::Metric(keys.value(entry), values.value(entry)));
            }
        }
        let long = |of: &Int64Array| of.is_valid(row).then(|| of.value(row));
        let extras = Extras {
            arrival_ns: long(self.arrival),
            run_queue_ns: long(self.run_queue).map(i64::cast_unsigned),
            blocked_ns: long(self.blocked).map(i64::cast_unsigned),
            sampling_threshold: self.threshold.is_valid(row).then(|| self.threshold.value(row)),
            further_parents: match self.further_parent_lists.value_length(row) {
                0 => Vec::new(),
                _ => further_parents(self.further_parents, row)?,
            },
        };
        extras.entries().for_each(append);
        Some(len)
    }
}
