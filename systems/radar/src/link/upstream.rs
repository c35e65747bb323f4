//! A subscription to a [`Hub`](super::Hub): blocks in, with reconnection.

use super::frames::BlockReader;
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind, Read as _};
use std::net::SocketAddr;

/// First pause before another attempt, ns. Short: the usual case is a restarted server.
const BACKOFF_MIN_NS: u64 = 100_000_000;
/// Longest pause, ns: what a controller would wait for his picture to come back.
const BACKOFF_MAX_NS: u64 = 2_000_000_000;
/// An attempt that has not succeeded within this is given up, ns.
const CONNECT_NS_MAX: u64 = 5_000_000_000;
/// Octets taken from the socket at a time.
const READ_OCTETS: usize = 64 * 1024;

/// Counts of the subscription. All counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct UpstreamCounts {
    /// Connections established.
    pub connected: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Connections that ended or broke.
    pub lost: u64,
    /// Connections closed because their octets were not ASTERIX blocks.
    pub malformed: u64,
    /// Whole blocks received.
    pub blocks: u64,
    /// Octets received.
    pub octets: u64,
}

#[derive(Debug)]
enum State {
    /// No connection; the next attempt is due at this monotonic time, ns.
    Pausing(u64),
    /// An attempt is under way and is given up at this monotonic time, ns.
    Connecting(TcpStream, u64),
    Connected(TcpStream),
}

/// The subscribing end.
#[derive(Debug)]
pub struct Upstream {
    target: SocketAddr,
    token: Token,
    state: State,
    backoff_ns: u64,
    /// `mio` reports readiness once: it holds until a read finds the socket empty.
    readable: bool,
    reader: BlockReader,
    buffer: Vec<u8>,
    counts: UpstreamCounts,
}

impl Upstream {
    /// A subscription to `target`; the first attempt is made by the first [`Upstream::tick`].
    pub fn new(target: SocketAddr, token: Token) -> Self {
        Self {
            target,
            token,
            state: State::Pausing(0),
            backoff_ns: BACKOFF_MIN_NS,
            readable: false,
            reader: BlockReader::default(),
            buffer: vec![0; READ_OCTETS],
            counts: UpstreamCounts::default(),
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> UpstreamCounts {
        self.counts
    }

    /// Whether the subscription stands.
    pub fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected(_))
    }

    /// Whether [`Upstream::read`] may find something.
    pub fn is_readable(&self) -> bool {
        self.readable
    }

    /// Time when [`Upstream::tick`] has to be called next, monotonic ns.
    pub fn deadline_ns(&self) -> Option<u64> {
        match self.state {
            State::Pausing(at) | State::Connecting(_, at) => Some(at),
            State::Connected(_) => None,
        }
    }

    /// Connects when it is time to; `now_ns` is monotonic.
    pub fn tick(&mut self, registry: &Registry, now_ns: u64) {
        match self.state {
            State::Pausing(at) if now_ns >= at => match self.connect(registry) {
                Ok(stream) => self.state = State::Connecting(stream, now_ns + CONNECT_NS_MAX),
                Err(e) => self.fail(now_ns, &e),
            },
            State::Connecting(_, at) if now_ns >= at => {
                self.fail(now_ns, &ErrorKind::TimedOut.into());
            }
            _ => {}
        }
    }

    /// Handles an event if it is ours.
    pub fn ready(&mut self, event: &Event, now_ns: u64) {
        if event.token() != self.token {
            return;
        }
        if matches!(self.state, State::Connecting(..)) && event.is_writable() {
            self.finish_connecting(now_ns);
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.readable = true;
        }
    }

