//! Check of the owner of files and folders: this user, root, or a group that shares them.

use super::error::RingError;
use crate::{os, shared};
use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Whether a file is opened as a ring: a plain file of this user, of root, of the folder's owner or,
/// where a group shares the folder, of the group. Root opens everybody's.
///
/// # Errors
/// [`RingError::Refused`].
pub(crate) fn check_file(path: &Path, found: &Metadata) -> Result<(), RingError> {
    let refused = |reason: String| Err(RingError::Refused { path: path.to_owned(), reason });
    if !found.is_file() {
        return refused(format!("a {} is not opened as a ring: remove it", kind(found)));
    }
    let folder = path.parent().and_then(|folder| std::fs::metadata(folder).ok());
    let is_of_folder = folder.is_some_and(|folder| {
        folder.uid() == found.uid() || shared::is_ring_of_group(found, &folder)
    });
    if is_own(found) || os::user() == 0 || is_of_folder {
        return Ok(());
    }
    refused(format!("it belongs to user {}: it is not opened as a ring", found.uid()))
}

/// Whether something belongs to this user or to root.
pub(crate) fn is_own(found: &Metadata) -> bool {
    found.uid() == os::user() || found.uid() == 0
}

/// Kind of a file that is not a plain file.
fn kind(found: &Metadata) -> &'static str {
    let kind = found.file_type();
    match () {
        () if kind.is_dir() => "folder",
        () if kind.is_symlink() => "symbolic link",
        () if kind.is_fifo() => "FIFO",
        () if kind.is_socket() => "socket",
        () => "device",
    }
}
