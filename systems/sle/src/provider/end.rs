//! The provider's end of one association: what comes goes through the association to the service
//! instance that was bound, and what that wants goes back.

use super::binding::progress_due;
use super::command::Command;
use super::log::Log;
use super::served::{Live, Machine, Served};
use super::shared::Shared;
use super::strangers::Stranger;
use crate::association::{Association, Ending, Event};
use crate::net::{Protocol, Sender};
use crate::pdu::{
    CltuTransferBuffer, CltuTransferData, FrameOrNotification, Pdu, PeerAbortDiagnostic,
    ServiceInstanceId,
};
use crate::recording::{self, ChainKey, DELIVER_BUFFER, QUEUE_CLTU, RECEIVE_CLTU};
use crate::service::fcltu::{self, Radiation};
use crate::service::{Action, ServiceState};
use crate::time::Now;
use crate::tml::{Output, TmlFault};
use chronoscope_record::Status;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The provider's end.
pub(super) struct ProviderEnd {
    association: Association,
    shared: Arc<Shared>,
    /// The way to this end for other threads.
    sender: Sender<Command>,
    peer: String,
    /// Until somebody binds.
    stranger: Option<Stranger>,
    bound: Option<Bound>,
    actions: Vec<Action>,
    now: Now,
}

struct Bound {
    served: Arc<Served>,
    number: u64,
    /// Of the CLTUs since START.
    key: Option<ChainKey>,
    records: bool,
    annotates: bool,
}

impl ProviderEnd {
    pub(super) fn new(
        association: Association,
        shared: Arc<Shared>,
        (sender, stranger): (Sender<Command>, Stranger),
        peer: String,
        now: Now,
    ) -> Self {
        Self {
            association,
            shared,
            sender,
            peer,
            stranger: Some(stranger),
            bound: None,
            actions: Vec::new(),
            now,
        }
    }

    fn log(&self) -> &Log {
        &self.shared.log
    }

    /// Takes what the association has found out.
    fn events(&mut self, now: Now) {
        while let Some(event) = self.association.next_event() {
            match event {
                Event::Pdu(pdu) => self.pdu(pdu, now),
                Event::Bound { instance, version, initiator, .. } => {
                    self.bind(&instance, version, initiator, now);
                }
                Event::BindRefused(why) => {
                    self.say_of_stranger(&format!("BIND refused: {why:?}"), now);
                }
                Event::Ignored { why } => {
                    self.log().say(&format!("{}: ignored: {why}", self.peer));
                }
                Event::Unbound(reason) => self.unbind(&format!("UNBIND, {reason:?}"), now),
                Event::Ended(ending) => {
                    // Those who were refused and went were told of already.
                    if ending != Ending::Closed {
                        self.say_of_stranger(&format!("never bound: {ending:?}"), now);
                    }
                    self.unbind(&format!("{ending:?}"), now);
                }
            }
        }
    }

    fn bind(&mut self, instance: &ServiceInstanceId, version: u16, initiator: String, now: Now) {
        let served = self.shared.served.iter().find(|served| served.id == *instance);
        let Some(served) = served else {
            // The directory was made of the same instances.
            return self.association.abort(PeerAbortDiagnostic::OtherReason);
        };
        let served = Arc::clone(served);
        self.stranger = None;
        let what =
            format!("{}: {initiator} bound to {}, version {version}", self.peer, served.name);
        self.log().say(&what);
        recording::bind().stop(Status::Good);
        let number = served.bind(initiator, version, self.sender.clone(), now);
        let annotates = served.returns.as_ref().is_some_and(|returns| returns.annotate);
        let records = recording::is_on();
        self.bound = Some(Bound { served, number, key: None, records, annotates });
    }

    /// Something about somebody who has not bound.
    fn say_of_stranger(&self, text: &str, now: Now) {
        if let Some(stranger) = &self.stranger {
            stranger.say(&format!("{}: {text}", self.peer), now);
        }
    }

    fn unbind(&mut self, how: &str, now: Now) {
        let Some(bound) = self.bound.take() else { return };
        bound.served.unbind(bound.number, now);
        self.log().say(&format!("{}: {} ended: {how}", self.peer, bound.served.name));
    }

