//! The columns of a record batch as transactions, whoever wrote them.

use crate::segment::read_extras;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, Int32Array, LargeStringArray, MapArray, RecordBatch, StringArray,
    StringViewArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, TimeUnit};
use chronoscope_model::schema::column;
use chronoscope_model::{
    ChainId, ClassName, Flags, ProcessName, Status, Transaction, TransactionId,
};
use parquet::errors::ParquetError;

/// Columns without which rows mean nothing.
pub(super) const REQUIRED: [&str; 8] = [
    column::APPLICATION,
    column::CLASS,
    column::START,
    column::ELAPSED_NS,
    column::ID,
    column::PARENT,
    column::CHAIN_HIGH,
    column::CHAIN_LOW,
];

/// A batch, its columns found and understood.
pub(super) struct BatchRows {
    rows: usize,
    application: Words,
    class: Words,
    host: Words,
    process: Numbers,
    thread: Numbers,
    start: Numbers,
    elapsed: Numbers,
    cpu: Numbers,
    process_cpu: Numbers,
    status: Words,
    id: Numbers,
    parent: Numbers,
    chain_high: Numbers,
    chain_low: Numbers,
    flags: Numbers,
    level: Numbers,
    path: Words,
    root_application: Words,
    root_start: Numbers,
    root_host: Words,
    root_process: Numbers,
    properties: Option<Map>,
    metrics: Option<Map>,
    batch: RecordBatch,
}

impl BatchRows {
    /// # Errors
    /// When a column is of a type that cannot hold what it should.
    pub(super) fn of(batch: &RecordBatch) -> Result<Self, ParquetError> {
        let words = |name| Words::of(name, batch.column_by_name(name));
        let numbers = |name| Numbers::of(name, batch.column_by_name(name), false);
        let ids = |name| Numbers::of(name, batch.column_by_name(name), true);
        Ok(Self {
            rows: batch.num_rows(),
            application: words(column::APPLICATION)?,
            class: words(column::CLASS)?,
            host: words(column::HOST)?,
            process: numbers(column::PROCESS)?,
            thread: numbers(column::THREAD)?,
            start: numbers(column::START)?,
            elapsed: numbers(column::ELAPSED_NS)?,
            cpu: numbers(column::CPU_NS)?,
            process_cpu: numbers(column::PROCESS_CPU_NS)?,
            status: words(column::STATUS)?,
            id: ids(column::ID)?,
            parent: ids(column::PARENT)?,
            chain_high: ids(column::CHAIN_HIGH)?,
            chain_low: ids(column::CHAIN_LOW)?,
            flags: numbers(column::FLAGS)?,
            level: numbers(column::LEVEL)?,
            path: words(column::PATH)?,
            root_application: words(column::ROOT_APPLICATION)?,
            root_start: numbers(column::ROOT_START)?,
            root_host: words(column::ROOT_HOST)?,
            root_process: numbers(column::ROOT_PROCESS)?,
            properties: Map::of(column::PROPERTIES, batch.column_by_name(column::PROPERTIES))?,
            metrics: Map::of(column::METRICS, batch.column_by_name(column::METRICS))?,
            batch: batch.clone(),
        })
    }

    pub(super) const fn len(&self) -> usize {
        self.rows
    }

