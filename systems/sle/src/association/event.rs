//! Events of an association, its endings, and why it did not send something; the same for SLE and
//! CSTS.

use crate::codec::EncodeError;
use crate::pdu::{InvokeId, PeerAbortDiagnostic};
use crate::tml::TmlFault;

use super::directory::ProvidedInstance;
use super::protocol::AssociationProtocol;
use super::state::AssociationState;

/// Event of an association. [`AssociationEvent::Ended`] is the last event and comes once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssociationEvent<D: AssociationProtocol> {
    /// BIND was answered positively (user), or is answered so (provider).
    Bound {
        /// The service instance.
        instance: <D::Instance as ProvidedInstance>::Id,
        /// Its service.
        service: D::Service,
        /// The version of the service that is used from here on.
        version: D::Version,
        /// The initiator's identifier.
        initiator: String,
    },
    /// BIND was answered negatively (user), or is answered so (provider).
    BindRefused(D::BindDiagnostic),
    /// An operation of the service or of a procedure. A return belongs to an open invocation; the
    /// id of an invocation is not that of an open one.
    Pdu(D::Pdu),
    /// An operation was ignored because its credentials are missing or wrong, as the specification
    /// requires; its sender will miss the return.
    Ignored {
        /// The reason, for the log.
        why: String,
    },
    /// UNBIND was answered (user), or is answered (provider). In CSTS it has no reason, and all
    /// procedures are terminated.
    Unbound(D::UnbindReason),
    /// The association has ended.
    Ended(AssociationEnd<D::Abort>),
}

/// End of an association, in SLE and in CSTS. `A` is the specification's PEER-ABORT diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssociationEnd<A = PeerAbortDiagnostic> {
    /// The peer aborted.
    PeerAborted(A),
    /// This side aborted.
    Aborted {
        /// The diagnostic that is sent to the peer.
        diagnostic: A,
        /// The reason, for the log.
        why: String,
    },
    /// The transport gave up, or the connection broke.
    Transport(TmlFault),
    /// After UNBIND, or a BIND that was refused.
    Closed,
    /// The peer closed the connection without a word.
    Lost,
}

/// Why an operation was not sent, in SLE and in CSTS: `I` is the specification's invoke id. The
/// association is unchanged then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError<I = InvokeId> {
    /// The state does not allow it.
    #[error("{operation} cannot be sent: the association is {state}")]
    State {
        /// Name of the operation.
        operation: &'static str,
        /// State of the association.
        state: AssociationState,
    },
    /// SLE: UNBIND before STOP, which the provider would abort.
    #[error("UNBIND cannot be sent while the service is started: send STOP first")]
    Started,
    /// The other side sends this operation, or the association does so itself.
    #[error("the {role} does not send {operation}")]
    NotOurs {
        /// Name of the operation.
        operation: &'static str,
        /// Role of this side.
        role: &'static str,
    },
    /// An invocation with this id waits for its return.
    #[error("invoke id {0} is in use: its invocation has no return yet")]
    DuplicateInvokeId(I),
    /// No invocation with this id waits for a return, or it is of another operation.
    #[error("no open invocation of this operation has the invoke id {0}")]
    NoSuchInvocation(I),
    /// The operation cannot be encoded in this version.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The PDU is longer than a message can be.
    #[error("the PDU has {length} octets, which is too long for a message")]
    TooLong {
        /// Length of the PDU in octets.
        length: usize,
    },
}
