//! A connection over which one thing is done until a deadline, by either side.

use super::frame::{self, FrameError, PREFIX};
use chronoscope_clock as clock;
use socket2::SockRef;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Octets of bulk data that are sent and taken at a time.
pub(super) const CHUNK: usize = 128 << 10;

/// Blocking, with two limits: a deadline for all, and how long nothing may move.
#[derive(Debug)]
pub(super) struct Wire {
    stream: TcpStream,
    until_ns: u64,
    stall: Duration,
    /// Timeout of the socket as last set, and the time of setting it.
    set: Option<(Duration, u64)>,
}

/// Longest time for which nothing may move while bulk data is on its way.
pub(super) const STALL: Duration = Duration::from_secs(3);
/// Tolerance of the socket's timeout: setting it costs two system calls.
const SLACK: Duration = Duration::from_millis(50);
/// Octets that may wait in a socket without having been sent: with more, the end of a transfer over
/// a slow link would be long in coming.
const UNSENT_MAX: u32 = 256 << 10;

impl Wire {
    pub(super) fn new(stream: TcpStream, within: Duration) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        let unsent = SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_MAX);
        // Without it, it only takes longer.
        drop(unsent);
        let mut wire = Self { stream, until_ns: 0, stall: within, set: None };
        wire.within(within, within);
        Ok(wire)
    }

    /// Another deadline, so much later than now; nothing may move for at most `stall`.
    pub(super) fn within(&mut self, within: Duration, stall: Duration) {
        let ns = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX);
        self.until_ns = clock::monotonic_ns().saturating_add(ns);
        self.stall = stall;
        self.set = None;
    }

    fn wait(&mut self) -> io::Result<()> {
        let now_ns = clock::monotonic_ns();
        let left_ns = self.until_ns.checked_sub(now_ns).filter(|left| *left > 0);
        let left = Duration::from_nanos(left_ns.ok_or(ErrorKind::TimedOut)?.max(1000));
        let is_right = self.set.is_some_and(|(wait, at_ns)| {
            Duration::from_nanos(now_ns - at_ns) <= SLACK && wait <= left + SLACK
        });
        if !is_right {
            let wait = left.min(self.stall);
            self.stream.set_read_timeout(Some(wait))?;
            self.stream.set_write_timeout(Some(wait))?;
            self.set = Some((wait, now_ns));
        }
        Ok(())
    }

    pub(super) fn write_all(&mut self, mut octets: &[u8]) -> io::Result<()> {
        while !octets.is_empty() {
            self.wait()?;
            match self.stream.write(octets) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => octets = &octets[count..],
                Err(error) => is_to_be_tried_again(error)?,
            }
        }
        Ok(())
    }

    pub(super) fn read_exact(&mut self, mut octets: &mut [u8]) -> io::Result<()> {
        while !octets.is_empty() {
            self.wait()?;
            match self.stream.read(octets) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => octets = &mut octets[count..],
                Err(error) => is_to_be_tried_again(error)?,
            }
        }
        Ok(())
    }

    /// Reads one frame, without its length.
    pub(super) fn read_frame(&mut self) -> io::Result<Vec<u8>> {
        let mut prefix = [0; PREFIX];
        self.read_exact(&mut prefix)?;
        let mut octets = vec![0; frame::length(prefix).map_err(invalid)?];
        self.read_exact(&mut octets)?;
        Ok(octets)
    }

    /// Sends a piece of `octets` octets of bulk data, at most one [`CHUNK`]; 0 marks the end.
    pub(super) fn write_chunk(&mut self, chunk: &mut [u8], octets: usize) -> io::Result<()> {
        chunk[..PREFIX].copy_from_slice(&frame::prefix(octets));
        self.write_all(&chunk[..PREFIX + octets])
    }

    /// Takes a piece of bulk data; how long it was, 0 at the end.
    pub(super) fn read_chunk(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        let mut prefix = [0; PREFIX];
        self.read_exact(&mut prefix)?;
        let octets = usize::try_from(u32::from_be_bytes(prefix)).unwrap_or(usize::MAX);
        let room = chunk.get_mut(..octets).filter(|_| octets <= CHUNK);
        let room = room.ok_or_else(|| {
            invalid(format!("bulk data in pieces of {octets} octets: at most {CHUNK} expected"))
        })?;
        self.read_exact(room)?;
        Ok(octets)
    }
}

/// Room for a piece of bulk data with its length.
pub(super) fn chunk() -> Vec<u8> {
    vec![0x5a; PREFIX + CHUNK]
}

pub(super) fn invalid(why: impl ToString) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.to_string())
}

fn is_to_be_tried_again(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(()),
        // A socket reports an expired timeout in this way.
        ErrorKind::WouldBlock => Err(ErrorKind::TimedOut.into()),
        _ => Err(error),
    }
}

impl From<FrameError> for io::Error {
    fn from(error: FrameError) -> Self {
        invalid(error)
    }
}
