//! One direction of a path: packets in, the same packets out after their time. Without sockets and
//! clocks.

use std::collections::VecDeque;
use std::time::Duration;

/// What one direction does to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// From one end to the other.
    pub one_way: Duration,
    /// Bits a second, where the link is to have a rate of its own; `None`: as fast as they come.
    pub bits_per_s: Option<u64>,
    /// Octets that may be on their way or wait for their turn; beyond, packets are dropped.
    pub octets_max: usize,
}

impl Default for Wire {
    /// No delay, no rate, 64 MiB.
    fn default() -> Self {
        Self { one_way: Duration::ZERO, bits_per_s: None, octets_max: 64 << 20 }
    }
}

/// Packets on their way. Order is kept.
#[derive(Debug)]
pub struct Line {
    wire: Wire,
    one_way_ns: u64,
    packets: VecDeque<(u64, Vec<u8>)>,
    octets: usize,
    free_ns: u64, // when the link has sent what was put on it
    dropped: u64,
}

impl Line {
    /// Nothing on its way yet.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        let one_way_ns = u64::try_from(wire.one_way.as_nanos()).unwrap_or(u64::MAX);
        Self { wire, one_way_ns, packets: VecDeque::new(), octets: 0, free_ns: 0, dropped: 0 }
    }

    /// A packet enters at `now_ns`, or is dropped where there is no room.
    pub fn push(&mut self, now_ns: u64, packet: Vec<u8>) {
        if self.octets + packet.len() > self.wire.octets_max {
            self.dropped += 1;
            return;
        }
        let mut sent_ns = now_ns;
        if let Some(rate) = self.wire.bits_per_s.filter(|rate| *rate > 0) {
            let takes_ns = u128::from(rate).max(1);
            let takes_ns = (packet.len() as u128 * 8_000_000_000).div_ceil(takes_ns);
            let takes_ns = u64::try_from(takes_ns).unwrap_or(u64::MAX);
            self.free_ns = self.free_ns.max(now_ns).saturating_add(takes_ns);
            sent_ns = self.free_ns;
        }
        self.octets += packet.len();
        self.packets.push_back((sent_ns.saturating_add(self.one_way_ns), packet));
    }

    /// The next packet whose time has come.
    pub fn pop(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        let (due_ns, _) = self.packets.front()?;
        if *due_ns > now_ns {
            return None;
        }
        let (_, packet) = self.packets.pop_front()?;
        self.octets -= packet.len();
        Some(packet)
    }

    /// When the next packet leaves, on the clock of [`push`](Self::push).
    #[must_use]
    pub fn due_ns(&self) -> Option<u64> {
        self.packets.front().map(|(due_ns, _)| *due_ns)
    }

    /// Packets that found no room.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Wire};
    use proptest::prelude::*;
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    /// 1250 octets at 1 Mbit/s take 10 ms: the second packet waits for the first one.
    #[test]
    fn a_rate_is_a_queue_before_the_delay() {
        let one_way = Duration::from_millis(5);
        let mut line = Line::new(Wire { one_way, bits_per_s: Some(1_000_000), ..Wire::default() });
        line.push(0, vec![1; 1250]);
        line.push(0, vec![2; 1250]);
        assert_eq!(line.due_ns(), Some(15 * MS));
        assert_eq!(line.pop(15 * MS - 1), None);
        assert_eq!(line.pop(15 * MS), Some(vec![1; 1250]));
        assert_eq!(line.pop(15 * MS), None);
        assert_eq!(line.due_ns(), Some(25 * MS));
        assert_eq!(line.pop(25 * MS), Some(vec![2; 1250]));
        line.push(100 * MS, vec![3; 1250]);
        assert_eq!(line.due_ns(), Some(115 * MS), "an idle link owes nothing");
    }

    #[test]
    fn what_has_no_room_is_dropped_and_counted() {
        let mut line = Line::new(Wire { octets_max: 10, ..Wire::default() });
        line.push(0, vec![0; 8]);
        line.push(0, vec![0; 3]);
        line.push(0, vec![0; 2]);
        assert_eq!(line.dropped(), 1);
        assert_eq!(line.pop(0).map(|p| p.len()), Some(8));
        assert_eq!(line.pop(0).map(|p| p.len()), Some(2));
        line.push(0, vec![0; 10]);
        assert_eq!(line.dropped(), 1, "room is free again");
    }

    proptest! {
        /// Every packet comes out once, in order, not before its delay is over.
        #[test]
        fn order_is_kept(steps in prop::collection::vec((0..20u64, 1..100usize), 1..50),
                         rate in prop::option::of(1_000..1_000_000u64)) {
            let one_way = Duration::from_nanos(50);
            let mut line = Line::new(Wire { one_way, bits_per_s: rate, ..Wire::default() });
            let mut now = 0;
            for (i, (wait, size)) in steps.iter().enumerate() {
                now += wait;
                let mut packet = vec![0; *size];
                packet.extend_from_slice(&now.to_be_bytes());
                packet.extend_from_slice(&(i as u64).to_be_bytes());
                line.push(now, packet);
            }
            for (i, (_, size)) in steps.iter().enumerate() {
                let due = line.due_ns().unwrap();
                prop_assert!(due == 0 || line.pop(due - 1).is_none());
                let packet = line.pop(due).unwrap();
                prop_assert_eq!(packet.len(), size + 16);
                let number = |at: usize| {
                    u64::from_be_bytes(packet[size + at..size + at + 8].try_into().unwrap())
                };
                prop_assert!(due >= number(0) + 50);
                prop_assert_eq!(number(8), i as u64);
            }
            prop_assert_eq!(line.due_ns(), None);
        }
    }
}
