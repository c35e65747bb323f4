//! Sockets with the options that the server wants.

use crate::config::Protocol;
use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Connections that the kernel keeps for us until they are accepted: thousands come back at once
/// after another server of the network went away. The kernel cuts it to `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// Most octets that may wait unsent in the kernel, beyond those in flight. Small, because octets
/// there cannot be taken back when they grow old.
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

/// Silence after which the kernel asks whether the other host is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Receive buffer of a UDP port: a burst of peers waits here while a worker is busy.
const UDP_BUFFER_BYTES: usize = 1 << 20;

/// Makes a socket for connections of a protocol; for [`Protocol::WebSocket`] the TCP socket below
/// it.
///
/// # Errors
/// Error of the system: for SCTP mostly that it is not supported.
pub(crate) fn stream(protocol: Protocol, address: SocketAddr) -> io::Result<Socket> {
    let of_transport = match protocol {
        Protocol::Sctp => socket2::Protocol::SCTP,
        Protocol::Tcp | Protocol::WebSocket | Protocol::Udp => socket2::Protocol::TCP,
    };
    Socket::new(Domain::for_address(address), Type::STREAM, Some(of_transport))
}

/// Opens a port that accepts connections.
///
/// # Errors
/// Error of the system.
pub(crate) fn listen(protocol: Protocol, address: SocketAddr) -> io::Result<Socket> {
    let socket = bound(address, || stream(protocol, address))?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// Opens a port that receives datagrams.
///
/// # Errors
/// Error of the system.
pub(crate) fn datagrams(address: SocketAddr) -> io::Result<Socket> {
    let socket = bound(address, || {
        Socket::new(Domain::for_address(address), Type::DGRAM, Some(socket2::Protocol::UDP))
    })?;
    // The kernel gives what its limit allows; less is no reason not to serve.
    socket.set_recv_buffer_size(UDP_BUFFER_BYTES)?;
    Ok(socket)
}

/// Binds a new socket. `::` takes IPv4 as well, unless a port of IPv4 is there already.
fn bound(address: SocketAddr, new: impl Fn() -> io::Result<Socket>) -> io::Result<Socket> {
    let try_bind = |only_v6: bool| {
        let socket = new()?;
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(true)?;
        if address.is_ipv6() {
            socket.set_only_v6(only_v6)?;
        }
        socket.bind(&address.into()).map(|()| socket)
    };
    match try_bind(false) {
        Err(error)
            if error.kind() == io::ErrorKind::AddrInUse
                && address.is_ipv6()
                && address.ip().is_unspecified() =>
        {
            try_bind(true)
        }
        result => result,
    }
}

/// Sets the options of every TCP or SCTP connection. `stale_after`: the kernel gives up a
/// connection whose host acknowledges nothing for this long.
///
/// # Errors
/// Error of the system: the connection is gone already.
pub(crate) fn prepare(
    socket: &Socket,
    protocol: Protocol,
    stale_after: Duration,
) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    if protocol == Protocol::Sctp {
        return Ok(());
    }
    let socket = SockRef::from(socket);
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))?;
    socket.set_tcp_user_timeout(Some(stale_after))?;
    socket.set_tcp_notsent_lowat(UNSENT_BYTES_MAX)
}

/// Converts an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) to IPv4, the form in which access
/// lists and people write it.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The reverse for sending: an IPv6 socket needs IPv6 addresses.
pub(crate) fn for_family(to: SocketAddr, socket_is_v6: bool) -> SocketAddr {
    match to.ip() {
        IpAddr::V4(ip) if socket_is_v6 => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
        _ => to,
    }
}

/// The address that a socket has, or where it has none (pairs of a WebSocket) `0.0.0.0:0`.
pub(crate) fn local(socket: &Socket) -> SocketAddr {
    let address = socket.local_addr().ok().and_then(|address| address.as_socket());
    address.map_or(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)), canonical)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpStream, UdpSocket};

    #[test]
    fn any_address_takes_both_families() {
        let both = listen(Protocol::Tcp, "[::]:0".parse().unwrap()).unwrap();
        let port = local(&both).port();
        for (host, seen) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1")] {
            let _client = TcpStream::connect((host, port)).unwrap();
            let (_, remote) = both.accept().unwrap();
            let remote = canonical(remote.as_socket().unwrap());
            assert_eq!(remote.ip(), seen.parse::<IpAddr>().unwrap());
        }
    }

    #[test]
    fn beside_a_port_of_ipv4_any_address_is_that_of_ipv6() {
        let four = listen(Protocol::Tcp, "0.0.0.0:0".parse().unwrap()).unwrap();
        let port = local(&four).port();
        let six = listen(Protocol::Tcp, SocketAddr::new("::".parse().unwrap(), port)).unwrap();
        assert!(six.only_v6().unwrap());
    }

    #[test]
    fn a_socket_of_ipv6_reaches_ipv4() {
        let both = datagrams("[::]:0".parse().unwrap()).unwrap();
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = for_family(there.local_addr().unwrap(), true);
        both.send_to(b"x", &to.into()).unwrap();
        let mut buffer = [0; 8];
        let (len, from) = there.recv_from(&mut buffer).unwrap();
        assert_eq!((len, from.port()), (1, local(&both).port()));
    }
}
