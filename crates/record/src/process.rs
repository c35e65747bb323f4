//! The process's side of a ring: created at first use, and anew in a forked child.
#![allow(unsafe_code)] // pointers into the region
#![allow(clippy::cast_possible_truncation)] // words are split into halves; usize has 64 bits

use crate::env::Settings;
use crate::layout::{
    BlockShape, CHUNK_MAX, CLASS_MAX, Chunk, ChunkKind, DIRECTORY_OFFSET, HEADER_BYTES, Header,
    MAGIC, NAMES_CHUNK_BYTES, NamesHead, PAGE, PRIVATE, PROCESS_CONTEXT_OFFSET, SWITCHES_OFFSET,
    VERSION, context_bytes, statistics_bytes,
};
use crate::region::{Grown, Region};
use crate::{CpuMethod, Storage, classes, os};
use chronoscope_clock as clock;
use chronoscope_model::{PROCESS_CONTEXT_MAX_BYTES, PathId, ProcessId, ProcessName};
use std::collections::HashSet;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Reasons for which transactions were not recorded completely, in the header's order.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub(crate) enum Counter {
    TooDeep = 0,
    ClassesFull = 1,
    StartedFull = 2,
    NoSpace = 3,
    ThreadEnded = 4,
    OutOfOrder = 5,
    NamesFull = 6,
    PrivateChunks = 7,
    ForeignCorrelators = 8,
}

/// Ring of one process, from inside. Never freed: threads and handles keep pointers to it.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) id: ProcessId,
    pub(crate) chain_high: u64,
    pub(crate) cpu_method: CpuMethod,
    pub(crate) slot_count: usize,
    pub(crate) worst_count: usize,
    pub(crate) shape: BlockShape,
    base: *mut u8,
    id_blocks: AtomicU64,
    inner: Mutex<Inner>,
}

// SAFETY: `base` points to memory that lives as long as the process and is shared by atomics.
unsafe impl Send for Process {}
// SAFETY: as above.
unsafe impl Sync for Process {}

/// State that changes off the hot path, under the lock.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) region: Region,
    chunk_counts: [u32; 4],
    names_chunk: Option<usize>,
    names_chunk_count: usize,
    paths: HashSet<PathId>,
}

static APPLICATION: OnceLock<String> = OnceLock::new();
static CURRENT: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());
/// Process and thread that are creating a ring; a forked child may find its parent's here.
static CREATING: AtomicU64 = AtomicU64::new(0);
/// Nothing is recorded: switched off, or address space is exhausted.
static OFF: AtomicBool = AtomicBool::new(false);

/// A creation that is under way; over when dropped, even by a panic: others wait for it.
struct Creating;

impl Drop for Creating {
    fn drop(&mut self) {
        if CURRENT.load(Ordering::Acquire).is_null() {
            OFF.store(true, Ordering::Relaxed); // it has failed
        }
        CREATING.store(0, Ordering::Release);
    }
}

/// Sets the application's name, and opens the ring. Call it first in `main`; otherwise the
/// application is named after the program. Never fails the program: a missing resource is reported
/// once on stderr.
pub fn init(application: &str) {
    let named = APPLICATION.get_or_init(|| application.to_owned());
    if named != application {
        let text = format!(
            "already recording as {named}: init({application:?}) was called too \
             late and has no effect"
        );
        crate::say::once(crate::say::Topic::LateInit, &text);
    }
    let _ = Process::current();
}

/// Names the application unless it has a name.
pub(crate) fn name(application: &str) {
    let _ = APPLICATION.get_or_init(|| application.to_owned());
}

/// The application's name.
pub(crate) fn application() -> &'static str {
    APPLICATION.get_or_init(os::program)
}

/// Whether nothing is recorded in this process.
pub(crate) fn is_off() -> bool {
    OFF.load(Ordering::Relaxed)
}

