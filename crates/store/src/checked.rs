//! Checksums of the files of a store, and reading that verifies them.
//!
//! A sealed file has two kinds of bytes. Those of its pages are covered by the CRC-32 of every
//! block of [`BLOCK_BYTES`], which the file's own footer lists under [`KEY`]. The rest, from where
//! the pages end to the end of the file (offset index and footer, [`EndChecksum`]), is covered by
//! one CRC-32 in the manifest, which has a checksum itself. So every byte that is read is verified,
//! page headers included, by whoever reads it; Parquet's own page checksum would leave those out,
//! and the library does not write it. Readers of others pass over a key that they do not know.
//!
//! A file of before, and one that is no store's, has no checksums: it is read as it is.

use crate::StoreError;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Bytes that have a checksum of their own. Whoever wants a part of them reads them all, so that
/// smaller ones are better for a single page and larger ones for a footer; a page has some 50 kB.
const BLOCK_BYTES: u64 = 64 * 1024;

/// Key of the footer's entry with the checksums of the blocks: the offset at which the blocks end,
/// a colon, and eight hexadecimal digits for each block. The offset serves a repair without a
/// manifest.
const KEY: &str = "chronoscope.crc32";

/// The end of a sealed file, which no block covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndChecksum {
    /// Length of the end in bytes, in [12, 2^32).
    pub bytes: u32,
    /// Their CRC-32 (IEEE 802.3).
    pub crc: u32,
}

/// A sink that makes the checksums of what it passes on.
pub(crate) struct Summed<W> {
    sink: W,
    hasher: crc32fast::Hasher,
    /// Bytes of the block, or of the tail, so far.
    bytes: u64,
    /// Bytes of the blocks that are over.
    begin: u64,
    blocks: Vec<u32>,
    /// Whether the blocks are over.
    in_tail: bool,
}

impl<W: Write> Summed<W> {
    pub(crate) fn new(sink: W) -> Self {
        Self {
            sink,
            hasher: crc32fast::Hasher::new(),
            bytes: 0,
            begin: 0,
            blocks: Vec::new(),
            in_tail: false,
        }
    }

    /// Ends the blocks and begins the tail: what the footer has to say about the blocks.
    pub(crate) fn begin_tail(&mut self) -> KeyValue {
        if self.bytes > 0 {
            self.end_block();
        }
        self.in_tail = true;
        let digits = self.blocks.iter().map(|crc| format!("{crc:08x}")).collect::<String>();
        KeyValue::new(KEY.to_owned(), format!("{}:{digits}", self.begin))
    }

    /// The tail, once all is written.
    pub(crate) fn tail(&self) -> Option<EndChecksum> {
        let bytes = u32::try_from(self.bytes).ok()?;
        self.in_tail.then(|| EndChecksum { bytes, crc: self.hasher.clone().finalize() })
    }

    fn end_block(&mut self) {
        self.blocks.push(std::mem::take(&mut self.hasher).finalize());
        self.begin += self.bytes;
        self.bytes = 0;
    }

