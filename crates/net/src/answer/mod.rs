//! The permanent server: replies to probes, on one port over UDP and TCP.
//!
//! Echo needs no authorisation: a reply is as long as its request, so a forged sender address
//! cannot amplify traffic. Over TCP octets come in frames ([`frame`]).
//!
//! ```
//! use chronoscope_net::answer::{Options, Server};
//! let server = Server::start(Options::new("127.0.0.1:0".parse()?))?;
//! println!("udp:{0} and tcp:{0}", server.address());
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A client that knows the server's token ([`Token`]; without one, programs on the server's own
//! host) may request more ([`AnswerClient`]): to receive or send bulk data, and to measure
//! round trips to other hosts.
//!
//! Limits: [`CONNECTIONS_MAX`] connections, [`OF_ONE_MAX`] from one address; the others are closed
//! at once. A client that sends nothing or reads nothing is cut. Every outcome is counted
//! ([`Counts`]).
//!
//! Not here: TLS. Nothing secret is sent; the token itself is never sent.

mod client;
mod counts;
mod cpu;
mod datagrams;
pub mod demand;
pub mod frame;
mod options;
pub mod request;
mod serve_request;
mod server;
mod streams;
mod token;
mod wire;

pub use client::{AnswerClient, CallError, Transferred};
pub use counts::Counts;
pub use cpu::{Cpu, Meter};
pub use options::Options;
pub use server::{AnswerError, Server, Sockets};
pub use streams::{CONNECTIONS_MAX, OF_ONE_MAX};
pub use token::{NONCE, PROOF, Token};
