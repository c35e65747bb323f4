//! The writer's side of a store.

use crate::append::{Append, Positions, StreamId};
use crate::compaction_state::CompactionState;
use crate::disk::{Access, Disk};
use crate::lock::Lock;
use crate::manifest::Manifest;
use crate::notes::{self, Ledger};
use crate::orphans::set_orphans_aside;
use crate::recovery::{RecoveredLog, recover};
use crate::rows::Buffer;
use crate::wal::{self, FileSpan, LogWriter};
use crate::{Damage, Options, Slot, StoreError, layout};
use chronoscope_model::{Batch, Names, ProcessId};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Times the bytes at which sealing begins early: there nothing more is taken.
const REFUSE_AT: u64 = 4;

/// A store that this process writes. All methods may be called from several threads; [`append`]
/// never waits for a disk to sync.
///
/// [`append`]: Store::append
#[derive(Debug)]
pub struct Store {
    pub(crate) dir: PathBuf,
    pub(crate) options: Options,
    pub(crate) disk: Disk,
    pub(crate) intake: Mutex<Intake>,
    /// Held while the log is being synced: how many appends are durable, of all since the start.
    syncing: Mutex<u64>,
    durable_row: AtomicU64,
    pub(crate) compaction: Mutex<CompactionState>,
    recovery: Recovery,
    _lock: Lock,
}

/// State that an append changes.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) log: LogWriter,
    pub(crate) buffer: Buffer,
    pub(crate) ledger: Ledger,
    pub(crate) next_row: u64,
    /// Number of appends written since the start.
    pub(crate) appends: u64,
    /// Why the log failed, until its rows are saved as segments.
    pub(crate) broken: Option<String>,
    /// Time of the last append, by the clock at that time; without one, the time of the last sealed
    /// minute.
    appended_ns: Option<i64>,
    /// Slots that have segments: a row that comes now is late.
    pub(crate) sealed: BTreeSet<Slot>,
    notes: Vec<u8>,
}

/// Findings of the recovery when the store was opened.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// Rows of the log that no segment had.
    pub rows: u64,
    /// Writes that a crash had cut short; none of them was ever reported durable.
    pub torn: Vec<Damage>,
    /// Damage that was passed over.
    pub damage: Vec<Damage>,
    /// Files that no manifest explains: what a crash had left half made was removed, what is whole
    /// moved to `lost+found`.
    pub orphans: u64,
}

/// Rows that wait, and positions of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Rows taken in, ever: the number of the next one.
    pub rows: u64,
    /// Rows below this number survive anything.
    pub durable_rows: u64,
    /// Rows that wait for being sealed.
    pub unsealed_rows: u64,
    /// Bytes of memory that they take.
    pub unsealed_bytes: u64,
    /// Bytes of the log's files.
    pub log_bytes: u64,
    /// Rows that came late, ever.
    pub late_rows: u64,
}

impl Store {
    /// Opens the store in `dir`, or makes one there, for writing; recovers what a crash left.
    /// `now_ns` is the time: UTC, nanoseconds since 1970.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process writes it, [`StoreError::Damaged`] when its
    /// manifest is, [`StoreError::Newer`] when a newer program wrote it, or [`StoreError::Io`].
    pub fn open(dir: &Path, options: Options, now_ns: i64) -> Result<Self, StoreError> {
        let access = if options.group_readable { Access::Group } else { Access::Owner };
        Self::open_on(Disk::of(access), dir, options, now_ns)
    }

