//! Making a store that refuses to open, or that a check found damaged, usable again.
//!
//! Nothing is deleted: what is bad, and what nobody needs, goes to `lost+found`.

use crate::check::verify_segment;
use crate::checked::end_checksum;
use crate::disk::{Access, Disk, files};
use crate::lock::Lock;
use crate::manifest::{Manifest, SegmentEntry};
use crate::orphans::move_to_lost_and_found;
use crate::recovery::recover;
use crate::rows::Rows;
use crate::segment::{read_sketch, seal};
use crate::wal::{self, DurableEnd};
use crate::{Damage, Loss, ParquetRows, RowKind, Segment, Slot, StoreError, layout};
use chronoscope_model::{Batch, ClassId, ClassName, Names, PathId, Record, Transaction};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Result of a repair, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Whether the manifest was made anew from what the segments and the log say.
    pub manifest_rebuilt: bool,
    /// Segments that stay.
    pub segments: u64,
    /// Rows in them.
    pub rows: u64,
    /// Rows of the log that no segment has.
    pub log_rows: u64,
    /// Segments whose rows are all in a newer one: a merge had replaced them.
    pub replaced: Vec<PathBuf>,
    /// Losses: files that go to `lost+found`, and pieces of the log.
    pub lost: Vec<Damage>,
    /// Information of the manifest that no other file holds.
    pub forgotten: Vec<&'static str>,
}

/// A row of the log: its number, whether a segment has it, and what it says.
type LogRow = (u64, bool, Record, Vec<u8>);

/// Identity of a row.
type Key = (u64, u64, u64, i64);

/// Repairs the store in `dir`, which nobody may write meanwhile; with `dry_run` it only says what
/// it would do. `now_ns` is the time: UTC, nanoseconds since 1970.
///
/// # Errors
/// [`StoreError::Locked`] when a server writes it, [`StoreError::Newer`] when a newer program wrote
/// it, or [`StoreError::Io`].
pub fn repair(dir: &Path, dry_run: bool, now_ns: i64) -> Result<Repaired, StoreError> {
    std::fs::read_dir(dir).map_err(StoreError::io("open store", dir))?;
    // The permissions of the store are kept.
    let mode = std::fs::metadata(layout::segment_dir(dir)).map_or(0, |of| of.permissions().mode());
    let is_shared = mode & 0o040 != 0;
    let disk = Disk::of(if is_shared { Access::Group } else { Access::Owner });
    let lock = Lock::take(dir, disk.access)?;
    let mut work = Work::new(dir);
    match Manifest::of_store(dir) {
        Ok(None) => return Ok(work.report),
        Ok(Some(manifest)) => work.keep_what_is_whole(manifest)?,
        Err(
            StoreError::NoManifest { .. }
            | StoreError::ForeignManifest { .. }
            | StoreError::Damaged { .. },
        ) => work.rebuild(now_ns)?,
        Err(other) => return Err(other),
    }
    if dry_run {
        return Ok(work.report);
    }
    disk.create_dirs(&layout::lost_and_found(dir))?;
    if work.report.manifest_rebuilt && layout::manifest(dir).exists() {
        move_to_lost_and_found(&disk, dir, &layout::manifest(dir))?;
    }
    work.write_stranded(&disk, now_ns)?;
    // The manifest before anything is moved: it does not name those files, and a crash between the
    // two leaves them to the next start, which moves them.
    work.manifest.write(&disk, dir)?;
    for path in work.aside.iter().filter(|path| path.exists()) {
        move_to_lost_and_found(&disk, dir, path)?;
    }
    drop(lock);
    Ok(work.report)
}

/// The store as it will be, while it is found out.
struct Work<'a> {
    dir: &'a Path,
    manifest: Manifest,
    report: Repaired,
    /// Files that go to `lost+found`.
    aside: Vec<PathBuf>,
    /// Rows of the log among others of their slot that are in a segment. The manifest says of a
    /// slot only up to which row it is sealed, so that these get a segment of their own.
    stranded: BTreeMap<Slot, Batch>,
    /// Names of the ids in them.
    names: Names,
}

impl<'a> Work<'a> {
    fn new(dir: &'a Path) -> Self {
        Self {
            dir,
            manifest: Manifest::default(),
            report: Repaired::default(),
            aside: Vec::new(),
            stranded: BTreeMap::new(),
            names: Names::default(),
        }
    }

    /// Seals the stranded rows: durable before the manifest that says so.
    fn write_stranded(&mut self, disk: &Disk, now_ns: i64) -> Result<(), StoreError> {
        for (slot, batch) in std::mem::take(&mut self.stranded) {
            let id = self.manifest.next_segment;
            self.manifest.next_segment += 1;
            let path = layout::segment(self.dir, slot, id);
            let sketch_path = layout::sketch(self.dir, slot, id);
            let paths = [path.as_path(), &sketch_path];
            let written = seal(disk, paths, slot, &Rows::of(&batch), &self.names)?;
            let entry = SegmentEntry::sealed(id, slot, batch.len() as u64, written, now_ns);
            self.manifest.segments.push(entry);
        }
        disk.sync_dir(&layout::segment_dir(self.dir))?;
        disk.sync_dir(&layout::sketch_dir(self.dir))
    }

