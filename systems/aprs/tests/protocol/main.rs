//! What goes into the server and what comes out, feature by feature: the server is a process of its
//! own, its clients and the servers around it are played by the tests.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod drops;
mod dupes;
mod filters;
mod http;
mod limits;
mod load;
mod login;
mod messaging;
mod qconstruct;
mod quirks;
mod rings;
mod thirdparty;
mod types;
mod udp;
mod uplinks;
