//! Connections over loopback: what a driver does with real sockets, good peers and bad ones.
#![allow(clippy::unwrap_used)]

#[path = "transport/ends.rs"]
mod ends;
#[path = "transport/flow.rs"]
mod flow;
#[path = "transport/listening.rs"]
mod listening;
#[path = "transport/peer.rs"]
mod peer;
#[path = "transport/urgent.rs"]
mod urgent;
