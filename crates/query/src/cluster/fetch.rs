//! Whole transactions of one chain, and what rows of a class say.

use super::sql::between;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type};
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_model::schema::column;
use chronoscope_model::{
    ChainId, ClassName, Excerpt, Extras, Flags, ProcessName, Status, Transaction, TransactionId,
};
use chronoscope_statistics::SUB_BUCKETS;
use chronoscope_store::segment_file::further_parents;
use std::ops::{Range, RangeInclusive};

/// The column of what a transaction says, as lists.
pub(super) const CONTEXT: &str = "CAST(mapKeys(properties), 'Array(String)') AS property_keys, \
    mapValues(properties) AS property_values, \
    CAST(mapKeys(metrics), 'Array(String)') AS metric_keys, mapValues(metrics) AS metric_values";

/// All columns of a transaction in words, but [`CONTEXT`].
pub(super) const ALL: &str = "application, class, host, process, thread, \
    toUnixTimestamp64Nano(start) AS start_ns, elapsed_ns, cpu_ns, process_cpu_ns, status, id, \
    parent, flags, level, path, ifNull(root_application, '') AS root_application_text, \
    toUnixTimestamp64Nano(root_start) AS root_start_ns, ifNull(root_host, '') AS root_host_text, \
    root_process, toUnixTimestamp64Nano(arrival) AS arrival_ns, run_queue_ns, blocked_ns, \
    sampling_threshold, further_parents";

/// The transactions of a chain on its shard, by start.
pub(super) fn fetch_chain(
    node: &Node,
    id: ChainId,
    minutes: Option<RangeInclusive<i64>>,
) -> Result<Vec<Transaction>, ClickHouseError> {
    let near = minutes.map_or(String::new(), |m| format!(" AND {}", between("minute", &m)));
    let (high, low) = (id.high(), id.low());
    let sql = format!(
        "SELECT {ALL}, {CONTEXT} FROM transactions WHERE chain_high = {high} AND chain_low = {low}{near}"
    );
    let mut found = Vec::new();
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        for row in 0..batch.num_rows() {
            found.push(transaction(&rows, row, id)?);
        }
        Ok(())
    })?;
    found.sort_by_key(|transaction: &Transaction| {
        (transaction.start_ns, transaction.level, transaction.id)
    });
    Ok(found)
}

/// A row of an answer with [`ALL`] and [`CONTEXT`].
pub(super) fn transaction(
    rows: &ResultRows<'_>,
    row: usize,
    chain: ChainId,
) -> Result<Transaction, ClickHouseError> {
    let text = |name: &str| -> Result<String, ClickHouseError> {
        Ok(rows.texts(name)?.value(row).to_owned())
    };
    let number =
        |name: &str| -> Result<u64, ClickHouseError> { Ok(rows.times(name)?[row].cast_unsigned()) };
    let small =
        |name: &str| -> Result<u32, ClickHouseError> { Ok(rows.numbers::<UInt32Type>(name)?[row]) };
    let process = |application: String, host: String, pid: u32| {
        let known = !host.is_empty() || pid != 0;
        // The process's start is not a column: it only ever told processes apart.
        known.then_some(ProcessName { application, host, pid, start_ns: 0 })
    };
    let flags = Flags(rows.numbers::<UInt8Type>(column::FLAGS)?[row]);
    let foreign = flags.contains(Flags::FOREIGN);
    let class = ClassName { application: text(column::APPLICATION)?, class: text(column::CLASS)? };
    let own = process(class.application.clone(), text(column::HOST)?, small(column::PROCESS)?);
    let root_application = text("root_application_text")?;
    let root = process(root_application, text("root_host_text")?, small(column::ROOT_PROCESS)?);
    let strange = |name: &str| rows.node.unexpected_column(name);
    let process_cpu = rows.batch.column_by_name(column::PROCESS_CPU_NS);
    let process_cpu = process_cpu.and_then(|column| column.as_primitive_opt::<Int64Type>());
    let process_cpu = process_cpu.ok_or_else(|| strange(column::PROCESS_CPU_NS))?;
    Ok(Transaction {
        class,
        process: own,
        thread: small(column::THREAD)?,
        start_ns: rows.times("start_ns")?[row],
        elapsed_ns: number(column::ELAPSED_NS)?,
        cpu_ns: number(column::CPU_NS)?,
        process_cpu_ns: process_cpu.is_valid(row).then(|| process_cpu.value(row).cast_unsigned()),
        status: text(column::STATUS)?.parse().unwrap_or(Status::Unknown),
        id: TransactionId(rows.ids(column::ID)?[row]),
        parent: TransactionId(rows.ids(column::PARENT)?[row]),
        chain,
        flags,
        level: rows.numbers::<UInt16Type>(column::LEVEL)?[row],
        path: text(column::PATH)?,
        root_start_ns: Some(rows.times("root_start_ns")?[row]).filter(|_| !foreign),
        root_process: root.filter(|_| !foreign),
        properties: properties(rows, row)?,
        metrics: metrics(rows, row)?,
        extras: extras(rows, row)?,
    })
}

