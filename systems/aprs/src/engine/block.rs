//! Packets on their way from the worker that received them to all workers.

use super::seam::ConnId;
use crate::packet::Packet;

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
    pub(super) side: Side,
    /// A duplicate: for dupefeed clients only.
    pub(super) duplicate: bool,
    /// The path says that it was on the Internet: it has an element `TCPIP*`.
    pub(super) has_tcpip: bool,
    /// When its bytes arrived, monotonic nanoseconds.
    pub(super) arrived_ns: u64,
}

/// What one batch of input brought, in its order. Never changes.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) packets: Vec<Routed>,
}
