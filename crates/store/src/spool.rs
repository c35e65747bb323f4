//! An agent's bounded queue on disk, between its rings and the collector.
//!
//! It is the store's log without segments: rows and the cursors of the rings that they came from
//! become durable together, so ring to spool is exactly once. Every row has a number; the sender
//! reads blocks from a number on ([`Spool::read`]), the receiver keeps the number of the next row
//! that it wants (`Store::stream`), and so spool to store is exactly once as well, however often
//! either side dies. A file all of whose rows are acknowledged is removed.
//!
//! Limits: [`SpoolOptions::bytes_max`] on disk; beyond it the oldest file goes, sent or not, and
//! its rows are counted ([`Spool::dropped_rows`]): the newest rows are those that somebody waits
//! for. At most 64 MiB of rows that are not synced yet.
//!
//! Not here: the connection (`collect`).

use crate::disk::Disk;
use crate::lock::Lock;
use crate::manifest::Manifest;
use crate::notes::{self, Ledger};
use crate::orphans::set_orphans_aside;
use crate::recovery::recover;
use crate::wal::{self, FileSpan, LogWriter};
use crate::{Append, Positions, Recovery, StoreError, StreamId, layout};
use chronoscope_model::{Batch, ProcessId};
use identity::Identity;
use progress::Progress;
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

mod block;
#[cfg(test)]
mod crash_tests;
mod identity;
mod progress;
mod read;

pub use block::SpoolBlock;

/// Most bytes of rows that may wait for being synced: they are in memory as well, in case the
/// system cannot write them out.
const UNSYNCED_MAX: usize = 64 << 20;

/// Size limits of a spool.
#[derive(Clone, Copy, Debug)]
pub struct SpoolOptions {
    /// Most bytes on disk; the one block that an append writes may come on top. Default: 1 GiB.
    pub bytes_max: u64,
    /// Bytes at which a file is closed and the next begun: what is dropped or removed at a time.
    /// At most a quarter of `bytes_max` is taken. Default: 16 MiB.
    pub file_bytes: u64,
}

impl Default for SpoolOptions {
    fn default() -> Self {
        Self { bytes_max: 1 << 30, file_bytes: 16 << 20 }
    }
}

/// A spool that this process writes and reads. All methods may be called from several threads.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    options: SpoolOptions,
    disk: Disk,
    identity: Mutex<Identity>,
    /// `None` where it is not known what was ever sent.
    progress: Mutex<Option<Progress>>,
    intake: Mutex<Intake>,
    /// Held while files are being synced: how many appends are durable, of all since the start.
    syncing: Mutex<u64>,
    durable_row: AtomicU64,
    acknowledged: AtomicU64,
    /// The manifest on disk: `expired_rows` are the dropped rows, and there are no segments.
    manifest: Mutex<Manifest>,
    reader: Mutex<block::Reader>,
    recovery: Recovery,
    _lock: Lock,
}

/// State that an append changes.
#[derive(Debug)]
struct Intake {
    log: LogWriter,
    ledger: Ledger,
    next_row: u64,
    /// Number of appends written since the start.
    appends: u64,
    /// Blocks that are not synced yet, oldest first.
    unsynced: VecDeque<Unsynced>,
    unsynced_bytes: usize,
    /// Why the files could not be synced, and how many of `unsynced` are in a new file again.
    broken: Option<(String, usize)>,
    notes: Vec<u8>,
}

/// A block that is perhaps not on disk.
#[derive(Debug)]
struct Unsynced {
    /// Number of the append since the start.
    append: u64,
    first_row: u64,
    written_ns: i64,
    batch: Batch,
    notes: Vec<u8>,
}

/// Rows that wait in a spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpoolBacklog {
    /// Rows taken in, ever: the number of the next one.
    pub rows: u64,
    /// Rows below this number survive anything.
    pub durable_rows: u64,
    /// Rows below this number are at the receiver, as far as it was told since the system's start.
    pub acknowledged_rows: u64,
    /// Rows that wait for being sent and acknowledged.
    pub waiting_rows: u64,
    /// Bytes of the files.
    pub log_bytes: u64,
    /// Rows that were dropped for space, ever.
    pub dropped_rows: u64,
}

impl Spool {
    /// Opens the spool in `dir`, or makes one there; recovers what a crash left. `now_ns` is the
    /// time: UTC, nanoseconds since 1970.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has it, [`StoreError::Spool`] when there is a
    /// store in `dir`, [`StoreError::Damaged`] or [`StoreError::Newer`] when what it says about
    /// itself cannot be read, or [`StoreError::Io`].
    pub fn open(dir: &Path, options: SpoolOptions, now_ns: i64) -> Result<Self, StoreError> {
        Self::open_on(Disk::default(), dir, options, now_ns)
    }

