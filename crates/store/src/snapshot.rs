//! Reading a store, also while a server writes it.

use crate::checked::EndChecksum;
use crate::manifest::{Manifest, SegmentEntry};
use crate::notes::Ledger;
use crate::recovery::{open_log, recover};
use crate::wal::DurableEnd;
use crate::{ClockTable, Damage, Slot, StoreError, layout};
use chronoscope_model::{Batch, Names};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Number of attempts to read a manifest that changes meanwhile. Each time the writer must have
/// sealed and removed a log file within the microseconds between two system calls.
const ATTEMPTS: u32 = 100;

/// A sealed part of a minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Parquet file of the rows.
    pub path: PathBuf,
    /// The Parquet file with its sketches ([`crate::read_sketch`]).
    pub sketch_path: PathBuf,
    /// The minute and the kind of its rows. Native rows stand in [`crate::Order::Path`], foreign
    /// ones in [`crate::Order::Chain`].
    pub slot: Slot,
    /// Number of rows.
    pub row_count: u64,
    /// Bytes of both files.
    pub size_bytes: u64,
    /// The checksum of its Parquet file's end; `None` where it was sealed by a program that made none:
    /// its bytes are read unverified.
    pub tail: Option<EndChecksum>,
    /// Checksum of the end of the file with its sketches.
    pub sketch_tail: Option<EndChecksum>,
    /// Segments of the same slot, this one included, in `[1, …]`. Where there are several, or
    /// unsealed rows of the slot, the column `links` tells of this part only.
    pub parts: u32,
    /// It has some columns of rows whose chains were linked elsewhere ([`crate::seal_columns_aside`]):
    /// its rows are asked each for itself, and never put together with others.
    pub is_linked: bool,
}

impl Segment {
    /// The segment of the store in `dir` that the manifest names.
    pub(crate) fn of(dir: &Path, entry: &SegmentEntry, parts: u32) -> Self {
        Self {
            path: layout::segment(dir, entry.slot, entry.id),
            sketch_path: layout::sketch(dir, entry.slot, entry.id),
            slot: entry.slot,
            row_count: entry.rows,
            size_bytes: entry.size_bytes,
            tail: entry.tail,
            sketch_tail: entry.sketch_tail,
            parts,
            is_linked: false,
        }
    }
}

/// The store at one instant: sealed segments, and the rows of the log that are in none of them.
/// Nothing is missing and nothing is doubled.
#[derive(Debug)]
pub struct Snapshot {
    segments: Vec<Segment>,
    unsealed: Batch,
    ledger: Ledger,
    damage: Vec<Damage>,
    expired_rows: u64,
    /// Rows of which these are a part, where they come from elsewhere.
    whole: Option<WholeStore>,
}

/// A store elsewhere of which a snapshot holds the rows of some minutes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeStore {
    /// From its first minute to the end of its last one, as [`Snapshot::extent`] has it.
    pub extent: Option<std::ops::Range<i64>>,
    /// Whether the ledger tells all that is known to be lost. Without that no verdict is certain.
    pub knows_losses: bool,
    /// Parts of it that could not be reached, so that their rows and notes are not here.
    pub damage: Vec<Damage>,
}

