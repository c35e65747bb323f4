//! Destinations of datagrams: UDP, to one or several addresses, unicast or multicast.

use socket2::SockRef;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The destinations of a program's datagrams.
#[derive(Debug)]
pub struct Destinations {
    addresses: Vec<SocketAddr>,
    port_per_radar: bool,
    v4: Option<UdpSocket>,
    v6: Option<UdpSocket>,
    /// Datagrams that the kernel did not take.
    pub errors: u64,
    /// Reason of the first failure to send.
    pub first_error: Option<String>,
}

impl Destinations {
    /// Destinations at `addresses`; with `port_per_radar` the n-th radar (from 0) sends to each
    /// address's port plus n. IPv4 multicast goes `hops` routers far, IPv6 multicast as far as the
    /// system lets it (one, usually); both go also to listeners on this
    /// host.
    ///
    /// # Errors
    /// When a socket cannot be had.
    pub fn new(addresses: Vec<SocketAddr>, port_per_radar: bool, hops: u32) -> io::Result<Self> {
        let mut sockets = (None, None);
        if addresses.iter().any(SocketAddr::is_ipv4) {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
            socket.set_multicast_ttl_v4(hops)?;
            sockets.0 = Some(socket);
        }
        if addresses.iter().any(SocketAddr::is_ipv6) {
            sockets.1 = Some(UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?);
        }
        let (v4, v6) = sockets;
        Ok(Self { addresses, port_per_radar, v4, v6, errors: 0, first_error: None })
    }

    /// The same, multicast leaving by the interface that has this address.
    ///
    /// # Errors
    /// When no interface has it.
    pub fn through(self, interface: Ipv4Addr) -> io::Result<Self> {
        if let Some(socket) = &self.v4 {
            SockRef::from(socket).set_multicast_if_v4(&interface).map_err(|e| {
                io::Error::new(e.kind(), format!("no interface has the address {interface}: {e}"))
            })?;
        }
        Ok(self)
    }

    /// Sends one datagram of a radar to every destination. Failures are counted and not returned: a
    /// radar continues without listeners.
    pub fn send(&mut self, radar: usize, datagram: &[u8]) {
        for address in &self.addresses {
            let socket = if address.is_ipv4() { &self.v4 } else { &self.v6 };
            let sent = match (socket, port(address.port(), radar, self.port_per_radar)) {
                (Some(socket), Some(port)) => {
                    socket.send_to(datagram, SocketAddr::new(address.ip(), port)).map(drop)
                }
                _ => Err(io::Error::other("no such port")),
            };
            if let Err(error) = sent {
                self.errors += 1;
                self.first_error.get_or_insert_with(|| format!("{address}: {error}"));
            }
        }
    }

    /// The destinations, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = |address: &SocketAddr| {
            let kind = match address.ip() {
                IpAddr::V4(ip) if ip.is_multicast() => " (multicast)",
                IpAddr::V6(ip) if ip.is_multicast() => " (multicast)",
                _ => "",
            };
            let each = if self.port_per_radar { " and up" } else { "" };
            format!("{address}{each}{kind}")
        };
        self.addresses.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

fn port(first: u16, radar: usize, port_per_radar: bool) -> Option<u16> {
    if !port_per_radar {
        return Some(first);
    }
    u16::try_from(radar).ok().and_then(|radar| first.checked_add(radar))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn listener() -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[test]
    fn everyone_gets_everything() {
        let (a, b) = (listener(), listener());
        let mut to = Destinations::new(vec![a.1, b.1], false, 1).unwrap();
        to.send(3, b"plots");
        for (socket, _) in [&a, &b] {
            let mut got = [0; 16];
            assert_eq!(socket.recv(&mut got).unwrap(), 5);
            assert_eq!(&got[..5], b"plots");
        }
        assert_eq!(to.errors, 0);
    }

    #[test]
    fn a_port_of_its_own_for_each_radar() {
        assert_eq!(port(9000, 4, true), Some(9004));
        assert_eq!(port(9000, 4, false), Some(9000));
        assert_eq!(port(65_535, 1, true), None);
    }

    #[test]
    fn what_cannot_be_sent_is_counted() {
        let mut to = Destinations::new(vec!["127.0.0.1:65535".parse().unwrap()], true, 1).unwrap();
        to.send(1, b"plots");
        assert_eq!(to.errors, 1);
        assert_eq!(to.first_error.as_deref(), Some("127.0.0.1:65535: no such port"));
    }
}
