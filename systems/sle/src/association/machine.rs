//! One side of an association, the same for SLE and for CSTS over what the two differ in.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::codec::{DecodeError, EncodeError};
use crate::pdu::AssociationRole;
use crate::time::Now;
use crate::tml::{FrameError, Tml, TmlFault, TransportOutput};

use super::directory::{InstanceBinding, InstanceDirectory, ProvidedInstance, ProvisionPeriod};
use super::event::{AssociationEnd, AssociationEvent, SendError};
use super::protocol::{AbortDiagnostic, AssociationProtocol};
use super::security::{AssociationCredentials, SignedOperation};
use super::state::AssociationState;

/// Longest BIND that is taken, in octets. By the books' ranges one has some hundreds; other legal
/// BER (lengths of many octets, strings in pieces) makes it longer.
pub const BIND_BYTES_MAX: u32 = 16 << 10;

/// Time that a provider waits for the initiator to close the connection, in nanoseconds.
pub(crate) const RELEASE_NS: u64 = 10_000_000_000;

/// Processing of operations, which differs between the associations of SLE and of CSTS.
pub trait Operations: AssociationProtocol {
    /// Provider: handles the first PDU of a connection, which must be a BIND invocation.
    fn bind_invocation(
        link: &mut Association<Self>,
        octets: &Bytes,
    ) -> Option<AssociationEvent<Self>>;
    /// Sends an operation of the service or of a procedure, while the association is bound.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent then.
    fn send(link: &mut Association<Self>, pdu: Self::Pdu) -> Result<(), SendError<Self::InvokeId>>;
    /// Handles an operation whose credentials are valid.
    fn take(link: &mut Association<Self>, pdu: Self::Pdu) -> Option<AssociationEvent<Self>>;
}

/// One side of one association, on one connection.
#[derive(Debug)]
pub struct Association<D: AssociationProtocol> {
    pub(crate) side: AssociationSide<D>,
    pub(crate) state: AssociationState,
    pub(crate) tml: Tml,
    /// Credentials of this association; `None` until the peer is known, and for unsigned ones.
    pub(crate) seal: Option<AssociationCredentials>,
    /// State that only this specification has.
    pub(crate) own: D,
    events: VecDeque<AssociationEvent<D>>,
    pub(crate) output: TransportOutput,
    /// The connection is closed: the association ends so after the received PDUs are handled.
    closed: Option<AssociationEnd<D::Abort>>,
    pub(crate) now: Now,
    /// Deadline of the BIND or UNBIND return, or of the peer's close; nanoseconds of [`Now`].
    pub(crate) until_ns: Option<u64>,
}

#[derive(Debug)]
pub(crate) enum AssociationSide<D: AssociationProtocol> {
    User(Box<D::UserSettings>),
    Provider(ProviderSide<D>),
}

#[derive(Debug)]
pub(crate) struct ProviderSide<D: AssociationProtocol> {
    pub(crate) directory: Arc<InstanceDirectory<D::Instance>>,
    pub(crate) binding: Option<InstanceBinding<D::Instance>>,
    /// Whether the binding is over. It is given back only when whoever runs the association has
    /// seen why: by then its service instance is unbound, and fit for the next.
    pub(crate) parting: bool,
    /// When the provision period's end is to be looked at, on the monotonic clock.
    pub(crate) provision_ns: Option<u64>,
}

impl<D: Operations> Association<D> {
    /// A provider, for whoever has connected.
    pub(crate) fn responder(
        directory: Arc<InstanceDirectory<D::Instance>>,
        own: D,
        now: Now,
    ) -> Self {
        // BIND is taken from anybody, and so bounded more narrowly than what follows.
        let (heartbeat, pdu_bytes_max) = directory.limits();
        let tml = Tml::responder(heartbeat, pdu_bytes_max.min(BIND_BYTES_MAX), now);
        let provider =
            ProviderSide { directory, binding: None, parting: false, provision_ns: None };
        Self::new(AssociationSide::Provider(provider), tml, None, own, now)
    }

    pub(crate) fn new(
        side: AssociationSide<D>,
        tml: Tml,
        seal: Option<AssociationCredentials>,
        own: D,
        now: Now,
    ) -> Self {
        Self {
            side,
            state: AssociationState::Unbound,
            tml,
            seal,
            own,
            events: VecDeque::new(),
            output: TransportOutput::default(),
            closed: None,
            now,
            until_ns: None,
        }
    }

