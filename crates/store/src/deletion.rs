//! Deleting the rows of a range of time on request.
//!
//! Sealed files never change: whole minutes are taken out of the manifest, and a segment of which only
//! some rows go is replaced by one without them. All of it is one new manifest, with the note of the
//! deletion: after a crash everything is as before, or everything is done. The files that are not
//! needed any more stay a minute for readers of the older manifest, as after a merge.

use crate::compaction_state::CompactionState;
use crate::deletions::{BY_MAX, Deletion};
use crate::manifest::{Manifest, SegmentEntry};
use crate::segment::{self, Order, SegmentWriter, Written};
use crate::store::Store;
use crate::{Maintained, Segment, Slot, StoreError, layout};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::PoisonError;

/// A range of time whose rows are to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeDeletion {
    /// Rows of roots that started in it (UTC, nanoseconds since 1970); foreign rows go by their own
    /// start.
    pub start_ns: Range<i64>,
    /// Number of rows that may go at most: what was shown to who confirmed it.
    pub rows_max: u64,
    /// Who deletes, as [`Deletion::by`].
    pub by: String,
}

/// Result of a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Rows that are gone.
    pub rows: u64,
    /// Segments that are gone.
    pub segments: u64,
    /// Segments of which a part is gone.
    pub segments_cut: u64,
    /// Bytes that the files of the store take less, when the replaced ones are removed.
    pub bytes: u64,
}

/// What becomes of the segments of a range.
#[derive(Default)]
struct Plan {
    /// Segments that go as they are.
    whole: Vec<SegmentEntry>,
    /// Segments that are replaced by one without some rows, with the number of these.
    cut: Vec<(SegmentEntry, u64)>,
}

impl Plan {
    fn rows(&self) -> u64 {
        let cut: u64 = self.cut.iter().map(|(_, rows)| rows).sum();
        self.whole.iter().map(|entry| entry.rows).sum::<u64>() + cut
    }
}

impl Store {
    /// Deletes the rows of a range that the store has now; rows that come meanwhile or later stay.
    /// When it returns they are gone for good: a question that began before may still see them, and
    /// their files are removed a minute later by [`Self::maintain`], or at once by
    /// [`Self::remove_replaced`]. Appending goes on meanwhile. Open minutes are sealed early.
    ///
    /// # Errors
    /// [`StoreError::MoreRows`] when there are more than were confirmed; [`StoreError`] of the step that
    /// failed, such as a segment of which a part is to go and that cannot be read. Then nothing was
    /// deleted.
    pub fn delete(&self, what: &RangeDeletion, now_ns: i64) -> Result<Deleted, StoreError> {
        let mut compaction = self.compaction.lock().unwrap_or_else(PoisonError::into_inner);
        // Rows of the log are in segments then, and its files can go.
        self.seal_waiting(&mut compaction, now_ns, &mut Maintained::default())?;
        let plan = self.plan(&compaction.manifest, &what.start_ns)?;
        let rows = plan.rows();
        if rows > what.rows_max {
            return Err(StoreError::MoreRows { rows, rows_max: what.rows_max });
        }
        if rows == 0 {
            return Ok(Deleted::default());
        }
        let mut files = Vec::new();
        let done = self.replace(&mut compaction, what, &plan, now_ns, &mut files);
        if done.is_err() {
            // A file that cannot be removed now is an orphan: the next start sets it aside.
            files.drain(..).for_each(|path| drop(self.disk.remove(&path)));
        }
        let deleted = done?;
        let live: std::collections::BTreeSet<Slot> =
            compaction.manifest.live().map(|entry| entry.slot).collect();
        self.intake().sealed.retain(|slot| live.contains(slot));
        self.clean_up(&mut compaction)?;
        Ok(deleted)
    }

