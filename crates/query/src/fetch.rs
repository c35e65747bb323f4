//! All transactions of one chain.
//!
//! Cost: a chain id says nothing about when its rows were written. Of every segment the footer is
//! read and the row groups whose statistics exclude the id are passed over; of the others the two
//! columns of the id are decoded, and of the rows found all columns that are returned. A time range
//! spares the segments of other minutes: some 1 ms per sealed minute otherwise.

use crate::minutes::REACH;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type};
use arrow_array::{Array, MapArray, RecordBatch, StringArray};
use chronoscope_model::{
    ChainId, ClassName, Flags, ProcessName, Status, Transaction, TransactionId,
    schema::{self, column},
};
use chronoscope_store::segment_file::read_extras;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{Damage, Minute, Segment, Slot, Snapshot, StoreError};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::ops::Range;

/// The transactions of a chain, by start; and segments that could not be read.
///
/// `near_ns` bounds where they are looked for: minutes (UTC, nanoseconds since 1970) that lie
/// within [`REACH`] of it; `None` for the whole store.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one.
pub fn chain(
    snapshot: &Snapshot,
    id: ChainId,
    near_ns: Option<Range<i64>>,
) -> Result<(Vec<Transaction>, Vec<Damage>), StoreError> {
    let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
    let near = near_ns.map(|near| near.start.saturating_sub(reach)..near.end.saturating_add(reach));
    let is_near = |minute: Minute| {
        let near = near.as_ref();
        near.is_none_or(|near| minute.end_ns() > near.start && minute.start_ns() < near.end)
    };
    let mut found = Vec::new();
    let mut damage = snapshot.damage().to_vec();
    for segment in snapshot.segments().iter().filter(|segment| is_near(segment.slot.minute)) {
        match fetch(segment, id) {
            Ok(transactions) => found.extend(transactions),
            Err(error) if error.is_missing() => return Err(error),
            Err(error) => damage.push(Damage {
                path: segment.path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            }),
        }
    }
    let unsealed = snapshot.unsealed();
    let records = unsealed.records().iter().filter(|record| record.chain() == id);
    let records = records.filter(|record| is_near(Slot::of(record).minute));
    found.extend(records.map(|record| {
        Transaction::from_record(record, unsealed.context(record), snapshot.names())
    }));
    found.sort_by_key(|transaction| (transaction.start_ns, transaction.level, transaction.id));
    Ok((found, damage))
}

fn fetch(segment: &Segment, id: ChainId) -> Result<Vec<Transaction>, StoreError> {
    let file = SegmentFile::open(segment)?;
    let low = file.groups_with(column::CHAIN_LOW, id.low());
    let groups = file.groups_with(column::CHAIN_HIGH, id.high());
    let groups: Vec<usize> = groups.into_iter().filter(|group| low.contains(group)).collect();
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let mut selectors: Vec<RowSelector> = Vec::new();
    let mut any = false;
    for batch in file.read(&[column::CHAIN_HIGH, column::CHAIN_LOW], Some(groups.clone()), None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file: &file, batch: &batch };
        let halves = columns.ids(column::CHAIN_HIGH)?.iter().zip(columns.ids(column::CHAIN_LOW)?);
        for (high, low) in halves {
            let wanted = ChainId::from_halves(*high, *low) == id;
            any |= wanted;
            match selectors.last_mut() {
                Some(last) if last.skip != wanted => last.row_count += 1,
                _ if wanted => selectors.push(RowSelector::select(1)),
                _ => selectors.push(RowSelector::skip(1)),
            }
        }
    }
    if any { transactions(&file, Some(groups), selectors.into()) } else { Ok(Vec::new()) }
}

/// The transactions of the selected rows.
pub(crate) fn transactions(
    file: &SegmentFile,
    groups: Option<Vec<usize>>,
    selection: RowSelection,
) -> Result<Vec<Transaction>, StoreError> {
    let mut found = Vec::new();
    let schema = schema::transactions();
    let all: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    for batch in file.read(&all, groups, Some(selection))? {
        let batch = batch.map_err(file.unreadable())?;
        let rows = Rows { columns: SegmentColumns { file, batch: &batch }, batch: &batch };
        for row in 0..batch.num_rows() {
            found.push(rows.transaction(row)?);
        }
    }
    Ok(found)
}

/// Rows that were read back with all their columns.
struct Rows<'a> {
    columns: SegmentColumns<'a>,
    batch: &'a RecordBatch,
}

