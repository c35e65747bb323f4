//! Reading a spool for sending.

use super::Spool;
use super::block::{Reader, SpoolBlock};
use crate::wal::{BlockReader, LogContent};
use crate::wire::Extras;
use crate::{StoreError, layout, notes};
use chronoscope_model::{Batch, ClassId, Names, PathId, ProcessId};
use std::collections::{BTreeMap, HashSet};
use std::sync::PoisonError;

impl Spool {
    /// The first durable block with rows from `from_row` on, of these rows only; `None` when there
    /// is none yet. Costs one reading of the block where the last call ended; going back costs
    /// the heads of a file's blocks.
    ///
    /// # Errors
    /// [`StoreError::Io`] when a file cannot be read. Damage is passed over: a gap says so.
    pub fn read(&self, from_row: u64) -> Result<Option<SpoolBlock>, StoreError> {
        // Rows before were acknowledged under another number.
        let from_row = from_row.max(self.first_row());
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if from_row < reader.row {
            *reader = Reader::default();
        }
        let durable = self.durable_rows();
        while from_row.max(reader.row) < durable {
            let Some(at) = &mut reader.at else {
                match self.open_file(|span_end, _| span_end > from_row)? {
                    Some(file) => reader.at = Some(file),
                    None => return Ok(None),
                }
                continue;
            };
            let before = at.position();
            match at.next(from_row)? {
                LogContent::Before { end_row } => reader.row = end_row,
                // Damage hides where durable blocks end.
                LogContent::Block(block) if block.end_row() > durable => {
                    at.go_to(before);
                    return Ok(None);
                }
                LogContent::Block(block) => {
                    for (_, note) in notes::notes(&block.notes) {
                        note.and_then(|note| reader.extras.take(note));
                    }
                    // The same block again is in two files after a failed sync.
                    if block.end_row() <= reader.row {
                        continue;
                    }
                    reader.row = block.end_row();
                    let extras = std::mem::take(&mut reader.extras);
                    return Ok(Some(self.complete(block.first_row, block.batch, extras, from_row)));
                }
                LogContent::End => {
                    let sequence = at.sequence;
                    match self.open_file(|_, next| next > sequence)? {
                        Some(file) => reader.at = Some(file),
                        None => return Ok(None),
                    }
                }
            }
        }
        Ok(None)
    }

    /// Up to when processes have delivered, with their names; and the row that the receiver must
    /// have before it is told so.
    pub fn delivered(&self) -> (u64, Vec<(ProcessId, i64)>, Names) {
        let intake = self.intake();
        let delivered = intake.ledger.deliveries.iter().map(|(id, known)| (id, known.until_ns));
        let delivered: Vec<_> = delivered.collect();
        let mut names = Names::default();
        for (process, _) in &delivered {
            if let Some(name) = intake.ledger.names.process(*process) {
                names.add_process(name.clone());
            }
        }
        (intake.next_row, delivered, names)
    }

    /// Opens the first file that is wanted, by the row after its last and its number.
    fn open_file(
        &self,
        wanted: impl Fn(u64, u64) -> bool,
    ) -> Result<Option<BlockReader>, StoreError> {
        loop {
            let sequence = {
                let intake = self.intake();
                let span = intake.log.spans().find(|span| wanted(span.end_row, span.sequence));
                match span {
                    Some(span) => span.sequence,
                    None => return Ok(None),
                }
            };
            match BlockReader::open(&layout::log_file(&self.dir, sequence), sequence) {
                // Dropped meanwhile: the next one, when this one is out of the list.
                Err(error) if error.is_missing() && !self.has_file(sequence) => {}
                file => return file.map(Some),
            }
        }
    }

    fn has_file(&self, sequence: u64) -> bool {
        self.intake().log.spans().any(|span| span.sequence == sequence)
    }

    /// The block from `from_row` on, with what its ids mean.
    fn complete(
        &self,
        first_row: u64,
        batch: Batch,
        mut extras: Extras,
        from_row: u64,
    ) -> SpoolBlock {
        let skipped = from_row.saturating_sub(first_row);
        let batch = match usize::try_from(skipped) {
            Ok(0) => batch,
            skipped => {
                let mut rest = Batch::default();
                let skipped = skipped.unwrap_or(usize::MAX);
                for record in batch.records().iter().skip(skipped) {
                    rest.push(*record, batch.context(record));
                }
                rest
            }
        };
        // Losses are totals: the last one says it all.
        let lost: BTreeMap<ProcessId, u64> = extras.lost.drain(..).collect();
        extras.lost.extend(lost);
        let mut delivered = BTreeMap::new();
        for (process, until_ns) in extras.delivered.drain(..) {
            let known = delivered.entry(process).or_insert(until_ns);
            *known = until_ns.max(*known);
        }
        extras.delivered.extend(delivered);
        let names = self.names_of(&batch, &extras);
        SpoolBlock { first_row: first_row + skipped, batch, names, extras }
    }

    fn names_of(&self, batch: &Batch, extras: &Extras) -> Names {
        let mut classes: HashSet<ClassId> = HashSet::new();
        let mut paths: HashSet<PathId> = HashSet::new();
        let mut processes: HashSet<ProcessId> = extras.lost.iter().map(|(id, _)| *id).collect();
        processes.extend(extras.losses.iter().map(|loss| loss.process));
        processes.extend(extras.delivered.iter().map(|(id, _)| *id));
        for record in batch.records() {
            classes.insert(record.class);
            paths.insert(record.path);
            processes.extend([record.process, record.root_process]);
        }
        let intake = self.intake();
        let known = &intake.ledger.names;
        let mut names = Names::default();
        for path in paths {
            if let Some(on_path) = known.path(path) {
                classes.extend(on_path);
                names.add_path(path, on_path.to_vec());
            }
        }
        for name in classes.into_iter().filter_map(|id| known.class(id)) {
            names.add_class(name.clone());
        }
        processes.into_iter().for_each(|id| names.add_process_of(known, id));
        names
    }
}