    fn add(&mut self, mut written: &[u8]) {
        while !self.in_tail && self.bytes + written.len() as u64 >= BLOCK_BYTES {
            // Below a block's size by the condition.
            #[allow(clippy::cast_possible_truncation)]
            let (own, rest) = written.split_at((BLOCK_BYTES - self.bytes) as usize);
            self.hasher.update(own);
            self.bytes += own.len() as u64;
            self.end_block();
            written = rest;
        }
        self.hasher.update(written);
        self.bytes += written.len() as u64;
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Opens a sealed Parquet file: what reads its bytes, and its footer.
///
/// # Errors
/// [`StoreError::Io`] when it cannot be opened, [`StoreError::Parquet`] when its footer does not
/// match its checksum or is none.
pub(crate) fn open_checked(
    path: &Path,
    tail: Option<EndChecksum>,
    options: ArrowReaderOptions,
) -> Result<(CheckedFile, ArrowReaderMetadata), StoreError> {
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    let opened = CheckedFile::open(file, tail, options);
    opened.map_err(|source| StoreError::Parquet { path: path.to_owned(), source })
}

/// A file of which every byte is verified when it is read, as far as it has checksums.
#[derive(Clone, Debug)]
pub(crate) struct CheckedFile(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: File,
    len: u64,
    /// The tail's bytes, verified, and where they begin.
    tail: Option<(u64, Bytes)>,
    blocks: Vec<u32>,
}

impl CheckedFile {
    /// A sealed Parquet file and its footer.
    ///
    /// # Errors
    /// When its footer does not match its checksum or is none.
    pub(crate) fn open(
        file: File,
        tail: Option<EndChecksum>,
        options: ArrowReaderOptions,
    ) -> Result<(Self, ArrowReaderMetadata), ParquetError> {
        let file = Self::new(file, tail)?;
        let metadata = ArrowReaderMetadata::load(&file, options)?;
        Ok((file.with_blocks(metadata.metadata())?, metadata))
    }

    /// A file whose tail the manifest knows, or one without checksums.
    ///
    /// # Errors
    /// When it cannot be read, or its tail does not match its checksum.
    fn new(file: File, tail: Option<EndChecksum>) -> Result<Self, ParquetError> {
        let len = file.metadata()?.len();
        let Some(tail) = tail else {
            return Ok(Self(Arc::new(Inner { file, len, tail: None, blocks: Vec::new() })));
        };
        let begin = len.checked_sub(tail.bytes.into()).ok_or_else(|| {
            let what = format!("it has {len} bytes and its footer alone {}", tail.bytes);
            ParquetError::General(what)
        })?;
        let bytes = read_at(&file, begin, tail.bytes as usize)?;
        verify(&bytes, tail.crc, begin)?;
        let tail = Some((begin, bytes));
        Ok(Self(Arc::new(Inner { file, len, tail, blocks: Vec::new() })))
    }

    /// With the checksums of the blocks, which the footer lists.
    ///
    /// # Errors
    /// When it does not list them as it should.
    fn with_blocks(self, metadata: &ParquetMetaData) -> Result<Self, ParquetError> {
        let Some((begin, bytes)) = &self.0.tail else { return Ok(self) };
        let blocks = listed(metadata).filter(|(end, _)| end == begin).map(|(_, blocks)| blocks);
        let expected = begin.div_ceil(BLOCK_BYTES);
        let blocks = blocks.filter(|blocks| blocks.len() as u64 == expected).ok_or_else(|| {
            ParquetError::General(format!("its footer lists no checksums of its {expected} blocks"))
        })?;
        let tail = Some((*begin, bytes.clone()));
        let file = self.0.file.try_clone()?;
        Ok(Self(Arc::new(Inner { file, len: self.0.len, tail, blocks })))
    }

    /// Reads everything: how many bytes there are.
    ///
    /// # Errors
    /// [`io::Error`], or the first block that does not match its checksum.
    pub(crate) fn verify_all(&self) -> Result<u64, ParquetError> {
        let mut at = 0;
        while at < self.0.len {
            at += self.piece(at)?.len() as u64;
        }
        Ok(self.0.len)
    }

    /// The bytes from `at` to the end of its block, or of the tail; at least one before the end of
    /// the file.
    fn piece(&self, at: u64) -> Result<Bytes, ParquetError> {
        let end = match &self.0.tail {
            Some((begin, bytes)) if at >= *begin => {
                let from = usize::try_from(at - begin)?.min(bytes.len());
                return Ok(bytes.slice(from..));
            }
            Some((begin, _)) => *begin,
            None => self.0.len,
        };
        let next = (at / BLOCK_BYTES + 1) * BLOCK_BYTES;
        self.blocks_of(at, next.min(end).max(at))
    }

    /// The bytes from `from` until `until`, both before the tail.
    fn blocks_of(&self, from: u64, until: u64) -> Result<Bytes, ParquetError> {
        let Some((begin, _)) = &self.0.tail else {
            return read_at(&self.0.file, from, usize::try_from(until - from)?);
        };
        let first = from / BLOCK_BYTES;
        let start = first * BLOCK_BYTES;
        let end = until.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES).min(*begin);
        let bytes = read_at(&self.0.file, start, usize::try_from(end - start)?)?;
        #[allow(clippy::cast_possible_truncation)] // a constant
        let blocks = bytes.chunks(BLOCK_BYTES as usize).zip(first..);
        for (block, index) in blocks {
            let crc = usize::try_from(index).ok().and_then(|index| self.0.blocks.get(index));
            let crc =
                crc.ok_or_else(|| ParquetError::General(format!("block {index} has no checksum")))?;
            verify(block, *crc, index * BLOCK_BYTES)?;
        }
        Ok(bytes.slice(usize::try_from(from - start)?..usize::try_from(until - start)?))
    }
}

/// The footer's entry on the blocks: the offset at which they end, and their checksums.
fn listed(metadata: &ParquetMetaData) -> Option<(u64, Vec<u32>)> {
    let mut pairs = metadata.file_metadata().key_value_metadata()?.iter();
    let (end, digits) = pairs.find(|pair| pair.key == KEY)?.value.as_deref()?.split_once(':')?;
    let block = |block: usize| u32::from_str_radix(digits.get(block * 8..block * 8 + 8)?, 16).ok();
    let blocks: Option<Vec<u32>> = (0..digits.len().div_ceil(8)).map(block).collect();
    Some((end.parse().ok()?, blocks?))
}

/// The checksum of the end of a file that says itself where its blocks end, as the manifest had it;
/// `None` where the file has no checksums. The end itself cannot be verified this way.
pub(crate) fn end_checksum(path: &Path) -> Result<Option<EndChecksum>, StoreError> {
    let options = ArrowReaderOptions::new();
    let (file, metadata) = open_checked(path, None, options)?;
    let Some((begin, _)) = listed(metadata.metadata()) else { return Ok(None) };
    let end = file.0.len.checked_sub(begin).and_then(|bytes| u32::try_from(bytes).ok());
    let Some(bytes) = end else { return Ok(None) };
    let end = read_at(&file.0.file, begin, bytes as usize);
    let end = end.map_err(|source| StoreError::Parquet { path: path.to_owned(), source })?;
    Ok(Some(EndChecksum { bytes, crc: crc32fast::hash(&end) }))
}

fn verify(bytes: &[u8], crc: u32, position: u64) -> Result<(), ParquetError> {
    if crc32fast::hash(bytes) == crc {
        return Ok(());
    }
    let what = format!(
        "the {} bytes from byte {position} on do not match their checksum: the file has changed \
         since it was written",
        bytes.len()
    );
    Err(ParquetError::General(what))
}

fn read_at(file: &File, at: u64, bytes: usize) -> Result<Bytes, ParquetError> {
    let mut buffer = vec![0; bytes];
    file.read_exact_at(&mut buffer, at)?;
    Ok(buffer.into())
}

impl Length for CheckedFile {
    fn len(&self) -> u64 {
        self.0.len
    }
}

impl ChunkReader for CheckedFile {
    type T = Pieces;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(Pieces { file: self.clone(), at: start, piece: Bytes::new() })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.0.len);
        let end = end.ok_or_else(|| ParquetError::EOF("it ends too early".to_owned()))?;
        match &self.0.tail {
            Some((begin, bytes)) if start >= *begin => {
                let from = usize::try_from(start - begin)?;
                Ok(bytes.slice(from..from + length))
            }
            Some((begin, _)) if end > *begin => {
                Err(ParquetError::General("a page extends past the end of the pages".to_owned()))
            }
            _ => self.blocks_of(start, end),
        }
    }
}

