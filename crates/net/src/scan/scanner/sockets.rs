//! UDP sockets: a few for all hosts. The answers of one socket's hosts fit its buffer, and a
//! flooding host can be kept off.

use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// Hosts that share a socket: their questions, held by the kernel while it looks for a host that is
/// down, fit its buffer, and so do their answers.
pub(super) const HOSTS_PER_SOCKET: usize = 128;
/// Unrequested datagrams from one address in one scan until it is kept off.
const UNASKED_MAX: u32 = 32;
/// Most addresses that are counted, and most that are kept off, by each socket.
const COUNTED_MAX: usize = 4096;
const KEPT_OFF_MAX: usize = 64;
const RECEIVE_OCTETS: usize = 4 << 20; // as much of it as the system allows

/// A socket shared by several hosts.
#[derive(Debug)]
pub(super) struct SharedSocket {
    socket: UdpSocket,
    /// Each is connected to a flooding address: the kernel gives them its datagrams, and their
    /// buffers are small and never read.
    kept_off: Vec<Socket>,
    unasked: HashMap<SocketAddr, u32>,
}

impl SharedSocket {
    /// Opens one for hosts with addresses such as `like`.
    pub(super) fn open(like: SocketAddr, registry: &Registry, token: Token) -> io::Result<Self> {
        let local = match like {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let socket = udp(local)?;
        socket.set_recv_buffer_size(RECEIVE_OCTETS)?;
        socket.set_nonblocking(true)?;
        let mut socket = UdpSocket::from_std(socket.into());
        registry.register(&mut socket, token, Interest::READABLE)?;
        Ok(Self { socket, kept_off: Vec::new(), unasked: HashMap::new() })
    }

    /// A scan begins: who flooded may have come to reason.
    pub(super) fn begin(&mut self) {
        self.kept_off.clear();
        self.unasked.clear();
    }

    pub(super) fn send(&self, octets: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.socket.send_to(octets, to)
    }

    /// The next datagram, `None`: there is none.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        loop {
            match self.socket.recv_from(buffer) {
                Ok(received) => return Ok(Some(received)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                // ICMP report about an earlier datagram; its host will be silent.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Counts a datagram that was no answer; whether whoever sent it is kept off from now on.
    pub(super) fn unasked(&mut self, from: SocketAddr) -> io::Result<bool> {
        if self.unasked.len() >= COUNTED_MAX && !self.unasked.contains_key(&from) {
            return Ok(false);
        }
        let count = self.unasked.entry(from).or_default();
        *count += 1;
        if *count != UNASKED_MAX || self.kept_off.len() >= KEPT_OFF_MAX {
            return Ok(false);
        }
        let sink = udp(self.socket.local_addr()?)?;
        sink.set_recv_buffer_size(0)?; // the smallest that there is
        sink.connect(&from.into())?;
        self.kept_off.push(sink);
        Ok(true)
    }
}

/// A socket whose port only this user's others may share.
fn udp(local: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_port(true)?;
    socket.bind(&local.into())?;
    Ok(socket)
}
