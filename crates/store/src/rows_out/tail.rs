//! Following the log: rows as they come, for those who count them.

use crate::manifest::Manifest;
use crate::notes::Ledger;
use crate::recovery::{open_log, recover};
use crate::wal::{self, BlockReader, LogContent};
use crate::{Aliases, Snapshot, StoreError, layout};
use chronoscope_model::{Batch, Names};
use std::path::{Path, PathBuf};

/// Number of attempts to read a log that changes meanwhile.
const TRIES: usize = 5;

/// A reader that goes after the writer of a store. It holds the log up in nothing: what was removed
/// before it was read is missed, and counted.
#[derive(Debug)]
pub struct Tail {
    dir: PathBuf,
    /// The file that is being read; `None` when there was none yet.
    reader: Option<BlockReader>,
    next_row: u64,
    ledger: Ledger,
}

/// Result of one reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Rows that were read.
    pub rows: u64,
    /// Rows that came and were not seen.
    pub missed: u64,
}

impl Tail {
    /// Begins behind the rows that the store in `dir` has now.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub fn at_end(dir: &Path) -> Result<Self, StoreError> {
        for _ in 0..TRIES {
            let manifest = Manifest::of_store(dir)?.unwrap_or_default();
            let Some(files) = open_log(dir, &manifest)? else { continue };
            let recovered = recover(dir, &manifest, &files, None, |_| ())?;
            let last = files.last().map(|file| file.sequence);
            let reader =
                last.map(|sequence| BlockReader::open(&layout::log_file(dir, sequence), sequence));
            return match reader.transpose() {
                Err(error) if error.is_missing() => continue,
                reader => Ok(Self {
                    dir: dir.to_owned(),
                    reader: reader?,
                    next_row: recovered.next_row,
                    ledger: recovered.ledger,
                }),
            };
        }
        // The log cannot change so often: a file is missing. The snapshot reports it.
        let snapshot = Snapshot::open(dir)?;
        let next_row = snapshot.row_count();
        let ledger = snapshot.ledger().clone();
        Ok(Self { dir: dir.to_owned(), reader: None, next_row, ledger })
    }

    /// The names so far.
    pub fn names(&self) -> &Names {
        &self.ledger.names
    }

    /// Gives the rows that have come since to `each`, block by block, with the names and the chains
    /// that continue others so far. Rows have the chain that they came with.
    ///
    /// # Errors
    /// [`StoreError::Io`] when a file cannot be read; the next call goes on there.
    pub fn read(
        &mut self,
        mut each: impl FnMut(&Batch, &Names, &Aliases),
    ) -> Result<Followed, StoreError> {
        let mut followed = Followed::default();
        loop {
            if self.drain(&mut followed, &mut each)? {
                continue;
            }
            let behind = self.reader.as_ref().map_or(0, |reader| reader.sequence + 1);
            let files = wal::list(&self.dir, behind)?;
            let Some(next) = files.first().map(|file| file.sequence) else { return Ok(followed) };
            // A file has been begun: the one before is complete. What came into it since it was
            // looked at is read first.
            if !self.drain(&mut followed, &mut each)? {
                let path = layout::log_file(&self.dir, next);
                match BlockReader::open(&path, next) {
                    Ok(reader) => self.reader = Some(reader),
                    Err(error) if error.is_missing() => {} // removed meanwhile: the one after it
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Reads what is in the file; whether there was anything.
    fn drain(
        &mut self,
        followed: &mut Followed,
        each: &mut impl FnMut(&Batch, &Names, &Aliases),
    ) -> Result<bool, StoreError> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        let mut any = false;
        loop {
            match reader.next(self.next_row)? {
                LogContent::End => return Ok(any),
                LogContent::Before { .. } => any = true,
                LogContent::Block(block) => {
                    any = true;
                    let end = block.first_row + block.batch.len() as u64;
                    if end < self.next_row {
                        continue; // notes of before
                    }
                    followed.missed += block.first_row.saturating_sub(self.next_row);
                    followed.rows += block.batch.len() as u64;
                    self.next_row = end;
                    // Unknown notes are a newer program's: its rows count all the same.
                    let _ = self.ledger.decode(&block.notes);
                    each(&block.batch, &self.ledger.names, &self.ledger.aliases);
                }
            }
        }
    }
}
