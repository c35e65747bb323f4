//! What the log holds beyond the segments: for the writer after a start, and for readers.

use crate::manifest::Manifest;
use crate::notes::Ledger;
use crate::wal::{self, Block, LogFile};
use crate::{Damage, StoreError};
use std::path::{Path, PathBuf};

/// What became of the log's files.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// The sum of the manifest's ledger and all notes since.
    pub(crate) ledger: Ledger,
    /// The number that the next row gets.
    pub(crate) next_row: u64,
    /// Per file: sequence number, row after its last, bytes.
    pub(crate) files: Vec<(u64, u64, u64)>,
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

/// Reads the log after `manifest` and gives every block to `each`.
pub(crate) fn replay(
    manifest: &Manifest,
    files: &[LogFile],
    mut each: impl FnMut(&Block),
) -> Result<Replayed, StoreError> {
    let mut replayed = Replayed { ledger: manifest.ledger.clone(), ..Replayed::default() };
    let mut row = manifest.first_row;
    let mut torn: Option<(PathBuf, u64, String)> = None;
    for file in files {
        let damage_before = replayed.damage.len();
        let (ledger, damage) = (&mut replayed.ledger, &mut replayed.damage);
        let mut bad_notes = Vec::new();
        let scanned = wal::scan(file, &mut row, damage, |block| {
            // What the manifest's ledger knows already is not taken in again: later notes win.
            if block.first_row >= manifest.next_row
                && let Err(at) = ledger.decode(&block.notes)
            {
                bad_notes.push((block.first_row, at));
            }
            each(&block);
            Ok(())
        })?;
        // An end that was torn by a crash hides nothing when rows go on without a gap.
        if let Some((path, position, reason)) = torn.take() {
            match replayed.damage.get_mut(damage_before).filter(|damage| damage.rows_lost > 0) {
                Some(damage) => {
                    (damage.path, damage.position, damage.reason) = (path, position, reason)
                }
                None => replayed.torn.push(Damage { path, position, reason, rows_lost: 0 }),
            }
        }
        for (first_row, at) in bad_notes {
            let reason =
                format!("unknown note at byte {at} of the notes of the block of row {first_row}");
            replayed.damage.push(Damage {
                path: file.path.clone(),
                position: 0,
                reason,
                rows_lost: 0,
            });
        }
        torn = scanned.bad.map(|(position, reason)| (file.path.clone(), position, reason));
        replayed.files.push((file.sequence, row, scanned.len));
    }
    if let Some((path, position, reason)) = torn {
        replayed.torn.push(Damage { path, position, reason, rows_lost: 0 });
    }
    replayed.next_row = row.max(manifest.next_row);
    Ok(replayed)
}
