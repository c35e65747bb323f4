//! Counters of many hosts: which hosts ([`hosts`]), what they say ([`snmp`], [`exporter`],
//! [`proc_net`], [`own`]), how far it went since they were asked before ([`readings`]), and all of
//! them asked at once ([`scanner`]).

pub mod exporter;
pub mod hosts;
pub mod own;
pub mod proc_net;
pub mod readings;
pub mod scanner;
pub mod snmp;

use crate::counters::{Counters, Widths};

/// Reading of a host's counters at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Time of the reading, on the monotonic clock of the scanner, in nanoseconds.
    pub at_ns: u64,
    /// For how long the host, or its agent, has been counting, in nanoseconds; less than before:
    /// it began anew.
    pub up_ns: Option<u64>,
    /// Width of its counters.
    pub widths: Widths,
    /// Counters by interface.
    pub interfaces: Vec<Interface>,
}

/// An interface's counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name of the interface on the host.
    pub name: String,
    /// Counters of the interface.
    pub counters: Counters,
    /// Its speed in bits per second, where the host tells it.
    pub bits_per_s: Option<u64>,
}

/// Most interfaces of one host that are looked at; a host that claims more is lying.
pub const INTERFACES_MAX: usize = 4096;

/// Whether an interface is the loopback: its traffic is on no network.
#[must_use]
pub fn is_loopback(name: &str) -> bool {
    name == "lo" || name.strip_prefix("lo").is_some_and(|n| n.parse::<u16>().is_ok())
}
