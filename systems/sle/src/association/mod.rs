//! One association between a user and a provider: BIND, UNBIND, PEER-ABORT, credentials, invoke ids
//! and return timers, the same for all services.
//!
//! Octets and instants go in, [`Event`]s and [`Output`] come out; no socket, no thread, no clock.
//! Whoever has the connection
//!
//! 1. gives what came to [`receive`](Association::receive) ([`urgent`](Association::urgent),
//!    [`closed`](Association::closed)), then takes events with
//!    [`next_event`](Association::next_event) until there are none: PDUs are decoded one at a time
//!    as they are taken, so nothing piles up;
//! 2. calls [`tick`](Association::tick) when [`due`](Association::due) says so;
//! 3. after either, and after sending, does what [`output`](Association::output) has.
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
//! tables); CCSDS 913.1. Where their text was not at hand (what becomes of wrong credentials, the
//! order of the checks at BIND, who closes the connection) it is as in the agencies' common
//! implementation of CCSDS 914.0, unless said otherwise:
//!
//! * **Credentials that are missing, wrong, stale or replayed.** An operation with such is ignored,
//!   as if it had not come ([`Event::Ignored`]); whoever sent it aborts when no return comes. Where
//!   ignoring would leave a connection hanging, this side aborts with `access denied`: BIND, BIND
//!   return, UNBIND. (That implementation breaks the connection there without a diagnostic; ours
//!   says why. There is no BIND return to somebody who is not known to be who he says.)
//! * **Credentials that nobody asked for** are not looked at.
//! * **An initiator that nobody knows** gets a BIND return `access denied`, without credentials.
//! * **What is no operation** is aborted with `encoding error`, an operation that the state does not
//!   allow with `protocol error`, also where no association is bound yet.
//! * **UNBIND while the service is started** is a protocol error.
//! * **An invoke id that is open** is answered by the association, with the common diagnostic.
//! * **The version**: a provider that has not the proposed one refuses. A user takes those others that
//!   it is told to take, and unbinds with `version not supported` from any further one.
//! * **After UNBIND's return, or a refusal, the initiator closes the connection**; a provider waits
//!   for that 10 s.

pub(crate) mod bind;
pub mod directory;
mod event;
mod flow;
mod invocations;
pub(crate) mod security;
mod settings;
mod state;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::codec::{Codec, EncodeError};
use crate::pdu::{
    BindReturn, Diagnostic, InvokeId, Message, Pdu, PeerAbortDiagnostic, Role, Service,
    UnbindReason,
};
use crate::time::Now;
use crate::tml::{FrameError, Output, Tml, TmlFault};

pub use crate::auth::Hash;
pub use directory::{Binding, Directory, DirectoryError, Initiator, Instance, Provision};
pub use event::{Ending, Event, SendError};
pub use settings::{Identity, Level, Security, UserSettings};
pub use state::State;

use flow::{Flow, Told, flow};
use invocations::{Invocations, OpenIds, Operation};
use security::{Seal, guard};

/// Longest BIND that is taken, in octets. By the books' ranges one has some hundreds; other legal
/// BER (lengths of many octets, strings in pieces) makes it longer.
pub const BIND_BYTES_MAX: u32 = 16 << 10;

/// One side of one association, on one connection.
#[derive(Debug)]
pub struct Association {
    part: Part,
    state: State,
    /// Whether START was invoked and STOP not yet returned.
    started: bool,
    tml: Tml,
    codec: Codec,
    /// `None`: nobody is known yet, and nothing signed.
    seal: Option<Seal>,
    events: VecDeque<Event>,
    output: Output,
    /// There is no connection any more; this is the end when all that came is taken.
    closed: Option<Ending>,
    now: Now,
    /// When BIND's or UNBIND's return is to have come, or the peer to have closed.
    until_ns: Option<u64>,
}

#[derive(Debug)]
enum Part {
    User(User),
    Provider(Provider),
}

#[derive(Debug)]
struct User {
    settings: Box<UserSettings>,
    invocations: Invocations,
    /// With which UNBIND was invoked.
    reason: UnbindReason,
}

#[derive(Debug)]
struct Provider {
    directory: Arc<Directory>,
    binding: Option<Binding>,
    /// Whether the binding is over. It is given back only when whoever runs the association has
    /// seen why: by then its service instance is unbound, and fit for the next.
    parting: bool,
    open: OpenIds,
    told: Told,
    /// When the provision period's end is to be looked at, on the monotonic clock.
    provision_ns: Option<u64>,
}

