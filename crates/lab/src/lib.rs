//! Networks to measure on: hosts that are network namespaces, joined by links, bridges and gateways
//! of known delay, rate and load.
//!
//! Programs in the namespaces speak real TCP and UDP end to end; the elements between them are in
//! one thread of this process, because a kernel without `netem` has none. [`element`] is what one
//! element does, [`fabric`] what becomes of a packet on its way; neither has sockets or clocks.
//!
//! Not here: loss, reordering, IPv6.

pub mod element;
pub mod fabric;
pub mod packet;
