//! Compaction: sealing minutes, merging their parts, deleting what is too old.
//!
//! Every step ends in one new manifest. Before it, what the step made is nobody's (an orphan, if a
//! crash comes); after it, what it replaced is.

use crate::compaction_state::CompactionState;
use crate::manifest::{Manifest, SegmentEntry};
use crate::notes::Ledger;
use crate::rows::Rows;
use crate::segment::{self, Order, SegmentWriter, Written};
use crate::store::Store;
use crate::{Segment, Slot, StoreError, layout};
use chronoscope_model::Names;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

/// Time that a replaced segment stays for readers of an older manifest, in nanoseconds.
const GRACE_NS: i64 = 60_000_000_000;

/// Share (one in so many) of the retention time, and of all rows, beyond which a deletion at once
/// waits for a confirmation.
const AT_ONCE_SHARE: u128 = 10;

/// Retention time that may always pass at once without a confirmation: a server that was stopped
/// for an hour has as much to delete.
const AT_ONCE_MIN: Duration = Duration::from_hours(1);

/// Most rows that one manifest makes sealed: so much is done again when a step fails.
const STEP_ROWS: u64 = 4_000_000;

/// Result of a call of [`Store::maintain`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// Rows that were sealed.
    pub sealed_rows: u64,
    /// Segments they are in.
    pub sealed_segments: u64,
    /// Rows that were merged with others of their minute.
    pub merged_rows: u64,
    /// Rows that were deleted for their age or for space.
    pub expired_rows: u64,
    /// Rows that are old enough to be deleted and wait for [`confirm_deletion`], because so much at once
    /// is more likely a wrong clock.
    pub waiting_rows: u64,
    /// Whether there is more to do at once.
    pub again: bool,
}

/// The state of the writer as the next manifest will tell it.
struct Checkpoint {
    ledger: Ledger,
    next_row: u64,
    first_log: u64,
    first_row: u64,
    broken: bool,
}

/// Number of rows that are `expired`, if a wrong clock is the more likely reason for so many at
/// once; else 0. A running server deletes a minute at a time, a server that was stopped deletes
/// what has grown old meanwhile.
fn too_many_at_once(
    compaction: &CompactionState,
    expired: &BTreeSet<Slot>,
    oldest_ns: i64,
    keep: Duration,
) -> u64 {
    let Some(first) = expired.first() else { return 0 };
    // After a start it is not known how far it was looked: rows that are still here were young then.
    let before_ns = compaction.aged_until_ns.unwrap_or(first.minute.start_ns());
    let grown_old_ns = u128::from(oldest_ns.saturating_sub(before_ns).max(0).unsigned_abs());
    let (mut old, mut all) = (0, 0);
    for segment in compaction.manifest.live() {
        all += segment.rows;
        old += if expired.contains(&segment.slot) { segment.rows } else { 0 };
    }
    let is_long = grown_old_ns > AT_ONCE_MIN.as_nanos().max(keep.as_nanos() / AT_ONCE_SHARE);
    if is_long && u128::from(old) * AT_ONCE_SHARE > u128::from(all) { old } else { 0 }
}

/// Lets the store in `dir` delete once what waits for it ([`Maintained::waiting_rows`]).
///
/// # Errors
/// [`StoreError::Io`] when there is no such store, or it may not be written.
pub fn confirm_deletion(dir: &Path) -> Result<(), StoreError> {
    let path = layout::deletion_confirmed(dir);
    std::fs::write(&path, []).map_err(StoreError::io("write", &path))
}

/// Whether a deletion was confirmed; for the next one it has to be again.
fn take_confirmation(dir: &Path) -> Result<bool, StoreError> {
    let path = layout::deletion_confirmed(dir);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io("remove", &path)(error)),
    }
}

impl Store {
    /// Does what is due at `now_ns` (UTC, nanoseconds since 1970): seals minutes whose wait is
    /// over, and others early when too much waits in memory or in the log; merges the parts of a
    /// quiet minute; deletes what is older or more than was asked to be kept. One step at a time:
    /// call it again while [`Maintained::again`]. Appending goes on meanwhile.
    ///
    /// # Errors
    /// [`StoreError`] of the step that failed. What it was to seal waits on, in memory and in the
    /// log; nothing is lost, and the next call tries again.
    pub fn maintain(&self, now_ns: i64) -> Result<Maintained, StoreError> {
        self.maintain_keeping(now_ns, now_ns)
    }