impl Association {
    /// The side that has connected. It binds when told so.
    #[must_use]
    pub fn user(settings: UserSettings, now: Now) -> Self {
        let codec = Codec { service: settings.service, version: settings.version };
        let tml = Tml::initiator(settings.heartbeat, settings.pdu_bytes_max, now);
        let (own, peer) = (settings.initiator.clone(), settings.responder.clone());
        let guard = guard(&settings.security);
        let seal = Seal::new(own, peer, settings.security, guard, now);
        let invocations = Invocations::new(settings.return_timeout_ns);
        let reason = UnbindReason::Other;
        let part = Part::User(User { settings: Box::new(settings), invocations, reason });
        Self::new(part, tml, codec, Some(seal), now)
    }

    /// The side that was connected to.
    #[must_use]
    pub fn provider(directory: Arc<Directory>, now: Now) -> Self {
        // BIND is taken from anybody, and so bounded more narrowly than what follows.
        let (heartbeat, pdu_bytes_max) = directory.limits();
        let tml = Tml::responder(heartbeat, pdu_bytes_max.min(BIND_BYTES_MAX), now);
        // Until BIND says which.
        let codec = Codec { service: Service::Raf, version: 5 };
        let (open, told) = (OpenIds::default(), Told::default());
        let part =
            Provider { directory, binding: None, parting: false, open, told, provision_ns: None };
        Self::new(Part::Provider(part), tml, codec, None, now)
    }

    fn new(part: Part, tml: Tml, codec: Codec, seal: Option<Seal>, now: Now) -> Self {
        Self {
            part,
            state: State::Unbound,
            started: false,
            tml,
            codec,
            seal,
            events: VecDeque::new(),
            output: Output::default(),
            closed: None,
            now,
            until_ns: None,
        }
    }

    /// Takes octets of the stream. Events are to be taken until there are none before the next.
    pub fn receive(&mut self, octets: &[u8], now: Now) {
        self.now = now;
        if self.state != State::Ended {
            self.tml.receive(octets, now);
        }
    }

    /// Takes the peer's urgent octet: its PEER-ABORT. What it sent before and was not taken is lost.
    pub fn urgent(&mut self, octet: u8, now: Now) {
        self.now = now;
        self.peer_aborted(PeerAbortDiagnostic::from_octet(octet));
    }

    /// The peer has closed the connection (`None`), or it broke. What came before is still taken.
    pub fn closed(&mut self, fault: Option<TmlFault>, now: Now) {
        self.now = now;
        self.closed = Some(fault.map_or(Ending::Lost, Ending::Transport));
    }

