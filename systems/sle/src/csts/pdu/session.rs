//! BIND, UNBIND and PEER-ABORT. Source: CCSDS 921.1-B-2, annexes F3.2 and F3.5.

use super::number::InvokeId;
use super::{Embedded, Oid, ProcedureName};
use crate::pdu::diagnostic_octets;
use std::fmt;

/// A BIND invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindPdu {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The name of Association Control.
    pub procedure: ProcedureName,
    /// Initiator identifier, 3 to 16 characters without blanks.
    pub initiator: String,
    /// The responder's port, 1 to 128 characters and no blank.
    pub responder_port: String,
    /// The service type.
    pub service_type: Oid,
    /// The version that is proposed, from 1.
    pub version: u32,
    /// Identifier of the service instance.
    pub instance: ServiceInstanceId,
    /// Extension of a service.
    pub extension: Option<Embedded>,
}

/// A service instance identifier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServiceInstanceId {
    /// Identifier of the spacecraft.
    pub spacecraft: Oid,
    /// The facility that provides.
    pub facility: Oid,
    /// The service type.
    pub service_type: Oid,
    /// Number of the instance.
    pub number: u32,
}

impl fmt::Display for ServiceInstanceId {
    /// As `1.3.112.4.7.1/1.3.112.4.6.2/1.3.112.4.4.1.2.4/1`: spacecraft, facility, service, number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spacecraft, facility, service_type, number } = self;
        write!(f, "{spacecraft}/{facility}/{service_type}/{number}")
    }
}

/// A BIND return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindReturn {
    /// The result of BIND.
    pub answer: super::PlainReturn,
    /// Responder identifier, 3 to 16 characters without blanks.
    pub responder: String,
}

/// Why an association was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerAbortDiagnostic {
    /// 40: credentials that are wrong.
    AccessDenied,
    /// 41: a responder that was not called.
    UnexpectedResponderId,
    /// 42: an operator's wish.
    OperationalRequirement,
    /// 43: an operation that the state does not allow.
    ProtocolError,
    /// 44: the connection.
    CommunicationsFailure,
    /// 45: octets that are no operation.
    EncodingError,
    /// 46: a return that did not come in time.
    ReturnTimeout,
    /// 47: the provision period is over.
    EndOfServiceProvisionPeriod,
    /// 48: a return that nobody waits for.
    UnsolicitedInvokeId,
    /// 49: the invoke id is that of an operation that is still open.
    DuplicateInvokeId,
    /// 50: no such procedure instance.
    InvalidProcedureName,
    /// 51: an extension of a type that is not known.
    UnrecognizedType,
    /// 70: a forward buffer with more data units than were agreed on.
    ForwardBufferTooLarge,
    /// Diagnostic 126.
    OtherReason,
    /// Any other octet: from 128 those of the transport (CCSDS 913.1), 200 to 250 a service's own.
    Other(u8),
}

diagnostic_octets!(PeerAbortDiagnostic {
    AccessDenied = 40,
    UnexpectedResponderId = 41,
    OperationalRequirement = 42,
    ProtocolError = 43,
    CommunicationsFailure = 44,
    EncodingError = 45,
    ReturnTimeout = 46,
    EndOfServiceProvisionPeriod = 47,
    UnsolicitedInvokeId = 48,
    DuplicateInvokeId = 49,
    InvalidProcedureName = 50,
    UnrecognizedType = 51,
    ForwardBufferTooLarge = 70,
    OtherReason = 126,
});