    pub(crate) fn open_on(
        disk: Disk,
        dir: &Path,
        options: SpoolOptions,
        now_ns: i64,
    ) -> Result<Self, StoreError> {
        disk.create_dirs(&layout::log_dir(dir))?;
        let lock = Lock::take(dir, disk.access)?;
        let identity = identity::read_or_make(&disk, dir, now_ns)?;
        disk.sync_dir(dir)?;
        let manifest = Manifest::read(dir)?.unwrap_or_default();
        let orphans = set_orphans_aside(&disk, dir, &manifest)?;
        let durable = wal::DurableEnd::read(dir)?;
        let files = wal::list(dir, manifest.first_log)?;
        let mut used = BTreeSet::new();
        let recovered = recover(dir, &manifest, &files, durable, |block| {
            used.extend(block.batch.records().iter().flat_map(|r| [r.process, r.root_process]));
        })?;
        // The writes of a killed agent may be in the page cache only.
        files.iter().try_for_each(wal::LogFile::sync)?;
        disk.sync_dir(&layout::log_dir(dir))?;
        let mut ledger = recovered.ledger;
        let damaged: u64 = recovered.damage.iter().map(|damage| damage.rows_lost).sum();
        ledger.damaged_rows = manifest.ledger.damaged_rows + damaged;
        ledger.prune_processes(used);
        let next_sequence = files.last().map_or(manifest.first_log, |file| file.sequence + 1);
        let spans = recovered.files.iter().map(|(sequence, end_row, len)| FileSpan {
            sequence: *sequence,
            end_row: *end_row,
            len: *len,
        });
        let log = LogWriter::new(disk.clone(), dir.to_owned(), spans.collect(), next_sequence);
        let rows = recovered.next_row.saturating_sub(manifest.first_row);
        let nothing_yet = (recovered.next_row == 0).then(Progress::default);
        let progress = Progress::read(dir)?.or(nothing_yet);
        if let Some(progress) = progress {
            progress.write(dir, disk.access)?;
        }
        let acknowledged = progress.map_or(0, |progress| progress.acknowledged);
        let acknowledged = acknowledged.max(manifest.first_row).max(identity.first_row);
        let intake = Intake {
            log,
            ledger,
            next_row: recovered.next_row,
            appends: 0,
            unsynced: VecDeque::new(),
            unsynced_bytes: 0,
            broken: None,
            notes: Vec::new(),
        };
        let file_bytes = options.file_bytes.min(options.bytes_max / 4);
        Ok(Self {
            dir: dir.to_owned(),
            options: SpoolOptions { file_bytes, ..options },
            disk,
            identity: Mutex::new(identity),
            progress: Mutex::new(progress),
            durable_row: AtomicU64::new(intake.next_row),
            acknowledged: AtomicU64::new(acknowledged.min(intake.next_row)),
            intake: Mutex::new(intake),
            syncing: Mutex::new(0),
            reader: Mutex::default(),
            recovery: Recovery { rows, torn: recovered.torn, damage: recovered.damage, orphans },
            manifest: Mutex::new(manifest),
            _lock: lock,
        })
    }

    /// The number under which its rows are counted: made at random with the spool, and kept until
    /// [`Self::renumber`].
    pub fn id(&self) -> StreamId {
        self.identity().id
    }

    /// The number that it was made with: what it drops is counted under this one for ever.
    pub fn origin(&self) -> StreamId {
        self.identity().origin
    }

    /// The first row that [`Self::id`] counts.
    pub fn first_row(&self) -> u64 {
        self.identity().first_row
    }

    /// Rows from this number on were never sent; `None` where that is not known: the system was
    /// started anew since, or the folder may be an older copy that was put back.
    pub fn sent_rows(&self) -> Option<u64> {
        self.progress().map(|progress| progress.sent)
    }

    /// Notes that rows below `row` are being sent; to be called before.
    ///
    /// # Errors
    /// [`StoreError::Io`] when it cannot be noted.
    pub fn sending(&self, row: u64) -> Result<(), StoreError> {
        self.note(|progress| progress.sent = progress.sent.max(row))
    }

