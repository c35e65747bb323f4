//! Sockets: who is let in, who is cut, what survives an upgrade.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod hard_times;
mod ports;
mod tls;
mod upgrade;
