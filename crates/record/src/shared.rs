//! Folders of rings that several users share by a group.
//!
//! An administrator makes such a folder: of root or of the user, with the set-group-ID bit,
//! writable by the group, closed to all others (mode 2770). In a user namespace that does not know
//! the host's root, the owner shows as nobody: somebody outside has mounted the folder into it, and
//! the kernel itself refuses whoever is not in the group. The bit gives every ring to the group,
//! and shows that sharing is intended: a folder that is group-writable only by the umask lacks it.
//! Members write rings that the group may read, and a collector in the group reads and removes
//! them. A member may remove another's ring, and read its content.

use crate::os;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Set-group-ID, and everything for the group.
const SHARED: u32 = 0o2070;
/// Mode of a ring in such a folder: the group may read it. Only its owner writes it.
pub(crate) const RING_MODE: u32 = 0o640;

/// Whether a folder is shared by a group of this process's. Root is in every group.
pub(crate) fn is_by_group(folder: &Metadata) -> bool {
    let mode = folder.mode();
    let owner = folder.uid();
    folder.is_dir()
        && mode & SHARED == SHARED
        && mode & 0o007 == 0
        && (owner == 0 || owner == os::user() || os::unknown_user() == Some(owner))
        && (os::user() == 0 || os::is_in_group(folder.gid()))
}

/// Whether a ring in a shared folder is one of the group's: whoever made it, the group may read it.
pub(crate) fn is_ring_of_group(ring: &Metadata, folder: &Metadata) -> bool {
    is_by_group(folder) && ring.gid() == folder.gid() && ring.mode() & 0o040 != 0
}
