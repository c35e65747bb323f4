//! Journal: a file of all input of a worker, for an exact replay.
//!
//! With one worker the output depends on configuration, seed, the order of input, the instants
//! given with it, and the kernel's answers to writes. The journal has all of these: a frame for
//! each call of [`Worker::input`](super::Worker::input), [`Worker::tick`](super::Worker::tick) and
//! [`Worker::mail`](super::Worker::mail),
//! followed by frames for the answers that [`Output`] gave meanwhile. Each event also has the digest
//! of all output before it: [`replay`] finds the first event after which a program behaves
//! differently from the recorded one.
//!
//! Layout, all numbers little-endian: the eight octets `APRSJRN` and the version, 1; a frame with
//! the [`Header`]; frames until the end. A frame is the length of its body (4 octets, in
//! [1, 1,048,576]), the CRC-32 of the body (4 octets), and the body, which begins with its kind. A
//! journal that ends within a frame is of a program that was killed; what is before it counts.
//!
//! Not in it: a change of the configuration during the recording, and what an earlier program left
//! (a live upgrade); a recording begins with an empty server. Recording with more than one worker
//! is refused, because no file has the order in which they took the router's lock.

mod frame;
mod hook;
mod print;
mod replay;
#[cfg(test)]
mod tests;

pub use frame::{Header, JournalError};
pub use print::print;
pub use replay::{Action, Difference, Replayed, replay};

use super::seam::{Close, ConnId, DatagramPort, LogLevel, Now, Output};
use super::server::Server;
use frame::{Body, What};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, IoSlice, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// First octets of a journal: format and version.
const MAGIC: [u8; 8] = *b"APRSJRN\x01";
/// Longest body of a frame, in octets: input is read in smaller pieces.
const BODY_LEN_MAX: usize = 1 << 20;
/// Longest time for which written frames wait in memory, in nanoseconds.
const FLUSH_NS: u64 = 1_000_000_000;

/// A digest of all that was put out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Octets that connections and datagrams took.
    pub octets: u64,
    /// CRC-32 over the octets sent and their receivers, in order, and over connections closed.
    pub crc: u32,
}

/// A journal that is being written. Clones write into the same one.
#[derive(Clone)]
pub struct Journal {
    shared: Arc<Mutex<Writer>>,
}

struct Writer {
    file: BufWriter<Box<dyn Write + Send>>,
    body: Body,
    digest: Digest,
    /// An event is under way: what comes now is part of it.
    busy: bool,
    flushed_ns: u64,
    /// Error after which nothing is written any longer.
    failed: Option<io::Error>,
    failure_told: bool,
}

impl Journal {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        Self::new(Box::new(File::create(path)?), header)
    }

    /// Records all that comes into `server`, whose worker has not been made yet. `started` is the
    /// instant that the server was made with.
    ///
    /// # Errors
    /// When the file cannot be written, or the server has more workers than one.
    pub fn of(server: &Server, path: &Path, started: Now) -> Result<Self, JournalError> {
        if server.workers() != 1 {
            return Err(JournalError::Workers(server.workers()));
        }
        let header = Header {
            seed: server.seed,
            started,
            config_crc: Header::config_crc(&server.config()),
            software: server.identity.software.as_ref().to_owned(),
            version: server.identity.version.as_ref().to_owned(),
        };
        let journal = Self::create(path, &header)?;
        server.record_to(journal.clone());
        Ok(journal)
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

    fn with<T>(&self, write: impl FnOnce(&mut Writer) -> T) -> T {
        write(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Journal")
    }
}

impl Writer {
    fn event(&mut self, now: Now, what: &What<'_>) {
        self.body.event(now, self.digest.sent(), what);
        self.write();
    }

    fn write(&mut self) {
        if self.failed.is_some() {
            return;
        }
        self.failed = self.body.write_to(&mut self.file).err();
    }

    fn flush(&mut self, now: Now) {
        self.flushed_ns = now.monotonic_ns;
        if self.failed.is_none() {
            self.failed = self.file.flush().err();
        }
    }
}

/// Follows the output.
#[derive(Clone, Debug, Default)]
struct Digest {
    octets: u64,
    crc: crc32fast::Hasher,
}

impl Digest {
    fn sent(&self) -> Sent {
        Sent { octets: self.octets, crc: self.crc.clone().finalize() }
    }

    fn wrote(&mut self, conn: ConnId, slices: &[IoSlice<'_>], taken: usize) {
        self.crc.update(&conn.0.to_le_bytes());
        self.crc.update(&(taken as u64).to_le_bytes());
        let mut left = taken;
        for slice in slices {
            let part = &slice[..slice.len().min(left)];
            self.crc.update(part);
            left -= part.len();
        }
        self.octets += taken as u64;
    }

    fn sent_datagram(&mut self, port: DatagramPort, to: SocketAddr, bytes: &[u8]) {
        let (kind, index) = match port {
            DatagramPort::Listener(index) => (1, index),
            DatagramPort::PeerGroup(index) => (2, index),
        };
        self.crc.update(&[kind]);
        self.crc.update(&(index as u64).to_le_bytes());
        self.crc.update(to.to_string().as_bytes());
        self.crc.update(bytes);
        self.octets += bytes.len() as u64;
    }

    fn closed(&mut self, conn: ConnId, how: Close, reason: &str) {
        self.crc.update(&conn.0.to_le_bytes());
        self.crc.update(&[u8::from(how == Close::Reset)]);
        self.crc.update(reason.as_bytes());
    }
}

/// An output whose answers are recorded.
struct Recorded<'a> {
    out: &'a mut dyn Output,
    journal: &'a Journal,
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
