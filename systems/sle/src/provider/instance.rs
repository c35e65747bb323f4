//! A service instance as a provider runs it: its state machine, through all the associations that
//! it has, the user that is bound to it now, and the events on their way to the machine. The same
//! for SLE and for CSTS over what the two differ in ([`InstanceMachine`]).

use super::radiate::WaitingTransactions;
use crate::association::directory::ProvidedInstance;
use crate::association::machine::Operations;
use crate::association::protocol::AssociationProtocol;
use crate::net::CommandSender;
use crate::recording::ChainKey;
use crate::service::ServiceAction;
use crate::service::fcltu::RadiationQueue;
use crate::time::Now;
use chronoscope_record::{Class, Started};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time after which a connection that was full is tried again with radiation's progress.
const PROGRESS_NS: u64 = 2_000_000;

/// Operation of a machine's specification.
pub(super) type PduOf<M> = <<M as InstanceMachine>::Protocol as AssociationProtocol>::Pdu;
/// Identifier of an instance of a machine's specification.
pub(super) type IdOf<M> =
    <<<M as InstanceMachine>::Protocol as AssociationProtocol>::Instance as ProvidedInstance>::Id;
/// Version of a service, as BIND carries it.
pub(super) type VersionOf<M> = <<M as InstanceMachine>::Protocol as AssociationProtocol>::Version;
/// Request of a machine to its association.
pub(super) type ActionOf<M> =
    ServiceAction<PduOf<M>, <<M as InstanceMachine>::Protocol as AssociationProtocol>::Abort>;

/// State machine of a service instance. It has two implementors, one for SLE and one for CSTS.
pub(super) trait InstanceMachine: Sized + Send + 'static {
    /// The specification of its associations.
    type Protocol: Operations;
    /// Event for the machine that does not come from its association.
    type Inbound: Send;
    /// Data that only instances of this specification have.
    type Own: Send + Sync;
    /// Class of the radiation of one data unit.
    const RADIATE: &'static Class;

    /// A reason of UNBIND in the log.
    fn unbind_text(reason: <Self::Protocol as AssociationProtocol>::UnbindReason) -> String;
    /// A user has bound.
    fn bound(&mut self, version: VersionOf<Self>, now: Now);
    /// The association has ended.
    fn unbound(&mut self, now: Now);
    /// Processes an event.
    fn inbound(&mut self, event: Self::Inbound, now: Now, out: &mut Vec<ActionOf<Self>>);
    /// Processes an operation of the user, and records it.
    fn operation(
        bound: &mut BoundInstance<Self>,
        live: &mut InstanceState<Self>,
        pdu: PduOf<Self>,
        now: Now,
        out: &mut Vec<ActionOf<Self>>,
    );
    /// The transaction of an operation that is about to be sent, if it is recorded.
    fn sending(_bound: &BoundInstance<Self>, _pdu: &PduOf<Self>) -> Option<Started> {
        None
    }
    /// Reports radiation's progress to the user.
    fn progress(&mut self, now: Now, out: &mut Vec<ActionOf<Self>>);
    /// The connection takes frames again.
    fn unblock(&mut self, _now: Now, _out: &mut Vec<ActionOf<Self>>) {}
    /// Whether nothing more may be read from the user.
    fn is_suspended(&self) -> bool {
        false
    }
    /// When [`Self::tick`] is due, on the monotonic clock, in nanoseconds.
    fn due(&self) -> Option<u64>;
    /// Does what is due.
    fn tick(&mut self, now: Now, out: &mut Vec<ActionOf<Self>>);
}

/// The instance to which the user of this association is bound.
pub(super) struct BoundInstance<M: InstanceMachine> {
    pub(super) served: Arc<ServedInstance<M>>,
    /// Number of the binding.
    pub(super) number: u64,
    /// Chain key of the data units since START.
    pub(super) key: Option<ChainKey>,
    /// Whether transactions are recorded.
    pub(super) records: bool,
}

/// Command of another thread to the thread of an association.
pub(super) enum InstanceCommand<M: InstanceMachine> {
    /// The instance's inbox is to be processed.
    Inbox,
    /// The connection takes frames again.
    Unblock,
    /// Requests that the machine made in another thread.
    Actions(Vec<ActionOf<M>>),
    /// Radiation's progress is to be reported to the user.
    Progress,
    /// The operator ends the association.
    Abort,
}

/// State of an instance that its threads share behind one lock.
pub(super) struct InstanceState<M: InstanceMachine> {
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
    pub(super) version: VersionOf<M>,
    pub(super) sender: CommandSender<InstanceCommand<M>>,
    number: u64,
}

impl<M: InstanceMachine> InstanceState<M> {
    fn new(machine: M) -> Self {
        Self { machine, bound: None, inbox: Vec::new(), starts: 0, bindings: 0 }
    }

    /// Passes the events of the inbox to the machine.
    pub(super) fn take_in(&mut self, now: Now, out: &mut Vec<ActionOf<M>>) {
        for event in self.inbox.drain(..) {
            self.machine.inbound(event, now, out);
        }
    }

    /// Puts an event into the inbox; the way to the association, if a user is bound.
    pub(super) fn push(&mut self, event: M::Inbound) -> Option<CommandSender<InstanceCommand<M>>> {
        self.inbox.push(event);
        self.sender()
    }

    /// The way to the association, if a user is bound.
    fn sender(&self) -> Option<CommandSender<InstanceCommand<M>>> {
        self.bound.as_ref().map(|bound| bound.sender.clone())
    }

