//! Round trips: a trivial client and a permanent server.
//!
//! The client sends a request and waits for its reply, one after the other. The first round trip is
//! kept apart: it has what has to be made first in it (names, routes, connections, and where the
//! server is started on demand, its process). The others are steady: the shortest of many is what
//! hardware and software take when nothing else happens, and quantiles say what usually does.

mod deadline;
pub mod echo;
mod prober;
mod series;
mod stream;
mod target;

pub use deadline::Loss;
pub use prober::{Asking, Prober};
pub use series::{Load, Series, Summary, run};
pub use target::{Peer, Target, TargetError};
