//! The provider's end of one association, of SLE or of CSTS: operations go through the association
//! to the bound service instance, and the instance's requests go back.

use super::instance::{
    ActionOf, BoundInstance, IdOf, InstanceCommand, InstanceMachine, InstanceState, PduOf,
    ServedInstance, VersionOf, progress_due,
};
use super::log::ProviderLog;
use super::unbound::UnboundConnection;
use crate::association::event::AssociationEvent;
use crate::association::machine::Association;
use crate::association::protocol::AbortDiagnostic;
use crate::association::{AssociationEnd, AssociationState};
use crate::net::{CommandSender, ConnectionProtocol};
use crate::recording;
use crate::service::ServiceAction;
use crate::time::Now;
use crate::tml::{TmlFault, TransportOutput};
use chronoscope_record::Status;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The provider's end of an association.
pub(super) struct ProviderEnd<M: InstanceMachine> {
    association: Association<M::Protocol>,
    log: ProviderLog,
    /// The provider's instances of this specification.
    instances: Arc<[Arc<ServedInstance<M>>]>,
    /// The way to this end for other threads.
    sender: CommandSender<InstanceCommand<M>>,
    peer: String,
    /// The connection's place, until BIND.
    unbound: Option<UnboundConnection>,
    bound: Option<BoundInstance<M>>,
    actions: Vec<ActionOf<M>>,
    /// Whether nothing is read from the user, because the instance has no room.
    suspended: bool,
    now: Now,
}

impl<M: InstanceMachine> ProviderEnd<M> {
    pub(super) fn new(
        association: Association<M::Protocol>,
        (log, instances): (ProviderLog, Arc<[Arc<ServedInstance<M>>]>),
        (sender, unbound): (CommandSender<InstanceCommand<M>>, UnboundConnection),
        peer: String,
        now: Now,
    ) -> Self {
        let (bound, actions, unbound) = (None, Vec::new(), Some(unbound));
        Self {
            association,
            log,
            instances,
            sender,
            peer,
            unbound,
            bound,
            actions,
            suspended: false,
            now,
        }
    }

    /// Handles the association's events, as long as the instance has room.
    fn events(&mut self, now: Now) {
        while !self.suspended {
            let Some(event) = self.association.next_event() else { return };
            match event {
                AssociationEvent::Pdu(pdu) => self.pdu(pdu, now),
                AssociationEvent::Bound { instance, version, initiator, .. } => {
                    self.bind(&instance, version, initiator, now);
                }
                AssociationEvent::BindRefused(why) => {
                    self.log_unbound(&format!("BIND refused: {why:?}"), now);
                }
                AssociationEvent::Ignored { why } => {
                    self.log.say(&format!("{}: operation ignored: {why}", self.peer));
                }
                AssociationEvent::Unbound(reason) => self.unbind(&M::unbind_text(reason), now),
                AssociationEvent::Ended(ending) => {
                    // A refused BIND was logged before.
                    if ending != AssociationEnd::Closed {
                        self.log_unbound(&format!("ended before BIND: {ending:?}"), now);
                    }
                    self.unbind(&format!("{ending:?}"), now);
                }
            }
        }
    }

    fn bind(&mut self, instance: &IdOf<M>, version: VersionOf<M>, initiator: String, now: Now) {
        let Some(served) = self.instances.iter().find(|served| served.id == *instance).cloned()
        else {
            // The directory was made of the same instances.
            return self.association.abort(AbortDiagnostic::OTHER_REASON);
        };
        self.unbound = None;
        let (peer, name) = (&self.peer, &served.name);
        self.log.say(&format!("{peer}: {initiator} bound to {name}, version {version}"));
        recording::bind().stop(Status::Good);
        let number = served.bind(initiator, version, self.sender.clone(), now);
        let records = recording::is_on();
        self.bound = Some(BoundInstance { served, number, key: None, records });
    }

