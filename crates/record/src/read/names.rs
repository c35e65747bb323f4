//! The names in a ring, read as they are added.

use super::directory::Directory;
use super::error::RingError;
use super::ring_bytes::RingBytes;
use crate::layout::{CLASS_MAX, NAME_CLASS, NAME_PATH, NAMES_CHUNK_BYTES, NamesHead};
use chronoscope_model::{ClassId, ClassName, Names, PathId};
use std::collections::HashMap;

/// The names that were read so far.
#[derive(Debug, Default)]
pub(crate) struct NamesReader {
    pub(crate) names: Names,
    /// Class numbers of this ring.
    pub(crate) by_index: HashMap<u32, ClassId>,
    /// Position up to which each chunk was read.
    read: HashMap<u32, u64>,
    /// About how many bytes of memory the names take.
    pub(crate) bytes: u64,
}

/// Memory of a name besides its text, in bytes: its places in the tables, and two allocations.
const NAME_BYTES: u64 = 256;

impl NamesReader {
    /// Reads new entries; returns whether there were any.
    pub(crate) fn refresh(
        &mut self,
        source: &RingBytes,
        directory: &Directory,
    ) -> Result<bool, RingError> {
        let mut is_new = false;
        for part in &directory.names {
            let head: NamesHead = source.get(part.position)?;
            let from = self.read.get(&part.index).copied().unwrap_or(0);
            let room = NAMES_CHUNK_BYTES - size_of::<NamesHead>();
            let used = usize::try_from(head.used).unwrap_or(usize::MAX);
            if used > room || head.used < from {
                let what = format!("{used} bytes of names, {from} to {room} expected");
                return Err(RingError::damaged(part.position, what));
            }
            let start = part.position + size_of::<NamesHead>() as u64 + from;
            #[allow(clippy::cast_possible_truncation)] // both at most `room`
            let bytes: Vec<u8> = source.get_many(start, used - from as usize)?;
            is_new |= self.add_entries(&bytes, start)?;
            self.read.insert(part.index, head.used);
        }
        Ok(is_new)
    }

    fn add_entries(&mut self, bytes: &[u8], start: u64) -> Result<bool, RingError> {
        let mut is_new = false;
        let mut at = 0;
        while at < bytes.len() {
            let position = start + at as u64;
            let cut = || RingError::damaged(position, "a name that is longer than its chunk");
            let head: &[u8; 4] =
                bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or_else(cut)?;
            let len = usize::from(u16::from_le_bytes([head[0], head[1]]));
            let kind = u16::from_le_bytes([head[2], head[3]]);
            let body = bytes.get(at + 4..at + 4 + len).ok_or_else(cut)?;
            is_new |= match kind {
                NAME_CLASS => self.add_class(body),
                NAME_PATH => self.add_path(body),
                _ => None,
            }
            .ok_or_else(|| {
                RingError::damaged(position, format!("a name of kind {kind} that is none"))
            })?;
            at += (4 + len).next_multiple_of(8);
        }
        Ok(is_new)
    }

    fn add_class(&mut self, body: &[u8]) -> Option<bool> {
        let (index, rest) = split_u32(body)?;
        let (_switch, rest) = split_u32(rest)?;
        let (application, rest) = split_text(rest)?;
        let (class, _) = split_text(rest)?;
        if index == 0 || index as usize >= CLASS_MAX {
            return None;
        }
        self.by_index.insert(index, ClassId::of(&application, &class));
        let bytes = NAME_BYTES + (application.len() + class.len()) as u64;
        let is_new = self.names.add_class(ClassName { application, class });
        self.bytes += if is_new { bytes } else { 0 };
        Some(is_new)
    }

    fn add_path(&mut self, body: &[u8]) -> Option<bool> {
        let mut words = body
            .chunks_exact(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        let id = PathId(words.next()?);
        let is_new = self.names.add_path(id, words.map(ClassId).collect());
        self.bytes += if is_new { NAME_BYTES + body.len() as u64 } else { 0 };
        Some(is_new)
    }
}

fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number), rest))
}

fn split_text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (len, rest) = split_u32(bytes)?;
    let (text, rest) = rest.split_at_checked(len as usize)?;
    Some((std::str::from_utf8(text).ok()?.to_owned(), rest))
}
