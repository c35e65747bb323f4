//! Round trips: a trivial client and a permanent server.
//!
//! The client sends a request and waits for its reply, one after the other. The first round trip is
//! kept apart: it includes set-up (names, routes, connections, and the server's process where it is
//! started on demand). The others are steady: the shortest of many is the time of hardware and
//! software without disturbance, and quantiles give the usual time.

mod datagram;
mod deadline;
mod dns;
pub mod echo;
mod exec;
mod ftp;
mod http;
mod icmp;
mod judge;
mod prober;
pub mod rounds;
mod rpc;
mod series;
mod snmp;
mod stream;
mod target;
mod timer;

pub use deadline::Loss;
pub use judge::judge;
pub use prober::{ProbeOptions, Prober};
pub use rpc::Program;
pub use series::{Load, Series, Summary, run};
pub use target::{Peer, Target, TargetError};
pub use timer::Timer;
