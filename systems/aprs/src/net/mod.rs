//! Sockets: the only part of the server that talks to the kernel's network.
//!
//! A thread for each worker waits with `epoll`, edge triggered, with each connection registered
//! once for its whole life: a packet costs no call of `epoll_ctl`. What comes is given to the
//! worker's [engine](crate::engine), which writes straight from its buffers through
//! [`Output`](crate::engine::Output). Worker 0 accepts all connections and gives each to the worker
//! that has the fewest. Uplinks are looked up and connected in threads of their own.
//!
//! ```text
//! accept ─▶ arrived ─▶ handshake (TLS) ─▶ Opened ─▶ Received… ─▶ Closed
//! ```
//!
//! Limits: Linux. TLS is over TCP and SCTP streams only; a live upgrade cuts clients with TLS and
//! WebSocket clients, because keys and pairs of sockets live in one program, and uplinks connect
//! again.

mod accept;
mod arrival;
mod os;
mod plan;
mod ring;
mod running;
mod socket;
mod sockets;
mod threads;
mod tls;
mod transport;
mod upgrade;
mod uplinks;
mod worker;

pub use plan::{PortError, check_tls};
pub use running::{Bound, Handle, Running};
pub use threads::Log;
pub use tls::TlsError;
pub use upgrade::{Legacy, Program, UpgradeError};

/// For WebSocket ports, whose sockets are the web side's.
pub(crate) use tls::ServerTls;
