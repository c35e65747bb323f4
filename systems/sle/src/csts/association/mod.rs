//! One association of a cross support transfer service: BIND, UNBIND, PEER-ABORT, credentials,
//! invoke ids and response timers, the same for all procedures.
//!
//! Used like the association of SLE ([`crate::association`]): the inputs are octets and instants, the
//! outputs are [`AssociationEvent`]s and [`TransportOutput`](crate::tml::TransportOutput). There is no socket, no thread and no
//! clock. The states are those of SLE.
//!
//! Sources: CCSDS 921.1-B-2, annex F (operations, diagnostics). Of its text only §4.1 and §4.2 of
//! the first edition (ISO 23103:2020) were available:
//!
//! * until it has returned BIND positively, a provider accepts BIND and PEER-ABORT only;
//! * UNBIND terminates all procedures in any state ([`AssociationEvent::Unbound`]).
//!
//! The following points could not be compared with the text. They follow the annex's diagnostics,
//! and SLE if the annex has none:
//!
//! * **The invoke id is in use**: abort with `duplicate invoke id` (49), because a return has no such
//!   diagnostic. All procedures share one sequence of invoke ids, and one check.
//! * **BIND or UNBIND of a procedure other than Association Control**: abort with `invalid procedure
//!   name` (50). Other procedure names are checked by the procedures.
//! * **EXECUTE-DIRECTIVE** is open until its acknowledgement refuses it, or until it is returned. The
//!   response timer runs until the acknowledgement, and again until the return.
//! * **PROCESS-DATA** has a return in Sequence-Controlled Data Processing only.
//! * **Credentials** that are missing or wrong: as in SLE.
//! * **A version** that is not provided is refused; the return cannot propose another one.
//! * **More than 65,536 invocations** without a return: abort with `other reason`.

mod bind;
mod directory;
mod flow;
mod open;
mod settings;

use std::sync::Arc;

use bytes::Bytes;

use crate::association::AssociationState;
use crate::association::machine::{self, AssociationSide, Operations};
use crate::association::protocol::{AssociationProtocol, abort_diagnostic};
use crate::association::security::{AssociationCredentials, guard};
use crate::codec::{DecodeError, EncodeError};
use crate::csts::codec::{decode, encode};
use crate::csts::pdu::{
    AssociationRole, BindReturn, Diagnostic, InvokeId, Message, Oid, Pdu, PeerAbortDiagnostic,
};
use crate::time::Now;
use crate::tml::Tml;

pub use crate::association::DirectoryError;
pub use directory::{InstanceBinding, InstanceDirectory, ServiceInstance};
pub use settings::UserSettings;

use flow::{PduKind, flow};
use open::{ConfirmedOperation, OpenInvocations};

/// Invocations of one user that may wait for their returns.
const OPEN_MAX: usize = 1 << 16;

/// One side of one association of a cross support transfer service, on one connection.
pub type Association = machine::Association<CstsProtocol>;

/// Event of an association of CSTS.
pub type AssociationEvent = crate::association::event::AssociationEvent<CstsProtocol>;

/// End of an association of CSTS.
pub type AssociationEnd = crate::association::AssociationEnd<PeerAbortDiagnostic>;

/// Why an operation was not sent.
pub type SendError = crate::association::SendError<InvokeId>;

/// State that only an association of a cross support transfer service has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CstsProtocol {
    /// A user's invocations that were not returned yet, or a provider's that it has not returned.
    open: OpenInvocations,
    /// The invoke id to be used next.
    next_id: InvokeId,
    /// A user's: of BIND, then of UNBIND.
    session_id: InvokeId,
}

impl CstsProtocol {
    fn new(return_timeout_ns: u64) -> Self {
        Self { open: OpenInvocations::new(return_timeout_ns), next_id: 0, session_id: 0 }
    }
}

abort_diagnostic!(PeerAbortDiagnostic);

