//! One association on its way through the communication server: two connections, one thread.

use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::limits::{Relayed, SessionLimits};
use super::side::{InputEnd, Side};
use crate::net::Waker;
use crate::time::Now;
use crate::tml::{Heartbeat, PDU_BYTES_MAX, Tml};

/// PEER-ABORT to both sides of a server that ends: operational requirement.
const OPERATIONAL: u8 = 2;
/// PEER-ABORT where one side is gone and has not said why: other reason, of the transport (913.1).
const OTHER_REASON: u8 = 199;

/// A session as its thread has it. `sides[0]` is the initiator's, `sides[1]` the responder's, which is
/// connected to when the initiator has introduced itself.
pub(super) struct Session<C> {
    sides: [Option<Side>; 2],
    connect: C,
    limits: SessionLimits,
    buffer: Vec<u8>,
    relayed: Relayed,
    /// Why it ends, once it does; then when it began to, on the monotonic clock.
    outcome: Option<(String, u64)>,
}

/// Which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Initiator,
    Responder,
}

impl Which {
    fn other(self) -> Self {
        match self {
            Self::Initiator => Self::Responder,
            Self::Responder => Self::Initiator,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Initiator => "the initiator",
            Self::Responder => "the responder",
        }
    }
}

/// What a wait found of a side: whether it is readable, and whether an urgent octet is announced.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    readable: bool,
    urgent: bool,
}

impl<C: FnMut() -> io::Result<Side>> Session<C> {
    /// Of a connection that an initiator made; `connect` makes the other.
    pub(super) fn new(initiator: Side, connect: C, limits: SessionLimits) -> Self {
        Self {
            sides: [Some(initiator), None],
            connect,
            limits,
            buffer: vec![0; limits.read_bytes.max(1)],
            relayed: Relayed::default(),
            outcome: None,
        }
    }

    /// Relays until both connections are over; `ends` says that the server does. Returns what was
    /// relayed and why it ended.
    pub(super) fn run(mut self, waker: &Waker, ends: impl Fn() -> bool) -> (Relayed, String) {
        loop {
            let now = Now::read();
            if ends() && self.outcome.is_none() {
                self.finish("the communication server ends".to_owned(), now);
                self.each(|side| side.abort(OPERATIONAL));
            }
            self.work(now);
            if self.sides.iter().flatten().all(Side::is_over) {
                break;
            }
            self.relayed.waits += 1;
            match self.wait(waker, now) {
                Ok(ready) => self.read(ready),
                Err(error) => {
                    self.finish(format!("waiting failed: {error}"), now);
                    self.each(Side::reset);
                }
            }
        }
        self.relayed.calls = self.sides.iter().flatten().map(|side| side.calls).sum();
        let outcome = self.outcome.map_or_else(|| "closed".to_owned(), |(outcome, _)| outcome);
        (self.relayed, outcome)
    }

    fn each(&mut self, act: impl Fn(&mut Side)) {
        self.sides.iter_mut().flatten().for_each(act);
    }

    fn side(&mut self, which: Which) -> Option<&mut Side> {
        self.sides[which as usize].as_mut()
    }

    /// The first reason counts.
    fn finish(&mut self, outcome: String, now: Now) {
        self.outcome.get_or_insert((outcome, now.monotonic_ns));
    }

    /// Timers, writes, and what is overdue.
    fn work(&mut self, now: Now) {
        for which in [Which::Initiator, Which::Responder] {
            let Some(side) = self.side(which) else { continue };
            if let Err(fault) = side.tick(now) {
                self.ended(which, InputEnd::Faulty(fault), now);
            }
            let Some(side) = self.side(which) else { continue };
            if let Err(error) = side.flush(now.monotonic_ns) {
                side.reset();
                self.finish(format!("{} cannot be written to: {error}", which.name()), now);
                self.tell_other(which, OTHER_REASON);
            }
        }
        self.overdue(now);
    }