/// Reads a file block by block.
pub(crate) struct Pieces {
    file: CheckedFile,
    at: u64,
    piece: Bytes,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && self.at < self.file.0.len {
            self.piece = self.file.piece(self.at).map_err(io::Error::other)?;
        }
        let count = buffer.len().min(self.piece.len());
        buffer[..count].copy_from_slice(&self.piece.split_to(count));
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)] // positions in a small file
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_of_the_bytes_however_they_are_written() {
        let bytes: Vec<u8> = (0..200_000u32).map(|at| (at % 251) as u8).collect();
        let whole = |pieces: usize| {
            let mut summed = Summed::new(Vec::new());
            bytes.chunks(pieces).for_each(|piece| summed.write_all(piece).unwrap());
            let digits = summed.begin_tail().value.unwrap();
            summed.write_all(b"the tail").unwrap();
            (digits, summed.tail().unwrap(), summed.sink)
        };
        let (digits, tail, written) = whole(1000);
        let digits = digits.strip_prefix("200000:").unwrap().to_owned();
        assert_eq!(digits.len(), 4 * 8);
        let last = crc32fast::hash(&bytes[3 * 65_536..]);
        assert_eq!(digits[24..], format!("{last:08x}"));
        assert_eq!(tail, EndChecksum { bytes: 8, crc: crc32fast::hash(b"the tail") });
        for pieces in [1, 65_536, 131_072, 200_000] {
            assert_eq!(whole(pieces), (format!("200000:{digits}"), tail, written.clone()));
        }
    }

    /// A file of two blocks and a bit, and a tail of 100 bytes.
    fn file(folder: &Path) -> (CheckedFile, Vec<u8>) {
        let bytes: Vec<u8> = (0..140_000u32).map(|at| (at % 241) as u8).collect();
        let path = folder.join("file");
        std::fs::write(&path, &bytes).unwrap();
        let begin = bytes.len() - 100;
        let tail = EndChecksum { bytes: 100, crc: crc32fast::hash(&bytes[begin..]) };
        let opened = CheckedFile::new(File::open(&path).unwrap(), Some(tail)).unwrap();
        let mut inner = Arc::into_inner(opened.0).unwrap();
        inner.blocks = bytes[..begin].chunks(65_536).map(crc32fast::hash).collect();
        (CheckedFile(Arc::new(inner)), bytes)
    }

    proptest! {
        /// Read in whatever pieces, the bytes are the file's; after a flip of one they are never
        /// others than the file's.
        #[test]
        fn a_changed_byte_is_never_given_out(
            reads in prop::collection::vec((0..140_000u64, 1..70_000usize), 1..8),
            flip in prop::option::of((0..139_900u64, 0..8u8)),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (checked, bytes) = file(folder.path());
            if let Some((at, bit)) = flip {
                let file = File::options().write(true).open(folder.path().join("file")).unwrap();
                file.write_all_at(&[bytes[at as usize] ^ (1 << bit)], at).unwrap();
            }
            for (start, length) in reads {
                let length = length.min(140_000 - start as usize);
                let crosses = start < 139_900 && start as usize + length > 139_900;
                let expected = &bytes[start as usize..start as usize + length];
                match checked.get_bytes(start, length) {
                    Ok(found) => prop_assert_eq!(&found[..], expected),
                    Err(_) => prop_assert!(crosses || flip.is_some()),
                }
                let mut found = vec![0; length];
                match checked.get_read(start).unwrap().read_exact(&mut found) {
                    Ok(()) => prop_assert_eq!(&found[..], expected),
                    Err(_) => prop_assert!(flip.is_some()),
                }
            }
            prop_assert_eq!(checked.verify_all().is_err(), flip.is_some());
        }
    }
}
