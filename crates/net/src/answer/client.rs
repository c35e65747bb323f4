//! Client of a server for requests besides echo.

use super::cpu::{Cpu, Meter};
use super::frame::{self, ANSWER, ASK, HELLO};
use super::request::{
    Bulk, Measured, Probe, Reply, Request, TransferReport, VERSION, VersionedRequest,
};
use super::token::{PROOF, Token};
use super::wire::{self, CHUNK, STALL, Wire};
use chronoscope_clock as clock;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longest time for a connection, and for the answer to a request.
const WITHIN: Duration = Duration::from_secs(5);
/// Time added to a transfer's own, for octets in flight on a slow network.
const GRACE: Duration = Duration::from_secs(20);

/// Reasons why a request to a server failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The server cannot be reached.
    #[error("{server} cannot be reached over TCP: {source}")]
    Unreachable {
        /// Address of the server.
        server: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// The server refused the request.
    #[error("{server} refuses the request: {why}")]
    Refused {
        /// Address of the server.
        server: SocketAddr,
        /// In its words.
        why: String,
    },
    /// The connection ended, or its octets are invalid.
    #[error("the exchange with {server} failed: {source}")]
    Broken {
        /// Address of the server.
        server: SocketAddr,
        /// Error that ended the exchange.
        source: io::Error,
    },
}

/// A bulk transfer in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transferred {
    /// Octets that were received.
    pub octets: u64,
    /// Begin of the transfer: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Time from the first octet until all had been received, in nanoseconds.
    pub took_ns: u64,
    /// CPU time at this end.
    pub here: Cpu,
    /// And at the server's.
    pub there: Cpu,
}

impl Transferred {
    /// Speed of the transfer, in bits per second.
    #[must_use]
    pub fn bits_per_s(&self) -> f64 {
        self.octets as f64 * 8e9 / self.took_ns.max(1) as f64
    }
}

/// Client of a server: its address, and the token that it requires, if any.
#[derive(Clone, Debug)]
pub struct AnswerClient {
    /// Address of the server.
    pub server: SocketAddr,
    /// The secret that both know.
    pub token: Option<Token>,
}

impl AnswerClient {
    /// Sends bulk data, until one of the limits.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn send(&self, bulk: Bulk) -> Result<Transferred, CallError> {
        let mut wire = self.ask(Request::Sink(bulk))?;
        self.to(self.sending(&mut wire, bulk))
    }

    /// Lets bulk data be sent, until one of the limits.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn receive(&self, bulk: Bulk) -> Result<Transferred, CallError> {
        let mut wire = self.ask(Request::Source(bulk))?;
        self.to(self.receiving(&mut wire, bulk))
    }

    /// Lets the server measure round trips to another host.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn probe(&self, probe: &Probe) -> Result<Measured, CallError> {
        let mut wire = self.ask(Request::Probe(probe.clone()))?;
        let within = super::request::PROBE_TIME_MAX + WITHIN;
        wire.within(within, within);
        match self.to(answer(&mut wire))? {
            Reply::Measured(measured) => Ok(measured),
            other => self.to(Err(unexpected(&other))),
        }
    }

    /// Asks, and lets it answer.
    fn ask(&self, ask: Request) -> Result<Wire, CallError> {
        let server = self.server;
        let stream = TcpStream::connect_timeout(&server, WITHIN)
            .map_err(|source| CallError::Unreachable { server, source })?;
        let mut wire = self.to(Wire::new(stream, WITHIN))?;
        self.to(self.say(&mut wire, ask))?;
        Ok(wire)
    }

    fn say(&self, wire: &mut Wire, ask: Request) -> io::Result<()> {
        wire.write_all(&frame::frame(&[HELLO]))?;
        let number = frame::number(&wire.read_frame()?);
        let number = number.ok_or_else(|| wire::invalid("no nonce"))?;
        let json = serde_json::to_vec(&VersionedRequest { version: VERSION, ask })?;
        let prove = |token: &Token| token.prove(&number, &json);
        let proof = self.token.as_ref().map_or([0; PROOF], prove);
        wire.write_all(&frame::frame(&[ASK, &proof, &json]))
    }

    fn sending(&self, wire: &mut Wire, bulk: Bulk) -> io::Result<Transferred> {
        go(wire)?;
        let mut chunk = wire::chunk();
        let at_most = Duration::from_millis(bulk.at_most_ms);
        wire.within(at_most + GRACE, STALL);
        let (start_ns, began_ns, meter) =
            (clock::utc_now_ns(), clock::monotonic_ns(), Meter::start());
        let mut sent = 0;
        let passed = || Duration::from_nanos(clock::monotonic_ns() - began_ns);
        while sent < bulk.octets && passed() < at_most {
            let next = usize::try_from(bulk.octets - sent).unwrap_or(CHUNK).min(CHUNK);
            wire.write_chunk(&mut chunk, next)?;
            sent += next as u64;
        }
        wire.write_chunk(&mut chunk, 0)?;
        // Octets in flight arrive without a sign at this end: hence the grace.
        wire.within(GRACE, GRACE);
        let there = moved(wire, sent)?;
        let took_ns = clock::monotonic_ns() - began_ns;
        Ok(Transferred { octets: sent, start_ns, took_ns, here: meter.stop(), there: there.cpu })
    }

    fn receiving(&self, wire: &mut Wire, bulk: Bulk) -> io::Result<Transferred> {
        let start_ns = clock::utc_now_ns();
        go(wire)?;
        let mut chunk = wire::chunk();
        wire.within(Duration::from_millis(bulk.at_most_ms) + GRACE, STALL);
        let (began_ns, meter) = (clock::monotonic_ns(), Meter::start());
        let mut octets = 0;
        loop {
            match wire.read_chunk(&mut chunk)? as u64 {
                0 => break,
                more => octets += more,
            }
        }
        let (took_ns, here) = (clock::monotonic_ns() - began_ns, meter.stop());
        let there = moved(wire, octets)?;
        Ok(Transferred { octets, start_ns, took_ns, here, there: there.cpu })
    }

    /// Names the server in an error.
    fn to<T>(&self, done: io::Result<T>) -> Result<T, CallError> {
        let server = self.server;
        done.map_err(|source| match source.downcast::<Refusal>() {
            Ok(Refusal(why)) => CallError::Refused { server, why },
            Err(source) => CallError::Broken { server, source },
        })
    }
}

/// Refusal that a server sent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refusal(String);

/// The server's next answer; a refusal is an error.
fn answer(wire: &mut Wire) -> io::Result<Reply> {
    let octets = wire.read_frame()?;
    let json = octets.strip_prefix(ANSWER).ok_or_else(|| wire::invalid("no answer"))?;
    match serde_json::from_slice(json)? {
        Reply::Refused(why) => Err(io::Error::other(Refusal(why))),
        reply => Ok(reply),
    }
}

fn go(wire: &mut Wire) -> io::Result<()> {
    match answer(wire)? {
        Reply::Go => Ok(()),
        other => Err(unexpected(&other)),
    }
}

/// The server's counts of the transfer, which have to equal those of this end.
fn moved(wire: &mut Wire, octets: u64) -> io::Result<TransferReport> {
    match answer(wire)? {
        Reply::Moved(moved) if moved.octets == octets => Ok(moved),
        Reply::Moved(moved) => {
            let other = moved.octets;
            Err(wire::invalid(format!("{octets} octets at this end, {other} at the other")))
        }
        other => Err(unexpected(&other)),
    }
}

fn unexpected(reply: &Reply) -> io::Error {
    io::Error::new(
        ErrorKind::InvalidData,
        format!("the reply does not match the request: {reply:?}"),
    )
}
