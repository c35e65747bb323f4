//! The page from which processes read time (`docs/formats/virtual-clock.md`).
//!
//! Written through the file: the kernel shows the same memory to those who map it.

use crate::schedule::Ordinal;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Processes that can take part in one replay.
pub const SLOTS: usize = 1024;
const HEAD_BYTES: u64 = 4096;
const SLOT_BYTES: u64 = 64;

/// What a process counted in its slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Reads of the clock.
    pub clock_reads: u64,
    /// System calls that the library looked at.
    pub calls: u64,
    /// Waits of its threads.
    pub waits: u64,
    /// Threads that it ever had.
    pub threads: u64,
}

/// The coordinator's side of the page.
#[derive(Debug)]
pub struct Page(File);

impl Page {
    /// A new page in a file that must not be there.
    ///
    /// # Errors
    /// When the file is there or cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create_new(true).open(path)?;
        file.set_len(HEAD_BYTES + SLOT_BYTES * SLOTS as u64)?;
        let mut head = b"CHRONTIM".to_vec();
        head.extend(u32::from(crate::wire::VERSION).to_le_bytes());
        head.extend(1024u32.to_le_bytes());
        file.write_all_at(&head, 0)?;
        Ok(Self(file))
    }

    /// Sets the time; only while no process runs.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set(&self, utc_ns: i64, monotonic_ns: i64) -> io::Result<()> {
        let mut octets = [0; 16];
        octets[..8].copy_from_slice(&utc_ns.to_le_bytes());
        octets[8..].copy_from_slice(&monotonic_ns.to_le_bytes());
        self.0.write_all_at(&octets, 16)
    }

    /// What a process has counted so far.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn activity(&self, who: Ordinal) -> io::Result<Activity> {
        let mut octets = [0; 32];
        self.0.read_exact_at(&mut octets, HEAD_BYTES + SLOT_BYTES * who as u64)?;
        let mut numbers =
            octets.chunks_exact(8).map(|o| o.iter().rev().fold(0, |n, o| n << 8 | u64::from(*o)));
        let mut next = || numbers.next().unwrap_or_default();
        Ok(Activity { clock_reads: next(), calls: next(), waits: next(), threads: next() })
    }
}
