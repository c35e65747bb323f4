//! One association between a user and a provider: BIND, UNBIND, PEER-ABORT, credentials, invoke ids
//! and return timers, the same for all services.
//!
//! The inputs are octets and instants; the outputs are [`AssociationEvent`]s and
//! [`TransportOutput`](crate::tml::TransportOutput). There is no socket, no thread and no clock. The owner of the connection
//!
//! 1. passes received octets to [`receive`](Association::receive) ([`urgent`](Association::urgent),
//!    [`closed`](Association::closed)), then takes events with
//!    [`next_event`](Association::next_event) until there are none: each PDU is decoded when it is
//!    taken, so that events do not accumulate;
//! 2. calls [`tick`](Association::tick) at the time of [`due`](Association::due);
//! 3. after both, and after sending, executes [`output`](Association::output).
//!
//! ```text
//! user       Unbound ─bind─▶ BindPending ─return+─▶ Bound ─unbind─▶ UnbindPending ─return─▶ Ended
//!                                        └return−─▶ Ended
//! provider   Unbound ─BIND, allowed─▶ Bound ─UNBIND─▶ Released ─closed─▶ Ended
//!                    └BIND, refused──────────────────▶ Released
//! both       every state ─abort, peer's abort, loss, transport's fault, timeout─▶ Ended
//! ```
//!
//! Sources: CCSDS 911.1, 911.2, 911.5, 912.1, each §3 (BIND, UNBIND, PEER-ABORT) and §4 (state
//! tables); CCSDS 913.1. For points whose text was not available (the treatment of wrong credentials,
//! the order of the checks at BIND, the side that closes the connection) this module does as the
//! agencies' common implementation of CCSDS 914.0, with the exceptions stated:
//!
//! * **Credentials are missing, wrong, stale or replayed**: the operation is ignored
//!   ([`AssociationEvent::Ignored`]), and its sender aborts when the return timer expires. BIND, the
//!   return of BIND and UNBIND are aborted with `access denied` instead, because ignoring them would
//!   leave an unusable connection. (The other implementation closes the connection without a
//!   diagnostic. There is no BIND return, because the initiator is not authenticated.)
//! * **Credentials that the level does not require** are not checked.
//! * **The initiator is unknown**: BIND is returned with `access denied`, without credentials.
//! * **The octets are not an operation**: abort with `encoding error`. **The state does not allow
//!   the operation**: abort with `protocol error`, also before BIND.
//! * **UNBIND while the service is started** is a protocol error.
//! * **The invoke id is in use**: the association returns the common diagnostic.
//! * **Version**: a provider without the proposed version refuses. A user accepts other versions if
//!   it is configured to, and otherwise unbinds with `version not supported`.
//! * **After the return of UNBIND, or a refusal, the initiator closes the connection.** A provider
//!   waits 10 s for it.

pub(crate) mod bind;
pub mod directory;
pub mod event;
mod flow;
mod invocations;
pub mod machine;
pub mod protocol;
pub(crate) mod security;
mod settings;
mod state;

use std::sync::Arc;

use bytes::Bytes;

use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{
    AssociationRole, BindDiagnostic, BindReturn, Diagnostic, InvokeId, Message, Pdu,
    PeerAbortDiagnostic, ServiceType, UnbindReason,
};
use crate::time::Now;
use crate::tml::Tml;

pub use crate::auth::HashAlgorithm;
pub use directory::{
    DirectoryError, Initiator, InstanceBinding, InstanceDirectory, ProvisionPeriod, ServiceInstance,
};
pub use event::{AssociationEnd, SendError};
pub use machine::BIND_BYTES_MAX;
pub use settings::{AuthenticationLevel, Identity, SecuritySettings, UserSettings};
pub use state::AssociationState;

use flow::{LastReturns, PduKind, pdu_kind};
use invocations::{ConfirmedOperation, OpenInvocations, OpenInvokeIds};
use machine::{AssociationSide, Operations};
use protocol::{AssociationProtocol, abort_diagnostic};
use security::{AssociationCredentials, guard};

/// One side of one association of SLE, on one connection.
pub type Association = machine::Association<SleProtocol>;

/// Event of an association of SLE.
pub type AssociationEvent = event::AssociationEvent<SleProtocol>;

/// The part of an association that is specific to SLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SleProtocol {
    codec: Codec,
    /// Whether START was invoked and STOP not yet returned.
    started: bool,
    /// User: the open invocations.
    invocations: OpenInvocations,
    /// A user's: with which UNBIND was invoked.
    reason: UnbindReason,
    /// Provider: the open invoke ids.
    open: OpenInvokeIds,
    /// Provider: values of the last returns.
    told: LastReturns,
}

impl SleProtocol {
    fn new(codec: Codec, return_timeout_ns: u64) -> Self {
        Self {
            codec,
            started: false,
            invocations: OpenInvocations::new(return_timeout_ns),
            reason: UnbindReason::Other,
            open: OpenInvokeIds::default(),
            told: LastReturns::default(),
        }
    }
}

abort_diagnostic!(PeerAbortDiagnostic);

impl AssociationProtocol for SleProtocol {
    type Pdu = Pdu;
    type InvokeId = InvokeId;
    type Service = ServiceType;
    type Version = u16;
    type BindDiagnostic = BindDiagnostic;
    type UnbindReason = UnbindReason;
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
            Pdu::BindReturn(BindReturn { result: Err(diagnostic), .. }) => {
                Some(format!("{diagnostic:?}"))
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
        let Message { credentials, pdu } = self.codec.decode(sender, octets)?;
        Ok((credentials, pdu))
    }

