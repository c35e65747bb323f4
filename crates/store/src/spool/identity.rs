//! Identity of a spool: `DIR/spool`, written once. Format: `docs/formats/wal.md`.

use crate::disk::Disk;
use crate::{StoreError, StreamId, layout, wal};
use std::fs::File;
use std::io::Read;
use std::path::Path;

const MAGIC: [u8; 8] = *b"CHRNSPOL";
/// Version of a spool that still has its first number.
const VERSION_1: u32 = 1;
const LEN_1: usize = 40;
/// Version of a spool whose number was changed.
const VERSION_2: u32 = 2;
const LEN_2: usize = 64;

/// Source of random numbers on Linux.
const RANDOM: &str = "/dev/urandom";

/// The numbers of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Under which its rows are counted.
    pub(super) id: StreamId,
    /// With which it was made: what it has dropped stays counted under this one.
    pub(super) origin: StreamId,
    /// When it was made: UTC, nanoseconds since 1970.
    made_ns: i64,
    /// Rows below this number are not `id`'s: they were acknowledged under the number before.
    pub(super) first_row: u64,
}

/// The identity of the spool in `dir`; a new one is made where there is nothing yet.
pub(super) fn read_or_make(disk: &Disk, dir: &Path, now_ns: i64) -> Result<Identity, StoreError> {
    let path = layout::spool(dir);
    match std::fs::read(&path) {
        Ok(bytes) => decode(&bytes, &path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if layout::manifest(dir).exists() || !wal::list(dir, 0)?.is_empty() {
                return Err(StoreError::Spool { dir: dir.to_owned() });
            }
            let id = random()?;
            let identity = Identity { id, origin: id, made_ns: now_ns, first_row: 0 };
            disk.replace(&path, &encode(&identity))?;
            Ok(identity)
        }
        Err(error) => Err(StoreError::io("read", &path)(error)),
    }
}

impl Identity {
    /// Gives the spool another number, for the rows from `first_row` on.
    pub(super) fn renumber(
        self,
        disk: &Disk,
        dir: &Path,
        first_row: u64,
    ) -> Result<Self, StoreError> {
        let next = Self { id: random()?, first_row, ..self };
        disk.replace(&layout::spool(dir), &encode(&next))?;
        Ok(next)
    }
}

fn random() -> Result<StreamId, StoreError> {
    let path = Path::new(RANDOM);
    let mut bytes = [0; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(StoreError::io("read", path))?;
    Ok(StreamId(u128::from_le_bytes(bytes)))
}

fn encode(identity: &Identity) -> Vec<u8> {
    let Identity { id, origin, made_ns, first_row } = *identity;
    let is_first = id == origin;
    let mut bytes = vec![0; 16];
    bytes[..8].copy_from_slice(&MAGIC);
    let version = if is_first { VERSION_1 } else { VERSION_2 };
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    bytes.extend(id.0.to_le_bytes());
    bytes.extend(made_ns.to_le_bytes());
    if !is_first {
        bytes.extend(origin.0.to_le_bytes());
        bytes.extend(first_row.to_le_bytes());
    }
    let crc = crc32fast::hash(&bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], path: &Path) -> Result<Identity, StoreError> {
    let Some((head, rest)) = bytes.split_first_chunk::<16>() else {
        return Err(StoreError::damaged(path, bytes.len() as u64, "cut off"));
    };
    if head[..8] != MAGIC {
        return Err(StoreError::damaged(path, 0, "not the identity file of a spool"));
    }
    let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    let len = match version {
        VERSION_1 => LEN_1,
        VERSION_2 => LEN_2,
        _ => {
            return Err(StoreError::Newer { path: path.to_owned(), version, known: VERSION_2 });
        }
    };
    let wrong = || StoreError::damaged(path, 12, "it does not match its checksum");
    if bytes.len() != len || head[12..] != crc32fast::hash(rest).to_le_bytes() {
        return Err(wrong());
    }
    let number = |at: usize| bytes.get(at..)?.first_chunk().copied();
    let id = |at| number(at).map(|bytes| StreamId(u128::from_le_bytes(bytes)));
    let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let own = id(16).ok_or_else(wrong)?;
    Ok(Identity {
        id: own,
        origin: id(40).unwrap_or(own),
        made_ns: word(32).ok_or_else(wrong)?.cast_signed(),
        first_row: word(56).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_read_back_and_a_changed_byte_is_told() {
        let path = Path::new("spool");
        let first = Identity { id: StreamId(5), origin: StreamId(5), made_ns: -7, first_row: 0 };
        let later = Identity { id: StreamId(6), first_row: 1 << 40, ..first };
        for (identity, len) in [(first, LEN_1), (later, LEN_2)] {
            let bytes = encode(&identity);
            assert_eq!(bytes.len(), len);
            assert_eq!(decode(&bytes, path).unwrap(), identity);
            for at in 0..len {
                let mut changed = bytes.clone();
                changed[at] ^= 4;
                assert!(decode(&changed, path).is_err(), "byte {at}");
            }
        }
    }
}