    /// Counts the rows that are not acknowledged under another number from now on, because somebody
    /// else has delivered under this one. The new number.
    ///
    /// # Errors
    /// [`StoreError`] when that cannot be made durable: the number is the same then.
    pub fn renumber(&self) -> Result<StreamId, StoreError> {
        let acknowledged = self.acknowledged.load(Ordering::Acquire);
        let mut identity = self.identity();
        *identity = identity.renumber(&self.disk, &self.dir, acknowledged)?;
        self.note(|progress| *progress = Progress { acknowledged, sent: acknowledged })?;
        Ok(identity.id)
    }

    fn note(&self, change: impl FnOnce(&mut Progress)) -> Result<(), StoreError> {
        let mut progress = self.progress();
        let mut next = progress.unwrap_or_default();
        change(&mut next);
        if *progress != Some(next) {
            next.write(&self.dir, self.disk.access)?;
            *progress = Some(next);
        }
        Ok(())
    }

    /// Takes in rows and notes, all or nothing; the number that the next row will get. They are
    /// durable when a later call of [`Self::sync`] has returned. Where there is no room any more
    /// the oldest rows are dropped first.
    ///
    /// # Errors
    /// [`StoreError::BatchTooLarge`] and [`StoreError::BytesTooMany`]; otherwise nothing was taken
    /// and where [`StoreError::is_passing`] the same append may be tried again later.
    pub fn append(&self, input: &Append<'_>, now_ns: i64) -> Result<u64, StoreError> {
        input.check_size(0)?;
        self.make_room(input)?;
        let mut intake = self.intake();
        intake.save_again()?;
        intake.append(input, now_ns, &self.options)
    }

    /// Makes durable what was appended before, by `fdatasync`; rows below the returned number
    /// survive anything.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the system could not: the rows are kept in memory and written into
    /// a new file by the next call of this or of [`Self::append`].
    pub fn sync(&self) -> Result<u64, StoreError> {
        let wanted = self.intake().appends;
        let mut durable = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        let (unsynced, row, appends) = {
            let mut intake = self.intake();
            intake.save_again()?;
            if *durable >= wanted {
                return Ok(self.durable_rows());
            }
            (intake.log.unsynced(), intake.next_row, intake.appends)
        };
        let result = unsynced.sync();
        let mut intake = self.intake();
        if let Err(error) = result {
            // Linux forgets which pages failed: a second fdatasync would succeed and mean nothing.
            intake.broken = Some((error.to_string(), 0));
            intake.log.abandon();
            return Err(error);
        }
        intake.log.synced(&unsynced);
        intake.forget_synced(appends);
        drop(intake);
        if let Some(end) = unsynced.durable_end(row) {
            end.write(&self.dir, self.disk.access)?;
        }
        *durable = appends;
        self.durable_row.fetch_max(row, Ordering::Release);
        Ok(row)
    }

    /// Rows below this number survive anything.
    pub fn durable_rows(&self) -> u64 {
        self.durable_row.load(Ordering::Acquire)
    }

    /// Rows that were dropped for [`SpoolOptions::bytes_max`] before they were acknowledged, ever.
    /// After a start of the system, earlier acknowledgements count only once they are repeated.
    pub fn dropped_rows(&self) -> u64 {
        self.manifest().expired_rows
    }

    /// Names, cursors and losses as of now.
    pub fn ledger(&self) -> Ledger {
        self.intake().ledger.clone()
    }

    /// Read positions in the ring of a process; `None` when the process is unknown here.
    pub fn cursors(&self, process: ProcessId) -> Option<Positions> {
        self.intake().ledger.cursors.get(&process).cloned()
    }

    /// Findings of the recovery when the spool was opened.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Rows that wait.
    pub fn backlog(&self) -> SpoolBacklog {
        let (first_row, dropped_rows) = {
            let manifest = self.manifest();
            (manifest.first_row, manifest.expired_rows)
        };
        let acknowledged_rows = self.acknowledged.load(Ordering::Acquire);
        let intake = self.intake();
        SpoolBacklog {
            rows: intake.next_row,
            durable_rows: self.durable_rows(),
            acknowledged_rows,
            waiting_rows: intake.next_row.saturating_sub(acknowledged_rows.max(first_row)),
            log_bytes: intake.log.size_bytes(),
            dropped_rows,
        }
    }

    /// Rows below `row` are durable at the receiver. Files with no others are removed; when the
    /// spool dies before that, they are read again, and the receiver knows them.
    ///
    /// # Errors
    /// [`StoreError`] when that cannot be done now; the next acknowledgement does it.
    pub fn acknowledge(&self, row: u64) -> Result<(), StoreError> {
        let row = row.min(self.durable_rows());
        self.acknowledged.fetch_max(row, Ordering::AcqRel);
        self.note(|progress| {
            progress.acknowledged = progress.acknowledged.max(row);
            progress.sent = progress.sent.max(row);
        })?;
        let mut manifest = self.manifest();
        let done = {
            let intake = self.intake();
            let ended = intake.log.ended().take_while(|span| span.end_row <= row);
            ended.last().copied()
        };
        done.map_or(Ok(()), |span| self.remove_through(&mut manifest, span))
    }

