//! The thread between a return instance's source and its machine.

use super::instance::InstanceCommand;
use super::log::ProviderLog;
use super::shared::ProviderState;
use super::sle::{SleInbound, SleMachine, SleServed};
use super::source::FrameOrigin;
use super::stored::FrameKeeper;
use super::trouble::Trouble;
use crate::frame::ReceivedFrame;
use crate::net::SendRefused;
use crate::recording::{self, DELIVER_FRAME};
use crate::service::ServiceState;
use crate::service::returns::OfflineRange;
use crate::source::{FrameConcatenation, ReadProgress};
use crate::time::Now;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Frames that go to the machine at a time at most.
const BATCH: usize = 320;
/// Interval at which an idle thread checks for work.
const LOOK: Duration = Duration::from_millis(50);
/// Octets of an operation beside a frame, about.
const OVERHEAD: usize = 64;

/// A source, and the instances that its frames go to.
pub(super) struct FrameFeed {
    origin: FrameOrigin,
    /// Hands over several frames as one; `None`: each by itself.
    concatenation: Option<FrameConcatenation>,
    /// One, but of a UDP port that several instances share.
    outlets: Vec<Outlet>,
    /// Stores of the instances that have one.
    stores: Vec<FrameKeeper>,
    trouble: Trouble,
}

/// An instance, and how frames are let into it.
struct Outlet {
    served: Arc<SleServed>,
    annotates: bool,
    /// Number of the START to which the end of data was reported.
    ended: Option<u64>,
    /// The connection was full: what came since went to the machine's backlog.
    blocked: bool,
}

/// Return instances by their sources: those that name the same UDP port share it, as the services
/// of one antenna do; any other source is of one instance.
pub(super) fn fed_together(all: &[Arc<SleServed>]) -> Vec<Vec<Arc<SleServed>>> {
    let mut groups: Vec<Vec<Arc<SleServed>>> = Vec::new();
    let port = |served: &SleServed| {
        let address = served.own.returns.as_ref().and_then(|returns| returns.udp);
        // Port 0 is another one each time.
        address.filter(|address| address.port() != 0)
    };
    for served in all.iter().filter(|served| served.own.returns.is_some()) {
        let own = port(served);
        let same = |group: &&mut Vec<Arc<SleServed>>| {
            own.is_some() && group.first().is_some_and(|first| port(first) == own)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(Arc::clone(served)),
            None => groups.push(vec![Arc::clone(served)]),
        }
    }
    groups
}

impl FrameFeed {
    /// Opens what the configuration names. Of several instances all are fed from the same UDP port.
    pub(super) fn open(served: Vec<Arc<SleServed>>, stores: Vec<FrameKeeper>) -> io::Result<Self> {
        let returns =
            served.first().and_then(|first| first.own.returns.clone()).unwrap_or_default();
        let origin = FrameOrigin::open(&returns)?;
        let concatenation =
            (returns.concatenated > 1).then(|| FrameConcatenation::new(returns.concatenated));
        let outlets = served.into_iter().map(|served| Outlet::new(served, &origin)).collect();
        Ok(Self { origin, concatenation, outlets, stores, trouble: Trouble::default() })
    }

    /// Feeds until the provider ends.
    pub(super) fn run(mut self, shared: &ProviderState) {
        let name = self.outlets.first().map_or("", |outlet| &outlet.served.name).to_owned();
        while !shared.stops.load(Ordering::Acquire) {
            let said = match self.turn(&shared.log) {
                Ok(false) => None,
                Ok(true) => self.trouble.is_over(),
                Err(error) => {
                    let said = self.trouble.failed(&error);
                    chronoscope_clock::sleep(LOOK);
                    said
                }
            };
            if let Some(said) = said {
                shared.log.say(&format!("{name}: frame source: {said}"));
            }
        }
    }

    /// Reads what is handed over next.
    fn read(
        &mut self,
        range: Option<OfflineRange>,
        out: &mut Vec<ReceivedFrame>,
    ) -> io::Result<ReadProgress> {
        let Some(concatenation) = &mut self.concatenation else {
            return self.origin.read(BATCH, range, out);
        };
        let mut frames = Vec::new();
        let read = self.origin.read(BATCH * concatenation.count(), range, &mut frames);
        out.extend(frames.iter().filter_map(|frame| concatenation.push(frame)));
        if matches!(read, Ok(ReadProgress::End)) {
            out.extend(concatenation.finish());
        }
        read
    }