impl Process {
    /// The ring of the running process; `None` when nothing is recorded. A system call: not for
    /// the hot path.
    pub(crate) fn current() -> Option<&'static Self> {
        let pid = std::process::id();
        loop {
            let current = CURRENT.load(Ordering::Acquire);
            // SAFETY: never freed.
            if let Some(process) = unsafe { current.as_ref() }
                && process.pid == pid
            {
                return Some(process);
            }
            if is_off() {
                return None;
            }
            let creator = CREATING.load(Ordering::Acquire);
            let own = u64::from(pid) << 32 | u64::from(os::thread_id());
            if creator == own {
                return None; // the creation itself has come round to here
            }
            if creator >> 32 == u64::from(pid) {
                std::thread::yield_now(); // another thread of ours is at it
            } else if CREATING
                .compare_exchange(creator, own, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
            {
                let _at_it = Creating;
                Self::create_if_missing(pid);
            }
        }
    }

    /// Creates the ring of the running process, unless another thread has done so since the caller
    /// looked for it: with two rings the threads of the one would use the slots of the other. Only
    /// for the thread that is noted in [`CREATING`].
    fn create_if_missing(pid: u32) {
        // SAFETY: never freed.
        let current = unsafe { CURRENT.load(Ordering::Acquire).as_ref() };
        if current.is_some_and(|process| process.pid == pid) {
            return;
        }
        match Self::create(pid) {
            Some(process) => CURRENT.store(process, Ordering::Release),
            None => OFF.store(true, Ordering::Relaxed),
        }
    }

    fn create(pid: u32) -> Option<*mut Self> {
        let settings = Settings::read();
        if !settings.record {
            return None;
        }
        if settings.core {
            // Without /proc the core file lacks the ring; nothing else is lost.
            let _ = os::include_ring_in_cores();
        }
        let start_ns = clock::utc_now_ns();
        let name =
            ProcessName { application: application().to_owned(), host: os::host(), pid, start_ns };
        let region = Region::create(&settings, &file_name(&name), HEADER_BYTES)?;
        let slot_count = settings.slot_count as usize;
        let process = Self {
            pid,
            id: name.id(),
            chain_high: os::random() | 1,
            cpu_method: CpuMethod::choose(settings.cpu.as_deref()),
            slot_count,
            worst_count: settings.worst_count as usize,
            shape: BlockShape::new(slot_count),
            base: region.base(),
            id_blocks: AtomicU64::new(os::random()),
            inner: Mutex::new(Inner {
                region,
                chunk_counts: [0; 4],
                names_chunk: None,
                names_chunk_count: 0,
                paths: HashSet::new(),
            }),
        };
        process.write_header(&name);
        process.write_context(crate::resource::context());
        let mut inner = process.lock();
        for (index, class) in classes::all() {
            process.publish_class(&mut inner, index, class);
        }
        drop(inner);
        process.header_word(offset_of!(Header, magic)).store(MAGIC, Ordering::Release);
        let folder = process.lock().region.path().and_then(Path::parent).map(Path::to_owned);
        if let Some(folder) = folder {
            crate::ended::tidy(&folder, &settings);
        }
        Some(Box::into_raw(Box::new(process)))
    }

    fn write_header(&self, name: &ProcessName) {
        let inner = self.lock();
        let mut header: Header = bytemuck::Zeroable::zeroed();
        header.version = VERSION;
        #[allow(clippy::cast_possible_truncation)] // all are bounded by constants
        {
            header.header_bytes = HEADER_BYTES as u32;
            header.slot_count = self.slot_count as u32;
            header.worst_count = self.worst_count as u32;
            header.depth_max = crate::layout::DEPTH_MAX as u32;
            header.class_max = CLASS_MAX as u32;
            header.context_bytes = context_bytes(self.slot_count) as u32;
        }
        header.base_address = self.base as u64;
        header.pid = self.pid;
        header.storage = inner.region.storage() as u32;
        header.locked = u32::from(inner.region.is_locked());
        header.pid_namespace = os::pid_namespace();
        header.start_ns = name.start_ns;
        header.start_time = os::process_start(self.pid).map_or(0, |(start, _)| start);
        header.chain_high = self.chain_high;
        header.process = self.id.0;
        header.scale_multiplier = clock::Scale::current().multiplier();
        header.tick_source = clock::tick_source() as u32;
        header.cpu_method = self.cpu_method as u32;
        put_text(&mut header.application, &name.application);
        put_text(&mut header.host, &name.host);
        // SAFETY: the region's first bytes are the header's, and no other reference to them exists
        // yet.
        unsafe { self.base.cast::<Header>().write(header) };
    }

