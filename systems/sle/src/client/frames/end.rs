//! The user's end of an association, in the thread of its connection.

use super::state::{Answer, Occurrence, Phase, Refusal, Shared, State};
use super::{Ending, Fate, Settled};
use crate::association::State as Link;
use crate::csts::association::{Association, Event, SendError, UserSettings};
use crate::csts::pdu::{DataUnitId, Pdu, PeerAbortDiagnostic, ServiceInstanceId};
use crate::csts::procedure::{DataUnits, UserEvent};
use crate::net::Protocol;
use crate::recording::{self, ACKNOWLEDGE_PROCESS_DATA, ChainKey};
use crate::time::Now;
use crate::tml::{Output, TmlFault};
use chronoscope_record::Status;
use std::sync::Arc;

/// How soon a forward buffer is looked at again whose time has come while others are on their way.
const AGAIN_NS: u64 = 1_000_000;

/// What other threads want.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // nearly all are the large one
pub(super) enum Command {
    Bind,
    Unbind,
    Abort(PeerAbortDiagnostic),
    Send(Pdu),
    /// A forward buffer has begun to be filled: look after its time.
    Watch,
}

pub(super) struct FrameUserEnd {
    association: Association,
    shared: Arc<Shared>,
    instance: ServiceInstanceId,
    /// When a forward buffer is looked at, of the monotonic clock in ns.
    look_ns: Option<u64>,
}

impl FrameUserEnd {
    pub(super) fn new(settings: UserSettings, shared: Arc<Shared>, now: Now) -> Self {
        let instance = settings.instance.clone();
        Self { association: Association::user(settings, now), shared, instance, look_ns: None }
    }

    /// Takes what the association has found out.
    fn events(&mut self) {
        let Some(first) = self.association.next_event() else { return };
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        let mut next = Some(first);
        while let Some(event) = next {
            match event {
                Event::Pdu(pdu) => {
                    if let Err(diagnostic) = self.pdu(pdu, &mut state) {
                        self.association.abort(diagnostic);
                    }
                }
                Event::Bound { .. } => {
                    state.machine.bound();
                    state.phase = Phase::Bound;
                }
                Event::BindRefused(diagnostic) => state.phase = Phase::Refused(diagnostic),
                Event::Ignored { why } => state.occurred(Occurrence::Ignored(why)),
                Event::Unbound => {}
                Event::Ended(ending) => {
                    if !matches!(state.phase, Phase::Refused(_)) {
                        state.end(ending);
                    }
                }
            }
            next = self.association.next_event();
        }
        shared.changed(state);
    }

    fn pdu(&self, pdu: Pdu, state: &mut State) -> Result<(), PeerAbortDiagnostic> {
        match state.machine.pdu(pdu)? {
            UserEvent::Acknowledged(unit) => {
                state.counts.acknowledged += 1;
                answered(state, unit, true);
            }
            UserEvent::Refused { unit, diagnostic, expected } => {
                state.counts.refused += 1;
                answered(state, unit, false);
                let units = DataUnits { first: unit, count: 1 };
                state.settle([Settled { units, fate: Fate::Refused(diagnostic.clone()) }]);
                state.refusal.get_or_insert(Refusal { unit, diagnostic, expected });
            }
            UserEvent::Started(result) => {
                let settled = state.machine.take_settled();
                state.settle(settled);
                state.refusal = None;
                state.recorded.clear();
                let session = state.machine.session();
                state.key = (state.records && result.is_ok())
                    .then(|| ChainKey::of_frames(&self.instance, session));
                state.answer = Some(Answer::Done(result));
            }
            UserEvent::Stopped(result) => {
                let settled = state.machine.take_settled();
                state.settle(settled);
                state.answer = Some(Answer::Done(result));
            }
            UserEvent::Notified { notify, production, settled } => {
                state.settle(settled);
                state.occurred(Occurrence::Notified { notify, production });
            }
            UserEvent::Parameters(result) => state.answer = Some(Answer::Parameters(result)),
            UserEvent::ResetAcknowledged(Ok(())) => {}
            UserEvent::ResetAcknowledged(refused @ Err(_)) => {
                state.answer = Some(Answer::Done(refused));
            }
            UserEvent::Reset(result) => {
                let settled = state.machine.take_settled();
                state.settle(settled);
                state.refusal = None;
                state.answer = Some(Answer::Done(result));
            }
        }
        Ok(())
    }

