//! What a procedure asks of its association, and where it stands.

use crate::csts::pdu::{Pdu, PeerAbortDiagnostic};

/// What a procedure wants its association to do, in the order in which it says so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // nearly all are the large one
pub enum Action {
    /// Send an operation.
    Send(Pdu),
    /// Abort the association. Nothing follows, and the machine is unbound already.
    Abort(PeerAbortDiagnostic),
}

/// States of a provider's procedure instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcedureState {
    /// Nobody is bound.
    Unbound,
    /// Bound, not started.
    Inactive,
    /// Started: data units are taken.
    Active,
    /// Started, and none is taken before a reset.
    Locked,
}
