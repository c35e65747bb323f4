//! A connection that is kept, read and written until a deadline; and the making of one.

use super::deadline::{Deadline, ProbeResult, loss_of};
use socket2::SockRef;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Tolerance of a socket's timeout. Setting the timeout costs a system call in the middle of a
/// round trip; the kernel's own steps are of this size.
const SLACK: Duration = Duration::from_millis(1);

/// Timeout of a socket, as last set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits(Option<Duration>);

impl Waits {
    /// Timeout to set for `deadline`; `None` when the present one is close enough.
    ///
    /// # Errors
    /// [`ErrorKind::TimedOut`] when the deadline has passed.
    pub(crate) fn until(&mut self, deadline: Deadline) -> io::Result<Option<Duration>> {
        let left = deadline.left().ok_or(ErrorKind::TimedOut)?;
        let is_right = self.0.is_some_and(|set| left <= set && set - left <= SLACK);
        if is_right {
            return Ok(None);
        }
        self.0 = Some(left);
        Ok(Some(left))
    }
}

/// A connection to a peer.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    reads: Waits,
    writes: Waits,
}

/// Transport of a connection.
#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    /// All octets that a peer sends before it closes; octets written to it are dropped.
    Octets(Cursor<Vec<u8>>),
}

impl Connection {
    /// A connection to a peer that sends only these octets.
    pub(crate) fn of(octets: Vec<u8>) -> Self {
        let stream = Stream::Octets(Cursor::new(octets));
        Self { stream, reads: Waits::default(), writes: Waits::default() }
    }

    /// Connects; every request leaves at once.
    pub(crate) fn open(address: SocketAddr, deadline: Deadline) -> io::Result<Self> {
        let left = deadline.left().ok_or(ErrorKind::TimedOut)?;
        let stream = TcpStream::connect_timeout(&address, left)?;
        stream.set_nodelay(true)?;
        let stream = Stream::Tcp(stream);
        Ok(Self { stream, reads: Waits::default(), writes: Waits::default() })
    }

    /// Writes all of `octets`.
    pub(crate) fn write_all(&mut self, octets: &[u8], deadline: Deadline) -> io::Result<()> {
        let Stream::Tcp(stream) = &mut self.stream else { return Ok(()) };
        let mut rest = octets;
        while !rest.is_empty() {
            if let Some(left) = self.writes.until(deadline)? {
                stream.set_write_timeout(Some(left))?;
            }
            match stream.write(rest) {
                Ok(0) => return Err(ErrorKind::BrokenPipe.into()),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what there is, at least one octet.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedEof`] when the other side has closed.
    pub(crate) fn read(&mut self, into: &mut [u8], deadline: Deadline) -> io::Result<usize> {
        loop {
            let read = match &mut self.stream {
                Stream::Octets(octets) => octets.read(into),
                Stream::Tcp(stream) => {
                    if let Some(left) = self.reads.until(deadline)? {
                        stream.set_read_timeout(Some(left))?;
                    }
                    stream.read(into)
                }
            };
            match read {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    /// Whether the connection is open, as far as known, and no octets wait to be read.
    pub(crate) fn is_quiet(&self) -> bool {
        let Stream::Tcp(stream) = &self.stream else { return false };
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        let mut octet = [MaybeUninit::uninit()];
        let peeked = SockRef::from(stream).recv_with_flags(&mut octet, flags);
        peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }
}

/// Makes a connection and closes it again.
pub(crate) fn connect(address: SocketAddr, deadline: Deadline) -> io::Result<ProbeResult> {
    match Connection::open(address, deadline) {
        Ok(_) => Ok(Ok(())),
        Err(error) => Ok(Err(loss_of(error)?)),
    }
}
