//! A store of received frames with their times, for offline delivery.
//!
//! Its octets are in `docs/formats/frame-store.md`. Frames are read from the beginning: a span of
//! time costs the reading of what lies before it.

use super::file::{FileError, FileOctets, array, frame_length};
use super::progress::ReadProgress;
use crate::frame::ReceivedFrame;
use crate::pdu::FrameQuality;
use crate::service::returns::OfflineRange;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// First octets of a frame store.
const MAGIC: &[u8; 8] = b"SLEFRM01";
/// Octets before each frame.
const RECORD_OCTETS: usize = 13;
/// Frames left out in one read, so that a read ends soon.
const SKIPPED_MAX: usize = 100_000;

/// Writes a store.
#[derive(Debug)]
pub struct StoreWriter<W> {
    out: W,
}

impl<W: Write> StoreWriter<W> {
    /// Writes the beginning.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out })
    }

    /// Writes a frame. Its annotation is not kept.
    ///
    /// # Errors
    /// Those of `out`; a frame that is empty or longer than 65,536 octets is refused.
    pub fn write(&mut self, frame: &ReceivedFrame) -> io::Result<()> {
        let mut octets = Vec::with_capacity(RECORD_OCTETS + frame.data.len());
        record(frame, &mut octets)?;
        self.out.write_all(&octets)
    }

    /// Hands over what is written to.
    ///
    /// # Errors
    /// Those of `out`, when it is flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Appends a frame as a store has it.
///
/// # Errors
/// A frame that is empty or longer than 65,536 octets is refused.
pub(super) fn record(frame: &ReceivedFrame, out: &mut Vec<u8>) -> io::Result<()> {
    let refused = |error: FileError| io::Error::new(io::ErrorKind::InvalidInput, error);
    let octets = frame_length(frame.data.len() as u64, 0).map_err(refused)?;
    out.extend(frame.received_utc_ns.to_be_bytes());
    out.push(frame.quality as u8);
    out.extend(u32::try_from(octets).unwrap_or(0).to_be_bytes());
    out.extend(&frame.data);
    Ok(())
}

/// Reads the frames of a span of time.
#[derive(Debug)]
pub struct StoreReader<R> {
    octets: FileOctets<R>,
    range: OfflineRange,
    has_begun: bool,
    has_failed: bool,
}

/// Whether a file is a frame store: it begins as one.
///
/// # Errors
/// [`FileError`]: it cannot be read, or is no store.
pub(super) fn check_file(path: &Path) -> Result<(), FileError> {
    let range = OfflineRange { start_utc_ns: 0, stop_utc_ns: 0 };
    StoreReader::open(path, range)?.begin()
}

impl StoreReader<File> {
    /// Opens a store.
    ///
    /// # Errors
    /// [`FileError`] when it cannot be opened.
    pub fn open(path: &Path, range: OfflineRange) -> Result<Self, FileError> {
        let file = File::open(path).map_err(|error| FileError::Read { position: 0, error })?;
        Ok(Self::new(file, range))
    }
}

impl<R: Read + Seek> StoreReader<R> {
    /// Reads from the beginning of `input`.
    pub fn new(input: R, range: OfflineRange) -> Self {
        Self { octets: FileOctets::new(input), range, has_begun: false, has_failed: false }
    }

    /// Appends up to `max` frames of the span.
    ///
    /// # Errors
    /// [`FileError`], once: then it is at its end. What was read before is in `out`.
    pub fn read(
        &mut self,
        max: usize,
        out: &mut Vec<ReceivedFrame>,
    ) -> Result<ReadProgress, FileError> {
        if self.has_failed {
            return Ok(ReadProgress::End);
        }
        let progress = self.read_some(max, out);
        self.has_failed = progress.is_err();
        progress
    }

    fn begin(&mut self) -> Result<(), FileError> {
        if !self.has_begun {
            if self.octets.take(MAGIC.len(), 0)?.is_none_or(|magic| magic != MAGIC[..]) {
                return Err(FileError::NoStore);
            }
            self.has_begun = true;
        }
        Ok(())
    }

