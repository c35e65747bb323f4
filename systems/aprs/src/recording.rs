//! A packet's way through the server as transactions.
//!
//! Each packet is a chain: `Receive` at its root, under it `DupeCheck`, `Filter` and one `Write …`
//! for each class of clients that gets it, which ends when the flush has written it to the last
//! of them. Nothing is recorded unless [`init`] was called and the recorder is on.

use chronoscope_record::{Class, Correlator, Guard, Started, Status, class};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

static RECEIVE: Class = class!("Receive");
static DUPE_CHECK: Class = class!("DupeCheck");
static FILTER: Class = class!("Filter");
static WRITE_FULL_FEED: Class = class!("Write full feed");
static WRITE_FILTERED: Class = class!("Write filtered");
static WRITE_UPLINK: Class = class!("Write uplink");
static WRITE_PEER: Class = class!("Write peer");
static WRITE_UDP: Class = class!("Write UDP");

static ON: AtomicBool = AtomicBool::new(false);

/// Name of the application in recordings.
pub const APPLICATION: &str = "aprs-server";

/// Rings of servers that have ended, or of earlier programs of this process, which stay when a
/// server starts: enough for a look at what the last ones did. Each takes up to some 8 MB of memory.
const ENDED_RINGS: usize = 2;

/// Rings that were removed.
pub use chronoscope_record::Removed;

/// Begins to record, where the environment does not forbid it, and removes rings of servers that
/// have ended but the last two. Once, first in `main`, or again after a fork.
pub fn init() -> Removed {
    chronoscope_record::init(APPLICATION);
    ON.store(chronoscope_record::ring_path().is_some(), Ordering::Relaxed);
    chronoscope_record::keep_ended(ENDED_RINGS)
}

fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Names a packet's chain from thread to thread; nothing while nothing is recorded.
#[derive(Clone, Debug, Default)]
pub struct Trace(Option<Box<Correlator>>);

/// A transaction that ends where it began: when it is dropped.
#[must_use = "it ends when it is dropped"]
pub struct Doing(Option<Guard>);

impl Doing {
    /// Names its chain.
    pub fn trace(&self) -> Trace {
        Trace(self.0.as_ref().map(|guard| Box::new(guard.correlator())))
    }

    /// Ends it as failed: the packet was dropped.
    pub fn dropped(mut self) {
        if let Some(guard) = self.0.take() {
            guard.stop(Status::Failed);
        }
    }
}

/// A packet is being parsed.
pub fn receive() -> Doing {
    Doing(on().then(|| RECEIVE.begin()))
}

/// A packet is compared to those before it.
pub fn dupe_check(trace: &Trace) -> Doing {
    Doing(trace.0.as_deref().map(|parent| DUPE_CHECK.begin_with(parent)))
}

/// Action: the clients of a packet are found.
pub fn filter(trace: &Trace) -> Doing {
    Doing(trace.0.as_deref().map(|parent| FILTER.begin_with(parent)))
}

/// Clients that are written to in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientClass {
    /// Clients that get all packets.
    FullFeed,
    /// Clients that get the packets that a filter passes.
    Filtered,
    /// Servers above this one.
    Uplink,
    /// Core peers.
    Peer,
    /// Clients that get datagrams.
    Udp,
}

/// Packets that wait to be written.
#[derive(Debug, Default)]
pub struct Writes(VecDeque<(u64, Started)>);

impl Writes {
    /// Action: the packet `number` waits for a class of clients. Numbers never go down.
    pub fn wait(&mut self, trace: &Trace, class: ClientClass, number: u64) {
        if let Some(parent) = trace.0.as_deref() {
            self.0.push_back((number, class_of(class).start_with(parent)));
        }
    }

    /// All packets below `number` are written to all clients that they waited for.
    pub fn done(&mut self, number: u64) {
        while let Some((_, write)) = self.0.pop_front_if(|(of, _)| *of < number) {
            write.stop(Status::Good);
        }
    }
}

/// A packet is being sent to a class of clients.
pub fn send(trace: &Trace, class: ClientClass) -> Doing {
    Doing(trace.0.as_deref().map(|parent| class_of(class).begin_with(parent)))
}

fn class_of(class: ClientClass) -> &'static Class {
    match class {
        ClientClass::FullFeed => &WRITE_FULL_FEED,
        ClientClass::Filtered => &WRITE_FILTERED,
        ClientClass::Uplink => &WRITE_UPLINK,
        ClientClass::Peer => &WRITE_PEER,
        ClientClass::Udp => &WRITE_UDP,
    }
}
