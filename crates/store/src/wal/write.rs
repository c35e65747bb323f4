//! Appending to the log.

use super::DurableEnd;
use super::block::{BlockHeader, HEAD_LEN, padding};
use crate::disk::{Disk, DiskFile};
use crate::{StoreError, layout};
use chronoscope_model::Batch;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::path::PathBuf;

/// The open end of the log, and what is known of the files before it.
#[derive(Debug)]
pub(crate) struct LogWriter {
    disk: Disk,
    dir: PathBuf,
    current: Option<DiskFile>,
    /// All files that are there, oldest first; the last one is `current` where there is one.
    files: VecDeque<FileSpan>,
    next_sequence: u64,
    /// Files with bytes that are perhaps not durable, oldest first.
    unsynced: Vec<DiskFile>,
    /// Whether a name was made that is perhaps not durable.
    dir_unsynced: bool,
}

/// A file of the log and the rows in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSpan {
    pub(crate) sequence: u64,
    /// One beyond the last row in it or before it.
    pub(crate) end_row: u64,
    pub(crate) len: u64,
}

/// Files to sync so that everything written so far is durable.
pub(crate) struct Unsynced {
    files: Vec<DiskFile>,
    dir: Option<PathBuf>,
    disk: Disk,
    /// End of the log at the time of the request: file and its length in bytes.
    end: Option<(u64, u64)>,
}

impl Unsynced {
    /// The place that is durable once this is synced.
    pub(crate) fn durable_end(&self, row: u64) -> Option<DurableEnd> {
        self.end.map(|(sequence, position)| DurableEnd { sequence, position, row })
    }

    /// Makes it durable: `fdatasync` of the files in their order, then of the directory.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        self.files.iter().try_for_each(DiskFile::sync)?;
        self.dir.iter().try_for_each(|dir| self.disk.sync_dir(dir))
    }
}

impl LogWriter {
    /// A writer behind the `files` that are there; it begins a file of its own.
    pub(crate) fn new(disk: Disk, dir: PathBuf, files: Vec<FileSpan>, next_sequence: u64) -> Self {
        Self {
            disk,
            dir,
            current: None,
            files: files.into(),
            next_sequence,
            unsynced: Vec::new(),
            dir_unsynced: false,
        }
    }

    /// Appends one block. When it fails, nothing of it is in the log.
    pub(crate) fn append(
        &mut self,
        first_row: u64,
        written_ns: i64,
        batch: &Batch,
        notes: &[u8],
    ) -> Result<(), StoreError> {
        if self.current.is_none() {
            self.begin_file(first_row)?;
        }
        let (Some(file), Some(span)) = (&mut self.current, self.files.back_mut()) else {
            return Ok(()); // there are both: `begin_file` made them
        };
        let rows: &[u8] = bytemuck::cast_slice(batch.records());
        let mut crc = crc32fast::Hasher::new();
        for part in [rows, batch.contexts(), notes] {
            crc.update(part);
        }
        #[allow(clippy::cast_possible_truncation)] // `Store::append` bounds all three
        let head = BlockHeader {
            first_row,
            sequence: span.sequence,
            written_ns,
            row_count: batch.len() as u32,
            contexts_len: batch.contexts().len() as u32,
            notes_len: notes.len() as u32,
            content_crc: crc.finalize(),
        };
        let head_bytes = head.encode();
        let zeros = [0; 8];
        let zeros = &zeros[..padding(head.content_len())];
        let parts: [&[u8]; 5] = [&head_bytes, rows, batch.contexts(), notes, zeros];
        if let Err(error) = file.write_slices(&mut parts.map(IoSlice::new)) {
            // Whatever came into the file would hide what comes after. Where even cutting fails,
            // the file is left with its torn end and the next one goes on.
            if file.cut(span.len).is_err() {
                self.current = None;
            }
            return Err(error);
        }
        span.len += head.block_len() as u64;
        span.end_row = first_row + batch.len() as u64;
        Ok(())
    }

    fn begin_file(&mut self, first_row: u64) -> Result<(), StoreError> {
        let sequence = self.next_sequence;
        let mut file = self.disk.create(&layout::log_file(&self.dir, sequence))?;
        let head = super::read::FileHead { sequence, first_row }.encode();
        let written = file.write_slices(&mut [IoSlice::new(&head)]);
        if let Err(error) = written {
            // Best effort: a file with half a head is an orphan that recovery knows.
            let _ = self.disk.remove(file.path());
            return Err(error);
        }
        self.next_sequence += 1;
        self.files.push_back(FileSpan { sequence, end_row: first_row, len: head.len() as u64 });
        self.unsynced.push(file.clone());
        self.current = Some(file);
        self.dir_unsynced = true;
        Ok(())
    }

    /// Ends the current file when it has `len` bytes or more.
    pub(crate) fn rotate_at(&mut self, len: u64) {
        if self.files.back().is_some_and(|span| span.len >= len.max(HEAD_LEN as u64)) {
            self.current = None;
        }
    }

    /// Ends the current file, whatever its size.
    pub(crate) fn end_file(&mut self) {
        self.current = None;
    }

    /// All files, oldest first.
    pub(crate) fn spans(&self) -> impl Iterator<Item = &FileSpan> {
        self.files.iter()
    }

    /// The files that will not grow any more, oldest first.
    pub(crate) fn ended(&self) -> impl Iterator<Item = &FileSpan> {
        let growing = usize::from(self.current.is_some());
        self.files.iter().take(self.files.len() - growing)
    }

    /// Files to sync now.
    pub(crate) fn unsynced(&self) -> Unsynced {
        Unsynced {
            files: self.unsynced.clone(),
            dir: self.dir_unsynced.then(|| layout::log_dir(&self.dir)),
            disk: self.disk.clone(),
            end: self.files.back().map(|span| (span.sequence, span.len)),
        }
    }

    /// Notes that `unsynced` was synced. The current file stays: it grows.
    pub(crate) fn synced(&mut self, unsynced: &Unsynced) {
        let done = unsynced.files.len().min(self.unsynced.len());
        self.unsynced.drain(..done);
        if let Some(current) = &self.current
            && self.unsynced.is_empty()
        {
            self.unsynced.push(current.clone());
        }
        if unsynced.dir.is_some() && unsynced.files.len() == done && self.unsynced.len() <= 1 {
            self.dir_unsynced = false;
        }
    }

    /// Gives up the current files: after a failed `fdatasync` nobody knows what is in them.
    pub(crate) fn abandon(&mut self) {
        self.current = None;
        self.unsynced.clear();
    }

    /// The sequence number of the oldest file that is needed for rows from `row` on.
    pub(crate) fn first_needed(&self, row: u64) -> u64 {
        let needed = |span: &&FileSpan| span.end_row > row;
        let current = self.current.as_ref().and(self.files.back()).map(|span| span.sequence);
        let first = self.files.iter().find(needed).map(|span| span.sequence);
        first.or(current).unwrap_or(self.next_sequence)
    }

    /// Removes the files before `sequence`.
    pub(crate) fn remove_before(&mut self, sequence: u64) -> Result<(), StoreError> {
        while let Some(span) = self.files.front()
            && span.sequence < sequence
        {
            self.disk.remove(&layout::log_file(&self.dir, span.sequence))?;
            self.files.pop_front();
        }
        Ok(())
    }

    /// Bytes of all files.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.files.iter().map(|span| span.len).sum()
    }
}
