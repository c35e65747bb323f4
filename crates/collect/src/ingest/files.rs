//! Rows from outside into a store of files.

use super::batches::{first_rows, without_first};
use super::error::{IngestError, refused};
use super::limits::DURABLE_WITHIN;
use super::row_source::Receipt;
use super::share;
use crate::duration::nanos;
use crate::gaps::{GapNotes, Gaps, Sender};
use crate::vocabulary::Vocabulary;
use chronoscope_clock as clock;
use chronoscope_model::Batch;
use chronoscope_store::{Append, Store, StreamId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval between two checks whether a failed log works again.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A store of files, and who is doing what there one at a time.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) store: Arc<Store>,
    /// Names that agents may bring in.
    pub(super) vocabulary: Vocabulary,
    /// Rows that agents' numbers leave out.
    gaps: Gaps,
    /// Held from looking how far a sender is until its rows are in.
    delivering: Mutex<()>,
    /// Held while syncing: those who wait meanwhile share the next sync.
    syncing: Mutex<()>,
}

impl Files {
    /// A store from which nothing was taken yet.
    pub(super) fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            vocabulary: Vocabulary::default(),
            gaps: Gaps::default(),
            delivering: Mutex::new(()),
            syncing: Mutex::new(()),
        }
    }

    /// End of a sender's durable rows; `None` when it is unknown.
    pub(super) fn next_row(&self, id: StreamId) -> Result<Option<u64>, IngestError> {
        let (next_row, store_row) = {
            let _one_at_a_time = lock(&self.delivering);
            (self.store.stream(id), self.store.backlog().rows)
        };
        // A sender forgets what it is told is here: that has to survive us.
        self.make_durable(store_row)?;
        Ok(next_row)
    }

    /// Appends rows; returns the number of the store's rows with them.
    pub(super) fn append(&self, append: &Append<'_>) -> Result<u64, IngestError> {
        self.store.append(append, clock::utc_now_ns()).map_err(refused)
    }

    /// Appends those rows of a sender that are not here, together with how far it is then.
    /// `declared_rows` are newly declared as dropped with them.
    pub(super) fn deliver(
        &self,
        id: StreamId,
        first_row: u64,
        append: &Append<'_>,
        (sender, declared_rows): (&Sender, u64),
    ) -> Result<Receipt, IngestError> {
        let nothing = Batch::default();
        let batch = append.batch.unwrap_or(&nothing);
        let has_rows = !batch.is_empty();
        let end_row = first_row.saturating_add(batch.len() as u64);
        let _one_at_a_time = lock(&self.delivering);
        let stream = self.store.stream(id);
        let known = stream.unwrap_or(0);
        if has_rows && end_row <= known {
            // The other notes came with the rows that the store has already.
            let store_row = self.store.backlog().rows;
            return Ok(Receipt { next_row: known, gap_rows: 0, store_row });
        }
        // Rows that a sender delivered elsewhere before it came here are no gap.
        let gap_rows = first_row.saturating_sub(stream.unwrap_or(first_row));
        let gap_rows = if has_rows { gap_rows } else { 0 };
        let change = self.gaps.change(id, gap_rows, declared_rows, has_rows);
        let mut append = *append;
        let (lost, losses, names);
        if change.is_counted() {
            let GapNotes { lost: total, loss, names: more } =
                self.store.with_ledger(|ledger| change.notes(id, sender, ledger));
            lost = [append.lost, &[total]].concat();
            losses = [append.losses, loss.as_slice()].concat();
            let mut all = append.names.cloned().unwrap_or_default();
            all.merge(&more);
            names = all;
            append = Append { lost: &lost, losses: &losses, names: Some(&names), ..append };
        }
        if !has_rows {
            let store_row = self.append(&append)?;
            self.gaps.commit(id, change);
            return Ok(Receipt { next_row: known, gap_rows: 0, store_row });
        }
        let rest;
        if first_row < known {
            rest = without_first(batch, known - first_row);
            append.batch = Some(&rest);
        }
        let batch = append.batch.unwrap_or(&nothing);
        let fits = share::rows_that_fit(&self.store, batch, clock::utc_now_ns())?;
        if fits < batch.len() {
            if fits > 0 {
                self.deliver_first(id, end_row - batch.len() as u64, fits, &append)?;
                self.gaps.commit(id, change);
            }
            return Err(IngestError::Minutes);
        }
        append.stream = Some((id, end_row));
        let store_row = self.append(&append)?;
        self.gaps.commit(id, change);
        Ok(Receipt { next_row: end_row, gap_rows: change.new_rows, store_row })
    }

    /// Appends the first `count` rows: a message with rows of very many minutes comes in little by
    /// little. Losses come with its first rows, what else it says with its last ones.
    fn deliver_first(
        &self,
        id: StreamId,
        first_row: u64,
        count: usize,
        message: &Append<'_>,
    ) -> Result<(), IngestError> {
        let nothing = Batch::default();
        let batch = message.batch.unwrap_or(&nothing);
        let first = first_rows(batch, count);
        let append = Append {
            batch: Some(&first),
            names: message.names,
            lost: message.lost,
            losses: message.losses,
            stream: Some((id, first_row + count as u64)),
            ..Append::default()
        };
        self.append(&append).map(drop)
    }

    /// Returns when the rows below `row` of the store are durable.
    pub(super) fn make_durable(&self, row: u64) -> Result<(), IngestError> {
        let deadline_ns = clock::monotonic_ns().saturating_add(nanos(DURABLE_WITHIN));
        loop {
            let reason = {
                let _turn = lock(&self.syncing);
                // Another's sync, while we waited for the turn, may have been ours too.
                if self.store.durable_rows() >= row {
                    return Ok(());
                }
                match self.store.sync() {
                    Ok(durable) if durable >= row => return Ok(()),
                    Ok(durable) => format!("{durable} of {row} rows are durable"),
                    // Maintenance saves the rows as segments; then they are durable.
                    Err(error) => error.to_string(),
                }
            };
            if clock::monotonic_ns() > deadline_ns {
                return Err(IngestError::NotDurable { reason });
            }
            clock::sleep(LOOK_EVERY);
        }
    }
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