    fn read_some(
        &mut self,
        max: usize,
        out: &mut Vec<ReceivedFrame>,
    ) -> Result<ReadProgress, FileError> {
        self.begin()?;
        let mut skipped = 0;
        let wanted = out.len().saturating_add(max);
        while out.len() < wanted && skipped < SKIPPED_MAX {
            let position = self.octets.position;
            let Some(record) = self.octets.take(RECORD_OCTETS, position)? else {
                return Ok(ReadProgress::End);
            };
            let received_utc_ns = u64::from_be_bytes(array(&record));
            let quality = match record[8] {
                0 => FrameQuality::Good,
                1 => FrameQuality::Erred,
                2 => FrameQuality::Undetermined,
                quality => return Err(FileError::Quality { position, quality }),
            };
            let octets = u64::from(u32::from_be_bytes(array(&record[9..])));
            let octets = frame_length(octets, position)?;
            let range = self.range.start_utc_ns..=self.range.stop_utc_ns;
            if !range.contains(&received_utc_ns) {
                self.octets.skip(octets, position)?;
                skipped += 1;
                continue;
            }
            let data = self.octets.take(octets, position)?.ok_or(FileError::Cut { position })?;
            out.push(ReceivedFrame { data, received_utc_ns, quality, annotation: None });
        }
        Ok(ReadProgress::More)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn frame(received_utc_ns: u64, data: &'static [u8], quality: FrameQuality) -> ReceivedFrame {
        ReceivedFrame { data: Bytes::from_static(data), received_utc_ns, quality, annotation: None }
    }

    fn store(frames: &[ReceivedFrame]) -> Vec<u8> {
        let mut writer = StoreWriter::new(Vec::new()).unwrap();
        for frame in frames {
            writer.write(frame).unwrap();
        }
        writer.finish().unwrap()
    }

    fn read(octets: &[u8], start: u64, stop: u64) -> Result<Vec<ReceivedFrame>, FileError> {
        let range = OfflineRange { start_utc_ns: start, stop_utc_ns: stop };
        let mut reader = StoreReader::new(Cursor::new(octets), range);
        let mut out = Vec::new();
        while reader.read(2, &mut out)? != ReadProgress::End {}
        Ok(out)
    }

    #[test]
    fn a_span_of_time_with_both_ends() {
        let frames = [
            frame(10, b"a", FrameQuality::Good),
            frame(20, b"bc", FrameQuality::Erred),
            frame(30, b"d", FrameQuality::Undetermined),
            frame(40, b"e", FrameQuality::Good),
        ];
        let octets = store(&frames);
        assert_eq!(read(&octets, 20, 30).unwrap(), frames[1..3]);
        assert_eq!(read(&octets, 0, 100).unwrap(), frames);
        assert!(read(&octets, 50, 100).unwrap().is_empty());
    }

    /// Version 1, for ever.
    #[test]
    fn the_octets_of_a_store() {
        let octets = store(&[frame(0x0102, b"xyz", FrameQuality::Erred)]);
        assert_eq!(octets, b"SLEFRM01\0\0\0\0\0\0\x01\x02\x01\0\0\0\x03xyz");
    }

    #[test]
    fn what_is_wrong_has_its_position() {
        let whole =
            store(&[frame(1, b"a", FrameQuality::Good), frame(2, b"b", FrameQuality::Good)]);
        let wrong = |octets: &[u8]| read(octets, 0, 9).unwrap_err().to_string();
        assert!(wrong(b"").starts_with("octet 0: the file is not a frame store"));
        assert!(wrong(b"SLEFRM02").starts_with("octet 0: the file is not a frame store"));
        assert!(wrong(&whole[..25]).starts_with("octet 22: the file ends within"));
        assert!(wrong(&whole[..35]).starts_with("octet 22: the file ends within"));
        let mut odd = whole.clone();
        odd[30] = 3;
        assert!(wrong(&odd).starts_with("octet 22: the frame quality is 3"));
        let mut long = whole;
        long[31] = 1;
        assert!(wrong(&long).starts_with("octet 22: a frame has 1 to"));
    }

    proptest! {
        #[test]
        fn any_octets_are_read_or_refused(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut whole = MAGIC.to_vec();
            whole.extend(octets);
            drop(read(&whole, 0, u64::MAX));
        }
    }
}
