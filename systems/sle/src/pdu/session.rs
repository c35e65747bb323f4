//! BIND, UNBIND and PEER-ABORT. The numbers are those of the books' ASN.1.

use super::service::ServiceType;

/// The octets of one specification's PEER-ABORT diagnostics.
macro_rules! diagnostic_octets {
    ($diagnostic:ident { $($name:ident = $octet:literal),* $(,)? }) => {
        impl $diagnostic {
            /// The octet of this diagnostic.
            #[must_use]
            pub fn octet(self) -> u8 {
                match self {
                    $(Self::$name => $octet,)*
                    Self::Other(octet) => octet,
                }
            }

            /// The diagnostic of an octet.
            #[must_use]
            pub fn from_octet(octet: u8) -> Self {
                match octet {
                    $($octet => Self::$name,)*
                    other => Self::Other(other),
                }
            }
        }
    };
}
pub(crate) use diagnostic_octets;

/// A BIND invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindPdu {
    /// Initiator identifier, 3 to 16 characters.
    pub initiator: String,
    /// The responder's port, 1 to 128 characters.
    pub responder_port: String,
    /// The service, by its application identifier (`rtnAllFrames` 0, `rtnChFrames` 2, `rtnChOcf`
    /// 4, `fwdCltu` 16); `Err` with the number where it is none of ours.
    pub service: Result<ServiceType, i64>,
    /// The version that is proposed.
    pub version: u16,
    /// Identifier of the service instance.
    pub instance: ServiceInstanceId,
}

/// A service instance identifier: attributes with values, in their order.
///
/// As text `sagr=1.spack=VST-PASS0001.rsl-fg=1.raf=onlc1`. Version 1 of the services writes other
/// object identifiers for the same attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ServiceInstanceId(pub Vec<(SiAttribute, String)>);

/// An attribute of a service instance identifier, by the last arc N of its object identifier
/// `1.3.112.4.3.1.2.N`: 52 is `sagr`, 53 `spack`, 7 `cltu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiAttribute(pub u16);

/// A BIND return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindReturn {
    /// Responder identifier.
    pub responder: String,
    /// The version that is used, or why not.
    pub result: Result<u16, BindDiagnostic>,
}

/// Why a BIND was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BindDiagnostic {
    /// Access denied.
    AccessDenied = 0,
    /// No such service here.
    ServiceTypeNotSupported = 1,
    /// The version is not supported.
    VersionNotSupported = 2,
    /// No such service instance.
    NoSuchServiceInstance = 3,
    /// Another user is bound to the instance.
    AlreadyBound = 4,
    /// The instance is not accessible to this initiator.
    SiNotAccessibleToThisInitiator = 5,
    /// The instance is of another service.
    InconsistentServiceType = 6,
    /// Outside of the service instance's provision period.
    InvalidTime = 7,
    /// Out of service.
    OutOfService = 8,
    /// Another reason.
    OtherReason = 127,
}

/// Why one unbinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum UnbindReason {
    /// The user does not need the service instance again.
    End = 0,
    /// The user will bind again.
    Suspend = 1,
    /// The version that was answered is none of ours.
    VersionNotSupported = 2,
    /// Another reason.
    Other = 127,
}

/// Why an association was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerAbortDiagnostic {
    /// 0: credentials that are wrong.
    AccessDenied,
    /// 1: a responder that was not called.
    UnexpectedResponderId,
    /// 2: an operator's wish.
    OperationalRequirement,
    /// 3: an operation that the state does not allow.
    ProtocolError,
    /// 4: the connection.
    CommunicationsFailure,
    /// 5: octets that are no operation.
    EncodingError,
    /// 6: a return that did not come in time.
    ReturnTimeout,
    /// 7: the provision period is over.
    EndOfServiceProvisionPeriod,
    /// 8: a return that nobody waits for.
    UnsolicitedInvokeId,
    /// Diagnostic 127.
    OtherReason,
    /// Any other octet: from 128 those of the transport (CCSDS 913.1).
    Other(u8),
}

diagnostic_octets!(PeerAbortDiagnostic {
    AccessDenied = 0,
    UnexpectedResponderId = 1,
    OperationalRequirement = 2,
    ProtocolError = 3,
    CommunicationsFailure = 4,
    EncodingError = 5,
    ReturnTimeout = 6,
    EndOfServiceProvisionPeriod = 7,
    UnsolicitedInvokeId = 8,
    OtherReason = 127,
});