    pub(crate) fn open_on(
        disk: Disk,
        dir: &Path,
        options: Options,
        now_ns: i64,
    ) -> Result<Self, StoreError> {
        if layout::spool(dir).exists() {
            return Err(StoreError::Spool { dir: dir.to_owned() });
        }
        for sub in [layout::log_dir(dir), layout::segment_dir(dir), layout::sketch_dir(dir)] {
            disk.create_dirs(&sub)?;
        }
        let lock = Lock::take(dir, disk.access)?;
        disk.sync_dir(dir)?;
        let manifest = manifest_of(&disk, dir)?;
        let orphans = set_orphans_aside(&disk, dir, &manifest)?;
        let durable = wal::DurableEnd::read(dir)?;
        // Nobody else removes files: where the first one is missing, the gap in the row numbers
        // says what was lost with it.
        let files = wal::list(dir, manifest.first_log)?;
        let mut buffer = Buffer::default();
        let recovered = recover(dir, &manifest, &files, durable, |block| {
            // Rows wait anew from now on: others of their minute may come just as late.
            buffer.add(&block.batch, block.first_row, now_ns, |slot, row| {
                !manifest.is_sealed(slot, row)
            });
        })?;
        let next_sequence = files.last().map_or(manifest.first_log, |file| file.sequence + 1);
        // A killed server's rows may be in the page cache only.
        files.iter().try_for_each(wal::LogFile::sync)?;
        disk.sync_dir(&layout::log_dir(dir))?;
        let ledger = ledger_of(&recovered, &manifest, &buffer);
        let spans = recovered.files.iter().map(|(sequence, end_row, len)| FileSpan {
            sequence: *sequence,
            end_row: *end_row,
            len: *len,
        });
        let log = LogWriter::new(disk.clone(), dir.to_owned(), spans.collect(), next_sequence);
        let recovery = Recovery {
            rows: buffer.rows(),
            torn: recovered.torn,
            damage: recovered.damage,
            orphans,
        };
        let intake = Intake {
            log,
            buffer,
            ledger,
            next_row: recovered.next_row,
            appends: 0,
            broken: None,
            appended_ns: recovered.written_ns.max(manifest.live().map(|of| of.sealed_ns).max()),
            sealed: manifest.live().map(|segment| segment.slot).collect(),
            notes: Vec::new(),
        };
        Ok(Self {
            dir: dir.to_owned(),
            options,
            disk,
            durable_row: AtomicU64::new(intake.next_row),
            intake: Mutex::new(intake),
            syncing: Mutex::new(0),
            compaction: Mutex::new(CompactionState::new(manifest)),
            recovery,
            _lock: lock,
        })
    }

    /// Takes in rows and notes, all or nothing; the number that the next row will get. They are
    /// durable when [`Self::sync`] has returned that number or a higher one.
    ///
    /// # Errors
    /// [`StoreError::BatchTooLarge`]; otherwise nothing was taken, and where
    /// [`StoreError::is_passing`] the same append may be tried again later.
    pub fn append(&self, input: &Append<'_>, now_ns: i64) -> Result<u64, StoreError> {
        let nothing = Batch::default();
        let batch = input.batch.unwrap_or(&nothing);
        let mut intake = self.intake();
        if input.key.is_some_and(|key| intake.ledger.keys.contains(key)) {
            return Ok(intake.next_row);
        }
        intake.check(&self.options)?;
        intake.append(batch, input, now_ns, &self.options)
    }

    /// Makes durable what was appended before, by `fdatasync`; rows below the returned number
    /// survive anything. Threads that call it at the same time share one `fdatasync`.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the system could not, and [`StoreError::LogFailed`] until
    /// [`Self::maintain`] has saved the rows as segments.
    pub fn sync(&self) -> Result<u64, StoreError> {
        let wanted = self.intake().appends;
        let mut durable = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        let (unsynced, row, appends) = {
            let intake = self.intake();
            if let Some(reason) = &intake.broken {
                return Err(StoreError::LogFailed { reason: reason.clone() });
            }
            if *durable >= wanted {
                return Ok(self.durable_rows());
            }
            (intake.log.unsynced(), intake.next_row, intake.appends)
        };
        let result = unsynced.sync();
        let mut intake = self.intake();
        if let Err(error) = result {
            // Linux forgets which pages failed: a second fdatasync would succeed and mean nothing.
            intake.broken = Some(error.to_string());
            intake.log.abandon();
            return Err(error);
        }
        intake.log.synced(&unsynced);
        drop(intake);
        if let Some(end) = unsynced.durable_end(row) {
            end.write(&self.dir, self.disk.access)?;
        }
        *durable = appends;
        self.durable_row.fetch_max(row, Ordering::Release);
        Ok(row)
    }

    /// Time of the last append, by the clock at that time: UTC, nanoseconds since 1970. `None` for
    /// a new store.
    pub fn appended_ns(&self) -> Option<i64> {
        self.intake().appended_ns
    }

    /// Rows below this number survive anything.
    pub fn durable_rows(&self) -> u64 {
        self.durable_row.load(Ordering::Acquire)
    }

    pub(crate) fn set_durable(&self, row: u64) {
        self.durable_row.fetch_max(row, Ordering::Release);
    }

    /// Rows that wait, and positions of the store.
    pub fn backlog(&self) -> Backlog {
        let intake = self.intake();
        Backlog {
            rows: intake.next_row,
            durable_rows: self.durable_rows(),
            unsealed_rows: intake.buffer.rows(),
            unsealed_bytes: intake.buffer.size_bytes(),
            log_bytes: intake.log.size_bytes(),
            late_rows: intake.ledger.late_rows,
        }
    }

    /// Number of slots with rows that are not sealed, and those of `slots` that have none.
    pub fn opened_by(&self, slots: &BTreeSet<Slot>) -> (usize, BTreeSet<Slot>) {
        let open: BTreeSet<Slot> = self.intake().buffer.slots().into_iter().collect();
        (open.len(), slots.difference(&open).copied().collect())
    }

