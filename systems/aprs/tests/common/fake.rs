//! Other servers, played by the test.

use super::{Client, Sends, free_port, loopback};
use chronoscope_clock as clock;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::time::Duration;

/// A server that the server under test connects to.
#[derive(Debug)]
pub struct Upstream {
    listener: TcpListener,
    name: String,
}

impl Upstream {
    /// Listens on an address of its own.
    pub fn new(name: &str) -> Self {
        Self::on(name, loopback())
    }

    /// Listens on this address.
    pub fn on(name: &str, ip: IpAddr) -> Self {
        let listener = TcpListener::bind((ip, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { listener, name: name.to_owned() }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// The directive that makes a server connect here: `kind` is `full`, `ro` or `multiro`.
    pub fn directive(&self, kind: &str) -> String {
        let address = self.address();
        format!("Uplink {} {kind} tcp {} {}\n", self.name, address.ip(), address.port())
    }

    /// Waits for the server's connection, and nothing else.
    #[track_caller]
    pub fn connected(&self) -> (Client, SocketAddr) {
        // A server waits before it connects, and aprsc more so.
        for _ in 0..3000 {
            match self.listener.accept() {
                Ok((stream, from)) => {
                    stream.set_nonblocking(false).unwrap();
                    return (Client::accepted(stream), from);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    clock::sleep(Duration::from_millis(5));
                }
                Err(error) => panic!("accepting: {error}"),
            }
        }
        panic!("nobody connects to {}", self.name);
    }

    /// Waits for the server's connection and lets it log in; also what its login was.
    #[track_caller]
    pub fn login(&self) -> (Client, String) {
        let (mut client, _) = self.connected();
        client.send("# upstream 1.0");
        let login = String::from_utf8(client.packet()).unwrap();
        let call = login.split_ascii_whitespace().nth(1).unwrap_or_else(|| panic!("{login:?}"));
        client.send(format!("# logresp {call} verified, server {}", self.name));
        (client, login)
    }
}

/// A core peer.
#[derive(Debug)]
pub struct UdpPeer {
    socket: UdpSocket,
    server: SocketAddr,
    name: String,
}

impl UdpPeer {
    /// A peer of a server whose own address for peers is chosen here.
    pub fn new(name: &str) -> Self {
        let ip = loopback();
        let socket = UdpSocket::bind((ip, 0)).unwrap();
        Self { socket, server: free_port(ip), name: name.to_owned() }
    }

    /// The directive that makes it a peer of the server `TESTING`.
    pub fn directive(&self) -> String {
        let (server, own) = (self.server, self.socket.local_addr().unwrap());
        format!("PeerGroup TEST udp {server} TESTING {server} {} {own}\n", self.name)
    }

    /// Where the server is reached by its peers.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// The next datagram as it is, if one comes in time.
    pub fn datagram(&self, timeout: Duration) -> Option<Vec<u8>> {
        self.socket.set_read_timeout(Some(timeout)).unwrap();
        let mut buffer = [0; 2048];
        match self.socket.recv(&mut buffer) {
            Ok(count) => Some(buffer[..count].to_vec()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(error) => panic!("receiving: {error}"),
        }
    }

    /// The next datagram that holds a packet.
    #[track_caller]
    pub fn packet(&self) -> Vec<u8> {
        loop {
            match self.datagram(Duration::from_secs(60)) {
                Some(line) if line.starts_with(b"#") => {}
                Some(line) => return line,
                None => panic!("no datagram came"),
            }
        }
    }
}

impl Sends for UdpPeer {
    fn send(&mut self, line: impl AsRef<[u8]>) {
        self.socket.send_to(line.as_ref(), self.server).unwrap();
    }
}
