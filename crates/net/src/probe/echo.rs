//! Our own request and reply: the octets come back unchanged, marked as a reply.
//!
//! Octets: `CHRq` in a request and `CHRr` in its reply, then a number that tells requests apart
//! (eight octets, big-endian), then any octets up to the requested size. A reply is never longer
//! than its request and never answered: two servers cannot be made to reply to each other, and a
//! forged sender address cannot amplify traffic. Over UDP that is one datagram; over TCP the same
//! octets follow their count (four octets, big-endian), any number of requests on one connection.
//! The page of the format: `docs/formats/echo.md`.

use super::deadline::{Deadline, Loss, ProbeResult, loss_of};
use super::stream::{Connection, Waits};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// First octets of a request.
pub const REQUEST: &[u8; 4] = b"CHRq";
/// First octets of a reply.
pub const REPLY: &[u8; 4] = b"CHRr";
const HEADER: usize = REQUEST.len() + 8;

/// Largest request, in octets: what a UDP datagram can have over IPv4.
pub const OCTETS_MAX: usize = 65_507;
/// Smallest request, in octets.
pub const OCTETS_MIN: usize = HEADER;
/// Octets of the count that stands before a request or reply over TCP.
pub const COUNT_OCTETS: usize = 4;

/// A count over TCP that is none of a request or reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a count of {octets} octets: expected {OCTETS_MIN} to {OCTETS_MAX}")]
pub struct CountError {
    /// The invalid count.
    pub octets: u32,
}

/// Checks the number of octets that follow, over TCP.
///
/// # Errors
/// When it is outside [[`OCTETS_MIN`], [`OCTETS_MAX`]].
pub fn count(octets: [u8; COUNT_OCTETS]) -> Result<usize, CountError> {
    let octets = u32::from_be_bytes(octets);
    let count = usize::try_from(octets).unwrap_or(usize::MAX);
    if (OCTETS_MIN..=OCTETS_MAX).contains(&count) { Ok(count) } else { Err(CountError { octets }) }
}

/// Makes the reply of a request, in its place; `false` and untouched when it is no request.
pub fn reply(octets: &mut [u8]) -> bool {
    let is_request = octets.len() >= HEADER && octets.starts_with(REQUEST);
    if is_request {
        octets[..REPLY.len()].copy_from_slice(REPLY);
    }
    is_request
}

