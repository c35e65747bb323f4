//! File names in a store's directory.
//!
//! ```text
//! DIR/lock                                       who writes
//! DIR/manifest                                   what is there
//! DIR/log/0000000000000007.wal                   rows that are not sealed yet
//! DIR/log/durable                                how far the log was reported durable
//! DIR/segments/2026-11-21T22-13-native-12.parquet   rows of a minute
//! DIR/sketches/2026-11-21T22-13-native-12.parquet   their sketches, by path
//! DIR/lost+found/                                what no manifest explains
//! ```

use crate::Slot;
use std::path::{Path, PathBuf};

pub(crate) fn lock(dir: &Path) -> PathBuf {
    dir.join("lock")
}

/// The file whose presence makes a directory an agent's spool.
pub(crate) fn spool(dir: &Path) -> PathBuf {
    dir.join("spool")
}

/// The file with the positions up to which a spool was sent and acknowledged.
pub(crate) fn delivery(dir: &Path) -> PathBuf {
    dir.join("delivery")
}

pub(crate) fn manifest(dir: &Path) -> PathBuf {
    dir.join("manifest")
}

pub(crate) fn log_dir(dir: &Path) -> PathBuf {
    dir.join("log")
}

/// Says that a deletion which waits may be done.
pub(crate) fn deletion_confirmed(dir: &Path) -> PathBuf {
    dir.join("deletion-confirmed")
}

/// The file with the position up to which the log was reported durable.
pub(crate) fn durable(dir: &Path) -> PathBuf {
    log_dir(dir).join("durable")
}

/// Directory for files that no manifest explains.
pub(crate) fn lost_and_found(dir: &Path) -> PathBuf {
    dir.join("lost+found")
}

pub(crate) fn segment_dir(dir: &Path) -> PathBuf {
    dir.join("segments")
}

pub(crate) fn sketch_dir(dir: &Path) -> PathBuf {
    dir.join("sketches")
}

pub(crate) fn log_file(dir: &Path, sequence: u64) -> PathBuf {
    log_dir(dir).join(format!("{sequence:016}.wal"))
}

/// The sequence number in a log file's name.
pub(crate) fn log_sequence(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(".wal")?.parse().ok()
}

pub(crate) fn segment(dir: &Path, slot: Slot, id: u64) -> PathBuf {
    segment_dir(dir).join(format!("{slot}-{id}.parquet"))
}

pub(crate) fn sketch(dir: &Path, slot: Slot, id: u64) -> PathBuf {
    sketch_dir(dir).join(format!("{slot}-{id}.parquet"))
}

/// The segment's id in the name of a segment or sketch file.
pub(crate) fn segment_id(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(".parquet")?.rsplit_once('-')?.1.parse().ok()
}
