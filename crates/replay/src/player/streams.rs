//! The player's side of connections.
//!
//! The amount sent at a time follows from what the process reported as read, not from the room in
//! the kernel's buffers, which is not the same every time.

use super::answers::Answers;
use crate::wire::{ConnectionEvent, Endpoint, Token};
use nix::poll::{PollFd, PollFlags, poll};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;

/// Octets sent to a process and not yet read by it, of one stream.
const WINDOW_BYTES: u64 = 32 << 10;
/// Octets that wait to be sent, of one stream; more is a process that does not read.
const PENDING_BYTES_MAX: usize = 64 << 20;
/// Connections at a time.
const STREAMS_MAX: usize = 20_000;
/// First of the ports taken when a recorded one is not free: outside the kernel's own range.
const OWN_PORTS: std::ops::Range<u16> = 61_000..65_000;

/// A recorded connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link {
    pub(super) feed: usize,
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
}

#[derive(Debug)]
struct Stream {
    socket: TcpStream,
    link: Link,
    local: Endpoint,
    target: Endpoint,
    pending: VecDeque<u8>,
    ends: bool,
    /// Octets sent and not yet reported as read; without a coordinator always 0.
    unread: u64,
    answer: String,
}

#[derive(Debug, Default)]
pub(super) struct Streams {
    /// By the player's end.
    open: BTreeMap<Endpoint, Stream>,
    links: BTreeMap<Link, Endpoint>,
    numbers: BTreeMap<usize, u64>,
    next_port: u16,
}

impl Streams {
    /// Connects; returns false when the connection is not accepted.
    pub(super) fn open(
        &mut self,
        link: Link,
        input: &str,
        target: SocketAddr,
        tokens: &mut Vec<Token>,
    ) -> io::Result<bool> {
        if self.open.len() == STREAMS_MAX {
            return Err(io::Error::other(format!(
                "more than {STREAMS_MAX} recorded connections are open at a time"
            )));
        }
        let Some(socket) = self.connect(link.from.port, target)? else { return Ok(false) };
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let number = self.numbers.entry(link.feed).or_default();
        *number += 1;
        let (local, target) = (Endpoint::from(socket.local_addr()?), Endpoint::from(target));
        let stream = Stream {
            socket,
            link,
            local,
            target,
            pending: VecDeque::new(),
            ends: false,
            unread: 0,
            answer: Answers::name(input, *number),
        };
        self.links.insert(link, local);
        self.open.insert(local, stream);
        tokens.push(Token { event: ConnectionEvent::Connect, count: 0, from: local, to: target });
        Ok(true)
    }

    /// Binds the recorded port where it is free, else the next free one.
    fn connect(&mut self, port: u16, target: SocketAddr) -> io::Result<Option<TcpStream>> {
        use nix::sys::socket as s;
        for attempt in 0..=OWN_PORTS.len() {
            let port = if attempt == 0 && port >= 1024 {
                port
            } else {
                let at = self.next_port;
                self.next_port = (at + 1) % (OWN_PORTS.end - OWN_PORTS.start);
                OWN_PORTS.start + at
            };
            let flags = s::SockFlag::SOCK_CLOEXEC;
            let fd = s::socket(s::AddressFamily::Inet, s::SockType::Stream, flags, None)?;
            s::setsockopt(&fd, s::sockopt::ReuseAddr, &true)?;
            let at = std::net::SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
            let fd_number = std::os::fd::AsRawFd::as_raw_fd(&fd);
            if s::bind(fd_number, &s::SockaddrIn::from(at)).is_err() {
                continue;
            }
            let SocketAddr::V4(target) = target else {
                return Err(io::Error::other(format!("{target} is not an IPv4 address")));
            };
            match s::connect(fd_number, &s::SockaddrIn::from(target)) {
                Ok(()) => return Ok(Some(TcpStream::from(fd))),
                Err(nix::errno::Errno::EADDRNOTAVAIL | nix::errno::Errno::EADDRINUSE) => {}
                Err(nix::errno::Errno::ECONNREFUSED) => return Ok(None),
                Err(error) => return Err(io::Error::other(format!("connect {target}: {error}"))),
            }
        }
        Err(io::Error::other("no port is free for a recorded connection"))
    }

    /// Returns false when the connection does not exist (any longer).
    pub(super) fn octets(
        &mut self,
        link: Link,
        octets: Vec<u8>,
        tokens: &mut Vec<Token>,
    ) -> io::Result<bool> {
        let Some(stream) = self.stream(link) else { return Ok(false) };
        if stream.pending.len() + octets.len() > PENDING_BYTES_MAX {
            let (to, waiting) = (stream.target, stream.pending.len());
            return Err(io::Error::other(format!("{to} does not read: {waiting} octets wait")));
        }
        stream.pending.extend(octets);
        stream.send(tokens);
        Ok(true)
    }

