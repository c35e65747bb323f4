//! Writes a journal: events, and the answers of the output.

use super::digest::{Digest, Sent};
use super::frame::{Body, Header, MAGIC, What};
use crate::engine::seam::{Close, ConnId, DatagramPort, LogLevel, Now, Output};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, IoSlice, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A journal that is being written. Clones write into the same one.
#[derive(Clone)]
pub struct Journal {
    shared: Arc<Mutex<Writer>>,
}

pub(super) struct Writer {
    file: BufWriter<Box<dyn Write + Send>>,
    body: Body,
    digest: Digest,
    /// An event is under way: what comes now is part of it.
    pub(super) busy: bool,
    pub(super) flushed_ns: u64,
    /// Error after which nothing is written any longer.
    pub(super) failed: Option<io::Error>,
    pub(super) failure_told: bool,
}

impl Journal {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        Self::new(Box::new(File::create(path)?), header)
    }

    /// Writes into something else.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn new(file: Box<dyn Write + Send>, header: &Header) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        let mut body = Body::default();
        body.header(header);
        file.write_all(&MAGIC)?;
        body.write_to(&mut file)?;
        file.flush()?;
        let writer = Writer {
            file,
            body,
            digest: Digest::default(),
            busy: false,
            flushed_ns: 0,
            failed: None,
            failure_told: false,
        };
        Ok(Self { shared: Arc::new(Mutex::new(writer)) })
    }

    /// Writes the end, with the digest of all output. What comes later is not recorded.
    ///
    /// # Errors
    /// When the file could not be written, now or earlier.
    pub fn finish(&self, now: Now) -> io::Result<Sent> {
        self.with(|writer| {
            writer.event(now, &What::End);
            writer.flush(now);
            let sent = writer.digest.sent();
            let failed = writer.failed.replace(io::Error::other("the recording was finished"));
            writer.failure_told = true;
            failed.map_or(Ok(sent), Err)
        })
    }

    pub(super) fn with<T>(&self, write: impl FnOnce(&mut Writer) -> T) -> T {
        write(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Journal")
    }
}

impl Writer {
    pub(super) fn event(&mut self, now: Now, what: &What<'_>) {
        self.body.event(now, self.digest.sent(), what);
        self.write();
    }

    fn write(&mut self) {
        if self.failed.is_some() {
            return;
        }
        self.failed = self.body.write_to(&mut self.file).err();
    }

    pub(super) fn flush(&mut self, now: Now) {
        self.flushed_ns = now.monotonic_ns;
        if self.failed.is_none() {
            self.failed = self.file.flush().err();
        }
    }
}

/// An output whose answers are recorded.
pub(super) struct Recorded<'a> {
    pub(super) out: &'a mut dyn Output,
    pub(super) journal: &'a Journal,
}

impl Output for Recorded<'_> {
    fn write(&mut self, conn: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let answer = self.out.write(conn, slices);
        let offered = slices.iter().map(|slice| slice.len()).sum();
        self.journal.with(|writer| {
            let taken = answer.as_ref().ok().copied();
            writer.digest.wrote(conn, slices, taken.unwrap_or(0));
            writer.body.wrote(conn, offered, taken);
            writer.write();
        });
        answer
    }

    fn unacknowledged(&mut self, conn: ConnId) -> usize {
        let octets = self.out.unacknowledged(conn);
        self.journal.with(|writer| {
            writer.body.unacknowledged(conn, octets);
            writer.write();
        });
        octets
    }

    fn send(&mut self, port: DatagramPort, to: SocketAddr, bytes: &[u8]) {
        self.journal.with(|writer| writer.digest.sent_datagram(port, to, bytes));
        self.out.send(port, to, bytes);
    }

    fn close(&mut self, conn: ConnId, how: Close, reason: &str) {
        self.journal.with(|writer| writer.digest.closed(conn, how, reason));
        self.out.close(conn, how, reason);
    }

    fn log(&mut self, level: LogLevel, line: fmt::Arguments<'_>) {
        self.out.log(level, line);
    }
}