    /// Reads once, where anything is wanted; whether it did.
    fn turn(&mut self, log: &ProviderLog) -> io::Result<bool> {
        for store in &mut self.stores {
            store.keep(&[], log);
        }
        for outlet in &mut self.outlets {
            outlet.unblock();
        }
        let Some(first) = self.outlets.first_mut() else { return Ok(false) };
        let live = first.served.lock();
        let number = live.starts;
        let SleMachine::Return(provider) = &live.machine else { return Ok(false) };
        let range = provider.offline();
        let is_active = provider.state() == ServiceState::Active;
        if first.ended == Some(number) || self.origin.waits() && !is_active {
            drop(first.served.wait(live, LOOK));
            return Ok(false);
        }
        drop(live);
        let mut frames = Vec::new();
        // UDP waits in there, and whoever is bound may be another afterwards.
        let progress = self.read(range, &mut frames)?;
        let waits = self.origin.waits();
        // Before they are delivered: what a user has received is in the store.
        for store in self.stores.iter_mut().filter(|_| !frames.is_empty()) {
            store.keep(&frames, log);
        }
        if !frames.is_empty()
            && let [first, others @ ..] = &mut self.outlets[..]
        {
            for other in others {
                other.frames(frames.clone(), waits);
            }
            first.frames(frames, waits);
        }
        match progress {
            ReadProgress::More => {}
            ReadProgress::At(at_ns) => {
                let left_ns = at_ns.saturating_sub(Now::read().monotonic_ns);
                chronoscope_clock::sleep(Duration::from_nanos(left_ns).min(LOOK));
            }
            ReadProgress::End => {
                for outlet in &mut self.outlets {
                    outlet.ended = Some(number);
                    outlet.give(SleInbound::EndOfData, 0, waits);
                }
            }
        }
        Ok(true)
    }
}

impl Outlet {
    fn new(served: Arc<SleServed>, origin: &FrameOrigin) -> Self {
        // Set once: an instance has one feed.
        let _ = served.own.source.set(origin.address());
        let annotates = served.own.returns.as_ref().is_some_and(|returns| returns.annotate)
            && recording::is_on();
        Self { served, annotates, ended: None, blocked: false }
    }

    fn frames(&mut self, mut frames: Vec<ReceivedFrame>, waits: bool) {
        if self.annotates {
            annotate(&mut frames);
        }
        let octets = frames.iter().map(|frame| frame.data.len() + OVERHEAD).sum();
        self.give(SleInbound::Frames(frames), octets, waits);
    }

    /// Gives something to the machine. A source that can wait waits for the connection. Any other
    /// never does, however stuck the user is: the machine keeps or discards what does not fit, as
    /// the delivery mode says.
    fn give(&mut self, inbound: SleInbound, octets: usize, waits: bool) {
        let mut live = self.served.lock();
        let sender = live.push(inbound);
        drop(live);
        let refused = match &sender {
            Some(sender) if waits => sender.send(InstanceCommand::Inbox, octets),
            Some(sender) if !self.blocked => sender.try_send(InstanceCommand::Inbox, octets),
            Some(_) => Err(SendRefused::Full(InstanceCommand::Inbox)),
            None => Err(SendRefused::Ended(InstanceCommand::Inbox)),
        };
        let is_full = match refused {
            Ok(()) => return,
            Err(SendRefused::Full(_)) => true,
            Err(SendRefused::Ended(_)) => false,
        };
        let (now, mut out) = (Now::read(), Vec::new());
        let mut live = self.served.lock();
        if is_full {
            if let SleMachine::Return(provider) = &mut live.machine {
                provider.block(true, now, &mut out);
            }
            self.blocked = true;
        }
        live.take_in(now, &mut out);
        drop(live);
        if let Some(sender) = sender
            && !out.is_empty()
        {
            // Hardly anything: a machine that is blocked holds its buffers back. One that has ended
            // wants nothing any more.
            drop(sender.send_first(InstanceCommand::Actions(out)));
        }
    }

    /// Tries whether the connection takes frames again.
    fn unblock(&mut self) {
        if !self.blocked {
            return;
        }
        let refused = match self.served.sender() {
            None => {
                // Nobody: a machine that nobody is bound to holds nothing back.
                if let SleMachine::Return(provider) = &mut self.served.lock().machine {
                    provider.block(false, Now::read(), &mut Vec::new());
                }
                Ok(())
            }
            Some(sender) => sender.try_send(InstanceCommand::Unblock, 0),
        };
        self.blocked = matches!(refused, Err(SendRefused::Full(_)));
    }
}

/// Gives each frame the correlator of its delivery, in its private annotation.
fn annotate(frames: &mut [ReceivedFrame]) {
    for frame in frames {
        let transaction = DELIVER_FRAME.begin();
        frame.annotation = Some(recording::annotation(&transaction));
    }
}
