//! Captures of network traffic, as written by tcpdump, Wireshark or this crate.
//!
//! [`CaptureReader`] reads pcapng (both byte orders, any resolution) and classic pcap (micro- and
//! nanoseconds, both byte orders); [`CaptureWriter`] writes pcapng, [`ConnectionWriter`] streams
//! into it. [`Arrivals`] turns packets into arrivals: datagrams, with fragments put together, and
//! the octets of streams in order.
//!
//! Own code and no crate: a replay reads captures of any origin, so memory is bounded and every
//! refusal has a name and a position; only three kinds of block are needed.

mod arrivals;
mod connections;
mod fragments;
mod packet;
mod reader;
mod streams;
mod write;

pub use arrivals::{Arrival, ArrivalContent, Arrivals, OctetsDetail};
pub use connections::ConnectionWriter;
pub use packet::PacketError;
pub(crate) use packet::destination;
pub use reader::{BLOCK_BYTES_MAX, CaptureError, CaptureReader, CapturedPacket};
pub use streams::StreamGap;
pub use write::CaptureWriter;

#[cfg(test)]
mod tests;
