//! Datagrams in: those sent to one address, and those sent to multicast groups.
//!
//! Each group has a socket of its own, bound to the group's address: a socket bound to the address
//! of an interface hears nothing that is sent to a group. The sockets share their port with those of
//! other programs, so that two receivers on one host hear one group.
//!
//! A membership belongs to an interface, and is gone when the interface is removed and made again
//! (a tunnel, a VLAN, a container's network). [`Datagrams::rejoin`] finds that and joins again.

use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// Most groups joined at a time.
pub const GROUPS_MAX: usize = 64;

/// Receives the datagrams of one address and of the groups joined.
#[derive(Debug)]
pub struct Datagrams {
    /// Address and port of `receivers[0]`; the groups have its port.
    at: SocketAddr,
    first: Token,
    receivers: Vec<Receiver>,
    /// Receiver that is asked next.
    next: usize,
    rejoined: u64,
}

#[derive(Debug)]
struct Receiver {
    socket: UdpSocket,
    /// The group that it is a member of.
    group: Option<IpAddr>,
    /// Whether the interface of the group is gone; said once.
    away: bool,
    /// Whether the socket may hold more: its event is reported once.
    readable: bool,
}

impl Datagrams {
    /// Listens on `at`, and on the port of `at` for `groups`, joined on the interface that has the
    /// address of `at` (for an unspecified address, on the one that the system chooses). The sockets
    /// are registered under the tokens `first..=first + groups`.
    ///
    /// # Errors
    /// When the address cannot be bound, a group cannot be joined, or there are more than
    /// [`GROUPS_MAX`].
    pub fn open(
        at: SocketAddr,
        groups: &[IpAddr],
        registry: &Registry,
        first: Token,
    ) -> io::Result<Self> {
        if groups.len() > GROUPS_MAX {
            let text = format!("{} groups: at most {GROUPS_MAX} can be joined", groups.len());
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        let named = |e: io::Error| io::Error::new(e.kind(), format!("cannot receive on {at}: {e}"));
        let socket = unicast(at).map_err(named)?;
        let at = socket.local_addr()?;
        let mut this = Self { at, first, receivers: Vec::new(), next: 0, rejoined: 0 };
        this.add(socket, None, registry)?;
        for group in groups {
            let socket = member(*group, at).map_err(|e| {
                io::Error::new(e.kind(), format!("cannot join {group} on {}: {e}", at.ip()))
            })?;
            this.add(socket, Some(*group), registry)?;
        }
        Ok(this)
    }

    fn add(
        &mut self,
        mut socket: UdpSocket,
        group: Option<IpAddr>,
        registry: &Registry,
    ) -> io::Result<()> {
        let token = Token(self.first.0 + self.receivers.len());
        registry.register(&mut socket, token, Interest::READABLE)?;
        self.receivers.push(Receiver { socket, group, away: false, readable: false });
        Ok(())
    }

    /// The address listened on, with the port that the kernel chose.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.at
    }

    /// Memberships that were renewed because their interface had been made again.
    #[must_use]
    pub fn rejoined(&self) -> u64 {
        self.rejoined
    }

    /// Takes note of an event if it is of one of these sockets.
    pub fn ready(&mut self, token: Token) {
        let index = token.0.checked_sub(self.first.0);
        if let Some(receiver) = index.and_then(|index| self.receivers.get_mut(index)) {
            receiver.readable = true;
        }
    }

    /// Whether [`Datagrams::receive`] may find something.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.receivers.iter().any(|receiver| receiver.readable)
    }

    /// The next datagram, in `buffer`: its octets, or `None` when there is none now. The sockets
    /// take turns.
    ///
    /// # Errors
    /// When one could not be received: an ICMP answer to something that was never sent, or memory
    /// short for a moment. Go on.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        for _ in 0..self.receivers.len() {
            let index = self.next;
            self.next = (self.next + 1) % self.receivers.len();
            let receiver = &mut self.receivers[index];
            while receiver.readable {
                match receiver.socket.recv_from(buffer) {
                    Ok((octets, _)) => return Ok(Some(octets)),
                    Err(e) if e.kind() == ErrorKind::WouldBlock => receiver.readable = false,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => {
                        receiver.readable = false;
                        return Err(e);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Joins the groups again whose interface was removed and made again; call about once a second.
    /// Costs one system call a group.
    pub fn rejoin(&mut self, registry: &Registry) {
        for (index, receiver) in self.receivers.iter_mut().enumerate() {
            let Some(group) = receiver.group else { continue };
            let token = Token(self.first.0 + index);
            match join(&receiver.socket, group, self.at.ip()) {
                // Still a member.
                Err(e) if e.kind() == ErrorKind::AddrInUse => {}
                // Another interface than before has the address. The old membership would count
                // against the system's limit of memberships of a socket, so a new socket is made.
                Ok(()) => match renew(receiver, group, self.at, registry, token) {
                    Ok(()) => {
                        self.rejoined += 1;
                        say!("joined {group} again: its interface {} was made anew", self.at.ip());
                    }
                    Err(e) => say!("cannot join {group} again: {e}; trying again"),
                },
                Err(e) if !receiver.away => {
                    receiver.away = true;
                    let at = self.at.ip();
                    say!("no interface has {at} any more ({e}): {group} is joined when it is back");
                }
                Err(_) => {}
            }
        }
    }
}

fn renew(
    receiver: &mut Receiver,
    group: IpAddr,
    at: SocketAddr,
    registry: &Registry,
    token: Token,
) -> io::Result<()> {
    let mut socket = member(group, at)?;
    registry.register(&mut socket, token, Interest::READABLE)?;
    *receiver = Receiver { socket, group: Some(group), away: false, readable: true };
    Ok(())
}

/// A socket that hears what is sent to `at` alone, not what other programs of this host joined.
fn unicast(at: SocketAddr) -> io::Result<UdpSocket> {
    let socket = open(Domain::for_address(at))?;
    socket.bind(&at.into())?;
    let socket: std::net::UdpSocket = socket.into();
    Ok(UdpSocket::from_std(socket))
}

/// A socket that hears `group` on the port of `at`.
fn member(group: IpAddr, at: SocketAddr) -> io::Result<UdpSocket> {
    let address = match group {
        IpAddr::V4(_) => SocketAddr::new(group, at.port()),
        IpAddr::V6(group) => SocketAddrV6::new(group, at.port(), 0, interface(at.ip())).into(),
    };
    if !group.is_multicast() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a multicast group"));
    }
    let socket = open(Domain::for_address(address))?;
    // Another receiver of the group may be on this host.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    let socket: std::net::UdpSocket = socket.into();
    let socket = UdpSocket::from_std(socket);
    join(&socket, group, at.ip())?;
    Ok(socket)
}

fn open(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    // Groups that this socket has not joined itself are not its business (Linux delivers them).
    if domain == Domain::IPV4 {
        socket.set_multicast_all_v4(false)?;
    } else {
        socket.set_multicast_all_v6(false)?;
    }
    Ok(socket)
}

fn join(socket: &UdpSocket, group: IpAddr, at: IpAddr) -> io::Result<()> {
    match (group, at) {
        (IpAddr::V4(group), IpAddr::V4(interface)) => socket.join_multicast_v4(&group, &interface),
        (IpAddr::V4(group), IpAddr::V6(_)) => {
            socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED)
        }
        (IpAddr::V6(group), _) => socket.join_multicast_v6(&group, interface(at)),
    }
}

