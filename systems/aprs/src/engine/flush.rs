//! Times of writes to clients.
//!
//! A write costs much the same whether one packet goes out or thirty, so packets are gathered: a
//! client is written to when its oldest packet has waited for the interval of its class. The
//! interval follows from the number of clients: few are served at once, many so seldom that writes
//! take a bounded share of a processor. Counts and the clock decide, never a measured load: a
//! replayed day has to write the same.

use crate::config::Batching;
use std::collections::VecDeque;

/// Clients that are written to in one go, at most: more of them that begin to wait at one moment
/// are divided. Their hosts are not all woken at once, and no client waits for hundreds of others.
pub(super) const GROUP_CLIENTS: usize = 128;

/// Parts of an interval: groups of clients that begin to wait at one moment are due a part after
/// each other, the last of them after the whole.
const PARTS: u64 = 8;

/// Slot of a client that has left: skipped.
const LEFT: usize = usize::MAX;

/// Clients that are written to at the same times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Clients that get all packets, and uplinks.
    Full,
    /// Clients that get the packets that a filter passes.
    Filtered,
    /// Clients that get duplicates.
    Duplicates,
}

impl Class {
    pub(super) const ALL: [Self; 3] = [Self::Full, Self::Filtered, Self::Duplicates];
}

/// Clients that began to wait at one moment and are written to together.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Arrival time of the oldest packet that they wait for, monotonic nanoseconds.
    since_ns: u64,
    /// Parts of the interval after which they are due, in [1, `PARTS`].
    parts: u64,
    /// Number of that packet.
    number: u64,
    /// How many they are.
    clients: usize,
}

/// The clients of a class: those that wait for their turn, and those that have everything.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The oldest first.
    turns: VecDeque<Turn>,
    /// Slots of the clients of all turns, in their order.
    waiting: VecDeque<usize>,
    /// Clients of feeds that have everything: the next packet of the feed is for all of them.
    idle: Vec<usize>,
}

impl Turns {
    /// A client of a feed has everything. It must not be here already.
    pub(super) fn rest(&mut self, slot: usize) {
        self.idle.push(slot);
    }

    /// The packet `number` entered the feed: those who had everything begin to wait.
    pub(super) fn came(&mut self, number: u64, since_ns: u64) {
        let groups = self.idle.len().div_ceil(GROUP_CLIENTS).clamp(1, 8);
        let size = self.idle.len().div_ceil(groups).max(1);
        for (group, slots) in (1..).zip(self.idle.chunks(size)) {
            let parts = (PARTS * group).div_ceil(groups as u64).min(PARTS);
            self.turns.push_back(Turn { since_ns, parts, number, clients: slots.len() });
            self.waiting.extend(slots);
        }
        self.idle.clear();
    }

    /// A client for which nothing waited begins to wait, for the packet `number`.
    pub(super) fn enlist(&mut self, slot: usize, number: u64, since_ns: u64) {
        match self.turns.back_mut() {
            Some(turn) if turn.number == number && turn.parts == PARTS => turn.clients += 1,
            _ => self.turns.push_back(Turn { since_ns, parts: PARTS, number, clients: 1 }),
        }
        self.waiting.push_back(slot);
    }

    /// A client has left.
    pub(super) fn leave(&mut self, slot: usize) {
        self.idle.retain(|of| *of != slot);
        for of in self.waiting.iter_mut().filter(|of| **of == slot) {
            *of = LEFT;
        }
    }

    /// Time when the next turn is due, monotonic nanoseconds; `None` where nobody waits.
    pub(super) fn due_ns(&self, interval_ns: u64) -> Option<u64> {
        self.turns.front().map(|turn| turn.since_ns + interval_ns / PARTS * turn.parts)
    }

