//! Reading single blocks of a log that is being written, for a spool.

use super::block::{Block, BlockHeader, HEAD_LEN, MAGIC};
use super::read::FILE_HEAD_LEN;
use crate::StoreError;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A place in one log file from which blocks are read, one after the other.
#[derive(Debug)]
pub(crate) struct BlockReader {
    pub(crate) sequence: u64,
    path: PathBuf,
    file: File,
    position: u64,
}

/// Content at a position in the log.
#[derive(Debug)]
pub(crate) enum LogContent {
    Block(Block),
    /// Only rows below the wanted one; they were not read.
    Before {
        end_row: u64,
    },
    /// Neither this block nor anything behind it is complete.
    End,
}

impl BlockReader {
    /// Opens the file of this number, at its first block.
    pub(crate) fn open(path: &Path, sequence: u64) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        Ok(Self { sequence, path: path.to_owned(), file, position: FILE_HEAD_LEN as u64 })
    }

    /// The next good block, and the place behind it; of a block with rows below `row` only, no
    /// more than its head is read. What is damaged is passed over: the next block's row number
    /// says what is missing.
    pub(crate) fn next(&mut self, row: u64) -> Result<LogContent, StoreError> {
        loop {
            let mut head = [0; HEAD_LEN];
            if !self.read(&mut head, self.position)? {
                return Ok(LogContent::End);
            }
            let head =
                BlockHeader::decode(&head).ok().filter(|head| head.sequence == self.sequence);
            if let Some(head) = head {
                let end_row = head.first_row.saturating_add(u64::from(head.row_count));
                if head.row_count > 0 && end_row <= row {
                    self.position += head.block_len() as u64;
                    return Ok(LogContent::Before { end_row });
                }
                let mut content = vec![0; head.content_len()];
                if self.read(&mut content, self.position + HEAD_LEN as u64)?
                    && let Ok(block) = Block::decode(&head, &content)
                {
                    self.position += head.block_len() as u64;
                    return Ok(LogContent::Block(block));
                }
            }
            if !self.seek_magic()? {
                return Ok(LogContent::End);
            }
        }
    }

    /// Offset at which the next block is expected, in bytes from the file's start.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// Goes back to where a block is expected.
    pub(crate) const fn go_to(&mut self, position: u64) {
        self.position = position;
    }

    /// Goes on to the next place that looks like a block; where there is none it stays.
    fn seek_magic(&mut self) -> Result<bool, StoreError> {
        let mut chunk = vec![0; 1 << 16];
        let mut from = self.position + 1;
        loop {
            let len = self.file.read_at(&mut chunk, from).map_err(self.error())?;
            let found = chunk[..len].windows(MAGIC.len()).position(|window| window == MAGIC);
            if let Some(at) = found {
                self.position = from + at as u64;
                return Ok(true);
            }
            if len < MAGIC.len() {
                return Ok(false);
            }
            // The magic may straddle the end of what is read.
            from += (len - (MAGIC.len() - 1)) as u64;
        }
    }

    /// Whether the file has all of `bytes` there.
    fn read(&self, bytes: &mut [u8], position: u64) -> Result<bool, StoreError> {
        match self.file.read_exact_at(bytes, position) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(self.error()(error)),
        }
    }

    fn error(&self) -> impl FnOnce(io::Error) -> StoreError {
        StoreError::io("read", &self.path)
    }
}