    /// Logs a line about a peer that has not bound.
    fn log_unbound(&self, text: &str, now: Now) {
        if let Some(unbound) = &self.unbound {
            unbound.say(&format!("{}: {text}", self.peer), now);
        }
    }

    fn unbind(&mut self, how: &str, now: Now) {
        self.suspended = false;
        let Some(bound) = self.bound.take() else { return };
        bound.served.unbind(bound.number, now);
        self.log
            .say(&format!("{}: association with {} ended: {how}", self.peer, bound.served.name));
    }

    fn pdu(&mut self, pdu: PduOf<M>, now: Now) {
        let Some(bound) = &mut self.bound else { return };
        let served = Arc::clone(&bound.served);
        let mut live = served.lock();
        M::operation(bound, &mut live, pdu, now, &mut self.actions);
        self.suspended = live.machine.is_suspended();
        drop(live);
        self.act(now);
    }

    /// Does what the machine requests.
    fn act(&mut self, now: Now) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                ServiceAction::Send(pdu) => self.send(pdu, now),
                ServiceAction::Abort(diagnostic) => self.association.abort(diagnostic),
            }
        }
        self.actions = actions;
        // An abort ends the association, which is an event.
        if self.association.state() == AssociationState::Ended {
            self.suspended = false;
            self.events(now);
        }
    }

    fn send(&mut self, pdu: PduOf<M>, now: Now) {
        let transaction = self.bound.as_ref().and_then(|bound| M::sending(bound, &pdu));
        if let Err(error) = self.association.send(pdu, now)
            && self.association.state() != AssociationState::Ended
        {
            // The operation has no form in this version.
            self.log.say(&format!("{}: not sent: {error}", self.peer));
            self.association.abort(AbortDiagnostic::OTHER_REASON);
        }
        if let Some(transaction) = transaction {
            transaction.stop(Status::Good);
        }
    }

    /// Changes the bound instance's state and does what the machine requests.
    fn with(
        &mut self,
        now: Now,
        change: impl FnOnce(&mut InstanceState<M>, &mut Vec<ActionOf<M>>),
    ) {
        let Some(bound) = &self.bound else { return };
        let served = Arc::clone(&bound.served);
        let mut live = served.lock();
        change(&mut live, &mut self.actions);
        let was_suspended = std::mem::replace(&mut self.suspended, live.machine.is_suspended());
        drop(live);
        self.act(now);
        if was_suspended && !self.suspended {
            // Operations that were received before reading stopped.
            self.events(now);
        }
    }

    /// Reports radiation's progress to the user.
    fn progress(&mut self, now: Now) {
        self.now = now;
        let Some(bound) = &self.bound else { return };
        if bound.served.progress.swap(false, Ordering::AcqRel) {
            self.with(now, |live, out| live.machine.progress(now, out));
        }
    }
}

impl<M: InstanceMachine> ConnectionProtocol for ProviderEnd<M> {
    type Command = InstanceCommand<M>;

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
        // However the association ended.
        self.unbind("the connection ended", now);
    }

    fn command(&mut self, command: InstanceCommand<M>, now: Now) {
        match command {
            InstanceCommand::Inbox => self.with(now, |live, out| live.take_in(now, out)),
            InstanceCommand::Unblock => self.with(now, |live, out| live.machine.unblock(now, out)),
            InstanceCommand::Actions(actions) => {
                self.actions.extend(actions);
                self.act(now);
            }
            InstanceCommand::Progress => self.progress(now),
            InstanceCommand::Abort => {
                self.association.abort(AbortDiagnostic::OPERATIONAL_REQUIREMENT);
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
            // Silence of a peer that is not read does not count.
            self.association.not_listening(now);
        }
        self.association.tick(now);
        self.events(now);
        self.progress(now);
        self.with(now, |live, out| live.machine.tick(now, out));
    }

    fn reads(&self) -> bool {
        !self.suspended
    }

    fn output(&mut self) -> &mut TransportOutput {
        self.association.output()
    }
}
