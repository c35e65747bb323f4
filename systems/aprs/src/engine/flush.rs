//! Times of writes to clients.
//!
//! A write costs much the same whether one packet goes out or thirty, so packets are gathered. The
//! longest wait follows from the number of clients that have something to get: few are served at
//! once, many in a rhythm that bounds the share of a processor that writes take. Counts and the
//! clock decide, never a measured load: a replayed day has to write the same.

use super::feed::Feed;
use crate::config::Batching;

/// Most groups that clients are written in.
const GROUPS_MAX: usize = 8;
/// Number of clients from which there are two groups; each further multiple of it adds one.
const GROUP_CLIENTS: usize = 50;

/// Largest lateness, in nanoseconds, from which the next group's time is counted.
pub(super) const LATE_MAX_NS: u64 = 1_000_000;

/// A round of writes: clients in groups, one group after the other. No client waits until hundreds
/// of others are written to, and their hosts are not all woken at once.
#[derive(Debug)]
pub(super) struct Round {
    /// When the last group was due, or the first waiting packet arrived, monotonic nanoseconds.
    pub(super) since_ns: u64,
    /// Clients written to.
    pub(super) clients: usize,
    /// The group whose turn is next, in [0, `groups`).
    group: usize,
    groups: usize,
    /// A packet arrived after the first group was written to.
    again: bool,
    /// Packets before these numbers are written to all once the round has ended: of the feed and
    /// of the duplicates' feed.
    before: (u64, u64),
}

impl Round {
    /// A round for so many clients.
    pub(super) fn new(since_ns: u64, clients: usize) -> Self {
        let groups = (clients / GROUP_CLIENTS).clamp(1, GROUPS_MAX);
        Self { since_ns, clients: 0, group: 0, groups, again: false, before: (0, 0) }
    }

    /// Ticks after which all that waits now is written.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// Notes that a packet arrived.
    pub(super) fn came(&mut self) {
        self.again |= self.group > 0;
    }

    /// The client in this slot is in the group whose turn it is.
    pub(super) fn is_turn(&self, slot: usize) -> bool {
        slot % self.groups == self.group
    }

    /// Time when the next group is due if the whole round takes `interval_ns`.
    pub(super) fn due_ns(&self, interval_ns: u64) -> u64 {
        self.since_ns + interval_ns / self.groups as u64
    }

    /// A group is about to be written to.
    pub(super) fn begin_group(&mut self, feed: &Feed, duplicates: &Feed) {
        if self.group == 0 {
            self.before = (feed.next(), duplicates.next());
        }
    }

    /// A group that was due at `due_ns` is written to. Where it was the last one: the packets that
    /// are written to all, and whether another round follows.
    pub(super) fn end_group(&mut self, due_ns: u64) -> Option<((u64, u64), bool)> {
        self.since_ns = due_ns;
        self.group += 1;
        (self.group == self.groups).then_some((self.before, self.again))
    }
}

/// Longest wait of the oldest packet, in nanoseconds, when `clients` are to be written to.
pub(super) fn interval_ns(batching: Batching, clients: usize) -> u64 {
    const MS: u64 = 1_000_000;
    // Nanoseconds a client, and the bounds. 90 µs a client keeps the writes, at some 10 µs each,
    // at a ninth of a processor.
    let (per_client_ns, min_ns, max_ns) = match batching {
        Batching::Adaptive => (90_000, 4 * MS, 400 * MS),
        Batching::Latency => (20_000, 2 * MS, 8 * MS),
        Batching::Throughput => (250_000, 50 * MS, 500 * MS),
    };
    (clients as u64).saturating_mul(per_client_ns).clamp(min_ns, max_ns)
}

#[cfg(test)]
mod tests {
    use super::interval_ns;
    use crate::config::Batching;

    #[test]
    fn few_clients_are_served_at_once_and_many_in_a_rhythm() {
        let adaptive = [1, 50, 400, 4000, 100_000].map(|n| interval_ns(Batching::Adaptive, n));
        assert_eq!(adaptive.map(|ns| ns / 1_000_000), [4, 4, 36, 360, 400]);
        assert_eq!(interval_ns(Batching::Latency, 10_000), 8_000_000);
        assert_eq!(interval_ns(Batching::Throughput, 1), 50_000_000);
    }
}
