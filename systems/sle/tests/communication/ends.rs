//! Raw ends of a session: TCP or a Unix socket, with no protocol of their own.

use chronoscope_clock as clock;
use socket2::SockRef;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

/// Long enough for a loaded machine; nothing is asserted about it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Heartbeats of 25 s, dead after five.
pub(crate) const CONTEXT: [u8; 20] = *b"\x02\0\0\0\0\0\0\x0cISP1\0\0\0\x01\0\x19\0\x05";
/// The orderly end of a local link.
pub(crate) const END: [u8; 8] = [5, 0, 0, 0, 0, 0, 0, 0];

/// PEER-ABORT on a local link.
pub(crate) fn abort(diagnostic: u8) -> Vec<u8> {
    vec![4, 0, 0, 0, 0, 0, 0, 1, diagnostic]
}

/// One message of the transport.
pub(crate) fn framed(pdu: &[u8]) -> Vec<u8> {
    let length = u32::try_from(pdu.len()).unwrap().to_be_bytes();
    [&[1, 0, 0, 0], &length[..], pdu].concat()
}

/// A connected end.
pub(crate) enum Raw {
    Tcp(TcpStream),
    Local(UnixStream),
}

impl Raw {
    fn tcp(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        // The octet of a PEER-ABORT is then the last of the stream.
        SockRef::from(&stream).set_out_of_band_inline(true).unwrap();
        Self::Tcp(stream)
    }

    fn local(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self::Local(stream)
    }

    pub(crate) fn connect(to: &str) -> Self {
        match to.strip_prefix("unix:") {
            Some(path) => Self::local(UnixStream::connect(path).unwrap()),
            None => Self::tcp(TcpStream::connect(to).unwrap()),
        }
    }

    pub(crate) fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }

    pub(crate) fn write(&mut self, octets: &[u8]) {
        match self {
            Self::Tcp(stream) => stream.write_all(octets).unwrap(),
            Self::Local(stream) => stream.write_all(octets).unwrap(),
        }
    }

    /// Writes as often as it can without waiting; the number of times.
    pub(crate) fn flood(&mut self, message: &[u8], most: usize) -> usize {
        let Self::Tcp(stream) = self else { panic!("TCP only") };
        stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut written = 0;
        let mut rest = message;
        while written < most {
            match stream.write(rest) {
                Ok(octets) if octets == rest.len() => {
                    written += 1;
                    rest = message;
                }
                Ok(octets) => rest = &rest[octets..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        // Messages are whole again for whoever goes on.
        stream.set_write_timeout(None).unwrap();
        let (mut later, rest) = (stream.try_clone().unwrap(), rest.to_vec());
        if written < most && rest.len() < message.len() {
            written += 1;
            std::thread::spawn(move || later.write_all(&rest).unwrap());
        }
        written
    }

    pub(crate) fn read_exact(&mut self, count: usize) -> Vec<u8> {
        let mut octets = vec![0; count];
        match self {
            Self::Tcp(stream) => stream.read_exact(&mut octets).unwrap(),
            Self::Local(stream) => stream.read_exact(&mut octets).unwrap(),
        }
        octets
    }

    /// All to the end of the stream; `None` where it was reset.
    pub(crate) fn rest(&mut self) -> Option<Vec<u8>> {
        let mut octets = Vec::new();
        let read = match self {
            Self::Tcp(stream) => stream.read_to_end(&mut octets),
            Self::Local(stream) => stream.read_to_end(&mut octets),
        };
        match read {
            Ok(_) => Some(octets),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// Closes in order, as an application does.
    pub(crate) fn close(&mut self) {
        if self.is_local() {
            self.write(&END);
        }
        match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Write).unwrap(),
            Self::Local(stream) => stream.shutdown(Shutdown::Write).unwrap(),
        }
    }

    /// PEER-ABORT, as an application says it.
    pub(crate) fn abort(&mut self, diagnostic: u8) {
        match self {
            Self::Tcp(stream) => {
                SockRef::from(&*stream).send_out_of_band(&[diagnostic]).unwrap();
            }
            Self::Local(_) => self.write(&abort(diagnostic)),
        }
        self.close();
    }

    /// Ends as the kernel ends it for a process that is killed with octets unread.
    pub(crate) fn die(self) {
        if let Self::Tcp(stream) = &self {
            SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }

    /// What it reads where its peer aborts.
    pub(crate) fn expect_abort(&mut self, diagnostic: u8) {
        assert_eq!(self.rest().unwrap(), self.aborted(diagnostic));
    }

    /// As [`Self::expect_abort`], behind a message.
    pub(crate) fn expect_abort_behind(&mut self, before: &[u8], diagnostic: u8) {
        assert_eq!(self.rest().unwrap(), [before, &self.aborted(diagnostic)].concat());
    }

    fn aborted(&self, diagnostic: u8) -> Vec<u8> {
        match self {
            Self::Tcp(_) => vec![diagnostic],
            Self::Local(_) => [&abort(diagnostic)[..], &END].concat(),
        }
    }

    /// What it reads where its peer closes in order.
    pub(crate) fn expect_end(&mut self) {
        let want = if self.is_local() { END.to_vec() } else { Vec::new() };
        assert_eq!(self.rest().unwrap(), want);
    }
}

/// A responder that waits to be connected to.
pub(crate) enum Waiting {
    Tcp(TcpListener),
    Local(UnixListener, String),
}

impl Waiting {
    pub(crate) fn tcp() -> Self {
        Self::Tcp(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub(crate) fn local(folder: &std::path::Path) -> Self {
        let path = folder.join("responder.sock");
        let address = format!("unix:{}", path.display());
        Self::Local(UnixListener::bind(path).unwrap(), address)
    }

    pub(crate) fn address(&self) -> String {
        match self {
            Self::Tcp(listener) => listener.local_addr().unwrap().to_string(),
            Self::Local(_, address) => address.clone(),
        }
    }

    pub(crate) fn accept(&self) -> Raw {
        match self {
            Self::Tcp(listener) => Raw::tcp(listener.accept().unwrap().0),
            Self::Local(listener, _) => Raw::local(listener.accept().unwrap().0),
        }
    }

    /// Whether somebody has connected; does not wait.
    pub(crate) fn was_reached(&self) -> bool {
        match self {
            Self::Tcp(listener) => {
                listener.set_nonblocking(true).unwrap();
                listener.accept().is_ok()
            }
            Self::Local(listener, _) => {
                listener.set_nonblocking(true).unwrap();
                listener.accept().is_ok()
            }
        }
    }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        clock::sleep(Duration::from_millis(5));
    }
    panic!("it never was");
}
