//! The coordinator's socket and its connections.

use crate::wire::{PACKET_BYTES_MAX, Packet, WireError};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, SockFlag, SockType, UnixAddr, accept4, bind, getsockopt,
    listen, recv, send, socket, sockopt::PeerCredentials,
};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

/// Number of a connection, by order of arrival.
pub(super) type ConnectionId = u64;

/// Message from a connection.
#[derive(Debug)]
pub(super) enum ConnectionMessage {
    Packet(Packet),
    Bad(WireError),
    Closed,
}

#[derive(Debug)]
pub(super) struct Sockets {
    listener: OwnedFd,
    lines: BTreeMap<ConnectionId, OwnedFd>,
    next: ConnectionId,
    buffer: Vec<u8>,
}

impl Sockets {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let listener = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None)?;
        bind(listener.as_raw_fd(), &UnixAddr::new(path)?)?;
        listen(&listener, Backlog::new(1024)?)?;
        Ok(Self { listener, lines: BTreeMap::new(), next: 0, buffer: vec![0; PACKET_BYTES_MAX] })
    }

    /// Waits at most `ms` for messages; returns all that have arrived, one packet for each line.
    pub(super) fn hear(&mut self, ms: u16) -> io::Result<Vec<(ConnectionId, ConnectionMessage)>> {
        let mut fds = vec![PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.lines.values().map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
        match poll(&mut fds, PollTimeout::from(ms)) {
            Ok(0) | Err(Errno::EINTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let has: Vec<bool> = fds.iter().map(|fd| fd.any().unwrap_or(false)).collect();
        let speaking: Vec<ConnectionId> = self
            .lines
            .keys()
            .zip(&has[1..])
            .filter(|(_, has)| **has)
            .map(|(line, _)| *line)
            .collect();
        let mut heard = Vec::new();
        for line in speaking {
            heard.extend(self.read(line)?.map(|what| (line, what)));
        }
        if has[0] {
            self.accept()?;
        }
        Ok(heard)
    }

    fn read(&mut self, line: ConnectionId) -> io::Result<Option<ConnectionMessage>> {
        let fd = self.lines[&line].as_raw_fd();
        Ok(Some(match recv(fd, &mut self.buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(0) | Err(Errno::ECONNRESET) => ConnectionMessage::Closed,
            Ok(length) => match Packet::decode(&self.buffer[..length]) {
                Ok(packet) => ConnectionMessage::Packet(packet),
                Err(error) => ConnectionMessage::Bad(error),
            },
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        }))
    }

    fn accept(&mut self) -> io::Result<()> {
        match accept4(self.listener.as_raw_fd(), SockFlag::SOCK_CLOEXEC) {
            Ok(fd) => {
                self.lines.insert(self.next, owned(fd));
                self.next += 1;
                Ok(())
            }
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNABORTED) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Says something; a process that just died does not hear it, which its connection tells.
    pub(super) fn say(&self, line: ConnectionId, packet: &Packet) -> io::Result<()> {
        let Some(fd) = self.lines.get(&line) else { return Ok(()) };
        match send(fd.as_raw_fd(), &packet.encode(), MsgFlags::MSG_NOSIGNAL) {
            Ok(_) | Err(Errno::EPIPE | Errno::ECONNRESET) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The kernel's number of the process that made the connection.
    pub(super) fn peer(&self, line: ConnectionId) -> io::Result<i32> {
        let Some(fd) = self.lines.get(&line) else { return Ok(0) };
        Ok(getsockopt(fd, PeerCredentials)?.pid())
    }

    pub(super) fn close(&mut self, line: ConnectionId) {
        self.lines.remove(&line);
    }
}

#[allow(unsafe_code)]
fn owned(fd: i32) -> OwnedFd {
    // SAFETY: accept4 just made this descriptor; it has no other owner.
    unsafe { OwnedFd::from_raw_fd(fd) }
}