impl Snapshot {
    /// Reads the store in `dir`, in any process, with or without a server.
    ///
    /// A segment stays readable for at least a minute after another took its place; where one of
    /// them is gone all the same ([`StoreError::is_missing`]), open a new snapshot.
    ///
    /// # Errors
    /// [`StoreError::Io`] when `dir` is no directory or cannot be read, [`StoreError::Damaged`]
    /// when its manifest is. Damage to the log is passed over and told by [`Self::damage`].
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        std::fs::read_dir(dir).map_err(StoreError::io("open store", dir))?;
        for attempt in 0.. {
            let manifest = Manifest::of_store(dir)?.unwrap_or_default();
            // Before the log, which may grow meanwhile: it is never behind what is durable.
            let durable = DurableEnd::read(dir)?;
            match open_log(dir, &manifest)? {
                Some(files) => return Self::read(dir, &manifest, &files, durable),
                None if attempt < ATTEMPTS => {}
                // The manifest cannot change so often: somebody removed a file. The rest is read,
                // and the
                // gap in the row numbers says what is missing.
                None => {
                    let files = crate::wal::list(dir, manifest.first_log)?;
                    return Self::read(dir, &manifest, &files, durable);
                }
            }
        }
        unreachable!("the loop returns")
    }

    /// Rows that come from elsewhere, as if the log had them.
    pub fn of_rows(unsealed: Batch) -> Self {
        let (segments, damage, ledger) = (Vec::new(), Vec::new(), Ledger::default());
        Self { segments, unsealed, ledger, damage, expired_rows: 0, whole: None }
    }

    /// Segments that no store owns ([`crate::seal_aside`]): the rows of some minutes of a store
    /// elsewhere, with the names and notes of that store.
    pub fn of_segments(segments: Vec<Segment>, ledger: Ledger, whole: WholeStore) -> Self {
        let (unsealed, damage) = (Batch::default(), whole.damage.clone());
        let whole = Some(whole);
        let mut snapshot =
            Self { segments: Vec::new(), unsealed, ledger, damage, expired_rows: 0, whole };
        snapshot.add_segments(segments);
        snapshot
    }

    /// Adds segments that no store owns, of minutes that are not here.
    pub fn add_segments(&mut self, segments: impl IntoIterator<Item = Segment>) {
        self.segments.extend(segments);
        self.segments.sort_by(|a, b| (a.slot, &a.path).cmp(&(b.slot, &b.path)));
    }

    fn read(
        dir: &Path,
        manifest: &Manifest,
        files: &[crate::wal::LogFile],
        durable: Option<DurableEnd>,
    ) -> Result<Self, StoreError> {
        let mut unsealed = Batch::default();
        let recovered = recover(dir, manifest, files, durable, |block| {
            for (record, row) in block.batch.records().iter().zip(block.first_row..) {
                if !manifest.is_sealed(Slot::of(record), row) {
                    unsealed.push(*record, block.batch.context(record));
                }
            }
        })?;
        recovered.ledger.aliases.apply(unsealed.records_mut());
        let mut parts: HashMap<Slot, u32> = HashMap::new();
        manifest.live().for_each(|segment| *parts.entry(segment.slot).or_default() += 1);
        let segment = |entry: &SegmentEntry| {
            Segment::of(dir, entry, parts.get(&entry.slot).copied().unwrap_or(1))
        };
        let mut segments: Vec<Segment> = manifest.live().map(segment).collect();
        segments.sort_by(|a, b| (a.slot, &a.path).cmp(&(b.slot, &b.path)));
        Ok(Self {
            segments,
            unsealed,
            ledger: recovered.ledger,
            damage: recovered.damage,
            expired_rows: manifest.expired_rows,
            whole: None,
        })
    }

    /// The sealed segments, by minute and kind.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// From the first minute that has rows to the end of the last one, by their roots' starts: UTC,
    /// nanoseconds since 1970. `None` without rows.
    pub fn extent(&self) -> Option<std::ops::Range<i64>> {
        if let Some(whole) = &self.whole {
            return whole.extent.clone();
        }
        let sealed = self.segments.iter().map(|segment| segment.slot.minute);
        let records = self.unsealed.records().iter();
        let minutes = || sealed.clone().chain(records.clone().map(|r| Slot::of(r).minute));
        Some(minutes().min()?.start_ns()..minutes().max()?.end_ns())
    }

    /// The rows that no segment holds yet, in the order of their coming, each under the chain that
    /// it belongs to.
    pub fn unsealed(&self) -> &Batch {
        &self.unsealed
    }

    /// Names of the ids in unsealed rows.
    pub fn names(&self) -> &Names {
        &self.ledger.names
    }

    /// Readings of the hosts' clocks.
    pub fn clocks(&self) -> &ClockTable {
        &self.ledger.clocks
    }

    /// Losses, late rows, and how far rings were read.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether [`Self::ledger`] tells all that is known to be lost; where it does not, no verdict on
    /// the rows is certain.
    pub fn knows_losses(&self) -> bool {
        self.whole.as_ref().is_none_or(|whole| whole.knows_losses)
    }

    /// Damage to the log that was passed over, and parts of a store elsewhere that are missing.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Rows that were deleted for their age or for space.
    pub fn expired_rows(&self) -> u64 {
        self.expired_rows
    }

    /// All rows, sealed and unsealed.
    pub fn row_count(&self) -> u64 {
        let sealed: u64 = self.segments.iter().map(|segment| segment.row_count).sum();
        sealed + self.unsealed.len() as u64
    }
}
