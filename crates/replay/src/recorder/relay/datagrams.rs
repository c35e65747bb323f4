//! Datagrams: taken in with the kernel's time, passed on, and answers passed back.

use super::counts::RelayCounts;
use super::token::{SENDER, token};
use crate::recorder::log::{Log, LogEntry};
use crate::recorder::segments::datagram;
use chronoscope_clock as clock;
use mio::net::UdpSocket;
use mio::{Interest, Registry};
use nix::libc;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use slab::Slab;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::AsRawFd;

/// Datagrams taken before others have their turn.
const TAKE_MAX: usize = 256;
/// Senders of one port that answers can be passed back to; the one that was silent longest goes.
const SENDERS_MAX: usize = 4096;
/// Requested size of the kernel's receive buffer, octets; it gives as much as it allows.
const RECEIVE_BYTES: usize = 16 << 20;
/// Length of the longest datagram.
const DATAGRAM_BYTES_MAX: usize = 65_536;

/// Socket that represents one sender: the system sees different senders as different, and can
/// answer.
#[derive(Debug)]
struct Sender {
    socket: UdpSocket,
    key: usize,
    last_ns: u64,
}

#[derive(Debug)]
pub(super) struct DatagramPort {
    pub(super) socket: UdpSocket,
    pub(super) listens: SocketAddr,
    pub(super) readable: bool,
    to: SocketAddr,
    senders: BTreeMap<SocketAddr, Sender>,
    octets: Vec<u8>,
    control: Vec<u8>,
    /// The kernel's count of drops since the socket was opened; it wraps.
    dropped: u32,
}

/// Data that came with a datagram.
struct Head {
    length: usize,
    from: SocketAddr,
    at_ns: Option<i64>,
    to: Option<IpAddr>,
    dropped: Option<u32>,
}