    /// Says to whoever waits that nothing was sent.
    fn failed(&self, result: Result<(), SendError>) {
        if let Err(error) = result {
            let mut state = self.shared.lock();
            state.not_sent = Some(error);
            self.shared.changed(state);
        }
    }

    fn send(&mut self, pdu: Pdu, now: Now) {
        let last = match &pdu {
            Pdu::ForwardBuffer(parts) => {
                parts.last().map(|part| (part.operation.data_unit, parts.len() as u64))
            }
            Pdu::ProcessData(one) => Some((one.data_unit, 1)),
            _ => None,
        };
        let sent = self.association.send(pdu, now);
        let mut state = self.shared.lock();
        match sent {
            Ok(()) => {
                if let Some((last, count)) = last {
                    state.counts.written += count;
                    if !state.machine.is_confirmed() {
                        written(&mut state, last);
                    }
                }
                self.shared.changed(state);
            }
            // What the machine counts as sent was not: there is no going on, unless it is over.
            Err(error) if self.association.state() != Link::Ended => {
                state.occurred(Occurrence::Ignored(format!("not sent: {error}")));
                drop(state);
                self.association.abort(PeerAbortDiagnostic::OtherReason);
            }
            Err(_) => {}
        }
    }

    /// Sends a forward buffer whose time has come.
    fn look(&mut self, now: Now) {
        let Some(look_ns) = self.look_ns.filter(|look_ns| *look_ns <= now.monotonic_ns) else {
            return;
        };
        let mut state = self.shared.lock();
        self.look_ns = match state.machine.due() {
            None => {
                state.watched = false;
                None
            }
            Some(due_ns) if due_ns > now.monotonic_ns => Some(due_ns),
            // What is on its way comes before it.
            Some(_) if state.handed > 0 => Some(look_ns.max(now.monotonic_ns) + AGAIN_NS),
            Some(_) => {
                let pdu = state.machine.flush_due();
                state.watched = false;
                drop(state);
                if let Some(pdu) = pdu {
                    self.send(pdu, now);
                }
                None
            }
        };
    }
}

/// The return of a sequence-controlled frame ends its transaction.
fn answered(state: &mut State, unit: DataUnitId, is_good: bool) {
    let Some(key) = state.key else { return };
    if state.recorded.front().is_some_and(|(id, _)| *id == unit)
        && let Some((_, transaction)) = state.recorded.pop_front()
    {
        drop(ACKNOWLEDGE_PROCESS_DATA.begin_with(&key.cltu(unit).correlator()));
        transaction.stop(recording::status(is_good));
    }
}

/// Unconfirmed frames up to this one are with the connection.
fn written(state: &mut State, last: DataUnitId) {
    while let Some((unit, transaction)) = state.recorded.pop_front() {
        transaction.stop(Status::Good);
        if unit == last {
            return;
        }
    }
}

impl Protocol for FrameUserEnd {
    type Command = Command;

    fn receive(&mut self, octets: &[u8], now: Now) {
        self.association.receive(octets, now);
        self.events();
    }

    fn urgent(&mut self, octet: u8, now: Now) {
        self.association.urgent(octet, now);
        self.events();
    }

    fn closed(&mut self, fault: Option<TmlFault>, now: Now) {
        self.association.closed(fault.clone(), now);
        self.events();
        let mut state = self.shared.lock();
        if !matches!(state.phase, Phase::Ended(_) | Phase::Refused(_)) {
            state.end(fault.map_or(Ending::Lost, Ending::Transport));
        }
        self.shared.changed(state);
    }

    fn command(&mut self, command: Command, now: Now) {
        match command {
            Command::Send(pdu) => {
                {
                    let mut state = self.shared.lock();
                    state.handed = state.handed.saturating_sub(1);
                }
                self.send(pdu, now);
            }
            Command::Watch => self.look_ns = Some(now.monotonic_ns),
            Command::Bind => {
                let bound = self.association.bind(now);
                self.failed(bound);
            }
            Command::Unbind => {
                let unbound = self.association.unbind(now);
                self.failed(unbound);
            }
            Command::Abort(diagnostic) => self.association.abort(diagnostic),
        }
        self.events();
    }

    fn due(&self) -> Option<u64> {
        [self.association.due(), self.look_ns].into_iter().flatten().min()
    }

    fn tick(&mut self, now: Now) {
        self.association.tick(now);
        self.events();
        self.look(now);
    }

    fn output(&mut self) -> &mut Output {
        self.association.output()
    }
}
