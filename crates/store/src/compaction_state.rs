//! State that compaction keeps from one step to the next.

use crate::Slot;
use crate::manifest::Manifest;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The manifest as the writer knows it, and what it remembers of earlier steps.
#[derive(Debug)]
pub(crate) struct CompactionState {
    pub(crate) manifest: Manifest,
    /// Files of steps whose manifest could not be written. It may be in place all the same, so
    /// they stay until another one is.
    pub(crate) doubtful: Vec<PathBuf>,
    /// Slots with a segment that cannot be read: told once, and left in parts.
    pub(crate) unmergeable: BTreeSet<Slot>,
    /// Rows from before it were deleted when it was last looked: UTC, nanoseconds since 1970.
    pub(crate) aged_until_ns: Option<i64>,
}

impl CompactionState {
    pub(crate) fn new(manifest: Manifest) -> Self {
        Self { manifest, doubtful: Vec::new(), unmergeable: BTreeSet::new(), aged_until_ns: None }
    }
}
