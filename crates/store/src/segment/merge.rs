//! Merging the segments of a slot into one, with the chains linked over all of them.

use super::cut::without;
use super::order::Order;
use super::parquet_file::{SegmentWriter, parquet_error};
use crate::checked::open_checked;
use crate::{Segment, StoreError};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, UInt8Array, UInt32Array, new_null_array};
use arrow_schema::{ArrowError, FieldRef};
use chronoscope_chain::Hop;
use chronoscope_chain::links::Linker;
use chronoscope_model::{
    ClassId, TransactionId,
    schema::{self, column},
};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use std::ops::Range;
use std::sync::Arc;

/// Rows that are written at a time.
const CHUNK_ROWS: usize = 65_536;

/// Most bytes of memory that the rows to be merged take: columns of texts count theirs with 31
/// bits. A minute whose rows say more than that stays in parts.
const BYTES_MAX: usize = 3 << 29;

/// Writes the rows of `parts` into `writer`, in the order `order`, without those of a range.
pub(crate) fn merge(
    parts: &[Segment],
    order: Order,
    left_out: Option<&Range<i64>>,
    writer: &mut SegmentWriter,
) -> Result<(), StoreError> {
    let (mut batches, mut bytes) = (Vec::new(), 0);
    for part in parts {
        read(part, left_out, &mut batches, &mut bytes)?;
    }
    let (Some(first), Some(part)) = (batches.first(), parts.first()) else { return Ok(()) };
    let path = &part.path;
    let arrow = |error: ArrowError| parquet_error(path, error.into());
    let whole = arrow_select::concat::concat_batches(&first.schema(), &batches).map_err(arrow)?;
    drop(batches);
    let keys = Keys::of(&whole)
        .ok_or_else(|| StoreError::damaged(path, 0, "not the columns of a segment"))?;
    let (indices, links) = keys.sort(order);
    let links_column = whole.schema().index_of(column::LINKS).map_err(arrow)?;
    for (indices, links) in indices.chunks(CHUNK_ROWS).zip(links.chunks(CHUNK_ROWS)) {
        let indices = UInt32Array::from_iter_values(indices.iter().copied());
        let taken = arrow_select::take::take_record_batch(&whole, &indices).map_err(arrow)?;
        let mut columns: Vec<ArrayRef> = taken.columns().to_vec();
        columns[links_column] = Arc::new(UInt8Array::from_iter_values(links.iter().copied()));
        let batch = RecordBatch::try_new(taken.schema(), columns).map_err(arrow)?;
        writer.write(&batch)?;
    }
    Ok(())
}

fn read(
    part: &Segment,
    left_out: Option<&Range<i64>>,
    batches: &mut Vec<RecordBatch>,
    bytes: &mut usize,
) -> Result<(), StoreError> {
    let path = &part.path;
    let (file, metadata) = open_checked(path, part.tail, ArrowReaderOptions::new())?;
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_batch_size(CHUNK_ROWS)
        .build()
        .map_err(|error| parquet_error(path, error))?;
    for batch in reader {
        let batch = batch.map_err(|error| parquet_error(path, error.into()))?;
        *bytes += batch.get_array_memory_size();
        if *bytes > BYTES_MAX {
            return Err(StoreError::BytesTooMany { bytes: *bytes, bytes_max: BYTES_MAX });
        }
        let batch = match left_out {
            Some(range) => without(part, batch, range)?,
            None => batch,
        };
        batches.push(with_all_columns(&batch).map_err(|error| parquet_error(path, error.into()))?);
    }
    Ok(())
}

/// Rows with all columns of the schema: files of before lack those that were added since.
fn with_all_columns(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = schema::transactions();
    let column = |field: &FieldRef| match batch.column_by_name(field.name()) {
        Some(column) => Ok(column.clone()),
        None if field.is_nullable() => Ok(new_null_array(field.data_type(), batch.num_rows())),
        None => Err(ArrowError::SchemaError(format!("there is no column {}", field.name()))),
    };
    let columns = schema.fields().iter().map(column).collect::<Result<_, _>>()?;
    RecordBatch::try_new(schema, columns)
}

/// Sort keys of a row.
struct Keys {
    hops: Vec<Hop>,
    chains: Vec<(u64, u64)>,
    root_starts: Vec<i64>,
    path_ranks: Vec<u32>,
}

