//! Asking a store that is being written meanwhile.

use chronoscope_store::{Snapshot, StoreError};
use std::path::Path;

/// How often a question is asked again because a segment was replaced while it was read.
const TRIES: usize = 5;

/// Takes a snapshot of the store in `data_dir` and asks it; again when a segment has been removed
/// since the snapshot was taken.
///
/// # Errors
/// What the store says, also when it keeps removing segments.
pub fn with_snapshot<T>(
    data_dir: &Path,
    mut ask: impl FnMut(&Snapshot) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut tries = 1;
    loop {
        match ask(&Snapshot::open(data_dir)?) {
            Err(error) if error.is_missing() && tries < TRIES => tries += 1,
            answered => return answered,
        }
    }
}
