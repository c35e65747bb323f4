//! Connections: sockets, the threads that drive them, and what other threads give them to send.
//!
//! One thread for each connection waits for octets, timers and commands, and gives them to a
//! [`Protocol`], which is all the same without sockets. What the protocol wants sent piles up
//! while there is something to do, and goes out with one call; what came in is read with one call
//! however many PDUs it is.
//!
//! ```text
//! peer ─▶ socket ─▶ receive, urgent, closed ─▶ ┌──────────┐
//! other threads ─▶ Sender::send ─▶ command ──▶ │ Protocol │ ─▶ Output ─▶ socket ─▶ peer
//! clock ────────────────────────▶ tick ──────▶ └──────────┘
//! ```
//!
//! Memory is bounded: a sender waits (or is told so) while more than
//! [`DriverLimits::waiting_bytes_max`] are not yet with the kernel, and where twice as much waits,
//! nothing more is read either, so that a peer that never reads the answers to what it asks cannot
//! make them pile up. Twice, because two sides that both stopped reading at what they themselves
//! have to say would wait for each other.
//!
//! PEER-ABORT is one octet of urgent data (CCSDS 913.1). What comes in front of it and is not yet
//! read is thrown away, as the book wants it; who sends it first finishes the messages that are
//! under way (a peer that knows no urgent data finds one octet more behind the last), then ends the
//! stream and waits for its peer to do the same.
//!
//! Limits: Linux, TCP. Names are looked up by whoever connects.

mod driver;
mod listener;
mod options;
mod sender;
mod urgent;
mod wait;

use crate::time::Now;
use crate::tml::{Output, TmlFault};

pub use driver::{Driver, DriverLimits, Ended};
pub use listener::{Accepted, Listener, ListenerError, Slot};
pub use options::{Given, OptionError, SocketOptions, connect};
pub use sender::{Counters, SendRefused, Sender};

/// What is driven: both ends of a connection's protocol, without sockets and clocks.
///
/// All calls come from the driver's thread. After each of them, [`output`](Self::output) is looked
/// at; after [`closed`](Self::closed) only for the sake of whoever else looks.
pub trait Protocol: Send + 'static {
    /// What other threads want done, by [`Sender::send`].
    type Command: Send + 'static;

    /// Octets of the stream.
    fn receive(&mut self, octets: &[u8], now: Now);
    /// The urgent octet: PEER-ABORT.
    fn urgent(&mut self, octet: u8, now: Now);
    /// The stream ended (`None`) or broke. Nothing follows, not even where this side closed first.
    fn closed(&mut self, fault: Option<TmlFault>, now: Now);
    /// Another thread's wish.
    fn command(&mut self, command: Self::Command, now: Now);
    /// When [`tick`](Self::tick) is due, on the monotonic clock, in nanoseconds.
    fn due(&self) -> Option<u64>;
    /// Does what is due.
    fn tick(&mut self, now: Now);
    /// Whether octets are wanted. While they are not, nothing is read, so that the peer has to wait;
    /// its abort is still heard.
    fn reads(&self) -> bool {
        true
    }
    /// What is to be sent and done.
    fn output(&mut self) -> &mut Output;
}
