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
//!
//! A replay has them of each of its processes, a unit of a suite of its own.

mod counts;
mod error;
mod page;

pub use counts::{Glibc, ProcessHeap};
pub use error::HeapError;
pub use page::PageError;

use chronoscope_figures::numbers::grouped;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libchronoscope_heap.so"));

/// The library's name.
pub const FILE_NAME: &str = "libchronoscope_heap.so";
/// Variable that names the folder of a program's pages.
pub const VARIABLE: &str = "CHRONOSCOPE_HEAP";

/// Puts the library into a folder; its path is for `LD_PRELOAD`, before that of an allocator.
///
/// # Errors
/// When the file cannot be written.
pub fn put(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join(FILE_NAME);
    std::fs::write(&path, LIBRARY)?;
    Ok(path)
}

/// The heaps of a program's process images, in the order in which their processes were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heap {
    /// One entry for each executed program, and for each forked child.
    pub processes: Vec<ProcessHeap>,
}

/// A process image's heap, with the process's number as it sees itself.
pub type NumberedHeap = (u32, ProcessHeap);

/// Reads the pages of a folder, of processes that run or have ended: by process in the order of
/// their beginnings, and within a process in that of its programs.
///
/// # Errors
/// When a page cannot be read.
pub fn read_pages(folder: &Path) -> Result<Vec<NumberedHeap>, HeapError> {
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
            let mut said = path.clone().into_os_string();
            said.push(".xml");
            page::complete(glibc, Path::new(&said));
        }
        pages.push((image_of(&path), page));
    }
    // A forked child that only executed another program has no figures of its own.
    pages.retain(|(_, page)| page.heap.allocations > 0 || page.ended || !page.heap.forked);
    // In a replay several programs of one process begin at one instant of the virtual clock.
    pages.sort_by_key(|(image, page)| (page.pid, page.start_ns, *image));
    Ok(pages.into_iter().map(|(_, page)| (page.pid, page.heap)).collect())
}

/// Number of the program within its process: `PID.IMAGE.page`.
fn image_of(path: &Path) -> u32 {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split('.').nth(1).and_then(|image| image.parse().ok()).unwrap_or(0)
}

/// Reads the pages of a folder.
///
/// # Errors
/// When a page cannot be read, or there is none.
pub fn read(folder: &Path) -> Result<Heap, HeapError> {
    let pages = read_pages(folder)?;
    if pages.is_empty() {
        return Err(HeapError::Nobody);
    }
    Ok(Heap { processes: pages.into_iter().map(|(_, heap)| heap).collect() })
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
        let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let first = widest.max("process name".len());
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
