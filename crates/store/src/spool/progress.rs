//! Rows of a spool that were sent and acknowledged, in a file beside it: `DIR/delivery`.
//!
//! A receiver that has rows which this spool never sent got them from somebody else under the
//! spool's number. Somebody else may also be this spool itself, of which an older copy was put back.
//! The file tells the two apart after a restart: it holds the id of the system's boot, the time of
//! its last writing and the number of its own inode, which match the system's only where nothing was
//! put back since.
//!
//! It is not synced: after a start of the system the boot id differs, and the file is ignored.
//! Format: `docs/formats/wal.md`.

use crate::disk::Access;
use crate::{StoreError, layout};
use chronoscope_clock::utc_now_ns;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

const MAGIC: [u8; 8] = *b"CHRNDELV";
const LEN: usize = 64;
/// File of the boot id, which Linux changes at each start of the system.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Largest difference between the time in the file and the file's modification time.
const WRITTEN_WITHIN_NS: u64 = 2_000_000_000;

/// Delivery progress of a spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Rows below this number were acknowledged.
    pub(super) acknowledged: u64,
    /// No row from this number on was ever sent.
    pub(super) sent: u64,
}

impl Progress {
    /// The content of the file; `None` where there is none, or it may be an older copy that was put
    /// back.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, StoreError> {
        let path = layout::delivery(dir);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        let metadata = std::fs::metadata(&path).map_err(StoreError::io("read", &path))?;
        // Nobody can set this time, whatever copies a file.
        let changed_ns = metadata.ctime().saturating_mul(1_000_000_000) + metadata.ctime_nsec();
        let here = Place { boot_id: boot_id(), inode: metadata.ino() };
        Ok(Self::decode(&bytes, here).and_then(|(progress, written_ns)| {
            (written_ns.abs_diff(changed_ns) < WRITTEN_WITHIN_NS).then_some(progress)
        }))
    }

    /// Writes the file in place. Where that fails it is removed: one that is behind would be taken
    /// for somebody else's doing.
    pub(super) fn write(self, dir: &Path, access: Access) -> Result<(), StoreError> {
        let path = layout::delivery(dir);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false).mode(access.of_file());
        let written = options.open(&path).and_then(|file| {
            let here = Place { boot_id: boot_id(), inode: file.metadata()?.ino() };
            file.write_all_at(&self.encode(here, utc_now_ns()), 0)
        });
        match written {
            Ok(()) => Ok(()),
            Err(_) => match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(StoreError::io("write", &path)(error))
                }
                _ => Ok(()),
            },
        }
    }

    fn encode(self, here: Place, written_ns: i64) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[16..32].copy_from_slice(&here.boot_id);
        bytes[32..40].copy_from_slice(&written_ns.to_le_bytes());
        for (at, number) in [(40, self.acknowledged), (48, self.sent), (56, here.inode)] {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let crc = crc32fast::hash(&bytes[16..]);
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8], here: Place) -> Option<(Self, i64)> {
        let bytes: &[u8; LEN] = bytes.try_into().ok()?;
        let number = |at: usize| Some(u64::from_le_bytes(*bytes[at..].first_chunk()?));
        let crc = u32::from_le_bytes(*bytes[8..].first_chunk()?);
        let is_whole = bytes[..8] == MAGIC && crc == crc32fast::hash(&bytes[16..]);
        let there = Place { boot_id: *bytes[16..].first_chunk()?, inode: number(56)? };
        let is_here = there == here && here.boot_id != [0; 16];
        let progress = Self { acknowledged: number(40)?, sent: number(48)? };
        (is_whole && is_here).then_some((progress, number(32)?.cast_signed()))
    }
}

/// Boot and inode under which a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    boot_id: [u8; 16],
    /// The file's own.
    inode: u64,
}

/// Zeros where the system does not tell: then no file is believed.
fn boot_id() -> [u8; 16] {
    let text = std::fs::read_to_string(BOOT_ID).unwrap_or_default();
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    u128::from_str_radix(&digits, 16).unwrap_or(0).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Place = Place { boot_id: [3; 16], inode: 8 };

    #[test]
    fn it_reads_back_and_a_changed_one_or_one_of_elsewhere_is_none() {
        let progress = Progress { acknowledged: 7, sent: u64::MAX };
        let bytes = progress.encode(HERE, 5);
        assert_eq!(Progress::decode(&bytes, HERE), Some((progress, 5)));
        assert_eq!(Progress::decode(&bytes, Place { boot_id: [4; 16], ..HERE }), None);
        assert_eq!(Progress::decode(&bytes, Place { inode: 9, ..HERE }), None);
        let untold = Place { boot_id: [0; 16], ..HERE };
        assert_eq!(Progress::decode(&progress.encode(untold, 5), untold), None);
        for at in (0..LEN).filter(|at| !(12..16).contains(at)) {
            let mut changed = bytes;
            changed[at] ^= 1;
            assert_eq!(Progress::decode(&changed, HERE), None, "byte {at}");
        }
    }

    #[test]
    fn a_file_that_was_put_back_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = layout::delivery(dir.path());
        let progress = Progress { acknowledged: 7, sent: 9 };
        assert_eq!(Progress::read(dir.path()).unwrap(), None);
        progress.write(dir.path(), Access::default()).unwrap();
        assert_eq!(Progress::read(dir.path()).unwrap(), Some(progress));
        // A copy beside, under its name.
        std::fs::copy(&path, dir.path().join("copy")).unwrap();
        std::fs::rename(dir.path().join("copy"), &path).unwrap();
        assert_eq!(Progress::read(dir.path()).unwrap(), None);
        // What it said a minute ago, in place.
        let here = Place { boot_id: boot_id(), inode: std::fs::metadata(&path).unwrap().ino() };
        std::fs::write(&path, progress.encode(here, utc_now_ns() - 60_000_000_000)).unwrap();
        assert_eq!(Progress::read(dir.path()).unwrap(), None);
    }
}
