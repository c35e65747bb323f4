//! Rings of a program's earlier runs: how many stay, where the program says so.

use crate::Removed;
use crate::ended::{ended, sizes};
use crate::process::{application, file_prefix, ring_path};
use std::path::Path;

/// Removes rings of processes of this application that have ended, all but the `count` that ended
/// last, from the folder of the running process's ring: for a program that is started again and
/// again, as a server is, whose rings would fill the memory long before the limits that every
/// program observes. Call it after [`init`](crate::init). Rows of theirs that no collector has read
/// are lost; a collector at work has read them within a second.
pub fn keep_ended(count: usize) -> Removed {
    let own = ring_path();
    let Some(folder) = own.as_deref().and_then(Path::parent) else { return Removed::default() };
    let prefix = file_prefix(application());
    let is_of_application = |path: &Path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.starts_with(prefix.as_bytes())
    };
    let mut rings = sizes(folder);
    rings.retain(|(path, ..)| is_of_application(path));
    let mut ended = ended(rings);
    ended.sort_by_key(|ring| ring.last_ns);
    ended.truncate(ended.len().saturating_sub(count));
    let mut removed = Removed::default();
    for ring in ended {
        if std::fs::remove_file(&ring.path).is_ok() {
            removed.rings += 1;
            removed.bytes += ring.bytes;
        }
    }
    removed
}
