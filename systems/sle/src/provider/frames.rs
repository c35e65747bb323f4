//! Instances of the Forward Frame service as they are run, and the provider's end of an association
//! of CSTS: what comes goes through the association to the instance that was bound, and what that
//! wants goes back.

use super::binding::progress_due;
use super::frame_served::{Command, FrameServed, Live};
use super::log::Log;
use super::shared::Shared;
use super::strangers::Stranger;
use crate::association::AssociationState;
use crate::csts::association::{Association, Ending, Event};
use crate::csts::pdu::{DataUnitId, Pdu, PeerAbortDiagnostic, ProcessData, ServiceInstanceId};
use crate::csts::procedure::{Action, ProcedureState};
use crate::net::{Protocol, Sender};
use crate::recording::{self, ChainKey, QUEUE_PROCESS_DATA, RECEIVE_PROCESS_DATA};
use crate::service::fcltu::Production;
use crate::time::Now;
use crate::tml::{Output, TmlFault};
use chronoscope_record::Status;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The provider's end.
pub(super) struct FrameEnd {
    association: Association,
    shared: Arc<Shared>,
    /// The way to this end for other threads.
    sender: Sender<Command>,
    peer: String,
    /// Until it has bound.
    stranger: Option<Stranger>,
    bound: Option<Bound>,
    actions: Vec<Action>,
    suspended: bool,
    now: Now,
}

struct Bound {
    served: Arc<FrameServed>,
    number: u64,
    /// Of the frames since START.
    key: Option<ChainKey>,
    records: bool,
}

impl FrameEnd {
    pub(super) fn new(
        association: Association,
        shared: Arc<Shared>,
        (sender, stranger): (Sender<Command>, Stranger),
        peer: String,
        now: Now,
    ) -> Self {
        let (bound, actions, stranger) = (None, Vec::new(), Some(stranger));
        Self { association, shared, sender, peer, stranger, bound, actions, suspended: false, now }
    }

    fn log(&self) -> &Log {
        &self.shared.log
    }

    /// Takes what the association has found out, as long as there is room for it.
    fn events(&mut self, now: Now) {
        while !self.suspended {
            let Some(event) = self.association.next_event() else { return };
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
                Event::Unbound => self.unbind("UNBIND", now),
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

    fn bind(&mut self, instance: &ServiceInstanceId, version: u32, initiator: String, now: Now) {
        let served = self.shared.frames.iter().find(|served| served.id == *instance);
        let Some(served) = served.map(Arc::clone) else {
            // The directory was made of the same instances.
            return self.association.abort(PeerAbortDiagnostic::OtherReason);
        };
        self.stranger = None;
        self.log().say(&format!("{}: {initiator} bound to {}", self.peer, served.name));
        recording::bind().stop(Status::Good);
        let number = served.bind(initiator, version, self.sender.clone(), now);
        self.bound = Some(Bound { served, number, key: None, records: recording::is_on() });
    }

    /// Something about somebody who has not bound.
    fn say_of_stranger(&self, text: &str, now: Now) {
        if let Some(stranger) = &self.stranger {
            stranger.say(&format!("{}: {text}", self.peer), now);
        }
    }

    fn unbind(&mut self, how: &str, now: Now) {
        self.suspended = false;
        let Some(bound) = self.bound.take() else { return };
        bound.served.unbind(bound.number, now);
        self.log().say(&format!("{}: {} ended: {how}", self.peer, bound.served.name));
    }

    fn pdu(&mut self, pdu: Pdu, now: Now) {
        let Some(bound) = &mut self.bound else { return };
        let served = Arc::clone(&bound.served);
        let mut live = served.lock();
        match &pdu {
            Pdu::ProcessData(_) | Pdu::ForwardBuffer(_) if bound.key.is_some() => {
                bound.recorded(&mut live, pdu, now, &mut self.actions);
            }
            Pdu::Start(start) => {
                let session = start.invoke_id;
                live.machine.pdu(pdu, now, &mut self.actions);
                let is_active = live.machine.state() == ProcedureState::Active;
                bound.key =
                    (bound.records && is_active).then(|| ChainKey::of_frames(&served.id, session));
            }
            _ => live.machine.pdu(pdu, now, &mut self.actions),
        }
        self.suspended = live.machine.is_suspended();
        drop(live);
        self.act(now);
    }

    /// Does what the machine wants.
    fn act(&mut self, now: Now) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                Action::Send(pdu) => self.send(pdu, now),
                Action::Abort(diagnostic) => self.association.abort(diagnostic),
            }
        }
        self.actions = actions;
        // What an abort leads to is an event.
        if self.association.state() == AssociationState::Ended {
            self.suspended = false;
            self.events(now);
        }
    }

    fn send(&mut self, pdu: Pdu, now: Now) {
        if let Err(error) = self.association.send(pdu, now)
            && self.association.state() != AssociationState::Ended
        {
            self.log().say(&format!("{}: not sent: {error}", self.peer));
            self.association.abort(PeerAbortDiagnostic::OtherReason);
        }
    }

    fn with(&mut self, now: Now, act: impl FnOnce(&mut Live, &mut Vec<Action>)) {
        let Some(bound) = &self.bound else { return };
        let served = Arc::clone(&bound.served);
        let mut live = served.lock();
        act(&mut live, &mut self.actions);
        let was_suspended = std::mem::replace(&mut self.suspended, live.machine.is_suspended());
        drop(live);
        self.act(now);
        if was_suspended && !self.suspended {
            // What had come before nothing more was read.
            self.events(now);
        }
    }

    /// Tells the user what radiation has found out, and goes on where there is room again.
    fn progress(&mut self, now: Now) {
        self.now = now;
        let Some(bound) = &self.bound else { return };
        if bound.served.progress.swap(false, Ordering::AcqRel) {
            self.with(now, |live, out| live.machine.production(Production::Progress, now, out));
        }
    }
}

