//! Packets on their way from the worker that received them to all workers.

use super::seam::ConnId;
use crate::callsign::Callsign;
use crate::filter::Facts;
use crate::history::Moved;
use crate::packet::Packet;
use crate::recording::Trace;

/// From which side a packet came: what decides where it may go.
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
    /// Who sent it to us; it does not get it back.
    pub(super) origin: ConnId,
    /// Its login, for counting.
    pub(super) login: Option<Callsign>,
    pub(super) side: Side,
    /// A duplicate: for dupefeed clients only.
    pub(super) duplicate: bool,
    /// What filters ask about its source; filled in by the router.
    pub(super) facts: Facts,
    /// What it says has moved; filled in by the router.
    pub(super) moved: Option<Moved>,
    /// When its bytes arrived, monotonic nanoseconds.
    pub(super) arrived_ns: u64,
    pub(super) trace: Trace,
}

/// What one batch of input brought, in its order. Never changes.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) packets: Vec<Routed>,
    /// Whose last position is not known any more.
    pub(super) forgotten: Vec<Callsign>,
}