    /// As [`Self::maintain`], with another instant from which the age of rows is counted: a clock that
    /// is set ahead must not make them old.
    ///
    /// # Errors
    /// As [`Self::maintain`].
    pub fn maintain_keeping(&self, now_ns: i64, aged_at_ns: i64) -> Result<Maintained, StoreError> {
        let mut compaction = self.compaction.lock().unwrap_or_else(PoisonError::into_inner);
        // Space first: a full disk must not keep sealing from making room for itself.
        let (expired_rows, waiting_rows) = self.expire(&mut compaction, aged_at_ns)?;
        let mut done = Maintained { expired_rows, waiting_rows, ..Maintained::default() };
        self.remove_retired(&mut compaction, now_ns)?;
        let slots = self.slots_to_seal(now_ns);
        let broken = self.intake().broken.is_some();
        if !slots.is_empty() || broken {
            self.seal(&mut compaction, &slots, now_ns, &mut done)?;
            done.again = true;
        } else if let Some(slot) = self.slot_to_merge(&compaction, now_ns) {
            done.merged_rows = self.merge(&mut compaction, slot, now_ns)?;
            done.again = true;
        } else if self.is_log_of_notes_only() {
            // A quiet system goes on noting how far its rings are read. A new manifest has all
            // notes, so that the log may begin anew.
            let next = compaction.manifest.clone();
            self.intake().log.end_file();
            self.commit(&mut compaction, next, &mut Vec::new())?;
            self.clean_up(&mut compaction)?;
        }
        Ok(done)
    }

    /// Seals everything, for a store that is put away or handed on. It is not needed for
    /// durability.
    ///
    /// # Errors
    /// As [`Self::maintain`].
    pub fn seal_all(&self, now_ns: i64) -> Result<Maintained, StoreError> {
        let mut compaction = self.compaction.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = Maintained::default();
        self.seal_waiting(&mut compaction, now_ns, &mut done)?;
        Ok(done)
    }

    /// Seals all rows that wait, and those that come meanwhile.
    pub(crate) fn seal_waiting(
        &self,
        compaction: &mut CompactionState,
        now_ns: i64,
        done: &mut Maintained,
    ) -> Result<(), StoreError> {
        loop {
            let slots = self.intake().buffer.slots();
            if slots.is_empty() {
                return Ok(());
            }
            self.seal(compaction, &slots, now_ns, done)?;
        }
    }

    /// Whether the log is full and has no rows that wait.
    fn is_log_of_notes_only(&self) -> bool {
        let intake = self.intake();
        intake.buffer.rows() == 0 && intake.log.size_bytes() > self.options.log_bytes
    }

    fn slots_to_seal(&self, now_ns: i64) -> Vec<Slot> {
        let intake = self.intake();
        if intake.broken.is_some() {
            // Rows that the log lost are safe again once they are in segments.
            return intake.buffer.slots();
        }
        let due = intake.buffer.due(now_ns, self.options.wait);
        if !due.is_empty() {
            return due;
        }
        if intake.buffer.size_bytes() > self.options.buffer_bytes {
            return intake.buffer.largest().into_iter().collect();
        }
        if intake.log.size_bytes() > self.options.log_bytes {
            return intake.buffer.oldest().into_iter().collect();
        }
        Vec::new()
    }

    fn seal(
        &self,
        compaction: &mut CompactionState,
        slots: &[Slot],
        now_ns: i64,
        done: &mut Maintained,
    ) -> Result<(), StoreError> {
        let (mut taken, through, names, broken) = self.take(slots);
        let aliases = self.intake().ledger.aliases.clone();
        taken.values_mut().for_each(|rows| aliases.apply(&mut rows.records));
        let mut files = Vec::new();
        let result = self.write_and_commit(compaction, &taken, through, &names, now_ns, &mut files);
        match result {
            Ok(rows) => {
                done.sealed_rows += rows;
                done.sealed_segments += taken.len() as u64;
                let mut intake = self.intake();
                intake.sealed.extend(taken.keys());
                if broken {
                    intake.broken = None;
                }
                drop(intake);
                self.set_durable(if broken { through } else { 0 });
                self.clean_up(compaction)
            }
            Err(error) => {
                let mut intake = self.intake();
                for (slot, rows) in taken {
                    intake.buffer.put_back(slot, rows);
                }
                Err(error)
            }
        }
    }