impl DatagramPort {
    pub(super) fn open(listen: SocketAddr, to: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(listen), Type::DGRAM, Some(Protocol::UDP))?;
        match listen.ip() {
            IpAddr::V4(group) if group.is_multicast() => {
                socket.set_reuse_address(true)?; // others may listen to the group too
                socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED)?;
            }
            IpAddr::V6(group) if group.is_multicast() => {
                socket.set_reuse_address(true)?;
                socket.join_multicast_v6(&group, 0)?;
            }
            _ => {}
        }
        socket.set_recv_buffer_size(RECEIVE_BYTES)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RxqOvfl, &1)?;
        match listen {
            SocketAddr::V4(_) => setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?,
            SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?,
        }
        socket.bind(&listen.into())?;
        socket.set_nonblocking(true)?;
        let socket = UdpSocket::from_std(socket.into());
        Ok(Self {
            listens: socket.local_addr()?,
            socket,
            readable: false,
            to,
            senders: BTreeMap::new(),
            octets: vec![0; DATAGRAM_BYTES_MAX],
            control: nix::cmsg_space!(libc::timespec, u32, libc::in6_pktinfo, libc::in_pktinfo),
            dropped: 0,
        })
    }

    /// Takes a bounded number of datagrams in.
    pub(super) fn take(
        &mut self,
        port: usize,
        keys: &mut Slab<(usize, SocketAddr)>,
        registry: &Registry,
        log: &Log,
        passed: &mut RelayCounts,
    ) {
        for _ in 0..TAKE_MAX {
            let head = match self.receive() {
                Ok(head) => head,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.readable = false;
                    return;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    passed.last_error = Some(format!("{}: {error}", self.listens));
                    continue;
                }
            };
            passed.datagram_count += 1;
            if let Some(dropped) = head.dropped {
                passed.kernel_dropped_count += u64::from(dropped.wrapping_sub(self.dropped));
                self.dropped = dropped;
            }
            let at_ns = head.at_ns.unwrap_or_else(clock::utc_now_ns);
            let arrived_at = head.to.unwrap_or(self.listens.ip()).to_canonical();
            let to = SocketAddr::new(arrived_at, self.listens.port());
            let from = SocketAddr::new(head.from.ip().to_canonical(), head.from.port());
            if let Some(packet) = datagram(from, to, &self.octets[..head.length]) {
                log.push(LogEntry::ip(at_ns, packet));
            }
            let sent = self.pass_on(head.from, head.length, port, keys, registry);
            sent.unwrap_or_else(|error| self.undelivered(&error, passed));
        }
    }

    fn receive(&mut self) -> io::Result<Head> {
        let mut parts = [IoSliceMut::new(&mut self.octets)];
        let message = recvmsg::<SockaddrStorage>(
            self.socket.as_raw_fd(),
            &mut parts,
            Some(&mut self.control),
            MsgFlags::MSG_DONTWAIT,
        )?;
        let from = message.address.as_ref().and_then(socket_address);
        let from = from.ok_or_else(|| io::Error::other("datagram without a sender"))?;
        let mut head = Head { length: message.bytes, from, at_ns: None, to: None, dropped: None };
        for said in message.cmsgs()? {
            match said {
                ControlMessageOwned::ScmTimestampns(at) => {
                    head.at_ns = Some(at.tv_sec() * 1_000_000_000 + at.tv_nsec());
                }
                ControlMessageOwned::RxqOvfl(dropped) => head.dropped = Some(dropped),
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    head.to = Some(Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes()).into());
                }
                ControlMessageOwned::Ipv6PacketInfo(info) => {
                    head.to = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into());
                }
                _ => {}
            }
        }
        Ok(head)
    }

    fn pass_on(
        &mut self,
        from: SocketAddr,
        length: usize,
        port: usize,
        keys: &mut Slab<(usize, SocketAddr)>,
        registry: &Registry,
    ) -> io::Result<()> {
        if !self.senders.contains_key(&from) {
            if self.senders.len() == SENDERS_MAX {
                self.forget(keys);
            }
            let any: IpAddr = match self.to {
                SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
            };
            let mut socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
            socket.connect(self.to)?;
            let key = keys.insert((port, from));
            let registered = registry.register(&mut socket, token(SENDER, key), Interest::READABLE);
            if let Err(error) = registered {
                keys.remove(key);
                return Err(error);
            }
            self.senders.insert(from, Sender { socket, key, last_ns: 0 });
        }
        let Some(sender) = self.senders.get_mut(&from) else { return Ok(()) };
        sender.last_ns = clock::monotonic_ns();
        sender.socket.send(&self.octets[..length]).or_else(|error| {
            if error.kind() != ErrorKind::ConnectionRefused {
                return Err(error);
            }
            // An earlier one found the port closed; this one may arrive, and the two count once.
            sender.socket.send(&self.octets[..length]).and(Err(error))
        })?;
        Ok(())
    }

    fn undelivered(&self, error: &io::Error, passed: &mut RelayCounts) {
        passed.undelivered_count += 1;
        passed.last_error = Some(format!("{}: {error}", self.to));
    }

    fn forget(&mut self, keys: &mut Slab<(usize, SocketAddr)>) {
        let oldest = self.senders.iter().min_by_key(|(_, sender)| sender.last_ns);
        if let Some(from) = oldest.map(|(from, _)| *from)
            && let Some(sender) = self.senders.remove(&from)
        {
            keys.remove(sender.key);
        }
    }

    /// Passes back what the system answered to a sender.
    pub(super) fn answer(
        &mut self,
        from: SocketAddr,
        octets: &mut Vec<u8>,
        passed: &mut RelayCounts,
    ) {
        let Some(sender) = self.senders.get_mut(&from) else { return };
        octets.resize(octets.len().max(DATAGRAM_BYTES_MAX), 0);
        loop {
            match sender.socket.recv(octets) {
                Ok(length) => match self.socket.send_to(&octets[..length], from) {
                    Ok(_) => passed.answer_count += 1,
                    Err(error) => passed.last_error = Some(format!("answer to {from}: {error}")),
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // An earlier datagram found the port closed.
                Err(error) => return self.undelivered(&error, passed),
            }
        }
    }
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| SocketAddr::V4(SocketAddrV4::from(*v4)));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| SocketAddr::V6(SocketAddrV6::from(*v6))))
}
