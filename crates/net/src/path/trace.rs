//! Gateways on the path to a host (traceroute; V. Jacobson, 1987), without privileges.
//!
//! Datagrams are sent with a time to live of 1, 2, 3…; the gateway at which it expires reports that
//! by ICMP, and Linux hands the report to the sending socket (`IP_RECVERR`). The host itself
//! reports a closed port, or answers. All distances are probed at once, each up to
//! [`Limits::tries`] times: a trace takes no longer than tries × timeout, however many gateways do
//! not answer. IPv4 only.

use chronoscope_clock as clock;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, setsockopt, sockopt};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Limits of distance and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of gateways on a path, and the host.
    pub hops: u8,
    /// Datagrams to each distance at most.
    pub tries: u32,
    /// Timeout of each probe.
    pub timeout: Duration,
}

impl Default for Limits {
    /// 30 hops, three tries of a second.
    fn default() -> Self {
        Self { hops: 30, tries: 3, timeout: Duration::from_secs(1) }
    }
}

/// The way to a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Gateways in their order; `None`: one that did not answer. Those after the last that did are
    /// left out where the host was not reached.
    pub gateways: Vec<Option<Hop>>,
    /// The host's own answer; `None`: it was not reached.
    pub host: Option<Hop>,
}

/// A node that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Address of the node.
    pub address: Ipv4Addr,
    /// Duration of its fastest answer, in nanoseconds.
    pub took_ns: u64,
}

/// Datagrams of one distance.
struct Distance {
    socket: UdpSocket,
    sent_ns: u64,
    /// The node that answered, and whether it is the host.
    answer: Option<(Hop, bool)>,
}

/// Port of the first distance, as in traceroute: usually closed.
const PORT: u16 = 33_434;

/// Traces the path to `to` until the host or all distances have answered, or `stop` is set.
///
/// # Errors
/// Errors of the system's sockets; having no route to `to` is such an error.
pub fn trace(to: Ipv4Addr, limits: &Limits, stop: &AtomicBool) -> io::Result<Trace> {
    let mut distances = Vec::new();
    for ttl in 1..=limits.hops {
        distances.push(Distance::new(to, ttl)?);
    }
    for _ in 0..limits.tries {
        let end = reached(&distances);
        for distance in distances[..end].iter_mut().filter(|d| d.answer.is_none()) {
            distance.send()?;
        }
        wait(&mut distances, to, limits.timeout, stop)?;
        let end = reached(&distances);
        if stop.load(Ordering::Relaxed) || distances[..end].iter().all(|d| d.answer.is_some()) {
            break;
        }
    }
    Ok(put_together(&distances))
}

/// Number of relevant distances: up to the first at which the host answered.
fn reached(distances: &[Distance]) -> usize {
    let host = distances.iter().position(|d| d.answer.is_some_and(|(_, is_host)| is_host));
    host.map_or(distances.len(), |at| at + 1)
}

fn put_together(distances: &[Distance]) -> Trace {
    let answers: Vec<_> = distances[..reached(distances)].iter().map(|d| d.answer).collect();
    let (host, before) = match answers.split_last() {
        Some((Some((hop, true)), before)) => (Some(*hop), before),
        _ => {
            let known = answers.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            (None, &answers[..known])
        }
    };
    Trace { gateways: before.iter().map(|answer| answer.map(|(hop, _)| hop)).collect(), host }
}

