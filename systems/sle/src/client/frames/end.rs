//! The user's end of an association, in the thread of its connection.

use super::service::{FrameCallReturn, FrameCommand, FrameOccurrence, FrameService, RefusedFrame};
use super::{DataUnitFate, SettledUnits};
use crate::association::AssociationState as Link;
use crate::client::service::UserCommand;
use crate::client::state::{AssociationPhase, ClientState, SharedClient};
use crate::csts::association::{Association, AssociationEvent, UserSettings};
use crate::csts::pdu::{DataUnitId, Pdu, PeerAbortDiagnostic, ServiceInstanceId};
use crate::csts::procedure::{DataUnits, UserEvent};
use crate::net::ConnectionProtocol;
use crate::recording::{self, ACKNOWLEDGE_PROCESS_DATA, ChainKey};
use crate::time::Now;
use crate::tml::{TmlFault, TransportOutput};
use chronoscope_record::Status;
use std::sync::Arc;

/// Time after which a due forward buffer is checked again while others are being sent, in
/// nanoseconds.
const AGAIN_NS: u64 = 1_000_000;

pub(super) struct FrameUserEnd {
    association: Association,
    shared: Arc<SharedClient<FrameService>>,
    instance: ServiceInstanceId,
    /// When a forward buffer is looked at, of the monotonic clock in ns.
    look_ns: Option<u64>,
}

impl FrameUserEnd {
    pub(super) fn new(
        settings: UserSettings,
        shared: Arc<SharedClient<FrameService>>,
        now: Now,
    ) -> Self {
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
                AssociationEvent::Pdu(pdu) => {
                    if let Err(diagnostic) = self.pdu(pdu, &mut state) {
                        self.association.abort(diagnostic);
                    }
                }
                AssociationEvent::Bound { .. } => {
                    state.service.machine.bound();
                    state.phase = AssociationPhase::Bound(());
                }
                AssociationEvent::BindRefused(diagnostic) => {
                    state.phase = AssociationPhase::Refused(diagnostic)
                }
                AssociationEvent::Ignored { why } => state.occurred(FrameOccurrence::Ignored(why)),
                AssociationEvent::Unbound(()) => {}
                AssociationEvent::Ended(ending) => {
                    if !matches!(state.phase, AssociationPhase::Refused(_)) {
                        state.end(ending);
                    }
                }
            }
            next = self.association.next_event();
        }
        shared.changed(state);
    }

    fn pdu(
        &self,
        pdu: Pdu,
        state: &mut ClientState<FrameService>,
    ) -> Result<(), PeerAbortDiagnostic> {
        match state.service.machine.pdu(pdu)? {
            UserEvent::Acknowledged(unit) => {
                state.service.tuner.returned(chronoscope_clock::monotonic_ns());
                state.service.counts.acknowledged += 1;
                answered(state, unit, true);
            }
            UserEvent::Refused { unit, diagnostic, expected } => {
                state.service.tuner.returned(chronoscope_clock::monotonic_ns());
                state.service.counts.refused += 1;
                answered(state, unit, false);
                let units = DataUnits { first: unit, count: 1 };
                state.settle([SettledUnits {
                    units,
                    fate: DataUnitFate::Refused(diagnostic.clone()),
                }]);
                state.refusal.get_or_insert(RefusedFrame { unit, diagnostic, expected });
            }
            UserEvent::Started(result) => {
                let settled = state.service.machine.take_settled();
                state.settle(settled);
                state.refusal = None;
                state.service.recorded.clear();
                let session = state.service.machine.session();
                state.key = (state.records && result.is_ok())
                    .then(|| ChainKey::of_frames(&self.instance, session));
                state.answer = Some(FrameCallReturn::Done(result));
            }
            UserEvent::Stopped(result) => {
                let settled = state.service.machine.take_settled();
                state.settle(settled);
                state.answer = Some(FrameCallReturn::Done(result));
            }
            UserEvent::Notified { notify, production, settled } => {
                state.settle(settled);
                state.occurred(FrameOccurrence::Notified { notify, production });
            }
            UserEvent::Parameters(result) => {
                state.answer = Some(FrameCallReturn::Parameters(result))
            }
            UserEvent::ResetAcknowledged(Ok(())) => {}
            UserEvent::ResetAcknowledged(refused @ Err(_)) => {
                state.answer = Some(FrameCallReturn::Done(refused));
            }
            UserEvent::Reset(result) => {
                let settled = state.service.machine.take_settled();
                state.settle(settled);
                state.refusal = None;
                state.answer = Some(FrameCallReturn::Done(result));
            }
        }
        Ok(())
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
                    state.service.counts.written += count;
                    if !state.service.machine.is_confirmed() {
                        written(&mut state, last);
                    }
                }
                self.shared.changed(state);
            }
            // What the machine counts as sent was not: there is no going on, unless it is over.
            Err(error) if self.association.state() != Link::Ended => {
                state.occurred(FrameOccurrence::Ignored(format!("not sent: {error}")));
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
        self.look_ns = match state.service.machine.due() {
            None => {
                state.service.watched = false;
                None
            }
            Some(due_ns) if due_ns > now.monotonic_ns => Some(due_ns),
            // What is on its way comes before it.
            Some(_) if state.service.handed > 0 => Some(look_ns.max(now.monotonic_ns) + AGAIN_NS),
            Some(_) => {
                let pdu = state.service.machine.flush_due();
                state.service.watched = false;
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
fn answered(state: &mut ClientState<FrameService>, unit: DataUnitId, is_good: bool) {
    let Some(key) = state.key else { return };
    if state.service.recorded.front().is_some_and(|(id, _)| *id == unit)
        && let Some((_, transaction)) = state.service.recorded.pop_front()
    {
        drop(ACKNOWLEDGE_PROCESS_DATA.begin_with(&key.cltu(unit).correlator()));
        transaction.stop(recording::status(is_good));
    }
}

/// Unconfirmed frames up to this one are with the connection.
fn written(state: &mut ClientState<FrameService>, last: DataUnitId) {
    while let Some((unit, transaction)) = state.service.recorded.pop_front() {
        transaction.stop(Status::Good);
        if unit == last {
            return;
        }
    }
}

impl ConnectionProtocol for FrameUserEnd {
    type Command = UserCommand<FrameService>;

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
        self.shared.closed(fault);
    }

    fn command(&mut self, command: UserCommand<FrameService>, now: Now) {
        match command {
            UserCommand::Send(pdu) => {
                {
                    let mut state = self.shared.lock();
                    state.service.handed = state.service.handed.saturating_sub(1);
                }
                self.send(pdu, now);
            }
            UserCommand::Service(FrameCommand::Watch) => self.look_ns = Some(now.monotonic_ns),
            UserCommand::Bind => {
                let bound = self.association.bind(now);
                self.shared.not_sent(bound);
            }
            UserCommand::Unbind(()) => {
                let unbound = self.association.unbind(now);
                self.shared.not_sent(unbound);
            }
            UserCommand::Abort(diagnostic) => self.association.abort(diagnostic),
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

    fn output(&mut self) -> &mut TransportOutput {
        self.association.output()
    }
}
