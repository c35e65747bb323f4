//! Rings in folders: finding them, and removing those that nobody writes any more.

use super::{Ring, RingError};
use std::path::{Path, PathBuf};

/// The folder where programs of this user put their rings: `$CHRONOSCOPE_DIR`, else
/// `/dev/shm/chronoscope-UID`.
pub fn default_folder() -> PathBuf {
    crate::env::folder()
}

/// The ring files in a folder, sorted; none when there is no such folder.
pub fn find_rings(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut rings: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ring"))
        .collect();
    rings.sort();
    rings
}

/// Removes a ring file whose process is no more; whether it did. Whatever was not drained is
/// lost. Only for rings of this host; a ring of version 1 whose process is in another container looks
/// as if it were no more.
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
