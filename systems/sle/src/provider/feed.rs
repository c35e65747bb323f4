//! The thread between a return instance's source and its machine.

use super::Shared;
use super::end::Command;
use super::served::{Inbound, Machine, Served};
use super::source::Origin;
use crate::frame::ReceivedFrame;
use crate::net::{SendRefused, Sender};
use crate::recording::{self, DELIVER_FRAME};
use crate::service::State;
use crate::source::Progress;
use crate::time::Now;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Frames that go to the machine at a time at most.
const BATCH: usize = 320;
/// How often a thread with nothing to do looks whether that is still so.
const LOOK: Duration = Duration::from_millis(50);
/// Octets of an operation beside a frame, about.
const OVERHEAD: usize = 64;

/// A source, and how its frames are let in.
pub(super) struct Feed {
    origin: Origin,
    annotates: bool,
    /// What START was last told that there is no more of.
    ended: Option<u64>,
    /// The connection was full: what came since went to the machine's backlog.
    blocked: bool,
}

impl Feed {
    /// Opens what the configuration names.
    pub(super) fn open(served: &Served) -> io::Result<Self> {
        let returns = served.returns.clone().unwrap_or_default();
        let origin = Origin::open(&returns)?;
        // Set once: an instance has one feed.
        let _ = served.source.set(origin.address());
        let annotates = returns.annotate && recording::is_on();
        Ok(Self { origin, annotates, ended: None, blocked: false })
    }

    /// Feeds until the provider ends.
    pub(super) fn run(mut self, served: &Served, shared: &Shared) {
        while !shared.stops.load(Ordering::Acquire) {
            if let Err(error) = self.turn(served) {
                shared.log.say(&format!("{}: source: {error}", served.name));
                chronoscope_clock::sleep(LOOK);
            }
        }
    }

    fn turn(&mut self, served: &Served) -> io::Result<()> {
        if self.blocked {
            self.unblock(served);
        }
        let live = served.lock();
        let number = live.starts;
        let Machine::Return(provider) = &live.machine else { return Ok(()) };
        let range = provider.offline();
        let is_active = provider.state() == State::Active;
        if self.ended == Some(number) || self.origin.waits() && !is_active {
            drop(served.wait(live, LOOK));
            return Ok(());
        }
        drop(live);
        let mut frames = Vec::new();
        // UDP waits in there, and whoever is bound may be another afterwards.
        let progress = self.origin.read(BATCH, range, &mut frames)?;
        if !frames.is_empty() {
            if self.annotates {
                annotate(&mut frames);
            }
            self.give(served, frames);
        }
        match progress {
            Progress::More => {}
            Progress::At(at_ns) => {
                let left_ns = at_ns.saturating_sub(Now::read().monotonic_ns);
                chronoscope_clock::sleep(Duration::from_nanos(left_ns).min(LOOK));
            }
            Progress::End => {
                self.ended = Some(number);
                if let Some(sender) = sender_of(served) {
                    // One that has ended needs no end of data.
                    drop(sender.send(Command::EndOfData, 0));
                }
            }
        }
        Ok(())
    }

    fn give(&mut self, served: &Served, frames: Vec<ReceivedFrame>) {
        let octets = frames.iter().map(|frame| frame.data.len() + OVERHEAD).sum();
        let mut live = served.lock();
        live.inbox.push(Inbound::Frames(frames));
        let sender = live.bound.as_ref().map(|bound| bound.sender.clone());
        drop(live);
        let refused = match &sender {
            // A source that can wait does.
            Some(sender) if self.origin.waits() => sender.send(Command::Inbox, octets),
            Some(sender) if !self.blocked => sender.try_send(Command::Inbox, octets),
            Some(_) => Err(SendRefused::Full(Command::Inbox)),
            None => Err(SendRefused::Ended(Command::Inbox)),
        };
        let is_full = match refused {
            Ok(()) => return,
            Err(SendRefused::Full(_)) => true,
            Err(SendRefused::Ended(_)) => false,
        };
        let (now, mut out) = (Now::read(), Vec::new());
        let mut live = served.lock();
        if is_full {
            if let Machine::Return(provider) = &mut live.machine {
                provider.block(true, now, &mut out);
            }
            self.blocked = true;
        }
        live.take_in(now, &mut out);
        drop(live);
        if let Some(sender) = sender {
            // Also where there is nothing to send: the machine's next instant is another now. One
            // that has ended wants nothing any more.
            drop(sender.send(Command::Actions(out), 0));
        }
    }

    /// Tries whether the connection takes frames again.
    fn unblock(&mut self, served: &Served) {
        let refused = match sender_of(served) {
            None => {
                // Nobody: a machine that nobody is bound to holds nothing back.
                if let Machine::Return(provider) = &mut served.lock().machine {
                    provider.block(false, Now::read(), &mut Vec::new());
                }
                Ok(())
            }
            Some(sender) => sender.try_send(Command::Unblock, 0),
        };
        self.blocked = matches!(refused, Err(SendRefused::Full(_)));
    }
}

pub(super) fn sender_of(served: &Served) -> Option<Sender<Command>> {
    served.lock().bound.as_ref().map(|bound| bound.sender.clone())
}

/// Gives each frame the correlator of its delivery, in its private annotation.
fn annotate(frames: &mut [ReceivedFrame]) {
    for frame in frames {
        let transaction = DELIVER_FRAME.begin();
        frame.annotation = Some(recording::annotation(&transaction));
    }
}
