//! CCSDS space link extension (SLE): user and provider of FCLTU, RAF, RCF and ROCF, versions 2 to
//! 5, over ISP1; in [`csts`] the Forward Frame service by CSTS, over the same.
//!
//! Protocol and services are without sockets, threads and clocks: octets and instants go in, octets
//! and events come out.
//!
//! Sources: CCSDS 911.1 (RAF), 911.2 (RCF), 911.5 (ROCF), 912.1 (FCLTU), 913.1 (ISP1), 921.1 (CSTS).
//!
//! # Where to look
//!
//! * a CLTU on its way: `client/call.rs`, `association/mod.rs`, `provider/end.rs`,
//!   `service/fcltu/`, `provider/radiate.rs`
//! * what survives a kill of `sle-user send`: `journal/`, `docs/formats/sle-transfer.md`
//! * associations that are kept up by a schedule: `link/mod.rs`, `docs/sle-station.md`
//! * forward frames by CSTS: `csts/procedure/mod.rs`, `client/frames/`, `provider/forward_frame.rs`,
//!   `docs/csts.md`
//! * what is in a capture: `dump/mod.rs`, the program `sle`
//! * configurations of other programs: `exchange/mod.rs`
//! * a process between applications and the network: `communication/mod.rs`
//! * speed and its limits: the program `sle-series` in `evidence/`, `docs/sle-series.md`

pub mod association;
pub mod auth;
pub mod client;
pub mod cltu;
pub mod codec;
pub mod communication;
pub mod config;
pub mod csts;
pub mod dump;
pub mod exchange;
pub mod frame;
pub mod journal;
pub mod link;
pub mod net;
pub mod pdu;
pub mod provider;
mod recording;
pub mod service;
pub mod source;
pub mod time;
pub mod tml;
