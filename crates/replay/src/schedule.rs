//! Decides which process runs next and when time moves: pure code, no clock, no socket.
//!
//! A process is granted the run when it has something to read, when its timeout is due or when an
//! event occurred that it may wait for. Time moves only when no process has work and every sent
//! octet has been shown to its reader, which then waited again (with the octet read, or left unread
//! on purpose).
//!
//! Order: serial mode grants one process at a time, the next after the one that ran last, round
//! and round in the order in which processes were announced; timeouts of an instant come before
//! its inputs.

use crate::wire::{ConnectionEvent, Endpoint, FOREVER, Token, Waits};
use std::collections::{BTreeMap, BTreeSet};

/// A process taking part, by the order in which it was announced. Its slot in the page.
pub type Ordinal = usize;

/// Order in which the inputs of one instant run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleMode {
    /// One process at a time, in fixed order: deterministic.
    Serial,
    /// All that have something to do at the instant.
    Parallel,
}

/// Next step of the coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleStep {
    /// Grant the run to these, each with what must have arrived before it looks.
    Run(Vec<(Ordinal, Vec<Token>)>),
    /// Wait for a process that runs, or that was announced and has not sent its hello.
    Await,
    /// Deliver the next input: it is due and no process has work left.
    Input,
    /// Move the clock to this monotonic time, in ns, which is later than now.
    Advance(i64),
    /// No process waits for a time and no input is left.
    Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Announced,
    Running,
    Waiting,
    Gone,
}

#[derive(Clone, Debug)]
struct Participant {
    state: State,
    until_ns: i64,
    waits: Waits,
    /// An event has occurred since its last grant.
    ready: bool,
    /// Tokens that its next grant carries, besides those of streams.
    arrived: Vec<Token>,
}

/// One direction of a stream.
#[derive(Clone, Debug, Default)]
struct Flow {
    sent: u64,
    received: u64,
    ended: bool,
    /// Sent or ended since its reader was last granted.
    unshown: bool,
    readers: BTreeSet<Ordinal>,
}

type Link = (Endpoint, Endpoint);

/// The coordinator's state.
#[derive(Clone, Debug)]
pub struct Schedule {
    mode: ScheduleMode,
    now_ns: i64,
    last: Ordinal,
    participants: Vec<Participant>,
    flows: BTreeMap<Link, Flow>,
    /// Links of flows with unshown octets, so that a grant looks at these only.
    unshown: BTreeSet<Link>,
    listeners: BTreeMap<Endpoint, BTreeSet<Ordinal>>,
    receivers: BTreeMap<Endpoint, BTreeSet<Ordinal>>,
    outside: BTreeSet<Endpoint>,
    strangers: BTreeSet<Endpoint>,
    /// Processes that spoke to strangers.
    callers: BTreeSet<Ordinal>,
}

impl Schedule {
    /// A schedule without processes; `now_ns` is the monotonic clock's first value.
    #[must_use]
    pub fn new(mode: ScheduleMode, now_ns: i64) -> Self {
        Self {
            mode,
            now_ns,
            last: usize::MAX, // the first announced is the first to run
            participants: Vec::new(),
            flows: BTreeMap::new(),
            unshown: BTreeSet::new(),
            listeners: BTreeMap::new(),
            receivers: BTreeMap::new(),
            outside: BTreeSet::new(),
            strangers: BTreeSet::new(),
            callers: BTreeSet::new(),
        }
    }

    /// The monotonic clock, ns.
    #[must_use]
    pub fn now_ns(&self) -> i64 {
        self.now_ns
    }

    /// Destination addresses that no process of the replay owns.
    #[must_use]
    pub fn strangers(&self) -> &BTreeSet<Endpoint> {
        &self.strangers
    }

    /// Whether a process accepts connections or datagrams at `at`.
    #[must_use]
    pub fn takes_input_at(&self, at: Endpoint) -> bool {
        !owners(&self.listeners, at).is_empty() || !owners(&self.receivers, at).is_empty()
    }

