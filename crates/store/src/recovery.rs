//! Reads the rows of the log that are not in segments: for the writer after a start, and for
//! readers.

use crate::manifest::Manifest;
use crate::notes::Ledger;
use crate::wal::{self, Block, DurableEnd, LogFile};
use crate::{Damage, StoreError, layout};
use std::path::{Path, PathBuf};

/// Result of reading the log's files.
#[derive(Debug, Default)]
pub(crate) struct RecoveredLog {
    /// The sum of the manifest's ledger and all notes since.
    pub(crate) ledger: Ledger,
    /// The number that the next row gets.
    pub(crate) next_row: u64,
    /// Per file: sequence number, row after its last, bytes.
    pub(crate) files: Vec<(u64, u64, u64)>,
    /// When the last block was written, by the clock of then: UTC, nanoseconds since 1970.
    pub(crate) written_ns: Option<i64>,
    /// Damage that was passed over.
    pub(crate) damage: Vec<Damage>,
    /// Unreadable ends with nothing behind them: writes that a crash cut short.
    pub(crate) torn: Vec<Damage>,
}

/// The log files that `manifest` needs, opened. `None` when the first of them is gone, or one in
/// the middle was not seen: then the directory was changed while it was read, and perhaps the
/// manifest is not the newest.
pub(crate) fn open_log(
    dir: &Path,
    manifest: &Manifest,
) -> Result<Option<Vec<LogFile>>, StoreError> {
    let files = match wal::list(dir, manifest.first_log) {
        Err(error) if error.is_missing() => return Ok(None),
        files => files?,
    };
    let mut expected = manifest.first_log..;
    let complete = files.iter().all(|file| expected.next() == Some(file.sequence));
    Ok(complete.then_some(files))
}

/// Reads the log of the store in `dir` after `manifest` and gives every block to `each`. Before the
/// place `durable`, which was told to those who sent the rows, nothing was cut short by a crash:
/// what cannot be read there is damaged.
pub(crate) fn recover(
    dir: &Path,
    manifest: &Manifest,
    files: &[LogFile],
    durable: Option<DurableEnd>,
    mut each: impl FnMut(&Block),
) -> Result<RecoveredLog, StoreError> {
    let mut recovered = RecoveredLog { ledger: manifest.ledger.clone(), ..RecoveredLog::default() };
    let mut row = manifest.first_row;
    let mut torn: Option<Torn> = None;
    for file in files {
        let damage_before = recovered.damage.len();
        let (ledger, damage) = (&mut recovered.ledger, &mut recovered.damage);
        let mut bad_notes = Vec::new();
        let scanned = wal::scan(file, &mut row, damage, |block| {
            // Notes that the manifest's ledger contains are not applied again: they would replace
            // later ones.
            if block.first_row >= manifest.next_row
                && let Err(at) = ledger.decode(&block.notes)
            {
                bad_notes.push((block.first_row, at));
            }
            recovered.written_ns = Some(block.written_ns);
            each(&block);
            Ok(())
        })?;
        if let Some(torn) = torn.take() {
            recovered.add_torn_between(torn, durable, damage_before);
        }
        for (first_row, at) in bad_notes {
            let reason =
                format!("unknown note at byte {at} of the notes of the block of row {first_row}");
            let path = file.path.clone();
            recovered.damage.push(Damage { path, position: 0, reason, rows_lost: 0 });
        }
        torn = scanned.bad.map(|(position, reason)| Torn {
            sequence: file.sequence,
            path: file.path.clone(),
            position,
            reason,
        });
        recovered.files.push((file.sequence, row, scanned.len));
    }
    recovered.next_row = row.max(manifest.next_row).max(durable.map_or(0, |durable| durable.row));
    let missing = durable.filter(|durable| recovered.ends_before(durable, manifest));
    match (torn, missing) {
        (Some(torn), None) if !torn.is_before(durable) => {
            recovered.torn.push(torn.damage());
        }
        (None, None) => {}
        (torn, _) => {
            let rows_lost = durable.map_or(0, |durable| durable.row.saturating_sub(row));
            let Torn { path, position, reason, .. } =
                torn.unwrap_or_else(|| recovered.end_of_log(dir, files));
            let reason = format!("{reason}, and more was reported durable");
            recovered.damage.push(Damage { path, position, reason, rows_lost });
        }
    }
    Ok(recovered)
}

impl RecoveredLog {
    /// Adds an unreadable end behind which another file goes on. An end that was torn by a crash
    /// hides nothing when rows go on without a gap; a gap, which is the first damage since
    /// `damage_before`, has its place.
    fn add_torn_between(&mut self, torn: Torn, durable: Option<DurableEnd>, damage_before: usize) {
        let is_damage = torn.is_before(durable);
        let found = torn.damage();
        match self.damage.get_mut(damage_before).filter(|damage| damage.rows_lost > 0) {
            Some(gap) => *gap = Damage { rows_lost: gap.rows_lost, ..found },
            None if is_damage => self.damage.push(found),
            None => self.torn.push(found),
        }
    }

    /// Whether the log ends before the place that was reported durable.
    fn ends_before(&self, durable: &DurableEnd, manifest: &Manifest) -> bool {
        let last = self.files.last().map(|(sequence, _, len)| (*sequence, *len));
        durable.sequence >= manifest.first_log
            && last.is_none_or(|last| last < (durable.sequence, durable.position))
    }

    /// The end of a log of which nothing is unreadable.
    fn end_of_log(&self, dir: &Path, files: &[LogFile]) -> Torn {
        let last = files.last().map(|file| file.path.clone());
        let (sequence, position) =
            self.files.last().map_or((0, 0), |(sequence, _, len)| (*sequence, *len));
        let path = last.unwrap_or_else(|| layout::log_dir(dir));
        Torn { sequence, path, position, reason: "the log ends".to_owned() }
    }
}

/// An unreadable end of a log file.
struct Torn {
    sequence: u64,
    path: PathBuf,
    position: u64,
    reason: String,
}

impl Torn {
    /// Whether the damage lies before the position that was reported durable. Of files before that
    /// place's only the numbers of rows tell: a writer that came after a crash began a file of its
    /// own behind an end that was torn.
    fn is_before(&self, durable: Option<DurableEnd>) -> bool {
        durable.is_some_and(|end| self.sequence == end.sequence && self.position < end.position)
    }

    /// The end as damage that lost no rows as far as is known.
    fn damage(self) -> Damage {
        Damage { path: self.path, position: self.position, reason: self.reason, rows_lost: 0 }
    }
}
