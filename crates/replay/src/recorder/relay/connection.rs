//! A connection from outside and its counterpart to the system.

use super::counts::RelayCounts;
use super::token::{INSIDE, OUTSIDE, token};
use crate::recorder::log::{Log, LogEntry};
use crate::recorder::segments::Stream;
use chronoscope_clock as clock;
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Interest, Registry};
use socket2::SockRef;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

/// Pieces that a connection passes on before others have their turn.
const PIECES_MAX: usize = 16;

/// Next action for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pumped {
    /// Nothing until an event.
    Waits,
    /// More, when others had their turn.
    HasMore,
    /// The connection is closed.
    Over,
}

#[derive(Debug)]
struct End {
    socket: TcpStream,
    readable: bool,
    writable: bool,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct Half {
    /// Read and not written yet.
    pending: Vec<u8>,
    /// The reading end has reached its end.
    ended: bool,
    /// The writing end was informed of the end.
    told: bool,
}

#[derive(Debug)]
pub(super) struct Connection {
    outside: End,
    inside: End,
    inward: Half,
    outward: Half,
    connected: bool,
    recorded: Stream,
    last_ns: i64,
    to: SocketAddr,
    over: bool,
}

/// Progress of a direction.
enum Moved {
    /// Octets or an end.
    Some,
    None,
    /// The reading end broke.
    Reader(io::Error),
    /// The writing end broke.
    Writer(io::Error),
}

impl Connection {
    /// Takes an accepted connection, records that it was opened, and begins one to the system.
    pub(super) fn open(
        outside: TcpStream,
        from: SocketAddr,
        to: SocketAddr,
        number: u64,
        log: &Log,
    ) -> io::Result<Self> {
        let listens = outside.local_addr()?;
        let canonical =
            |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
        let number = u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0);
        let (recorded, packet) = Stream::open(canonical(from), canonical(listens), number);
        let last_ns = clock::utc_now_ns();
        packet.into_iter().for_each(|packet| log.push(LogEntry::ip(last_ns, packet)));
        let inside = match TcpStream::connect(to) {
            Ok(inside) => inside,
            Err(error) => {
                abort(&outside);
                recorded.reset().into_iter().for_each(|p| log.push(LogEntry::ip(last_ns, p)));
                return Err(error);
            }
        };
        for socket in [&outside, &inside] {
            socket.set_nodelay(true)?; // the senders decide what goes together
        }
        let end = |socket| End { socket, readable: false, writable: false };
        Ok(Self {
            outside: end(outside),
            inside: end(inside),
            inward: Half::default(),
            outward: Half::default(),
            connected: false,
            recorded,
            last_ns,
            to,
            over: false,
        })
    }