    /// # Errors
    /// Error of the row: a null or a number outside its range.
    pub(super) fn transaction(&self, row: usize) -> Result<Transaction, String> {
        let word = |words: &Words| words.get(row).unwrap_or_default().to_owned();
        let id = |numbers: &Numbers| numbers.get(row).unwrap_or(0).cast_unsigned();
        let flags = Flags(small(column::FLAGS, self.flags.get(row))?);
        let foreign = flags.contains(Flags::FOREIGN);
        let root_start_ns = self.root_start.get(row).filter(|_| !foreign);
        let class = ClassName { application: word(&self.application), class: word(&self.class) };
        if class.class.is_empty() && class.application.is_empty() {
            return Err("it has no class".to_owned());
        }
        let process = |application: String, host: String, pid: u32| {
            // The process's start is not a column: it only ever told processes apart.
            let known = !host.is_empty() || pid != 0;
            known.then_some(ProcessName { application, host, pid, start_ns: 0 })
        };
        let pid = small(column::PROCESS, self.process.get(row))?;
        let root_pid = small(column::ROOT_PROCESS, self.root_process.get(row))?;
        let root = process(word(&self.root_application), word(&self.root_host), root_pid);
        let status = self.status.get(row).map_or(Ok(Status::Good), str::parse);
        Ok(Transaction {
            process: process(class.application.clone(), word(&self.host), pid),
            class,
            thread: small(column::THREAD, self.thread.get(row))?,
            start_ns: self.start.get(row).ok_or("start is null")?,
            elapsed_ns: length(column::ELAPSED_NS, self.elapsed.get(row))?,
            cpu_ns: length(column::CPU_NS, self.cpu.get(row))?,
            process_cpu_ns: match self.process_cpu.get(row) {
                Some(ns) => Some(length(column::PROCESS_CPU_NS, Some(ns))?),
                None => None,
            },
            status: status.map_err(|error| error.to_string())?,
            id: TransactionId(id(&self.id)),
            parent: TransactionId(id(&self.parent)),
            chain: ChainId::from_halves(id(&self.chain_high), id(&self.chain_low)),
            flags,
            level: small(column::LEVEL, self.level.get(row))?,
            path: word(&self.path),
            root_start_ns,
            root_process: root.filter(|_| root_start_ns.is_some()),
            properties: self.properties.as_ref().map_or_else(Vec::new, |map| map.texts(row)),
            metrics: self.metrics.as_ref().map_or_else(Vec::new, |map| map.numbers(row)),
            extras: read_extras(&self.batch, row)
                .ok_or("arrival to further_parents: of another type than the schema's")?,
        })
    }
}

/// A number of few bits; 0 where it is null.
fn small<T: TryFrom<i64>>(name: &str, number: Option<i64>) -> Result<T, String> {
    let number = number.unwrap_or(0);
    T::try_from(number).map_err(|_| format!("{name}: {number} is beyond its range"))
}

/// A length of time; 0 where it is null.
fn length(name: &str, ns: Option<i64>) -> Result<u64, String> {
    let ns = ns.unwrap_or(0);
    u64::try_from(ns).map_err(|_| format!("{name}: {ns} is negative"))
}

fn strange(name: &str, found: &DataType) -> ParquetError {
    ParquetError::General(format!("column {name} is of type {found}"))
}

