//! Connections between the processes: ASTERIX blocks over TCP, one block a message.
//!
//! An ASTERIX block says its own length (category, two octets of length), so the stream needs no
//! framing of its own. Everything here is non-blocking and driven by one `mio` poll per process:
//! [`Hub`] serves subscribers and cuts those that do not keep up, [`Upstream`] subscribes and
//! reconnects, [`Datagrams`] receives from an address and from multicast groups, [`BlockReader`] cuts the stream into blocks, [`Signals`] turns signals into events.
//!
//! Sockets have `TCP_NODELAY`, and every producer flushes a batch before waiting again: a block
//! never rests in a buffer while the process is idle. Waiting for fuller packets made the chains of
//! the original system hundreds of times longer than their computation; it is available on request
//! ([`Sending`]).
//!
//! Not here: encryption and authentication; the programs listen on loopback by default.

mod address;
mod chain_begin;
mod datagrams;
mod destinations;
mod frames;
mod hub;
mod sending;
mod signals;
mod upstream;
mod write;

pub(crate) use address::cannot_listen;
pub use address::{announce, write_port_file, write_whole};
pub(crate) use chain_begin::{NewChains, begin_under};
pub use datagrams::{Datagrams, GROUPS_MAX};
pub use destinations::Destinations;
pub use frames::{BlockReader, FrameError};
pub use hub::{Hub, HubCounts};
pub use sending::Sending;
pub use signals::Signals;
pub use upstream::{Upstream, UpstreamCounts};
pub(crate) use write::write_until_full;