    /// Appends the clients of the next turn to `slots`, and takes them out.
    pub(super) fn take(&mut self, slots: &mut Vec<usize>) {
        let Some(turn) = self.turns.pop_front() else { return };
        slots.extend(self.waiting.drain(..turn.clients).filter(|slot| *slot != LEFT));
    }

    /// Number of the oldest packet that a client waits for; `None` where nobody waits.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.turns.front().map(|turn| turn.number)
    }
}

/// Longest wait of a packet, in nanoseconds, for one of `clients` clients of a class.
pub(super) fn interval_ns(batching: Batching, class: Class, clients: usize) -> u64 {
    const MS: u64 = 1_000_000;
    // Nanoseconds a client, and the bounds.
    let (per_client_ns, min_ns, max_ns) = match (batching, class) {
        (Batching::Adaptive, Class::Full | Class::Duplicates) => (45_000, 4 * MS, 400 * MS),
        (Batching::Adaptive, Class::Filtered) => (11_500, 4 * MS, 400 * MS),
        (Batching::Latency, _) => (20_000, 2 * MS, 8 * MS),
        (Batching::Throughput, _) => (250_000, 50 * MS, 500 * MS),
        (Batching::Within(interval), _) => {
            return u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        }
    };
    (clients as u64).saturating_mul(per_client_ns).clamp(min_ns, max_ns)
}

#[cfg(test)]
mod tests {
    use super::{Class, GROUP_CLIENTS, PARTS, Turns, interval_ns};
    use crate::config::Batching;
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    #[test]
    fn few_clients_are_served_at_once_and_many_in_a_rhythm() {
        let full = |clients| interval_ns(Batching::Adaptive, Class::Full, clients);
        assert_eq!([1, 50, 200, 100_000].map(full), [4 * MS, 4 * MS, 9 * MS, 400 * MS]);
        assert_eq!(interval_ns(Batching::Adaptive, Class::Filtered, 2000), 23 * MS);
        assert_eq!(interval_ns(Batching::Latency, Class::Full, 10_000), 8 * MS);
        assert_eq!(interval_ns(Batching::Throughput, Class::Full, 1), 50 * MS);
        let within = Batching::Within(Duration::from_millis(12));
        assert_eq!(interval_ns(within, Class::Filtered, 10_000), 12 * MS);
    }

    fn take(turns: &mut Turns) -> Vec<usize> {
        let mut slots = Vec::new();
        turns.take(&mut slots);
        slots
    }

    #[test]
    fn clients_wait_from_their_oldest_packet_on() {
        let mut turns = Turns::default();
        assert_eq!((turns.due_ns(MS), turns.oldest()), (None, None));
        turns.enlist(7, 100, 5);
        turns.enlist(8, 100, 5);
        turns.enlist(9, 103, 20);
        assert_eq!((turns.due_ns(80), turns.oldest()), (Some(85), Some(100)));
        assert_eq!(take(&mut turns), [7, 8]);
        assert_eq!((turns.due_ns(80), turns.oldest()), (Some(100), Some(103)));
        turns.leave(9);
        assert_eq!(take(&mut turns), [0; 0]);
        assert_eq!(turns.oldest(), None);
    }

    #[test]
    fn many_that_begin_at_once_are_divided_and_none_waits_longer() {
        let mut turns = Turns::default();
        let clients = 3 * GROUP_CLIENTS;
        (0..clients).for_each(|slot| turns.rest(slot));
        turns.leave(1);
        turns.came(4, 1000);
        let mut all = Vec::new();
        let mut dues = Vec::new();
        while let Some(due_ns) = turns.due_ns(PARTS * 100) {
            dues.push(due_ns - 1000);
            all.extend(take(&mut turns));
        }
        assert_eq!(dues, [300, 600, 800]);
        all.sort_unstable();
        assert_eq!(all, (0..clients).filter(|slot| *slot != 1).collect::<Vec<_>>());
        turns.came(5, 2000);
        assert_eq!(turns.due_ns(80), None, "nobody is there who has everything");
    }
}
