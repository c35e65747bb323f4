//! Frames from a file: all of one length, or each with its length before it.
//!
//! The times of reception are those of reading, at the rate asked for; files with times of their
//! own are [`super::store`]'s.

use super::pace::FramePace;
use super::progress::{FRAME_OCTETS_MAX, ReadProgress};
use crate::frame::ReceivedFrame;
use crate::pdu::FrameQuality;
use crate::time::Now;
use bytes::{Bytes, BytesMut};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Octets read at once.
const BLOCK_OCTETS: usize = 256 * 1024;

/// Arrangement of frames in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFileLayout {
    /// One after the other, each of so many octets, in [1, 65536].
    Fixed(usize),
    /// Each with its length in octets before it: 4 octets, big-endian.
    Prefixed,
}

/// Settings for a file of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameFileSettings {
    /// Arrangement of the frames.
    pub layout: FrameFileLayout,
    /// Frames a second; `None`: as fast as they are taken.
    pub rate: Option<u32>,
    /// Whether the file is read again from its beginning at its end.
    pub repeat: bool,
}

/// Fault of a file of frames.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("octet {position}: {error}")]
    Read {
        /// Up to where it was read.
        position: u64,
        /// Why not further.
        error: io::Error,
    },
    /// A length that no frame has.
    #[error("octet {position}: a frame has 1 to {FRAME_OCTETS_MAX} octets, not {octets}")]
    Length {
        /// Position of the frame's first octet.
        position: u64,
        /// Length of the frame in octets.
        octets: u64,
    },
    /// The file ends within a frame.
    #[error("octet {position}: the file ends within the frame that begins here")]
    Cut {
        /// Position of the frame's first octet.
        position: u64,
    },
    /// The file is not a frame store.
    #[error("octet 0: the file is not a frame store (docs/formats/frame-store.md)")]
    NoStore,
    /// A frame quality that does not exist.
    #[error(
        "octet {position}: the frame quality is {quality}, not 0 (good), 1 (erred) or 2 (undetermined)"
    )]
    Quality {
        /// Position of the frame's first octet.
        position: u64,
        /// Value of the quality octet.
        quality: u8,
    },
}

/// A file of frames that is being read.
#[derive(Debug)]
pub struct FrameFile<R> {
    octets: FileOctets<R>,
    layout: FrameFileLayout,
    repeat: bool,
    pace: Option<FramePace>,
    has_failed: bool,
}

impl FrameFile<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`FileError`] when it cannot be opened.
    pub fn open(path: &Path, settings: FrameFileSettings) -> Result<Self, FileError> {
        let file = File::open(path).map_err(|error| FileError::Read { position: 0, error })?;
        Ok(Self::new(file, settings))
    }
}

impl<R: Read + Seek> FrameFile<R> {
    /// Reads from the beginning of `input`.
    pub fn new(input: R, settings: FrameFileSettings) -> Self {
        Self {
            octets: FileOctets::new(input),
            layout: settings.layout,
            repeat: settings.repeat,
            pace: settings.rate.map(FramePace::new),
            has_failed: false,
        }
    }

    /// Appends up to `max` frames that are due.
    ///
    /// # Errors
    /// [`FileError`], once: then it is at its end. What was read before is in `out`.
    pub fn read(
        &mut self,
        max: usize,
        now: Now,
        out: &mut Vec<ReceivedFrame>,
    ) -> Result<ReadProgress, FileError> {
        if self.has_failed {
            return Ok(ReadProgress::End);
        }
        let progress = self.read_due(max, now, out);
        self.has_failed = progress.is_err();
        progress
    }

    fn read_due(
        &mut self,
        max: usize,
        now: Now,
        out: &mut Vec<ReceivedFrame>,
    ) -> Result<ReadProgress, FileError> {
        let due = self.pace.as_mut().map_or(u64::MAX, |pace| pace.due(now));
        let wanted = usize::try_from(due).unwrap_or(usize::MAX).min(max);
        for _ in 0..wanted {
            let mut data = self.frame()?;
            if data.is_none() && self.repeat && self.octets.position > 0 {
                self.octets.rewind()?;
                data = self.frame()?;
            }
            let Some(data) = data else { return Ok(ReadProgress::End) };
            out.push(ReceivedFrame {
                data,
                received_utc_ns: self.pace.as_mut().map_or(now.utc_ns, FramePace::take),
                quality: FrameQuality::Good,
                annotation: None,
            });
        }
        Ok(match &self.pace {
            Some(pace) if pace.next_ns() > now.monotonic_ns => ReadProgress::At(pace.next_ns()),
            _ => ReadProgress::More,
        })
    }

    /// The next frame; `None` at the end.
    fn frame(&mut self) -> Result<Option<Bytes>, FileError> {
        let position = self.octets.position;
        let octets = match self.layout {
            FrameFileLayout::Fixed(octets) => octets as u64,
            FrameFileLayout::Prefixed => match self.octets.take(4, position)? {
                None => return Ok(None),
                Some(length) => u64::from(u32::from_be_bytes(array(&length))),
            },
        };
        let octets = frame_length(octets, position)?;
        match self.octets.take(octets, position)? {
            None if self.layout == FrameFileLayout::Prefixed => Err(FileError::Cut { position }),
            frame => Ok(frame),
        }
    }
}

/// A frame's length, if it is one.
pub(super) fn frame_length(octets: u64, position: u64) -> Result<usize, FileError> {
    usize::try_from(octets)
        .ok()
        .filter(|octets| (1..=FRAME_OCTETS_MAX).contains(octets))
        .ok_or(FileError::Length { position, octets })
}

