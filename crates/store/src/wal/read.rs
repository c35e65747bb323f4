//! Reading the log, and saving what can be saved of a damaged one.

use super::block::{Block, BlockHeader, HEAD_LEN, MAGIC};
use crate::{Damage, StoreError, layout};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// First bytes of a log file.
const FILE_MAGIC: [u8; 8] = *b"CHRNOWAL";
/// Version of the format that is written here. Each has notes that the one before did not know.
const VERSION: u32 = 4;
/// Size of a file's head, in bytes.
pub(crate) const FILE_HEAD_LEN: usize = 32;

/// A log file's head. As bytes: magic (8), version (4), CRC-32 of what follows (4), sequence
/// number (8), the row number at which it begins (8); little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHead {
    pub(crate) sequence: u64,
    pub(crate) first_row: u64,
}

impl FileHead {
    pub(crate) fn encode(self) -> [u8; FILE_HEAD_LEN] {
        let mut bytes = [0; FILE_HEAD_LEN];
        bytes[..8].copy_from_slice(&FILE_MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[24..].copy_from_slice(&self.first_row.to_le_bytes());
        let crc = crc32fast::hash(&bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn check(
        bytes: &[u8; FILE_HEAD_LEN],
        path: &Path,
    ) -> Result<(), Result<&'static str, StoreError>> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if bytes[..8] != FILE_MAGIC {
            return Err(Ok("not a log file"));
        }
        if word(12) != crc32fast::hash(&bytes[16..]) {
            return Err(Ok("the file's head does not match its checksum"));
        }
        match word(8) {
            1..=VERSION => Ok(()),
            version => {
                Err(Err(StoreError::Newer { path: path.to_owned(), version, known: VERSION }))
            }
        }
    }
}

/// A log file, opened: it can be read to its end even when it is removed meanwhile.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) sequence: u64,
    pub(crate) path: PathBuf,
    file: File,
}

/// The log files of the store in `dir` from `first` on, in order.
pub(crate) fn list(dir: &Path, first: u64) -> Result<Vec<LogFile>, StoreError> {
    let log = layout::log_dir(dir);
    let entries = match std::fs::read_dir(&log) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("read directory", &log)(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::io("read directory", &log))?.path();
        let Some(sequence) = layout::log_sequence(&path).filter(|sequence| *sequence >= first)
        else {
            continue;
        };
        let file = File::open(&path).map_err(StoreError::io("open", &path))?;
        files.push(LogFile { sequence, path, file });
    }
    files.sort_unstable_by_key(|file| file.sequence);
    Ok(files)
}

/// Result of reading a file.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// Bytes in the file.
    pub(crate) len: u64,
    /// Offset and reason at which the file became unreadable (a torn end after a crash, or damage);
    /// `None` when all of it is readable.
    pub(crate) bad: Option<(u64, String)>,
}

/// Reads a file and gives its good blocks to `each`, in order, but those whose rows are all below
/// `row`. After a bad one it looks for the
/// next good one. `row` is where rows go on; a block beyond it tells how many are missing, which
/// is added to `damage`. A bad end with nothing behind it may be a write that a crash cut short:
/// it is left to the caller, who knows whether rows go on in another file.
pub(crate) fn scan(
    log: &LogFile,
    row: &mut u64,
    damage: &mut Vec<Damage>,
    mut each: impl FnMut(Block) -> Result<(), StoreError>,
) -> Result<Scanned, StoreError> {
    let len = log.file.metadata().map_err(StoreError::io("read", &log.path))?.len();
    let mut scanner = Scanner::new(log, len)?;
    let mut bad: Option<(u64, String)> = None;
    if let Err(reason) = scanner.file_head()? {
        bad = Some((0, reason.to_owned()));
    }
    loop {
        match scanner.block(*row)? {
            Found::End => break,
            Found::Before => {}
            Found::Bad { position, reason } => {
                bad.get_or_insert((position, reason.to_owned()));
                if !scanner.seek_magic()? {
                    break;
                }
            }
            Found::Block(block) => {
                let rows_lost = block.first_row.saturating_sub(*row);
                if let Some((position, reason)) = bad.take() {
                    damage.push(Damage { path: log.path.clone(), position, reason, rows_lost });
                } else if rows_lost > 0 {
                    let reason = format!("rows {} to {} are missing", *row, block.first_row - 1);
                    let position = scanner.block_start;
                    damage.push(Damage { path: log.path.clone(), position, reason, rows_lost });
                }
                *row = block.first_row + block.batch.len() as u64;
                each(block)?;
            }
        }
    }
    Ok(Scanned { len, bad })
}

enum Found {
    Block(Block),
    /// All of its rows are known: it was not read. So is the same block again, as a writer saves it
    /// into a new file when it does not know what became of the old one.
    Before,
    Bad {
        position: u64,
        reason: &'static str,
    },
    End,
}

/// Reads blocks one at a time, so that memory is bounded by the largest block.
struct Scanner<'a> {
    log: &'a LogFile,
    reader: BufReader<&'a File>,
    /// Bytes that are read ahead and not used yet.
    buffer: Vec<u8>,
    /// Offset of `buffer` in the file.
    position: u64,
    /// Offset of the last block.
    block_start: u64,
    len: u64,
}