impl Keys {
    fn of(batch: &RecordBatch) -> Option<Self> {
        let ids =
            |name| Some(batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>()?.values());
        let instants = |name: &str| {
            let column = batch.column_by_name(name)?;
            Some(column.as_primitive_opt::<TimestampNanosecondType>()?.values())
        };
        let (id, parent, high, low) = (
            ids(column::ID)?,
            ids(column::PARENT)?,
            ids(column::CHAIN_HIGH)?,
            ids(column::CHAIN_LOW)?,
        );
        let (start, root_start) = (instants(column::START)?, instants(column::ROOT_START)?);
        let elapsed =
            batch.column_by_name(column::ELAPSED_NS)?.as_primitive_opt::<Int64Type>()?.values();
        let classes = classes(batch)?;
        let mut keys = Self {
            hops: Vec::with_capacity(batch.num_rows()),
            chains: high.iter().copied().zip(low.iter().copied()).collect(),
            root_starts: root_start.to_vec(),
            path_ranks: path_ranks(batch)?,
        };
        for (row, class) in classes.into_iter().enumerate() {
            keys.hops.push(Hop {
                id: TransactionId(id[row]),
                parent: TransactionId(parent[row]),
                class,
                start_ns: start[row],
                elapsed_ns: elapsed[row].cast_unsigned(),
            });
        }
        Some(keys)
    }

    /// The rows' numbers in their new order, and their links.
    fn sort(&self, order: Order) -> (Vec<u32>, Vec<u8>) {
        let mut rows: Vec<u32> = (0..).zip(&self.hops).map(|(row, _)| row).collect();
        let root_start = |row: usize| match order {
            Order::Chain => 0,
            Order::Path | Order::RootStart => self.root_starts[row],
        };
        let by_chain = |row: &u32| {
            let row = *row as usize;
            (root_start(row), self.chains[row], self.hops[row].start_ns)
        };
        rows.sort_by_key(by_chain);
        let mut links = vec![0; rows.len()];
        let mut linker = Linker::default();
        let mut hops = Vec::new();
        for chain in rows.chunk_by(|a, b| self.chains[*a as usize] == self.chains[*b as usize]) {
            hops.clear();
            hops.extend(chain.iter().map(|row| self.hops[*row as usize]));
            for (row, place) in chain.iter().zip(linker.link(&hops)) {
                links[*row as usize] = place.links;
            }
        }
        if order == Order::Path {
            rows.sort_by_key(|row| self.path_ranks[*row as usize]); // stable
        }
        let links = rows.iter().map(|row| links[*row as usize]).collect();
        (rows, links)
    }
}

fn classes(batch: &RecordBatch) -> Option<Vec<ClassId>> {
    let words = |name| {
        let column = batch.column_by_name(name)?.as_dictionary_opt::<Int32Type>()?;
        Some((column.keys(), column.values().as_string_opt::<i32>()?))
    };
    let ((applications, application_texts), (classes, class_texts)) =
        (words(column::APPLICATION)?, words(column::CLASS)?);
    let mut known = std::collections::HashMap::new();
    let of = |(application, class): (&i32, &i32)| {
        *known.entry((*application, *class)).or_insert_with(|| {
            let text = |texts: &arrow_array::StringArray, key: i32| {
                usize::try_from(key).map_or(String::new(), |key| texts.value(key).to_owned())
            };
            ClassId::of(&text(application_texts, *application), &text(class_texts, *class))
        })
    };
    Some(applications.values().iter().zip(classes.values()).map(of).collect())
}

fn path_ranks(batch: &RecordBatch) -> Option<Vec<u32>> {
    let paths = batch.column_by_name(column::PATH)?.as_dictionary_opt::<Int32Type>()?;
    let texts = paths.values().as_string_opt::<i32>()?;
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_unstable_by_key(|key| texts.value(*key));
    let mut ranks = vec![0; texts.len()];
    let mut rank = 0;
    for (position, key) in order.iter().enumerate() {
        // Merged dictionaries may hold a text twice: it has one rank.
        if position > 0 && texts.value(*key) != texts.value(order[position - 1]) {
            rank += 1;
        }
        ranks[*key] = rank;
    }
    let rank = |key: &i32| usize::try_from(*key).ok().and_then(|key| ranks.get(key)).copied();
    paths.keys().values().iter().map(rank).collect()
}