/// A column of texts.
enum Words {
    Absent,
    Dictionary(Int32Array, StringArray),
    Plain(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

impl Words {
    fn of(name: &str, column: Option<&ArrayRef>) -> Result<Self, ParquetError> {
        let Some(column) = column else { return Ok(Self::Absent) };
        let refuse = || strange(name, column.data_type());
        match column.data_type() {
            DataType::Null => Ok(Self::Absent),
            DataType::Utf8 => Ok(Self::Plain(column.as_string::<i32>().clone())),
            DataType::LargeUtf8 => Ok(Self::Large(column.as_string::<i64>().clone())),
            DataType::Utf8View => Ok(Self::View(column.as_string_view().clone())),
            DataType::Dictionary(..) => {
                let column = column.as_dictionary_opt::<Int32Type>().ok_or_else(refuse)?;
                let texts = column.values().as_string_opt::<i32>().ok_or_else(refuse)?;
                Ok(Self::Dictionary(column.keys().clone(), texts.clone()))
            }
            _ => Err(refuse()),
        }
    }

    /// The text of a row; `None` where it is null.
    fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Absent => None,
            Self::Dictionary(keys, texts) => {
                let key = keys.is_valid(row).then(|| keys.value(row))?;
                let key = usize::try_from(key).ok().filter(|key| *key < texts.len())?;
                texts.is_valid(key).then(|| texts.value(key))
            }
            Self::Plain(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Self::Large(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Self::View(texts) => texts.is_valid(row).then(|| texts.value(row)),
        }
    }
}

/// A column of whole numbers, instants in nanoseconds, or the bits of ids.
struct Numbers {
    values: Vec<i64>,
    nulls: Option<NullBuffer>,
}

impl Numbers {
    /// `ids` are unsigned and kept as their bits.
    fn of(name: &str, column: Option<&ArrayRef>, ids: bool) -> Result<Self, ParquetError> {
        let Some(column) = column else { return Ok(Self { values: Vec::new(), nulls: None }) };
        let too_large =
            || ParquetError::General(format!("column {name} has a number that is too large"));
        let stamps = |scale: i64, values: &[i64]| -> Result<Vec<i64>, ParquetError> {
            let scaled = values.iter().enumerate().map(|(row, value)| match value {
                _ if column.is_null(row) => Ok(0),
                value => value.checked_mul(scale).ok_or_else(too_large),
            });
            scaled.collect()
        };
        let values = match column.data_type() {
            DataType::Null => return Ok(Self { values: Vec::new(), nulls: None }),
            DataType::Int8 => widened::<Int8Type>(column),
            DataType::Int16 => widened::<Int16Type>(column),
            DataType::Int32 => widened::<Int32Type>(column),
            DataType::Int64 => widened::<Int64Type>(column),
            DataType::UInt8 => widened::<UInt8Type>(column),
            DataType::UInt16 => widened::<UInt16Type>(column),
            DataType::UInt32 => widened::<UInt32Type>(column),
            DataType::UInt64 if ids => {
                let values = column.as_primitive::<UInt64Type>().values();
                values.iter().map(|id| id.cast_signed()).collect()
            }
            DataType::UInt64 => {
                let values = column.as_primitive::<UInt64Type>().values();
                let signed = values.iter().map(|n| i64::try_from(*n).map_err(|_| too_large()));
                signed.collect::<Result<_, _>>()?
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                widened::<TimestampNanosecondType>(column)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                stamps(1000, column.as_primitive::<TimestampMicrosecondType>().values())?
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                stamps(1_000_000, column.as_primitive::<TimestampMillisecondType>().values())?
            }
            DataType::Timestamp(TimeUnit::Second, _) => {
                stamps(1_000_000_000, column.as_primitive::<TimestampSecondType>().values())?
            }
            other => return Err(strange(name, other)),
        };
        Ok(Self { values, nulls: column.nulls().cloned() })
    }

    /// The number of a row; `None` where it is null or the column is not there.
    fn get(&self, row: usize) -> Option<i64> {
        let valid = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        self.values.get(row).copied().filter(|_| valid)
    }
}

fn widened<T: ArrowPrimitiveType<Native: Into<i64>>>(column: &ArrayRef) -> Vec<i64> {
    column.as_primitive::<T>().values().iter().map(|value| (*value).into()).collect()
}

/// A column of maps.
struct Map {
    offsets: OffsetBuffer<i32>,
    nulls: Option<NullBuffer>,
    keys: Words,
    texts: Words,
    /// The values, where they are numbers.
    numbers: Option<arrow_array::Float64Array>,
}

impl Map {
    fn of(name: &str, column: Option<&ArrayRef>) -> Result<Option<Self>, ParquetError> {
        let Some(column) = column else { return Ok(None) };
        if *column.data_type() == DataType::Null {
            return Ok(None);
        }
        let refuse = || strange(name, column.data_type());
        let map: &MapArray = column.as_map_opt().ok_or_else(refuse)?;
        let numbers = map.values().as_primitive_opt::<Float64Type>().cloned();
        let texts = match &numbers {
            None => Words::of(name, Some(map.values()))?,
            Some(_) => Words::Absent,
        };
        Ok(Some(Self {
            offsets: map.offsets().clone(),
            nulls: map.nulls().cloned(),
            keys: Words::of(name, Some(map.keys()))?,
            texts,
            numbers,
        }))
    }

    fn entries(&self, row: usize) -> std::ops::Range<usize> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return 0..0;
        }
        let at = |row: usize| usize::try_from(self.offsets[row]).unwrap_or(0);
        at(row)..at(row + 1)
    }

    fn texts(&self, row: usize) -> Vec<(String, String)> {
        let pair =
            |index| Some((self.keys.get(index)?.to_owned(), self.texts.get(index)?.to_owned()));
        self.entries(row).filter_map(pair).collect()
    }

    fn numbers(&self, row: usize) -> Vec<(String, f64)> {
        let Some(numbers) = &self.numbers else { return Vec::new() };
        let pair = |index| {
            let value = numbers.is_valid(index).then(|| numbers.value(index))?;
            Some((self.keys.get(index)?.to_owned(), value))
        };
        self.entries(row).filter_map(pair).collect()
    }
}