    /// Takes the rows of some of the slots out of the buffer, with the number of the next row.
    fn take(&self, slots: &[Slot]) -> (BTreeMap<Slot, Rows>, u64, Names, bool) {
        let mut intake = self.intake();
        let broken = intake.broken.is_some();
        let mut taken = BTreeMap::new();
        let mut count = 0;
        for slot in slots {
            // After a failure of the log all must go into one manifest: it is what tells the
            // cursors of all.
            if count >= STEP_ROWS && !broken {
                break;
            }
            if let Some(rows) = intake.buffer.take(*slot) {
                count += rows.records.len() as u64;
                taken.insert(*slot, rows);
            }
        }
        (taken, intake.next_row, intake.ledger.names.clone(), broken)
    }

    fn write_and_commit(
        &self,
        compaction: &mut CompactionState,
        taken: &BTreeMap<Slot, Rows>,
        through: u64,
        names: &Names,
        now_ns: i64,
        files: &mut Vec<PathBuf>,
    ) -> Result<u64, StoreError> {
        let mut next = compaction.manifest.clone();
        let mut rows_sealed = 0;
        let written = taken.iter().try_for_each(|(slot, rows)| {
            let id = next.next_segment;
            next.next_segment += 1;
            let [segment, sketch] = self.write_segment(*slot, id, rows, names, files)?;
            let rows = rows.records.len() as u64;
            rows_sealed += rows;
            next.segments.push(SegmentEntry::sealed(id, *slot, rows, [segment, sketch], now_ns));
            next.sealed_through.insert(*slot, through);
            Ok(())
        });
        // Ids are not used twice, so that a name never means two files.
        compaction.manifest.next_segment = next.next_segment;
        let written = written.and_then(|()| self.sync_names());
        let written = written.and_then(|()| self.commit(compaction, next, files));
        if written.is_err() {
            // A file that cannot be removed now is an orphan: the next start sets it aside.
            files.drain(..).for_each(|path| drop(self.disk.remove(&path)));
        }
        written.map(|()| rows_sealed)
    }

    fn write_segment(
        &self,
        slot: Slot,
        id: u64,
        rows: &Rows,
        names: &Names,
        files: &mut Vec<PathBuf>,
    ) -> Result<[Written; 2], StoreError> {
        let path = layout::segment(&self.dir, slot, id);
        let sketch_path = layout::sketch(&self.dir, slot, id);
        files.extend([path.clone(), sketch_path.clone()]);
        segment::seal(&self.disk, [&path, &sketch_path], slot, rows, names)
    }

    /// Makes the names of new segments durable.
    pub(crate) fn sync_names(&self) -> Result<(), StoreError> {
        self.disk.sync_dir(&layout::segment_dir(&self.dir))?;
        self.disk.sync_dir(&layout::sketch_dir(&self.dir))
    }

    /// Makes `next` the manifest. `files` are what it names anew; emptied when it is doubtful
    /// whether it names them.
    pub(crate) fn commit(
        &self,
        compaction: &mut CompactionState,
        mut next: Manifest,
        files: &mut Vec<PathBuf>,
    ) -> Result<(), StoreError> {
        let checkpoint = self.checkpoint();
        if !checkpoint.broken {
            // The manifest tells cursors: the rows before them must not be lost any more.
            self.sync()?;
        }
        next.generation += 1;
        next.next_row = checkpoint.next_row;
        next.first_log = checkpoint.first_log;
        next.first_row = checkpoint.first_row;
        next.ledger = checkpoint.ledger;
        next.sealed_through.retain(|_, through| *through > checkpoint.first_row);
        if let Err(error) = next.write(&self.disk, &self.dir) {
            // Renamed or not, durable or not: both manifests are true as long as all files stay.
            compaction.doubtful.append(files);
            return Err(error);
        }
        compaction.manifest = next;
        Ok(())
    }

    fn checkpoint(&self) -> Checkpoint {
        let intake = self.intake();
        let broken = intake.broken.is_some();
        let first_row = intake.buffer.first_row().unwrap_or(intake.next_row);
        Checkpoint {
            ledger: intake.ledger.clone(),
            next_row: intake.next_row,
            first_log: intake.log.first_needed(first_row),
            first_row,
            broken,
        }
    }

