//! Reading: every whole frame, then how the file ends.

use super::frame::{BODY_BYTES_MAX, FRAME_HEAD_BYTES, Input, KIND_CHANNEL, KIND_INPUT, MAGIC};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// End of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// After a whole frame.
    Whole,
    /// Within a frame that was being written when the writer died: cut here.
    Torn {
        /// Begin of that frame.
        position: u64,
        /// Octets of it.
        octets: u64,
    },
}

/// A file and how it ends.
pub type TornFile = (PathBuf, Tail);

/// Reasons why a journal is refused.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file is not a journal.
    #[error("not a journal: the file begins with {0:?}")]
    Magic(Vec<u8>),
    /// Written by a later version.
    #[error("the journal has version {0}, this program reads version 1")]
    Version(u8),
    /// A frame that cannot be: its checksum is wrong and more follows, or its body is malformed.
    #[error("journal's frame at octet {position}: {what}")]
    Frame {
        /// Begin of the frame.
        position: u64,
        /// Description of the error.
        what: &'static str,
    },
    /// The file cannot be read.
    #[error("journal: {0}")]
    Io(#[from] io::Error),
}

/// Inputs of one file, in order. Ends after the first error; then, or at the end, `tail` is set.
#[derive(Debug)]
pub struct JournalReader<R> {
    input: R,
    position: u64,
    channels: BTreeMap<u16, String>,
    over: bool,
    /// End of the file, once it is known.
    pub tail: Option<Tail>,
    /// Frames of kinds that this version does not know.
    pub skipped_count: u64,
}

impl JournalReader<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`JournalError`] when it is not a journal, or one of a future version.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Self::new(BufReader::new(File::open(path)?))
    }
}

impl<R: Read> JournalReader<R> {
    /// Reads from `input`.
    ///
    /// # Errors
    /// [`JournalError`] when it is not a journal, or one of a future version.
    pub fn new(mut input: R) -> Result<Self, JournalError> {
        let mut head = Vec::new();
        (&mut input).take(MAGIC.len() as u64).read_to_end(&mut head)?;
        let torn = MAGIC.starts_with(&head) && head.len() < MAGIC.len();
        // Fewer octets than seven can only be compared with the beginning of the magic.
        if !torn && (head.len() < MAGIC.len() || head[..7] != MAGIC[..7]) {
            return Err(JournalError::Magic(head));
        }
        if !torn && head[7] != MAGIC[7] {
            return Err(JournalError::Version(head[7]));
        }
        let octets = head.len() as u64;
        Ok(Self {
            input,
            position: octets,
            channels: BTreeMap::new(),
            over: torn,
            tail: torn.then_some(Tail::Torn { position: 0, octets }),
            skipped_count: 0,
        })
    }

    fn fill(&mut self, wanted: usize) -> io::Result<Vec<u8>> {
        let mut octets = Vec::new();
        (&mut self.input).take(wanted as u64).read_to_end(&mut octets)?;
        Ok(octets)
    }

    /// A frame's body and where it begins; `None` at the end, whole or torn.
    fn frame(&mut self) -> Result<Option<(u64, Vec<u8>)>, JournalError> {
        let position = self.position;
        let wrong = |what| JournalError::Frame { position, what };
        let head = self.fill(FRAME_HEAD_BYTES)?;
        if head.len() < FRAME_HEAD_BYTES {
            let octets = head.len() as u64;
            self.tail =
                Some(if octets == 0 { Tail::Whole } else { Tail::Torn { position, octets } });
            return Ok(None);
        }
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, checksum) = (number(0) as usize, number(4));
        if length > BODY_BYTES_MAX || length == 0 {
            // A crash of the machine may leave zeros where the file had grown.
            let rest = self.fill(BODY_BYTES_MAX)?;
            if head.iter().chain(&rest).all(|octet| *octet == 0) {
                let octets = (head.len() + rest.len()) as u64;
                self.tail = Some(Tail::Torn { position, octets });
                return Ok(None);
            }
            return Err(wrong("impossible length"));
        }
        let body = self.fill(length)?;
        let octets = (FRAME_HEAD_BYTES + body.len()) as u64;
        self.position += octets;
        if body.len() == length && crc32fast::hash(&body) == checksum {
            return Ok(Some((position, body)));
        }
        if body.len() == length && !self.fill(1)?.is_empty() {
            return Err(wrong("checksum is wrong and more follows"));
        }
        self.tail = Some(Tail::Torn { position, octets });
        Ok(None)
    }

    fn read(&mut self) -> Result<Option<Input>, JournalError> {
        while let Some((position, body)) = self.frame()? {
            let wrong = |what| JournalError::Frame { position, what };
            let number = |at: usize| u16::from_le_bytes([body[at], body[at + 1]]);
            match body[0] {
                KIND_CHANNEL if body.len() < 3 => return Err(wrong("channel without a number")),
                KIND_CHANNEL => {
                    let name =
                        std::str::from_utf8(&body[3..]).map_err(|_| wrong("name is no UTF-8"))?;
                    self.channels.insert(number(1), name.to_owned());
                }
                KIND_INPUT if body.len() < 11 => {
                    return Err(wrong("input without time or channel"));
                }
                KIND_INPUT => {
                    let mut time = [0; 8];
                    time.copy_from_slice(&body[1..9]);
                    let channel =
                        self.channels.get(&number(9)).ok_or(wrong("channel was not named"))?;
                    let at_ns = i64::from_le_bytes(time);
                    let octets = body[11..].to_vec();
                    return Ok(Some(Input { at_ns, channel: channel.clone(), octets }));
                }
                _ => self.skipped_count += 1,
            }
        }
        Ok(None)
    }
}

impl<R: Read> Iterator for JournalReader<R> {
    type Item = Result<Input, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.read().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Files of a journal, the oldest first.
///
/// # Errors
/// When the folder cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|suffix| suffix == "journal")).collect();
    files.sort();
    Ok(files)
}

/// All inputs of a journal's files, and those that have a torn tail. For journals that fit into
/// memory; others are read file by file.
///
/// # Errors
/// [`JournalError`] of the first file that is refused.
pub fn read_all(folder: &Path) -> Result<(Vec<Input>, Vec<TornFile>), JournalError> {
    let (mut inputs, mut torn) = (Vec::new(), Vec::new());
    for path in files(folder)? {
        let mut reader = JournalReader::open(&path)?;
        for input in &mut reader {
            inputs.push(input?);
        }
        if let Some(tail @ Tail::Torn { .. }) = reader.tail {
            torn.push((path, tail));
        }
    }
    Ok((inputs, torn))
}
