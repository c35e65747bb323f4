//! Packets from outside: any octets, and what an independent parser reads in them.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

mod aprslib;
mod check;
mod corpus;
