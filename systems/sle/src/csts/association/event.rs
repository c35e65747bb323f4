//! What an association tells whoever runs it, what a user is told beforehand, and why something was
//! not sent.

use crate::association::{Identity, Security};
use crate::csts::pdu::{Diagnostic, InvokeId, Oid, Pdu, PeerAbortDiagnostic, ServiceInstanceId};
use crate::tml::{Heartbeat, PDU_BYTES_MAX};

/// What a user binds to, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSettings {
    /// Who binds.
    pub initiator: Identity,
    /// Who is to answer; any other is aborted.
    pub responder: Identity,
    /// The responder's port by name, as BIND says it; 1 to 128 characters and no blank.
    pub responder_port: String,
    /// Which service instance; its service type is the one that BIND asks for.
    pub instance: ServiceInstanceId,
    /// The version of the service, from 1.
    pub version: u32,
    /// How the two know each other.
    pub security: Security,
    /// Proposed to the responder's transport.
    pub heartbeat: Heartbeat,
    /// Longest PDU that is taken, in octets.
    pub pdu_bytes_max: u32,
    /// A return, or an acknowledgement, that comes later than this after its invocation ends the
    /// association (BIND and UNBIND too); after an acknowledgement the time begins anew. In
    /// nanoseconds.
    pub return_timeout_ns: u64,
}

impl UserSettings {
    /// Version 1, no authentication, no heartbeats, 60 s for returns.
    #[must_use]
    pub fn new(instance: ServiceInstanceId) -> Self {
        let nobody = || Identity { id: String::new(), password: Vec::new() };
        Self {
            initiator: nobody(),
            responder: nobody(),
            responder_port: String::new(),
            instance,
            version: 1,
            security: Security::default(),
            heartbeat: Heartbeat::NONE,
            pdu_bytes_max: PDU_BYTES_MAX,
            return_timeout_ns: 60_000_000_000,
        }
    }
}

/// What happened. [`Event::Ended`] is the last of an association, and comes once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// BIND was answered positively (user), or is answered so (provider).
    Bound {
        /// The service instance.
        instance: ServiceInstanceId,
        /// Its service.
        service_type: Oid,
        /// The version of it that is spoken from here on.
        version: u32,
        /// Who bound.
        initiator: String,
    },
    /// BIND was answered negatively (user), or is answered so (provider).
    BindRefused(Diagnostic),
    /// An operation of a procedure. A return is one of an open invocation; an invocation's id is of
    /// none that is open.
    Pdu(Pdu),
    /// An operation that was ignored because its credentials are missing or wrong; whoever sent it
    /// will miss the return. `why` is for the log.
    Ignored {
        /// Why.
        why: String,
    },
    /// UNBIND was answered (user), or is answered (provider): all procedures are terminated.
    Unbound,
    /// There is no association any more.
    Ended(Ending),
}

/// How an association ended.
pub type Ending = crate::association::Ending<PeerAbortDiagnostic>;

/// Why an operation was not sent.
pub type SendError = crate::association::SendError<InvokeId>;
