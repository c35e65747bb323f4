//! Directory of a ring: its header and its chunks, checked before they are used.

use super::error::RingError;
use super::ring_bytes::RingBytes;
use crate::layout::{
    BlockShape, CHUNK_MAX, CLASS_MAX, Chunk, ChunkKind, DEPTH_MAX, DIRECTORY_OFFSET, Frame,
    HEADER_BYTES, Header, MAGIC, NAMES_CHUNK_BYTES, NAMES_CHUNK_COUNT_MAX, PAGE, PRIVATE,
    STARTED_A_CHUNK, VERSION, context_bytes,
};
use std::mem::offset_of;

/// A chunk that can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkPosition {
    pub(crate) index: u32,
    pub(crate) position: u64,
}

/// Checked positions of a ring's chunks.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) header: Header,
    pub(crate) shape: BlockShape,
    pub(crate) names: Vec<ChunkPosition>,
    pub(crate) threads: Vec<ChunkPosition>,
    pub(crate) started: Vec<ChunkPosition>,
    seen: usize,
}

impl Directory {
    /// Reads and checks the header.
    pub(crate) fn read(source: &RingBytes) -> Result<Self, RingError> {
        let found: u64 = source.get(0)?;
        if found != MAGIC {
            return Err(RingError::NotARing { found });
        }
        let header: Header = source.get(0)?;
        check_header(&header)?;
        let mut directory = Self {
            header,
            shape: BlockShape::new(header.slot_count as usize),
            names: Vec::new(),
            threads: Vec::new(),
            started: Vec::new(),
            seen: 0,
        };
        directory.refresh(source)?;
        Ok(directory)
    }

    /// Reads the chunks that were added since.
    pub(crate) fn refresh(&mut self, source: &RingBytes) -> Result<(), RingError> {
        let position = offset_of!(Header, chunk_count) as u64;
        let count: u64 = source.get(position)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > CHUNK_MAX || count < self.seen {
            let what = format!("{count} chunks, {} to {CHUNK_MAX} expected", self.seen);
            return Err(RingError::damaged(position, what));
        }
        while self.seen < count {
            let at = (DIRECTORY_OFFSET + self.seen * size_of::<Chunk>()) as u64;
            self.add(source.get(at)?, at, source.has_private_memory())?;
            self.seen += 1;
        }
        Ok(())
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        // Each thread has a cursor beside its place.
        let parts = self.names.len() + self.threads.len() + self.started.len();
        (size_of::<Self>() + parts * 4 * size_of::<ChunkPosition>()) as u64
    }

    fn add(&mut self, chunk: Chunk, at: u64, with_private: bool) -> Result<(), RingError> {
        let position = u64::from(chunk.page) * PAGE as u64;
        if position < HEADER_BYTES as u64 {
            return Err(RingError::damaged(at, format!("chunk at {position}, inside the header")));
        }
        if chunk.kind & PRIVATE != 0 && !with_private {
            return Ok(()); // counted by the process itself
        }
        let kind = chunk.kind & !PRIVATE;
        let (list, bytes) = match kind {
            k if k == ChunkKind::Names as u32 => (&mut self.names, NAMES_CHUNK_BYTES),
            k if k == ChunkKind::Thread as u32 => (&mut self.threads, self.shape.bytes),
            k if k == ChunkKind::Started as u32 => {
                (&mut self.started, STARTED_A_CHUNK * size_of::<Frame>())
            }
            _ => return Err(RingError::damaged(at, format!("chunk of unknown kind {kind}"))),
        };
        if chunk.pages as usize != bytes.div_ceil(PAGE) {
            let what = format!("chunk of {} pages, {} expected", chunk.pages, bytes.div_ceil(PAGE));
            return Err(RingError::damaged(at, what));
        }
        if kind == ChunkKind::Names as u32 && list.len() >= NAMES_CHUNK_COUNT_MAX {
            let what = format!("more than {NAMES_CHUNK_COUNT_MAX} chunks of names");
            return Err(RingError::damaged(at, what));
        }
        if list.iter().any(|part| part.index == chunk.index || part.position == position) {
            return Err(RingError::damaged(at, format!("chunk {} is there twice", chunk.index)));
        }
        list.push(ChunkPosition { index: chunk.index, position });
        Ok(())
    }
}

fn check_header(header: &Header) -> Result<(), RingError> {
    if !(1..=VERSION).contains(&header.version) {
        return Err(RingError::Version(header.version));
    }
    let slots = header.slot_count;
    let expect = |is_right: bool, at: usize, what: String| {
        if is_right { Ok(()) } else { Err(RingError::damaged(at as u64, what)) }
    };
    expect(
        slots.is_power_of_two() && (16..=1 << 22).contains(&slots),
        offset_of!(Header, slot_count),
        format!("{slots} slots, a power of two in [16, 2^22] expected"),
    )?;
    expect(
        (1..=64).contains(&header.worst_count),
        offset_of!(Header, worst_count),
        format!("{} worst cases, 1 to 64 expected", header.worst_count),
    )?;
    let fixed = [
        (header.header_bytes, HEADER_BYTES, offset_of!(Header, header_bytes)),
        (header.depth_max, DEPTH_MAX, offset_of!(Header, depth_max)),
        (header.class_max, CLASS_MAX, offset_of!(Header, class_max)),
        (header.context_bytes, context_bytes(slots as usize), offset_of!(Header, context_bytes)),
    ];
    for (found, expected, at) in fixed {
        expect(found as usize == expected, at, format!("{found}, {expected} expected"))?;
    }
    Ok(())
}
