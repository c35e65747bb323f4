//! Sending clients: new lines and repeated ones.

use super::lines::Lines;
use super::receiver::{PacketCounter, Tally};
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use chronoscope_statistics::Random;
use mio::net::TcpStream;
use std::io::{ErrorKind, Read, Write};

/// Lines that may be sent again: the last ones.
const RECENT: usize = 1024;

/// A sending client.
#[derive(Debug)]
pub(super) struct Sender {
    stream: TcpStream,
    login: String,
    index: u8,
    /// Lines sent that were new.
    pub(super) number: u32,
    /// Octets that the kernel did not accept yet.
    pub(super) waiting: Vec<u8>,
    recent: Vec<String>,
    /// What the server sends it: keepalives, and messages to stations that it is the igate of.
    received: PacketCounter,
}

impl Sender {
    /// A client that is logged in as `login`, the sender `index` of marks.
    pub(super) fn new(stream: TcpStream, login: String, index: u8) -> Self {
        let (waiting, recent) = (Vec::new(), Vec::new());
        let received = PacketCounter::default();
        Self { stream, login, index, number: 0, waiting, recent, received }
    }

    /// Whether a line was sent that can be sent again.
    pub(super) fn can_repeat(&self) -> bool {
        !self.recent.is_empty()
    }

    /// Sends a line again; its octets.
    pub(super) fn repeat(&mut self, random: &mut Random) -> usize {
        let which = random.below(self.recent.len() as u64);
        let line = &self.recent[usize::try_from(which).unwrap_or(0)];
        self.waiting.extend_from_slice(line.as_bytes());
        line.len()
    }

    /// Sends a new line, which is left in `line`.
    pub(super) fn send(&mut self, lines: &mut Lines, line: &mut String) {
        lines.next(&self.login, self.index, self.number, clock::monotonic_ns(), line);
        let slot = self.number as usize % RECENT;
        self.number += 1;
        match self.recent.get_mut(slot) {
            Some(old) => line.clone_into(old),
            None => self.recent.push(line.clone()),
        }
        self.waiting.extend_from_slice(line.as_bytes());
    }

    /// Hands the kernel what it accepts.
    pub(super) fn flush(&mut self) -> Result<()> {
        while !self.waiting.is_empty() {
            match self.stream.write(&self.waiting) {
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error).with_context(|| format!("{} was cut", self.login)),
            }
        }
        Ok(())
    }

    /// Takes all that has come: it must not fill anything.
    pub(super) fn take(&mut self, buffer: &mut [u8], tally: &mut Tally) {
        while let Ok(count) = self.stream.read(buffer)
            && count > 0
        {
            tally.octets_read += count as u64;
            tally.packets_read += self.received.count(&buffer[..count]);
        }
    }
}
