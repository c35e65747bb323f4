//! Options of a socket, as requested and as the kernel has set them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

/// Requested options of a connection's socket. `None` leaves the kernel's default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// `TCP_NODELAY`: without it (Nagle) a short segment waits for the acknowledgement of the last.
    pub nodelay: bool,
    /// `TCP_QUICKACK`: acknowledge at once, or (`false`) delayed. The kernel forgets it, so that it
    /// is said anew after each read.
    pub quickack: Option<bool>,
    /// `SO_SNDBUF`, in octets. The kernel doubles it, and caps it at `net.core.wmem_max`.
    pub send_buffer: Option<u32>,
    /// `SO_RCVBUF`, in octets. The kernel doubles it, and caps it at `net.core.rmem_max`.
    pub receive_buffer: Option<u32>,
    /// `TCP_CONGESTION`: `cubic`, `reno`, `bbr`, as the kernel names those that it has.
    pub congestion: Option<String>,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            nodelay: true,
            quickack: None,
            send_buffer: None,
            receive_buffer: None,
            congestion: None,
        }
    }
}

/// Options of a socket, read from the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveOptions {
    /// `TCP_NODELAY`.
    pub nodelay: bool,
    /// `SO_SNDBUF`, in octets; the kernel counts its own bookkeeping in.
    pub send_buffer: usize,
    /// `SO_RCVBUF`, in octets, likewise.
    pub receive_buffer: usize,
    /// `TCP_CONGESTION`.
    pub congestion: String,
}

/// An option that the kernel refused.
#[derive(Debug, thiserror::Error)]
#[error("socket option {option}: {source}")]
pub struct OptionError {
    /// Its name in `socket(7)` or `tcp(7)`, with what it was to be.
    pub option: String,
    /// Error of the operating system.
    pub source: io::Error,
}

/// Names the option of a refusal.
fn of<T>(option: impl Into<String>, result: io::Result<T>) -> Result<T, OptionError> {
    result.map_err(|source| OptionError { option: option.into(), source })
}

impl SocketOptions {
    /// Sets what has to be there before a connection is: buffers (for the window that the first
    /// segment offers) and congestion control. Connections inherit it from a listener.
    pub(super) fn set_before(&self, socket: &Socket) -> Result<(), OptionError> {
        if let Some(bytes) = self.send_buffer {
            of(format!("SO_SNDBUF={bytes}"), socket.set_send_buffer_size(bytes as usize))?;
        }
        if let Some(bytes) = self.receive_buffer {
            of(format!("SO_RCVBUF={bytes}"), socket.set_recv_buffer_size(bytes as usize))?;
        }
        if let Some(name) = &self.congestion {
            of(format!("TCP_CONGESTION={name}"), socket.set_tcp_congestion(name.as_bytes()))?;
        }
        Ok(())
    }

    /// Sets what belongs to one connection.
    pub(super) fn set_on(&self, socket: &Socket) -> Result<(), OptionError> {
        of("TCP_NODELAY", socket.set_tcp_nodelay(self.nodelay))?;
        of("SO_OOBINLINE", socket.set_out_of_band_inline(true))?;
        of("O_NONBLOCK", socket.set_nonblocking(true))?;
        self.rearm(socket)
    }

    /// Sets the option that the kernel resets after each read.
    pub(super) fn rearm(&self, socket: &Socket) -> Result<(), OptionError> {
        match self.quickack {
            Some(quick) => of("TCP_QUICKACK", socket.set_tcp_quickack(quick)),
            None => Ok(()),
        }
    }
}

impl EffectiveOptions {
    /// Reads them.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(socket: &Socket) -> Result<Self, OptionError> {
        let congestion = of("TCP_CONGESTION", socket.tcp_congestion())?;
        let name = congestion.split(|&octet| octet == 0).next().unwrap_or_default();
        Ok(Self {
            nodelay: of("TCP_NODELAY", socket.tcp_nodelay())?,
            send_buffer: of("SO_SNDBUF", socket.send_buffer_size())?,
            receive_buffer: of("SO_RCVBUF", socket.recv_buffer_size())?,
            congestion: String::from_utf8_lossy(name).into_owned(),
        })
    }
}

/// Connects, for at most `timeout`.
///
/// # Errors
/// The kernel's: what the address answers, or an option that it refuses (named).
pub fn connect(
    address: SocketAddr,
    options: &SocketOptions,
    timeout: Duration,
) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    options.set_before(&socket).map_err(io::Error::other)?;
    socket.connect_timeout(&address.into(), timeout)?;
    options.set_on(&socket).map_err(io::Error::other)?;
    Ok(socket)
}
