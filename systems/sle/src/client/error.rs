//! Reasons why a call of a user failed.

use super::notation;
use crate::association::SendError;
use crate::pdu::{BindDiagnostic, Diagnostic, ServiceType};
use crate::service::fcltu::{self, CltuRange};
use crate::service::returns;

/// Why a call did not do what it was to do.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no connection.
    #[error("{address}: {error}")]
    Connect {
        /// To where.
        address: String,
        /// Why not.
        error: std::io::Error,
    },
    /// BIND was refused.
    #[error("BIND refused: {0:?}")]
    BindRefused(BindDiagnostic),
    /// The operation was refused.
    #[error("{operation} refused: {}", notation::diagnostic(*service, operation, *diagnostic))]
    Refused {
        /// Which.
        operation: &'static str,
        /// Of which service.
        service: ServiceType,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
    },
    /// A CLTU was refused, and with it those that were sent after it.
    #[error(
        "CLTU {} refused: {}; the provider expects {expected}", cltus.first,
        notation::diagnostic(ServiceType::Fcltu, "TRANSFER-DATA", *diagnostic)
    )]
    CltuRefused {
        /// Which.
        cltus: CltuRange,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
        /// The number that comes next.
        expected: u32,
    },
    /// BIND or UNBIND was not sent.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The state does not allow it.
    #[error("{0}")]
    Forward(#[from] fcltu::UseError),
    /// Likewise.
    #[error("{0}")]
    Return(#[from] returns::UseError),
    /// The other kind of service has that operation.
    #[error("{0} is no operation of {1:?}")]
    NotOfService(&'static str, ServiceType),
    /// A CLTU has 1 to 65,536 octets.
    #[error("a CLTU of {0} octets: from 1 to 65536")]
    CltuLength(usize),
    /// The association is over.
    #[error("the association ended: {0}")]
    Ended(String),
    /// Whoever called wanted it no more.
    #[error("interrupted")]
    Interrupted,
}
