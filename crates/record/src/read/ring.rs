//! The ring of one process, read from outside.

use super::core_file::CoreFile;
use super::counters::Counters;
use super::directory::{ChunkPosition, Directory};
use super::drain::{BlockReader, Buffers, Cursors, Drained};
use super::error::RingError;
use super::names::NamesReader;
use super::open::{self, OpenTransaction};
use super::ring_bytes::RingBytes;
use super::statistics::{self, ClassStatistics};
use crate::layout::{Header, PROCESS_CONTEXT_OFFSET, SWITCH_ENABLED, SWITCHES_OFFSET};
use crate::{CpuMethod, Storage, liveness};
use chronoscope_model::{
    Batch, ClassId, ClassName, Names, PROCESS_CONTEXT_MAX_BYTES, ProcessId, ProcessName,
};
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::mem::offset_of;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// Memory that the rings of a folder may take together while they are open, in bytes: a program with
/// 100 classes takes some 40 kB. Who may write rings could else take all that a reader has.
pub const MEMORY_BYTES_MAX: u64 = 128 << 20;

/// The ring of one process.
#[derive(Debug)]
pub struct Ring {
    source: RingBytes,
    directory: Directory,
    names: NamesReader,
    process: ProcessName,
    process_id: ProcessId,
    cpu_method: CpuMethod,
    storage: Storage,
    /// The block that the next drain begins with: a busy thread must not starve others.
    first: usize,
}

thread_local! {
    /// Buffers of drains, one set for all rings that a thread reads: some have room for 64 MiB.
    static BUFFERS: Cell<Buffers> = Cell::default();
}

impl Ring {
    /// Opens a ring file, of a process that runs or has run.
    ///
    /// # Errors
    /// When the file cannot be read or is not a ring of a version that is known.
    pub fn open(path: &Path) -> Result<Self, RingError> {
        Self::new(RingBytes::open(path)?)
    }

    /// The rings in a core file: those that were mapped, usually one.
    ///
    /// # Errors
    /// When the file cannot be read or is no core file, or a ring in it is damaged, or its rings
    /// take more than [`MEMORY_BYTES_MAX`].
    pub fn open_core(path: &Path) -> Result<Vec<Self>, RingError> {
        let core = Arc::new(CoreFile::open(path)?);
        let mut rings = Vec::new();
        let mut memory_bytes = 0;
        for base in core.ring_addresses()? {
            let ring = Self::new(RingBytes::Core { core: Arc::clone(&core), base })?;
            memory_bytes += ring.memory_bytes();
            if memory_bytes > MEMORY_BYTES_MAX {
                let what = "rings that take more memory than a process's";
                return Err(RingError::NotACore { position: 0, what });
            }
            rings.push(ring);
        }
        Ok(rings)
    }

