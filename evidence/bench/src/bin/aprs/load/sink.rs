//! Clients that throw away what they get, and count its octets: many of them cost little, so that a
//! server can be driven to its limit from the same machine.

use super::receiver::Tally;
use mio::net::TcpStream;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use std::os::fd::AsRawFd;

/// A client of the full feed.
#[derive(Debug)]
pub(super) struct Sink {
    stream: TcpStream,
    /// Octets since the login.
    pub(super) octets: u64,
    open: bool,
}

impl Sink {
    /// A client that is logged in.
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, octets: 0, open: true }
    }

    /// Takes all that has come. The kernel does not copy it (`MSG_TRUNC` of tcp(7)).
    pub(super) fn take(&mut self, buffer: &mut [u8], tally: &mut Tally) {
        while self.open {
            match recv(self.stream.as_raw_fd(), buffer, MsgFlags::MSG_TRUNC) {
                Ok(count) if count > 0 => {
                    self.octets += count as u64;
                    tally.octets_read += count as u64;
                    tally.reads += 1;
                }
                Err(Errno::EAGAIN) => return,
                Err(Errno::EINTR) => {}
                Ok(_) | Err(_) => {
                    tally.cut += 1;
                    self.open = false;
                }
            }
        }
    }
}
