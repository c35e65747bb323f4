//! An instance of the Forward Frame service, and who is bound to it.

use super::radiate::Waiting;
use crate::config::ForwardFrame;
use crate::csts::forward_frame::ForwardFrameProvider;
use crate::csts::pdu::ServiceInstanceId;
use crate::csts::procedure::Action;
use crate::net::{SendRefused, Sender};
use crate::service::fcltu::{Production, Queue};
use crate::time::Now;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long after radiation's word found the connection full it is looked at again.
pub(super) const PROGRESS_NS: u64 = 2_000_000;

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

/// What an instance's threads share, behind one lock.
pub(super) struct Live {
    pub(super) machine: ForwardFrameProvider,
    pub(super) bound: Option<BoundTo>,
    /// What production is told, on its way to the machine.
    inbox: Vec<Production>,
    /// Counts associations, so that one that ends late does not unbind the next.
    bindings: u64,
}

pub(super) struct BoundTo {
    pub(super) initiator: String,
    pub(super) sender: Sender<Command>,
    number: u64,
}

impl Live {
    pub(super) fn take_in(&mut self, now: Now, out: &mut Vec<Action>) {
        for event in self.inbox.drain(..) {
            self.machine.production(event, now, out);
        }
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
            live: Mutex::new(Live { machine, bound: None, inbox: Vec::new(), bindings: 0 }),
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
        let mut live = self.lock();
        live.inbox.push(event);
        let sender = live.bound.as_ref().map(|bound| bound.sender.clone());
        if sender.is_none() {
            live.take_in(Now::read(), &mut Vec::new());
        }
        drop(live);
        if let Some(sender) = sender {
            // Where it has ended, its end takes in what is left.
            drop(sender.send_first(Command::Inbox));
        }
    }

    pub(super) fn bind(&self, initiator: String, sender: Sender<Command>, now: Now) -> u64 {
        let mut live = self.lock();
        if live.bound.take().is_some() {
            // The one before has ended and not said so yet.
            live.machine.unbound();
            live.take_in(now, &mut Vec::new());
        }
        live.bindings += 1;
        let number = live.bindings;
        live.machine.bound();
        let (waker, progress) = (sender.clone(), Arc::clone(&self.progress));
        self.queue.set_waker(move || {
            progress.store(true, Ordering::Release);
            // Where the connection is full the association looks by itself; where it has ended
            // nobody is told.
            let sent: Result<(), SendRefused<Command>> = waker.try_send(Command::Progress, 0);
            drop(sent);
        });
        live.bound = Some(BoundTo { initiator, sender, number });
        number
    }

    pub(super) fn unbind(&self, number: u64, now: Now) {
        let mut live = self.lock();
        if live.bound.as_ref().is_some_and(|bound| bound.number == number) {
            live.bound = None;
            live.machine.unbound();
            live.take_in(now, &mut Vec::new());
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