    /// Removes the files of segments that were replaced or deleted, without waiting for readers: for a
    /// store that nobody serves.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove_replaced(&self) -> Result<(), StoreError> {
        let mut compaction = self.compaction.lock().unwrap_or_else(PoisonError::into_inner);
        self.remove_files_of(&mut compaction, |entry| entry.retired_ns.is_some())
    }

    fn plan(&self, manifest: &Manifest, range: &Range<i64>) -> Result<Plan, StoreError> {
        let mut plan = Plan::default();
        for entry in manifest.live() {
            let minute = entry.slot.minute;
            if minute.end_ns() <= range.start || range.end <= minute.start_ns() {
                continue;
            }
            let is_whole = range.start <= minute.start_ns() && minute.end_ns() <= range.end;
            if is_whole {
                plan.whole.push(*entry);
                continue;
            }
            match segment::rows_within(&Segment::of(&self.dir, entry, 1), range)? {
                0 => {}
                rows if rows == entry.rows => plan.whole.push(*entry),
                rows => plan.cut.push((*entry, rows)),
            }
        }
        Ok(plan)
    }

    fn replace(
        &self,
        compaction: &mut CompactionState,
        what: &RangeDeletion,
        plan: &Plan,
        now_ns: i64,
        files: &mut Vec<PathBuf>,
    ) -> Result<Deleted, StoreError> {
        let mut next = compaction.manifest.clone();
        let before: u64 = plan.whole.iter().map(|entry| entry.size_bytes).sum();
        let mut deleted = Deleted {
            rows: plan.rows(),
            segments: plan.whole.len() as u64,
            segments_cut: plan.cut.len() as u64,
            bytes: before,
        };
        let mut gone: Vec<u64> = plan.whole.iter().map(|entry| entry.id).collect();
        let mut written = Vec::new();
        for (entry, rows) in &plan.cut {
            let id = next.next_segment;
            next.next_segment += 1;
            // Ids are not used twice, so that a name never means two files.
            compaction.manifest.next_segment = next.next_segment;
            let paths = [
                layout::segment(&self.dir, entry.slot, id),
                layout::sketch(&self.dir, entry.slot, id),
            ];
            files.extend(paths.clone());
            let both = self.write_without(entry, &what.start_ns, &paths)?;
            let new = SegmentEntry::sealed(id, entry.slot, entry.rows - rows, both, now_ns);
            deleted.bytes += entry.size_bytes.saturating_sub(new.size_bytes);
            gone.push(entry.id);
            written.push(new);
        }
        self.sync_names()?;
        for entry in next.segments.iter_mut().filter(|entry| gone.contains(&entry.id)) {
            entry.retired_ns = Some(now_ns.max(1)); // 0 means none in the file
        }
        next.segments.extend(written);
        let mut by = what.by.clone();
        by.truncate(by.floor_char_boundary(BY_MAX));
        let Range { start: from_ns, end: until_ns } = what.start_ns;
        let note = Deletion { from_ns, until_ns, at_ns: now_ns, rows: deleted.rows, by };
        let before = {
            let mut intake = self.intake();
            let before = intake.ledger.deletions.clone();
            intake.ledger.deletions.insert(note);
            // The log begins anew: its files have rows that are deleted.
            intake.log.end_file();
            before
        };
        let committed = self.commit(compaction, next, files);
        if committed.is_err() {
            self.intake().ledger.deletions = before;
        }
        committed.map(|()| deleted)
    }

    /// Writes the rows of a segment that are not in the range, and their sketches.
    fn write_without(
        &self,
        entry: &SegmentEntry,
        range: &Range<i64>,
        [path, sketch_path]: &[PathBuf; 2],
    ) -> Result<[Written; 2], StoreError> {
        let part = Segment::of(&self.dir, entry, 1);
        let mut writer = SegmentWriter::transactions(&self.disk, path)?;
        let order = Order::of(entry.slot.kind);
        segment::merge(std::slice::from_ref(&part), order, Some(range), &mut writer)?;
        let segment = writer.finish()?;
        let sketches = crate::rows_out::sketches_without(&part, range)?;
        let sketch = segment::write_sketch(&self.disk, sketch_path, entry.slot, &sketches)?;
        Ok([segment, sketch])
    }
}
