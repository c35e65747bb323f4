//! Connections: sockets, the threads that drive them, and what other threads give them to send.
//!
//! One thread for each connection waits for octets, timers and commands, and gives them to a
//! [`ConnectionProtocol`], which is all the same without sockets. What the protocol wants sent piles up
//! while there is something to do, and goes out with one call; what came in is read with one call
//! however many PDUs it is.
//!
//! ```text
//! peer ─▶ socket ─▶ receive, urgent, closed ─▶ ┌──────────┐
//! other threads ─▶ CommandSender::send ─▶ command ──▶ │ Protocol │ ─▶ Output ─▶ socket ─▶ peer
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
//! Between an application and a communication server of the same host the connection may be a Unix
//! socket (`local`): the same messages, and PEER-ABORT as one of them.
//!
//! Limits: Linux, TCP and Unix sockets. Names are looked up by whoever connects.

mod driver;
mod listener;
mod local;
mod options;
mod protocol;
mod sender;
mod slot;
mod urgent;
mod wait;

pub use protocol::ConnectionProtocol;

pub use driver::{Driver, DriverLimits, EndedConnection};
pub(crate) use listener::bind_local;
pub use listener::{AcceptedConnection, ConnectionPeer, Listener, ListenerError, LocalListener};
pub use local::connect_local;
pub(crate) use local::{LocalItem, LocalReader, say_last};
pub use options::{EffectiveOptions, OptionError, SocketOptions, connect};
pub use sender::{CommandSender, ConnectionCounters, SendRefused};
pub use slot::ConnectionSlot;
pub(crate) use urgent::at_mark;
pub(crate) use wait::Waker;
