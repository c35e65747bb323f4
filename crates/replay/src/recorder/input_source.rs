//! Inputs that do not come over the network: standard input, a pipe, a file that grows.

use super::log::{Log, LogEntry};
use crate::journal::Input;
use chronoscope_clock as clock;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Octets of one read, and so of one input.
const PIECE_BYTES: usize = 1 << 16;
/// Interval between two looks at a file.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Reasons why a source cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The source cannot be read.
    #[error("read {name}: {source}")]
    Read {
        /// Name of the source.
        name: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The inputs cannot be passed on.
    #[error("pass on the input of {name}: {source}")]
    Write {
        /// Name of the source.
        name: String,
        /// Error of the system.
        source: io::Error,
    },
}

/// A source of inputs that do not come over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// Standard input, passed on to standard output.
    Standard,
    /// A named pipe, passed on to another.
    Pipe {
        /// Path that is read.
        from: PathBuf,
        /// Path that is written.
        to: PathBuf,
    },
    /// A file that others append to. Its content at the beginning is not recorded. When it is
    /// replaced by another of its name, or cut, reading continues at the beginning of the new
    /// content.
    Growing(PathBuf),
}

/// Counts of an input source, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounts {
    /// Pieces as they were read.
    pub input_count: u64,
    /// Octets of the inputs.
    pub bytes: u64,
    /// Number of times that a file was replaced or cut.
    pub restart_count: u64,
}

impl InputSource {
    /// The channel's name in the journal.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Standard => "stdin".to_owned(),
            Self::Pipe { from, .. } => from.display().to_string(),
            Self::Growing(path) => path.display().to_string(),
        }
    }

    /// Records until the source ends, or `stop` is set (which only a growing file checks while it
    /// is silent), and reports its counts to `each`.
    ///
    /// # Errors
    /// [`SourceError`].
    pub fn run(
        &self,
        log: &Log,
        stop: &AtomicBool,
        mut each: impl FnMut(SourceCounts),
    ) -> Result<(), SourceError> {
        let mut channel = Channel { name: self.name(), log, read: SourceCounts::default() };
        match self {
            Self::Standard => {
                let (input, mut output) = (io::stdin().lock(), io::stdout().lock());
                channel.pass(input, &mut output, stop, &mut each)
            }
            Self::Pipe { from, to } => {
                let fail = |source| SourceError::Write { name: to.display().to_string(), source };
                // Each waits for its other end, and again when a writer went and another comes.
                let mut output = File::options().write(true).open(to).map_err(fail)?;
                while !stop.load(Ordering::Relaxed) {
                    let input = File::open(from).map_err(|source| channel.unread(source))?;
                    channel.pass(input, &mut output, stop, &mut each)?;
                }
                Ok(())
            }
            Self::Growing(path) => channel.follow(path, stop, &mut each),
        }
    }
}

struct Channel<'a> {
    name: String,
    log: &'a Log,
    read: SourceCounts,
}

impl Channel<'_> {
    fn unread(&self, source: io::Error) -> SourceError {
        SourceError::Read { name: self.name.clone(), source }
    }

    fn record(&mut self, octets: &[u8]) {
        self.read.input_count += 1;
        self.read.bytes += octets.len() as u64;
        let (channel, octets) = (self.name.clone(), octets.to_vec());
        self.log.push(LogEntry::Input(Input { at_ns: clock::utc_now_ns(), channel, octets }));
    }

    /// Reads until the end of the input.
    fn pass(
        &mut self,
        mut input: impl io::Read,
        output: &mut impl Write,
        stop: &AtomicBool,
        each: &mut impl FnMut(SourceCounts),
    ) -> Result<(), SourceError> {
        let mut piece = vec![0; PIECE_BYTES];
        while !stop.load(Ordering::Relaxed) {
            let length = match input.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(source) => return Err(self.unread(source)),
            };
            self.record(&piece[..length]);
            let passed = output.write_all(&piece[..length]).and_then(|()| output.flush());
            passed.map_err(|source| SourceError::Write { name: self.name.clone(), source })?;
            each(self.read);
        }
        Ok(())
    }

    fn follow(
        &mut self,
        path: &Path,
        stop: &AtomicBool,
        each: &mut impl FnMut(SourceCounts),
    ) -> Result<(), SourceError> {
        let mut file = File::open(path).map_err(|source| self.unread(source))?;
        let mut position = file.seek(SeekFrom::End(0)).map_err(|source| self.unread(source))?;
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            // Checked before reading: data written in between are read at the next look.
            let ends = stop.load(Ordering::Relaxed);
            let now = metadata(path).map_err(|source| self.unread(source))?;
            let length = file.read(&mut piece).map_err(|source| self.unread(source))?;
            if length > 0 {
                position += length as u64;
                self.record(&piece[..length]);
                each(self.read);
                continue;
            }
            let own = file.metadata().map_err(|source| self.unread(source))?;
            match now {
                // The last of the old file was read; a name that is gone may come again.
                Some(now) if (now.dev(), now.ino()) != (own.dev(), own.ino()) => {
                    file = File::open(path).map_err(|source| self.unread(source))?;
                    position = 0;
                    self.read.restart_count += 1;
                    continue;
                }
                _ if own.len() < position => {
                    position = file.seek(SeekFrom::Start(0)).map_err(|e| self.unread(e))?;
                    self.read.restart_count += 1;
                    continue;
                }
                _ => {}
            }
            if ends {
                return Ok(());
            }
            each(self.read);
            clock::sleep(LOOK_EVERY);
        }
    }
}

/// Metadata of the file of that name, if there is one now.
fn metadata(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