    /// Cuts a side that takes nothing, and what is left of a session that ends.
    fn overdue(&mut self, now: Now) {
        for which in [Which::Initiator, Which::Responder] {
            let limit_ns =
                if self.outcome.is_some() { self.limits.close_ns } else { self.limits.stall_ns };
            let began_ns = self.outcome.as_ref().map_or(0, |(_, ns)| *ns);
            let Some(side) = self.side(which).filter(|side| !side.is_over()) else { continue };
            let waits = side.unsent() > 0 || began_ns > 0;
            let since_ns = side.progress_ns.max(began_ns);
            if !waits || now.monotonic_ns.saturating_sub(since_ns) < limit_ns {
                continue;
            }
            side.reset();
            let seconds = limit_ns / 1_000_000_000;
            self.finish(format!("{} took nothing for {seconds} s", which.name()), now);
            self.tell_other(which, OTHER_REASON);
        }
    }

    /// Passes on that a side is gone; before there is another side, only this one ends.
    fn tell_other(&mut self, which: Which, diagnostic: u8) {
        if let Some(other) = self.side(which.other()) {
            other.end(Some(diagnostic));
        }
    }

    /// Whether a side is read: there is room for what it says, and it is known what that is.
    fn reads(&self, which: Which) -> bool {
        let [own, other] = [which, which.other()].map(|which| self.sides[which as usize].as_ref());
        let has_room = other
            .is_none_or(|other| other.unsent() <= self.limits.buffer_bytes || !other.is_open());
        own.is_some_and(|own| own.is_heard() && own.tml.is_some()) && has_room
    }