    /// Writes what the process runs in; before the magic, and never again.
    fn write_context(&self, context: &[u8]) {
        debug_assert!(context.len() <= PROCESS_CONTEXT_MAX_BYTES);
        let len = context.len() as u32;
        // SAFETY: the bytes from there to the switches are nobody else's, and no reference to them
        // exists.
        unsafe {
            let target = self.base.add(PROCESS_CONTEXT_OFFSET);
            target.cast::<u32>().write(len);
            std::ptr::copy_nonoverlapping(context.as_ptr(), target.add(4), context.len());
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic while it was held left at worst space unused.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn header_word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset < size_of::<Header>());
        // SAFETY: inside the header, aligned, shared as an atomic by everybody.
        unsafe { &*self.base.add(offset).cast() }
    }

    /// Counts a transaction that was not recorded completely.
    pub(crate) fn count(&self, counter: Counter) {
        let offset = offset_of!(Header, counters) + counter as usize * 8;
        self.header_word(offset).fetch_add(1, Ordering::Relaxed);
    }

    /// The bytes that switch classes.
    pub(crate) fn switches(&self) -> *const AtomicU8 {
        self.base.wrapping_add(SWITCHES_OFFSET).cast()
    }

    /// The byte that switches a class.
    pub(crate) fn switch(&self, index: u32) -> &AtomicU8 {
        let index = (index as usize).min(CLASS_MAX - 1);
        // SAFETY: inside the switch page.
        unsafe { &*self.switches().add(index) }
    }

