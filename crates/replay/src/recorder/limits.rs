//! Limits of files: length, age, and the delay until their content is durable.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Times of changing the file, of removing old ones, and of syncing.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A file is closed when it has this many octets.
    pub file_bytes_max: u64,
    /// Start a new file when the first input of the current one is this old.
    pub file_age_max: Duration,
    /// Files last written longer ago than this are removed.
    pub keep_age: Option<Duration>,
    /// The oldest files are removed while all together have more octets than this.
    pub keep_bytes: Option<u64>,
    /// Longest time until written inputs are durable.
    pub sync_every: Duration,
    /// Octets that may wait for the disk; what arrives beyond them is passed on and not recorded.
    pub queue_bytes_max: usize,
    /// After an error of the disk it is tried again so often.
    pub retry_every: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes_max: 256 << 20,
            file_age_max: Duration::from_hours(1),
            keep_age: None,
            keep_bytes: None,
            sync_every: Duration::from_secs(1),
            queue_bytes_max: 64 << 20,
            retry_every: Duration::from_secs(5),
        }
    }
}

/// Suffix of captures.
pub(super) const CAPTURE: &str = "pcapng";
/// Suffix of a journal's files, and the folder beside the captures that they are in.
pub(super) const JOURNAL: &str = "journal";

/// The recorded files of one kind in a folder, the oldest first: their names begin with a number.
pub(super) fn files(folder: &Path, suffix: &str) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let is =
        |path: &PathBuf| path.extension() == Some(OsStr::new(suffix)) && number(path).is_some();
    let mut files: Vec<_> = paths.filter(is).collect();
    files.sort();
    Ok(files)
}

/// The number that a file's name begins with.
pub(super) fn number(path: &Path) -> Option<u64> {
    path.file_stem()?.to_str()?.get(..10)?.parse().ok()
}

impl Limits {
    /// Removes files that are too old or too many, at `now_ns` (UTC, ns since 1970); never the
    /// newest file of a kind. Returns how many were removed.
    pub(super) fn forget(&self, folder: &Path, now_ns: i64) -> io::Result<u64> {
        if self.keep_age.is_none() && self.keep_bytes.is_none() {
            return Ok(0);
        }
        let mut old = Vec::new(); // last written, octets, path
        let mut bytes: u64 = 0;
        let journal = folder.join(JOURNAL);
        for (folder, suffix) in [(folder, CAPTURE), (&journal, JOURNAL)] {
            let files = if folder.is_dir() { files(folder, suffix)? } else { Vec::new() };
            for (index, path) in files.iter().enumerate() {
                let metadata = fs::metadata(path)?;
                bytes += metadata.len();
                if index + 1 < files.len() {
                    old.push((modified_ns(&metadata), metadata.len(), path.clone()));
                }
            }
        }
        old.sort();
        let age_ns = self.keep_age.map(|age| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX));
        let mut removed = 0;
        for (modified_ns, length, path) in old {
            let too_old = age_ns.is_some_and(|age| now_ns.saturating_sub(modified_ns) > age);
            let too_much = self.keep_bytes.is_some_and(|most| bytes > most);
            if !too_old && !too_much {
                break;
            }
            fs::remove_file(&path)?;
            bytes -= length;
            removed += 1;
        }
        Ok(removed)
    }
}

fn modified_ns(metadata: &fs::Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: i64 = 3_600_000_000_000;

    /// Five captures of 100 octets, the last two written now, and what is none of ours.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5 {
            fs::write(folder.path().join(format!("{number:010}-x.pcapng")), [0; 100]).unwrap();
        }
        fs::write(folder.path().join("notes.txt"), "keep me").unwrap();
        fs::write(folder.path().join("mine.pcapng"), "keep me").unwrap();
        folder
    }

    fn left(folder: &Path) -> Vec<u64> {
        files(folder, CAPTURE).unwrap().iter().filter_map(|path| number(path)).collect()
    }

    #[test]
    fn the_oldest_go_until_the_rest_fits() {
        let folder = folder();
        let limits = Limits { keep_bytes: Some(250), ..Limits::default() };
        assert_eq!(limits.forget(folder.path(), 0).unwrap(), 3);
        assert_eq!(left(folder.path()), [3, 4]);
        assert!(folder.path().join("notes.txt").exists());
        assert!(folder.path().join("mine.pcapng").exists());
    }

    #[test]
    fn the_newest_stays_whatever_its_age_and_size() {
        let folder = folder();
        let limits = Limits {
            keep_bytes: Some(1),
            keep_age: Some(Duration::from_secs(60)),
            ..Limits::default()
        };
        let later_ns = chronoscope_clock::utc_now_ns() + HOUR_NS;
        assert_eq!(limits.forget(folder.path(), later_ns).unwrap(), 4);
        assert_eq!(left(folder.path()), [4]);
    }

    #[test]
    fn what_is_young_stays() {
        let folder = folder();
        let limits = Limits { keep_age: Some(Duration::from_secs(60)), ..Limits::default() };
        assert_eq!(limits.forget(folder.path(), chronoscope_clock::utc_now_ns()).unwrap(), 0);
        assert_eq!(left(folder.path()).len(), 5);
    }
}
