//! Writing: append, sync, go on to the next file, forget old ones.

use super::frame::{BODY_BYTES_MAX, FRAME_HEAD_BYTES, Input, KIND_CHANNEL, KIND_INPUT, MAGIC};
use chronoscope_clock as clock;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Times of syncing, of changing the file and of removing files.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A file is closed when it has this many octets.
    pub file_bytes_max: u64,
    /// Start a new file when the first input of the current one is this old, by the inputs' own
    /// times.
    pub file_age_max: Duration,
    /// Old files beyond this many are removed, the current one not counted.
    pub files_max: usize,
    /// Written inputs are synced to disk at this age, and when a file is closed.
    pub sync_every: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes_max: 256 << 20,
            file_age_max: Duration::from_hours(1),
            files_max: 24 * 31,
            sync_every: Duration::from_secs(1),
        }
    }
}

/// Appends to a journal in a folder.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    limits: Limits,
    current: Option<Current>,
    /// Number of files begun.
    pub file_count: u64,
    /// Files removed because there were too many.
    pub removed_count: u64,
}

#[derive(Debug)]
struct Current {
    file: File,
    bytes: u64,
    first_ns: i64,
    channels: BTreeMap<String, u16>,
    /// Real time of the oldest frame not synced.
    unsynced_since_ns: Option<u64>,
}

impl Writer {
    /// A journal in a folder, which is made if need be. Files that are there stay as they are: it
    /// begins a new one.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new(folder: &Path, limits: Limits) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (file_count, removed_count) = (0, 0);
        Ok(Self { folder: folder.to_owned(), limits, current: None, file_count, removed_count })
    }

    /// Appends an input. Durable when [`Writer::sync`] returned, or `sync_every` later at the next
    /// append.
    ///
    /// # Errors
    /// When it cannot be written or is longer than [`BODY_BYTES_MAX`] allows.
    pub fn append(&mut self, input: &Input) -> io::Result<()> {
        let mut body = vec![KIND_INPUT];
        body.extend(input.at_ns.to_le_bytes());
        let size = 11 + input.octets.len();
        if size > BODY_BYTES_MAX || input.channel.len() > usize::from(u16::MAX) {
            return Err(io::Error::other(format!(
                "input of {size} octets is too long for a journal"
            )));
        }
        if self.current.as_ref().is_some_and(|current| self.is_full(current, input.at_ns)) {
            self.close()?;
        }
        let mut current = match self.current.take() {
            Some(current) => current,
            None => self.open(input.at_ns)?,
        };
        let mut frames = Vec::new();
        let channel = current.channel(&input.channel, &mut frames)?;
        body.extend(channel.to_le_bytes());
        body.extend(&input.octets);
        frame(&body, &mut frames);
        // One write, because then a kill leaves at most one torn frame. After a failed write the
        // file is given up, and the next append begins another.
        current.file.write_all(&frames)?;
        current.bytes += frames.len() as u64;
        let now_ns = clock::monotonic_ns();
        let since_ns = *current.unsynced_since_ns.get_or_insert(now_ns);
        let old = u128::from(now_ns.saturating_sub(since_ns)) >= self.limits.sync_every.as_nanos();
        self.current = Some(current);
        if old { self.sync() } else { Ok(()) }
    }

    /// Makes everything appended durable.
    ///
    /// # Errors
    /// Error of the disk.
    pub fn sync(&mut self) -> io::Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current.file.sync_data()?;
        current.unsynced_since_ns = None;
        Ok(())
    }

    /// Syncs and closes the current file; the next input begins another.
    ///
    /// # Errors
    /// Error of the disk.
    pub fn close(&mut self) -> io::Result<()> {
        self.sync()?;
        self.current = None;
        Ok(())
    }

    fn is_full(&self, current: &Current, at_ns: i64) -> bool {
        let age_ns = u128::from(at_ns.saturating_sub(current.first_ns).max(0).cast_unsigned());
        current.bytes >= self.limits.file_bytes_max || age_ns >= self.limits.file_age_max.as_nanos()
    }

    fn open(&mut self, first_ns: i64) -> io::Result<Current> {
        let old = super::files(&self.folder)?;
        let after =
            old.last().and_then(|last| number(last)).map_or(0, |last| last.saturating_add(1));
        let path = self.folder.join(format!("{after:010}.journal"));
        let mut file = File::options().append(true).create_new(true).open(path)?;
        file.write_all(&MAGIC)?;
        File::open(&self.folder)?.sync_all()?;
        self.file_count += 1;
        let excess = old.len().saturating_sub(self.limits.files_max);
        for path in &old[..excess] {
            std::fs::remove_file(path)?;
            self.removed_count += 1;
        }
        let (bytes, channels) = (MAGIC.len() as u64, BTreeMap::new());
        Ok(Current { file, bytes, first_ns, channels, unsynced_since_ns: None })
    }
}

fn number(path: &Path) -> Option<u64> {
    path.file_stem()?.to_str()?.parse().ok()
}

impl Current {
    /// Number of the channel in this file; at its first use the frame that declares it is written.
    fn channel(&mut self, name: &str, frames: &mut Vec<u8>) -> io::Result<u16> {
        if let Some(number) = self.channels.get(name) {
            return Ok(*number);
        }
        let number = u16::try_from(self.channels.len())
            .map_err(|_| io::Error::other("a journal's file has more than 65,536 channels"))?;
        self.channels.insert(name.to_owned(), number);
        let mut body = vec![KIND_CHANNEL];
        body.extend(number.to_le_bytes());
        body.extend(name.as_bytes());
        frame(&body, frames);
        Ok(number)
    }
}

fn frame(body: &[u8], frames: &mut Vec<u8>) {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    frames.reserve(FRAME_HEAD_BYTES + body.len());
    frames.extend(length.to_le_bytes());
    frames.extend(crc32fast::hash(body).to_le_bytes());
    frames.extend(body);
}
