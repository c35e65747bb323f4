//! A process's memory in a core file (ELF, 64 bits, little-endian; elf(5)).

use super::error::RingError;
use crate::layout::{MAGIC, PAGE};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const FILE_HEADER_BYTES: usize = 64;
const PROGRAM_HEADER_BYTES: usize = 56;
const TYPE_CORE: u16 = 4;
const LOAD: u32 = 1;
/// Program headers that are too many for their field; the number is in the first section header.
const MANY: u16 = 0xffff;
/// Far more mappings than the kernel lets a process have.
const SEGMENT_MAX: u32 = 1 << 20;

/// A core file and which addresses it has.
#[derive(Debug)]
pub(crate) struct CoreFile {
    file: File,
    path: PathBuf,
    /// Sorted by address.
    segments: Vec<Segment>,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    address: u64,
    offset: u64,
    bytes: u64,
}

impl CoreFile {
    pub(crate) fn open(path: &Path) -> Result<Self, RingError> {
        let io = |source| RingError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let mut core = Self { file, path: path.to_owned(), segments: Vec::new() };
        let mut header = [0; FILE_HEADER_BYTES];
        core.fill(0, &mut header)?;
        let no = |position, what| RingError::NotACore { position, what };
        if header[..4] != *b"\x7fELF" {
            return Err(no(0, "no ELF file"));
        }
        if header[4..6] != [2, 1] {
            return Err(no(4, "not 64 bits, little-endian"));
        }
        if u16_at(&header, 16) != TYPE_CORE {
            return Err(no(16, "an ELF file of another type"));
        }
        if usize::from(u16_at(&header, 54)) != PROGRAM_HEADER_BYTES {
            return Err(no(54, "program headers of another size"));
        }
        let count = match u16_at(&header, 56) {
            MANY => {
                let mut section = [0; 64];
                core.fill(u64_at(&header, 40), &mut section)?;
                u32::from_le_bytes([section[44], section[45], section[46], section[47]])
            }
            count => u32::from(count),
        };
        if count > SEGMENT_MAX {
            return Err(no(56, "more program headers than a process has mappings"));
        }
        let first = u64_at(&header, 32);
        for index in 0..u64::from(count) {
            let mut entry = [0; PROGRAM_HEADER_BYTES];
            core.fill(first.saturating_add(index * PROGRAM_HEADER_BYTES as u64), &mut entry)?;
            if u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]) == LOAD {
                let segment = Segment {
                    address: u64_at(&entry, 16),
                    offset: u64_at(&entry, 8),
                    bytes: u64_at(&entry, 32),
                };
                core.segments.push(segment);
            }
        }
        core.segments.retain(|segment| segment.bytes > 0);
        core.segments.sort_by_key(|segment| segment.address);
        Ok(core)
    }

    /// Addresses where a ring may start: those of segments, else of any page that says so.
    pub(crate) fn ring_addresses(&self) -> Vec<u64> {
        let says_so = |address: &u64| {
            let mut bytes = [0; 8];
            matches!(self.read(*address, &mut bytes), Ok(8)) && u64::from_le_bytes(bytes) == MAGIC
        };
        let found: Vec<u64> =
            self.segments.iter().map(|segment| segment.address).filter(says_so).collect();
        if !found.is_empty() {
            return found;
        }
        // Private memory may have been merged with a neighbour's into one segment.
        let pages = |s: &Segment| (s.address..s.address.saturating_add(s.bytes)).step_by(PAGE);
        self.segments.iter().flat_map(pages).filter(says_so).collect()
    }

    /// Copies memory from `address`: how many bytes, 0 when the core file lacks them.
    pub(crate) fn read(&self, address: u64, buffer: &mut [u8]) -> Result<usize, RingError> {
        let after = self.segments.partition_point(|segment| segment.address <= address);
        let Some(segment) = after.checked_sub(1).map(|at| self.segments[at]) else { return Ok(0) };
        let within = address - segment.address;
        if within >= segment.bytes {
            return Ok(0);
        }
        let room = usize::try_from(segment.bytes - within).unwrap_or(usize::MAX);
        let len = buffer.len().min(room);
        self.file
            .read_at(&mut buffer[..len], segment.offset.saturating_add(within))
            .map_err(|source| RingError::Io { path: self.path.clone(), source })
    }

    fn fill(&self, position: u64, buffer: &mut [u8]) -> Result<(), RingError> {
        self.file.read_exact_at(buffer, position).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                RingError::NotACore { position, what: "the file ends here" }
            }
            _ => RingError::Io { path: self.path.clone(), source: error },
        })
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