    /// The first of 2^40 transaction ids that are unique in the process.
    pub(crate) fn id_block(&self) -> u64 {
        // Consecutive blocks are spread over the number's upper 24 bits by an odd factor.
        let block = self.id_blocks.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e_3779);
        ((block & 0xff_ffff) << 40) | 1
    }

    /// Publishes a class to readers and switches it as it is declared.
    pub(crate) fn publish_class(
        &self,
        inner: &mut Inner,
        index: u32,
        class: &classes::RegisteredClass,
    ) {
        let mut body = Vec::with_capacity(64);
        body.extend_from_slice(&index.to_le_bytes());
        body.extend_from_slice(&u32::from(class.switch()).to_le_bytes());
        for text in [class.application(), class.name()] {
            let text = cut_text(text, 1024);
            body.extend_from_slice(&(text.len() as u32).to_le_bytes());
            body.extend_from_slice(text.as_bytes());
        }
        self.append_name(inner, crate::layout::NAME_CLASS, &body);
        self.switch(index).store(class.switch(), Ordering::Release);
    }

    /// Makes a path known to readers.
    pub(crate) fn publish_path(&self, path: PathId, classes: &[chronoscope_model::ClassId]) {
        let mut inner = self.lock();
        if !inner.paths.insert(path) {
            return;
        }
        let mut body = Vec::with_capacity(8 + classes.len() * 8);
        body.extend_from_slice(&path.0.to_le_bytes());
        classes.iter().for_each(|class| body.extend_from_slice(&class.0.to_le_bytes()));
        self.append_name(&mut inner, crate::layout::NAME_PATH, &body);
    }

    /// Appends an entry: length of the body, kind, body, padded to eight bytes.
    #[allow(clippy::cast_possible_truncation)] // bodies are below 3 KiB
    fn append_name(&self, inner: &mut Inner, kind: u16, body: &[u8]) {
        let bytes = (4 + body.len()).next_multiple_of(8);
        let head = size_of::<NamesHead>();
        let room = |chunk: usize, process: &Self| {
            let used = process.names_used(chunk).load(Ordering::Relaxed) as usize;
            head + used + bytes <= NAMES_CHUNK_BYTES
        };
        let chunk = match inner.names_chunk.filter(|chunk| room(*chunk, self)) {
            Some(chunk) => chunk,
            None => {
                if inner.names_chunk_count >= crate::layout::NAMES_CHUNK_COUNT_MAX {
                    return self.count(Counter::NamesFull);
                }
                let Some(grown) = self.add_chunk(inner, ChunkKind::Names, NAMES_CHUNK_BYTES) else {
                    return self.count(Counter::NamesFull);
                };
                inner.names_chunk = Some(grown);
                inner.names_chunk_count += 1;
                grown
            }
        };
        let used = self.names_used(chunk);
        let at = used.load(Ordering::Relaxed);
        let mut entry = Vec::with_capacity(bytes);
        entry.extend_from_slice(&(body.len() as u16).to_le_bytes());
        entry.extend_from_slice(&kind.to_le_bytes());
        entry.extend_from_slice(body);
        entry.resize(bytes, 0);
        // SAFETY: `room` has seen that it fits in the chunk; only the lock's holder writes.
        unsafe {
            let target = self.base.add(chunk + head + at as usize);
            std::ptr::copy_nonoverlapping(entry.as_ptr(), target, bytes);
        }
        used.store(at + bytes as u64, Ordering::Release);
    }

    fn names_used(&self, chunk: usize) -> &AtomicU64 {
        // SAFETY: `chunk` is where a names chunk starts, and `used` its first word.
        unsafe { &*self.base.add(chunk).cast() }
    }

    /// Grows the ring by a chunk and enters it in the directory; where it starts.
    #[allow(clippy::cast_possible_truncation)] // 2^32 pages are 16 TiB
    pub(crate) fn add_chunk(
        &self,
        inner: &mut Inner,
        kind: ChunkKind,
        bytes: usize,
    ) -> Option<usize> {
        let count_word = self.header_word(offset_of!(Header, chunk_count));
        let count = count_word.load(Ordering::Relaxed) as usize;
        if count >= CHUNK_MAX {
            return None;
        }
        let Grown { offset, private } = inner.region.grow(bytes)?;
        if private && inner.region.storage() != Storage::PrivateMemory {
            self.count(Counter::PrivateChunks);
        }
        let index = inner.chunk_counts[kind as usize];
        inner.chunk_counts[kind as usize] += 1;
        let chunk = Chunk {
            kind: kind as u32 | if private { PRIVATE } else { 0 },
            index,
            page: (offset / PAGE) as u32,
            pages: bytes.div_ceil(PAGE) as u32,
        };
        // SAFETY: `count` is below the directory's bound; only the lock's holder writes.
        unsafe { self.base.add(DIRECTORY_OFFSET).cast::<Chunk>().add(count).write(chunk) };
        count_word.store(count as u64 + 1, Ordering::Release);
        Some(offset)
    }

    /// Room for one class's statistics in one thread: its offset.
    pub(crate) fn add_statistics(&self) -> Option<usize> {
        self.lock().region.grow(statistics_bytes(self.worst_count)).map(|grown| grown.offset)
    }

    /// The address of a byte of the ring.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        self.base.wrapping_add(offset)
    }
}

/// The running process's ring file; `None` when it is private memory, or nothing is recorded.
pub fn ring_path() -> Option<PathBuf> {
    Process::current()?.lock().region.path().map(PathBuf::from)
}

/// Method by which the running process reads CPU time; `None` when nothing is recorded.
pub fn cpu_method() -> Option<CpuMethod> {
    Process::current().map(|process| process.cpu_method)
}

/// `APPLICATION.PID.START.ring`, of characters that need no quoting.
fn file_name(name: &ProcessName) -> String {
    format!("{}{}.{:x}.ring", file_prefix(&name.application), name.pid, name.start_ns)
}

/// Beginning of the names of an application's rings, with the dot that ends it.
pub(crate) fn file_prefix(application: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    application.chars().take(64).map(safe).chain(['.']).collect()
}

/// The longest beginning of `text` within `bytes` bytes that is a text.
fn cut_text(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn put_text(target: &mut [u8; 256], text: &str) {
    let text = cut_text(text, 255);
    #[allow(clippy::cast_possible_truncation)] // at most 255
    {
        target[0] = text.len() as u8;
    }
    target[1..=text.len()].copy_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As by a thread that saw no ring, and was held up until another one had created it.
    #[test]
    fn a_ring_that_another_thread_has_created_meanwhile_stays() {
        let first = Process::current().unwrap();
        Process::create_if_missing(std::process::id());
        assert!(std::ptr::eq(first, Process::current().unwrap()));
    }
}