    pub(super) fn register(&mut self, registry: &Registry, key: usize) -> io::Result<()> {
        let both = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut self.outside.socket, token(OUTSIDE, key), both)?;
        registry.register(&mut self.inside.socket, token(INSIDE, key), both)
    }

    /// Handles an event at one end.
    pub(super) fn ready(&mut self, outside: bool, event: &Event) {
        let end = if outside { &mut self.outside } else { &mut self.inside };
        end.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        end.writable |= event.is_writable() || event.is_error();
    }

    /// Passes on what there is, in both directions.
    pub(super) fn pump(&mut self, piece: &mut [u8], log: &Log, passed: &mut RelayCounts) -> Pumped {
        if !self.connected {
            match self.connect() {
                Ok(true) => self.connected = true,
                Ok(false) => return Pumped::Waits,
                Err(error) => {
                    passed.refused_count += 1;
                    passed.last_error = Some(format!("{}: {error}", self.to));
                    return self.cut(log);
                }
            }
        }
        for _ in 0..PIECES_MAX {
            let inward = self.inward.step(&mut self.outside, &mut self.inside, piece, |octets| {
                passed.inward_bytes += octets.len() as u64;
                // Times of one stream never go back: they are its order.
                self.last_ns = clock::utc_now_ns().max(self.last_ns);
                if let Some(packet) = self.recorded.octets(octets) {
                    log.push(LogEntry::ip(self.last_ns, packet));
                }
            });
            let ended = self.inward.ended && !self.over;
            let outward = self.outward.step(&mut self.inside, &mut self.outside, piece, |octets| {
                passed.outward_bytes += octets.len() as u64;
            });
            if ended {
                self.over = true;
                let packet = self.recorded.end();
                self.record(packet, log);
            }
            match (inward, outward) {
                (Moved::None, Moved::None) => {
                    let over = self.inward.told && self.outward.told;
                    return if over { Pumped::Over } else { Pumped::Waits };
                }
                // What broke outside is nothing that went wrong here.
                (Moved::Reader(_), _) | (_, Moved::Writer(_)) => return self.cut(log),
                (Moved::Writer(error), _) | (_, Moved::Reader(error)) => {
                    passed.last_error = Some(format!("{}: {error}", self.to));
                    return self.cut(log);
                }
                _ => {}
            }
        }
        Pumped::HasMore
    }

    /// Breaks both ends, as one of them broke, and records that nothing more comes.
    pub(super) fn cut(&mut self, log: &Log) -> Pumped {
        if !self.over {
            self.over = true;
            let packet = self.recorded.reset();
            self.record(packet, log);
        }
        abort(&self.outside.socket);
        abort(&self.inside.socket);
        Pumped::Over
    }

    fn record(&mut self, packet: Option<Vec<u8>>, log: &Log) {
        self.last_ns = clock::utc_now_ns().max(self.last_ns);
        packet.into_iter().for_each(|packet| log.push(LogEntry::ip(self.last_ns, packet)));
    }

    /// Whether the connection to the system stands.
    fn connect(&self) -> io::Result<bool> {
        if let Some(error) = self.inside.socket.take_error()? {
            return Err(error);
        }
        match self.inside.socket.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Closing it will reset it.
fn abort(socket: &TcpStream) {
    // A broken connection need not be informed.
    let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
}

impl Half {
    /// Writes pending octets, else reads a piece, passes it to `each`, and writes it.
    fn step(
        &mut self,
        reader: &mut End,
        writer: &mut End,
        piece: &mut [u8],
        each: impl FnOnce(&[u8]),
    ) -> Moved {
        if !self.pending.is_empty() {
            if !writer.writable {
                return Moved::None;
            }
            let pending = std::mem::take(&mut self.pending);
            return match write(writer, &pending) {
                Ok(0) => {
                    self.pending = pending;
                    Moved::None
                }
                Ok(length) => {
                    self.pending.extend_from_slice(&pending[length..]);
                    Moved::Some
                }
                Err(error) => Moved::Writer(error),
            };
        }
        if self.ended {
            return self.tell(writer);
        }
        if !reader.readable {
            return Moved::None;
        }
        let length = match reader.socket.read(piece) {
            Ok(0) => {
                self.ended = true;
                return Moved::Some;
            }
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                reader.readable = false;
                return Moved::None;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => return Moved::Some,
            Err(error) => return Moved::Reader(error),
        };
        each(&piece[..length]);
        match write(writer, &piece[..length]) {
            Ok(written) => {
                self.pending.extend_from_slice(&piece[written..length]);
                Moved::Some
            }
            Err(error) => Moved::Writer(error),
        }
    }

    fn tell(&mut self, writer: &End) -> Moved {
        if std::mem::replace(&mut self.told, true) {
            return Moved::None;
        }
        match writer.socket.shutdown(Shutdown::Write) {
            Err(error) if error.kind() != ErrorKind::NotConnected => Moved::Writer(error),
            _ => Moved::Some,
        }
    }
}

/// Octets that found room.
fn write(writer: &mut End, octets: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < octets.len() && writer.writable {
        match writer.socket.write(&octets[written..]) {
            Ok(length) => written += length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => writer.writable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
