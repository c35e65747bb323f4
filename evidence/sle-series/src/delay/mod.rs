//! A path with delay, because a kernel without `netem` has none.
//!
//! [`Path`] is two network namespaces of the laboratory with one bridge between them that delays
//! every packet: TCP runs end to end, with its windows, acknowledgements and congestion control.
//! It needs the right to make namespaces and `/dev/net/tun`. [`Relay`] needs nothing: it relays
//! connections, delays octets and holds no more than a window in flight for one round trip (the
//! kernel's buffers at either side come on top). That shows what a window does to throughput; it
//! shows nothing of congestion control, and urgent data ends in it.

mod path;
mod relay;
#[cfg(test)]
mod tests;

pub(crate) use path::{Buffers, End, Path};
pub(crate) use relay::Relay;
