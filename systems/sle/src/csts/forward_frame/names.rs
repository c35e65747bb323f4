//! Names of the service and its procedures.

use crate::csts::pdu::names::{
    BUFFERED_DATA_PROCESSING, INFORMATION_QUERY, SEQUENCE_CONTROLLED_DATA_PROCESSING, SERVICES,
};
use crate::csts::pdu::{Oid, ProcedureName};

/// The service type where nothing else was agreed on: `{services 3}`, which is a guess.
#[must_use]
pub fn service_type() -> Oid {
    SERVICES.child(&[3])
}

/// The version of the service.
pub const VERSION: u32 = 1;

/// The prime procedure that buffers.
#[must_use]
pub fn buffered() -> ProcedureName {
    ProcedureName::prime(BUFFERED_DATA_PROCESSING)
}

/// The prime procedure that controls the sequence.
#[must_use]
pub fn sequence_controlled() -> ProcedureName {
    ProcedureName::prime(SEQUENCE_CONTROLLED_DATA_PROCESSING)
}

/// Information Query beside it.
#[must_use]
pub fn information_query() -> ProcedureName {
    ProcedureName::secondary(INFORMATION_QUERY, 1)
}