    /// Options of the store.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Looks into the names that are known now. Rows wait meanwhile.
    pub fn with_names<T>(&self, look: impl FnOnce(&Names) -> T) -> T {
        look(&self.intake().ledger.names)
    }

    /// Looks at names, cursors and losses as of now. What is appended waits meanwhile.
    pub fn with_ledger<T>(&self, look: impl FnOnce(&Ledger) -> T) -> T {
        look(&self.intake().ledger)
    }

    /// Names, cursors and losses as of now.
    pub fn ledger(&self) -> Ledger {
        self.intake().ledger.clone()
    }

    /// Read positions in the ring of a process; `None` when the process is unknown here.
    pub fn cursors(&self, process: ProcessId) -> Option<Positions> {
        self.intake().ledger.cursors.get(&process).cloned()
    }

    /// Number, in the sender's count, of the next row that is wanted from it; `None` when nothing
    /// came from it yet.
    pub fn stream(&self, stream: StreamId) -> Option<u64> {
        self.intake().ledger.streams.get(&stream).map(|end| end.next_row)
    }

    /// Findings of the recovery when the store was opened.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The store's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn intake(&self) -> MutexGuard<'_, Intake> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The manifest of the store in `dir`. A new store gets one at once: without one, segments say that
/// it was lost.
fn manifest_of(disk: &Disk, dir: &Path) -> Result<Manifest, StoreError> {
    if let Some(manifest) = Manifest::of_store(dir)? {
        return Ok(manifest);
    }
    let manifest = Manifest::default();
    manifest.write(disk, dir)?;
    Ok(manifest)
}

/// The ledger after a recovery: damage is counted, and processes that nothing names are left out.
fn ledger_of(recovered: &RecoveredLog, manifest: &Manifest, buffer: &Buffer) -> Ledger {
    let mut ledger = recovered.ledger.clone();
    let damaged: u64 = recovered.damage.iter().map(|damage| damage.rows_lost).sum();
    ledger.damaged_rows = manifest.ledger.damaged_rows + damaged;
    let waiting = buffer.all_rows().flat_map(|rows| &rows.records);
    let used = waiting.flat_map(|record| [record.process, record.root_process]).collect();
    ledger.prune_processes(used);
    ledger
}

impl Intake {
    fn check(&self, options: &Options) -> Result<(), StoreError> {
        if let Some(reason) = &self.broken {
            return Err(StoreError::LogFailed { reason: reason.clone() });
        }
        let (buffered, log) = (self.buffer.size_bytes(), self.log.size_bytes());
        let over = |bytes: u64, most: u64| bytes > most.saturating_mul(REFUSE_AT);
        if over(buffered, options.buffer_bytes) || over(log, options.log_bytes) {
            let bytes_max = options.buffer_bytes.saturating_mul(REFUSE_AT);
            return Err(StoreError::Backlog { buffered_bytes: buffered, bytes_max });
        }
        Ok(())
    }

    fn append(
        &mut self,
        batch: &Batch,
        input: &Append<'_>,
        now_ns: i64,
        options: &Options,
    ) -> Result<u64, StoreError> {
        let late = self.count_late(batch, now_ns, options);
        self.notes.clear();
        notes::encode_append(&self.ledger, input, now_ns, &mut self.notes);
        if late > 0 {
            notes::encode_late(self.ledger.late_rows + late, &mut self.notes);
        }
        if batch.is_empty() && self.notes.is_empty() {
            return Ok(self.next_row);
        }
        input.check_size(self.notes.len())?;
        self.log.append(self.next_row, now_ns, batch, &self.notes)?;
        self.log.rotate_at(options.log_file_bytes);
        self.buffer.add(batch, self.next_row, now_ns, |_, _| true);
        self.next_row += batch.len() as u64;
        self.appends += 1;
        self.appended_ns = Some(now_ns);
        // The same bytes as recovery will read: live and recovered ledger cannot differ.
        let taken_in = self.ledger.decode(&self.notes);
        debug_assert_eq!(taken_in, Ok(()), "notes of our own");
        Ok(self.next_row)
    }

    /// Rows of minutes that were sealed for good.
    fn count_late(&self, batch: &Batch, now_ns: i64, options: &Options) -> u64 {
        let wait_ns = i64::try_from(options.wait.as_nanos()).unwrap_or(i64::MAX);
        let open_from = now_ns.saturating_sub(wait_ns);
        let closed = batch.records().iter().map(Slot::of);
        let closed = closed.filter(|slot| slot.minute.end_ns() <= open_from);
        closed.filter(|slot| self.sealed.contains(slot)).count() as u64
    }
}
