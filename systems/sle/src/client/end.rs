//! The user's end of an association, in the thread of its connection.

use super::service::UserCommand;
use super::services::{CallReturn, RefusedCltus, SleOccurrence, SleService, UserMachine};
use super::sink::FrameSink;
use super::state::{AssociationPhase, ClientState, SharedClient};
use crate::association::{Association, AssociationEvent, UserSettings};
use crate::net::ConnectionProtocol;
use crate::pdu::{
    CltuId, FrameOrNotification, Pdu, PeerAbortDiagnostic, ServiceInstanceId, ServiceType,
};
use crate::recording::{self, ACKNOWLEDGE_CLTU, ChainKey, RECEIVE_BUFFER, RECEIVE_FRAME};
use crate::service::fcltu::{self, CltuFate, CltuRange, SettledCltus};
use crate::service::returns;
use crate::time::Now;
use crate::tml::{TmlFault, TransportOutput};
use std::sync::Arc;

pub(super) struct UserEnd {
    association: Association,
    shared: Arc<SharedClient<SleService>>,
    sink: FrameSink,
    instance: ServiceInstanceId,
    /// Chain key of transfer buffers, if they are recorded.
    key: Option<ChainKey>,
}

impl UserEnd {
    pub(super) fn new(
        settings: UserSettings,
        shared: Arc<SharedClient<SleService>>,
        sink: FrameSink,
        now: Now,
    ) -> Self {
        let instance = settings.instance.clone();
        let records = recording::is_on() && settings.service != ServiceType::Fcltu;
        let key = records.then(|| ChainKey::of_return(&instance));
        Self { association: Association::user(settings, now), shared, sink, instance, key }
    }