    /// A process that will say hello. A child inherits its parent's connections.
    pub fn announce(&mut self, parent: Option<Ordinal>) -> Ordinal {
        let ordinal = self.participants.len();
        self.participants.push(Participant {
            state: State::Announced,
            until_ns: FOREVER,
            waits: Waits::default(),
            ready: false,
            arrived: Vec::new(),
        });
        if let Some(parent) = parent {
            let flows = self.flows.values_mut().map(|flow| &mut flow.readers);
            let sockets = self.listeners.values_mut().chain(self.receivers.values_mut());
            for owners in flows.chain(sockets).filter(|owners| owners.contains(&parent)) {
                owners.insert(ordinal);
            }
        }
        ordinal
    }

    /// The process sent its hello and waits for its first grant.
    pub fn hello(&mut self, who: Ordinal) {
        let participant = &mut self.participants[who];
        (participant.state, participant.ready) = (State::Waiting, true);
    }

    /// The process executes another program, which will send a hello in its place.
    pub fn exec(&mut self, who: Ordinal) {
        self.participants[who].state = State::Announced;
    }

    /// The process could not execute the other program and continues.
    pub fn resume(&mut self, who: Ordinal) {
        self.participants[who].state = State::Running;
    }

    /// Grants the run to the next process that spoke to a stranger and waits for an external event,
    /// to look for an answer.
    pub fn grant_stranger_caller(&mut self) -> Option<Ordinal> {
        let count = self.participants.len();
        let mut order = (1..=count).map(|step| self.last.wrapping_add(step) % count);
        let who = order.find(|who| {
            let p = &self.participants[*who];
            p.state == State::Waiting && p.waits.has(Waits::OTHERS) && self.callers.contains(who)
        })?;
        self.participants[who].state = State::Running;
        self.last = who;
        Some(who)
    }

    /// Notes an event that no token reports (a signal, the end of a child).
    pub fn wake(&mut self, who: Ordinal) {
        if self.participants[who].state != State::Gone {
            self.participants[who].ready = true;
        }
    }

    /// A handler ran in it while it waited. When it was granted meanwhile, it will see that itself.
    pub fn signal(&mut self, who: Ordinal) {
        if self.participants[who].state == State::Waiting {
            self.participants[who].ready = true;
        }
    }

    /// Every thread of the process waits until `until_ns` (monotonic) or for the events in `waits`.
    pub fn quiescent(&mut self, who: Ordinal, until_ns: i64, waits: Waits) {
        let participant = &mut self.participants[who];
        if participant.state != State::Gone {
            participant.state = State::Waiting;
            (participant.until_ns, participant.waits) = (until_ns, waits);
        }
    }

    /// The process died or ended: its connections end, its relatives are woken.
    pub fn gone(&mut self, who: Ordinal) {
        self.participants[who].state = State::Gone;
        self.participants[who].ready = false;
        let links: Vec<Link> =
            self.flows.iter().filter(|(_, f)| f.readers.contains(&who)).map(|(l, _)| *l).collect();
        for (from, to) in links {
            self.close(who, to, from);
        }
        for owners in self.listeners.values_mut().chain(self.receivers.values_mut()) {
            owners.remove(&who);
        }
        self.wake_others(who, Waits::OTHERS);
    }