    /// Removes what the manifest in force does not need.
    pub(crate) fn clean_up(&self, compaction: &mut CompactionState) -> Result<(), StoreError> {
        while let Some(path) = compaction.doubtful.last() {
            self.disk.remove(path)?;
            compaction.doubtful.pop();
        }
        self.intake().log.remove_before(compaction.manifest.first_log)
    }

    /// A slot that has several segments, or one without checksums, and has been left alone for as long as a minute waits.
    fn slot_to_merge(&self, compaction: &CompactionState, now_ns: i64) -> Option<Slot> {
        let wait_ns = i64::try_from(self.options.wait.as_nanos()).unwrap_or(i64::MAX);
        let mut slots: BTreeMap<Slot, (u64, u64, i64)> = BTreeMap::new();
        for segment in compaction.manifest.live() {
            let (parts, rows, sealed_ns) = slots.entry(segment.slot).or_default();
            // One that is unverified is written anew, with checksums, as if it were in parts.
            *parts += if segment.tail.is_some() { 1 } else { 2 };
            *rows += segment.rows;
            *sealed_ns = segment.sealed_ns.max(*sealed_ns);
        }
        slots.retain(|_, (parts, rows, sealed_ns)| {
            *parts > 1
                && *rows <= self.options.merge_rows_max
                && sealed_ns.saturating_add(wait_ns) <= now_ns
        });
        let waiting: BTreeSet<Slot> = self.intake().buffer.slots().into_iter().collect();
        slots
            .into_keys()
            .find(|slot| !waiting.contains(slot) && !compaction.unmergeable.contains(slot))
    }

    fn merge(
        &self,
        compaction: &mut CompactionState,
        slot: Slot,
        now_ns: i64,
    ) -> Result<u64, StoreError> {
        let mut next = compaction.manifest.clone();
        let id = next.next_segment;
        next.next_segment += 1;
        compaction.manifest.next_segment = next.next_segment;
        let is_part = |segment: &SegmentEntry| segment.slot == slot && segment.retired_ns.is_none();
        let parts: Vec<SegmentEntry> = next.segments.iter().copied().filter(is_part).collect();
        let paths = [layout::segment(&self.dir, slot, id), layout::sketch(&self.dir, slot, id)];
        let merged = self.write_merged(slot, &parts, &paths);
        let mut files = paths.to_vec();
        let merged = merged.and_then(|[segment, sketch]| {
            let rows = parts.iter().map(|part| part.rows).sum();
            next.segments.iter_mut().filter(|segment| is_part(segment)).for_each(|part| {
                part.retired_ns = Some(now_ns.max(1)); // 0 means none in the file
            });
            next.segments.push(SegmentEntry::sealed(id, slot, rows, [segment, sketch], now_ns));
            self.commit(compaction, next, &mut files)?;
            Ok(rows)
        });
        if let Err(error) = &merged {
            files.drain(..).for_each(|path| drop(self.disk.remove(&path)));
            if matches!(
                error,
                StoreError::Parquet { .. }
                    | StoreError::Damaged { .. }
                    | StoreError::BytesTooMany { .. }
            ) || error.is_missing()
            {
                compaction.unmergeable.insert(slot);
            }
        }
        merged
    }

    fn write_merged(
        &self,
        slot: Slot,
        parts: &[SegmentEntry],
        [path, sketch_path]: &[PathBuf; 2],
    ) -> Result<[Written; 2], StoreError> {
        let parts: Vec<Segment> =
            parts.iter().map(|part| Segment::of(&self.dir, part, 1)).collect();
        let mut writer = SegmentWriter::transactions(&self.disk, path)?;
        segment::merge(&parts, Order::of(slot.kind), None, &mut writer)?;
        let segment = writer.finish()?;
        let mut sketches = Vec::new();
        for part in &parts {
            sketches.extend(segment::read_sketch(part)?);
        }
        let sketches = segment::merge_sketches(sketches);
        let sketch = segment::write_sketch(&self.disk, sketch_path, slot, &sketches)?;
        self.sync_names()?;
        Ok([segment, sketch])
    }

    /// Deletes replaced segments whose readers have had their time.
    fn remove_retired(
        &self,
        compaction: &mut CompactionState,
        now_ns: i64,
    ) -> Result<(), StoreError> {
        let over = |segment: &SegmentEntry| {
            // A clock that was set back must not keep them for ever.
            segment.retired_ns.is_some_and(|at| at.abs_diff(now_ns) >= GRACE_NS.unsigned_abs())
        };
        self.remove_files_of(compaction, over)
    }