    pub(super) fn end(&mut self, link: Link, tokens: &mut Vec<Token>) -> io::Result<bool> {
        let Some(stream) = self.stream(link) else { return Ok(false) };
        stream.ends = true;
        stream.send(tokens);
        // The same recorded ends may be used again by a later connection.
        self.links.remove(&link);
        Ok(true)
    }

    fn stream(&mut self, link: Link) -> Option<&mut Stream> {
        let local = self.links.get(&link)?;
        self.open.get_mut(local)
    }

    /// Handles a process's action on one of these connections. Returns input and octets of a reply.
    pub(super) fn heard(
        &mut self,
        token: &Token,
        answers: &mut Answers,
        tokens: &mut Vec<Token>,
    ) -> io::Result<Option<(usize, u64)>> {
        match token.event {
            ConnectionEvent::Received => {
                if let Some(stream) = self.open.get_mut(&token.from) {
                    stream.unread = stream.unread.saturating_sub(token.count);
                    stream.send(tokens);
                }
                Ok(None)
            }
            ConnectionEvent::Sent => {
                let Some(stream) = self.open.get_mut(&token.to) else { return Ok(None) };
                let taken = stream.take(token.count, answers)?;
                let (from, to) = (stream.target, stream.local);
                tokens.push(Token { event: ConnectionEvent::Received, count: taken, from, to });
                Ok(Some((stream.link.feed, taken)))
            }
            ConnectionEvent::Closed if token.count == 0 => {
                let Some(stream) = self.open.remove(&token.to) else { return Ok(None) };
                if self.links.get(&stream.link) == Some(&stream.local) {
                    self.links.remove(&stream.link);
                }
                answers.flush(&stream.answer)?;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Receives and sends what is possible; without a coordinator.
    pub(super) fn take_all(&mut self, answers: &mut Answers) -> io::Result<Vec<(usize, u64)>> {
        let mut taken = Vec::new();
        let mut over = Vec::new();
        for stream in self.open.values_mut() {
            stream.unread = 0;
            stream.send(&mut Vec::new());
            stream.unread = 0;
            let (bytes, ended) = stream.take_some(u64::MAX, answers)?;
            taken.push((stream.link.feed, bytes));
            if ended {
                over.push(stream.local);
            }
        }
        for local in over {
            if let Some(stream) = self.open.remove(&local) {
                self.links.retain(|_, at| *at != stream.local);
                answers.flush(&stream.answer)?;
            }
        }
        Ok(taken)
    }
}

impl Stream {
    /// Sends as much as the window allows; the end after the last octet.
    fn send(&mut self, tokens: &mut Vec<Token>) {
        let (from, to) = (self.local, self.target);
        let mut sent = 0;
        while !self.pending.is_empty() && self.unread < WINDOW_BYTES {
            let (front, _) = self.pending.as_slices();
            let room = usize::try_from(WINDOW_BYTES - self.unread).unwrap_or(0);
            match self.socket.write(&front[..front.len().min(room)]) {
                Ok(length) => {
                    self.pending.drain(..length);
                    self.unread += length as u64;
                    sent += length as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // The process closed it: the remaining octets are dropped.
                Err(_) => self.pending.clear(),
            }
        }
        if sent > 0 {
            tokens.push(Token { event: ConnectionEvent::Sent, count: sent, from, to });
        }
        if self.ends && self.pending.is_empty() {
            self.ends = false;
            if self.socket.shutdown(Shutdown::Write).is_ok() {
                tokens.push(Token { event: ConnectionEvent::Closed, count: 1, from, to });
            }
        }
    }

    /// Receives exactly `count` octets, which were sent and are there or on their way; fewer when
    /// the connection ended or nothing arrived for two seconds.
    fn take(&mut self, count: u64, answers: &mut Answers) -> io::Result<u64> {
        let mut taken = 0;
        while taken < count {
            let (bytes, ended) = self.take_some(count - taken, answers)?;
            taken += bytes;
            if ended || (bytes == 0 && !wait_readable(&self.socket)?) {
                break;
            }
        }
        // The kernel delays acknowledgements, in real time; a server that queries its
        // unacknowledged octets would see a client that reads late. A socket that refuses this is
        // one whose connection ended.
        let _ = socket2::SockRef::from(&self.socket).set_tcp_quickack(true);
        Ok(taken)
    }

    fn take_some(&mut self, most: u64, answers: &mut Answers) -> io::Result<(u64, bool)> {
        let mut octets = [0; 8192];
        let mut taken = 0;
        while taken < most {
            let wanted = usize::try_from(most - taken).unwrap_or(usize::MAX).min(octets.len());
            match self.socket.read(&mut octets[..wanted]) {
                Ok(0) => return Ok((taken, true)),
                Ok(length) => {
                    answers.add(&self.answer, &octets[..length])?;
                    taken += length as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok((taken, false)),
                Err(_) => return Ok((taken, true)),
            }
        }
        Ok((taken, false))
    }
}

/// Whether something is there, or comes within two seconds of real time.
pub(super) fn wait_readable(socket: &impl AsFd) -> io::Result<bool> {
    let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    Ok(poll(&mut fds, 2000u16)? > 0)
}