    /// Takes octets of the stream. Events are to be taken until there are none before the next.
    pub fn receive(&mut self, octets: &[u8], now: Now) {
        self.now = now;
        if self.state != AssociationState::Ended {
            self.tml.receive(octets, now);
        }
    }

    /// Takes the peer's urgent octet: its PEER-ABORT. What it sent before and was not taken is lost.
    pub fn urgent(&mut self, octet: u8, now: Now) {
        self.now = now;
        self.peer_aborted(D::Abort::from_octet(octet));
    }

    /// The peer has closed the connection (`None`), or it broke. What came before is still taken.
    pub fn closed(&mut self, fault: Option<TmlFault>, now: Now) {
        self.now = now;
        self.closed = Some(fault.map_or(AssociationEnd::Lost, AssociationEnd::Transport));
    }

    /// The next event, or `None`. After `Unbound` or `Ended`, the service instance becomes free for
    /// others when this is called again.
    pub fn next_event(&mut self) -> Option<AssociationEvent<D>> {
        self.end_binding();
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.state == AssociationState::Ended {
                return None;
            }
            match self.tml.next() {
                Some(Ok(octets)) => {
                    if let Some(event) = self.take(&octets) {
                        return Some(event);
                    }
                }
                Some(Err(fault)) => self.fault(fault),
                None => {
                    let ending = self.closed.take()?;
                    self.end(if self.state == AssociationState::Released {
                        AssociationEnd::Closed
                    } else {
                        ending
                    });
                }
            }
        }
    }

    /// Gives a binding back that is over, and of which nothing is left to be told.
    pub(crate) fn end_binding(&mut self) {
        if let AssociationSide::Provider(provider) = &mut self.side
            && provider.parting
            && self.events.is_empty()
        {
            provider.binding = None;
        }
    }

    /// Sends an operation of the service or of a procedure: a user its invocations, a provider its
    /// returns and invocations.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent then.
    pub fn send(&mut self, pdu: D::Pdu, now: Now) -> Result<(), SendError<D::InvokeId>> {
        self.now = now;
        if self.state != AssociationState::Bound {
            return Err(SendError::State { operation: D::name(&pdu), state: self.state });
        }
        D::send(self, pdu)
    }

    /// Aborts: by an operator's wish, or because a service's state machine wants it.
    pub fn abort(&mut self, diagnostic: D::Abort) {
        self.give_up(diagnostic, "by whoever runs the association".to_owned());
    }

    /// Octets and actions for the connection. The caller takes them out.
    pub fn output(&mut self) -> &mut TransportOutput {
        &mut self.output
    }

    /// The connection was not read until now. The time without messages from the peer begins here.
    pub fn not_listening(&mut self, now: Now) {
        self.tml.not_listening(now);
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> AssociationState {
        self.state
    }

    /// Sends what the association answers by itself.
    pub(crate) fn answer(&mut self, pdu: D::Pdu) {
        if let Err(error) = self.write(pdu) {
            let why = format!("the answer cannot be sent: {error}");
            self.give_up(D::Abort::OTHER_REASON, why);
        }
    }

    /// An operation that the state does not allow.
    pub(crate) fn not_now(&mut self, pdu: &D::Pdu) -> Option<AssociationEvent<D>> {
        let why = format!("{} while {}", D::name(pdu), self.state);
        self.give_up(D::Abort::PROTOCOL_ERROR, why);
        None
    }

    /// The transport cannot go on.
    pub(crate) fn fault(&mut self, fault: TmlFault) {
        if self.state == AssociationState::Ended {
            return;
        }
        self.output = TransportOutput::default();
        if fault.tells_the_peer() {
            self.output.urgent = Some(fault.diagnostic());
            self.output.close = true;
        } else {
            self.output.reset = true;
        }
        let released = self.state == AssociationState::Released;
        self.end(if released { AssociationEnd::Closed } else { AssociationEnd::Transport(fault) });
    }

    pub(crate) fn peer_aborted(&mut self, diagnostic: D::Abort) {
        if self.state != AssociationState::Ended {
            self.output = TransportOutput { close: true, ..TransportOutput::default() };
            self.end(AssociationEnd::PeerAborted(diagnostic));
        }
    }

    /// Aborts: sends PEER-ABORT with the diagnostic, and ends the association.
    pub(crate) fn give_up(&mut self, diagnostic: D::Abort, why: String) {
        if self.state == AssociationState::Ended {
            return;
        }
        // What waits to be sent is not: the abort overtakes it.
        let urgent = Some(diagnostic.octet());
        self.output = TransportOutput { urgent, close: true, ..TransportOutput::default() };
        self.end(AssociationEnd::Aborted { diagnostic, why });
    }

    pub(crate) fn release(&mut self) {
        self.state = AssociationState::Released;
        self.until_ns = Some(self.now.monotonic_ns.saturating_add(RELEASE_NS));
    }

    /// A return did not come in time: ends the association.
    pub(crate) fn overdue(&mut self) {
        let operation = match self.state {
            AssociationState::Released => {
                self.output.close = true;
                return self.end(AssociationEnd::Closed);
            }
            AssociationState::BindPending => "BIND",
            _ => "UNBIND",
        };
        let why = format!("the return of {operation} did not come in time");
        self.give_up(D::Abort::RETURN_TIMEOUT, why);
    }

    /// When [`tick`](Self::tick) has something to do, on the monotonic clock, in nanoseconds.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        if self.state == AssociationState::Ended {
            return None;
        }
        let part = match &self.side {
            AssociationSide::User(_) if self.state == AssociationState::Bound => {
                self.own.due().map(|(ns, _)| ns)
            }
            AssociationSide::User(_) => None,
            AssociationSide::Provider(provider) => provider.provision_ns,
        };
        [self.tml.due(), self.until_ns, part].into_iter().flatten().min()
    }

    /// Does what is due: heartbeats, and what happens when something did not come in time.
    pub fn tick(&mut self, now: Now) {
        self.now = now;
        if self.state == AssociationState::Ended {
            return;
        }
        if let Err(fault) = self.tml.tick(now, &mut self.output.octets) {
            return self.fault(fault);
        }
        let is_due = |ns: u64| ns <= now.monotonic_ns;
        if self.until_ns.is_some_and(is_due) {
            return self.overdue();
        }
        match &self.side {
            AssociationSide::User(settings) if self.state == AssociationState::Bound => {
                if let Some((ns, id)) = self.own.due()
                    && is_due(ns)
                {
                    let ms = D::return_timeout_ns(settings) / 1_000_000;
                    let why = format!("the return of invocation {id} did not come within {ms} ms");
                    self.give_up(D::Abort::RETURN_TIMEOUT, why);
                }
            }
            AssociationSide::Provider(provider) if provider.provision_ns.is_some_and(is_due) => {
                self.provision();
            }
            _ => {}
        }
    }

    /// Number of invocations without a return so far.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.own.waiting()
    }

    /// Takes a PDU of the peer.
    fn take(&mut self, octets: &Bytes) -> Option<AssociationEvent<D>> {
        let peer = match (&self.side, self.state) {
            (AssociationSide::Provider(_), AssociationState::Unbound) => {
                return D::bind_invocation(self, octets);
            }
            (AssociationSide::Provider(_), _) => AssociationRole::User,
            (AssociationSide::User(_), _) => AssociationRole::Provider,
        };
        let (credentials, mut pdu) = match self.own.decode(peer, octets) {
            Ok(message) => message,
            Err(error) => {
                self.give_up(D::Abort::ENCODING_ERROR, error.to_string());
                return None;
            }
        };
        let now = self.now;
        let checked =
            self.seal.as_mut().map(|seal| seal.check(&mut pdu, credentials.as_ref(), now));
        if let Some(Err(error)) = checked {
            return self.unauthenticated(&pdu, &error.to_string());
        }
        D::take(self, pdu)
    }

    /// Puts an operation into the output.
    pub(crate) fn write(&mut self, mut pdu: D::Pdu) -> Result<(), SendError<D::InvokeId>> {
        let now = self.now;
        let credentials = self.seal.as_mut().and_then(|seal| seal.sign(&mut pdu, now));
        let own = &self.own;
        let frame = |out: &mut Vec<u8>| own.encode(credentials, pdu, out);
        self.tml.frame(now, &mut self.output.octets, frame).map_err(
            |error: FrameError<EncodeError>| match error {
                FrameError::Pdu(error) => SendError::Encode(error),
                FrameError::TooLong { length } => SendError::TooLong { length },
            },
        )
    }

    /// An operation with credentials that are not taken.
    pub(crate) fn unauthenticated(
        &mut self,
        pdu: &D::Pdu,
        why: &str,
    ) -> Option<AssociationEvent<D>> {
        let mut why = format!("{}: {why}", D::name(pdu));
        // Nobody vouches for it, but it is the likeliest reason: who is not known is refused so.
        if let Some(diagnostic) = D::bind_refusal(pdu) {
            why.push_str(&format!("; it says {diagnostic}"));
        }
        if pdu.is_bind() || D::is_unbind(pdu) {
            self.give_up(D::Abort::ACCESS_DENIED, why);
            return None;
        }
        Some(AssociationEvent::Ignored { why })
    }

    pub(crate) fn end(&mut self, ending: AssociationEnd<D::Abort>) {
        self.state = AssociationState::Ended;
        self.until_ns = None;
        self.own.clear();
        if let AssociationSide::Provider(provider) = &mut self.side {
            provider.parting = true;
        }
        self.events.push_back(AssociationEvent::Ended(ending));
    }

    /// Looks at the provision period's end, by UTC: that clock may have been set since.
    fn provision(&mut self) {
        let AssociationSide::Provider(provider) = &mut self.side else { return };
        let provision = provider.binding.as_ref().and_then(|bound| bound.instance().provision());
        provider.provision_ns = provision.map(|provision| end_ns(provision, self.now));
        if provision.is_some_and(|provision| provision.end_utc_ns <= self.now.utc_ns) {
            let why = "the provision period is over".to_owned();
            self.give_up(D::Abort::END_OF_PROVISION, why);
        }
    }

    /// The settings of a user in that state, which is required to send that operation.
    pub(crate) fn user_in(
        &self,
        state: AssociationState,
        operation: &'static str,
    ) -> Result<&D::UserSettings, SendError<D::InvokeId>> {
        let AssociationSide::User(settings) = &self.side else {
            return Err(SendError::NotOurs { operation, role: self.role_name() });
        };
        if self.state != state {
            return Err(SendError::State { operation, state: self.state });
        }
        Ok(settings)
    }

    /// User: BIND or UNBIND was sent, and its return is due within the return timeout.
    pub(crate) fn await_return(&mut self, state: AssociationState) {
        self.state = state;
        if let AssociationSide::User(settings) = &self.side {
            let timeout_ns = D::return_timeout_ns(settings);
            self.until_ns = Some(self.now.monotonic_ns.saturating_add(timeout_ns));
        }
    }

    /// Provider: aborts, because the first PDU is no BIND.
    pub(crate) fn not_bind(&mut self, error: &DecodeError) {
        let diagnostic = match error {
            DecodeError::NotBind { .. } => D::Abort::PROTOCOL_ERROR,
            _ => D::Abort::ENCODING_ERROR,
        };
        self.give_up(diagnostic, error.to_string());
    }

    /// Provider: the credentials of an association with that initiator; `None` if it is unknown.
    pub(crate) fn seal_for(&self, initiator: &str) -> Option<AssociationCredentials> {
        let AssociationSide::Provider(ProviderSide { directory, .. }) = &self.side else {
            return None;
        };
        let guard = directory.guard(initiator)?;
        let initiator = directory.initiator(initiator)?;
        let (own, peer) = (directory.responder().clone(), initiator.identity.clone());
        Some(AssociationCredentials::new(own, peer, initiator.security, guard, self.now))
    }

    pub(crate) fn role_name(&self) -> &'static str {
        match self.side {
            AssociationSide::User(_) => "user",
            AssociationSide::Provider(_) => "provider",
        }
    }
}

/// When a provision period ends, on the monotonic clock as it stands to UTC now.
pub(crate) fn end_ns(provision: ProvisionPeriod, now: Now) -> u64 {
    let left_ns = provision.end_utc_ns.saturating_sub(now.utc_ns);
    now.monotonic_ns.saturating_add(left_ns)
}
