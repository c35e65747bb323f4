//! Instances of the Forward Frame service as they are run, and the provider's end of an association
//! of CSTS: what comes goes through the association to the instance that was bound, and what that
//! wants goes back.

use super::radiate::Waiting;
use super::strangers::Stranger;
use super::{Log, Shared};
use crate::association::State as Link;
use crate::config::ForwardFrame;
use crate::csts::association::{Association, Ending, Event};
use crate::csts::forward_frame::ForwardFrameProvider;
use crate::csts::pdu::{DataUnitId, Pdu, PeerAbortDiagnostic, ProcessData, ServiceInstanceId};
use crate::csts::procedure::{Action, State};
use crate::net::{Protocol, SendRefused, Sender};
use crate::recording::{self, ChainKey, QUEUE_PROCESS_DATA, RECEIVE_PROCESS_DATA};
use crate::service::fcltu::{Production, Queue};
use crate::time::Now;
use crate::tml::{Output, TmlFault};
use chronoscope_record::Status;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long after radiation's word found the connection full it is looked at again.
const PROGRESS_NS: u64 = 2_000_000;

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
    progress: Arc<AtomicBool>,
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
    fn take_in(&mut self, now: Now, out: &mut Vec<Action>) {
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

    fn bind(&self, initiator: String, sender: Sender<Command>, now: Now) -> u64 {
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

    fn unbind(&self, number: u64, now: Now) {
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
                Event::Bound { instance, initiator, .. } => self.bind(&instance, initiator, now),
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

    fn bind(&mut self, instance: &ServiceInstanceId, initiator: String, now: Now) {
        let served = self.shared.frames.iter().find(|served| served.id == *instance);
        let Some(served) = served.map(Arc::clone) else {
            // The directory was made of the same instances.
            return self.association.abort(PeerAbortDiagnostic::OtherReason);
        };
        self.stranger = None;
        self.log().say(&format!("{}: {initiator} bound to {}", self.peer, served.name));
        recording::bind().stop(Status::Good);
        let number = served.bind(initiator, self.sender.clone(), now);
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
                let is_active = live.machine.state() == State::Active;
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
        if self.association.state() == Link::Ended {
            self.suspended = false;
            self.events(now);
        }
    }

    fn send(&mut self, pdu: Pdu, now: Now) {
        if let Err(error) = self.association.send(pdu, now)
            && self.association.state() != Link::Ended
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
                let waits = bound.served.progress.load(Ordering::Acquire);
                let at_ns = waits.then(|| self.now.monotonic_ns + PROGRESS_NS);
                (bound.served.lock().machine.due(), at_ns)
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