    /// An action of `who`, or of the player (`None`).
    pub fn token(&mut self, who: Option<Ordinal>, token: Token) {
        let Token { event, count, from, to } = token;
        if who.is_none() && matches!(event, ConnectionEvent::Connect | ConnectionEvent::Datagram) {
            self.outside.insert(from); // the player's: what goes there is no stranger's
        }
        match event {
            ConnectionEvent::Sent => {
                let flow = self.flows.entry((from, to)).or_default();
                flow.sent += count;
                flow.unshown = true;
                self.unshown.insert((from, to));
                self.show(who, (from, to));
            }
            ConnectionEvent::Received => self.received(who, (from, to), count),
            ConnectionEvent::Datagram => self.datagram(who, token),
            ConnectionEvent::Listen => self.own(who, from, true),
            ConnectionEvent::Bound => self.own(who, from, false),
            ConnectionEvent::Connect => self.connect(who, token),
            ConnectionEvent::Accepted => {
                if let Some(who) = who {
                    self.flows.entry((to, from)).or_default().readers.insert(who);
                }
            }
            ConnectionEvent::Closed => match who {
                Some(who) if count == 0 => self.close(who, from, to),
                Some(_) => self.end((from, to)),
                None => self.end((from, to)),
            },
            ConnectionEvent::Local | ConnectionEvent::Kill | ConnectionEvent::Wake => {
                self.wake_others(who.unwrap_or(usize::MAX), Waits::OTHERS);
            }
        }
    }

    /// The next step, when the next input is due at `input_ns` (monotonic).
    pub fn next(&mut self, input_ns: Option<i64>) -> ScheduleStep {
        let busy =
            self.participants.iter().any(|p| matches!(p.state, State::Announced | State::Running));
        if busy && self.mode == ScheduleMode::Serial {
            return ScheduleStep::Await;
        }
        let ready = self.ready();
        if !ready.is_empty() {
            let some = if self.mode == ScheduleMode::Serial { &ready[..1] } else { &ready[..] };
            return ScheduleStep::Run(some.iter().map(|who| (*who, self.grant(*who))).collect());
        }
        if busy {
            return ScheduleStep::Await;
        }
        let waiting = self.participants.iter().filter(|p| p.state == State::Waiting);
        let timeout_ns = waiting.map(|p| p.until_ns).filter(|until| *until != FOREVER).min();
        match [timeout_ns, input_ns].into_iter().flatten().min() {
            None => ScheduleStep::Idle,
            Some(at) if at <= self.now_ns => ScheduleStep::Input,
            Some(at) => ScheduleStep::Advance(at),
        }
    }