    fn encode(
        &self,
        credentials: Option<Bytes>,
        pdu: Pdu,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.codec.encode(&Message { credentials, pdu }, out)
    }

    fn due(&self) -> Option<(u64, InvokeId)> {
        self.invocations.due()
    }

    fn waiting(&self) -> usize {
        self.invocations.len()
    }

    fn clear(&mut self) {
        self.started = false;
        self.invocations.clear();
    }
}

impl Operations for SleProtocol {
    fn bind_invocation(link: &mut Association, octets: &Bytes) -> Option<AssociationEvent> {
        link.bind_invocation(octets)
    }

    fn send(link: &mut Association, pdu: Pdu) -> Result<(), SendError> {
        link.send_bound(pdu)
    }

    fn take(link: &mut Association, pdu: Pdu) -> Option<AssociationEvent> {
        match (link.state, pdu_kind(&pdu)) {
            (_, PduKind::Session) => link.session(pdu),
            (AssociationState::Bound, flow)
            | (
                AssociationState::UnbindPending,
                flow @ (PduKind::Return(..) | PduKind::Unconfirmed),
            ) => link.operation(pdu, flow),
            _ => link.not_now(&pdu),
        }
    }
}

impl Association {
    /// The side that has connected. It binds when told so.
    #[must_use]
    pub fn user(settings: UserSettings, now: Now) -> Self {
        let codec = Codec { service: settings.service, version: settings.version };
        let tml = Tml::initiator(settings.heartbeat, settings.pdu_bytes_max, now);
        let (own, peer) = (settings.initiator.clone(), settings.responder.clone());
        let guard = guard(&settings.security);
        let seal = AssociationCredentials::new(own, peer, settings.security, guard, now);
        let own = SleProtocol::new(codec, settings.return_timeout_ns);
        Self::new(AssociationSide::User(Box::new(settings)), tml, Some(seal), own, now)
    }

    /// The side that was connected to.
    #[must_use]
    pub fn provider(directory: Arc<InstanceDirectory>, now: Now) -> Self {
        // Until BIND names the service and version.
        let codec = Codec { service: ServiceType::Raf, version: 5 };
        Self::responder(directory, SleProtocol::new(codec, u64::MAX), now)
    }

    /// Sends an operation, while the association is bound.
    fn send_bound(&mut self, pdu: Pdu) -> Result<(), SendError> {
        let now = self.now;
        let flow = pdu_kind(&pdu);
        match (&self.side, flow) {
            (AssociationSide::User(_), PduKind::Invocation(id, operation)) => {
                if self.own.invocations.is_open(id) {
                    return Err(SendError::DuplicateInvokeId(id));
                }
                self.write(pdu)?;
                self.own.started |= operation == ConfirmedOperation::Start;
                self.own.invocations.open(id, operation, now.monotonic_ns);
                Ok(())
            }
            (AssociationSide::Provider(_), PduKind::Return(id, operation)) => {
                if !self.own.open.is_open(id, operation) {
                    return Err(SendError::NoSuchInvocation(id));
                }
                let own = &self.own;
                let (told, started) = (own.told.after(&pdu), after_return(own.started, &pdu));
                self.write(pdu)?;
                self.own.open.close(id);
                (self.own.told, self.own.started) = (told, started);
                Ok(())
            }
            (AssociationSide::Provider(_), PduKind::Unconfirmed) => self.write(pdu),
            _ => Err(SendError::NotOurs { operation: pdu.name(), role: self.role_name() }),
        }
    }

    /// Service and version; a provider's mean nothing before BIND.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.own.codec
    }

    /// An operation of the service, in a state that allows it.
    fn operation(&mut self, pdu: Pdu, flow: PduKind) -> Option<AssociationEvent> {
        match (&self.side, flow) {
            (AssociationSide::Provider(_), PduKind::Invocation(id, operation)) => {
                if !self.own.open.open(id, operation) {
                    let refusal = self.own.told.duplicate(id, operation);
                    self.answer(refusal);
                    return None;
                }
                self.own.started |= operation == ConfirmedOperation::Start;
            }
            (AssociationSide::User(_), PduKind::Return(id, operation)) => {
                if !self.own.invocations.close(id, operation) {
                    let why = format!("{} {id} returns nothing that was invoked", pdu.name());
                    self.give_up(PeerAbortDiagnostic::UnsolicitedInvokeId, why);
                    return None;
                }
                self.own.started = after_return(self.own.started, &pdu);
            }
            (AssociationSide::User(_), PduKind::Unconfirmed) => {}
            // The codec takes no operation from the side that does not send it.
            _ => return self.not_now(&pdu),
        }
        Some(AssociationEvent::Pdu(pdu))
    }
}

/// Whether the service is started once this return is sent, or has come.
fn after_return(started: bool, pdu: &Pdu) -> bool {
    match pdu {
        // Refused as a duplicate, START says nothing of the one that is open.
        Pdu::StartReturn { result: Err(Diagnostic::DuplicateInvokeId), .. } => started,
        Pdu::StartReturn { result, .. } => result.is_ok(),
        Pdu::StopReturn { result: Ok(()), .. } => false,
        _ => started,
    }
}