    fn pdu(&mut self, pdu: Pdu, now: Now) {
        let Some(bound) = &mut self.bound else { return };
        let served = Arc::clone(&bound.served);
        let mut live = served.lock();
        match pdu {
            Pdu::CltuTransferData(invocation) if bound.records => {
                bound.recorded(&served, &mut live, invocation, now, &mut self.actions);
            }
            Pdu::CltuTransferBuffer(buffer) if bound.records => {
                bound.recorded_buffer(&served, &mut live, buffer, now, &mut self.actions);
            }
            other => {
                live.starts += u64::from(matches!(other, Pdu::Start { .. }));
                let transaction = recording::class_of(&other)
                    .filter(|_| bound.records)
                    .map(|class| class.start());
                live.machine.pdu(other, now, &mut self.actions);
                if let Some(transaction) = transaction {
                    let refused = self.actions.iter().any(|action| match action {
                        Action::Send(pdu) => is_refusal(pdu),
                        Action::Abort(_) => true,
                    });
                    transaction.stop(recording::status(!refused));
                }
                if let Machine::Forward(provider) = &live.machine
                    && provider.state() == ServiceState::Active
                    && bound.key.is_none()
                {
                    bound.key = Some(ChainKey::of_forward(&served.id, provider.session()));
                } else if live.machine.state() == ServiceState::Ready {
                    bound.key = None;
                }
                served.notify();
            }
        }
        drop(live);
        self.act(now);
    }

    /// Does what the machine wants.
    fn act(&mut self, now: Now) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                Action::Send(Pdu::TransferBuffer(parts)) => self.deliver(parts, now),
                Action::Send(pdu) => self.send(pdu, now),
                Action::Abort(diagnostic) => self.association.abort(diagnostic),
            }
        }
        self.actions = actions;
        // What an abort leads to is an event.
        if self.association.state() == crate::association::AssociationState::Ended {
            self.events(now);
        }
    }

    fn deliver(&mut self, parts: Vec<FrameOrNotification>, now: Now) {
        let root = self.bound.as_ref().filter(|bound| bound.records && !bound.annotates);
        let root = root.and_then(|bound| bound.served.key.buffer(&parts));
        let Some(root) = root else { return self.send(Pdu::TransferBuffer(parts), now) };
        let mut transaction = root.start(&DELIVER_BUFFER);
        if let Some(FrameOrNotification::Frame(frame)) = parts.first()
            && let Some(received) = frame.earth_receive_time.utc_ns()
        {
            // From the receipt of the oldest frame in it, by the receiver's clock.
            transaction.arrived_at(received.cast_signed());
        }
        #[allow(clippy::cast_precision_loss)] // at most 65,535
        transaction.metric("frames", parts.len() as f64);
        self.send(Pdu::TransferBuffer(parts), now);
        transaction.stop(Status::Good);
    }

    fn send(&mut self, pdu: Pdu, now: Now) {
        if let Err(error) = self.association.send(pdu, now) {
            // The association ended meanwhile, or an operation has no form in this version.
            let ended = self.association.state() == crate::association::AssociationState::Ended;
            if !ended {
                self.log().say(&format!("{}: not sent: {error}", self.peer));
                self.association.abort(PeerAbortDiagnostic::OtherReason);
            }
        }
    }

    /// Tells the user what radiation has found out.
    fn progress(&mut self, now: Now) {
        self.now = now;
        let Some(bound) = &self.bound else { return };
        if !bound.served.progress.swap(false, Ordering::AcqRel) {
            return;
        }
        self.with(now, |machine, out| {
            if let Machine::Forward(provider) = machine {
                provider.production(fcltu::Production::Progress, now, out);
            }
        });
    }

    /// Does something with the machine, and what that wants.
    fn take_in(&mut self, now: Now) {
        let Some(bound) = &self.bound else { return };
        let served = Arc::clone(&bound.served);
        served.lock().take_in(now, &mut self.actions);
        self.act(now);
    }

    fn with(&mut self, now: Now, act: impl FnOnce(&mut Machine, &mut Vec<Action>)) {
        let Some(bound) = &self.bound else { return };
        let served = Arc::clone(&bound.served);
        let mut live = served.lock();
        act(&mut live.machine, &mut self.actions);
        drop(live);
        self.act(now);
    }
}