impl Distance {
    fn new(to: Ipv4Addr, ttl: u8) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.set_nonblocking(true)?;
        socket.set_ttl(u32::from(ttl))?;
        setsockopt(&socket, sockopt::Ipv4RecvErr, &true)?;
        socket.connect((to, PORT + u16::from(ttl) - 1))?;
        Ok(Self { socket, sent_ns: 0, answer: None })
    }

    fn send(&mut self) -> io::Result<()> {
        self.sent_ns = clock::monotonic_ns();
        match self.socket.send(&[0; 32]) {
            Ok(_) => Ok(()),
            // An error of an earlier datagram that is still to be read, or a gateway's report of a
            // missing route, which is an answer.
            Err(error) if is_answer(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads what has come, if it has.
    fn read(&mut self, to: Ipv4Addr) -> io::Result<()> {
        let took_ns = clock::monotonic_ns().saturating_sub(self.sent_ns);
        let mut octets = [0; 64];
        loop {
            match self.socket.recv(&mut octets) {
                // The port is open: a program answers there.
                Ok(_) => self.answered(Hop { address: to, took_ns }, true),
                Err(error) if is_answer(&error) => {} // it is in the queue of errors
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        while let Some(address) = next_error(&self.socket)? {
            self.answered(Hop { address, took_ns }, address == to);
        }
        Ok(())
    }

    fn answered(&mut self, hop: Hop, is_host: bool) {
        if self.answer.is_none() {
            self.answer = Some((hop, is_host));
        }
    }
}

/// Errors that say what an ICMP message did.
fn is_answer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable, PermissionDenied};
    matches!(
        error.kind(),
        ConnectionRefused | HostUnreachable | NetworkUnreachable | PermissionDenied
    )
}

/// Sender of the next ICMP message about a datagram of this socket.
fn next_error(socket: &UdpSocket) -> io::Result<Option<Ipv4Addr>> {
    const ICMP: u8 = 2; // SO_EE_ORIGIN_ICMP
    let mut octets = [0; 64];
    // A `sock_extended_err` of 16 octets, and the `sockaddr_in` of as many that follows it.
    let mut space = nix::cmsg_space!([u8; 32]);
    loop {
        let mut parts = [IoSliceMut::new(&mut octets)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let message =
            match recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags) {
                Ok(message) => message,
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
        for control in message.cmsgs()? {
            if let ControlMessageOwned::Ipv4RecvErr(error, Some(from)) = control
                && error.ee_origin == ICMP
            {
                return Ok(Some(Ipv4Addr::from(u32::from_be(from.sin_addr.s_addr))));
            }
        }
    }
}

/// Waits until the host and all before it have answered, or the time is over.
fn wait(
    distances: &mut [Distance],
    to: Ipv4Addr,
    timeout: Duration,
    stop: &AtomicBool,
) -> io::Result<()> {
    const LOOK_EVERY_MS: u64 = 50;
    let until_ns =
        clock::monotonic_ns() + u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 2);
    loop {
        let end = reached(distances);
        let open = distances[..end].iter().any(|distance| distance.answer.is_none());
        let left_ms = until_ns.saturating_sub(clock::monotonic_ns()) / 1_000_000;
        if !open || left_ms == 0 || stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let waiting = distances[..end].iter().filter(|distance| distance.answer.is_none());
        let mut ready: Vec<PollFd<'_>> =
            waiting.map(|d| PollFd::new(d.socket.as_fd(), PollFlags::POLLIN)).collect();
        let step = u16::try_from(left_ms.min(LOOK_EVERY_MS)).unwrap_or(1);
        match poll(&mut ready, PollTimeout::from(step)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        for distance in distances[..end].iter_mut().filter(|d| d.answer.is_none()) {
            distance.read(to)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_no_gateway_away() {
        let limits = Limits { hops: 4, ..Limits::default() };
        let found = trace(Ipv4Addr::LOCALHOST, &limits, &AtomicBool::new(false)).unwrap();
        assert_eq!(found.gateways, []);
        assert_eq!(found.host.unwrap().address, Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn gaps_are_kept_and_what_lies_beyond_is_not_guessed() {
        let hop =
            |n, is_host| Some((Hop { address: Ipv4Addr::new(10, 0, 0, n), took_ns: 1 }, is_host));
        let together = |answers: &[Option<(Hop, bool)>]| {
            let distances = answers.iter().map(|answer| Distance {
                socket: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(),
                sent_ns: 0,
                answer: *answer,
            });
            let found = put_together(&distances.collect::<Vec<_>>());
            let address = |hop: Hop| hop.address.octets()[3];
            let gateways: Vec<_> = found.gateways.iter().map(|hop| hop.map(address)).collect();
            (gateways, found.host.map(address))
        };
        // The host answers at each further distance, too.
        let whole = [hop(1, false), None, hop(3, false), hop(9, true), hop(9, true)];
        assert_eq!(together(&whole), (vec![Some(1), None, Some(3)], Some(9)));
        assert_eq!(together(&[hop(1, false), None, None]), (vec![Some(1)], None));
        assert_eq!(together(&[None, None]), (vec![], None));
    }
}
