//! Connections to the server, and logins.

use crate::passcode::passcode;
use anyhow::{Context, Result, bail, ensure};
use chronoscope_clock as clock;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// Longest wait for all logins of a crowd.
const LOGINS_NS: u64 = 60_000_000_000;

/// A connection that is logged in, and its traffic so far.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) stream: TcpStream,
    /// Octets sent.
    pub(crate) sent: u64,
    /// Octets received.
    pub(crate) received: u64,
}

/// The line that logs `call` in as verified.
pub(crate) fn login_line(call: &str, filter: &str) -> String {
    let filter = if filter.is_empty() { String::new() } else { format!(" filter {filter}") };
    format!("user {call} pass {} vers load 1.0{filter}\r\n", passcode(call))
}

/// Connects and logs in.
///
/// # Errors
/// When the server does not answer, or not as to a verified client.
pub(crate) fn logged_in(address: SocketAddr, call: &str, filter: &str) -> Result<Login> {
    let mut stream = std::net::TcpStream::connect(address)?;
    // A line is sent at its instant, not when the last one is acknowledged.
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let line = login_line(call, filter);
    stream.write_all(line.as_bytes())?;
    let mut text = Vec::new();
    let mut octet = [0];
    while !is_answered(&text) || octet != *b"\n" {
        let count = stream.read(&mut octet).with_context(|| format!("login of {call}"))?;
        ensure!(count == 1, "the server cut {call} at its login");
        text.push(octet[0]);
    }
    let verified = text.windows(10).any(|part| part == b" verified,");
    ensure!(verified, "{call} is not verified: {}", String::from_utf8_lossy(&text));
    stream.set_nonblocking(true)?;
    let stream = TcpStream::from_std(stream);
    Ok(Login { stream, sent: line.len() as u64, received: text.len() as u64 })
}

fn is_answered(text: &[u8]) -> bool {
    text.windows(10).any(|part| part == b"# logresp ")
}

/// Clients that are logged in and do nothing, until dropped.
#[derive(Debug)]
pub(crate) struct Held(#[allow(dead_code)] Vec<TcpStream>);

/// Connects and logs in a client with each filter as fast as possible; seconds until the last was
/// answered.
///
/// # Errors
/// When one is refused, or not all are answered within a minute.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn crowd(address: SocketAddr, filters: &[String]) -> Result<(f64, Held)> {
    let client_count = filters.len();
    let started_ns = clock::monotonic_ns();
    let mut poll = Poll::new()?;
    let mut streams = Vec::with_capacity(client_count);
    for number in 0..client_count {
        streams.push(open(&poll, address, number)?);
    }
    let mut events = Events::with_capacity(4096);
    let mut seen = vec![Vec::new(); client_count];
    let mut asked = vec![false; client_count];
    let mut left = client_count;
    let mut buffer = [0; 4096];
    while left > 0 {
        ensure!(clock::monotonic_ns() - started_ns < LOGINS_NS, "{left} logins not answered");
        poll.poll(&mut events, Some(Duration::from_millis(200)))?;
        for event in &events {
            let index = event.token().0;
            if event.is_writable() && !asked[index] {
                asked[index] = true;
                let login = login_line(&format!("IDLE{index}"), &filters[index]);
                streams[index].write_all(login.as_bytes()).context("sending a login")?;
            }
            loop {
                match streams[index].read(&mut buffer) {
                    Ok(0) => bail!("the server cut client {index} at its login"),
                    Ok(count) => {
                        let text: &mut Vec<u8> = &mut seen[index];
                        let before = is_answered(text);
                        text.extend_from_slice(&buffer[..count]);
                        left -= usize::from(is_answered(text) && !before);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error).context("waiting for a login's answer"),
                }
            }
        }
    }
    Ok(((clock::monotonic_ns() - started_ns) as f64 / 1e9, Held(streams)))
}

fn open(poll: &Poll, address: SocketAddr, token: usize) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).with_context(|| format!("to {address}"))?;
    let interest = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(&mut stream, Token(token), interest)?;
    Ok(stream)
}