    fn wait(&mut self, waker: &Waker, now: Now) -> nix::Result<[Ready; 2]> {
        let interests = [Which::Initiator, Which::Responder].map(|which| self.reads(which));
        for (side, reads) in self.sides.iter_mut().flatten().zip(interests) {
            if let (false, Some(tml)) = (reads, &mut side.tml) {
                tml.not_listening(now);
            }
        }
        let until_ns = self.until();
        let mut polled = Vec::with_capacity(3);
        // A side of which nothing is wanted would be ready for ever, once its peer is gone.
        let polls = |side: &Side| side.is_heard() || side.wants_to_write();
        for (side, reads) in self.sides.iter().flatten().zip(interests) {
            if !polls(side) {
                continue;
            }
            let mut events = PollFlags::empty();
            events.set(PollFlags::POLLPRI, side.is_heard());
            events.set(PollFlags::POLLIN, reads);
            events.set(PollFlags::POLLOUT, side.wants_to_write());
            polled.push(PollFd::new(side.socket().as_fd(), events));
        }
        let timeout = until_ns.map(|ns| {
            let left_ns = ns.saturating_sub(now.monotonic_ns);
            let seconds = i64::from(u32::try_from(left_ns / 1_000_000_000).unwrap_or(u32::MAX));
            TimeSpec::new(seconds, i64::from(u32::try_from(left_ns % 1_000_000_000).unwrap_or(0)))
        });
        // It stays readable: who ends the server wakes all sessions with one.
        if self.outcome.is_none() {
            polled.push(PollFd::new(waker.as_fd(), PollFlags::POLLIN));
        }
        match ppoll(&mut polled, timeout, None) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(<[Ready; 2]>::default()),
            Err(error) => return Err(error),
        }
        let mut found = polled.iter().map(|polled| polled.revents().unwrap_or(PollFlags::empty()));
        let ended = PollFlags::POLLERR | PollFlags::POLLHUP | PollFlags::POLLNVAL;
        Ok([0, 1].map(|index| {
            let polled = self.sides[index].as_ref().is_some_and(polls);
            let flags = if polled { found.next() } else { None }.unwrap_or(PollFlags::empty());
            Ready {
                readable: flags.intersects(PollFlags::POLLIN | ended),
                urgent: flags.contains(PollFlags::POLLPRI),
            }
        }))
    }

    /// When there is something to do without a socket.
    fn until(&self) -> Option<u64> {
        let sides = self.sides.iter().flatten();
        let due = sides.clone().filter_map(Side::due).min();
        let overdue = match &self.outcome {
            Some((_, began_ns)) => sides
                .filter(|side| !side.is_over())
                .map(|side| side.progress_ns.max(*began_ns).saturating_add(self.limits.close_ns))
                .min(),
            None => sides
                .filter(|side| side.unsent() > 0)
                .map(|side| side.progress_ns.saturating_add(self.limits.stall_ns))
                .min(),
        };
        due.into_iter().chain(overdue).min()
    }

    fn read(&mut self, ready: [Ready; 2]) {
        for which in [Which::Initiator, Which::Responder] {
            let Ready { readable, urgent } = ready[which as usize];
            let mut buffer = std::mem::take(&mut self.buffer);
            let now = Now::read();
            let input = match self.side(which) {
                Some(side) if (readable || urgent) && side.is_heard() => {
                    side.read(urgent, &mut buffer, now)
                }
                _ => Default::default(),
            };
            self.buffer = buffer;
            self.introduce(which, now);
            if let Some(other) = self.side(which.other()) {
                input.pdus.iter().for_each(|pdu| other.put(pdu, now));
                self.relayed.pdus[which as usize] += input.pdus.len() as u64;
                let octets = input.pdus.iter().map(|pdu| pdu.len() as u64).sum::<u64>();
                self.relayed.octets[which as usize] += octets;
            }
            if let Some(end) = input.end {
                self.ended(which, end, now);
            }
        }
    }

    /// Connects to the responder, where the initiator has just introduced itself with its context
    /// message: its heartbeat is proposed there.
    fn introduce(&mut self, which: Which, now: Now) {
        let [Some(initiator), None] = &self.sides else { return };
        let is_new = which == Which::Initiator && self.outcome.is_none();
        let Some(heartbeat) = heartbeat(initiator).filter(|_| is_new) else { return };
        match (self.connect)() {
            Ok(mut side) => {
                side.tml = Some(Tml::initiator(heartbeat, PDU_BYTES_MAX, Now::read()));
                self.sides[Which::Responder as usize] = Some(side);
            }
            Err(error) => {
                self.finish(format!("{} cannot be reached: {error}", Which::Responder.name()), now);
                self.each(|side| side.end(Some(OTHER_REASON)));
                self.each(Side::ignore);
            }
        }
    }

    /// A side brings nothing more: ends it, and passes on why.
    fn ended(&mut self, which: Which, end: InputEnd, now: Now) {
        let name = which.name();
        match end {
            InputEnd::Closed => {
                self.finish(format!("{name} closed"), now);
                // Its own sending half is closed when the other side closes, which may still
                // have something to say.
                let closing =
                    if self.side(which.other()).is_some() { which.other() } else { which };
                if let Some(closing) = self.side(closing) {
                    closing.end(None);
                }
            }
            InputEnd::Aborted(diagnostic) => {
                self.finish(format!("{name} aborted, diagnostic {diagnostic}"), now);
                if let Some(other) = self.side(which.other()) {
                    other.abort(diagnostic);
                }
                if let Some(own) = self.side(which) {
                    own.end(None);
                }
            }
            InputEnd::Faulty(fault) => {
                self.finish(format!("{name}: {fault}"), now);
                self.tell_other(which, fault.diagnostic());
                if let Some(own) = self.side(which) {
                    match fault.tells_the_peer() {
                        true => own.end(Some(fault.diagnostic())),
                        false => own.reset(),
                    }
                }
            }
        }
    }
}

/// The heartbeat that an initiator has proposed, once it has.
fn heartbeat(initiator: &Side) -> Option<Heartbeat> {
    initiator.tml.as_ref().filter(|tml| tml.established()).map(Tml::heartbeat)
}