fn is_refusal(pdu: &Pdu) -> bool {
    matches!(
        pdu,
        Pdu::StartReturn { result: Err(_), .. }
            | Pdu::StopReturn { result: Err(_), .. }
            | Pdu::ScheduleStatusReportReturn { result: Err(_), .. }
            | Pdu::GetParameterReturn { result: Err(_), .. }
            | Pdu::ThrowEventReturn { result: Err(_), .. }
    )
}

impl Bound {
    /// A TRANSFER-DATA, recorded.
    fn recorded(
        &self,
        served: &Served,
        live: &mut Live,
        invocation: CltuTransferData,
        now: Now,
        out: &mut Vec<Action>,
    ) {
        let cltu = invocation.cltu;
        let Some(key) = self.key else {
            return live.machine.pdu(Pdu::CltuTransferData(invocation), now, out);
        };
        let receive = RECEIVE_CLTU.begin_with(&key.cltu(cltu).correlator());
        // Before it is in the queue: radiation may have it at once.
        let waiting = QUEUE_CLTU.start_with(&receive.correlator());
        served.waiting.push(cltu, waiting);
        let before = out.len();
        live.machine.pdu(Pdu::CltuTransferData(invocation), now, out);
        let is_taken = matches!(
            out.get(before),
            Some(Action::Send(Pdu::CltuTransferDataReturn(returned))) if returned.result.is_ok()
        );
        if !is_taken {
            served.waiting.take_back();
        }
        receive.stop(recording::status(is_taken));
    }

    /// Several CLTUs in one invocation, recorded.
    fn recorded_buffer(
        &self,
        served: &Served,
        live: &mut Live,
        buffer: CltuTransferBuffer,
        now: Now,
        out: &mut Vec<Action>,
    ) {
        let taken_so_far = |live: &Live| match &live.machine {
            Machine::Forward(provider) => provider.queue().look(Radiation::report).received,
            Machine::Return(_) => 0,
        };
        let count = buffer.cltus.len();
        if let Some(key) = self.key {
            for (id, _) in &buffer.cltus {
                let receive = RECEIVE_CLTU.begin_with(&key.cltu(*id).correlator());
                served.waiting.push(*id, QUEUE_CLTU.start_with(&receive.correlator()));
            }
        }
        let before = taken_so_far(live);
        live.machine.pdu(Pdu::CltuTransferBuffer(buffer), now, out);
        let taken = taken_so_far(live).wrapping_sub(before) as usize;
        if self.key.is_some() {
            for _ in taken..count {
                served.waiting.take_back();
            }
        }
    }
}

impl Protocol for ProviderEnd {
    type Command = Command;

    fn receive(&mut self, octets: &[u8], now: Now) {
        self.now = now;
        self.association.receive(octets, now);
        self.events(now);
    }

    fn urgent(&mut self, octet: u8, now: Now) {
        self.association.urgent(octet, now);
        self.events(now);
    }

    fn closed(&mut self, fault: Option<TmlFault>, now: Now) {
        self.association.closed(fault, now);
        self.events(now);
        // Whatever the association made of it.
        self.unbind("the connection ended", now);
    }

    fn command(&mut self, command: Command, now: Now) {
        match command {
            Command::Inbox => self.take_in(now),
            Command::Unblock => self.with(now, |machine, out| {
                if let Machine::Return(provider) = machine {
                    provider.block(false, now, out);
                }
            }),
            Command::Actions(actions) => {
                self.actions.extend(actions);
                self.act(now);
            }
            Command::Progress => self.progress(now),
            Command::Abort => {
                self.association.abort(PeerAbortDiagnostic::OperationalRequirement);
                self.events(now);
            }
        }
    }

    fn due(&self) -> Option<u64> {
        let (machine, progress) = match &self.bound {
            None => (None, None),
            Some(bound) => {
                let progress = progress_due(&bound.served.progress, self.now);
                (bound.served.lock().machine.due(), progress)
            }
        };
        [self.association.due(), machine, progress].into_iter().flatten().min()
    }

    fn tick(&mut self, now: Now) {
        self.association.tick(now);
        self.events(now);
        self.progress(now);
        self.with(now, |machine, out| machine.tick(now, out));
    }

    fn output(&mut self) -> &mut Output {
        self.association.output()
    }
}
