//! A frame archive: received frames in a folder that is bounded by size and age, for offline delivery.
//!
//! **Promise.** A frame that [`FrameArchive::write`] has returned for survives a kill of the program.
//! It survives a crash of the host after a second at most (`fdatasync`). What a kill left behind in the
//! middle of a write is removed when the archive is opened again. The folder has one writer.
//!
//! **Limits.** The oldest segment is removed when the folder would exceed its octets, or when its latest
//! frame is too old; a segment is about a sixteenth of either limit.

use super::file::FileError;
use super::progress::ReadProgress;
use super::segment::{LOCK, SegmentName, is_archive, segments};
use super::store::{StoreReader, StoreWriter, record};
use crate::frame::ReceivedFrame;
use crate::service::returns::OfflineRange;
use crate::time::Now;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Segments of which an archive consists, about.
const SEGMENTS: u64 = 16;
/// Longest time until a frame is durable against a crash of the host, in ns.
const SYNC_NS: u64 = 1_000_000_000;
/// Frames read at a time when a segment is recovered.
const BATCH: usize = 1024;

/// Bounds of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Octets of all segments together, at least 1 MiB.
    pub octets: u64,
    /// Age of the oldest frames, in ns; `None`: any.
    pub age_ns: Option<u64>,
}

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Another program writes it.
    #[error("{} is written by another program: give each instance a folder of its own", .0.display())]
    InUse(PathBuf),
    /// The folder has other files.
    #[error(
        "{} is no frame store and not empty: name a new folder, or an empty one", .0.display()
    )]
    NoStore(PathBuf),
    /// A segment cannot be read.
    #[error("{}: {error}", path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// What is wrong with it.
        error: FileError,
    },
    /// The operating system has refused it.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
}

/// A segment that is not written any more.
#[derive(Debug)]
struct SealedSegment {
    name: SegmentName,
    last_utc_ns: u64,
    octets: u64,
}

/// The segment that is being written.
#[derive(Debug)]
struct OpenSegment {
    number: u64,
    file: File,
    octets: u64,
    first_utc_ns: u64,
    last_utc_ns: u64,
    opened_ns: u64,
}

/// The writer of an archive.
#[derive(Debug)]
pub struct FrameArchive {
    folder: PathBuf,
    limits: ArchiveLimits,
    /// Locked while this lives.
    _lock: File,
    sealed: VecDeque<SealedSegment>,
    open: Option<OpenSegment>,
    next_number: u64,
    /// Since when there are frames that a crash of the host would take.
    unsynced_ns: Option<u64>,
    records: Vec<u8>,
}