    /// Reads once and hands every whole block to `see`. Call while [`Upstream::is_readable`].
    pub fn read(&mut self, now_ns: u64, mut see: impl FnMut(&[u8])) {
        let State::Connected(stream) = &mut self.state else {
            self.readable = false;
            return;
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        match stream.read(&mut buffer) {
            Ok(0) => self.lose(now_ns, "closed by the other side"),
            Ok(n) => {
                // Read again even after a short read: the end of the stream may have been part of
                // the same event, and no other event will follow.
                self.counts.octets += n as u64;
                self.reader.extend(&buffer[..n]);
                self.hand_out(now_ns, &mut see);
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => self.readable = false,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => self.lose(now_ns, &e.to_string()),
        }
        self.buffer = buffer;
    }

    fn hand_out(&mut self, now_ns: u64, see: &mut impl FnMut(&[u8])) {
        loop {
            match self.reader.next_block() {
                Ok(Some(block)) => {
                    self.counts.blocks += 1;
                    see(block);
                }
                Ok(None) => return,
                Err(e) => {
                    self.counts.malformed += 1;
                    self.lose(now_ns, &e.to_string());
                    return;
                }
            }
        }
    }

    fn connect(&self, registry: &Registry) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(self.target)?;
        registry.register(&mut stream, self.token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(stream)
    }

    fn finish_connecting(&mut self, now_ns: u64) {
        let State::Connecting(stream, _) = &self.state else { return };
        match stream.take_error() {
            Ok(Some(e)) | Err(e) => return self.fail(now_ns, &e),
            Ok(None) => {}
        }
        match stream.peer_addr() {
            Ok(_) => {}
            // Not yet: another event will come.
            Err(e) if e.kind() == ErrorKind::NotConnected => return,
            Err(e) => return self.fail(now_ns, &e),
        }
        // Only a hint: a stream that refuses it still works.
        let _ = stream.set_nodelay(true);
        let State::Connecting(stream, _) =
            std::mem::replace(&mut self.state, State::Pausing(now_ns))
        else {
            return;
        };
        self.state = State::Connected(stream);
        self.reader.clear();
        self.backoff_ns = BACKOFF_MIN_NS;
        self.counts.connected += 1;
        say!("connected to {}", self.target);
    }

    fn fail(&mut self, now_ns: u64, why: &io::Error) {
        if self.backoff_ns == BACKOFF_MIN_NS {
            say!("cannot connect to {}: {why}; trying again", self.target);
        }
        self.counts.failed += 1;
        self.pause(now_ns);
    }

    fn lose(&mut self, now_ns: u64, why: &str) {
        say!("lost {}: {why}; connecting again", self.target);
        self.counts.lost += 1;
        self.pause(now_ns);
    }

    /// Dropping the stream in the old state closes and deregisters it.
    fn pause(&mut self, now_ns: u64) {
        self.readable = false;
        self.state = State::Pausing(now_ns + self.backoff_ns);
        self.backoff_ns = (self.backoff_ns * 2).min(BACKOFF_MAX_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll};
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::time::Duration;

    struct Bench {
        poll: Poll,
        upstream: Upstream,
        now_ns: u64,
    }

    impl Bench {
        fn new(target: SocketAddr) -> Self {
            let upstream = Upstream::new(target, Token(3));
            Self { poll: Poll::new().unwrap(), upstream, now_ns: 0 }
        }

        /// Turns the poll, its own time going 10 ms a turn, until `done`.
        fn turn_until(&mut self, what: &str, mut done: impl FnMut(&Upstream, &[Vec<u8>]) -> bool) {
            let mut events = Events::with_capacity(8);
            let mut blocks = Vec::new();
            for _ in 0..500 {
                self.upstream.tick(self.poll.registry(), self.now_ns);
                self.poll.poll(&mut events, Some(Duration::from_millis(10))).unwrap();
                self.now_ns += 10_000_000;
                for event in &events {
                    self.upstream.ready(event, self.now_ns);
                }
                while self.upstream.is_readable() {
                    self.upstream.read(self.now_ns, |block| blocks.push(block.to_vec()));
                }
                if done(&self.upstream, &blocks) {
                    return;
                }
            }
            panic!("not within 5 s: {what}");
        }
    }

    #[test]
    fn a_server_that_comes_later_and_again_is_found() {
        // A host of its own: nobody else takes its port while nobody listens.
        let [_, a, b, c] = std::process::id().to_be_bytes();
        let host = std::net::Ipv4Addr::new(127, a | 128, b, c.clamp(1, 254));
        let listener = TcpListener::bind((host, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let mut bench = Bench::new(address);
        bench.turn_until("two refusals", |up, _| up.counts().failed >= 2);

        for round in 1..=2 {
            let listener = TcpListener::bind(address).unwrap();
            bench.turn_until("connected", |up, _| up.is_connected());
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&[62, 0, 4]).unwrap();
            stream.write_all(&[round, 62, 0]).unwrap();
            bench.turn_until("block", |_, blocks| blocks == [vec![62, 0, 4, round]]);
            drop((stream, listener));
            bench.turn_until("lost", |up, _| up.counts().lost == u64::from(round));
        }
        // The half block before the break did not spoil the next connection.
        assert_eq!(bench.upstream.counts().malformed, 0);
    }

    #[test]
    fn a_stream_of_something_else_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut bench = Bench::new(listener.local_addr().unwrap());
        bench.turn_until("connected", |up, _| up.is_connected());
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&[9, 0, 0]).unwrap();
        bench.turn_until("given up", |up, _| up.counts().malformed == 1);
    }
}
