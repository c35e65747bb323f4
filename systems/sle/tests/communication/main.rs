//! The communication server between raw peers, whole programs, and processes that die.
#![allow(clippy::unwrap_used)]

mod ends;
mod failures;
mod octets;
mod programs;
mod server;
