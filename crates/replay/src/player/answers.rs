//! Replies to the player, in files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// Streams of an input that have a file of their own; those after share one.
const FILES_MAX: u64 = 1000;
/// Octets that wait to be written, of one file.
const BUFFER_BYTES: usize = 64 << 10;

/// A folder with `INPUT` (datagrams, as received), `INPUT.1`, `INPUT.2` … (streams, in the order in
/// which they were opened) and `INPUT.rest` (streams beyond the thousandth).
#[derive(Debug, Default)]
pub struct Answers {
    folder: Option<PathBuf>,
    waiting: BTreeMap<String, Vec<u8>>,
}

impl Answers {
    /// In a folder that exists.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder: Some(folder), waiting: BTreeMap::new() }
    }

    /// Name of a stream's file, by its number of its input, from 1.
    pub(super) fn name(input: &str, number: u64) -> String {
        if number <= FILES_MAX { format!("{input}.{number}") } else { format!("{input}.rest") }
    }

    /// Octets for the file of a stream, or of an input's datagrams.
    pub(super) fn add(&mut self, name: &str, octets: &[u8]) -> io::Result<()> {
        if self.folder.is_none() {
            return Ok(());
        }
        if !self.waiting.contains_key(name) {
            self.waiting.insert(name.to_owned(), Vec::new());
        }
        let full = self.waiting.get_mut(name).is_some_and(|waiting| {
            waiting.extend(octets);
            waiting.len() >= BUFFER_BYTES
        });
        if full { self.flush(name) } else { Ok(()) }
    }

    /// Writes what waits for a file, and forgets it.
    pub(super) fn flush(&mut self, name: &str) -> io::Result<()> {
        let (Some(folder), Some(octets)) = (&self.folder, self.waiting.remove(name)) else {
            return Ok(());
        };
        let path = folder.join(name);
        let file = File::options().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(&octets));
        written.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        let names: Vec<_> = self.waiting.keys().cloned().collect();
        names.iter().try_for_each(|name| self.flush(name))
    }
}