    /// Drops the oldest files until the block of `input` has room.
    fn make_room(&self, input: &Append<'_>) -> Result<(), StoreError> {
        let rows = input.batch.map_or(0, |b| size_of_val(b.records()) + b.contexts().len()) as u64;
        loop {
            let mut manifest = self.manifest();
            let oldest = {
                let mut intake = self.intake();
                if intake.log.size_bytes().saturating_add(rows) <= self.options.bytes_max {
                    return Ok(());
                }
                if intake.log.ended().next().is_none() {
                    intake.log.end_file();
                }
                intake.log.ended().next().copied()
            };
            let Some(span) = oldest else { return Ok(()) };
            self.remove_through(&mut manifest, span)?;
        }
    }

    /// Removes the files up to this one. First what is known from them, and that they are gone,
    /// becomes durable.
    fn remove_through(&self, manifest: &mut Manifest, span: FileSpan) -> Result<(), StoreError> {
        let acknowledged = self.acknowledged.load(Ordering::Acquire);
        let mut next = {
            let intake = self.intake();
            Manifest {
                generation: manifest.generation + 1,
                next_row: intake.next_row,
                first_log: span.sequence + 1,
                first_row: span.end_row.max(manifest.first_row),
                expired_rows: manifest.expired_rows,
                ledger: intake.ledger.clone(),
                ..Manifest::default()
            }
        };
        let kept_from = acknowledged.max(manifest.first_row);
        next.expired_rows += next.first_row.saturating_sub(kept_from);
        // The manifest tells cursors: the rows before them must not be lost any more.
        self.sync()?;
        next.write(&self.disk, &self.dir)?;
        *manifest = next;
        self.intake().log.remove_before(manifest.first_log)
    }

    fn intake(&self) -> MutexGuard<'_, Intake> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn identity(&self) -> MutexGuard<'_, Identity> {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self) -> MutexGuard<'_, Option<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Taken before `intake` where both are.
    fn manifest(&self) -> MutexGuard<'_, Manifest> {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Intake {
    fn append(
        &mut self,
        input: &Append<'_>,
        now_ns: i64,
        options: &SpoolOptions,
    ) -> Result<u64, StoreError> {
        if self.unsynced_bytes > UNSYNCED_MAX {
            return Err(StoreError::Backlog {
                buffered_bytes: self.unsynced_bytes as u64,
                bytes_max: UNSYNCED_MAX as u64,
            });
        }
        self.notes.clear();
        notes::encode_append(&self.ledger, input, now_ns, &mut self.notes);
        let batch = input.batch.cloned().unwrap_or_default();
        if batch.is_empty() && self.notes.is_empty() {
            return Ok(self.next_row);
        }
        input.check_size(self.notes.len())?;
        self.log.append(self.next_row, now_ns, &batch, &self.notes)?;
        self.log.rotate_at(options.file_bytes);
        let taken_in = self.ledger.decode(&self.notes);
        debug_assert_eq!(taken_in, Ok(()), "notes of our own");
        let first_row = self.next_row;
        self.next_row += batch.len() as u64;
        self.appends += 1;
        let notes = self.notes.clone();
        let block = Unsynced { append: self.appends, first_row, written_ns: now_ns, batch, notes };
        self.unsynced_bytes += block.size_bytes();
        self.unsynced.push_back(block);
        Ok(self.next_row)
    }

    /// After a failed sync: writes what is perhaps not on disk into a new file. A block that is
    /// in both is read once.
    fn save_again(&mut self) -> Result<(), StoreError> {
        let Some((_, saved)) = &mut self.broken else { return Ok(()) };
        while let Some(block) = self.unsynced.get(*saved) {
            self.log.append(block.first_row, block.written_ns, &block.batch, &block.notes)?;
            *saved += 1;
        }
        self.broken = None;
        Ok(())
    }

    /// The appends up to this one are on disk.
    fn forget_synced(&mut self, append: u64) {
        while let Some(block) = self.unsynced.pop_front_if(|block| block.append <= append) {
            self.unsynced_bytes -= block.size_bytes();
        }
    }
}

impl Unsynced {
    fn size_bytes(&self) -> usize {
        size_of_val(self.batch.records()) + self.batch.contexts().len() + self.notes.len()
    }
}