impl Rows<'_> {
    fn transaction(&self, row: usize) -> Result<Transaction, StoreError> {
        let c = &self.columns;
        let number =
            |name| -> Result<u64, StoreError> { Ok(c.nanoseconds(name)?[row].cast_unsigned()) };
        let flags = Flags(c.bits(column::FLAGS)?[row]);
        let foreign = flags.contains(Flags::FOREIGN);
        let class = ClassName {
            application: self.word(column::APPLICATION, row)?,
            class: self.word(column::CLASS, row)?,
        };
        let process = |application: String, host: String, pid: u32| {
            let known = !host.is_empty() || pid != 0;
            // The process's start is not a column: it only ever told processes apart.
            known.then_some(ProcessName { application, host, pid, start_ns: 0 })
        };
        let own = process(
            class.application.clone(),
            self.word(column::HOST, row)?,
            self.pid(column::PROCESS, row)?,
        );
        let root = process(
            self.word(column::ROOT_APPLICATION, row)?,
            self.word(column::ROOT_HOST, row)?,
            self.pid(column::ROOT_PROCESS, row)?,
        );
        let process_cpu = self.batch.column_by_name(column::PROCESS_CPU_NS);
        let process_cpu = process_cpu.and_then(|column| column.as_primitive_opt::<Int64Type>());
        let process_cpu_ns = process_cpu
            .filter(|column| column.is_valid(row))
            .map(|column| column.value(row).cast_unsigned());
        Ok(Transaction {
            class,
            process: own,
            thread: self.pid(column::THREAD, row)?,
            start_ns: c.instants(column::START)?[row],
            elapsed_ns: number(column::ELAPSED_NS)?,
            cpu_ns: number(column::CPU_NS)?,
            process_cpu_ns,
            status: self.word(column::STATUS, row)?.parse().unwrap_or(Status::Unknown),
            id: TransactionId(c.ids(column::ID)?[row]),
            parent: TransactionId(c.ids(column::PARENT)?[row]),
            chain: ChainId::from_halves(
                c.ids(column::CHAIN_HIGH)?[row],
                c.ids(column::CHAIN_LOW)?[row],
            ),
            flags,
            level: c.levels(column::LEVEL)?[row],
            path: self.word(column::PATH, row)?,
            root_start_ns: Some(c.instants(column::ROOT_START)?[row]).filter(|_| !foreign),
            root_process: root.filter(|_| !foreign),
            properties: self.pairs(column::PROPERTIES, row, |values, index| {
                values.as_string_opt::<i32>().map(|texts| texts.value(index).to_owned())
            })?,
            metrics: self.pairs(column::METRICS, row, |values, index| {
                values.as_primitive_opt::<Float64Type>().map(|numbers| numbers.value(index))
            })?,
            extras: read_extras(self.batch, row)
                .ok_or_else(|| c.file.unexpected_column("arrival to further_parents"))?,
        })
    }

    /// A word; empty where the column is null.
    fn word(&self, name: &str, row: usize) -> Result<String, StoreError> {
        let column = self.batch.column_by_name(name);
        let column = column.and_then(|column| column.as_dictionary_opt::<Int32Type>());
        let column = column.ok_or_else(|| self.columns.file.unexpected_column(name))?;
        let words: Option<&StringArray> = column.values().as_string_opt::<i32>();
        let word = column.key(row).and_then(|key| Some(words?.value(key).to_owned()));
        Ok(word.unwrap_or_default())
    }

    /// A 32-bit number; 0 where the column is null.
    fn pid(&self, name: &str, row: usize) -> Result<u32, StoreError> {
        let column = self.batch.column_by_name(name);
        let column = column.and_then(|column| column.as_primitive_opt::<UInt32Type>());
        let column = column.ok_or_else(|| self.columns.file.unexpected_column(name))?;
        Ok(if column.is_valid(row) { column.value(row) } else { 0 })
    }

    /// The entries of a map.
    fn pairs<T>(
        &self,
        name: &str,
        row: usize,
        value: impl Fn(&dyn Array, usize) -> Option<T>,
    ) -> Result<Vec<(String, T)>, StoreError> {
        let column = self.batch.column_by_name(name);
        let column: Option<&MapArray> = column.and_then(|column| column.as_map_opt());
        let column = column.ok_or_else(|| self.columns.file.unexpected_column(name))?;
        if column.is_null(row) {
            return Ok(Vec::new());
        }
        let entries = column.value(row);
        let keys = entries.column(0).as_string_opt::<i32>();
        let keys = keys.ok_or_else(|| self.columns.file.unexpected_column(name))?;
        let pair =
            |index: usize| Some((keys.value(index).to_owned(), value(entries.column(1), index)?));
        Ok((0..keys.len()).filter_map(pair).collect())
    }
}