    /// Takes segments that are not what was written out of a manifest that is.
    fn keep_what_is_whole(&mut self, mut manifest: Manifest) -> Result<(), StoreError> {
        let mut lost = 0;
        let (dir, report, aside) = (self.dir, &mut self.report, &mut self.aside);
        let mut failed = None;
        manifest.segments.retain(|entry| {
            if entry.retired_ns.is_some() {
                return true;
            }
            let segment = Segment::of(dir, entry, 1);
            match verify_segment(&segment) {
                Ok(_) => {
                    report.segments += 1;
                    report.rows += entry.rows;
                    true
                }
                Err(error) if is_of_the_machine(&error) => {
                    failed.get_or_insert(error);
                    true
                }
                Err(error) => {
                    lost += entry.rows;
                    report.lost.push(lost_file(&segment.path, &error, entry.rows));
                    aside.extend([segment.path, segment.sketch_path]);
                    false
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        // Nobody knows of which roots these rows were the leaves.
        manifest.ledger.damaged_rows += lost;
        manifest.generation += 1;
        let files = wal::list(dir, manifest.first_log)?;
        let mut waiting = 0;
        let durable = DurableEnd::read(dir)?;
        let recovered = recover(dir, &manifest, &files, durable, |block| {
            let rows = block.batch.records().iter().zip(block.first_row..);
            waiting +=
                rows.filter(|(r, row)| !manifest.is_sealed(Slot::of(r), *row)).count() as u64;
        })?;
        self.report.log_rows = waiting;
        self.report.lost.extend(recovered.damage);
        self.manifest = manifest;
        Ok(())
    }

    /// Makes a manifest of what the files say.
    fn rebuild(&mut self, now_ns: i64) -> Result<(), StoreError> {
        self.report.manifest_rebuilt = true;
        self.report.forgotten = vec![
            "how far rings were read: rows of programs that still run may come twice",
            "the names of processes that have rows in the log only",
            "clock readings and losses of before, unless the log has them",
            "which ranges of time were deleted on request",
        ];
        let mut segments: Vec<(SegmentEntry, HashSet<Key>)> = Vec::new();
        for path in files(&layout::segment_dir(self.dir))? {
            let Some(id) = layout::segment_id(&path) else { continue };
            self.manifest.next_segment = self.manifest.next_segment.max(id + 1);
            match self.entry(&path, id) {
                Ok(Some(found)) => segments.push(found),
                Ok(None) => self.aside.push(path),
                Err(error) if is_of_the_machine(&error) => return Err(error),
                Err(error) => {
                    self.report.lost.push(lost_file(&path, &error, 0));
                    self.aside.push(path);
                }
            }
        }
        self.leave_out_replaced(&mut segments);
        for (entry, _) in &segments {
            self.report.segments += 1;
            self.report.rows += entry.rows;
            self.learn_names(entry);
        }
        self.manifest.segments = segments.iter().map(|(entry, _)| *entry).collect();
        self.manifest.segments.sort_by_key(|entry| entry.id);
        let mut sealed: HashMap<Slot, HashSet<Key>> = HashMap::new();
        for (entry, keys) in segments {
            sealed.entry(entry.slot).or_default().extend(keys);
        }
        self.read_log(&sealed)?;
        // A log that is there from its first file on still has every loss.
        if self.manifest.first_log > 0 || wal::list(self.dir, 0)?.is_empty() {
            self.manifest.ledger.losses.insert(Loss::forgotten(now_ns));
        }
        Ok(())
    }

    /// A segment as the manifest named it, and its rows; `None` where it has no rows.
    fn entry(
        &self,
        path: &Path,
        id: u64,
    ) -> Result<Option<(SegmentEntry, HashSet<Key>)>, StoreError> {
        let tail = end_checksum(path)?;
        let (mut keys, mut slot, mut rows) = (HashSet::new(), None, 0);
        for row in ParquetRows::checked(path, tail)? {
            let row = row?;
            slot.get_or_insert_with(|| slot_of(&row));
            let (high, low) = (row.chain.high(), row.chain.low());
            keys.insert((high, low, row.id.0, row.start_ns));
            rows += 1;
        }
        let Some(slot) = slot else { return Ok(None) };
        let sketch = layout::sketch(self.dir, slot, id);
        if *path != layout::segment(self.dir, slot, id) {
            let reason = "the minute in its name differs from the minute of its rows";
            return Err(StoreError::damaged(path, 0, reason));
        }
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
        let sealed = modified.ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let entry = SegmentEntry {
            id,
            slot,
            rows,
            size_bytes: size(path) + size(&sketch),
            sealed_ns: sealed.and_then(|at| i64::try_from(at.as_nanos()).ok()).unwrap_or(0),
            retired_ns: None,
            tail,
            // One that cannot be read is told when it is asked; the rows are there without it.
            sketch_tail: end_checksum(&sketch).unwrap_or(None),
        };
        verify_segment(&Segment::of(self.dir, &entry, 1))?;
        Ok(Some((entry, keys)))
    }

    /// A merge leaves the segments that it replaced for a minute: their rows are in a newer one.
    fn leave_out_replaced(&mut self, segments: &mut Vec<(SegmentEntry, HashSet<Key>)>) {
        segments.sort_by_key(|(entry, _)| (entry.slot, std::cmp::Reverse(entry.id)));
        let mut kept: Vec<(SegmentEntry, HashSet<Key>)> = Vec::new();
        for (entry, keys) in segments.drain(..) {
            let mut newer = kept.iter().filter(|(newer, _)| newer.slot == entry.slot);
            if newer.any(|(_, newer)| keys.is_subset(newer)) {
                let path = layout::segment(self.dir, entry.slot, entry.id);
                self.report.replaced.push(path.clone());
                self.aside.extend([path, layout::sketch(self.dir, entry.slot, entry.id)]);
            } else {
                kept.push((entry, keys));
            }
        }
        *segments = kept;
    }

    /// Classes and paths of unsealed rows may have been named long ago; segments say them in words.
    /// Of sketches that cannot be read the names stay unknown, and questions tell the damage.
    fn learn_names(&mut self, entry: &SegmentEntry) {
        let Ok(rows) = read_sketch(&Segment::of(self.dir, entry, 1)) else { return };
        let names = &mut self.manifest.ledger.names;
        for row in rows {
            names.add_class(ClassName { application: row.application, class: row.class });
            add_path(names, &row.path);
        }
    }

    fn read_log(&mut self, sealed: &HashMap<Slot, HashSet<Key>>) -> Result<(), StoreError> {
        let files = wal::list(self.dir, 0)?;
        let Some(first) = files.first() else { return Ok(()) };
        let (sequence, row) = (first.sequence, first.first_row()?);
        let manifest = &mut self.manifest;
        (manifest.first_log, manifest.first_row, manifest.next_row) = (sequence, row, row);
        let mut by_slot: BTreeMap<Slot, Vec<LogRow>> = BTreeMap::new();
        let durable = DurableEnd::read(self.dir)?;
        let recovered = recover(self.dir, manifest, &files, durable, |block| {
            for (record, row) in block.batch.records().iter().zip(block.first_row..) {
                let slot = Slot::of(record);
                let key = (record.chain_high, record.chain_low, record.id.0, record.start_ns);
                let is_sealed = sealed.get(&slot).is_some_and(|keys| keys.contains(&key));
                let context = block.batch.context(record).to_vec();
                by_slot.entry(slot).or_default().push((row, is_sealed, *record, context));
            }
        })?;
        for (slot, rows) in by_slot {
            let through = rows.iter().filter(|row| row.1).map(|row| row.0 + 1).max();
            if let Some(through) = through {
                manifest.sealed_through.insert(slot, through);
            }
            for (row, _, record, context) in rows.into_iter().filter(|row| !row.1) {
                self.report.log_rows += 1;
                if through.is_some_and(|through| row < through) {
                    self.stranded.entry(slot).or_default().push(record, &context);
                }
            }
        }
        self.names = recovered.ledger.names;
        // Rows of the log keep their numbers; notes are taken in again when it is read.
        self.report.lost.extend(recovered.damage);
        Ok(())
    }
}

fn slot_of(row: &Transaction) -> Slot {
    let kind = if row.root_start_ns.is_some() { RowKind::Native } else { RowKind::Foreign };
    Slot { minute: crate::Minute::of(row.root_start_ns.unwrap_or(row.start_ns)), kind }
}

/// Adds a path by its words, unless they can be read in two ways.
fn add_path(names: &mut Names, words: &str) {
    let class = |step: &str| {
        let (application, class) = step.split_once("::")?;
        let id = ClassId::of(application, class);
        names.class(id).is_some().then_some(id)
    };
    let classes: Option<Vec<ClassId>> = words.split('/').map(class).collect();
    if let Some(classes) = classes.filter(|classes| !classes.is_empty()) {
        names.add_path(PathId::of(&classes), classes);
    }
}

/// Whether the machine could not do what was asked, so that the file may be whole.
fn is_of_the_machine(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { .. }) && !error.is_missing()
}

fn lost_file(path: &Path, error: &StoreError, rows_lost: u64) -> Damage {
    Damage { path: path.to_owned(), position: 0, reason: error.to_string(), rows_lost }
}
