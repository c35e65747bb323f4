//! Rings of processes that have ended: how many stay in the folder.
//!
//! A collector removes them when it has read them. Where none is at work they would fill the
//! memory, one with every program that ends. So each program that begins to record looks once, and
//! removes those that ended longest ago while they are too old or too large together. It costs the
//! sizes of the files in the folder; their contents are looked at only where something is to go.
//!
//! Never removed: the ring of a process that may be running. That is any that cannot be read, and
//! any of another host's name that is not in this machine's memory. In memory a ring's lock tells
//! that its process has ended in whatever container it ran: pods come and go under ever new names.

use crate::env::Settings;
use crate::os;
use crate::read::{Ring, rings_of};
use crate::say::{self, Topic};
use chronoscope_clock as clock;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A ring whose process has ended.
pub(crate) struct Ended {
    /// Time of its last record, or else of its begin: UTC, nanoseconds since 1970.
    pub(crate) last_ns: i64,
    pub(crate) bytes: u64,
    pub(crate) path: PathBuf,
}

/// Removes rings from `folder` that are too old or exceed the size limit, and reports them.
pub(crate) fn tidy(folder: &Path, settings: &Settings) {
    let oldest_ns = clock::utc_now_ns().saturating_sub_unsigned(settings.ended_age_ns);
    let rings = sizes(folder);
    let sum: u64 = rings.iter().map(|(_, bytes, _)| bytes).sum();
    let is_too_much = sum > settings.ended_bytes;
    // The file changes as the ring grows: a process that began lately has not ended long ago.
    let may_go =
        rings.into_iter().filter(|(.., changed_ns)| is_too_much || *changed_ns < oldest_ns);
    let ended = ended(may_go.collect());
    let (mut count, mut removed_bytes) = (0_u64, 0);
    for ring in too_much(ended, oldest_ns, settings.ended_bytes) {
        // Another program that begins may have been quicker.
        if std::fs::remove_file(&ring.path).is_ok() {
            count += 1;
            removed_bytes += ring.bytes;
        }
    }
    if count > 0 {
        let text = format!(
            "rings of ended processes removed from {}: {count}, {removed_bytes} bytes; no program \
             collects them (run chronoscope serve; CHRONOSCOPE_ENDED_MIB and CHRONOSCOPE_ENDED_DAYS \
             set how many are kept)",
            folder.display()
        );
        say::once(Topic::Ended, &text);
    }
}

/// The rings in a folder with their bytes and when they changed. None where the folder cannot be
/// read: then there is nothing that may be removed.
pub(crate) fn sizes(folder: &Path) -> Vec<(PathBuf, u64, i64)> {
    let size = |path: PathBuf| {
        let found = std::fs::symlink_metadata(&path).ok()?;
        let changed_ns = found.mtime().saturating_mul(1_000_000_000);
        Some((path, found.blocks() * 512, changed_ns))
    };
    rings_of(folder).unwrap_or_default().into_iter().filter_map(size).collect()
}

/// Rings of processes that have certainly ended.
pub(crate) fn ended(rings: Vec<(PathBuf, u64, i64)>) -> Vec<Ended> {
    // Most programs stop here: nothing is too old or too much. Without /proc every process looks as
    // if it had ended.
    if rings.is_empty() || os::process_start(std::process::id()).is_none() {
        return Vec::new();
    }
    let host = os::host();
    let ended = |(path, bytes, _): (PathBuf, u64, i64)| {
        let mut ring = Ring::open(&path).ok()?;
        let may_run = ring.process().host != host || ring.is_alive();
        if may_run && !ring.has_ended_here() {
            return None;
        }
        let start_ns = ring.process().start_ns;
        let last = ring.last(1).ok().and_then(|batch| batch.records().last().map(|r| r.end_ns()));
        Some(Ended { last_ns: last.unwrap_or(start_ns).max(start_ns), bytes, path })
    };
    rings.into_iter().filter_map(ended).collect()
}

/// Rings to remove, the first ended first: older than `oldest_ns`, or together above `bytes_max`.
fn too_much(mut ended: Vec<Ended>, oldest_ns: i64, bytes_max: u64) -> Vec<Ended> {
    ended.sort_by_key(|ring| ring.last_ns);
    let mut sum: u64 = ended.iter().map(|ring| ring.bytes).sum();
    let count = ended.iter().take_while(|ring| {
        let goes = ring.last_ns < oldest_ns || sum > bytes_max;
        sum -= if goes { ring.bytes } else { 0 };
        goes
    });
    let count = count.count();
    ended.truncate(count);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ended_go_while_they_are_too_old_or_too_much() {
        let ring = |last_ns, bytes| Ended { last_ns, bytes, path: last_ns.to_string().into() };
        let rings = || vec![ring(30, 5), ring(10, 5), ring(20, 5)];
        let gone = |oldest_ns, bytes_max| -> Vec<i64> {
            too_much(rings(), oldest_ns, bytes_max).iter().map(|ring| ring.last_ns).collect()
        };
        assert_eq!(gone(0, 15), []);
        assert_eq!(gone(0, 14), [10]);
        assert_eq!(gone(0, 5), [10, 20]);
        assert_eq!(gone(25, 15), [10, 20]);
        assert_eq!(gone(0, 0), [10, 20, 30]);
    }
}
