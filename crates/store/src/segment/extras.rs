//! Values that few rows have, in the columns that version 2 of the schema added.

use arrow_array::builder::{
    ArrayBuilder, StructBuilder, TimestampNanosecondBuilder, UInt16Builder, UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt16Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, Int64Array, ListArray, PrimitiveArray, RecordBatch,
    StructArray, TimestampNanosecondArray, UInt64Array, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType};
use chronoscope_model::{
    ChainId, Extras, FurtherParent, ParentRoot, PathId, ProcessId, TransactionId,
    schema::{self, column},
};
use std::sync::Arc;

/// The columns from `arrival` on, being filled.
#[derive(Default)]
pub(super) struct ExtraColumns {
    arrival: Vec<Option<i64>>,
    run_queue: Vec<Option<i64>>,
    blocked: Vec<Option<i64>>,
    threshold: Vec<Option<u64>>,
    parents: Vec<FurtherParent>,
    /// Number of further parents of each row.
    counts: Vec<usize>,
}

impl ExtraColumns {
    /// Adds a row.
    pub(super) fn add(&mut self, extras: &Extras) {
        // Saturating: 292 years are enough for a duration.
        let signed = |ns: Option<u64>| ns.map(|ns| i64::try_from(ns).unwrap_or(i64::MAX));
        self.arrival.push(extras.arrival_ns);
        self.run_queue.push(signed(extras.run_queue_ns));
        self.blocked.push(signed(extras.blocked_ns));
        self.threshold.push(extras.sampling_threshold);
        self.parents.extend_from_slice(&extras.further_parents);
        self.counts.push(extras.further_parents.len());
    }

    /// The columns, in the schema's order.
    pub(super) fn finish(self) -> Result<[ArrayRef; schema::ADDED_COLUMNS], ArrowError> {
        let parents = self.further_parents()?;
        Ok([
            Arc::new(TimestampNanosecondArray::from(self.arrival).with_timezone("UTC")),
            Arc::new(Int64Array::from(self.run_queue)),
            Arc::new(Int64Array::from(self.blocked)),
            Arc::new(UInt64Array::from(self.threshold)),
            parents,
        ])
    }

    fn further_parents(&self) -> Result<ArrayRef, ArrowError> {
        let schema = schema::transactions();
        let kind = schema.field_with_name(column::FURTHER_PARENTS)?.data_type();
        if self.parents.is_empty() {
            return Ok(new_null_array(kind, self.counts.len()));
        }
        let DataType::List(element) = kind else {
            return Err(ArrowError::SchemaError("further_parents is not a list".to_owned()));
        };
        // A row without further parents has null and not an empty list, as rows of version 1.
        let nulls: NullBuffer = self.counts.iter().map(|count| *count > 0).collect();
        let list = ListArray::try_new(
            element.clone(),
            OffsetBuffer::from_lengths(self.counts.iter().copied()),
            Arc::new(structs(&self.parents)),
            Some(nulls),
        )?;
        Ok(Arc::new(list))
    }
}

/// The elements of `further_parents`.
fn structs(parents: &[FurtherParent]) -> StructArray {
    let fields = schema::further_parent_fields();
    let builders: Vec<Box<dyn ArrayBuilder>> = fields
        .iter()
        .map(|field| arrow_array::builder::make_builder(field.data_type(), parents.len()))
        .collect();
    let mut all = StructBuilder::new(fields, builders);
    for parent in parents {
        let root = parent.root;
        append::<UInt64Builder>(&mut all, 0, |b| b.append_value(parent.chain.high()));
        append::<UInt64Builder>(&mut all, 1, |b| b.append_value(parent.chain.low()));
        append::<UInt64Builder>(&mut all, 2, |b| b.append_value(parent.id.0));
        append::<TimestampNanosecondBuilder>(&mut all, 3, |b| {
            b.append_option(root.map(|root| root.start_ns));
        });
        append::<UInt64Builder>(&mut all, 4, |b| b.append_option(root.map(|r| r.process.0)));
        append::<UInt16Builder>(&mut all, 5, |b| b.append_option(root.map(|root| root.level)));
        append::<UInt64Builder>(&mut all, 6, |b| b.append_option(root.map(|root| root.path.0)));
        all.append(true);
    }
    all.finish()
}

/// Appends to the field with this number, whose builder the schema has made.
fn append<B: ArrayBuilder>(all: &mut StructBuilder, field: usize, value: impl FnOnce(&mut B)) {
    if let Some(builder) = all.field_builder::<B>(field) {
        value(builder);
    }
}

/// A row's values in the columns of version 2, as far as the batch has them; `None` where one is of
/// another type than the schema's.
pub fn read_extras(batch: &RecordBatch, row: usize) -> Option<Extras> {
    let duration = |name| -> Option<Option<u64>> {
        Some(number::<Int64Type>(batch, name, row)?.map(i64::cast_unsigned))
    };
    Some(Extras {
        arrival_ns: number::<TimestampNanosecondType>(batch, column::ARRIVAL, row)?,
        run_queue_ns: duration(column::RUN_QUEUE_NS)?,
        blocked_ns: duration(column::BLOCKED_NS)?,
        sampling_threshold: number::<UInt64Type>(batch, column::SAMPLING_THRESHOLD, row)?,
        further_parents: match batch.column_by_name(column::FURTHER_PARENTS) {
            None => Vec::new(),
            Some(column) => further_parents(column, row)?,
        },
    })
}

/// A number of a row: `None` where the column is of another type, `Some(None)` where it is null or
/// not there.
#[allow(clippy::option_option)] // "of another type" and "not said" are different answers
fn number<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
    row: usize,
) -> Option<Option<T::Native>> {
    let Some(column) = batch.column_by_name(name) else { return Some(None) };
    let column: &PrimitiveArray<T> = column.as_primitive_opt()?;
    Some(column.is_valid(row).then(|| column.value(row)))
}

/// The further parents of a row; `None` where the column is of another type.
pub fn further_parents(column: &ArrayRef, row: usize) -> Option<Vec<FurtherParent>> {
    let list = column.as_list_opt::<i32>()?;
    if list.is_null(row) {
        return Some(Vec::new());
    }
    let elements = list.value(row);
    let elements = elements.as_struct_opt()?;
    let ids = |name| elements.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
    let (high, low, id) = (ids(column::CHAIN_HIGH)?, ids(column::CHAIN_LOW)?, ids(column::ID)?);
    let (process, path) = (ids(column::ROOT_PROCESS)?, ids(column::PATH)?);
    let starts = elements.column_by_name(column::ROOT_START)?;
    let starts = starts.as_primitive_opt::<TimestampNanosecondType>()?;
    let levels = elements.column_by_name(column::LEVEL)?.as_primitive_opt::<UInt16Type>()?;
    let parent = |at: usize| FurtherParent {
        chain: ChainId::from_halves(high.value(at), low.value(at)),
        id: TransactionId(id.value(at)),
        root: starts.is_valid(at).then(|| ParentRoot {
            start_ns: starts.value(at),
            process: ProcessId(process.value(at)),
            level: levels.value(at),
            path: PathId(path.value(at)),
        }),
    };
    Some((0..elements.len()).map(parent).collect())
}
