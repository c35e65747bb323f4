//! Files that appear when they are complete.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Writes a file beside and puts it into its place when it is complete: there is a whole file or
/// the one of before.
pub(super) fn into_file(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = write(&part).and_then(|()| {
        std::fs::rename(&part, path).with_context(|| format!("rename {}", part.display()))
    });
    if written.is_err() {
        // The error is already reported; a failure to remove the part changes nothing.
        let _ = std::fs::remove_file(&part);
    }
    written.with_context(|| format!("{} was not written", path.display()))
}
