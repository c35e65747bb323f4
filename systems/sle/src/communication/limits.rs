//! Limits of a session, and what it counts.

use std::time::Duration;

/// Limits of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// A connection is not read while more octets wait to be sent on the other.
    pub buffer_bytes: usize,
    /// Octets that one call reads.
    pub read_bytes: usize,
    /// Time to connect to a responder; during it the initiator is not read.
    pub connect: Duration,
    /// A side that takes no octet for so long, while some wait, is cut; in nanoseconds.
    pub stall_ns: u64,
    /// Time for what is unsent and for the peers' ends, once a session ends; in nanoseconds.
    pub close_ns: u64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            buffer_bytes: 1 << 20,
            read_bytes: 128 << 10,
            connect: Duration::from_secs(10),
            stall_ns: 60_000_000_000,
            close_ns: 5_000_000_000,
        }
    }
}

/// What sessions relayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relayed {
    /// PDUs of initiators, of responders.
    pub pdus: [u64; 2],
    /// Their octets.
    pub octets: [u64; 2],
    /// System calls that transferred octets.
    pub calls: u64,
    /// Times that a session's thread waited.
    pub waits: u64,
}
