//! Files that the manifest does not explain.

use crate::disk::{self, Disk};
use crate::manifest::Manifest;
use crate::{StoreError, layout};
use std::path::Path;

/// Takes the files that the manifest does not explain out of the way; how many. Removed are unfinished
/// files of our own, and log files whose rows are in segments, as far as the manifest is this store's
/// beyond doubt. A whole segment, or a log file of another manifest's numbering, may hold rows that are
/// nowhere else: it goes to `lost+found`, where nothing is ever removed.
pub(crate) fn set_orphans_aside(
    disk: &Disk,
    dir: &Path,
    manifest: &Manifest,
) -> Result<u64, StoreError> {
    let mut orphans = 0;
    let dirs =
        [dir.to_owned(), layout::log_dir(dir), layout::segment_dir(dir), layout::sketch_dir(dir)];
    for sub in dirs.into_iter().filter(|dir| dir.is_dir()) {
        for path in disk::files(&sub)? {
            if explained(&path, manifest) {
                continue;
            }
            orphans += 1;
            let is_log = layout::log_sequence(&path).is_some();
            if is_whole_parquet(&path)? || (is_log && !manifest.is_attested(dir)?) {
                move_to_lost_and_found(disk, dir, &path)?;
            } else {
                disk.remove(&path)?;
            }
        }
    }
    Ok(orphans)
}

/// Whether the manifest says what a file is for, or it is none of a store's.
pub(crate) fn explained(path: &Path, manifest: &Manifest) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("new") => false,
        Some("parquet") => layout::segment_id(path)
            // The manifest's segments are sorted by id.
            .is_none_or(|id| manifest.segments.binary_search_by_key(&id, |of| of.id).is_ok()),
        Some("wal") => layout::log_sequence(path).is_none_or(|file| file >= manifest.first_log),
        _ => true,
    }
}

/// Whether a file ends as a Parquet file does: its footer is written last.
fn is_whole_parquet(path: &Path) -> Result<bool, StoreError> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(path).map_err(StoreError::io("open", path))?;
    let len = file.metadata().map_err(StoreError::io("read", path))?.len();
    let mut end = [0; 4];
    let Some(at) = len.checked_sub(4) else { return Ok(false) };
    file.read_exact_at(&mut end, at).map_err(StoreError::io("read", path))?;
    Ok(end == *b"PAR1")
}

/// Moves a file to `lost+found`, under a name that nothing has there.
pub(crate) fn move_to_lost_and_found(
    disk: &Disk,
    dir: &Path,
    path: &Path,
) -> Result<(), StoreError> {
    let lost = layout::lost_and_found(dir);
    if !lost.is_dir() {
        disk.create_dirs(&lost)?;
        disk.sync_dir(dir)?;
    }
    // A segment and its sketches have the same name.
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let names = (0u64..).map(|n| match n {
        0 => lost.join(format!("{folder}-{name}")),
        n => lost.join(format!("{folder}-{n}-{name}")),
    });
    let free = names.into_iter().find(|target| target.symlink_metadata().is_err());
    if let Some(target) = free {
        disk.rename(path, &target)?;
        disk.sync_dir(&lost)?;
    }
    Ok(())
}
