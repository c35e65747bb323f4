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

mod counts;
mod error;
mod page;

pub use counts::{Glibc, ProcessHeap};
pub use error::HeapError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::beyond_error::BeyondError;
use super::program::{self, Program};
use super::width::width;
use chronoscope_figures::numbers::grouped;
pub use page::PageError;

const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libchronoscope_heap.so"));

/// The heaps of a program's process images, in the order in which their processes were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heap {
    /// One entry for each executed program, and for each forked child.
    pub processes: Vec<ProcessHeap>,
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
