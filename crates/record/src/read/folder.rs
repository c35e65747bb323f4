//! Rings in folders: finding them, checking their owners, and removing those without a writer.

use super::error::RingError;
use super::owner::is_own;
use super::ring::Ring;
use crate::{env, os, shared};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder where programs of this user put their rings: `$CHRONOSCOPE_DIR`, else
/// `/dev/shm/chronoscope-UID`.
pub fn default_folder() -> PathBuf {
    env::folder()
}

/// The ring files in a folder, sorted; none where there is no such folder, or where
/// [`rings_of`] refuses it.
pub fn find_rings(folder: &Path) -> Vec<PathBuf> {
    rings_of(folder).unwrap_or_default()
}

/// The ring files in a folder, sorted; none when there is no such folder.
///
/// # Errors
/// When the folder cannot be read, or somebody else may have put rings there: it belongs neither
/// to this user nor to root and is not shared with a group of this user's, or others may write to
/// it who do not share it by its set-group-ID bit. Root reads every user's folder, but not one of
/// another user under root's own name.
pub fn rings_of(folder: &Path) -> Result<Vec<PathBuf>, RingError> {
    let failed = |source| RingError::Io { path: folder.to_owned(), source };
    let found = match std::fs::symlink_metadata(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let refused = |reason: String| RingError::Refused { path: folder.to_owned(), reason };
    if found.is_symlink() {
        if !is_own(&found) {
            return Err(refused(format!("it is a link of user {}: {USE_OWN}", found.uid())));
        }
        check_folder(folder, &std::fs::metadata(folder).map_err(failed)?).map_err(refused)?;
    } else {
        check_folder(folder, &found).map_err(refused)?;
    }
    let mut rings = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "ring") {
            rings.push(path);
        }
    }
    rings.sort();
    Ok(rings)
}

/// Advice for a folder that is refused. The recorder refuses the same folders.
const USE_OWN: &str = "remove it, or give programs and readers another folder (CHRONOSCOPE_DIR, \
                       --rings)";

/// Whether rings are read from a folder; why not.
fn check_folder(folder: &Path, found: &Metadata) -> Result<(), String> {
    if !found.is_dir() {
        return Err("it is not a folder".to_owned());
    }
    // Under this user's name only this user's folder is right, whatever its permissions.
    let is_under_own_name = folder.file_name() == Some(env::own_folder_name().as_ref());
    let is_shared = found.mode() & 0o050 == 0o050 && os::is_in_group(found.gid());
    let is_granted = os::user() == 0 || is_shared;
    if !is_own(found) && (is_under_own_name || !is_granted) {
        return Err(format!("it belongs to user {}: {USE_OWN}", found.uid()));
    }
    if found.mode() & 0o022 != 0 && !shared::is_by_group(found) {
        return Err(format!(
            "other users may write to it: {USE_OWN}, or run chmod go-w on it; to share a folder \
             with a group, let root own it with mode 2770"
        ));
    }
    Ok(())
}

/// Removes a ring file whose process has ended. Returns whether it did. Rows that were not drained
/// are lost. Only for rings of this host; a ring of version 1 whose process is in another container
/// looks as if it had ended.
///
/// # Errors
/// When the file is not a ring, or cannot be read or removed.
pub fn remove_if_stale(path: &Path) -> Result<bool, RingError> {
    if Ring::open(path)?.is_alive() {
        return Ok(false);
    }
    std::fs::remove_file(path).map_err(|source| RingError::Io { path: path.to_owned(), source })?;
    Ok(true)
}
