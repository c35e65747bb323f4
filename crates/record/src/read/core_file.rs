//! A process's memory in a core file (ELF, 64 bits, little-endian; elf(5)).

use super::error::RingError;
use crate::layout::{Header, MAGIC, PAGE};
use crate::os;
use std::fs::{File, OpenOptions};
use std::mem::offset_of;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
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
        let no = |position, what| RingError::NotACore { position, what };
        // Without O_NONBLOCK, opening a FIFO waits for somebody who writes it.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
        let file = file.map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if !metadata.is_file() {
            return Err(no(0, "no plain file"));
        }
        let file_bytes = metadata.len();
        let mut core = Self { file, path: path.to_owned(), segments: Vec::new() };
        let mut header = [0; FILE_HEADER_BYTES];
        core.fill(0, &mut header)?;
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
        let mut claimed = 0u64;
        for index in 0..u64::from(count) {
            let mut entry = [0; PROGRAM_HEADER_BYTES];
            core.fill(first.saturating_add(index * PROGRAM_HEADER_BYTES as u64), &mut entry)?;
            if u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]) == LOAD {
                let offset = u64_at(&entry, 8);
                // Of a file that was cut short, the part that exists.
                let bytes = u64_at(&entry, 32).min(file_bytes.saturating_sub(offset));
                claimed = claimed.saturating_add(bytes);
                core.segments.push(Segment { address: u64_at(&entry, 16), offset, bytes });
            }
        }
        // What follows takes time by the segments' length, which the file bounds.
        if claimed > file_bytes {
            return Err(no(first, "segments that share bytes of the file"));
        }
        core.segments.retain(|segment| segment.bytes > 0);
        core.segments.sort_by_key(|segment| segment.address);
        Ok(core)
    }

    /// Addresses at which a ring states its own address: those of segments, else of any page. Core
    /// files of ring readers contain copies of rings, which this excludes.
    pub(crate) fn ring_addresses(&self) -> Result<Vec<u64>, RingError> {
        let mut found = Vec::new();
        for segment in &self.segments {
            if self.is_ring(segment.address)? {
                found.push(segment.address);
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
        // Private memory may have been merged with a neighbour's into one segment.
        for segment in &self.segments {
            self.search(segment, &mut found)?;
        }
        Ok(found)
    }

    /// Searches each page of a segment, except in holes of the file: pages that were never written,
    /// of which a core file may have terabytes.
    fn search(&self, segment: &Segment, found: &mut Vec<u64>) -> Result<(), RingError> {
        let page = PAGE as u64;
        let mut within = 0;
        let mut data_until = 0;
        while within < segment.bytes {
            if within >= data_until {
                let at = segment.offset.saturating_add(within);
                let data = os::data_from(&self.file, at).map_err(|source| self.io(source))?;
                let Some((from, to)) = data else { return Ok(()) };
                // From the first page that ends in the data.
                within = within.max(from.saturating_sub(segment.offset) / page * page);
                data_until = to.saturating_sub(segment.offset);
                if within >= segment.bytes {
                    return Ok(());
                }
            }
            let Some(address) = segment.address.checked_add(within) else { return Ok(()) };
            if self.is_ring(address)? {
                found.push(address);
            }
            within += page;
        }
        Ok(())
    }

    fn is_ring(&self, address: u64) -> Result<bool, RingError> {
        const BASE: usize = offset_of!(Header, base_address);
        let mut bytes = [0; BASE + 8];
        let got = self.read(address, &mut bytes)?;
        Ok(got == bytes.len() && u64_at(&bytes, 0) == MAGIC && u64_at(&bytes, BASE) == address)
    }

    fn io(&self, source: std::io::Error) -> RingError {
        RingError::Io { path: self.path.clone(), source }
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
            .map_err(|source| self.io(source))
    }

    fn fill(&self, position: u64, buffer: &mut [u8]) -> Result<(), RingError> {
        let ends = RingError::NotACore { position, what: "the file ends here" };
        // No file is longer: the kernel has no such positions.
        if i64::try_from(position).is_err() {
            return Err(ends);
        }
        self.file.read_exact_at(buffer, position).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => ends,
            _ => self.io(error),
        })
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