    /// Takes what the association has found out.
    fn events(&mut self, now: Now) {
        let Some(first) = self.association.next_event() else { return };
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        let mut next = Some(first);
        while let Some(event) = next {
            match event {
                AssociationEvent::Pdu(pdu) => match self.pdu(pdu, &mut state, now) {
                    Ok(None) => {}
                    Ok(Some(parts)) => {
                        // The sink takes its time, and nobody waits for it.
                        shared.changed(state);
                        self.receive_buffer(parts);
                        state = shared.lock();
                    }
                    Err(diagnostic) => self.association.abort(diagnostic),
                },
                AssociationEvent::Bound { version, .. } => {
                    match &mut state.service.machine {
                        UserMachine::Forward(user) => user.bound(),
                        UserMachine::Return(user) => user.bound(),
                    }
                    state.phase = AssociationPhase::Bound(version);
                }
                AssociationEvent::BindRefused(diagnostic) => {
                    state.phase = AssociationPhase::Refused(diagnostic)
                }
                AssociationEvent::Ignored { why } => state.occurred(SleOccurrence::Ignored(why)),
                AssociationEvent::Unbound(_) => {}
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

    /// An operation of the provider; what a transfer buffer brings is given back.
    fn pdu(
        &self,
        pdu: Pdu,
        state: &mut ClientState<SleService>,
        now: Now,
    ) -> Result<Option<Vec<FrameOrNotification>>, PeerAbortDiagnostic> {
        let returned = match &pdu {
            Pdu::CltuTransferDataReturn(returned) => Some(*returned),
            _ => None,
        };
        match &mut state.service.machine {
            UserMachine::Forward(user) => {
                let event = user.pdu(pdu, now)?;
                if let Some(returned) = returned {
                    acknowledge(state, returned.invoke_id, &event);
                }
                self.forward(event, state, now.monotonic_ns);
                Ok(None)
            }
            UserMachine::Return(user) => match user.pdu(pdu, now)? {
                returns::UserEvent::Buffer(parts) => Ok(Some(parts)),
                returns::UserEvent::Started(result)
                | returns::UserEvent::Stopped(result)
                | returns::UserEvent::ReportScheduled(result) => {
                    state.answer = Some(CallReturn::Done(result));
                    Ok(None)
                }
                returns::UserEvent::Parameter { result, .. } => {
                    state.answer = Some(CallReturn::Parameter(result));
                    Ok(None)
                }
                returns::UserEvent::Report(report) => {
                    state.occurred(SleOccurrence::ReturnReport(report));
                    Ok(None)
                }
            },
        }
    }

    fn forward(&self, event: fcltu::UserEvent, state: &mut ClientState<SleService>, now_ns: u64) {
        use fcltu::UserEvent;
        match event {
            UserEvent::Acknowledged { cltus, buffer_available } => {
                state.service.returned(cltus.count, None, buffer_available, now_ns);
            }
            UserEvent::Refused { cltus, taken, diagnostic, expected, buffer_available } => {
                let taken = taken.map_or(0, |taken| taken.count);
                let refused = SettledCltus { cltus, fate: CltuFate::Refused(diagnostic) };
                state.service.returned(taken, Some(refused), buffer_available, now_ns);
                state.refusal.get_or_insert(RefusedCltus { cltus, diagnostic, expected });
            }
            UserEvent::Started { start_radiation, settled, .. } => {
                let refused = state.service.started();
                state.settle(refused);
                state.settle(settled);
                state.refusal = None;
                state.key =
                    state.records.then(|| ChainKey::of_forward(&self.instance, start_radiation));
                state.answer = Some(CallReturn::Done(Ok(())));
            }
            UserEvent::StartRefused(diagnostic) | UserEvent::StopRefused(diagnostic) => {
                state.answer = Some(CallReturn::Done(Err(diagnostic)));
            }
            UserEvent::Stopped => state.answer = Some(CallReturn::Done(Ok(()))),
            UserEvent::Notified { notify, settled, contradicted } => {
                state.service.left(&settled);
                state.settle(settled);
                match contradicted {
                    Some(cltu) => contradiction(cltu, state),
                    None => state.occurred(SleOccurrence::Notified(notify)),
                }
            }
            UserEvent::Report { report, settled, contradicted } => {
                state.service.room.reported(report.buffer_available);
                state.service.left(&settled);
                state.settle(settled);
                match contradicted {
                    Some(cltu) => contradiction(cltu, state),
                    None => state.occurred(SleOccurrence::Report(report)),
                }
            }
            UserEvent::Scheduled(result) | UserEvent::Thrown { result, .. } => {
                state.answer = Some(CallReturn::Done(result));
            }
            UserEvent::Parameter { result, .. } => {
                state.answer = Some(CallReturn::Parameter(result))
            }
        }
    }

    /// Frames and notifications, to whoever wants them.
    fn receive_buffer(&mut self, parts: Vec<FrameOrNotification>) {
        for part in &parts {
            if let FrameOrNotification::Notification(notification) = part {
                self.shared.lock().occurred(SleOccurrence::SyncNotified(notification.clone()));
            }
        }
        let Some(key) = self.key else { return (self.sink)(parts) };
        let annotated = parts.iter().filter_map(|part| match part {
            FrameOrNotification::Frame(frame) => frame.private_annotation.as_deref(),
            FrameOrNotification::Notification(_) => None,
        });
        let mut is_annotated = false;
        for issuer in annotated.filter_map(recording::from_annotation) {
            is_annotated = true;
            drop(RECEIVE_FRAME.begin_with(&issuer));
        }
        if is_annotated {
            return (self.sink)(parts);
        }
        let Some(root) = key.buffer(&parts) else { return (self.sink)(parts) };
        let transaction = RECEIVE_BUFFER.begin_with(&root.correlator());
        (self.sink)(parts);
        drop(transaction);
    }

    fn send(&mut self, pdu: Pdu, now: Now) {
        if let Err(error) = self.association.send(pdu, now) {
            // What the machine counts as sent was not: there is no going on, unless it is over.
            if self.association.state() != crate::association::AssociationState::Ended {
                let mut state = self.shared.lock();
                state.occurred(SleOccurrence::Ignored(format!("not sent: {error}")));
                drop(state);
                self.association.abort(PeerAbortDiagnostic::OtherReason);
            }
        }
    }
}

/// Contradicted CLTUs of an association that are kept for its journal.
const CONTRADICTED_MAX: usize = 4096;

/// A report that is not believed: a CLTU that was lost is told as radiated.
fn contradiction(cltu: CltuId, state: &mut ClientState<SleService>) {
    state.service.counts.contradicted += 1;
    // Each further report repeats it.
    let known = &mut state.service.contradicted;
    if !known.contains(&cltu) && known.len() < CONTRADICTED_MAX {
        known.push(cltu);
    }
    state.occurred(SleOccurrence::Ignored(format!(
        "the provider reports the radiation of CLTU {cltu}, whose loss it has reported before: its \
         fate stays as it was"
    )));
}

/// A TRANSFER-DATA's return ends the transactions of its CLTUs.
fn acknowledge(
    state: &mut ClientState<SleService>,
    invoke_id: crate::pdu::InvokeId,
    event: &fcltu::UserEvent,
) {
    let Some(key) = state.key else { return };
    let refused = match event {
        fcltu::UserEvent::Refused { cltus, taken, .. } => Some((*cltus, *taken)),
        _ => None,
    };
    let is_good = |cltu: u32| {
        let among = |some: Option<CltuRange>| some.is_some_and(|some| some.contains(cltu));
        refused.is_none_or(|(refused, taken)| among(taken) || !refused.contains(cltu))
    };
    while state.service.open.front().is_some_and(|(id, _, _)| *id == invoke_id) {
        let Some((_, cltu, transaction)) = state.service.open.pop_front() else { return };
        let status = recording::status(is_good(cltu));
        drop(ACKNOWLEDGE_CLTU.begin_with(&key.cltu(cltu).correlator()));
        transaction.stop(status);
    }
}

impl ConnectionProtocol for UserEnd {
    type Command = UserCommand<SleService>;

    fn receive(&mut self, octets: &[u8], now: Now) {
        self.association.receive(octets, now);
        self.events(now);
    }

    fn urgent(&mut self, octet: u8, now: Now) {
        self.association.urgent(octet, now);
        self.events(now);
    }

    fn closed(&mut self, fault: Option<TmlFault>, now: Now) {
        self.association.closed(fault.clone(), now);
        self.events(now);
        self.shared.closed(fault);
    }

    fn command(&mut self, command: UserCommand<SleService>, now: Now) {
        match command {
            UserCommand::Send(pdu) => self.send(pdu, now),
            UserCommand::Bind => {
                let bound = self.association.bind(now);
                self.shared.not_sent(bound);
            }
            UserCommand::Unbind(reason) => {
                let unbound = self.association.unbind(reason, now);
                self.shared.not_sent(unbound);
            }
            UserCommand::Abort(diagnostic) => self.association.abort(diagnostic),
            UserCommand::Service(never) => match never {},
        }
        self.events(now);
    }

    fn due(&self) -> Option<u64> {
        self.association.due()
    }

    fn tick(&mut self, now: Now) {
        self.association.tick(now);
        self.events(now);
    }

    fn output(&mut self) -> &mut TransportOutput {
        self.association.output()
    }
}
