//! Our own request and reply over UDP: a datagram that comes back as it was, marked as a reply.
//!
//! Octets: `CHRq` in a request and `CHRr` in its reply, then a number that tells requests apart
//! (eight octets, big-endian), then any octets up to the size asked for. A reply is never longer
//! than its request and never answered, so that no two servers can be made to talk to each other,
//! and nobody is sent more than he was said to have sent.

use chronoscope_clock as clock;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

const REQUEST: &[u8; 4] = b"CHRq";
const REPLY: &[u8; 4] = b"CHRr";
const HEADER: usize = REQUEST.len() + 8;

/// Largest request, in octets: what a UDP datagram can have over IPv4.
pub const OCTETS_MAX: usize = 65_507;
/// Smallest request, in octets.
pub const OCTETS_MIN: usize = HEADER;

/// Answers one datagram, if it is a request; whether it was. An error of sending is that of the
/// network towards one client, and concerns nobody else.
///
/// # Errors
/// When nothing can be received.
pub fn answer(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<bool> {
    let (len, from) = socket.recv_from(buffer)?;
    let Some(datagram) = buffer[..len].get_mut(..).filter(|d| d.len() >= HEADER) else {
        return Ok(false);
    };
    if !datagram.starts_with(REQUEST) {
        return Ok(false);
    }
    datagram[..REPLY.len()].copy_from_slice(REPLY);
    Ok(socket.send_to(datagram, from).is_ok())
}

/// A client of one server.
#[derive(Debug)]
pub struct Client {
    socket: UdpSocket,
    timeout: Duration,
    request: Vec<u8>,
    reply: Vec<u8>,
    number: u64,
}

impl Client {
    /// A client with requests of `octets`, at least [`OCTETS_MIN`] and at most [`OCTETS_MAX`].
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new(
        socket: UdpSocket,
        server: SocketAddr,
        octets: usize,
        timeout: Duration,
    ) -> io::Result<Self> {
        socket.connect(server)?;
        let octets = octets.clamp(OCTETS_MIN, OCTETS_MAX);
        let mut request = vec![0; octets];
        request[..REQUEST.len()].copy_from_slice(REQUEST);
        // Replies to others' requests, and to our earlier ones, are told by their number.
        let number = u64::from(std::process::id()) << 32;
        Ok(Self { socket, timeout, request, reply: vec![0; octets], number })
    }

    /// One round trip; `false` when no reply came in time. A port that nobody listens on, as far as
    /// the network says so, is as one who does not answer.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn ask(&mut self) -> io::Result<bool> {
        self.number += 1;
        let number = self.number.to_be_bytes();
        self.request[REQUEST.len()..HEADER].copy_from_slice(&number);
        let until_ns = clock::monotonic_ns() + u64::try_from(self.timeout.as_nanos()).unwrap_or(0);
        match self.socket.send(&self.request) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(false),
            Err(error) => return Err(error),
        }
        loop {
            let left_ns = until_ns.saturating_sub(clock::monotonic_ns());
            if left_ns == 0 {
                return Ok(false);
            }
            self.socket.set_read_timeout(Some(Duration::from_nanos(left_ns.max(1000))))?;
            match self.socket.recv(&mut self.reply) {
                Ok(len) if is_reply(&self.reply[..len], &self.request) => return Ok(true),
                Ok(_) => {}
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionRefused => {
                        return Ok(false);
                    }
                    ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
    }
}

fn is_reply(reply: &[u8], request: &[u8]) -> bool {
    let mark = REQUEST.len();
    reply.len() == request.len() && reply.starts_with(REPLY) && reply[mark..] == request[mark..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn socket() -> UdpSocket {
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
    }

    #[test]
    fn a_request_comes_back_and_a_reply_does_not() {
        let server = socket();
        let address = server.local_addr().unwrap();
        let mut client = Client::new(socket(), address, 100, Duration::from_secs(5)).unwrap();
        let serve = std::thread::spawn(move || {
            let mut buffer = vec![0; 2048];
            let answered: Vec<bool> =
                (0..4).map(|_| answer(&server, &mut buffer).unwrap()).collect();
            answered
        });
        assert!(client.ask().unwrap());
        let stranger = socket();
        stranger.send_to(b"CHRr........and more", address).unwrap();
        stranger.send_to(b"CHRq", address).unwrap();
        assert!(client.ask().unwrap());
        assert_eq!(serve.join().unwrap(), [true, false, false, true]);
    }

    #[test]
    fn who_does_not_answer_is_not_waited_for() {
        let server = socket();
        let address = server.local_addr().unwrap();
        let mut client = Client::new(socket(), address, 64, Duration::from_millis(20)).unwrap();
        assert!(!client.ask().unwrap());
        // The answer to the first comes late, and is not taken for one to the second.
        let mut buffer = vec![0; 2048];
        assert!(answer(&server, &mut buffer).unwrap());
        assert!(!client.ask().unwrap());
        drop(server);
        assert!(!client.ask().unwrap(), "nobody listens there");
    }
}