fn extras(rows: &ResultRows<'_>, row: usize) -> Result<Extras, ClickHouseError> {
    let number = |name: &str| -> Result<Option<i64>, ClickHouseError> {
        let values = rows.times(name)?;
        let column = rows.batch.column_by_name(name);
        Ok(column.filter(|column| column.is_valid(row)).map(|_| values[row]))
    };
    let thresholds = rows.ids(column::SAMPLING_THRESHOLD)?;
    let threshold = rows.batch.column_by_name(column::SAMPLING_THRESHOLD);
    let parents = rows.batch.column_by_name(column::FURTHER_PARENTS);
    let parents = parents.and_then(|column| further_parents(column, row));
    Ok(Extras {
        arrival_ns: number("arrival_ns")?,
        run_queue_ns: number(column::RUN_QUEUE_NS)?.map(i64::cast_unsigned),
        blocked_ns: number(column::BLOCKED_NS)?.map(i64::cast_unsigned),
        sampling_threshold: threshold
            .filter(|column| column.is_valid(row))
            .map(|_| thresholds[row]),
        further_parents: parents.ok_or_else(|| rows.node.unexpected_column("further_parents"))?,
    })
}

/// The query for what rows of a class say.
pub(super) fn excerpts_of(class: &str, minutes: &str, start_ns: &Range<i64>) -> String {
    let Range { start, end } = start_ns;
    format!(
        "SELECT toUnixTimestamp64Nano(start) AS start_ns, elapsed_ns, status, {CONTEXT} \
         FROM transactions WHERE {minutes} AND {class} \
         AND toUnixTimestamp64Nano(start) >= {start} AND toUnixTimestamp64Nano(start) < {end}"
    )
}

/// Gives out the rows of an answer.
pub(super) fn each_excerpt(
    rows: &ResultRows<'_>,
    each: &mut dyn FnMut(&Excerpt<'_>),
) -> Result<(), ClickHouseError> {
    let (starts, elapsed) = (rows.times("start_ns")?, rows.times("elapsed_ns")?);
    let statuses = rows.texts("status")?;
    for row in 0..rows.batch.num_rows() {
        let properties = properties(rows, row)?;
        let metrics = metrics(rows, row)?;
        let words = properties.iter().map(|(key, word)| (key.as_str(), word.as_str()));
        each(&Excerpt {
            start_ns: starts[row],
            elapsed_ns: elapsed[row].cast_unsigned(),
            status: statuses.value(row).parse().unwrap_or(Status::Unknown),
            properties: words.collect(),
            metrics: metrics.iter().map(|(key, value)| (key.as_str(), *value)).collect(),
        });
    }
    Ok(())
}

fn properties(rows: &ResultRows<'_>, row: usize) -> Result<Vec<(String, String)>, ClickHouseError> {
    pairs(rows, row, ["property_keys", "property_values"], |values, index| {
        Some(values.as_string_opt::<i32>()?.value(index).to_owned())
    })
}

fn metrics(rows: &ResultRows<'_>, row: usize) -> Result<Vec<(String, f64)>, ClickHouseError> {
    pairs(rows, row, ["metric_keys", "metric_values"], |values, index| {
        Some(values.as_primitive_opt::<Float64Type>()?.value(index))
    })
}

/// The entries of a map, which came as two lists.
fn pairs<T>(
    rows: &ResultRows<'_>,
    row: usize,
    [keys, values]: [&str; 2],
    value: impl Fn(&dyn Array, usize) -> Option<T>,
) -> Result<Vec<(String, T)>, ClickHouseError> {
    let list = |name: &str| {
        let column = rows.batch.column_by_name(name);
        let column = column.and_then(|column| column.as_list_opt::<i32>());
        column.map(|column| column.value(row)).ok_or_else(|| rows.node.unexpected_column(name))
    };
    let (keys_of, values_of) = (list(keys)?, list(values)?);
    let keys_of =
        keys_of.as_string_opt::<i32>().ok_or_else(|| rows.node.unexpected_column(keys))?;
    let pair = |index: usize| {
        let value = (index < values_of.len()).then(|| value(&*values_of, index)).flatten();
        Some((keys_of.value(index).to_owned(), value?))
    };
    let pairs =
        (0..keys_of.len()).map(|i| pair(i).ok_or_else(|| rows.node.unexpected_column(values)));
    pairs.collect()
}

/// The columns `doubling` and `sub_bucket` of a number that is not below 0: buckets as histograms
/// have them, 32 to every doubling, none below 32.
pub(super) fn buckets_of(number: &str) -> String {
    format!(
        "roundToExp2(bitOr(toUInt64({number}), {SUB_BUCKETS})) AS doubling, \
         intDiv(toUInt64({number}), intDiv(doubling, {SUB_BUCKETS})) AS sub_bucket"
    )
}

/// The number of the bucket; `None` where there is no such bucket.
pub(super) fn bucket(doubling: u64, sub_bucket: u64) -> Option<usize> {
    let shift = u64::from(doubling.trailing_zeros()).checked_sub(5)?;
    let index = usize::try_from(shift * SUB_BUCKETS as u64 + sub_bucket).ok()?;
    (index < chronoscope_statistics::BUCKET_COUNT).then_some(index)
}
