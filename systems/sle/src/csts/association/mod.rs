//! One association of a cross support transfer service: BIND, UNBIND, PEER-ABORT, credentials,
//! invoke ids and response timers, the same for all procedures.
//!
//! Built, and to be run, as SLE's ([`crate::association`]): octets and instants go in, [`Event`]s and
//! [`Output`] come out; no socket, no thread, no clock. States are SLE's, too.
//!
//! Sources: CCSDS 921.1-B-2, annex F (operations, diagnostics); of its text only §4.1 and §4.2 of
//! the first edition (ISO 23103:2020) were at hand. From those:
//!
//! * until it has returned BIND positively a provider takes nothing but BIND and PEER-ABORT;
//! * UNBIND terminates all procedures, whatever they are doing ([`Event::Unbound`] says so).
//!
//! What is below could not be compared with the text; it follows the annex's diagnostics, and SLE
//! where those say nothing:
//!
//! * **An invoke id that is open** is aborted with `duplicate invoke id` (49): there is no diagnostic
//!   for it in a return. Ids are one sequence for all procedures; so is the check.
//! * **BIND or UNBIND of another procedure than Association Control** is aborted with `invalid
//!   procedure name` (50). Other names are for whoever has the procedures.
//! * **EXECUTE-DIRECTIVE** is open until it is refused by its acknowledgement, or returned. The
//!   response timer runs until the acknowledgement, and anew until the return.
//! * **PROCESS-DATA** is returned by Sequence-Controlled Data Processing alone.
//! * **Credentials** that are missing or wrong: as SLE's.
//! * **A version** that is not provided is refused; there is no other to be answered.
//! * **More than 65,536 invocations** that wait for a return are aborted with `other reason`.

mod bind;
mod directory;
mod event;
mod flow;
mod open;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::association::security::{Seal, guard};
use crate::association::{BIND_BYTES_MAX, State};
use crate::codec::EncodeError;
use crate::csts::codec::{decode, encode};
use crate::csts::pdu::{BindReturn, InvokeId, Message, Pdu, PeerAbortDiagnostic, Role};
use crate::time::Now;
use crate::tml::{FrameError, Output, Tml, TmlFault};

pub use crate::association::DirectoryError;
pub use directory::{Binding, Directory, Instance};
pub use event::{Ending, Event, SendError, UserSettings};

use flow::{Flow, flow};
use open::{Open, Operation};

/// Invocations of one user that may wait for their returns.
const OPEN_MAX: usize = 1 << 16;

/// One side of one association, on one connection.
#[derive(Debug)]
pub struct Association {
    part: Part,
    state: State,
    tml: Tml,
    /// `None`: nobody is known yet, and nothing signed.
    seal: Option<Seal>,
    /// A user's invocations that were not returned yet, or a provider's that it has not returned.
    open: Open,
    /// The invoke id to be used next.
    next_id: InvokeId,
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
    User {
        settings: Box<UserSettings>,
        /// Of BIND, then of UNBIND.
        session_id: InvokeId,
    },
    Provider {
        directory: Arc<Directory>,
        binding: Option<Binding>,
        /// Whether the binding is over. It is given back only when whoever runs the association
        /// has seen why: by then its service instance is fit for the next.
        parting: bool,
        /// When the provision period's end is to be looked at, on the monotonic clock.
        provision_ns: Option<u64>,
    },
}

impl Association {
    /// The side that has connected. It binds when told so.
    #[must_use]
    pub fn user(settings: UserSettings, now: Now) -> Self {
        let tml = Tml::initiator(settings.heartbeat, settings.pdu_bytes_max, now);
        let (own, peer) = (settings.initiator.clone(), settings.responder.clone());
        let guard = guard(&settings.security);
        let seal = Seal::new(own, peer, settings.security, guard, now);
        let open = Open::new(settings.return_timeout_ns);
        let part = Part::User { settings: Box::new(settings), session_id: 0 };
        Self::new(part, tml, Some(seal), open, now)
    }

