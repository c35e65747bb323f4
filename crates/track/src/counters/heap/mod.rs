//! What a program asks of its heap: how often, how much, what it still holds at its end and what
//! it held at most, and what glibc's allocator says of itself at exit.
//!
//! A preload library stands before `malloc` and its kin and counts into a page per process image,
//! which is a mapped file, so that the figures are there however the program ends. Sizes are those
//! that were asked for, so they repeat exactly where the program does; what glibc has of the
//! system, used and unused (`Clib(used)`, `Clib(free)` in older tables), is what it cost to have
//! them.
//!
//! Limits: what is linked statically, and allocators within a program that ask the system
//! themselves, are not seen. Most at once depends, in a program with threads, on who came first.

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
    /// One for each program that was executed, and for each child that was forked.
    pub processes: Vec<ProcessHeap>,
}

/// One process image's heap. Bytes are those that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessHeap {
    /// The last part of the executable's path.
    pub program: String,
    /// Made by fork, and nothing was executed since.
    pub forked: bool,
    /// Blocks that were given; a change of size gives one and takes one.
    pub allocations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Blocks that were taken back.
    pub frees: u64,
    /// Blocks at the end that were not.
    pub held: u64,
    /// Their bytes.
    pub held_bytes: u64,
    /// Most bytes at once.
    pub held_bytes_max: u64,
    /// Bytes of the parent's that a forked child began with.
    pub inherited_bytes: u64,
    /// Frees of blocks that were not given through libc's functions.
    pub foreign: u64,
    /// Blocks that there was no memory to remember: they are not in what is held.
    pub lost: u64,
    /// What glibc says at exit; `None` when it was killed, or when another allocator gives the
    /// memory.
    pub glibc: Option<Glibc>,
}

/// glibc's allocator, at exit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glibc {
    /// Bytes in use in arenas, with what each block costs beside what was asked for.
    pub used_bytes: u64,
    /// Bytes in arenas that are free.
    pub free_bytes: u64,
    /// Bytes of all arenas: used and free.
    pub arena_bytes: u64,
    /// Bytes in blocks that have a mapping of their own.
    pub mapped_bytes: u64,
    /// Arenas; 0 when it could not say.
    pub arenas: u64,
    /// Most bytes that arenas had of the system.
    pub system_bytes_max: u64,
}

/// Why there are no figures of a heap.
#[derive(Debug, thiserror::Error)]
pub enum HeapError {
    /// The library cannot be put where the program finds it, or its figures cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A page is none.
    #[error("{path}: {source}")]
    Page {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
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

    /// What was counted so far.
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
    // A child that only executed something else says nothing of its own.
    pages.retain(|page| page.heap.allocations > 0 || page.ended || !page.heap.forked);
    // The order in which processes were made, and of each what it executed one after the other.
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

    /// Bytes that were asked for, of all processes.
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
