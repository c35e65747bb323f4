//! Capture at an interface without touching its packets: Linux's packet sockets.
//!
//! Packets are captured as the network layer gets them, which works for every kind of interface:
//! without the link's header, not defragmented. Of the loopback interface each packet is captured
//! once.

#![allow(unsafe_code)] // socket options that no crate here has

use super::log::{Log, LogEntry};
use crate::capture::destination;
use chronoscope_clock as clock;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType,
    SockaddrLike, bind, recvmsg, setsockopt, socket, sockopt,
};
use std::io::{self, ErrorKind, IoSliceMut};
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Requested size of the kernel's receive buffer, octets.
const RECEIVE_BYTES: usize = 32 << 20;
/// Longest packet, octets: what receive offload puts together.
const PACKET_BYTES_MAX: usize = 1 << 18;
/// Longest delay until the sniffer ends, ms.
const LOOK_EVERY_MS: u16 = 100;
/// Interval between two queries of the kernel's drops.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Ports that the kernel's filter may have to compare with.
pub(super) const PORTS_MAX: usize = 64;

/// Reasons why capturing is impossible.
#[derive(Debug, thiserror::Error)]
pub enum SnifferError {
    /// The program lacks a privilege.
    #[error(
        "capturing at {0} needs the capability CAP_NET_RAW: run it as root, or give it to the \
         program once (setcap cap_net_raw+ep PROGRAM); --udp and --tcp relays work without it, and --import reads a capture of tcpdump"
    )]
    Privilege(String),
    /// The interface does not exist.
    #[error("there is no interface {0}")]
    Interface(String),
    /// More ports than the filter takes.
    #[error("{0} ports; at most 64 can be captured together")]
    Ports(usize),
    /// The kernel refuses.
    #[error("capturing at {interface}: {source}")]
    Io {
        /// Name of the interface.
        interface: String,
        /// Error of the system.
        source: io::Error,
    },
}

/// Counts of captured packets, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sniffed {
    /// Packets that were recorded.
    pub packet_count: u64,
    /// Packets that the kernel dropped, because they arrived faster than they were read.
    pub kernel_dropped_count: u64,
}

/// Captures at one interface.
#[derive(Debug)]
pub struct Sniffer {
    socket: OwnedFd,
    interface: String,
    ports: Vec<u16>,
    sniffed: Sniffed,
}