    /// The side that was connected to.
    #[must_use]
    pub fn provider(directory: Arc<Directory>, now: Now) -> Self {
        // BIND is taken from anybody, and so bounded more narrowly than what follows.
        let (heartbeat, pdu_bytes_max) = directory.limits();
        let tml = Tml::responder(heartbeat, pdu_bytes_max.min(BIND_BYTES_MAX), now);
        let part = Part::Provider { directory, binding: None, parting: false, provision_ns: None };
        Self::new(part, tml, None, Open::new(u64::MAX), now)
    }

    fn new(part: Part, tml: Tml, seal: Option<Seal>, open: Open, now: Now) -> Self {
        Self {
            part,
            state: State::Unbound,
            tml,
            seal,
            open,
            next_id: 0,
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
        if let Part::Provider { binding, parting: true, .. } = &mut self.part
            && self.events.is_empty()
        {
            *binding = None;
        }
    }

    /// An invoke id for the next invocation: none that is open. The two sides' ids are apart.
    pub fn invoke_id(&mut self) -> InvokeId {
        while self.open.operation(self.next_id).is_some() {
            self.next_id = self.next_id.wrapping_add(1);
        }
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        id
    }

    /// Aborts: by an operator's wish, or because a procedure's state machine wants it.
    pub fn abort(&mut self, diagnostic: PeerAbortDiagnostic) {
        self.give_up(diagnostic, "by whoever runs the association".to_owned());
    }

    /// Sends an operation of a procedure: a user its invocations, a provider its returns and
    /// invocations.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent then.
    pub fn send(&mut self, pdu: Pdu, now: Now) -> Result<(), SendError> {
        self.now = now;
        if self.state != State::Bound {
            return Err(SendError::State { operation: pdu.name(), state: self.state });
        }
        let (flow, ns) = (flow(&pdu), now.monotonic_ns);
        let user = matches!(self.part, Part::User { .. });
        match flow {
            Flow::Invocation(id, operation) if user => {
                if self.open.operation(id).is_some() {
                    return Err(SendError::DuplicateInvokeId(id));
                }
                self.write(pdu)?;
                self.open.open(id, operation, ns);
                Ok(())
            }
            Flow::Unreturned(_) if user => match self.duplicate(&pdu) {
                Some(id) => Err(SendError::DuplicateInvokeId(id)),
                None => self.write(pdu),
            },
            Flow::Return(id, operation) if !user => {
                if self.open.operation(id) != Some(operation) {
                    return Err(SendError::NoSuchInvocation(id));
                }
                self.write(pdu)?;
                self.open.close(id, operation);
                Ok(())
            }
            Flow::Acknowledgement(id, positive) if !user => {
                if self.open.operation(id) != Some(Operation::Directive) {
                    return Err(SendError::NoSuchInvocation(id));
                }
                self.write(pdu)?;
                self.acknowledged(id, positive);
                Ok(())
            }
            Flow::Unconfirmed if !user => self.write(pdu),
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
            Part::User { .. } if self.state == State::Bound => self.open.due().map(|(ns, _)| ns),
            Part::User { .. } => None,
            Part::Provider { provision_ns, .. } => *provision_ns,
        };
        [self.tml.due(), self.until_ns, part].into_iter().flatten().min()
    }

    /// Nobody has listened until now, because what came had no room: the peer's silence counts from
    /// here.
    pub fn not_listening(&mut self, now: Now) {
        self.tml.not_listening(now);
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
        let is_due = |ns: u64| ns <= now.monotonic_ns;
        if self.until_ns.is_some_and(is_due) {
            return self.overdue();
        }
        match &self.part {
            Part::User { settings, .. } if self.state == State::Bound => {
                if let Some((ns, id)) = self.open.due()
                    && is_due(ns)
                {
                    let ms = settings.return_timeout_ns / 1_000_000;
                    let why = format!("the return of invocation {id} did not come within {ms} ms");
                    self.give_up(PeerAbortDiagnostic::ReturnTimeout, why);
                }
            }
            Part::Provider { provision_ns, .. } if provision_ns.is_some_and(is_due) => {
                self.provision();
            }
            _ => {}
        }
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// How many invocations wait for their return: to come (user), or to be sent (provider).
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.open.len()
    }

    /// What a PDU of the peer means.
    fn take(&mut self, octets: &Bytes) -> Option<Event> {
        let peer = match (&self.part, self.state) {
            (Part::Provider { .. }, State::Unbound) => return self.bind_invocation(octets),
            (Part::Provider { .. }, _) => Role::User,
            (Part::User { .. }, _) => Role::Provider,
        };
        let Message { credentials, mut pdu } = match decode(peer, octets) {
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
            (State::Bound, flow) => self.operation(pdu, flow),
            (
                State::UnbindPending,
                flow @ (Flow::Return(..) | Flow::Acknowledgement(..) | Flow::Unconfirmed),
            ) => self.operation(pdu, flow),
            _ => self.not_now(&pdu),
        }
    }

    /// An operation of a procedure, in a state that allows it.
    fn operation(&mut self, pdu: Pdu, flow: Flow) -> Option<Event> {
        let known = match flow {
            Flow::Invocation(id, operation) => {
                if self.open.operation(id).is_some() {
                    return self.duplicated(&pdu, id);
                }
                if self.open.len() >= OPEN_MAX {
                    let why = format!("{OPEN_MAX} invocations wait for their returns");
                    self.give_up(PeerAbortDiagnostic::OtherReason, why);
                    return None;
                }
                self.open.open(id, operation, self.now.monotonic_ns);
                true
            }
            Flow::Unreturned(_) => match self.duplicate(&pdu) {
                Some(id) => return self.duplicated(&pdu, id),
                None => true,
            },
            Flow::Return(id, operation) => self.open.close(id, operation),
            Flow::Acknowledgement(id, positive) => self.acknowledged(id, positive),
            Flow::Unconfirmed => true,
            Flow::Session => false,
        };
        if !known {
            let why = format!("{} returns nothing that was invoked", pdu.name());
            self.give_up(PeerAbortDiagnostic::UnsolicitedInvokeId, why);
            return None;
        }
        Some(Event::Pdu(pdu))
    }

    /// EXECUTE-DIRECTIVE is acknowledged; `false` where none such is open.
    fn acknowledged(&mut self, id: InvokeId, positive: bool) -> bool {
        let known = self.open.close(id, Operation::Directive);
        if known && positive {
            self.open.open(id, Operation::Acknowledged, self.now.monotonic_ns);
        }
        known
    }

    /// An id of these invocations, which nobody returns, that is open.
    fn duplicate(&self, pdu: &Pdu) -> Option<InvokeId> {
        if self.open.len() == 0 {
            return None;
        }
        let is_open = |id: &InvokeId| self.open.operation(*id).is_some();
        match pdu {
            Pdu::ProcessData(data) => Some(data.invoke_id).filter(is_open),
            Pdu::ForwardBuffer(parts) => {
                parts.iter().map(|part| part.operation.invoke_id).find(is_open)
            }
            _ => None,
        }
    }

    fn duplicated(&mut self, pdu: &Pdu, id: InvokeId) -> Option<Event> {
        let why = format!("{} has the invoke id {id}, which is open", pdu.name());
        self.give_up(PeerAbortDiagnostic::DuplicateInvokeId, why);
        None
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
        let now = self.now;
        let credentials = self.seal.as_mut().and_then(|seal| seal.sign(&mut pdu, now));
        let message = Message { credentials, pdu };
        self.tml.frame(now, &mut self.output.octets, |out| encode(&message, out)).map_err(
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
        if let Pdu::BindReturn(BindReturn { answer, .. }) = pdu
            && let Err(diagnostic) = &answer.result
        {
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
        self.until_ns = None;
        self.open.clear();
        if let Part::Provider { parting, .. } = &mut self.part {
            *parting = true;
        }
        self.events.push_back(Event::Ended(ending));
    }

    fn role_name(&self) -> &'static str {
        match self.part {
            Part::User { .. } => "user",
            Part::Provider { .. } => "provider",
        }
    }
}