    /// Time moves to `now_ns`; the caller got it from [`ScheduleStep::Advance`], or stops before it.
    pub fn advance(&mut self, now_ns: i64) {
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Octets that were sent and not yet shown to a reader taking part.
    #[must_use]
    pub fn unshown(&self) -> u64 {
        let flows = self.flows.values().filter(|flow| flow.unshown && !flow.readers.is_empty());
        flows.map(|flow| flow.sent.saturating_sub(flow.received)).sum()
    }

    /// Processes to grant, the next after the last one first.
    fn ready(&self) -> Vec<Ordinal> {
        let count = self.participants.len();
        let order = (1..=count).map(|step| self.last.wrapping_add(step) % count);
        order
            .filter(|who| {
                let p = &self.participants[*who];
                p.state == State::Waiting && (p.ready || p.until_ns <= self.now_ns)
            })
            .collect()
    }

    fn grant(&mut self, who: Ordinal) -> Vec<Token> {
        let participant = &mut self.participants[who];
        (participant.state, participant.ready) = (State::Running, false);
        let mut tokens = std::mem::take(&mut participant.arrived);
        self.last = who;
        let (listeners, flows) = (&self.listeners, &mut self.flows);
        self.unshown.retain(|link| {
            let Some(flow) = flows.get_mut(link) else { return false };
            let unaccepted = flow.readers.is_empty() && owners(listeners, link.1).contains(&who);
            if !flow.readers.contains(&who) && !unaccepted {
                return true;
            }
            flow.unshown = false;
            let event = if flow.ended { ConnectionEvent::Closed } else { ConnectionEvent::Sent };
            let count = flow.sent.saturating_sub(flow.received);
            tokens.push(Token { event, count, from: link.0, to: link.1 });
            false
        });
        tokens
    }

    /// Wakes the readers of a link; without any, the processes that could accept it.
    fn show(&mut self, from: Option<Ordinal>, link: Link) {
        let mut who = self.flows[&link].readers.clone();
        if who.is_empty() {
            who = owners(&self.listeners, link.1);
        }
        if who.is_empty() {
            self.stranger(from, link.1);
        }
        who.into_iter().for_each(|who| self.wake(who));
    }

    fn stranger(&mut self, caller: Option<Ordinal>, at: Endpoint) {
        if !self.outside.contains(&at) {
            self.strangers.insert(at);
            self.callers.extend(caller);
        }
    }

    fn received(&mut self, who: Option<Ordinal>, link: Link, count: u64) {
        let flow = self.flows.entry(link).or_default();
        flow.received += count;
        flow.readers.extend(who);
        let writers = self.flows.get(&(link.1, link.0)).map(|back| back.readers.clone());
        for writer in writers.unwrap_or_default() {
            if self.participants[writer].waits.has(Waits::ROOM) {
                self.wake(writer);
            }
        }
    }

    fn datagram(&mut self, from: Option<Ordinal>, token: Token) {
        let mut who = owners(&self.receivers, token.to);
        if token
            .to
            .address
            .to_ipv4_mapped()
            .is_some_and(|v4| v4.is_multicast() || v4.is_broadcast())
            || token.to.address.is_multicast()
        {
            let port = self.receivers.iter().filter(|(at, _)| at.port == token.to.port);
            who = port.flat_map(|(_, owners)| owners.iter().copied()).collect();
        }
        if who.is_empty() {
            self.stranger(from, token.to);
        }
        for who in who {
            self.arrive(who, token);
        }
    }

    fn connect(&mut self, who: Option<Ordinal>, token: Token) {
        if let Some(who) = who {
            self.flows.entry((token.to, token.from)).or_default().readers.insert(who);
        }
        let listeners = owners(&self.listeners, token.to);
        if listeners.is_empty() {
            self.stranger(who, token.to);
        }
        for listener in listeners {
            self.arrive(listener, token);
        }
    }

    fn own(&mut self, who: Option<Ordinal>, at: Endpoint, stream: bool) {
        let table = if stream { &mut self.listeners } else { &mut self.receivers };
        table.entry(at).or_default().extend(who);
    }

    /// `who` closes its end `local` of a connection with `peer`; or stops listening.
    fn close(&mut self, who: Ordinal, local: Endpoint, peer: Endpoint) {
        if let Some(flow) = self.flows.get_mut(&(peer, local)) {
            flow.readers.remove(&who);
            if !flow.readers.is_empty() {
                return;
            }
        }
        self.end((local, peer));
        let over = |link: &Link| self.flows.get(link).is_none_or(|f| f.readers.is_empty());
        if over(&(local, peer)) && over(&(peer, local)) {
            self.flows.remove(&(local, peer));
            self.flows.remove(&(peer, local));
        }
    }

    fn end(&mut self, link: Link) {
        if let Some(flow) = self.flows.get_mut(&link) {
            (flow.ended, flow.unshown) = (true, true);
            self.unshown.insert(link);
            flow.readers.clone().into_iter().for_each(|who| self.wake(who));
        }
    }

    fn arrive(&mut self, who: Ordinal, token: Token) {
        self.wake(who);
        self.participants[who].arrived.push(token);
    }

    fn wake_others(&mut self, who: Ordinal, waits: Waits) {
        for (other, participant) in self.participants.iter_mut().enumerate() {
            let may = participant.state != State::Waiting || participant.waits.has(waits);
            if other != who && may && participant.state != State::Gone {
                participant.ready = true;
            }
        }
    }
}

/// Owners of the exact address, or of any address of its port.
fn owners(table: &BTreeMap<Endpoint, BTreeSet<Ordinal>>, at: Endpoint) -> BTreeSet<Ordinal> {
    let any = Endpoint { address: std::net::Ipv6Addr::UNSPECIFIED, port: at.port };
    let found = table.get(&at).into_iter().chain(table.get(&any));
    found.flatten().copied().collect()
}

#[cfg(test)]
mod tests;
