//! Rows of the log that wait in memory for being sealed.

use crate::{MINUTE_NS, Slot};
use chronoscope_model::{Batch, Record};
use std::collections::BTreeMap;
use std::time::Duration;

/// Memory of a slot besides its rows, in bytes; without it, many minutes with few rows would count
/// as free.
const SLOT_BYTES: u64 = 4096;

/// The rows of one slot, in the order of their coming.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) records: Vec<Record>,
    pub(crate) contexts: Vec<u8>,
    /// Number of the first of them.
    pub(crate) first_row: u64,
    /// When the first of them came: UTC, nanoseconds since 1970.
    pub(crate) arrived_ns: i64,
}

impl Rows {
    fn new(first_row: u64, arrived_ns: i64) -> Self {
        Self { records: Vec::new(), contexts: Vec::new(), first_row, arrived_ns }
    }

    #[inline]
    fn push(&mut self, record: &Record, context: &[u8]) {
        let offset = u32::try_from(self.contexts.len()).unwrap_or(u32::MAX);
        // Slots are sealed long before they hold 4 GiB of contexts; beyond, words are lost.
        let context = if offset == u32::MAX { &[] } else { context };
        #[allow(clippy::cast_possible_truncation)] // at most context::STORED_MAX_BYTES
        let context_len = context.len() as u16;
        self.contexts.extend_from_slice(context);
        self.records.push(Record { context_offset: offset, context_len, ..*record });
    }

    /// All rows of a batch.
    pub(crate) fn of(batch: &Batch) -> Self {
        let mut rows = Self::new(0, 0);
        rows.records.reserve(batch.len());
        batch.records().iter().for_each(|record| rows.push(record, batch.context(record)));
        rows
    }

    /// The context of one of the records.
    #[inline]
    pub(crate) fn context(&self, record: &Record) -> &[u8] {
        let from = record.context_offset as usize;
        self.contexts.get(from..from + usize::from(record.context_len)).unwrap_or(&[])
    }

    /// Bytes of memory that they take.
    pub(crate) fn size_bytes(&self) -> u64 {
        (self.records.len() * size_of::<Record>() + self.contexts.len()) as u64 + SLOT_BYTES
    }

    /// Adds rows that came later.
    fn append(&mut self, later: &Self) {
        for record in &later.records {
            self.push(record, later.context(record));
        }
    }
}

/// All slots with rows that wait.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    slots: BTreeMap<Slot, Rows>,
    size_bytes: u64,
}

impl Buffer {
    /// Adds the rows of a batch that `wanted` wants. The first row's number is `first_row`.
    pub(crate) fn add(
        &mut self,
        batch: &Batch,
        first_row: u64,
        now_ns: i64,
        wanted: impl Fn(Slot, u64) -> bool,
    ) {
        let mut records = batch.records().iter().zip(first_row..).peekable();
        // Rows come in runs of one slot: the slot is looked up once for a run.
        while let Some((record, row)) = records.peek() {
            let slot = Slot::of(record);
            let rows = self.slots.entry(slot).or_insert_with(|| {
                self.size_bytes += SLOT_BYTES;
                Rows::new(*row, now_ns)
            });
            let before = rows.size_bytes();
            while let Some((record, row)) = records.next_if(|(record, _)| Slot::of(record) == slot)
            {
                if wanted(slot, row) {
                    if rows.records.is_empty() {
                        rows.first_row = row;
                    }
                    rows.push(record, batch.context(record));
                }
            }
            self.size_bytes += rows.size_bytes() - before;
            if rows.records.is_empty() {
                self.slots.remove(&slot);
                self.size_bytes -= SLOT_BYTES;
            }
        }
    }

    /// Takes the rows of a slot out.
    pub(crate) fn take(&mut self, slot: Slot) -> Option<Rows> {
        let rows = self.slots.remove(&slot)?;
        self.size_bytes -= rows.size_bytes();
        Some(rows)
    }

