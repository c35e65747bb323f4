//! Rows out of a store, all of them, as transactions in words; and rows in Parquet files of others.
//!
//! Memory: one batch of one segment at a time, and the rows that are not sealed yet.

mod columns;
mod parquet_in;
mod parquet_out;
mod tail;

pub use parquet_in::ParquetRows;
pub use parquet_out::ParquetWriter;
pub use tail::{Followed, Tail};

use crate::segment::TransactionSketches;
use crate::{Segment, SketchRow, Slot, Snapshot, StoreError};
use chronoscope_model::Transaction;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Number of attempts to read a minute whose segments are replaced meanwhile.
const TRIES: usize = 5;

impl Snapshot {
    /// All transactions of chains whose root started in `range` (UTC, nanoseconds since 1970),
    /// minute by minute: each once, sealed or not. Rows of foreign chains do not know their root
    /// and go by their own start.
    ///
    /// The segments of a minute are opened together. Where one has been replaced since the
    /// snapshot was taken, a new one is taken for this and all later minutes; so a store that is
    /// being written can be read for as long as it takes. A segment that cannot be read is an
    /// error in the sequence, and the rest follows.
    pub fn transactions(self, range: Range<i64>) -> Transactions {
        let unsealed = by_slot(&self);
        Transactions {
            snapshot: self,
            unsealed,
            range,
            slot: None,
            files: VecDeque::new(),
            rows: VecDeque::new(),
        }
    }
}

/// The sequence that [`Snapshot::transactions`] returns.
#[derive(Debug)]
pub struct Transactions {
    snapshot: Snapshot,
    /// The unsealed rows of every slot.
    unsealed: BTreeMap<Slot, Vec<usize>>,
    range: Range<i64>,
    /// The slot that is being read; all before it are done.
    slot: Option<Slot>,
    files: VecDeque<ParquetRows>,
    rows: VecDeque<usize>,
}

fn by_slot(snapshot: &Snapshot) -> BTreeMap<Slot, Vec<usize>> {
    let mut slots: BTreeMap<Slot, Vec<usize>> = BTreeMap::new();
    for (row, record) in snapshot.unsealed().records().iter().enumerate() {
        slots.entry(Slot::of(record)).or_default().push(row);
    }
    slots
}

impl Transactions {
    /// The slot of the transaction that came last: rows come slot by slot.
    pub const fn slot(&self) -> Option<Slot> {
        self.slot
    }

    /// The next slot that may have rows in the range.
    fn next_slot(&self) -> Option<Slot> {
        let sealed = self.snapshot.segments().iter().map(|segment| segment.slot);
        let later = |slot: &Slot| self.slot.is_none_or(|done| *slot > done);
        let overlaps = |slot: &Slot| {
            let minute = slot.minute;
            // The last minute of time ends in itself.
            minute.start_ns() < self.range.end
                && (minute.end_ns() > self.range.start || minute.end_ns() == i64::MAX)
        };
        let slots = sealed.chain(self.unsealed.keys().copied());
        slots.filter(later).filter(overlaps).min()
    }

    /// Opens the next slot; whether there is one.
    fn advance(&mut self) -> Result<bool, StoreError> {
        let mut tries = 1;
        loop {
            let Some(slot) = self.next_slot() else { return Ok(false) };
            match self.open(slot) {
                Err(error) if error.is_missing() && tries < TRIES => {
                    tries += 1;
                    self.renew()?;
                }
                opened => {
                    // Also where a file cannot be opened: the others are read.
                    self.slot = Some(slot);
                    self.rows = self.unsealed.remove(&slot).unwrap_or_default().into();
                    return opened.map(|()| true);
                }
            }
        }
    }

    fn open(&mut self, slot: Slot) -> Result<(), StoreError> {
        self.files.clear();
        let mut failed = Ok(());
        for segment in self.snapshot.segments().iter().filter(|segment| segment.slot == slot) {
            match ParquetRows::of_segment(segment) {
                Ok(rows) => self.files.push_back(rows),
                Err(error) if error.is_missing() => return Err(error),
                Err(error) => failed = Err(error),
            }
        }
        failed
    }

    fn renew(&mut self) -> Result<(), StoreError> {
        let segments = self.snapshot.segments();
        let dir = segments.first().and_then(|segment| segment.path.parent()?.parent());
        if let Some(dir) = dir {
            self.snapshot = Snapshot::open(dir)?;
            self.unsealed = by_slot(&self.snapshot);
        }
        Ok(())
    }
}

impl Iterator for Transactions {
    type Item = Result<Transaction, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(file) = self.files.front_mut() {
                match file.next() {
                    None => drop(self.files.pop_front()),
                    Some(Err(error)) => {
                        self.files.pop_front();
                        return Some(Err(error));
                    }
                    Some(Ok(transaction)) if is_within(&transaction, &self.range) => {
                        return Some(Ok(transaction));
                    }
                    Some(Ok(_)) => {}
                }
                continue;
            }
            if let Some(row) = self.rows.pop_front() {
                let batch = self.snapshot.unsealed();
                let record = &batch.records()[row];
                let context = batch.context(record);
                let transaction = Transaction::from_record(record, context, self.snapshot.names());
                if is_within(&transaction, &self.range) {
                    return Some(Ok(transaction));
                }
                continue;
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The sketches of the rows of a segment that are not within a range.
pub(crate) fn sketches_without(
    segment: &Segment,
    range: &Range<i64>,
) -> Result<Vec<SketchRow>, StoreError> {
    let mut sketches = TransactionSketches::default();
    for row in ParquetRows::of_segment(segment)? {
        let row = row?;
        if !is_within(&row, range) {
            sketches.add(&row);
        }
    }
    Ok(sketches.rows(segment.slot.minute))
}

fn is_within(transaction: &Transaction, range: &Range<i64>) -> bool {
    range.contains(&transaction.root_start_ns.unwrap_or(transaction.start_ns))
}