impl FrameArchive {
    /// Opens an archive, or makes one of a new or empty folder.
    ///
    /// # Errors
    /// [`ArchiveError`].
    pub fn open(folder: &Path, limits: ArchiveLimits) -> Result<Self, ArchiveError> {
        let io = |error| ArchiveError::Io { path: folder.to_owned(), error };
        fs::create_dir_all(folder).map_err(io)?;
        if !is_archive(folder) && fs::read_dir(folder).map_err(io)?.next().is_some() {
            return Err(ArchiveError::NoStore(folder.to_owned()));
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let lock = options.open(folder.join(LOCK)).map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ArchiveError::InUse(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        let mut archive = Self {
            folder: folder.to_owned(),
            limits,
            _lock: lock,
            sealed: VecDeque::new(),
            open: None,
            next_number: 0,
            unsynced_ns: None,
            records: Vec::new(),
        };
        for name in segments(folder).map_err(io)? {
            archive.next_number = name.number + 1;
            let name = match name.span_utc_ns {
                Some(_) => Some(name),
                None => recovered(folder, name)?,
            };
            let Some((name, (_, last_utc_ns))) = name.and_then(|n| Some((n, n.span_utc_ns?)))
            else {
                continue;
            };
            let octets = fs::metadata(folder.join(name.text())).map_err(io)?.len();
            archive.sealed.push_back(SealedSegment { name, last_utc_ns, octets });
        }
        Ok(archive)
    }

    /// Octets of all segments.
    #[must_use]
    pub fn octets(&self) -> u64 {
        let open = self.open.as_ref().map_or(0, |open| open.octets);
        self.sealed.iter().map(|segment| segment.octets).sum::<u64>() + open
    }

    /// Adds frames, in their order; older ones leave as the limits say.
    ///
    /// # Errors
    /// Those of the operating system: then none of the frames is stored.
    pub fn write(&mut self, frames: &[ReceivedFrame], now: Now) -> io::Result<()> {
        let mut records = std::mem::take(&mut self.records);
        records.clear();
        let (mut first, mut last) = (u64::MAX, 0);
        for frame in frames {
            record(frame, &mut records)?;
            first = first.min(frame.received_utc_ns);
            last = last.max(frame.received_utc_ns);
        }
        let written =
            if records.is_empty() { Ok(()) } else { self.append(&records, (first, last), now) };
        self.records = records;
        written?;
        self.tidy(now)
    }

    fn append(&mut self, records: &[u8], (first, last): (u64, u64), now: Now) -> io::Result<()> {
        if self.open.as_ref().is_some_and(|open| self.is_full(open, now)) {
            self.seal()?;
        }
        self.make_room(records.len() as u64)?;
        if self.open.is_none() {
            self.open = Some(self.begin(now)?);
            self.next_number += 1;
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        if let Err(error) = open.file.write_all(records) {
            // The next frames are to follow a whole one.
            open.file.set_len(open.octets)?;
            return Err(error);
        }
        open.octets += records.len() as u64;
        open.first_utc_ns = open.first_utc_ns.min(first);
        open.last_utc_ns = open.last_utc_ns.max(last);
        self.unsynced_ns.get_or_insert(now.monotonic_ns);
        Ok(())
    }

    fn is_full(&self, open: &OpenSegment, now: Now) -> bool {
        let age_ns = self.limits.age_ns.map(|age_ns| (age_ns / SEGMENTS).max(SYNC_NS));
        open.octets >= self.limits.octets / SEGMENTS
            || age_ns.is_some_and(|age_ns| now.monotonic_ns - open.opened_ns >= age_ns)
    }

    fn begin(&self, now: Now) -> io::Result<OpenSegment> {
        let name = SegmentName { number: self.next_number, span_utc_ns: None };
        let path = self.folder.join(name.text());
        let mut file = OpenOptions::new().append(true).create_new(true).open(path)?;
        StoreWriter::new(&mut file)?;
        Ok(OpenSegment {
            number: name.number,
            octets: file.metadata()?.len(),
            file,
            first_utc_ns: u64::MAX,
            last_utc_ns: 0,
            opened_ns: now.monotonic_ns,
        })
    }

    /// Makes frames durable that are not, and removes what is too old. To be called once a second, also
    /// without frames.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn tidy(&mut self, now: Now) -> io::Result<()> {
        if self.unsynced_ns.is_some_and(|since| now.monotonic_ns.saturating_sub(since) >= SYNC_NS) {
            self.sync()?;
        }
        let Some(age_ns) = self.limits.age_ns else { return Ok(()) };
        if self.open.as_ref().is_some_and(|open| open.last_utc_ns > 0 && self.is_full(open, now)) {
            self.seal()?;
        }
        let oldest_ns = now.utc_ns.saturating_sub(age_ns);
        while self.sealed.front().is_some_and(|segment| segment.last_utc_ns < oldest_ns) {
            self.remove_oldest()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.unsynced_ns = None;
        self.open.as_ref().map_or(Ok(()), |open| open.file.sync_data())
    }

    /// Removes the oldest segments until there is room for so many octets.
    fn make_room(&mut self, octets: u64) -> io::Result<()> {
        while self.octets() + octets > self.limits.octets && !self.sealed.is_empty() {
            self.remove_oldest()?;
        }
        Ok(())
    }

    fn remove_oldest(&mut self) -> io::Result<()> {
        let Some(oldest) = self.sealed.pop_front() else { return Ok(()) };
        match fs::remove_file(self.folder.join(oldest.name.text())) {
            // Somebody has removed it: that was to be done.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Ends the segment that is being written: its name has the span from then on.
    fn seal(&mut self) -> io::Result<()> {
        self.sync()?;
        let Some(open) = self.open.take() else { return Ok(()) };
        let span = (open.first_utc_ns, open.last_utc_ns);
        if let Some(name) =
            sealed(&self.folder, open.number, (open.last_utc_ns > 0).then_some(span))?
        {
            let (last_utc_ns, octets) = (open.last_utc_ns, open.octets);
            self.sealed.push_back(SealedSegment { name, last_utc_ns, octets });
        }
        Ok(())
    }
}

impl Drop for FrameArchive {
    fn drop(&mut self) {
        // What fails now is done when the archive is opened again.
        let _ = self.seal();
    }
}

/// Gives a segment its name with the span; one without frames is removed.
fn sealed(
    folder: &Path,
    number: u64,
    span_utc_ns: Option<(u64, u64)>,
) -> io::Result<Option<SegmentName>> {
    let from = folder.join(SegmentName { number, span_utc_ns: None }.text());
    let Some(span) = span_utc_ns else {
        fs::remove_file(from)?;
        return Ok(None);
    };
    let name = SegmentName { number, span_utc_ns: Some(span) };
    fs::rename(from, folder.join(name.text()))?;
    File::open(folder)?.sync_all()?;
    Ok(Some(name))
}

/// Ends a segment that was being written when its program ended: an incomplete frame at its end is
/// removed. `None`: it has no frames.
fn recovered(folder: &Path, name: SegmentName) -> Result<Option<SegmentName>, ArchiveError> {
    let path = folder.join(name.text());
    let io = |error| ArchiveError::Io { path: path.clone(), error };
    let wrong = |error| ArchiveError::Segment { path: path.clone(), error };
    let all = OfflineRange { start_utc_ns: 0, stop_utc_ns: u64::MAX };
    let mut reader = StoreReader::open(&path, all).map_err(wrong)?;
    let (mut first, mut last) = (u64::MAX, 0);
    let mut frames = Vec::new();
    let end = loop {
        frames.clear();
        let progress = reader.read(BATCH, &mut frames);
        for frame in &frames {
            first = first.min(frame.received_utc_ns);
            last = last.max(frame.received_utc_ns);
        }
        match progress {
            Ok(ReadProgress::End) => break None,
            Ok(_) => {}
            // The write that was cut off, or octets that a crash of the host left as zeros.
            Err(
                FileError::Cut { position }
                | FileError::Length { position, .. }
                | FileError::Quality { position, .. },
            ) => break Some(position),
            Err(FileError::NoStore) if fs::metadata(&path).map_err(io)?.len() < 8 => break Some(0),
            Err(error) => return Err(wrong(error)),
        }
    };
    if let Some(end) = end {
        let file = OpenOptions::new().write(true).open(&path).map_err(io)?;
        file.set_len(end).and_then(|()| file.sync_data()).map_err(io)?;
    }
    sealed(folder, name.number, (first <= last).then_some((first, last))).map_err(io)
}

#[cfg(test)]
mod tests {
    use super::super::segment::{StoredFrames, check_store};
    use super::*;
    use crate::pdu::FrameQuality;

    const LIMITS: ArchiveLimits = ArchiveLimits { octets: 1 << 20, age_ns: None };

    fn frame(received_utc_ns: u64, octets: usize) -> ReceivedFrame {
        ReceivedFrame {
            data: received_utc_ns.to_be_bytes().repeat(octets / 8).into(),
            received_utc_ns,
            quality: FrameQuality::Good,
            annotation: None,
        }
    }

    fn now(seconds: u64) -> Now {
        Now { monotonic_ns: seconds * 1_000_000_000, utc_ns: seconds * 1_000_000_000 }
    }

    fn times(folder: &Path, start_utc_ns: u64, stop_utc_ns: u64) -> Vec<u64> {
        let mut stored =
            StoredFrames::open(folder, OfflineRange { start_utc_ns, stop_utc_ns }).unwrap();
        let mut out = Vec::new();
        while stored.read(3, &mut out).unwrap() != ReadProgress::End {}
        out.iter().map(|frame| frame.received_utc_ns).collect()
    }

    #[test]
    fn what_is_written_is_read_while_it_is_written_and_after() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let mut archive = FrameArchive::open(&path, LIMITS).unwrap();
        for time in 1..=500 {
            archive.write(&[frame(time, 1000)], now(1)).unwrap();
        }
        assert!(segments(&path).unwrap().len() > 4, "several segments");
        assert_eq!(times(&path, 0, 900), (1..=500).collect::<Vec<_>>());
        assert_eq!(times(&path, 250, 252), [250, 251, 252]);
        drop(archive);
        let sealed = segments(&path).unwrap();
        assert!(sealed.iter().all(|segment| segment.span_utc_ns.is_some()), "{sealed:?}");
        let mut again = FrameArchive::open(&path, LIMITS).unwrap();
        again.write(&[frame(501, 1000)], now(1)).unwrap();
        assert_eq!(times(&path, 499, 900), [499, 500, 501]);
        check_store(&path).unwrap();
    }

    #[test]
    fn size_and_age_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let limits = ArchiveLimits { age_ns: Some(600_000_000_000), ..LIMITS };
        let mut archive = FrameArchive::open(folder.path(), limits).unwrap();
        for second in 1..=3000u64 {
            archive.write(&[frame(second * 1_000_000_000, 1000)], now(second)).unwrap();
            let on_disk: u64 = segments(folder.path())
                .unwrap()
                .iter()
                .map(|one| fs::metadata(folder.path().join(one.text())).unwrap().len())
                .sum();
            assert!(on_disk <= limits.octets, "{on_disk} at {second}");
        }
        let left = times(folder.path(), 0, u64::MAX);
        assert_eq!(left.last(), Some(&3_000_000_000_000));
        let oldest = left[0] / 1_000_000_000;
        assert!((2300..=2400).contains(&oldest), "600 s and a segment: {oldest}");
        archive.tidy(now(9000)).unwrap();
        assert!(times(folder.path(), 0, u64::MAX).is_empty(), "all is too old");
        let limits = ArchiveLimits { octets: 1 << 20, age_ns: None };
        drop(archive);
        let mut archive = FrameArchive::open(folder.path(), limits).unwrap();
        for time in 1..=3000 {
            archive.write(&[frame(time, 1000)], now(1)).unwrap();
        }
        assert!(archive.octets() <= limits.octets);
        let left = times(folder.path(), 0, u64::MAX);
        assert!(left.len() > 900 && left.last() == Some(&3000), "{}", left.len());
    }

    /// A kill in the middle of a write: cut anywhere, the whole frames are there, and it goes on.
    #[test]
    fn a_kill_takes_no_whole_frame() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        let mut archive = FrameArchive::open(&made, LIMITS).unwrap();
        archive.write(&[frame(5, 16), frame(6, 8)], now(1)).unwrap();
        let open = made.join(SegmentName { number: 0, span_utc_ns: None }.text());
        let octets = fs::read(&open).unwrap();
        for end in 0..=octets.len() + 20 {
            let killed = folder.path().join(format!("killed-{end}"));
            fs::create_dir(&killed).unwrap();
            fs::write(killed.join(LOCK), "").unwrap();
            // Beyond the end: zeros, as a crash of the host may leave them.
            let mut left = octets[..end.min(octets.len())].to_vec();
            left.resize(end, 0);
            fs::write(killed.join("0000000000.frames"), left).unwrap();
            let mut archive = FrameArchive::open(&killed, LIMITS).unwrap();
            archive.write(&[frame(9, 8)], now(2)).unwrap();
            let whole: &[u64] = match end {
                ..37 => &[9],
                37..58 => &[5, 9],
                _ => &[5, 6, 9],
            };
            assert_eq!(times(&killed, 0, 99), whole, "{end} octets");
        }
    }

    #[test]
    fn a_folder_of_something_else_is_refused_and_a_store_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("letters"), "dear").unwrap();
        let other = FrameArchive::open(folder.path(), LIMITS).unwrap_err().to_string();
        assert!(other.contains("is no frame store and not empty"), "{other}");
        check_store(folder.path()).unwrap_err();
        let path = folder.path().join("store");
        let held = FrameArchive::open(&path, LIMITS).unwrap();
        let second = FrameArchive::open(&path, LIMITS).unwrap_err().to_string();
        assert!(second.contains("another program"), "{second}");
        drop(held);
        FrameArchive::open(&path, LIMITS).unwrap();
    }
}
