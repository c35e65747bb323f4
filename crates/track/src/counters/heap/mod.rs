//! Heap use of a program: number and bytes of its allocations, blocks still held at its end, the
//! largest amount held, and the statistics of glibc's allocator at exit.
//!
//! A preload library intercepts `malloc` and its relatives and counts into a page for each process
//! image. The page is a mapped file, so that the figures survive however the program ends. Sizes
//! are the requested ones, so they repeat exactly where the program does. The memory that glibc
//! obtained from the system, used and unused (`Clib(used)`, `Clib(free)` in older tables), is the
//! cost of providing them.
//!
//! Limits: statically linked programs, and allocators that obtain memory from the system
//! themselves, are not covered. In a program with threads the largest amount depends on scheduling.

mod page;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::beyond::{BeyondError, width};
use super::program::{self, Program};
use chronoscope_figures::numbers::grouped;
pub use page::PageError;

const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libchronoscope_heap.so"));

/// The heaps of a program's process images, in the order in which their processes were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heap {
    /// One entry for each executed program, and for each forked child.
    pub processes: Vec<ProcessHeap>,
}

/// Heap of one process image. Bytes are the requested ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessHeap {
    /// The last part of the executable's path.
    pub program: String,
    /// Forked, with no other program executed since.
    pub forked: bool,
    /// Number of allocated blocks; a resize counts as one allocation and one free.
    pub allocations: u64,
    /// Bytes of the allocated blocks.
    pub bytes: u64,
    /// Number of freed blocks.
    pub frees: u64,
    /// Number of blocks that were not freed at the end.
    pub held: u64,
    /// Bytes of the blocks that were not freed.
    pub held_bytes: u64,
    /// Largest number of bytes held at once.
    pub held_bytes_max: u64,
    /// Bytes inherited from the parent by a forked child.
    pub inherited_bytes: u64,
    /// Number of frees of blocks that were not allocated through libc's functions.
    pub foreign: u64,
    /// Blocks that could not be recorded for lack of memory: they are not in the held figures.
    pub lost: u64,
    /// Statistics of glibc at exit; `None` when the process was killed, or uses another allocator.
    pub glibc: Option<Glibc>,
}

/// glibc's allocator, at exit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glibc {
    /// Bytes in use in arenas, including the overhead of each block.
    pub used_bytes: u64,
    /// Bytes in arenas that are free.
    pub free_bytes: u64,
    /// Bytes of all arenas: used and free.
    pub arena_bytes: u64,
    /// Bytes in blocks that have a mapping of their own.
    pub mapped_bytes: u64,
    /// Arenas; 0 when it could not say.
    pub arenas: u64,
    /// Largest number of bytes that arenas had obtained from the system.
    pub system_bytes_max: u64,
}

/// Reason why there are no heap figures.
#[derive(Debug, thiserror::Error)]
pub enum HeapError {
    /// The library cannot be put where the program finds it, or its figures cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A page is none.
    #[error("{path}: {source}")]
    Page {
        /// The file.
        path: PathBuf,
        /// Fault of the page.
        source: PageError,
    },
    /// The program was never seen.
    #[error("no process was seen: a static program, or one that may not be watched")]
    Nobody,
}

/// A folder with the library and room for figures; for those who start programs themselves.
#[derive(Debug)]
pub struct Watch {
    folder: tempfile::TempDir,
}