    /// What happened next; `None` until more comes. A service instance that was bound is free for
    /// others when the call after [`Event::Unbound`] or [`Event::Ended`] returns.
    pub fn next_event(&mut self) -> Option<Event> {
        self.part();
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.state == State::Ended {
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
                    self.end(if self.state == State::Released { Ending::Closed } else { ending });
                }
            }
        }
    }

    /// Gives a binding back that is over, and of which nothing is left to be told.
    fn part(&mut self) {
        if let Part::Provider(provider) = &mut self.part
            && provider.parting
            && self.events.is_empty()
        {
            provider.binding = None;
        }
    }

    /// Aborts: by an operator's wish, or because a service's state machine wants it.
    pub fn abort(&mut self, diagnostic: PeerAbortDiagnostic) {
        self.give_up(diagnostic, "by whoever runs the association".to_owned());
    }

    /// Sends an operation of the service: a user its invocations, a provider its returns and
    /// invocations.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent then.
    pub fn send(&mut self, pdu: Pdu, now: Now) -> Result<(), SendError> {
        self.now = now;
        if self.state != State::Bound {
            return Err(SendError::State { operation: pdu.name(), state: self.state });
        }
        let flow = flow(&pdu);
        match (&mut self.part, flow) {
            (Part::User(user), Flow::Invocation(id, operation)) => {
                if user.invocations.is_open(id) {
                    return Err(SendError::DuplicateInvokeId(id));
                }
                self.write(pdu)?;
                self.opened(id, operation);
                Ok(())
            }
            (Part::Provider(provider), Flow::Return(id, operation)) => {
                if !provider.open.is_open(id, operation) {
                    return Err(SendError::NoSuchInvocation(id));
                }
                let (told, started) = (provider.told.after(&pdu), after_return(self.started, &pdu));
                self.write(pdu)?;
                self.returned(id, told);
                self.started = started;
                Ok(())
            }
            (Part::Provider(_), Flow::Unconfirmed) => self.write(pdu),
            _ => Err(SendError::NotOurs { operation: pdu.name(), role: self.role_name() }),
        }
    }

    /// What is to be sent and done; whoever does it takes it out.
    pub fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    /// When [`tick`](Self::tick) has something to do, on the monotonic clock, in nanoseconds.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        if self.state == State::Ended {
            return None;
        }
        let part = match &self.part {
            Part::User(user) if self.state == State::Bound => {
                user.invocations.due().map(|(ns, _)| ns)
            }
            Part::User(_) => None,
            Part::Provider(provider) => provider.provision_ns,
        };
        [self.tml.due(), self.until_ns, part].into_iter().flatten().min()
    }

    /// Does what is due: heartbeats, and what happens when something did not come in time.
    pub fn tick(&mut self, now: Now) {
        self.now = now;
        if self.state == State::Ended {
            return;
        }
        if let Err(fault) = self.tml.tick(now, &mut self.output.octets) {
            return self.fault(fault);
        }
        if self.until_ns.is_some_and(|until_ns| until_ns <= now.monotonic_ns) {
            return self.overdue();
        }
        match &self.part {
            Part::User(user) if self.state == State::Bound => {
                if let Some((ns, id)) = user.invocations.due()
                    && ns <= now.monotonic_ns
                {
                    let ms = user.settings.return_timeout_ns / 1_000_000;
                    let why = format!("the return of invocation {id} did not come within {ms} ms");
                    self.give_up(PeerAbortDiagnostic::ReturnTimeout, why);
                }
            }
            Part::Provider(provider) => {
                if provider.provision_ns.is_some_and(|ns| ns <= now.monotonic_ns) {
                    self.provision();
                }
            }
            Part::User(_) => {}
        }
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Service and version; a provider's mean nothing before BIND.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// How many invocations of a user wait for their return.
    #[must_use]
    pub fn waiting(&self) -> usize {
        match &self.part {
            Part::User(user) => user.invocations.len(),
            Part::Provider(_) => 0,
        }
    }

    /// What a PDU of the peer means.
    fn take(&mut self, octets: &Bytes) -> Option<Event> {
        let peer = match (&self.part, self.state) {
            (Part::Provider(_), State::Unbound) => return self.bind_invocation(octets),
            (Part::Provider(_), _) => Role::User,
            (Part::User(_), _) => Role::Provider,
        };
        let Message { credentials, mut pdu } = match self.codec.decode(peer, octets) {
            Ok(message) => message,
            Err(error) => {
                self.give_up(PeerAbortDiagnostic::EncodingError, error.to_string());
                return None;
            }
        };
        let now = self.now;
        let checked =
            self.seal.as_mut().map(|seal| seal.check(&mut pdu, credentials.as_ref(), now));
        if let Some(Err(error)) = checked {
            return self.unauthenticated(&pdu, &error.to_string());
        }
        match (self.state, flow(&pdu)) {
            (_, Flow::Session) => self.session(pdu),
            (State::Bound, flow)
            | (State::UnbindPending, flow @ (Flow::Return(..) | Flow::Unconfirmed)) => {
                self.operation(pdu, flow)
            }
            _ => self.not_now(&pdu),
        }
    }

    /// An operation of the service, in a state that allows it.
    fn operation(&mut self, pdu: Pdu, flow: Flow) -> Option<Event> {
        match (&mut self.part, flow) {
            (Part::Provider(provider), Flow::Invocation(id, operation)) => {
                if !provider.open.open(id, operation) {
                    let refusal = provider.told.duplicate(id, operation);
                    self.answer(refusal);
                    return None;
                }
                self.started |= operation == Operation::Start;
            }
            (Part::User(user), Flow::Return(id, operation)) => {
                if !user.invocations.close(id, operation) {
                    let why = format!("{} {id} returns nothing that was invoked", pdu.name());
                    self.give_up(PeerAbortDiagnostic::UnsolicitedInvokeId, why);
                    return None;
                }
                self.started = after_return(self.started, &pdu);
            }
            (Part::User(_), Flow::Unconfirmed) => {}
            // The codec takes no operation from the side that does not send it.
            _ => return self.not_now(&pdu),
        }
        Some(Event::Pdu(pdu))
    }

    /// A user's invocation was sent.
    fn opened(&mut self, id: InvokeId, operation: Operation) {
        self.started |= operation == Operation::Start;
        if let Part::User(user) = &mut self.part {
            user.invocations.open(id, operation, self.now.monotonic_ns);
        }
    }

    /// A provider's return was sent.
    fn returned(&mut self, id: InvokeId, told: Told) {
        if let Part::Provider(provider) = &mut self.part {
            provider.open.close(id);
            provider.told = told;
        }
    }

    /// Sends what the association answers by itself.
    fn answer(&mut self, pdu: Pdu) {
        if let Err(error) = self.write(pdu) {
            let why = format!("the answer cannot be sent: {error}");
            self.give_up(PeerAbortDiagnostic::OtherReason, why);
        }
    }

    /// Puts an operation into the output.
    fn write(&mut self, mut pdu: Pdu) -> Result<(), SendError> {
        let (codec, now) = (self.codec, self.now);
        let credentials = self.seal.as_mut().and_then(|seal| seal.sign(&mut pdu, now));
        let message = Message { credentials, pdu };
        self.tml.frame(now, &mut self.output.octets, |out| codec.encode(&message, out)).map_err(
            |error: FrameError<EncodeError>| match error {
                FrameError::Pdu(error) => SendError::Encode(error),
                FrameError::TooLong { length } => SendError::TooLong { length },
            },
        )
    }

    /// An operation with credentials that are not taken.
    fn unauthenticated(&mut self, pdu: &Pdu, why: &str) -> Option<Event> {
        let mut why = format!("{}: {why}", pdu.name());
        // Nobody vouches for it, but it is the likeliest reason: who is not known is refused so.
        if let Pdu::BindReturn(BindReturn { result: Err(diagnostic), .. }) = pdu {
            why.push_str(&format!("; it says {diagnostic:?}"));
        }
        if matches!(pdu, Pdu::Bind(_) | Pdu::BindReturn(_) | Pdu::Unbind(_)) {
            self.give_up(PeerAbortDiagnostic::AccessDenied, why);
            return None;
        }
        Some(Event::Ignored { why })
    }

    /// An operation that the state does not allow.
    fn not_now(&mut self, pdu: &Pdu) -> Option<Event> {
        let why = format!("{} while {}", pdu.name(), self.state);
        self.give_up(PeerAbortDiagnostic::ProtocolError, why);
        None
    }

    /// The transport cannot go on.
    fn fault(&mut self, fault: TmlFault) {
        if self.state == State::Ended {
            return;
        }
        self.output = Output::default();
        if fault.tells_the_peer() {
            self.output.urgent = Some(fault.diagnostic());
            self.output.close = true;
        } else {
            self.output.reset = true;
        }
        let released = self.state == State::Released;
        self.end(if released { Ending::Closed } else { Ending::Transport(fault) });
    }

    fn peer_aborted(&mut self, diagnostic: PeerAbortDiagnostic) {
        if self.state != State::Ended {
            self.output = Output { close: true, ..Output::default() };
            self.end(Ending::PeerAborted(diagnostic));
        }
    }

    /// PEER-ABORT.
    fn give_up(&mut self, diagnostic: PeerAbortDiagnostic, why: String) {
        if self.state == State::Ended {
            return;
        }
        // What waits to be sent is not: the abort overtakes it.
        let urgent = Some(diagnostic.octet());
        self.output = Output { urgent, close: true, ..Output::default() };
        self.end(Ending::Aborted { diagnostic, why });
    }

    fn end(&mut self, ending: Ending) {
        self.state = State::Ended;
        self.started = false;
        self.until_ns = None;
        match &mut self.part {
            Part::User(user) => user.invocations.clear(),
            Part::Provider(provider) => provider.parting = true,
        }
        self.events.push_back(Event::Ended(ending));
    }

    fn role_name(&self) -> &'static str {
        match self.part {
            Part::User(_) => "user",
            Part::Provider(_) => "provider",
        }
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
