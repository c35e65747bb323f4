//! Segments of a frame archive: their names, and the frames of a span of time in them.
//!
//! An archive is a folder. Each segment in it is a frame store of its own. Its name has its number and,
//! once no more is written to it, the earliest and the latest time of its frames, so that a reader opens
//! only the segments of the span that it wants. See `docs/formats/frame-store.md`.

use super::file::FileError;
use super::progress::ReadProgress;
use super::store::StoreReader;
use crate::frame::ReceivedFrame;
use crate::service::returns::OfflineRange;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// File that makes a folder an archive; its writer has it locked.
pub(super) const LOCK: &str = "frame-store.lock";
/// End of a segment's name.
const EXTENSION: &str = ".frames";

/// Name of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SegmentName {
    /// Its number, from 0; segments are read in this order.
    pub(super) number: u64,
    /// Earliest and latest time of its frames, UTC in nanoseconds since 1970; `None` while it is being
    /// written.
    pub(super) span_utc_ns: Option<(u64, u64)>,
}

impl SegmentName {
    /// The file's name.
    pub(super) fn text(&self) -> String {
        match self.span_utc_ns {
            None => format!("{:010}{EXTENSION}", self.number),
            Some((first, last)) => format!("{:010}-{first}-{last}{EXTENSION}", self.number),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(EXTENSION)?.split('-');
        let mut next = || parts.next().map(str::parse::<u64>);
        let number = next()?.ok()?;
        let span_utc_ns = match (next(), next()) {
            (None, None) => None,
            (Some(Ok(first)), Some(Ok(last))) => Some((first, last)),
            _ => return None,
        };
        parts.next().is_none().then_some(Self { number, span_utc_ns })
    }

    /// Whether there may be frames of this span in it.
    fn may_have(&self, range: OfflineRange) -> bool {
        self.span_utc_ns
            .is_none_or(|(first, last)| first <= range.stop_utc_ns && last >= range.start_utc_ns)
    }
}

/// The segments in a folder, in the order of their numbers. Other files are not looked at.
pub(super) fn segments(folder: &Path) -> io::Result<Vec<SegmentName>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        found.extend(entry?.file_name().to_str().and_then(SegmentName::parse));
    }
    found.sort_unstable();
    Ok(found)
}

/// Whether a folder is an archive.
pub(super) fn is_archive(folder: &Path) -> bool {
    folder.is_dir() && folder.join(LOCK).is_file()
}

/// A fault of a frame store.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct StoreFault {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub error: FileError,
}

