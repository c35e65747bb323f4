//! Reasons why a call of a user failed.

use super::notation;
use crate::association::SendError;
use crate::pdu::{BindDiagnostic, Diagnostic, ServiceType};
use crate::service::fcltu::{self, CltuRange};
use crate::service::returns;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection could not be established.
    #[error("cannot connect to {address}: {error}")]
    Connect {
        /// Address of the provider.
        address: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// BIND was refused.
    #[error("BIND was refused: {0:?}")]
    BindRefused(BindDiagnostic),
    /// The operation was refused.
    #[error("{operation} was refused: {}", notation::diagnostic(*service, operation, *diagnostic))]
    Refused {
        /// Name of the operation.
        operation: &'static str,
        /// The service.
        service: ServiceType,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
    },
    /// A CLTU was refused, and with it those that were sent after it.
    #[error(
        "CLTU {} was refused: {}; the provider expects {expected}", cltus.first,
        notation::diagnostic(ServiceType::Fcltu, "TRANSFER-DATA", *diagnostic)
    )]
    CltuRefused {
        /// The refused CLTUs.
        cltus: CltuRange,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
        /// CLTU identification that the provider expects next.
        expected: u32,
    },
    /// BIND or UNBIND was not sent.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The state of the service does not allow the operation.
    #[error("{0}")]
    Forward(#[from] fcltu::UseError),
    /// The state of the return service does not allow the operation.
    #[error("{0}")]
    Return(#[from] returns::UseError),
    /// The service does not have this operation.
    #[error("{1:?} has no operation {0}")]
    NotOfService(&'static str, ServiceType),
    /// The provider has not told the fate of all accepted CLTUs in time.
    #[error("the provider has not reported the radiation of {unsettled} accepted CLTUs in time")]
    FatesMissing {
        /// Number of these CLTUs.
        unsettled: u32,
    },
    /// A CLTU has 1 to 65,536 octets.
    #[error("a CLTU has 1 to 65536 octets, not {0}")]
    CltuLength(usize),
    /// The association is over.
    #[error("the association ended: {0}")]
    Ended(String),
    /// The caller interrupted the call.
    #[error("interrupted")]
    Interrupted,
}