impl AssociationProtocol for CstsProtocol {
    type Pdu = Pdu;
    type InvokeId = InvokeId;
    type Service = Oid;
    type Version = u32;
    type BindDiagnostic = Diagnostic;
    /// UNBIND has no reason.
    type UnbindReason = ();
    type Abort = PeerAbortDiagnostic;
    type UserSettings = UserSettings;
    type Instance = ServiceInstance;

    fn name(pdu: &Pdu) -> &'static str {
        pdu.name()
    }

    fn return_timeout_ns(settings: &UserSettings) -> u64 {
        settings.return_timeout_ns
    }

    fn bind_refusal(pdu: &Pdu) -> Option<String> {
        match pdu {
            Pdu::BindReturn(BindReturn { answer, .. }) => {
                answer.result.as_ref().err().map(|diagnostic| format!("{diagnostic:?}"))
            }
            _ => None,
        }
    }

    fn is_unbind(pdu: &Pdu) -> bool {
        matches!(pdu, Pdu::Unbind(_))
    }

    fn decode(
        &self,
        sender: AssociationRole,
        octets: &Bytes,
    ) -> Result<(Option<Bytes>, Pdu), DecodeError> {
        let Message { credentials, pdu } = decode(sender, octets)?;
        Ok((credentials, pdu))
    }

    fn encode(
        &self,
        credentials: Option<Bytes>,
        pdu: Pdu,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        encode(&Message { credentials, pdu }, out)
    }

    fn due(&self) -> Option<(u64, InvokeId)> {
        self.open.due()
    }

    fn waiting(&self) -> usize {
        self.open.len()
    }

    fn clear(&mut self) {
        self.open.clear();
    }
}

impl Operations for CstsProtocol {
    fn bind_invocation(link: &mut Association, octets: &Bytes) -> Option<AssociationEvent> {
        link.bind_invocation(octets)
    }

    fn send(link: &mut Association, pdu: Pdu) -> Result<(), SendError> {
        link.send_bound(pdu)
    }

    fn take(link: &mut Association, pdu: Pdu) -> Option<AssociationEvent> {
        match (link.state, flow(&pdu)) {
            (_, PduKind::Session) => link.session(pdu),
            (AssociationState::Bound, flow) => link.operation(pdu, flow),
            (
                AssociationState::UnbindPending,
                flow @ (PduKind::Return(..) | PduKind::Acknowledgement(..) | PduKind::Unconfirmed),
            ) => link.operation(pdu, flow),
            _ => link.not_now(&pdu),
        }
    }
}

impl Association {
    /// The side that has connected. It binds when told so.
    #[must_use]
    pub fn user(settings: UserSettings, now: Now) -> Self {
        let tml = Tml::initiator(settings.heartbeat, settings.pdu_bytes_max, now);
        let (own, peer) = (settings.initiator.clone(), settings.responder.clone());
        let guard = guard(&settings.security);
        let seal = AssociationCredentials::new(own, peer, settings.security, guard, now);
        let own = CstsProtocol::new(settings.return_timeout_ns);
        Self::new(AssociationSide::User(Box::new(settings)), tml, Some(seal), own, now)
    }

    /// The side that was connected to.
    #[must_use]
    pub fn provider(directory: Arc<InstanceDirectory>, now: Now) -> Self {
        Self::responder(directory, CstsProtocol::new(u64::MAX), now)
    }

    /// An invoke id for the next invocation: none that is open. The two sides' ids are apart.
    pub fn invoke_id(&mut self) -> InvokeId {
        while self.own.open.operation(self.own.next_id).is_some() {
            self.own.next_id = self.own.next_id.wrapping_add(1);
        }
        let id = self.own.next_id;
        self.own.next_id = id.wrapping_add(1);
        id
    }

