//! Reading a whole store to find out whether it is what was written.

use crate::checked::open_checked;
use crate::disk::files;
use crate::manifest::Manifest;
use crate::orphans::explained;
use crate::segment::read_sketch;
use crate::wal::DurableEnd;
use crate::{Damage, Deletion, Segment, Snapshot, StoreError, layout, writer};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use std::path::{Path, PathBuf};

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Segments that were read.
    pub segments: u64,
    /// Bytes of them and of their sketches.
    pub bytes: u64,
    /// Rows that are whole: of segments and of the log.
    pub rows: u64,
    /// Segments that were sealed by a program that made no checksums. They can be decoded, and whether
    /// they say what was written nobody knows; a server writes them anew in time.
    pub unverified: u64,
    /// Places whose content differs from what was written.
    pub damage: Vec<Damage>,
    /// Files that the manifest does not know. Without a server that writes they are in nobody's use.
    pub unexplained: Vec<PathBuf>,
    /// Files that a start has moved to `lost+found`.
    pub set_aside: Vec<PathBuf>,
    /// Ranges of which rows were deleted on request.
    pub deletions: Vec<Deletion>,
}

/// Reads every byte of the store in `dir` and compares it with its checksum, and everything that is
/// said twice with itself. A server may write it meanwhile. `progress` is told how many of how many
/// segments are read, and says whether to go on.
///
/// # Errors
/// [`StoreError`] when the store has no manifest or one that is damaged, and [`StoreError::Cancelled`].
pub fn check(
    dir: &Path,
    mut progress: impl FnMut(u64, u64) -> bool,
) -> Result<Checked, StoreError> {
    let snapshot = Snapshot::open(dir)?;
    let mut checked = Checked { damage: snapshot.damage().to_vec(), ..Checked::default() };
    checked.rows = snapshot.unsealed().len() as u64;
    checked.deletions = snapshot.ledger().deletions.iter().cloned().collect();
    let durable = layout::durable(dir);
    if durable.exists() && DurableEnd::read(dir)?.is_none() {
        let reason = "it does not match its checksum".to_owned();
        checked.damage.push(Damage { path: durable, position: 0, reason, rows_lost: 0 });
    }
    let total = snapshot.segments().len() as u64;
    for (done, segment) in (0u64..).zip(snapshot.segments()) {
        if !progress(done, total) {
            return Err(StoreError::Cancelled);
        }
        checked.add(dir, segment)?;
    }
    progress(total, total);
    checked.set_aside = files(&layout::lost_and_found(dir))?;
    if writer(dir).is_none() {
        let manifest = Manifest::of_store(dir)?.unwrap_or_default();
        for sub in [layout::log_dir(dir), layout::segment_dir(dir), layout::sketch_dir(dir)] {
            let files = files(&sub)?.into_iter().filter(|path| !explained(path, &manifest));
            checked.unexplained.extend(files);
        }
    }
    Ok(checked)
}

impl Checked {
    /// Whether everything is what was written, as far as it can be known.
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty()
    }

    fn add(&mut self, dir: &Path, segment: &Segment) -> Result<(), StoreError> {
        let (path, rows) = (&segment.path, segment.row_count);
        let is_gone = |error: &StoreError| -> Result<bool, StoreError> {
            // Replaced since the snapshot was taken, by a server that writes: no damage.
            let manifest = Manifest::of_store(dir)?.unwrap_or_default();
            let id = layout::segment_id(path);
            Ok(error.is_missing() && !manifest.live().any(|entry| Some(entry.id) == id))
        };
        self.segments += 1;
        self.unverified += u64::from(segment.tail.is_none());
        match verify_segment(segment) {
            Ok(bytes) => {
                self.bytes += bytes;
                self.rows += rows;
            }
            Err(error) if is_gone(&error)? => self.segments -= 1,
            Err(error) => self.damage.push(damage(path, &error, rows)),
        }
        let sketches = verify_sketches(segment);
        match sketches {
            Ok(bytes) => self.bytes += bytes,
            Err(error) if is_gone(&error)? => {}
            // The rows are there: what is lost is what is quickly told of them.
            Err(error) => self.damage.push(damage(&segment.sketch_path, &error, 0)),
        }
        Ok(())
    }
}

fn damage(path: &Path, error: &StoreError, rows_lost: u64) -> Damage {
    let reason = match error {
        StoreError::Parquet { source, .. } => source.to_string(),
        StoreError::Damaged { reason, .. } => reason.clone(),
        other => other.to_string(),
    };
    Damage { path: path.to_owned(), position: 0, reason, rows_lost }
}

/// Reads every byte of a segment; how many. One without checksums is decoded.
pub(crate) fn verify_segment(segment: &Segment) -> Result<u64, StoreError> {
    let path = &segment.path;
    let parquet = |source| StoreError::Parquet { path: path.clone(), source };
    let (file, metadata) = open_checked(path, segment.tail, ArrowReaderOptions::new())?;
    let rows = metadata.metadata().file_metadata().num_rows();
    if u64::try_from(rows) != Ok(segment.row_count) {
        let reason = format!("it has {rows} rows, and the manifest says {}", segment.row_count);
        return Err(StoreError::damaged(path, 0, reason));
    }
    if segment.tail.is_none() {
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata);
        for batch in reader.build().map_err(parquet)? {
            batch.map_err(|error| parquet(error.into()))?;
        }
    }
    file.verify_all().map_err(parquet)
}

/// Reads every byte of the sketches of a segment; how many.
fn verify_sketches(segment: &Segment) -> Result<u64, StoreError> {
    let path = &segment.sketch_path;
    let parquet = |source| StoreError::Parquet { path: path.clone(), source };
    let (file, _) = open_checked(path, segment.sketch_tail, ArrowReaderOptions::new())?;
    let bytes = file.verify_all().map_err(parquet)?;
    let counted: u64 = read_sketch(segment)?.iter().map(|row| row.elapsed.count()).sum();
    if counted != segment.row_count {
        let reason = format!("it counts {counted} rows, and its segment has {}", segment.row_count);
        return Err(StoreError::damaged(path, 0, reason));
    }
    Ok(bytes)
}