impl Sniffer {
    /// Begins to capture what arrives at an interface: TCP and UDP to these ports, everything when
    /// there are none. Later fragments of packets have no port, and are always taken.
    ///
    /// # Errors
    /// [`SnifferError`].
    pub fn open(interface: &str, ports: &[u16]) -> Result<Self, SnifferError> {
        if ports.len() > PORTS_MAX {
            return Err(SnifferError::Ports(ports.len()));
        }
        let fail = |source| SnifferError::Io { interface: interface.to_owned(), source };
        let number = nix::net::if_::if_nametoindex(interface)
            .map_err(|_| SnifferError::Interface(interface.to_owned()))?;
        // Of no protocol: nothing is received before the filter is there.
        let none: Option<SockProtocol> = None;
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Packet, SockType::Datagram, flags, none);
        let socket = socket.map_err(|error| match error {
            nix::Error::EPERM => SnifferError::Privilege(interface.to_owned()),
            error => fail(error.into()),
        })?;
        filter(&socket, ports).map_err(fail)?;
        // More than the administrator allows everybody needs another privilege.
        setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BYTES)
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BYTES))
            .and_then(|()| setsockopt(&socket, sockopt::ReceiveTimestampns, &true))
            .map_err(|error| fail(error.into()))?;
        let address = link_address(number.cast_signed())
            .ok_or_else(|| fail(io::Error::other("the address of the interface cannot be made")))?;
        bind(socket.as_raw_fd(), &address).map_err(|error| fail(error.into()))?;
        let (interface, ports) = (interface.to_owned(), ports.to_vec());
        Ok(Self { socket, interface, ports, sniffed: Sniffed::default() })
    }

    /// Captures until `stop` is set, and tells `each` now and then how it goes.
    ///
    /// # Errors
    /// [`SnifferError::Io`] when the interface is gone.
    pub fn run(
        &mut self,
        log: &Log,
        stop: &AtomicBool,
        mut each: impl FnMut(Sniffed),
    ) -> Result<(), SnifferError> {
        let interface = self.interface.clone();
        let fail = |source| SnifferError::Io { interface: interface.clone(), source };
        let mut octets = vec![0; PACKET_BYTES_MAX];
        let mut asked_ns = clock::monotonic_ns();
        while !stop.load(Ordering::Relaxed) {
            let mut waits =
                [nix::poll::PollFd::new(self.socket.as_fd(), nix::poll::PollFlags::POLLIN)];
            match nix::poll::poll(&mut waits, LOOK_EVERY_MS) {
                Ok(_) | Err(nix::Error::EINTR) => {}
                Err(error) => return Err(fail(error.into())),
            }
            // Bounded, so that drops are queried under any load.
            for _ in 0..4096 {
                match receive(&self.socket, &mut octets) {
                    Ok(Some((at_ns, length, original))) => {
                        if wanted(&octets[..length], &self.ports) {
                            self.sniffed.packet_count += 1;
                            let original_bytes = u32::try_from(original).unwrap_or(u32::MAX);
                            let octets = octets[..length].to_vec();
                            let link = super::log::RAW_IP;
                            log.push(LogEntry::Packet { at_ns, link, original_bytes, octets });
                        }
                    }
                    Ok(None) => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(fail(error)),
                }
            }
            let now_ns = clock::monotonic_ns();
            if u128::from(now_ns - asked_ns) >= ASK_EVERY.as_nanos() {
                asked_ns = now_ns;
                self.ask(log).map_err(fail)?;
            }
            each(self.sniffed);
        }
        self.ask(log).map_err(fail)?;
        each(self.sniffed);
        Ok(())
    }

    /// Asks what the kernel dropped since it was asked last.
    fn ask(&mut self, log: &Log) -> io::Result<()> {
        // SAFETY: all zero is a value of these counters.
        let mut counted: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut length = socket_length::<libc::tpacket_stats>();
        // SAFETY: `counted` has room for `length` octets, which is what the option gives.
        let failed = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counted).cast(),
                &raw mut length,
            )
        } != 0;
        if failed {
            return Err(io::Error::last_os_error());
        }
        if counted.tp_drops > 0 {
            self.sniffed.kernel_dropped_count += u64::from(counted.tp_drops);
            log.statistics(self.sniffed.packet_count, self.sniffed.kernel_dropped_count);
        }
        Ok(())
    }
}

fn socket_length<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or(0)
}

/// Every protocol at an interface.
fn link_address(interface: i32) -> Option<LinkAddr> {
    // SAFETY: all zero is a value of this plain structure.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = u16::try_from(libc::AF_PACKET).ok()?;
    address.sll_protocol = u16::try_from(libc::ETH_P_ALL).ok()?.to_be();
    address.sll_ifindex = interface;
    let length = socket_length::<libc::sockaddr_ll>();
    // SAFETY: `address` is a whole `sockaddr_ll` of `length` octets.
    unsafe { LinkAddr::from_raw((&raw const address).cast(), Some(length)) }
}

/// Time, octets taken and octets there were of the next packet that arrived; `None` for one that
/// is not for us to record: it leaves, or is no IP.
fn receive(socket: &OwnedFd, octets: &mut [u8]) -> io::Result<Option<(i64, usize, usize)>> {
    let room = octets.len();
    let mut parts = [IoSliceMut::new(octets)];
    let mut control = nix::cmsg_space!(libc::timespec);
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
    let message = recvmsg::<LinkAddr>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags)?;
    let at_ns = message.cmsgs()?.find_map(|said| match said {
        ControlMessageOwned::ScmTimestampns(at) => Some(at.tv_sec() * 1_000_000_000 + at.tv_nsec()),
        _ => None,
    });
    let Some(link) = message.address else { return Ok(None) };
    let leaves = link.pkttype() == libc::PACKET_OUTGOING;
    let protocol = i32::from(u16::from_be(link.protocol()));
    if leaves || !matches!(protocol, libc::ETH_P_IP | libc::ETH_P_IPV6) {
        return Ok(None);
    }
    let at_ns = at_ns.unwrap_or_else(clock::utc_now_ns);
    Ok(Some((at_ns, message.bytes.min(room), message.bytes)))
}