/// Receives one datagram and answers it if it is a request. Returns whether it was one. An error of
/// sending concerns one client only and is ignored.
///
/// # Errors
/// When the socket cannot receive.
pub fn answer(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<bool> {
    let (len, from) = socket.recv_from(buffer)?;
    let datagram = &mut buffer[..len];
    Ok(reply(datagram) && socket.send_to(datagram, from).is_ok())
}

/// A client of one server, by datagrams.
#[derive(Debug)]
pub struct Client {
    socket: UdpSocket,
    timeout: Duration,
    waits: Waits,
    requests: Requests,
    reply: Vec<u8>,
}

impl Client {
    /// Makes a client with requests of `octets`, at least [`OCTETS_MIN`] and at most
    /// [`OCTETS_MAX`].
    ///
    /// # Errors
    /// Error of the system.
    pub fn new(
        socket: UdpSocket,
        server: SocketAddr,
        octets: usize,
        timeout: Duration,
    ) -> io::Result<Self> {
        socket.connect(server)?;
        let requests = Requests::new(octets, 0);
        // One octet more than needed, so that a longer datagram is not taken for one that was cut.
        let reply = vec![0; requests.octets.len() + 1];
        Ok(Self { socket, timeout, waits: Waits::default(), requests, reply })
    }

    /// Makes one round trip; `false` when no reply came in time. A closed port, as far as the
    /// network reports it, counts as no reply.
    ///
    /// # Errors
    /// Error of the system.
    pub fn ask(&mut self) -> io::Result<bool> {
        Ok(self.probe()?.is_ok())
    }

    pub(crate) fn probe(&mut self) -> io::Result<ProbeResult> {
        match self.round_trip(Deadline::after(self.timeout)) {
            Ok(()) => Ok(Ok(())),
            Err(error) => Ok(Err(loss_of(error)?)),
        }
    }

    fn round_trip(&mut self, deadline: Deadline) -> io::Result<()> {
        self.socket.send(self.requests.next())?;
        loop {
            if let Some(left) = self.waits.until(deadline)? {
                self.socket.set_read_timeout(Some(left))?;
            }
            match self.socket.recv(&mut self.reply) {
                Ok(len) if self.requests.is_reply(&self.reply[..len]) => return Ok(()),
                // A reply to another request, or an invalid one.
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Requests of one size, each with another number.
#[derive(Debug)]
struct Requests {
    /// The count over TCP, if any, and the request.
    octets: Vec<u8>,
    /// Begin of the request.
    from: usize,
    number: u64,
}

impl Requests {
    /// With so many octets before each that hold its count.
    fn new(octets: usize, before: usize) -> Self {
        let size = octets.clamp(OCTETS_MIN, OCTETS_MAX);
        let mut octets = vec![0; before + size];
        if before == COUNT_OCTETS {
            let count = u32::try_from(size).unwrap_or(u32::MAX);
            octets[..before].copy_from_slice(&count.to_be_bytes());
        }
        octets[before..][..REQUEST.len()].copy_from_slice(REQUEST);
        // Replies to other processes' requests, and to our earlier ones, are recognised by their
        // number.
        Self { octets, from: before, number: u64::from(std::process::id()) << 32 }
    }

    /// The next one, with its count.
    fn next(&mut self) -> &[u8] {
        self.number += 1;
        let number = self.from + REQUEST.len();
        self.octets[number..][..8].copy_from_slice(&self.number.to_be_bytes());
        &self.octets
    }

    fn is_reply(&self, reply: &[u8]) -> bool {
        let request = &self.octets[self.from..];
        let mark = REQUEST.len();
        reply.len() == request.len() && reply.starts_with(REPLY) && reply[mark..] == request[mark..]
    }
}

/// Echo over one connection, which stays open.
#[derive(Debug)]
pub(crate) struct Stream {
    connection: Connection,
    requests: Requests,
    reply: Vec<u8>,
}

impl Stream {
    /// Over `connection`, with requests of `octets` as in [`Client::new`].
    pub(crate) fn new(connection: Connection, octets: usize) -> Self {
        let requests = Requests::new(octets, COUNT_OCTETS);
        let reply = vec![0; requests.octets.len()];
        Self { connection, requests, reply }
    }

    /// Whether the connection is open and has received no unrequested octets.
    pub(crate) fn is_fresh(&self) -> bool {
        self.connection.is_quiet()
    }

    /// Makes one round trip. After a loss the connection must not be used: a late reply would be
    /// taken for the reply to another request.
    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<ProbeResult> {
        match self.round_trip(deadline) {
            Ok(result) => Ok(result),
            Err(error) => Ok(Err(loss_of(error)?)),
        }
    }

    fn round_trip(&mut self, deadline: Deadline) -> io::Result<ProbeResult> {
        self.connection.write_all(self.requests.next(), deadline)?;
        let mut have = 0;
        while have < self.reply.len() {
            have += self.connection.read(&mut self.reply[have..], deadline)?;
            // A peer that announces another count might never send the expected octets.
            let said = have.min(COUNT_OCTETS);
            if self.reply[..said] != self.requests.octets[..said] {
                return Ok(Err(Loss::Wrong("another count of octets than was sent".to_owned())));
            }
        }
        if !self.requests.is_reply(&self.reply[COUNT_OCTETS..]) {
            let what = "not the octets that were sent, marked as a reply";
            return Ok(Err(Loss::Wrong(what.to_owned())));
        }
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

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
        assert_eq!(client.probe().unwrap(), Err(Loss::Late));
        // The answer to the first comes late, and is not taken for one to the second.
        let mut buffer = vec![0; 2048];
        assert!(answer(&server, &mut buffer).unwrap());
        assert_eq!(client.probe().unwrap(), Err(Loss::Late));
        drop(server);
        assert_eq!(client.probe().unwrap(), Err(Loss::Refused));
    }

    /// Result of a TCP client whose server answers with `octets` of its request.
    fn answered(with: impl FnOnce(&[u8], &mut TcpStream) + Send + 'static) -> ProbeResult {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let serve = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = vec![0; COUNT_OCTETS + 40];
            stream.read_exact(&mut request).unwrap();
            with(&request, &mut stream);
            stream
        });
        let deadline = Deadline::after(Duration::from_secs(5));
        let mut client = Stream::new(Connection::open(address, deadline).unwrap(), 40);
        let result = client.probe(deadline).unwrap();
        drop(serve.join().unwrap());
        result
    }

    #[test]
    fn the_same_octets_go_over_a_connection() {
        let result = answered(|request, stream| {
            assert_eq!(count(request[..4].try_into().unwrap()), Ok(40));
            let mut back = request.to_vec();
            assert!(reply(&mut back[4..]));
            let (one, two) = back.split_at(9);
            stream.write_all(one).unwrap();
            stream.write_all(two).unwrap();
        });
        assert_eq!(result, Ok(()));
    }

    #[test]
    fn what_comes_back_otherwise_is_told_apart() {
        let half = answered(|request, stream| {
            stream.write_all(&request[..20]).unwrap();
            stream.shutdown(std::net::Shutdown::Both).unwrap();
        });
        assert_eq!(half, Err(Loss::Closed));
        let unmarked = answered(|request, stream| stream.write_all(request).unwrap());
        assert!(matches!(unmarked, Err(Loss::Wrong(_))), "{unmarked:?}");
        let short = answered(|_, stream| stream.write_all(b"HTTP/1.1").unwrap());
        assert!(matches!(short, Err(Loss::Wrong(_))), "{short:?}");
    }

    #[test]
    fn counts_out_of_range_are_refused() {
        for octets in [0_u32, 11, 65_508, u32::MAX] {
            let error = count(octets.to_be_bytes()).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("a count of {octets} octets: expected 12 to 65507")
            );
        }
        assert_eq!([12_u32, 65_507].map(|n| count(n.to_be_bytes())), [Ok(12), Ok(65_507)]);
    }
}
