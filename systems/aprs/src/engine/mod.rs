//! The server without its sockets: input in, output out, no clock and no randomness of its own.
//!
//! One [`Worker`] for each thread; what they share is the [`Server`]. A worker takes [`Input`] and
//! calls an [`Output`] for every effect: tests and replays drive it in memory. With one worker the
//! output depends on nothing but configuration, seed, input and the [`Now`]s given.
//!
//! A packet's way: a read's lines are parsed and given their q constructs, then the router's
//! lock is taken once for all of them, duplicates are marked, and the batch goes as one block into
//! every worker's mailbox. There it is put once into the worker's feed; a full feed is a cursor into
//! that, a filtered client a list of packets in it, and each is written to when its oldest packet
//! has waited for the interval of its class.

mod block;
mod client;
mod commands;
mod date;
mod deliver;
mod faults;
mod feed;
mod flush;
mod interest;
pub mod journal;
mod latin1;
mod lines;
mod login;
mod meter;
mod outbox;
mod output;
mod peers;
mod receive;
mod router;
mod save;
mod seam;
mod server;
mod session;
mod shared;
mod state;
mod subscription;
mod told;
mod unsummed;
mod worker;
mod write;

pub use meter::PortCounters;
pub use seam::{Close, ConnId, DatagramPort, Input, LogLevel, Now, Output, Write};
pub use server::{Identity, Server, Waker};
pub use state::{ClientState, ServerState, WorkerState};
pub use worker::Worker;

#[cfg(test)]
mod tests;