    /// Puts back rows that were taken and could not be sealed.
    pub(crate) fn put_back(&mut self, slot: Slot, mut rows: Rows) {
        if let Some(later) = self.take(slot) {
            rows.append(&later);
        }
        self.size_bytes += rows.size_bytes();
        self.slots.insert(slot, rows);
    }

    /// The slots whose time has come: the minute and the wait are over, by the clock and since
    /// their first row came. A minute of the future does not wait for that future.
    pub(crate) fn due(&self, now_ns: i64, wait: Duration) -> Vec<Slot> {
        let wait_ns = i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX);
        let due = |(slot, rows): (&Slot, &Rows)| {
            let arrived = rows.arrived_ns;
            let end = slot.minute.end_ns().clamp(arrived, arrived.saturating_add(MINUTE_NS));
            (end.saturating_add(wait_ns) <= now_ns).then_some(*slot)
        };
        self.slots.iter().filter_map(due).collect()
    }

    /// The slot with most bytes.
    pub(crate) fn largest(&self) -> Option<Slot> {
        self.slots.iter().max_by_key(|(_, rows)| rows.size_bytes()).map(|(slot, _)| *slot)
    }

    /// The slot with the oldest row: it holds up the log.
    pub(crate) fn oldest(&self) -> Option<Slot> {
        self.slots.iter().min_by_key(|(_, rows)| rows.first_row).map(|(slot, _)| *slot)
    }

    /// All slots.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        self.slots.keys().copied().collect()
    }

    /// Number of the oldest row.
    pub(crate) fn first_row(&self) -> Option<u64> {
        self.slots.values().map(|rows| rows.first_row).min()
    }

    /// Number of rows that wait.
    pub(crate) fn rows(&self) -> u64 {
        self.slots.values().map(|rows| rows.records.len() as u64).sum()
    }

    /// Bytes of memory they take.
    pub(crate) const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Processes that rows speak of.
    pub(crate) fn all_rows(&self) -> impl Iterator<Item = &Rows> {
        self.slots.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    fn batch(minutes: &[i64]) -> Batch {
        let mut batch = Batch::default();
        for minute in minutes {
            let record = Record { root_start_ns: minute * MINUTE_NS, ..Record::zeroed() };
            batch.push(record, format!("m{minute}").as_bytes());
        }
        batch
    }

    #[test]
    fn rows_go_to_their_minutes_with_their_contexts() {
        let mut buffer = Buffer::default();
        buffer.add(&batch(&[1, 1, 2, 1]), 10, 0, |_, _| true);
        buffer.add(&batch(&[3, 3]), 14, 0, |_, row| row == 15);
        let slots = buffer.slots();
        assert_eq!(slots.iter().map(|slot| slot.minute.0).collect::<Vec<_>>(), [1, 2, 3]);
        let rows = buffer.take(slots[0]).unwrap();
        assert_eq!((rows.first_row, rows.records.len()), (10, 3));
        assert!(rows.records.iter().all(|record| rows.context(record) == b"m1"));
        assert_eq!(buffer.first_row(), Some(12));
        buffer.put_back(slots[0], rows);
        assert_eq!((buffer.first_row(), buffer.rows()), (Some(10), 5));
        for slot in slots {
            buffer.take(slot);
        }
        assert_eq!(buffer.size_bytes(), 0);
    }

    #[test]
    fn a_minute_is_due_after_its_wait_and_a_strange_one_after_its_coming() {
        let mut buffer = Buffer::default();
        let now = 100 * MINUTE_NS;
        let wait = Duration::from_mins(2);
        buffer.add(&batch(&[100, 5, 1_000_000]), 0, now, |_, _| true);
        let due = |minutes: i64| {
            let due = buffer.due(now + minutes * MINUTE_NS, wait);
            due.iter().map(|slot| slot.minute.0).collect::<Vec<_>>()
        };
        assert_eq!(due(1), []);
        assert_eq!(due(2), [5]);
        assert_eq!(due(3), [5, 100, 1_000_000]);
    }
}