/// Whether a packet goes to one of these ports, or its port is unknown.
fn wanted(octets: &[u8], ports: &[u16]) -> bool {
    ports.is_empty() || destination(octets).is_none_or(|port| ports.contains(&port))
}

/// Makes the kernel leave out what goes to other ports, before it costs a copy.
fn filter(socket: &OwnedFd, ports: &[u16]) -> io::Result<()> {
    if ports.is_empty() {
        return Ok(());
    }
    let mut program = program(ports);
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: `filter` names `length` instructions, which live until the kernel has copied them.
    let failed = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const filter).cast(),
            socket_length::<libc::sock_fprog>(),
        )
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A classic BPF program over packets from their IP header on: UDP and TCP to one of the ports,
/// later fragments, and IPv6 packets with extension headers, which are looked at here.
fn program(ports: &[u16]) -> Vec<libc::sock_filter> {
    const LOAD_BYTE: u16 = 0x30;
    const LOAD_HALF: u16 = 0x28;
    const LOAD_HALF_AT_X: u16 = 0x48;
    const HEADER_TO_X: u16 = 0xb1; // 4 * ([k] & 15), the length of an IPv4 header
    const SHIFT_RIGHT: u16 = 0x74;
    const IF_EQUAL: u16 = 0x15;
    const IF_ANY_BIT: u16 = 0x45;
    const JUMP: u16 = 0x05;
    const RETURN: u16 = 0x06;
    const ALL: u32 = u32::MAX;
    let op = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    // `PORTS_MAX` comparisons stay below the 255 instructions that a conditional jump reaches.
    let compare = |program: &mut Vec<libc::sock_filter>| {
        for port in ports {
            program.push(op(IF_EQUAL, u32::from(*port), 0, 1));
            program.push(op(RETURN, ALL, 0, 0));
        }
        program.push(op(RETURN, 0, 0, 0));
    };
    let mut v4 = vec![
        op(LOAD_BYTE, 9, 0, 0), // protocol
        op(IF_EQUAL, 17, 2, 0),
        op(IF_EQUAL, 6, 1, 0),
        op(RETURN, 0, 0, 0),
        op(LOAD_HALF, 6, 0, 0), // fragment's offset
        op(IF_ANY_BIT, 0x1fff, 0, 1),
        op(RETURN, ALL, 0, 0),
        op(HEADER_TO_X, 0, 0, 0),
        op(LOAD_HALF_AT_X, 2, 0, 0), // destination port
    ];
    compare(&mut v4);
    let mut v6 = vec![
        op(LOAD_BYTE, 6, 0, 0), // next header
        op(IF_EQUAL, 17, 7, 0),
        op(IF_EQUAL, 6, 6, 0),
        op(IF_EQUAL, 0, 3, 0),  // hop-by-hop options
        op(IF_EQUAL, 43, 2, 0), // routing
        op(IF_EQUAL, 44, 1, 0), // fragment
        op(IF_EQUAL, 60, 0, 1), // destination options
        op(RETURN, ALL, 0, 0),
        op(RETURN, 0, 0, 0),
        op(LOAD_HALF, 42, 0, 0), // destination port
    ];
    compare(&mut v6);
    let over_v4 = u32::try_from(v4.len()).unwrap_or(0);
    let mut all = vec![
        op(LOAD_BYTE, 0, 0, 0), // version
        op(SHIFT_RIGHT, 4, 0, 0),
        op(IF_EQUAL, 4, 3, 0),
        op(IF_EQUAL, 6, 1, 0),
        op(RETURN, 0, 0, 0),
        op(JUMP, over_v4, 0, 0),
    ];
    all.extend(v4);
    all.extend(v6);
    all
}
