//! Packets on their way from the worker that received them to all workers.

use super::seam::ConnId;
use crate::callsign::Callsign;
use crate::filter::Facts;
use crate::history::Moved;
use crate::packet::Packet;
use crate::recording::Trace;

/// Side from which a packet came; it decides where the packet may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// From a client, an upload or a submission: it goes everywhere.
    Downstream,
    /// From an uplink or a core peer: it goes to clients only.
    Upstream,
}

/// A packet, and what decides who gets it.
#[derive(Debug)]
pub(super) struct Routed {
    pub(super) packet: Packet,
    /// Connection that sent it to us; the packet is not sent back there.
    pub(super) origin: ConnId,
    /// Login of that connection, for counting.
    pub(super) login: Option<Callsign>,
    pub(super) side: Side,
    /// A duplicate: for dupefeed clients only.
    pub(super) duplicate: bool,
    /// Facts about its source that filters ask for; filled in by the router.
    pub(super) facts: Facts,
    /// Station or object that it reports as moved; filled in by the router.
    pub(super) moved: Option<Moved>,
    /// Arrival time of its bytes, monotonic nanoseconds.
    pub(super) arrived_ns: u64,
    pub(super) trace: Trace,
}

/// Packets of one batch of input, in their order. Never changes once it is made.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) packets: Vec<Routed>,
    /// Names whose last position has expired.
    pub(super) forgotten: Vec<Callsign>,
}
