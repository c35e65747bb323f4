//! The packets of the feed that a connection gets, and how far it has got.

use super::feed::Feed;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::Range;

/// The packets of the feed that a connection gets, and which of them it has got.
#[derive(Debug, Default)]
pub(super) enum Subscription {
    /// No packets are sent.
    #[default]
    Nothing,
    /// All, from the feed: which is next, and which of those to come are its own.
    Full { next: u64, own: Own },
    /// All duplicates, from their feed.
    Duplicates { next: u64 },
    /// Some: the low halves of their numbers in the feed.
    Listed(Vec<u32>),
    /// By UDP, at once: all, or those that its filter passes.
    Datagrams { all: bool },
}

/// Packets of the feed that a client sent itself, and that it has not passed; most have none.
#[derive(Debug, Default)]
pub(super) struct Own(
    #[expect(clippy::box_collection, reason = "a pointer is smaller in thousands of clients")]
    Option<Box<VecDeque<u64>>>,
);

impl Own {
    pub(super) fn push(&mut self, number: u64) {
        self.0.get_or_insert_default().push_back(number);
    }

    fn numbers(&self) -> impl Iterator<Item = &u64> {
        self.0.iter().flat_map(|numbers| numbers.iter())
    }

    /// Forgets the first ones.
    fn forget(&mut self, count: usize) {
        if let Some(numbers) = &mut self.0 {
            numbers.drain(..count);
            if numbers.is_empty() {
                self.0 = None;
            }
        }
    }
}

/// Numbers of packets, in runs.
pub(super) type Runs = SmallVec<[Range<u64>; 8]>;

/// Number of the first packet that waits.
pub(super) fn first_waiting(subscription: &Subscription, feed: &Feed) -> Option<u64> {
    match subscription {
        Subscription::Nothing | Subscription::Datagrams { .. } => None,
        Subscription::Full { next, .. } | Subscription::Duplicates { next } => {
            (*next < feed.next()).then_some(*next)
        }
        Subscription::Listed(list) => list.first().map(|low| number_of(*low, feed)),
    }
}

impl Subscription {
    /// Whether it is all that a feed has.
    pub(super) fn is_of_feed(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Duplicates { .. })
    }

    /// All before `number` is written.
    pub(super) fn written_before(&mut self, number: u64, feed: &Feed) {
        match self {
            Self::Nothing | Self::Datagrams { .. } => {}
            Self::Duplicates { next } => *next = number,
            Self::Full { next, own } => {
                *next = number;
                let mut passed = 0;
                for own in own.numbers() {
                    // The rest of the range may consist of its own packets.
                    if *own == *next {
                        *next += 1;
                    } else if *own > *next {
                        break;
                    }
                    passed += 1;
                }
                own.forget(passed);
            }
            Self::Listed(list) => {
                let written = list.partition_point(|low| number_of(*low, feed) < number);
                list.drain(..written);
                if list.is_empty() && list.capacity() > 64 {
                    *list = Vec::new();
                }
            }
        }
    }
}

/// Numbers of the waiting packets, in runs; not many more than `octets_max` octets where there are
/// several runs.
pub(super) fn runs_of(subscription: &Subscription, feed: &Feed, octets_max: usize) -> Runs {
    let mut runs = Runs::new();
    match subscription {
        Subscription::Nothing | Subscription::Datagrams { .. } => {}
        Subscription::Duplicates { next } => push(&mut runs, *next..feed.next()),
        Subscription::Full { next, own } => {
            let (mut from, mut octets) = (*next, 0_usize);
            for end in own.numbers().copied().chain([feed.next()]) {
                let run = from..end;
                from = end + 1;
                octets = octets.saturating_add(feed.len_of(&run));
                if octets > octets_max && !runs.is_empty() {
                    break;
                }
                push(&mut runs, run);
            }
        }
        Subscription::Listed(list) => {
            let mut octets = 0;
            for low in list {
                let number = number_of(*low, feed);
                octets += feed.len_of(&(number..number + 1));
                match runs.last_mut() {
                    Some(run) if run.end == number => run.end += 1,
                    _ if octets > octets_max => break,
                    _ => runs.push(number..number + 1),
                }
            }
        }
    }
    runs
}

fn push(runs: &mut Runs, run: Range<u64>) {
    if !run.is_empty() {
        runs.push(run);
    }
}

/// The number whose low half is `low`, of those in the feed. A feed never has as many packets as
/// half of a `u32` counts.
fn number_of(low: u32, feed: &Feed) -> u64 {
    let first = feed.first();
    #[allow(clippy::cast_possible_truncation)] // the low half is what is wanted
    let ahead = low.wrapping_sub(first as u32);
    first + u64::from(ahead)
}

#[cfg(test)]
mod tests {
    use super::{Own, Runs, Subscription, runs_of};
    use crate::engine::feed::Feed;
    use crate::engine::output::GATHER_MAX;

    /// Writes run by run what waits, as octets, with nothing left over.
    fn write_all(subscription: &mut Subscription, feed: &Feed) -> Vec<u8> {
        let mut written = Vec::new();
        loop {
            let runs: Runs = runs_of(subscription, feed, GATHER_MAX);
            let Some(last) = runs.last() else { return written };
            let octets: Vec<u8> = runs.iter().flat_map(|run| feed.slices(run).concat()).collect();
            let longest = runs.iter().map(|run| feed.len_of(run)).max().unwrap();
            assert!(octets.len() <= GATHER_MAX.max(longest), "{} at once", octets.len());
            written.extend(octets);
            subscription.written_before(last.end, feed);
        }
    }

    /// A client that sent so much while it did not read: each step is done once, not once for each
    /// packet of its own, with which this would not end.
    #[test]
    fn own_packets_in_their_hundred_thousands_are_passed_over_at_once() {
        let mut feed = Feed::default();
        let mut own = Own::default();
        for number in 0..600_000_u64 {
            let is_own = number > 400_000 || number % 2 == 1;
            feed.push([if is_own { b"own" } else { b"of another" }, b""], 0);
            if is_own {
                own.push(number);
            }
        }
        let mut subscription = Subscription::Full { next: 0, own };
        assert_eq!(write_all(&mut subscription, &feed).len(), 200_001 * b"of another".len());
        let Subscription::Full { next, own } = &subscription else { unreachable!() };
        assert_eq!((*next, own.numbers().count()), (600_000, 0));
    }

    #[test]
    fn a_packet_written_half_way_leaves_the_rest_in_order() {
        let mut feed = Feed::default();
        for number in 0..8_u8 {
            feed.push([&[b'0' + number], b""], 0);
        }
        let own = Own(Some(Box::new([2, 3, 6].into())));
        let mut subscription = Subscription::Full { next: 0, own };
        let is = |subscription: &Subscription, at: u64| {
            let Subscription::Full { next, own } = subscription else { return false };
            *next == at && own.numbers().eq(&[6])
        };
        subscription.written_before(2, &feed);
        assert!(is(&subscription, 4));
        subscription.written_before(5, &feed);
        assert!(is(&subscription, 5));
        assert_eq!(write_all(&mut subscription, &feed), b"57");
        assert!(
            matches!(&subscription, Subscription::Full { next: 8, own } if own.numbers().next().is_none())
        );
    }
}