/// Whether a path is a frame store: a file that begins as one, or the folder of an archive whose
/// segments do.
///
/// # Errors
/// [`StoreFault`]: it cannot be read, or is no store.
pub fn check_store(path: &Path) -> Result<(), StoreFault> {
    let fault = |path: &Path| {
        let path = path.to_owned();
        move |error| StoreFault { path, error }
    };
    if !path.is_dir() {
        return super::store::check_file(path).map_err(fault(path));
    }
    if !is_archive(path) {
        return Err(fault(path)(FileError::NoStore));
    }
    let read = |error| FileError::Read { position: 0, error };
    // The one that is being written may have no whole beginning yet.
    let is_sealed = |segment: &SegmentName| segment.span_utc_ns.is_some();
    for segment in
        segments(path).map_err(read).map_err(fault(path))?.iter().filter(|s| is_sealed(s))
    {
        let file = path.join(segment.text());
        match super::store::check_file(&file) {
            // Its writer has removed it since.
            Err(FileError::Read { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
            checked => checked.map_err(fault(&file))?,
        }
    }
    Ok(())
}

/// Reads the frames of a span of time from a frame store: a file, or the folder of an archive, also
/// while the archive is being written.
#[derive(Debug)]
pub struct StoredFrames {
    range: OfflineRange,
    /// Folder of the archive, and its segments that are to be read.
    folder: PathBuf,
    left: VecDeque<SegmentName>,
    open: Option<OpenedStore>,
}

#[derive(Debug)]
struct OpenedStore {
    path: PathBuf,
    reader: StoreReader<File>,
    /// It may end within a frame, because it is being written.
    is_growing: bool,
}

impl StoredFrames {
    /// Opens a store.
    ///
    /// # Errors
    /// [`StoreFault`] when it cannot be opened, or a folder is no archive.
    pub fn open(path: &Path, range: OfflineRange) -> Result<Self, StoreFault> {
        let fault = |error| StoreFault { path: path.to_owned(), error };
        let mut frames = Self { range, folder: path.to_owned(), left: VecDeque::new(), open: None };
        if !path.is_dir() {
            let reader = StoreReader::open(path, range).map_err(fault)?;
            frames.open = Some(OpenedStore { path: path.to_owned(), reader, is_growing: false });
            return Ok(frames);
        }
        if !is_archive(path) {
            return Err(fault(FileError::NoStore));
        }
        let all = segments(path).map_err(|error| fault(FileError::Read { position: 0, error }))?;
        frames.left = all.into_iter().filter(|segment| segment.may_have(range)).collect();
        Ok(frames)
    }

    /// Appends up to `max` frames of the span.
    ///
    /// # Errors
    /// [`StoreFault`], once for each file: the next read goes on behind it.
    pub fn read(
        &mut self,
        max: usize,
        out: &mut Vec<ReceivedFrame>,
    ) -> Result<ReadProgress, StoreFault> {
        if self.open.is_none() {
            let Some(segment) = self.left.pop_front() else { return Ok(ReadProgress::End) };
            self.open = self.open_segment(segment)?;
        }
        let Some(open) = &mut self.open else { return Ok(ReadProgress::More) };
        let error = match open.reader.read(max, out) {
            Ok(ReadProgress::End) => {
                self.open = None;
                return Ok(self.progress());
            }
            Ok(progress) => return Ok(progress),
            Err(FileError::Cut { .. } | FileError::NoStore) if open.is_growing => {
                self.open = None;
                return Ok(self.progress());
            }
            Err(error) => error,
        };
        let path = std::mem::take(&mut open.path);
        self.open = None;
        Err(StoreFault { path, error })
    }

    fn progress(&self) -> ReadProgress {
        if self.left.is_empty() { ReadProgress::End } else { ReadProgress::More }
    }

    /// Opens a segment; `None` where its writer has removed it because of the archive's limits.
    fn open_segment(&self, segment: SegmentName) -> Result<Option<OpenedStore>, StoreFault> {
        let open = |segment: &SegmentName| {
            let path = self.folder.join(segment.text());
            let is_growing = segment.span_utc_ns.is_none();
            let reader = StoreReader::open(&path, self.range);
            reader
                .map(|reader| OpenedStore { path: path.clone(), reader, is_growing })
                .map_err(|error| StoreFault { path, error })
        };
        let is_missing = |fault: &StoreFault| {
            matches!(&fault.error, FileError::Read { error, .. }
                if error.kind() == io::ErrorKind::NotFound)
        };
        match open(&segment) {
            Err(fault) if is_missing(&fault) => {}
            opened => return opened.map(Some),
        }
        // It was being written when the segments were listed, and has its span in its name since.
        let now = segments(&self.folder).unwrap_or_default();
        let renamed = now.iter().find(|one| one.number == segment.number);
        match renamed.map(open) {
            None => Ok(None),
            Some(Err(fault)) if is_missing(&fault) => Ok(None),
            Some(opened) => opened.map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_number_and_span() {
        for name in [
            SegmentName { number: 7, span_utc_ns: None },
            SegmentName { number: 12, span_utc_ns: Some((5, 1_795_334_400_000_000_000)) },
        ] {
            assert_eq!(SegmentName::parse(&name.text()), Some(name));
        }
        assert_eq!(SegmentName { number: 7, span_utc_ns: None }.text(), "0000000007.frames");
        for other in ["a.frames", "1-2.frames", "1-2-3-4.frames", "1.frame", "-1.frames"] {
            assert_eq!(SegmentName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_span_is_looked_for_where_it_may_be() {
        let name = SegmentName { number: 1, span_utc_ns: Some((10, 20)) };
        let has =
            |start_utc_ns, stop_utc_ns| name.may_have(OfflineRange { start_utc_ns, stop_utc_ns });
        assert!(has(20, 30) && has(0, 10) && has(12, 13));
        assert!(!has(21, 30) && !has(0, 9));
    }
}