impl Watch {
    /// Puts the library into a fresh folder.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn new() -> Result<Watch, HeapError> {
        let folder = tempfile::tempdir()
            .map_err(|source| HeapError::Io { path: std::env::temp_dir(), source })?;
        let path = folder.path().join("libchronoscope_heap.so");
        std::fs::write(&path, LIBRARY).map_err(|source| HeapError::Io { path, source })?;
        Ok(Watch { folder })
    }

    /// The library's path, for `LD_PRELOAD`.
    pub fn library(&self) -> PathBuf {
        self.folder.path().join("libchronoscope_heap.so")
    }

    /// Variables that a program and its children are to have. A program that has another preload
    /// library needs both in its `LD_PRELOAD`.
    pub fn environment(&self) -> [(OsString, OsString); 2] {
        let folder = self.folder.path().as_os_str().to_owned();
        [("LD_PRELOAD".into(), self.library().into()), ("CHRONOSCOPE_HEAP".into(), folder)]
    }

    /// The counts so far.
    ///
    /// # Errors
    /// When a page cannot be read, or there is none.
    pub fn read(&self) -> Result<Heap, HeapError> {
        read(self.folder.path())
    }
}

/// Runs a program once with the library before its allocator.
///
/// # Errors
/// When it does not run to its end so, or was not seen.
pub fn heap(program: &Program) -> Result<Heap, BeyondError> {
    let watch = Watch::new()?;
    let mut watched = program.clone();
    watched.environment.extend(watch.environment());
    program::run(&watched, &[])?;
    Ok(watch.read()?)
}

/// Reads the pages of a folder.
fn read(folder: &Path) -> Result<Heap, HeapError> {
    let io = |source| HeapError::Io { path: folder.to_owned(), source };
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_none_or(|suffix| suffix != "page") {
            continue;
        }
        let octets =
            std::fs::read(&path).map_err(|source| HeapError::Io { path: path.clone(), source })?;
        let Some(mut page) = page::parse(&octets)
            .map_err(|source| HeapError::Page { path: path.clone(), source })?
        else {
            continue; // it ended before it had written its name
        };
        if let Some(glibc) = &mut page.heap.glibc {
            let mut said = path.into_os_string();
            said.push(".xml");
            page::complete(glibc, Path::new(&said));
        }
        pages.push(page);
    }
    // A forked child that only executed another program has no figures of its own.
    pages.retain(|page| page.heap.allocations > 0 || page.ended || !page.heap.forked);
    // By process in order of creation, and within a process by order of execution.
    pages.sort_by_key(|page| (page.pid, page.start_ns));
    if pages.is_empty() {
        return Err(HeapError::Nobody);
    }
    Ok(Heap { processes: pages.into_iter().map(|page| page.heap).collect() })
}

impl Heap {
    /// Blocks that were given, of all processes.
    pub fn allocations(&self) -> u64 {
        self.processes.iter().map(|process| process.allocations).sum()
    }

    /// Requested bytes of all processes.
    pub fn bytes(&self) -> u64 {
        self.processes.iter().map(|process| process.bytes).sum()
    }

    /// A row for each process.
    pub fn text(&self) -> String {
        let name = |process: &ProcessHeap| {
            let forked = if process.forked { " (forked)" } else { "" };
            format!("{}{forked}", process.program)
        };
        let names: Vec<String> = self.processes.iter().map(name).collect();
        let first = width(names.iter().map(String::as_str), "process name");
        let head = ["allocations", "bytes", "most at once", "held", "in blocks"];
        let mut out = format!("{:<first$}", "process name");
        for title in head.iter().chain(&["libc (used)", "libc (free)"]) {
            out += &format!("  {title:>14}");
        }
        for (process, name) in self.processes.iter().zip(names) {
            let p = process;
            out += &format!("\n{name:<first$}");
            for value in [p.allocations, p.bytes, p.held_bytes_max, p.held_bytes, p.held] {
                out += &format!("  {:>14}", grouped(value));
            }
            match &p.glibc {
                Some(glibc) => {
                    let used = grouped(glibc.used_bytes + glibc.mapped_bytes);
                    out += &format!("  {used:>14}  {:>14}", grouped(glibc.free_bytes));
                }
                None => out += &format!("  {:>14}  {:>14}", "–", "–"),
            }
            if p.lost > 0 {
                out += &format!("  ({} blocks not in held: no memory)", grouped(p.lost));
            }
        }
        out.push('\n');
        out
    }
}
