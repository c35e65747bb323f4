//! Differences between the associations of SLE and of CSTS: types, diagnostics, codecs.

use std::fmt::{Debug, Display};

use bytes::Bytes;

use crate::codec::{DecodeError, EncodeError};
use crate::pdu::AssociationRole;

use super::directory::ProvidedInstance;
use super::security::SignedOperation;

/// PEER-ABORT diagnostics that both specifications have, under other octets.
pub trait AbortDiagnostic: Copy + Debug + Eq + Send + Sync + 'static {
    /// Diagnostic for wrong credentials.
    const ACCESS_DENIED: Self;
    /// An operation that the state does not allow.
    const PROTOCOL_ERROR: Self;
    /// Octets that are no operation.
    const ENCODING_ERROR: Self;
    /// A return that did not come in time.
    const RETURN_TIMEOUT: Self;
    /// The provision period is over.
    const END_OF_PROVISION: Self;
    /// The operator ends the association.
    const OPERATIONAL_REQUIREMENT: Self;
    /// Diagnostic `other reason`.
    const OTHER_REASON: Self;

    /// The octet that stands for it.
    fn octet(self) -> u8;
    /// The diagnostic of an octet.
    fn from_octet(octet: u8) -> Self;
}

/// Differences between the associations of SLE and of CSTS: PDUs, diagnostics, and the list of open
/// invocations. There are these two implementations only.
pub trait AssociationProtocol: Debug + Sized + Send + Sync + 'static {
    /// An operation of the specification.
    type Pdu: SignedOperation + Clone + Debug + Eq + Send + Sync + 'static;
    /// Number of an invocation.
    type InvokeId: Copy + Debug + Display;
    /// A service, as BIND names it.
    type Service: Clone + Debug + Eq + Send + Sync + 'static;
    /// A version of a service.
    type Version: Copy + Debug + Display + Eq + Send + Sync + 'static;
    /// Diagnostic of a negative BIND return.
    type BindDiagnostic: Clone + Debug + Eq + Send + Sync + 'static;
    /// Reason of UNBIND.
    type UnbindReason: Copy + Debug + Eq + Send + Sync + 'static;
    /// Diagnostic of PEER-ABORT.
    type Abort: AbortDiagnostic;
    /// Settings of a user's association.
    type UserSettings: Debug + Send + Sync + 'static;
    /// A service instance.
    type Instance: ProvidedInstance;

    /// The specification's name of an operation.
    fn name(pdu: &Self::Pdu) -> &'static str;
    /// Time that a user waits for a return, in nanoseconds.
    fn return_timeout_ns(settings: &Self::UserSettings) -> u64;
    /// The diagnostic of a negative BIND return; `None` for any other operation.
    fn bind_refusal(pdu: &Self::Pdu) -> Option<String>;
    /// Whether the operation is an UNBIND invocation.
    fn is_unbind(pdu: &Self::Pdu) -> bool;
    /// Decodes an operation of `sender`, with its credentials.
    ///
    /// # Errors
    /// [`DecodeError`].
    fn decode(
        &self,
        sender: AssociationRole,
        octets: &Bytes,
    ) -> Result<(Option<Bytes>, Self::Pdu), DecodeError>;
    /// Appends an operation to `out`.
    ///
    /// # Errors
    /// [`EncodeError`].
    fn encode(
        &self,
        credentials: Option<Bytes>,
        pdu: Self::Pdu,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError>;
    /// The user's invocation whose return is due first, and when.
    fn due(&self) -> Option<(u64, Self::InvokeId)>;
    /// Number of invocations without a return so far.
    fn waiting(&self) -> usize;
    /// Forgets the open invocations.
    fn clear(&mut self);
}

/// The constants of one specification's PEER-ABORT diagnostics.
macro_rules! abort_diagnostic {
    ($diagnostic:ty) => {
        impl crate::association::protocol::AbortDiagnostic for $diagnostic {
            const ACCESS_DENIED: Self = Self::AccessDenied;
            const PROTOCOL_ERROR: Self = Self::ProtocolError;
            const ENCODING_ERROR: Self = Self::EncodingError;
            const RETURN_TIMEOUT: Self = Self::ReturnTimeout;
            const END_OF_PROVISION: Self = Self::EndOfServiceProvisionPeriod;
            const OPERATIONAL_REQUIREMENT: Self = Self::OperationalRequirement;
            const OTHER_REASON: Self = Self::OtherReason;

            fn octet(self) -> u8 {
                <$diagnostic>::octet(self)
            }

            fn from_octet(octet: u8) -> Self {
                <$diagnostic>::from_octet(octet)
            }
        }
    };
}
pub(crate) use abort_diagnostic;