/// Index of the interface that has an IPv6 address; 0, which lets the system choose, for others.
fn interface(at: IpAddr) -> u32 {
    let IpAddr::V6(at) = at else { return 0 };
    if at.is_unspecified() {
        return 0;
    }
    let table = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    index_in(&table, at).unwrap_or(0)
}

/// Lines of the table: address (32 digits), index, length of the prefix, scope, flags (all in
/// hexadecimal), name.
fn index_in(table: &str, at: Ipv6Addr) -> Option<u32> {
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let address = u128::from_str_radix(words.next()?, 16).ok()?;
        (address == at.to_bits()).then(|| u32::from_str_radix(words.next()?, 16).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll};
    use std::time::Duration;

    fn heard(datagrams: &mut Datagrams, poll: &mut Poll) -> Vec<Vec<u8>> {
        let mut events = Events::with_capacity(8);
        let mut heard = Vec::new();
        let mut buffer = [0; 64];
        for _ in 0..500 {
            poll.poll(&mut events, Some(Duration::from_millis(10))).unwrap();
            events.iter().for_each(|event| datagrams.ready(event.token()));
            while let Some(octets) = datagrams.receive(&mut buffer).unwrap() {
                heard.push(buffer[..octets].to_vec());
            }
            if heard.len() >= 2 {
                break;
            }
        }
        heard
    }

    #[test]
    fn an_address_and_a_group_on_its_interface_are_heard_once() {
        let mut poll = Poll::new().unwrap();
        let group = "239.81.7.1".parse().unwrap();
        let at = "127.0.0.1:0".parse().unwrap();
        let mut first = Datagrams::open(at, &[group], poll.registry(), Token(5)).unwrap();
        let at = first.local_addr();
        let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = Socket::from(sender);
        sender.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        sender.send_to(b"to the group", &SocketAddr::new(group, at.port()).into()).unwrap();
        sender.send_to(b"to the address", &at.into()).unwrap();
        let mut found = heard(&mut first, &mut poll);
        found.sort();
        assert_eq!(found, [b"to the address".to_vec(), b"to the group".to_vec()]);
        first.rejoin(poll.registry());
        assert_eq!(first.rejoined(), 0, "it is a member still");
    }

    #[test]
    fn refusals_name_the_group() {
        let poll = Poll::new().unwrap();
        let refused = |group: &str| {
            let at = "127.0.0.1:0".parse().unwrap();
            let groups = [group.parse().unwrap()];
            Datagrams::open(at, &groups, poll.registry(), Token(0)).unwrap_err().to_string()
        };
        let message = refused("127.0.0.5");
        assert!(message.contains("cannot join 127.0.0.5 on 127.0.0.1"), "{message}");
        let groups = vec!["239.1.1.1".parse().unwrap(); GROUPS_MAX + 1];
        let at = "127.0.0.1:0".parse().unwrap();
        let error = Datagrams::open(at, &groups, poll.registry(), Token(0)).unwrap_err();
        assert!(error.to_string().contains("at most 64"), "{error}");
    }

    #[test]
    fn an_interface_of_an_address() {
        let table = "00000000000000000000000000000001 01 80 10 80       lo\n\
                     fe800000000000000042acfffe110002 1f 40 20 80     eth0\n";
        assert_eq!(index_in(table, "::1".parse().unwrap()), Some(1));
        assert_eq!(index_in(table, "fe80::42:acff:fe11:2".parse().unwrap()), Some(31));
        assert_eq!(index_in(table, "fe80::1".parse().unwrap()), None);
    }
}