    /// Removes the files of replaced segments, then their entries: a crash between the two leaves no
    /// file that no manifest names, which would be kept in `lost+found`.
    pub(crate) fn remove_files_of(
        &self,
        compaction: &mut CompactionState,
        is_over: impl Fn(&SegmentEntry) -> bool,
    ) -> Result<(), StoreError> {
        let over: Vec<SegmentEntry> =
            compaction.manifest.segments.iter().copied().filter(&is_over).collect();
        if over.is_empty() {
            return Ok(());
        }
        for entry in over {
            self.disk.remove(&layout::segment(&self.dir, entry.slot, entry.id))?;
            self.disk.remove(&layout::sketch(&self.dir, entry.slot, entry.id))?;
        }
        // Their names are gone for good before the manifest forgets them.
        self.sync_names()?;
        self.drop_segments(compaction, is_over, |_| {})
    }

    /// Deletes minutes that are too old or too many; how many rows were in them, and how many wait for
    /// a confirmation.
    fn expire(
        &self,
        compaction: &mut CompactionState,
        now_ns: i64,
    ) -> Result<(u64, u64), StoreError> {
        let mut slots: BTreeMap<Slot, u64> = BTreeMap::new();
        for segment in &compaction.manifest.segments {
            *slots.entry(segment.slot).or_default() += segment.size_bytes;
        }
        let (mut expired, mut waiting_rows) = (BTreeSet::new(), 0);
        if let Some(keep) = self.options.keep {
            let keep_ns = i64::try_from(keep.as_nanos()).unwrap_or(i64::MAX);
            let oldest_ns = now_ns.saturating_sub(keep_ns);
            expired.extend(slots.keys().filter(|slot| slot.minute.end_ns() <= oldest_ns));
            waiting_rows = too_many_at_once(compaction, &expired, oldest_ns, keep);
            if waiting_rows > 0 && take_confirmation(&self.dir)? {
                waiting_rows = 0;
            }
            if waiting_rows > 0 {
                expired.clear();
            } else {
                compaction.aged_until_ns = Some(oldest_ns);
            }
        }
        if let Some(keep_bytes) = self.options.keep_bytes {
            let log_bytes = self.intake().log.size_bytes();
            let kept = |slot: &Slot| !expired.contains(slot);
            let sealed: u64 =
                slots.iter().filter(|(slot, _)| kept(slot)).map(|(_, bytes)| bytes).sum();
            let mut too_many = (sealed + log_bytes).saturating_sub(keep_bytes);
            for (slot, bytes) in slots.iter() {
                if too_many == 0 {
                    break;
                }
                if expired.insert(*slot) {
                    too_many = too_many.saturating_sub(*bytes);
                }
            }
        }
        if expired.is_empty() {
            return Ok((0, waiting_rows));
        }
        let is_expired = |segment: &SegmentEntry| expired.contains(&segment.slot);
        let live = compaction.manifest.live().filter(|segment| is_expired(segment));
        let rows = live.map(|segment| segment.rows).sum();
        if let Some(until_ns) = expired.iter().map(|slot| slot.minute.end_ns()).max() {
            self.intake().ledger.expire_until(until_ns);
        }
        self.drop_segments(compaction, is_expired, |next| next.expired_rows += rows)?;
        self.intake().sealed.retain(|slot| !expired.contains(slot));
        Ok((rows, waiting_rows))
    }

    /// Takes segments out of the manifest, then removes their files.
    fn drop_segments(
        &self,
        compaction: &mut CompactionState,
        is_dropped: impl Fn(&SegmentEntry) -> bool,
        also: impl FnOnce(&mut Manifest),
    ) -> Result<(), StoreError> {
        let mut next = compaction.manifest.clone();
        also(&mut next);
        next.segments.retain(|segment| !is_dropped(segment));
        let dropped: Vec<SegmentEntry> =
            compaction.manifest.segments.iter().copied().filter(&is_dropped).collect();
        self.commit(compaction, next, &mut Vec::new())?;
        for segment in dropped {
            compaction.doubtful.push(layout::segment(&self.dir, segment.slot, segment.id));
            compaction.doubtful.push(layout::sketch(&self.dir, segment.slot, segment.id));
        }
        self.clean_up(compaction)
    }
}
