//! Requests of authorised clients: bulk transfers, and probes of other hosts.

use super::counts::{ServerState, count};
use super::cpu::Meter;
use super::frame;
use super::request::{self, Bulk, Measured, Probe, Reply, Request, TransferReport};
use super::token::{NONCE, PROOF};
use super::wire::{self, CHUNK, STALL, Wire};
use crate::probe::{self, ProbeOptions, Prober};
use chronoscope_clock as clock;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

/// Requests served at a time for all clients; further ones are refused with the advice to try
/// again.
pub(super) const AT_A_TIME: usize = 4;
/// Time added to a transfer's own, for octets in flight on a slow network.
const GRACE: Duration = Duration::from_secs(20);
/// For an answer to be taken.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Whether this peer may ask this.
pub(super) fn admit(
    shared: &ServerState,
    peer: IpAddr,
    nonce: Option<[u8; NONCE]>,
    proof: &[u8; PROOF],
    json: &[u8],
) -> Result<Request, String> {
    match (&shared.options.token, nonce) {
        (_, None) => return Err("a request must begin with CHRh".to_owned()),
        (None, _) if peer.to_canonical().is_loopback() => {}
        (None, _) => {
            return Err(
                "from other hosts this server accepts echo requests only: start it with a \
                 token to accept more"
                    .to_owned(),
            );
        }
        (Some(token), Some(nonce)) if token.is_proved(&nonce, json, proof) => {}
        (Some(_), _) if proof == &[0; PROOF] => return Err("a token is needed".to_owned()),
        (Some(_), _) => return Err("the token is wrong".to_owned()),
    }
    request::read(json).map_err(|error| error.to_string())
}

/// An answer as octets.
pub(super) fn answer(reply: &Reply) -> Vec<u8> {
    // Numbers and text: nothing in it cannot be written.
    frame::frame(&[frame::ANSWER, &serde_json::to_vec(reply).unwrap_or_default()])
}

/// Does it; how it ended is counted.
pub(super) fn serve(stream: TcpStream, ask: &Request, shared: &ServerState) {
    match run(stream, ask, shared) {
        Ok(()) => count(&shared.asks),
        Err(error) if error.kind() == ErrorKind::TimedOut => count(&shared.cut),
        Err(error) if error.kind() == ErrorKind::InvalidData => count(&shared.refused_frames),
        // The peer, or the network.
        Err(_) => {}
    }
}

fn run(stream: TcpStream, ask: &Request, shared: &ServerState) -> io::Result<()> {
    match ask {
        Request::Sink(bulk) => sink(&mut bulk_wire(stream, bulk)?, shared),
        Request::Source(bulk) => source(&mut bulk_wire(stream, bulk)?, bulk, shared),
        Request::Probe(probe) => {
            let reply = measure(probe, shared);
            Wire::new(stream, ANSWER_WITHIN)?.write_all(&answer(&reply))
        }
    }
}

fn bulk_wire(stream: TcpStream, bulk: &Bulk) -> io::Result<Wire> {
    let mut wire = Wire::new(stream, ANSWER_WITHIN)?;
    wire.within(Duration::from_millis(bulk.at_most_ms) + GRACE, STALL);
    wire.write_all(&answer(&Reply::Go))?;
    Ok(wire)
}

/// Takes what comes, until its end.
fn sink(wire: &mut Wire, shared: &ServerState) -> io::Result<()> {
    let mut chunk = wire::chunk();
    let (meter, began_ns) = (Meter::start(), clock::monotonic_ns());
    let mut octets = 0;
    loop {
        stopped(shared)?;
        match wire.read_chunk(&mut chunk)? as u64 {
            0 => break,
            more => octets += more,
        }
        shared.asked();
    }
    let took_ns = clock::monotonic_ns() - began_ns;
    wire.write_all(&answer(&Reply::Moved(TransferReport { octets, took_ns, cpu: meter.stop() })))
}

/// Sends until one of the limits.
fn source(wire: &mut Wire, bulk: &Bulk, shared: &ServerState) -> io::Result<()> {
    let mut chunk = wire::chunk();
    let (meter, began_ns) = (Meter::start(), clock::monotonic_ns());
    let mut octets = 0;
    while octets < bulk.octets && clock::monotonic_ns() - began_ns < bulk.at_most_ms * 1_000_000 {
        stopped(shared)?;
        let next = usize::try_from(bulk.octets - octets).unwrap_or(CHUNK).min(CHUNK);
        shared.asked();
        wire.write_chunk(&mut chunk, next)?;
        octets += next as u64;
    }
    wire.write_chunk(&mut chunk, 0)?;
    let took_ns = clock::monotonic_ns() - began_ns;
    wire.write_all(&answer(&Reply::Moved(TransferReport { octets, took_ns, cpu: meter.stop() })))
}

fn stopped(shared: &ServerState) -> io::Result<()> {
    if shared.is_stopped() { Err(ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
}

/// Measures round trips to another host.
fn measure(probe: &Probe, shared: &ServerState) -> Reply {
    let target = match probe.target() {
        Ok(target) => target,
        Err(error) => return Reply::Refused(error.to_string()),
    };
    let asking = ProbeOptions { octets: probe.octets, timeout: probe.timeout() };
    let mut prober = Prober::new(target, asking);
    let mut loss = None;
    let series = probe::run(&probe.load(), |_| {
        if shared.is_stopped() {
            return Err(io::Error::other("the server is being stopped"));
        }
        shared.touch();
        let came = prober.ask()?;
        loss = prober.loss().map(ToString::to_string).or(loss.take());
        Ok(came)
    });
    match series {
        Ok(series) => Reply::Measured(Measured {
            start_ns: series.start_ns,
            first_ns: series.first_ns,
            steady: series.steady,
            duration_ns: series.duration_ns,
            loss,
        }),
        Err(error) => Reply::Refused(format!("{}: {error}", probe.target)),
    }
}