    /// A ring from a copy of its bytes.
    ///
    /// # Errors
    /// When the bytes are not those of a ring of a version that is known.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, RingError> {
        Self::new(RingBytes::Bytes(bytes))
    }

    fn new(source: RingBytes) -> Result<Self, RingError> {
        let directory = Directory::read(&source)?;
        let header = &directory.header;
        let process = ProcessName {
            application: text(&header.application),
            host: text(&header.host),
            pid: header.pid,
            start_ns: header.start_ns,
        };
        let damaged = |at: usize, what: &str| RingError::damaged(at as u64, what);
        let cpu_method = CpuMethod::from_number(header.cpu_method)
            .ok_or_else(|| damaged(offset_of!(Header, cpu_method), "unknown CPU method"))?;
        let storage = Storage::from_number(header.storage)
            .ok_or_else(|| damaged(offset_of!(Header, storage), "unknown storage"))?;
        let mut ring = Self {
            process_id: ProcessId(header.process),
            process,
            cpu_method,
            storage,
            names: NamesReader::default(),
            source,
            directory,
            first: 0,
        };
        ring.names.names.add_process(ring.process.clone());
        ring.read_context()?;
        ring.refresh_names()?;
        Ok(ring)
    }

    /// Reads what the process runs in, which it wrote before its first record.
    fn read_context(&mut self) -> Result<(), RingError> {
        let len: u32 = self.source.get(PROCESS_CONTEXT_OFFSET as u64)?;
        if len as usize > PROCESS_CONTEXT_MAX_BYTES {
            let most = PROCESS_CONTEXT_MAX_BYTES;
            let what = format!("{len} bytes of the process's context, at most {most} expected");
            return Err(RingError::damaged(PROCESS_CONTEXT_OFFSET as u64, what));
        }
        let from = PROCESS_CONTEXT_OFFSET as u64 + 4;
        let context: Vec<u8> = self.source.get_many(from, len as usize)?;
        self.names.names.add_process_context(self.process_id, &context);
        self.names.bytes += u64::from(len);
        Ok(())
    }

    /// The process that writes the ring.
    pub fn process(&self) -> &ProcessName {
        &self.process
    }

    /// The process's id, as its records have it.
    pub fn process_id(&self) -> ProcessId {
        self.process_id
    }

    /// Whether the process still runs: it holds the lock of its file, in any PID namespace. A ring
    /// of version 1 has no lock, and its process's number is checked. Always false for a copy.
    pub fn is_alive(&self) -> bool {
        match &self.source {
            RingBytes::File { file, .. } => liveness::is_alive(file, &self.directory.header),
            RingBytes::Core { .. } | RingBytes::Bytes(_) => false,
        }
    }

    /// Whether the process has ended for certain, on this machine and in whatever container.
    pub(crate) fn has_ended_here(&self) -> bool {
        match &self.source {
            RingBytes::File { file, .. } => liveness::has_ended_here(file, &self.directory.header),
            RingBytes::Core { .. } | RingBytes::Bytes(_) => false,
        }
    }

    /// Method by which the process reads CPU time.
    pub fn cpu_method(&self) -> CpuMethod {
        self.cpu_method
    }

    /// Storage of the ring.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// Number of records that each thread keeps.
    pub fn slot_count(&self) -> u32 {
        self.directory.header.slot_count
    }

    /// Counts of transactions that the process could not record.
    ///
    /// # Errors
    /// When the ring was truncated.
    pub fn counters(&self) -> Result<Counters, RingError> {
        let words: [u64; 16] = self.source.get(offset_of!(Header, counters) as u64)?;
        Ok(Counters {
            too_deep: words[0],
            classes_full: words[1],
            started_full: words[2],
            no_space: words[3],
            thread_ended: words[4],
            out_of_order: words[5],
            names_full: words[6],
            private_chunks: words[7],
            foreign_correlators: words[8],
        })
    }

    /// Number of transactions that the process has recorded since it began: what the statistics of
    /// all classes add up to, without reading them.
    ///
    /// # Errors
    /// When the ring is damaged or was truncated.
    pub fn recorded(&mut self) -> Result<u64, RingError> {
        self.directory.refresh(&self.source)?;
        let mut heads = self.directory.threads.iter().map(|part| self.block(*part).head());
        heads.try_fold(0u64, |sum, head| Ok(sum.saturating_add(head?.next_sequence)))
    }

    /// The names as of the last refresh.
    pub fn names(&self) -> &Names {
        &self.names.names
    }

    /// Reads names that were added; whether there were any. Call it after a drain: names are
    /// written before the first record that needs them, except a path's, right after it.
    ///
    /// # Errors
    /// When the ring is damaged or was truncated.
    pub fn refresh_names(&mut self) -> Result<bool, RingError> {
        self.directory.refresh(&self.source)?;
        self.names.refresh(&self.source, &self.directory)
    }

    /// Checks that the ring has all parts that its header names.
    ///
    /// # Errors
    /// When the ring is damaged or was truncated.
    pub fn check(&mut self) -> Result<(), RingError> {
        self.refresh_names()?;
        let bytes = self.directory.shape.bytes as u64;
        for part in &self.directory.threads {
            let _: u8 = self.source.get(part.position + bytes - 1)?;
        }
        Ok(())
    }

    /// About how many bytes of memory the open ring takes: the names that were read, and where
    /// its parts are. Whoever reads the rings of others bounds their sum.
    pub fn memory_bytes(&self) -> u64 {
        self.names.bytes + self.directory.memory_bytes()
    }

    /// Appends at most `max_records` records that were written since `cursors` to `batch`, and
    /// moves the cursors by each record read, overwritten or refused.
    ///
    /// # Errors
    /// The first error, when the ring is damaged or was truncated. The readable records of all
    /// threads are in the batch, and the cursors stand behind them and behind a slot that was
    /// refused: the next call continues there.
    pub fn drain(
        &mut self,
        cursors: &mut Cursors,
        max_records: usize,
        batch: &mut Batch,
    ) -> Result<Drained, RingError> {
        self.directory.refresh(&self.source)?;
        let before = batch.len();
        let mut lapped = 0;
        let mut buffers = BUFFERS.take();
        let count = self.directory.threads.len();
        let mut result = Ok(());
        for step in 0..count {
            let room = max_records.saturating_sub(batch.len() - before);
            if room == 0 {
                break;
            }
            let part = self.directory.threads[(self.first + step) % count];
            let next = cursors.0.entry(part.index).or_insert(0);
            match self.block(part).drain(next, room as u64, batch, &mut buffers) {
                Ok(drained) => lapped += drained.lapped,
                Err(error) => result = result.and(Err(error)),
            }
        }
        self.first = (self.first + 1) % count.max(1);
        buffers.shrink();
        BUFFERS.set(buffers);
        result.map(|()| Drained { read: (batch.len() - before) as u64, lapped })
    }

    fn block(&self, part: ChunkPosition) -> BlockReader<'_> {
        BlockReader {
            source: &self.source,
            directory: &self.directory,
            part,
            process: self.process_id,
        }
    }

    /// The statistics of all classes that were used, in the order of their numbers.
    ///
    /// # Errors
    /// When the ring is damaged or was truncated.
    pub fn statistics(&mut self) -> Result<Vec<ClassStatistics>, RingError> {
        self.refresh_names()?;
        let (mut totals, mut seen) = (BTreeMap::new(), HashSet::new());
        for part in &self.directory.threads {
            statistics::add_block(&self.block(*part), &mut totals, &mut seen)?;
        }
        let worst_count = self.directory.header.worst_count as usize;
        let mut all = Vec::with_capacity(totals.len());
        for (index, total) in totals {
            let class = self.names.by_index.get(&index).copied().unwrap_or(ClassId::NONE);
            let unnamed = || ClassName { application: String::new(), class: format!("?{index}") };
            let (count, elapsed, cpu) = (total.count, total.elapsed.clone(), total.cpu.clone());
            let process_cpu_sum_ns = total.process_cpu_sum_ns;
            let [worst, worst_cpu] = total.worst(worst_count);
            all.push(ClassStatistics {
                class,
                name: self.names.names.class(class).cloned().unwrap_or_else(unnamed),
                enabled: self.switch(index)? & SWITCH_ENABLED != 0,
                count,
                elapsed,
                cpu,
                process_cpu_sum_ns,
                worst,
                worst_cpu,
            });
        }
        Ok(all)
    }

    /// The last `count` records by their ends, oldest first.
    ///
    /// # Errors
    /// When the ring is damaged or was truncated.
    pub fn last(&mut self, count: usize) -> Result<Batch, RingError> {
        self.directory.refresh(&self.source)?;
        let mut buffers = Buffers::default();
        let mut batch = Batch::default();
        for part in &self.directory.threads {
            let block = self.block(*part);
            let mut next = block.head()?.next_sequence.saturating_sub(count as u64);
            block.drain(&mut next, count as u64, &mut batch, &mut buffers)?;
        }
        let mut order: Vec<_> = batch.records().iter().collect();
        order.sort_by_key(|record| record.end_ns());
        let mut last = Batch::default();
        for record in order.iter().skip(order.len().saturating_sub(count)) {
            last.push(**record, batch.context(record));
        }
        Ok(last)
    }

    /// Open transactions, thread by thread, outermost first; then those started with handles.
    ///
    /// # Errors
    /// When the ring is damaged or was truncated.
    pub fn open_transactions(&mut self) -> Result<Vec<OpenTransaction>, RingError> {
        self.directory.refresh(&self.source)?;
        let now_ns = if self.is_alive() {
            chronoscope_clock::utc_now_ns()
        } else {
            self.last(1)?.records().last().map_or(0, |record| record.end_ns())
        };
        let mut open = Vec::new();
        for part in &self.directory.threads {
            open::of_thread(&self.block(*part), now_ns, &mut open)?;
        }
        for part in &self.directory.started {
            open::started(&self.source, *part, self.process_id, now_ns, &mut open)?;
        }
        Ok(open)
    }

    /// Switches recording of a class on or off in the running process; whether the ring knows the
    /// class. Transactions that are open already are recorded all the same.
    ///
    /// # Errors
    /// When the ring is damaged, may not be written, or is a copy.
    pub fn set_enabled(&mut self, class: ClassId, enabled: bool) -> Result<bool, RingError> {
        self.refresh_names()?;
        let RingBytes::File { path, .. } = &self.source else { return Err(RingError::Copy) };
        let by_index = &self.names.by_index;
        let Some(index) = by_index.iter().find(|(_, id)| **id == class).map(|(index, _)| *index)
        else {
            return Ok(false);
        };
        let switch = self.switch(index)?;
        let new = if enabled { switch | SWITCH_ENABLED } else { switch & !SWITCH_ENABLED };
        let position = SWITCHES_OFFSET as u64 + u64::from(index);
        std::fs::OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW)
            .open(path)
            .and_then(|file| file.write_all_at(&[new], position))
            .map_err(|source| RingError::Io { path: path.clone(), source })?;
        Ok(true)
    }

    fn switch(&self, index: u32) -> Result<u8, RingError> {
        self.source.get(SWITCHES_OFFSET as u64 + u64::from(index))
    }
}

/// A text whose first byte is its length.
fn text(bytes: &[u8; 256]) -> String {
    String::from_utf8_lossy(&bytes[1..=usize::from(bytes[0])]).into_owned()
}
