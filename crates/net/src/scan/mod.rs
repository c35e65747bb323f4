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

/// What a host said at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// When, on the monotonic clock of who asked, in nanoseconds.
    pub at_ns: u64,
    /// For how long the host, or its agent, has been counting, in nanoseconds; less than before:
    /// it began anew.
    pub up_ns: Option<u64>,
    /// How wide its counters are.
    pub widths: Widths,
    /// Its interfaces.
    pub interfaces: Vec<Interface>,
}

/// An interface's counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, as the host has it.
    pub name: String,
    /// What it counted.
    pub counters: Counters,
}

/// Most interfaces of one host that are looked at; a host that claims more is lying.
pub const INTERFACES_MAX: usize = 4096;

/// Whether an interface only talks to its own host: what it counts is on no network.
#[must_use]
pub fn is_loopback(name: &str) -> bool {
    name == "lo" || name.strip_prefix("lo").is_some_and(|n| n.parse::<u16>().is_ok())
}
