//! Networks to measure on: hosts that are network namespaces, joined by links, bridges and gateways
//! of known delay, rate and load.
//!
//! Programs in the namespaces speak real TCP and UDP end to end; the elements between them are in
//! one thread of this process, because a kernel without `netem` has none. [`element`] is the
//! behaviour of one element, [`fabric`] the path of a packet, without sockets and clocks; a [`Lab`]
//! makes the namespaces and carries the packets. It needs the right to make namespaces and
//! `/dev/net/tun`.
//!
//! For other programs on this host, [`reserve_port`] finds a port that stays free until they start.
//!
//! Not here: loss, reordering, IPv6.

pub mod element;
pub mod fabric;
mod namespace;
mod network;
pub mod packet;
mod port;
mod priority;
pub mod tun;

pub use element::{Element, Traffic};
pub use fabric::{Joint, Plan, PlanError};
pub use namespace::Namespace;
pub use network::{Carried, Lab, LabError};
pub use port::reserve_port;
pub use priority::run_first;
