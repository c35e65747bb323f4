//! The services' state machines, of one service instance each: what an operation does when the
//! association below has found it well formed and its credentials right.
//!
//! They have no sockets, threads or clocks. A provider is told of operations, of production's
//! events and of time, and answers with [`ServiceAction`]s; a user makes operations and is told of those
//! that come. BIND, UNBIND, credentials and return timers are the association's.

pub mod fcltu;
pub mod returns;

use crate::pdu::{Pdu, PeerAbortDiagnostic};

/// Request of a service instance to its association, in SLE and in CSTS: `P` is the specification's
/// operation, `A` its PEER-ABORT diagnostic. The order of requests is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceAction<P = Pdu, A = PeerAbortDiagnostic> {
    /// Send an operation.
    Send(P),
    /// Abort the association. Nothing follows, and the machine is unbound already.
    Abort(A),
}

/// States of a service instance, the same in all services (table 4-1 of the books and its kin).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServiceState {
    /// No user is bound.
    Unbound,
    /// Bound, not started.
    Ready,
    /// Started: data units may be transferred.
    Active,
}
