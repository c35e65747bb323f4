//! Interface counters by SNMP: IF-MIB (RFC 2863) in versions 2c (RFC 1901, 3416) and 3 with the
//! user-based security model (RFC 3412, 3414, 3826, 7860).
//!
//! A [`Session`] is one host's part without sockets and clocks: it returns queries, and gets
//! received octets. Octets come from outside: the queries and memory that they can cause are
//! bounded.

mod coding;
mod columns;
mod error;
mod message;
mod session;
mod usm;
mod usm_error;

pub use coding::OCTETS_MAX;
pub use error::SnmpError;
pub use session::{Progress, Session};
pub use usm::Passwords;