impl<'a> Scanner<'a> {
    fn new(log: &'a LogFile, len: u64) -> Result<Self, StoreError> {
        use std::io::Seek;
        let mut file = &log.file;
        file.rewind().map_err(StoreError::io("lseek", &log.path))?;
        let reader = BufReader::with_capacity(1 << 20, file);
        Ok(Self { log, reader, buffer: Vec::new(), position: 0, block_start: 0, len })
    }

    /// Reads until `buffer` has `len` bytes or the file ends. A file that grows meanwhile is read
    /// to where it ended at the start: what is behind comes with the next reading.
    fn fill(&mut self, len: usize) -> Result<bool, StoreError> {
        let have = self.buffer.len();
        let left = self.len.saturating_sub(self.position + have as u64);
        let want = (len.saturating_sub(have) as u64).min(left);
        let read = (&mut self.reader).take(want).read_to_end(&mut self.buffer);
        read.map_err(StoreError::io("read", &self.log.path))?;
        Ok(self.buffer.len() >= len)
    }

    fn consume(&mut self, len: usize) {
        self.buffer.drain(..len);
        self.position += len as u64;
    }

    fn file_head(&mut self) -> Result<Result<(), &'static str>, StoreError> {
        if !self.fill(FILE_HEAD_LEN)? {
            return Ok(Err("the file's head is cut off"));
        }
        let Some(head) = self.buffer.first_chunk() else { return Ok(Ok(())) };
        let result = match FileHead::check(head, &self.log.path) {
            Ok(()) => Ok(()),
            Err(Ok(reason)) => Err(reason),
            Err(Err(newer)) => return Err(newer),
        };
        // Blocks are found by their own heads: a damaged file head costs nothing else.
        self.consume(FILE_HEAD_LEN);
        Ok(result)
    }

    /// Passes over bytes that are in the file.
    fn skip(&mut self, len: usize) -> Result<(), StoreError> {
        let read = len.min(self.buffer.len());
        self.consume(read);
        let rest = len - read;
        let by = i64::try_from(rest).unwrap_or(i64::MAX); // a block is much shorter
        self.reader.seek_relative(by).map_err(StoreError::io("lseek", &self.log.path))?;
        self.position += rest as u64;
        Ok(())
    }

    fn block(&mut self, row: u64) -> Result<Found, StoreError> {
        self.block_start = self.position;
        self.fill(HEAD_LEN)?;
        if self.buffer.is_empty() {
            return Ok(Found::End);
        }
        let bad = |reason| Ok(Found::Bad { position: self.position, reason });
        let head = match BlockHeader::decode(&self.buffer) {
            Ok(head) if head.sequence == self.log.sequence => head,
            Ok(_) => return bad("a block of another file"),
            Err(reason) => return bad(reason),
        };
        let is_there = self.position + head.block_len() as u64 <= self.len;
        if is_there && head.is_before(row) {
            self.skip(head.block_len())?;
            return Ok(Found::Before);
        }
        if !self.fill(head.block_len())? {
            return Ok(Found::Bad { position: self.position, reason: "a block is cut off" });
        }
        match Block::decode(&head, &self.buffer[HEAD_LEN..]) {
            Ok(block) => {
                self.consume(head.block_len());
                Ok(Found::Block(block))
            }
            Err(reason) => Ok(Found::Bad { position: self.position, reason }),
        }
    }

    /// Goes on to the next place that looks like a block; whether there is one.
    fn seek_magic(&mut self) -> Result<bool, StoreError> {
        const CHUNK: usize = 1 << 16;
        let mut from = 1;
        loop {
            let more = self.fill(CHUNK)?;
            let found = self
                .buffer
                .get(from..)
                .and_then(|rest| rest.windows(MAGIC.len()).position(|window| window == MAGIC));
            if let Some(at) = found {
                self.consume(from + at);
                return Ok(true);
            }
            // The magic may straddle the end of what is read.
            let keep = MAGIC.len() - 1;
            self.consume(self.buffer.len().saturating_sub(keep));
            if !more {
                self.consume(self.buffer.len());
                return Ok(false);
            }
            from = 0;
        }
    }
}

impl LogFile {
    /// The row number at which it begins, as its head says.
    pub(crate) fn first_row(&self) -> Result<u64, StoreError> {
        use std::os::unix::fs::FileExt;
        let mut bytes = [0; FILE_HEAD_LEN];
        let read = self.file.read_exact_at(&mut bytes, 0);
        read.map_err(StoreError::io("read", &self.path))?;
        let number = bytes.last_chunk().map_or(0, |number| u64::from_le_bytes(*number));
        // With a damaged head the numbers of the blocks tell what is missing, counted from 0.
        Ok(FileHead::check(&bytes, &self.path).map_or(0, |()| number))
    }

    /// Makes durable what a killed server left in the page cache.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::io("fdatasync", &self.path))
    }
}