    /// Binds a user; the number of the binding.
    fn bind(
        &mut self,
        initiator: String,
        version: VersionOf<M>,
        sender: CommandSender<InstanceCommand<M>>,
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
    fn unbind(&mut self, number: u64, now: Now) -> bool {
        let is_bound = self.bound.as_ref().is_some_and(|bound| bound.number == number);
        if is_bound {
            self.bound = None;
            self.machine.unbound(now);
            self.take_in(now, &mut Vec::new());
        }
        is_bound
    }
}

/// A service instance.
pub(super) struct ServedInstance<M: InstanceMachine> {
    pub(super) id: IdOf<M>,
    /// Its name in the configuration; in SLE the identifier as text.
    pub(super) name: String,
    live: Mutex<InstanceState<M>>,
    /// Signalled when a user binds, unbinds, starts or stops.
    changed: Condvar,
    /// Data units that wait for radiation, as transactions.
    pub(super) waiting: WaitingTransactions,
    /// Whether radiation's progress is to be reported to the user.
    pub(super) progress: Arc<AtomicBool>,
    /// Data units that wait for radiation; `None` for a return service.
    pub(super) queue: Option<Arc<RadiationQueue>>,
    /// Destination of radiated data units; `None`: they are discarded.
    pub(super) modem: Option<SocketAddr>,
    pub(super) own: M::Own,
}

impl<M: InstanceMachine> ServedInstance<M> {
    pub(super) fn new(
        (id, name): (IdOf<M>, String),
        machine: M,
        (queue, modem): (Option<Arc<RadiationQueue>>, Option<SocketAddr>),
        own: M::Own,
    ) -> Self {
        Self {
            id,
            name,
            live: Mutex::new(InstanceState::new(machine)),
            changed: Condvar::new(),
            waiting: WaitingTransactions::default(),
            progress: Arc::default(),
            queue,
            modem,
            own,
        }
    }

    /// Whether an operator means this instance: by its name, by the end of it from an attribute or a
    /// value on, or without a name.
    pub(super) fn is_called(&self, wanted: Option<&str>) -> bool {
        wanted.is_none_or(|wanted| crate::config::is_called(&self.name, wanted))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, InstanceState<M>> {
        // Lock poisoning is ignored: machines do not panic, and any state of one is usable.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until a user binds, unbinds, starts or stops, or until `at_most` has passed.
    pub(super) fn wait<'a>(
        &self,
        live: MutexGuard<'a, InstanceState<M>>,
        at_most: Duration,
    ) -> MutexGuard<'a, InstanceState<M>> {
        self.changed.wait_timeout(live, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Wakes the threads in [`Self::wait`].
    pub(super) fn notify(&self) {
        self.changed.notify_all();
    }

    /// The way to the association, if a user is bound.
    pub(super) fn sender(&self) -> Option<CommandSender<InstanceCommand<M>>> {
        self.lock().sender()
    }

    /// Passes an event to the machine, in the thread of the association if a user is bound.
    pub(super) fn tell(&self, event: M::Inbound) {
        let mut live = self.lock();
        let sender = live.push(event);
        if sender.is_none() {
            // Without a bound user the machine's requests have no receiver.
            live.take_in(Now::read(), &mut Vec::new());
        }
        drop(live);
        if let Some(sender) = sender {
            // The command goes first, so that a stuck user does not delay it. An association that
            // has ended processes the inbox when it unbinds.
            drop(sender.send_first(InstanceCommand::Inbox));
        }
    }

    /// Aborts the association, if a user is bound; the way to it.
    pub(super) fn abort(&self) -> Option<CommandSender<InstanceCommand<M>>> {
        let sender = self.sender()?;
        // The command goes first, ahead of all output that waits for a stuck user. An association
        // that has ended needs no abort.
        drop(sender.send_first(InstanceCommand::Abort));
        Some(sender)
    }

    /// Binds a user; the number of the binding.
    pub(super) fn bind(
        &self,
        initiator: String,
        version: VersionOf<M>,
        sender: CommandSender<InstanceCommand<M>>,
        now: Now,
    ) -> u64 {
        let mut live = self.lock();
        if let Some(queue) = &self.queue {
            queue.set_waker(progress_waker(sender.clone(), &self.progress));
        }
        let number = live.bind(initiator, version, sender, now);
        drop(live);
        self.notify();
        number
    }

    /// Ends the binding of that number, if it is the present one.
    pub(super) fn unbind(&self, number: u64, now: Now) {
        let mut live = self.lock();
        if live.unbind(number, now)
            && let Some(queue) = &self.queue
        {
            queue.clear_waker();
        }
        drop(live);
        self.notify();
    }
}

/// Function that reports radiation's progress to an association.
fn progress_waker<M: InstanceMachine>(
    sender: CommandSender<InstanceCommand<M>>,
    progress: &Arc<AtomicBool>,
) -> impl Fn() + Send + Sync + 'static {
    let progress = Arc::clone(progress);
    move || {
        progress.store(true, Ordering::Release);
        // An association whose connection is full looks by itself (`progress_due`); for one that
        // has ended there is no user to inform.
        drop(sender.try_send(InstanceCommand::Progress, 0));
    }
}

/// Time of the next look at radiation's progress, if there is any to report.
pub(super) fn progress_due(progress: &AtomicBool, now: Now) -> Option<u64> {
    progress.load(Ordering::Acquire).then(|| now.monotonic_ns + PROGRESS_NS)
}
