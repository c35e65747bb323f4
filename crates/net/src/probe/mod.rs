//! Round trips: a trivial client and a permanent server.
//!
//! The client sends a request and waits for its reply, one after the other. The first round trip is
//! kept apart: it has what has to be made first in it (names, routes, connections, and where the
//! server is started on demand, its process). The others are steady: the shortest of many is what
//! hardware and software take when nothing else happens, and quantiles say what usually does.

mod deadline;
mod dns;
pub mod echo;
mod exec;
mod http;
mod icmp;
mod judge;
mod prober;
pub mod rounds;
mod series;
mod snmp;
mod stream;
mod target;
mod timer;

pub use deadline::Loss;
pub use judge::judge;
pub use prober::{Asking, Prober};
pub use series::{Load, Series, Summary, run};
pub use target::{Peer, Target, TargetError};
pub use timer::Timer;
