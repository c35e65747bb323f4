//! An instance of the Forward Frame service, and who is bound to it.

use super::binding::{self, InstanceMachine};
use super::radiate::Waiting;
use crate::config::ForwardFrame;
use crate::csts::forward_frame::ForwardFrameProvider;
use crate::csts::pdu::ServiceInstanceId;
use crate::csts::procedure::Action;
use crate::net::Sender;
use crate::service::fcltu::{Production, Queue};
use crate::time::Now;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What other threads want of an association.
#[derive(Debug)]
pub(super) enum Command {
    /// Something is in the instance's inbox.
    Inbox,
    /// Radiation has something to tell.
    Progress,
    /// An operator wants it to end.
    Abort,
}

/// A service instance.
pub(super) struct FrameServed {
    pub(super) id: ServiceInstanceId,
    /// What the configuration calls it.
    pub(super) name: String,
    live: Mutex<Live>,
    pub(super) waiting: Waiting,
    /// Radiation has something to tell.
    pub(super) progress: Arc<AtomicBool>,
    pub(super) queue: Arc<Queue>,
    pub(super) modem: Option<SocketAddr>,
}

/// State of an instance of the Forward Frame service.
pub(super) type Live = binding::Live<ForwardFrameProvider>;

impl InstanceMachine for ForwardFrameProvider {
    type Command = Command;
    type Inbound = Production;
    type Action = Action;
    type Version = u32;

    fn inbox_command() -> Command {
        Command::Inbox
    }

    fn progress_command() -> Command {
        Command::Progress
    }

    /// All versions have the same procedures, without timers that begin with BIND.
    fn bound(&mut self, _version: u32, _now: Now) {
        Self::bound(self);
    }

    fn unbound(&mut self, _now: Now) {
        Self::unbound(self);
    }

    fn inbound(&mut self, event: Production, now: Now, out: &mut Vec<Action>) {
        self.production(event, now, out);
    }
}

impl FrameServed {
    /// As the configuration says, which was checked.
    pub(super) fn new(instance: &ForwardFrame) -> Option<Self> {
        let config = instance.provided();
        let queue = Arc::new(Queue::new(&config));
        let machine = ForwardFrameProvider::new(config, Arc::clone(&queue));
        Some(Self {
            id: instance.identifier()?,
            name: instance.name.clone(),
            live: Mutex::new(Live::new(machine)),
            waiting: Waiting::default(),
            progress: Arc::default(),
            queue,
            modem: instance.modem,
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells production, in the thread of the association where there is one.
    pub(super) fn tell(&self, event: Production) {
        binding::tell(self.lock(), event);
    }

    /// Binds a user; the number of the binding.
    pub(super) fn bind(
        &self,
        initiator: String,
        version: u32,
        sender: Sender<Command>,
        now: Now,
    ) -> u64 {
        let mut live = self.lock();
        let waker = binding::progress_waker::<ForwardFrameProvider>(sender.clone(), &self.progress);
        self.queue.set_waker(waker);
        live.bind(initiator, version, sender, now)
    }

    /// Ends the binding of that number, if it is the present one.
    pub(super) fn unbind(&self, number: u64, now: Now) {
        let mut live = self.lock();
        if live.unbind(number, now) {
            self.queue.clear_waker();
        }
    }

    /// How it is, in a line.
    pub(super) fn status(&self) -> String {
        let live = self.lock();
        let who = match &live.bound {
            None => "nobody bound".to_owned(),
            Some(bound) => format!("{} bound", bound.initiator),
        };
        let (state, counts) = (live.machine.state(), live.machine.counts());
        let (production, waiting, discarded) = self
            .queue
            .look(|radiation| (radiation.status(), radiation.waiting(), radiation.discarded()));
        format!(
            "{} ForwardFrame {state:?}, {who}, production {production:?}, received {}, waiting \
             {waiting}, discarded {discarded}, overrun {}, unfit {}, refused {}",
            self.name, counts.taken, counts.overrun, counts.unfit, counts.refused
        )
    }
}
