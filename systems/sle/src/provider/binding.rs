//! A service instance's state machine with the user that is bound to it and the events on their
//! way to the machine: the part of a provider that SLE and CSTS have in common.

use crate::net::Sender;
use crate::time::Now;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};

/// Time after which a connection that was full is tried again with radiation's progress.
const PROGRESS_NS: u64 = 2_000_000;

/// State machine of a service instance. It has two implementors, one for SLE and one for CSTS.
pub(super) trait InstanceMachine {
    /// Command to the thread of an association.
    type Command;
    /// Event for the machine that does not come from its association.
    type Inbound;
    /// Request of the machine to its association.
    type Action;
    /// Version of the service, as BIND carries it.
    type Version: Copy;

    /// Command on which the thread of an association calls [`Live::take_in`].
    fn inbox_command() -> Self::Command;
    /// Command on which the thread of an association reports radiation's progress to the user.
    fn progress_command() -> Self::Command;
    /// A user has bound.
    fn bound(&mut self, version: Self::Version, now: Now);
    /// The association has ended.
    fn unbound(&mut self, now: Now);
    /// Processes an event.
    fn inbound(&mut self, event: Self::Inbound, now: Now, out: &mut Vec<Self::Action>);
}

/// State of an instance that its threads share behind one lock.
pub(super) struct Live<M: InstanceMachine> {
    pub(super) machine: M,
    /// The bound user.
    pub(super) bound: Option<BoundTo<M>>,
    /// Events on their way to the machine, the oldest first. They are not in the commands of an
    /// association, because one that ends would take them with it.
    inbox: Vec<M::Inbound>,
    /// Number of STARTs.
    pub(super) starts: u64,
    /// Number of bindings, so that an association that ends late does not unbind the next.
    bindings: u64,
}

/// A bound user and the way to its association.
pub(super) struct BoundTo<M: InstanceMachine> {
    pub(super) initiator: String,
    pub(super) version: M::Version,
    pub(super) sender: Sender<M::Command>,
    number: u64,
}

impl<M: InstanceMachine> Live<M> {
    pub(super) fn new(machine: M) -> Self {
        Self { machine, bound: None, inbox: Vec::new(), starts: 0, bindings: 0 }
    }

    /// Passes the events of the inbox to the machine.
    pub(super) fn take_in(&mut self, now: Now, out: &mut Vec<M::Action>) {
        for event in self.inbox.drain(..) {
            self.machine.inbound(event, now, out);
        }
    }

    /// Puts an event into the inbox; the way to the association, if a user is bound.
    pub(super) fn push(&mut self, event: M::Inbound) -> Option<Sender<M::Command>> {
        self.inbox.push(event);
        self.sender()
    }

    /// The way to the association, if a user is bound.
    pub(super) fn sender(&self) -> Option<Sender<M::Command>> {
        self.bound.as_ref().map(|bound| bound.sender.clone())
    }

    /// Binds a user; the number of the binding.
    pub(super) fn bind(
        &mut self,
        initiator: String,
        version: M::Version,
        sender: Sender<M::Command>,
        now: Now,
    ) -> u64 {
        if self.bound.take().is_some() {
            // The previous association has ended but has not reported it yet.
            self.machine.unbound(now);
            self.take_in(now, &mut Vec::new());
        }
        self.bindings += 1;
        let number = self.bindings;
        self.machine.bound(version, now);
        self.bound = Some(BoundTo { initiator, version, sender, number });
        number
    }

    /// Ends the binding of that number; `false` if another user is bound, or nobody.
    pub(super) fn unbind(&mut self, number: u64, now: Now) -> bool {
        let is_bound = self.bound.as_ref().is_some_and(|bound| bound.number == number);
        if is_bound {
            self.bound = None;
            self.machine.unbound(now);
            self.take_in(now, &mut Vec::new());
        }
        is_bound
    }
}

/// Passes an event to the machine, in the thread of the association if a user is bound.
pub(super) fn tell<M: InstanceMachine>(mut live: MutexGuard<'_, Live<M>>, event: M::Inbound) {
    let sender = live.push(event);
    if sender.is_none() {
        // Without a bound user the machine's requests have no receiver.
        live.take_in(Now::read(), &mut Vec::new());
    }
    drop(live);
    if let Some(sender) = sender {
        // The command goes first, so that a stuck user does not delay it. An association that has
        // ended processes the inbox when it unbinds.
        drop(sender.send_first(M::inbox_command()));
    }
}

/// Function that reports radiation's progress to an association.
pub(super) fn progress_waker<M: InstanceMachine>(
    sender: Sender<M::Command>,
    progress: &Arc<AtomicBool>,
) -> impl Fn() + Send + Sync + 'static
where
    M::Command: Send + 'static,
{
    let progress = Arc::clone(progress);
    move || {
        progress.store(true, Ordering::Release);
        // An association whose connection is full looks by itself (`progress_due`); for one that
        // has ended there is no user to inform.
        drop(sender.try_send(M::progress_command(), 0));
    }
}

/// Time of the next look at radiation's progress, if there is any to report.
pub(super) fn progress_due(progress: &AtomicBool, now: Now) -> Option<u64> {
    progress.load(Ordering::Acquire).then(|| now.monotonic_ns + PROGRESS_NS)
}
