//! An APRS-IS core server.
//!
//! Bytes come in through [`net`], become input of [`engine`], which is a machine without sockets or
//! clock: it splits lines, has [`packet`] parse them, [`qconstruct`] say how they came and
//! [`dupes`] whether they are new, and [`filter`] who gets them. [`config`] reads aprsc's files,
//! [`http`] shows what goes on.
//!
//! # Where to look
//!
//! * a packet in the engine: `engine/mod.rs`, then `seam.rs`, `receive.rs`, `router.rs`,
//!   `deliver.rs`, `flush.rs` there
//! * sockets: `net/mod.rs`; running a server: `docs/aprs.md`

pub mod args;
pub mod callsign;
mod clock;
pub mod config;
pub mod daemon;
pub mod dupes;
pub mod engine;
pub mod filter;
pub mod heard;
pub mod history;
pub mod http;
pub mod log;
pub mod net;
pub mod packet;
pub mod passcode;
pub mod qconstruct;
pub mod quirks;
pub mod recording;
pub mod status;
pub mod why;