/// The first octets as an array; there must be so many.
pub(super) fn array<const N: usize>(octets: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&octets[..N]);
    array
}

/// Octets of a file, taken as slices of large blocks.
#[derive(Debug)]
pub(super) struct FileOctets<R> {
    input: R,
    /// Read and not taken.
    block: BytesMut,
    /// Octets taken since the beginning.
    pub(super) position: u64,
}

impl<R: Read + Seek> FileOctets<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, block: BytesMut::new(), position: 0 }
    }

    /// Takes so many octets, at most [`FRAME_OCTETS_MAX`]; `None` where there is not one more.
    ///
    /// # Errors
    /// [`FileError::Cut`] where there are fewer; it names the frame's beginning.
    pub(super) fn take(&mut self, count: usize, frame: u64) -> Result<Option<Bytes>, FileError> {
        while self.block.len() < count {
            let before = self.block.len();
            if self.fill()? == 0 {
                return if before == 0 {
                    Ok(None)
                } else {
                    Err(FileError::Cut { position: frame })
                };
            }
        }
        self.position += count as u64;
        Ok(Some(self.block.split_to(count).freeze()))
    }

    /// Leaves so many octets out.
    pub(super) fn skip(&mut self, count: usize, frame: u64) -> Result<(), FileError> {
        match self.take(count, frame)? {
            Some(_) => Ok(()),
            None => Err(FileError::Cut { position: frame }),
        }
    }

    pub(super) fn rewind(&mut self) -> Result<(), FileError> {
        self.block.clear();
        self.position = 0;
        let start = self.input.seek(SeekFrom::Start(0));
        start.map(drop).map_err(|error| FileError::Read { position: 0, error })
    }

    fn fill(&mut self) -> Result<usize, FileError> {
        let held = self.block.len();
        self.block.resize(held + BLOCK_OCTETS, 0);
        let read = loop {
            match self.input.read(&mut self.block[held..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.block.truncate(held + *read.as_ref().unwrap_or(&0));
        read.map_err(|error| FileError::Read { position: self.position + held as u64, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    const NOW: Now = Now { monotonic_ns: 5, utc_ns: 1_700_000_000_000_000_000 };

    fn file(octets: &[u8], layout: FrameFileLayout, repeat: bool) -> FrameFile<Cursor<Vec<u8>>> {
        let settings = FrameFileSettings { layout, rate: None, repeat };
        FrameFile::new(Cursor::new(octets.to_vec()), settings)
    }

    fn frames(out: &[ReceivedFrame]) -> Vec<&[u8]> {
        out.iter().map(|frame| &frame.data[..]).collect()
    }

    #[test]
    fn frames_of_one_length() {
        let mut out = Vec::new();
        let mut input = file(b"abcdef", FrameFileLayout::Fixed(3), false);
        assert_eq!(input.read(1, NOW, &mut out).unwrap(), ReadProgress::More);
        assert_eq!(input.read(9, NOW, &mut out).unwrap(), ReadProgress::End);
        assert_eq!(frames(&out), [b"abc", b"def"]);
        assert_eq!(out[0].received_utc_ns, NOW.utc_ns);
    }

    #[test]
    fn frames_with_their_lengths() {
        let mut out = Vec::new();
        let mut input = file(b"\0\0\0\x02ab\0\0\0\x01c", FrameFileLayout::Prefixed, false);
        assert_eq!(input.read(9, NOW, &mut out).unwrap(), ReadProgress::End);
        assert_eq!(frames(&out), [&b"ab"[..], b"c"]);
    }

    #[test]
    fn a_file_begins_again() {
        let mut out = Vec::new();
        let mut input = file(b"abcd", FrameFileLayout::Fixed(2), true);
        assert_eq!(input.read(5, NOW, &mut out).unwrap(), ReadProgress::More);
        assert_eq!(frames(&out), [b"ab", b"cd", b"ab", b"cd", b"ab"]);
        let mut empty = file(b"", FrameFileLayout::Fixed(2), true);
        assert_eq!(empty.read(5, NOW, &mut out).unwrap(), ReadProgress::End);
    }

    #[test]
    fn what_is_wrong_has_its_position() {
        let wrong = |octets: &[u8], layout| {
            let mut input = file(octets, layout, false);
            let error = input.read(9, NOW, &mut Vec::new()).unwrap_err().to_string();
            assert_eq!(input.read(9, NOW, &mut Vec::new()).unwrap(), ReadProgress::End, "once");
            error
        };
        let cut = "octet 3: the file ends within the frame that begins here";
        assert_eq!(wrong(b"abcd", FrameFileLayout::Fixed(3)), cut);
        assert_eq!(wrong(b"\0\0\0\x05ab", FrameFileLayout::Prefixed), cut.replace('3', "0"));
        assert_eq!(wrong(b"\0\0\0\x05", FrameFileLayout::Prefixed), cut.replace('3', "0"));
        let length = "octet 5: a frame has 1 to 65536 octets, not 65537";
        assert_eq!(wrong(b"\0\0\0\x01a\0\x01\0\x01", FrameFileLayout::Prefixed), length);
        let none = "octet 0: a frame has 1 to 65536 octets, not 0";
        assert_eq!(wrong(b"\0\0\0\0", FrameFileLayout::Prefixed), none);
        assert_eq!(wrong(b"abc", FrameFileLayout::Fixed(0)), none);
    }
}
