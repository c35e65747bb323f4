//! Packets that wait to be written, each once for all clients of a worker.
//!
//! A packet has a number. A full feed is the number of the next packet to write, a filtered client
//! a list of numbers; neither has a buffer of its own.

use std::collections::VecDeque;
use std::ops::Range;

/// Most octets; beyond it the oldest packets go, and who has not got them is cut.
const FEED_BYTES_MAX: usize = 64 << 20;

/// Packets in the order in which they were accepted.
#[derive(Debug, Default)]
pub(super) struct Feed {
    bytes: VecDeque<u8>,
    /// Octets that were in front of `bytes` since the start.
    forgotten: u64,
    packets: VecDeque<Entry>,
    /// Number of the first of `packets`.
    first: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// End of the packet, in octets since the start.
    end: u64,
    /// Arrival time, monotonic nanoseconds.
    arrived_ns: u64,
}

impl Feed {
    /// Takes a packet, put together from `pieces`; its number.
    pub(super) fn push(&mut self, pieces: [&[u8]; 2], arrived_ns: u64) -> u64 {
        for piece in pieces {
            self.bytes.extend(piece);
        }
        let end = self.forgotten + self.bytes.len() as u64;
        self.packets.push_back(Entry { end, arrived_ns });
        while self.bytes.len() > FEED_BYTES_MAX {
            self.trim(self.first + 1);
        }
        self.next() - 1
    }

    /// Number of the oldest packet that is still there.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Number that the next packet will have.
    pub(super) fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Arrival time of the packet; 0 for one that was removed.
    pub(super) fn arrived_ns(&self, number: u64) -> u64 {
        self.entry(number).map_or(0, |entry| entry.arrived_ns)
    }

    /// Packets that wait, their octets, and octets allocated.
    pub(super) fn memory(&self) -> (usize, usize, usize) {
        let entries = self.packets.capacity() * size_of::<Entry>();
        (self.packets.len(), self.bytes.len(), self.bytes.capacity() + entries)
    }

    /// Octets of packets.
    pub(super) fn len_of(&self, numbers: &Range<u64>) -> usize {
        self.span(numbers).len()
    }

    /// The octets of packets, which are all there: in one piece, or in two.
    pub(super) fn slices(&self, numbers: &Range<u64>) -> [&[u8]; 2] {
        let span = self.span(numbers);
        let (front, back) = self.bytes.as_slices();
        let (start, end) = (span.start, span.end);
        let cut = front.len();
        [
            &front[start.min(cut)..end.min(cut)],
            &back[start.saturating_sub(cut)..end.saturating_sub(cut)],
        ]
    }

    /// Finds the first packet that is not written whole, when `octets` octets of the packets are
    /// written (fewer than they have): its number, and how many of its octets are written.
    pub(super) fn split(&self, numbers: &Range<u64>, octets: usize) -> (u64, usize) {
        let at = self.start_of(numbers.start) + octets as u64;
        let before = self.packets.partition_point(|entry| entry.end <= at);
        let number = self.first + before as u64;
        let within = at - self.start_of(number);
        (number, usize::try_from(within).unwrap_or(usize::MAX))
    }

    /// Forgets packets before `number`.
    pub(super) fn trim(&mut self, number: u64) {
        let number = number.clamp(self.first, self.next());
        let start = self.start_of(number);
        let octets = usize::try_from(start - self.forgotten).unwrap_or(usize::MAX);
        self.bytes.drain(..octets);
        let packets = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        self.packets.drain(..packets);
        (self.forgotten, self.first) = (start, number);
        // A burst's memory comes back once it is over.
        if self.packets.is_empty() && self.bytes.capacity() > FEED_BYTES_MAX / 16 {
            self.bytes = VecDeque::new();
            self.packets = VecDeque::new();
        }
    }

    fn entry(&self, number: u64) -> Option<&Entry> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.packets.get(index)
    }

    /// Begin of a packet, in octets since the start.
    fn start_of(&self, number: u64) -> u64 {
        let before = number.checked_sub(1).and_then(|before| self.entry(before));
        before.map_or(self.forgotten, |entry| entry.end)
    }

    /// Position of the packets in `bytes`.
    fn span(&self, numbers: &Range<u64>) -> Range<usize> {
        if numbers.is_empty() {
            return 0..0;
        }
        let index = |octets: u64| usize::try_from(octets - self.forgotten).unwrap_or(usize::MAX);
        index(self.start_of(numbers.start))..index(self.start_of(numbers.end))
    }
}

#[cfg(test)]
mod tests {
    use super::{FEED_BYTES_MAX, Feed};
    use proptest::prelude::*;

    #[test]
    fn packets_are_found_by_number() {
        let mut feed = Feed::default();
        for (text, at) in [("one", 10), ("three", 30), ("2", 20)] {
            feed.push([b"=", text.as_bytes()], at);
        }
        assert_eq!(feed.slices(&(0..2)).concat(), b"=one=three");
        assert_eq!((feed.len_of(&(1..3)), feed.arrived_ns(1)), (8, 30));
        assert_eq!(feed.split(&(0..3), 0), (0, 0));
        assert_eq!(feed.split(&(0..3), 4), (1, 0));
        assert_eq!(feed.split(&(1..3), 7), (2, 1));
        feed.trim(2);
        assert_eq!((feed.first(), feed.next()), (2, 3));
        assert_eq!(feed.slices(&(2..3)).concat(), b"=2");
        feed.trim(99);
        assert_eq!((feed.first(), feed.next(), feed.len_of(&(3..3))), (3, 3, 0));
    }

    #[test]
    fn a_feed_that_nobody_reads_is_bounded() {
        let mut feed = Feed::default();
        let packet = vec![b'x'; 1 << 20];
        for _ in 0..100 {
            feed.push([&packet, b""], 0);
        }
        assert_eq!((feed.next(), feed.first()), (100, 100 - (FEED_BYTES_MAX as u64 >> 20)));
    }

    proptest! {
        /// Whatever is trimmed when, numbers keep meaning the same packets.
        #[test]
        fn trimming_moves_nothing(lens in proptest::collection::vec(1_usize..40, 1..60), keep in 1_u64..9) {
            let mut feed = Feed::default();
            for (number, len) in lens.iter().enumerate() {
                let packet = vec![u8::try_from(number).unwrap(); *len];
                prop_assert_eq!(feed.push([&packet, b"."], 0), number as u64);
                feed.trim(feed.next().saturating_sub(keep));
                for number in feed.first()..feed.next() {
                    let octets = feed.slices(&(number..number + 1)).concat();
                    prop_assert_eq!(octets.len(), lens[usize::try_from(number).unwrap()] + 1);
                    prop_assert!(octets[..octets.len() - 1].iter().all(|o| u64::from(*o) == number));
                }
            }
        }
    }
}
