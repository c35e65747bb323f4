//! Sockets at which programs of this host are connected to a link: Unix or TCP.

use crate::net::bind_local;
use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Where programs connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkAddress {
    /// Path of a Unix socket, written `unix:PATH`.
    Unix(PathBuf),
    /// TCP.
    Tcp(SocketAddr),
}

impl LinkAddress {
    /// Whether only programs of this host can connect.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp(address) => address.ip().is_loopback(),
        }
    }
}

impl FromStr for LinkAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        let wrong = |_| format!("{text:?}: use unix:PATH or an address such as 127.0.0.1:7000");
        text.parse().map(Self::Tcp).map_err(wrong)
    }
}

impl fmt::Display for LinkAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(address) => write!(f, "{address}"),
        }
    }
}

/// A listening socket; a Unix socket's path is removed when it is dropped.
#[derive(Debug)]
pub(super) enum LinkListener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

impl LinkListener {
    /// Listens. [`Self::accept`] does not wait.
    pub(super) fn bind(address: &LinkAddress) -> io::Result<Self> {
        Ok(match address {
            LinkAddress::Unix(path) => {
                let listener = UnixListener::from(std::os::fd::OwnedFd::from(bind_local(path)?));
                listener.set_nonblocking(true)?;
                Self::Unix(listener, path.clone())
            }
            LinkAddress::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Self::Tcp(listener)
            }
        })
    }

    /// Where it listens, with the port that the system chose.
    pub(super) fn address(&self) -> io::Result<LinkAddress> {
        match self {
            Self::Unix(_, path) => Ok(LinkAddress::Unix(path.clone())),
            Self::Tcp(listener) => listener.local_addr().map(LinkAddress::Tcp),
        }
    }

    /// The next connection, and its name; `None`: there is none.
    pub(super) fn accept(&self) -> io::Result<Option<(LinkStream, String)>> {
        let accepted = match self {
            Self::Unix(listener, path) => listener.accept().map(|(stream, _)| {
                (LinkStream::Unix(stream), format!("a program at {}", path.display()))
            }),
            Self::Tcp(listener) => {
                listener.accept().map(|(stream, peer)| (LinkStream::Tcp(stream), peer.to_string()))
            }
        };
        match accepted {
            Ok((stream, peer)) => {
                stream.prepare()?;
                Ok(Some((stream, peer)))
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::Interrupted
                        | io::ErrorKind::ConnectionAborted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for LinkListener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // Somebody may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

/// A connection of a program.
#[derive(Debug)]
pub(super) enum LinkStream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// A program that takes nothing for so long is disconnected.
const WRITE_WITHIN: Duration = Duration::from_secs(60);

impl LinkStream {
    fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_write_timeout(Some(WRITE_WITHIN))
            }
            Self::Tcp(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(WRITE_WITHIN))
            }
        }
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
        }
    }

    /// Ends both directions: whoever reads or writes returns.
    pub(super) fn shutdown(&self) {
        // It fails where the program has closed the connection.
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for LinkStream {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(octets),
            Self::Tcp(stream) => stream.read(octets),
        }
    }
}

impl Write for LinkStream {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(octets),
            Self::Tcp(stream) => stream.write(octets),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_paths_or_hosts() {
        let local = |text: &str| text.parse::<LinkAddress>().map(|address| address.is_local());
        assert_eq!(local("unix:/run/a.sock"), Ok(true));
        assert_eq!(local("127.0.0.1:0"), Ok(true));
        assert_eq!(local("0.0.0.0:7000"), Ok(false));
        assert!(local("unix:").is_err() && local("localhost").is_err());
        assert_eq!("unix:/a".parse::<LinkAddress>().unwrap().to_string(), "unix:/a");
    }
}
