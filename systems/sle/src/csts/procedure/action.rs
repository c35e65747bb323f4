//! Requests of a procedure to its association, and its states.

use crate::csts::pdu::{Pdu, PeerAbortDiagnostic};

/// Request of a procedure to its association.
pub type ProcedureAction = crate::service::ServiceAction<Pdu, PeerAbortDiagnostic>;

/// States of a provider's procedure instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcedureState {
    /// No user is bound.
    Unbound,
    /// Bound, not started.
    Inactive,
    /// Started: data units are taken.
    Active,
    /// Started, and none is taken before a reset.
    Locked,
}
