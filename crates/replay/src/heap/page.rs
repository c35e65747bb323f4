//! The page that the library leaves (`struct page` of heap/heap.h), and glibc's own words.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::counts::{Glibc, ProcessHeap};

/// Fault of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The length is wrong.
    #[error("{got} octets instead of {needed}")]
    Size {
        /// Actual length.
        got: usize,
        /// Length of a page.
        needed: usize,
    },
    /// The page does not begin with the magic number of this version.
    #[error("at octet 0: not a page of a heap, or a page of another version")]
    Magic,
}

/// One process image as found in a page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) pid: u32,
    pub(super) start_ns: u64,
    pub(super) ended: bool,
    pub(super) heap: ProcessHeap,
}

const BYTES: usize = 400;
const PROGRAM: usize = 144;
const MAGIC: &[u8; 8] = b"CHRHEAP1";

/// Reads a page; `None` when its process ended before it was begun.
pub(super) fn parse(octets: &[u8]) -> Result<Option<Page>, PageError> {
    if octets.is_empty() {
        return Ok(None);
    }
    let page: &[u8; BYTES] =
        octets.try_into().map_err(|_| PageError::Size { got: octets.len(), needed: BYTES })?;
    if page[..8] == [0; 8] {
        return Ok(None);
    }
    if page[..8] != MAGIC[..] {
        return Err(PageError::Magic);
    }
    let half = |at: usize| u32::from_ne_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]]);
    let word = |at: usize| {
        let mut octets = [0; 8];
        octets.copy_from_slice(&page[at..at + 8]);
        u64::from_ne_bytes(octets)
    };
    let path = page[PROGRAM..].split(|octet| *octet == 0).next().unwrap_or_default();
    let program = path.rsplit(|octet| *octet == b'/').next().unwrap_or_default();
    let glibc = (word(104) != 0).then(|| Glibc {
        arena_bytes: word(112),
        mapped_bytes: word(120),
        used_bytes: word(128),
        free_bytes: word(136),
        ..Glibc::default()
    });
    Ok(Some(Page {
        pid: half(8),
        start_ns: word(16),
        ended: half(28) != 0,
        heap: ProcessHeap {
            program: String::from_utf8_lossy(program).into_owned(),
            forked: half(24) != 0,
            allocations: word(32),
            bytes: word(40),
            frees: word(48),
            foreign: word(56),
            lost: word(64),
            held: word(72),
            held_bytes: word(80),
            held_bytes_max: word(88),
            inherited_bytes: word(96),
            glibc,
        },
    }))
}

/// Largest part of `malloc_info` that is read: an arena needs some hundred octets.
const SAID_BYTES_MAX: u64 = 4 << 20;

/// Adds the figures that only `malloc_info` gives: the number of arenas, and the largest amount
/// they had together. A missing figure stays 0.
pub(super) fn complete(glibc: &mut Glibc, said: &Path) {
    let mut text = String::new();
    let read =
        File::open(said).and_then(|file| file.take(SAID_BYTES_MAX).read_to_string(&mut text));
    if read.is_ok() {
        (glibc.arenas, glibc.system_bytes_max) = arenas_and_most(&text);
    }
}

fn arenas_and_most(text: &str) -> (u64, u64) {
    let arenas = text.matches("<heap nr=").count() as u64;
    // Each arena has such a line; the last one is the sum of all.
    let most = text.rsplit("<system type=\"max\" size=\"").next().filter(|_| arenas > 0);
    let digits = most.and_then(|rest| rest.split('"').next());
    (arenas, digits.and_then(|digits| digits.parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> [u8; BYTES] {
        let mut page = [0; BYTES];
        page[..8].copy_from_slice(MAGIC);
        for (index, at) in (32..PROGRAM).step_by(8).enumerate() {
            page[at..at + 8].copy_from_slice(&(index as u64 + 1).to_ne_bytes());
        }
        page[PROGRAM..PROGRAM + 12].copy_from_slice(b"/usr/bin/ls\0");
        page
    }

    #[test]
    fn a_page_is_read_field_by_field() {
        let read = parse(&page()).unwrap().unwrap();
        assert_eq!(read.heap.program, "ls");
        assert_eq!((read.heap.allocations, read.heap.bytes, read.heap.frees), (1, 2, 3));
        assert_eq!((read.heap.held, read.heap.held_bytes, read.heap.held_bytes_max), (6, 7, 8));
        let glibc = read.heap.glibc.unwrap();
        assert_eq!((glibc.arena_bytes, glibc.mapped_bytes), (11, 12));
        assert_eq!((glibc.used_bytes, glibc.free_bytes), (13, 14));
    }

    #[test]
    fn what_is_no_page_is_refused_and_an_unbegun_one_left_out() {
        assert_eq!(parse(&[7; 9]).unwrap_err(), PageError::Size { got: 9, needed: BYTES });
        assert_eq!(parse(&[7; BYTES]).unwrap_err(), PageError::Magic);
        assert!(parse(&[0; BYTES]).unwrap().is_none());
        assert!(parse(&[]).unwrap().is_none());
        let mut endless = page();
        endless[PROGRAM..].fill(b'a');
        assert_eq!(parse(&endless).unwrap().unwrap().heap.program.len(), 256);
    }

    #[test]
    fn glibcs_own_words() {
        let text = "<malloc version=\"1\">\n<heap nr=\"0\">\n<system type=\"max\" size=\"5\"/>\n</heap>\n\
                    <heap nr=\"1\">\n<system type=\"max\" size=\"7\"/>\n</heap>\n\
                    <system type=\"max\" size=\"12\"/>\n</malloc>\n";
        assert_eq!(arenas_and_most(text), (2, 12));
        assert_eq!(arenas_and_most("12\" nothing"), (0, 0));
    }
}