    /// Sends an operation, while the association is bound.
    fn send_bound(&mut self, pdu: Pdu) -> Result<(), SendError> {
        let now = self.now;
        let (flow, ns) = (flow(&pdu), now.monotonic_ns);
        let user = matches!(self.side, AssociationSide::User(_));
        match flow {
            PduKind::Invocation(id, operation) if user => {
                if self.own.open.operation(id).is_some() {
                    return Err(SendError::DuplicateInvokeId(id));
                }
                self.write(pdu)?;
                self.own.open.open(id, operation, ns);
                Ok(())
            }
            PduKind::Unreturned(_) if user => match self.duplicate(&pdu) {
                Some(id) => Err(SendError::DuplicateInvokeId(id)),
                None => self.write(pdu),
            },
            PduKind::Return(id, operation) if !user => {
                if self.own.open.operation(id) != Some(operation) {
                    return Err(SendError::NoSuchInvocation(id));
                }
                self.write(pdu)?;
                self.own.open.close(id, operation);
                Ok(())
            }
            PduKind::Acknowledgement(id, positive) if !user => {
                if self.own.open.operation(id) != Some(ConfirmedOperation::Directive) {
                    return Err(SendError::NoSuchInvocation(id));
                }
                self.write(pdu)?;
                self.acknowledged(id, positive);
                Ok(())
            }
            PduKind::Unconfirmed if !user => self.write(pdu),
            _ => Err(SendError::NotOurs { operation: pdu.name(), role: self.role_name() }),
        }
    }

    /// An operation of a procedure, in a state that allows it.
    fn operation(&mut self, pdu: Pdu, flow: PduKind) -> Option<AssociationEvent> {
        let known = match flow {
            PduKind::Invocation(id, operation) => {
                if self.own.open.operation(id).is_some() {
                    return self.duplicated(&pdu, id);
                }
                if self.own.open.len() >= OPEN_MAX {
                    let why = format!("{OPEN_MAX} invocations wait for their returns");
                    self.give_up(PeerAbortDiagnostic::OtherReason, why);
                    return None;
                }
                self.own.open.open(id, operation, self.now.monotonic_ns);
                true
            }
            PduKind::Unreturned(_) => match self.duplicate(&pdu) {
                Some(id) => return self.duplicated(&pdu, id),
                None => true,
            },
            PduKind::Return(id, operation) => self.own.open.close(id, operation),
            PduKind::Acknowledgement(id, positive) => self.acknowledged(id, positive),
            PduKind::Unconfirmed => true,
            PduKind::Session => false,
        };
        if !known {
            let why = format!("{} returns nothing that was invoked", pdu.name());
            self.give_up(PeerAbortDiagnostic::UnsolicitedInvokeId, why);
            return None;
        }
        Some(AssociationEvent::Pdu(pdu))
    }

    /// EXECUTE-DIRECTIVE is acknowledged; `false` where none such is open.
    fn acknowledged(&mut self, id: InvokeId, positive: bool) -> bool {
        let known = self.own.open.close(id, ConfirmedOperation::Directive);
        if known && positive {
            self.own.open.open(id, ConfirmedOperation::Acknowledged, self.now.monotonic_ns);
        }
        known
    }

    /// An id of these invocations, which nobody returns, that is open.
    fn duplicate(&self, pdu: &Pdu) -> Option<InvokeId> {
        if self.own.open.len() == 0 {
            return None;
        }
        let is_open = |id: &InvokeId| self.own.open.operation(*id).is_some();
        match pdu {
            Pdu::ProcessData(data) => Some(data.invoke_id).filter(is_open),
            Pdu::ForwardBuffer(parts) => {
                parts.iter().map(|part| part.operation.invoke_id).find(is_open)
            }
            _ => None,
        }
    }

    fn duplicated(&mut self, pdu: &Pdu, id: InvokeId) -> Option<AssociationEvent> {
        let why = format!("{} has the invoke id {id}, which is open", pdu.name());
        self.give_up(PeerAbortDiagnostic::DuplicateInvokeId, why);
        None
    }
}