impl Bound {
    /// Frames, recorded. Those of a buffer that are not taken are only known by their number.
    fn recorded(&self, live: &mut Live, pdu: Pdu, now: Now, out: &mut Vec<Action>) {
        let units: Vec<DataUnitId> = match &pdu {
            Pdu::ProcessData(ProcessData { data_unit, .. }) => vec![*data_unit],
            Pdu::ForwardBuffer(parts) => {
                parts.iter().map(|part| part.operation.data_unit).collect()
            }
            _ => Vec::new(),
        };
        let Some(key) = self.key else { return live.machine.pdu(pdu, now, out) };
        let refused = live.machine.counts().refused;
        for unit in &units {
            let receive = RECEIVE_PROCESS_DATA.begin_with(&key.cltu(*unit).correlator());
            // Before it is in the queue: radiation may have it at once.
            let waiting = QUEUE_PROCESS_DATA.start_with(&receive.correlator());
            self.served.waiting.push(*unit, waiting);
        }
        live.machine.pdu(pdu, now, out);
        if live.machine.counts().refused > refused {
            self.served.waiting.take_back();
        }
    }
}

impl Protocol for FrameEnd {
    type Command = Command;

    fn receive(&mut self, octets: &[u8], now: Now) {
        self.now = now;
        self.association.receive(octets, now);
        self.events(now);
    }

    fn urgent(&mut self, octet: u8, now: Now) {
        self.suspended = false;
        self.association.urgent(octet, now);
        self.events(now);
    }

    fn closed(&mut self, fault: Option<TmlFault>, now: Now) {
        self.association.closed(fault, now);
        self.suspended = false;
        self.events(now);
        // Whatever the association made of it.
        self.unbind("the connection ended", now);
    }

    fn command(&mut self, command: Command, now: Now) {
        match command {
            Command::Inbox => self.with(now, |live, out| live.take_in(now, out)),
            Command::Progress => self.progress(now),
            Command::Abort => {
                self.association.abort(PeerAbortDiagnostic::OperationalRequirement);
                self.suspended = false;
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
        if self.suspended {
            // The peer is not heard because nobody listens.
            self.association.not_listening(now);
        }
        self.association.tick(now);
        self.events(now);
        self.progress(now);
        self.with(now, |live, _| live.machine.tick());
    }

    fn reads(&self) -> bool {
        !self.suspended
    }

    fn output(&mut self) -> &mut Output {
        self.association.output()
    }
}
