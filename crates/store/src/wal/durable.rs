//! Position up to which the log was reported durable, in a file of its own.
//!
//! A write that a crash cut short leaves the log with an unreadable end, which is no damage: nobody
//! was told that those rows survive. Damage to the last block looks the same. What tells them apart
//! is this file, `DIR/log/durable`: before the place that it names nothing was cut short. It is
//! written after each `fdatasync` of the log and not synced itself: after a power failure it may name
//! an earlier place, where the two cases are not told apart, and never a later one.
//!
//! Encoding: magic (8), CRC-32 of what follows (4), 0 (4), sequence number of the log file (8),
//! bytes
//! of it (8), the row behind the last (8); little-endian.

use crate::disk::Access;
use crate::{StoreError, layout};
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const MAGIC: [u8; 8] = *b"CHRNODUR";
const LEN: usize = 40;

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DurableEnd {
    /// The log file.
    pub(crate) sequence: u64,
    /// Bytes of it.
    pub(crate) position: u64,
    /// The number of the row behind the last.
    pub(crate) row: u64,
}

impl DurableEnd {
    /// Reads the one of the store in `dir`. `None` where there is none, or it does not match its
    /// checksum: then what was cut short and what is damaged are not told apart.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>, StoreError> {
        let path = layout::durable(dir);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Self::decode(&bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", &path)(error)),
        }
    }

    /// Writes it; whoever reads it sees this one or the one before.
    pub(crate) fn write(self, dir: &Path, access: Access) -> Result<(), StoreError> {
        let path = layout::durable(dir);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let file = options.mode(access.of_file()).open(&path);
        let written = file.and_then(|file| file.write_all_at(&self.encode(), 0));
        written.map_err(StoreError::io("write", &path))
    }

    fn encode(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        for (at, number) in [(16, self.sequence), (24, self.position), (32, self.row)] {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let crc = crc32fast::hash(&bytes[16..]);
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LEN] = bytes.try_into().ok()?;
        let number = |at: usize| Some(u64::from_le_bytes(*bytes[at..].first_chunk()?));
        let crc = u32::from_le_bytes(*bytes[8..].first_chunk()?);
        let is_whole = bytes[..8] == MAGIC && crc == crc32fast::hash(&bytes[16..]);
        let end = Self { sequence: number(16)?, position: number(24)?, row: number(32)? };
        is_whole.then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_a_changed_one_is_none() {
        let end = DurableEnd { sequence: 7, position: 1 << 40, row: u64::MAX };
        let bytes = end.encode();
        assert_eq!(DurableEnd::decode(&bytes), Some(end));
        for at in (0..LEN).filter(|at| !(12..16).contains(at)) {
            let mut changed = bytes;
            changed[at] ^= 1;
            assert_eq!(DurableEnd::decode(&changed), None, "byte {at}");
        }
        assert_eq!(DurableEnd::decode(&bytes[1..]), None);
    }
}
