//! The permanent server: what replies to probes, on one port over UDP and TCP.
//!
//! Echo needs no leave: a reply is as long as its request, so that nobody can be sent more than he
//! was said to have sent. Over TCP octets come in frames ([`frame`]).
//!
//! ```
//! use chronoscope_net::answer::{Options, Server};
//! let server = Server::start(Options::new("127.0.0.1:0".parse()?))?;
//! println!("udp:{0} and tcp:{0}", server.address());
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Who knows its token ([`Token`]; programs on its own host, where it has none) may ask for more
//! ([`ask`], by a [`Caller`]): to take or send bulk data, and to measure round trips to other hosts.
//!
//! Limits: [`CONNECTIONS_MAX`] connections, [`OF_ONE_MAX`] from one address; the others are closed
//! at once. Who sends nothing or reads nothing is cut. Whatever happened is counted ([`Counts`]).
//!
//! Not here: TLS. Nothing secret is sent; the token itself never is.

pub mod ask;
mod client;
mod counts;
mod cpu;
mod datagrams;
pub mod demand;
pub mod frame;
mod serve_ask;
mod server;
mod streams;
mod token;
mod wire;

pub use client::{CallError, Caller, Transferred};
pub use counts::Counts;
pub use cpu::{Cpu, Meter};
pub use server::{AnswerError, Options, Server, Sockets};
pub use streams::{CONNECTIONS_MAX, OF_ONE_MAX};
pub use token::{NONCE, PROOF, Token};
