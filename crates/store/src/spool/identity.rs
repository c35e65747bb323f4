//! Who a spool is: `DIR/spool`, written once. Format: `docs/formats/wal.md`.

use crate::disk::Disk;
use crate::{StoreError, StreamId, layout, wal};
use std::fs::File;
use std::io::Read;
use std::path::Path;

const MAGIC: [u8; 8] = *b"CHRNSPOL";
const VERSION: u32 = 1;
const LEN: usize = 40;

/// Where random numbers come from. Linux.
const RANDOM: &str = "/dev/urandom";

/// The id of the spool in `dir`; a new one is made where there is nothing yet.
pub(super) fn read_or_make(disk: &Disk, dir: &Path, now_ns: i64) -> Result<StreamId, StoreError> {
    let path = layout::spool(dir);
    match std::fs::read(&path) {
        Ok(bytes) => decode(&bytes, &path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if layout::manifest(dir).exists() || !wal::list(dir, 0)?.is_empty() {
                return Err(StoreError::Spool { dir: dir.to_owned() });
            }
            let id = random()?;
            disk.replace(&path, &encode(id, now_ns))?;
            Ok(id)
        }
        Err(error) => Err(StoreError::io("read", &path)(error)),
    }
}

fn random() -> Result<StreamId, StoreError> {
    let path = Path::new(RANDOM);
    let mut bytes = [0; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(StoreError::io("read", path))?;
    Ok(StreamId(u128::from_le_bytes(bytes)))
}

fn encode(id: StreamId, made_ns: i64) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..32].copy_from_slice(&id.0.to_le_bytes());
    bytes[32..].copy_from_slice(&made_ns.to_le_bytes());
    let crc = crc32fast::hash(&bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], path: &Path) -> Result<StreamId, StoreError> {
    let Some((head, rest)) = bytes.split_first_chunk::<16>() else {
        return Err(StoreError::damaged(path, bytes.len() as u64, "cut off"));
    };
    if head[..8] != MAGIC {
        return Err(StoreError::damaged(path, 0, "not what makes a directory a spool"));
    }
    let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    if version != VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), version, known: VERSION });
    }
    match rest.first_chunk::<16>() {
        Some(id) if head[12..] == crc32fast::hash(rest).to_le_bytes() => {
            Ok(StreamId(u128::from_le_bytes(*id)))
        }
        _ => Err(StoreError::damaged(path, 12, "it does not match its checksum")),
    }
}
