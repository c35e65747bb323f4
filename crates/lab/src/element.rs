//! Effect of an element on packets: it serves one after the other, then delays each.

use chronoscope_statistics::Random;
use std::time::Duration;

/// Behaviour of a link, bridge or gateway in either direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// From one side to the other, after its turn has come: packets on their way do not hinder each
    /// other.
    pub delay: Duration,
    /// Each delay is longer by a random time, exponential with this mean. Packets do not overtake.
    pub jitter: Duration,
    /// Time for which each packet occupies the element, for any size.
    pub per_packet: Duration,
    /// And for its size: bits a second; `None`: no time.
    pub bits_per_s: Option<u64>,
    /// Other traffic in either direction.
    pub traffic: Option<Traffic>,
    /// Octets that may wait for their turn or be on their way, of real packets; beyond, packets are
    /// dropped.
    pub octets_max: usize,
}

impl Default for Element {
    /// No delay, no rate, no other traffic, 64 MiB.
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            per_packet: Duration::ZERO,
            bits_per_s: None,
            traffic: None,
            octets_max: 64 << 20,
        }
    }
}

/// Packets of others: only the time for which they occupy the element is real. They arrive at
/// random (Poisson), and their sizes are distributed exponentially.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// Share of the time for which they occupy the element, in `[0, 1)`.
    pub utilisation: f64,
    /// Mean size, in octets.
    pub octets: f64,
}

/// One direction of an element.
#[derive(Clone, Debug)]
pub struct Lane {
    element: Element,
    random: Random,
    /// Time when it has served all accepted packets.
    free_ns: u64,
    /// Time when the last packet leaves it.
    last_ns: u64,
    /// Time when the next packet of other traffic arrives.
    next_other_ns: f64,
    waiting_octets: usize,
    dropped: u64,
}

impl Lane {
    /// Idle, with random numbers that are the same for the same seed.
    #[must_use]
    pub fn new(element: Element, seed: u64) -> Self {
        let mut lane = Self {
            element,
            random: Random(seed),
            free_ns: 0,
            last_ns: 0,
            next_other_ns: f64::INFINITY,
            waiting_octets: 0,
            dropped: 0,
        };
        if lane.other_ns().is_some_and(|(_, apart_ns)| apart_ns.is_finite()) {
            lane.next_other_ns = 0.0;
        }
        lane
    }

    /// A packet enters at `now_ns`, not before any other did; when it leaves. `None`: it is dropped
    /// as there is no room.
    pub fn enter(&mut self, now_ns: u64, octets: usize) -> Option<u64> {
        if self.waiting_octets + octets > self.element.octets_max {
            self.dropped += 1;
            return None;
        }
        self.serve_others(now_ns);
        self.waiting_octets += octets;
        self.free_ns = self.free_ns.max(now_ns) + self.service_ns(octets as f64);
        let jitter_ns = self.random.exponential(self.element.jitter.as_nanos() as f64);
        let leaves_ns = self.free_ns + nanoseconds(self.element.delay) + whole(jitter_ns);
        self.last_ns = self.last_ns.max(leaves_ns);
        Some(self.last_ns)
    }

    /// Changes the behaviour from now on; accepted packets leave as they would have.
    pub fn change(&mut self, now_ns: u64, element: Element) {
        self.serve_others(now_ns);
        self.element = element;
        let busy = self.other_ns().is_some_and(|(_, apart_ns)| apart_ns.is_finite());
        self.next_other_ns = match busy {
            true if self.next_other_ns.is_finite() => self.next_other_ns,
            true => now_ns as f64,
            false => f64::INFINITY,
        };
    }

    /// A packet that entered has left.
    pub fn leave(&mut self, octets: usize) {
        self.waiting_octets = self.waiting_octets.saturating_sub(octets);
    }

    /// Packets that found no room.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Time for which a packet occupies it.
    fn service_ns(&self, octets: f64) -> u64 {
        let bits_ns = |rate: u64| octets * 8.0 * 1e9 / rate.max(1) as f64;
        nanoseconds(self.element.per_packet) + whole(self.element.bits_per_s.map_or(0.0, bits_ns))
    }

    /// Mean size of others' packets, and the mean time between them.
    fn other_ns(&self) -> Option<(f64, f64)> {
        let traffic = self.element.traffic.filter(|traffic| traffic.utilisation > 0.0)?;
        Some((traffic.octets, self.service_ns(traffic.octets) as f64 / traffic.utilisation))
    }

    /// Serves packets of other traffic that arrived before `now_ns`.
    fn serve_others(&mut self, now_ns: u64) {
        let Some((mean_octets, apart_ns)) = self.other_ns().filter(|(_, apart)| *apart > 0.0)
        else {
            return;
        };
        // Packets long ago have no effect: after so many intervals between two, a queue that is not
        // overloaded was empty.
        const REMEMBERED: f64 = 100_000.0;
        self.next_other_ns = self.next_other_ns.max(now_ns as f64 - REMEMBERED * apart_ns);
        while self.next_other_ns <= now_ns as f64 {
            let octets = self.random.exponential(mean_octets);
            let begins_ns = self.free_ns.max(whole(self.next_other_ns));
            self.free_ns = begins_ns + self.service_ns(octets);
            self.next_other_ns += self.random.exponential(apart_ns);
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 4)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` keeps to the range
fn whole(ns: f64) -> u64 {
    ns as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_rate_is_a_queue_and_a_delay_is_not() {
        let delay = Duration::from_millis(5);
        let mut lane =
            Lane::new(Element { delay, bits_per_s: Some(1_000_000), ..Element::default() }, 1);
        assert_eq!(lane.enter(0, 1250), Some(15 * MS));
        assert_eq!(lane.enter(0, 1250), Some(25 * MS));
        assert_eq!(lane.enter(100 * MS, 1250), Some(115 * MS), "an idle element owes nothing");
    }

    #[test]
    fn a_changed_element_is_another_from_then_on() {
        let delay = |ms| Element { delay: Duration::from_millis(ms), ..Element::default() };
        let mut lane = Lane::new(delay(5), 1);
        assert_eq!(lane.enter(0, 100), Some(5 * MS));
        lane.change(10 * MS, delay(7));
        assert_eq!(lane.enter(10 * MS, 100), Some(17 * MS));
        // Busy from then on: someone waits.
        let traffic = Some(Traffic { utilisation: 0.9, octets: 12_500.0 });
        let busy = Element { bits_per_s: Some(1_000_000), traffic, ..delay(0) };
        lane.change(20 * MS, busy);
        let later = 20_000 * MS;
        assert!(
            (1..=100).any(|n| lane.enter(later + n * 1000 * MS, 0) != Some(later + n * 1000 * MS))
        );
        // And not from then on.
        let last = lane.enter(200_000 * MS, 0).unwrap();
        lane.change(last, delay(1));
        assert_eq!(lane.enter(last + 900_000 * MS, 100), Some(last + 900_001 * MS));
    }

    #[test]
    fn what_has_no_room_is_dropped_and_counted() {
        let mut lane = Lane::new(Element { octets_max: 10, ..Element::default() }, 1);
        assert!(lane.enter(0, 8).is_some());
        assert!(lane.enter(0, 3).is_none());
        lane.leave(8);
        assert!(lane.enter(0, 10).is_some());
        assert_eq!(lane.dropped(), 1);
    }

    /// Arrivals that look at random see the mean wait of M/M/1: ρ E\[S\] / (1 − ρ).
    #[test]
    fn others_are_waited_for() {
        for utilisation in [0.5, 0.8] {
            let traffic = Some(Traffic { utilisation, octets: 125.0 });
            let element = Element { bits_per_s: Some(1_000_000), traffic, ..Element::default() };
            let mut lane = Lane::new(element, 7);
            let mut look = Random(3);
            let (mut now_ns, mut wait_ns, rounds) = (0, 0.0, 40_000);
            for _ in 0..rounds {
                now_ns += whole(look.exponential(200.0 * MS as f64));
                wait_ns += (lane.enter(now_ns, 0).unwrap() - now_ns) as f64;
            }
            let expected = utilisation * MS as f64 / (1.0 - utilisation);
            let found = wait_ns / f64::from(rounds);
            assert!((found - expected).abs() < 0.05 * expected, "{found} for {expected}");
        }
    }

    proptest! {
        /// Nothing overtakes, and nothing leaves before its delay is over.
        #[test]
        fn order_is_kept(
            steps in prop::collection::vec((0..5000u64, 0..100usize), 1..50),
            jitter in 0..3000u64,
            rate in prop::option::of(1_000_000..1_000_000_000u64),
            utilisation in 0.0..0.9,
        ) {
            let element = Element {
                delay: Duration::from_nanos(50),
                jitter: Duration::from_nanos(jitter),
                bits_per_s: rate,
                traffic: Some(Traffic { utilisation, octets: 50.0 }),
                ..Element::default()
            };
            let (mut lane, mut now, mut last) = (Lane::new(element, 1), 0, 0);
            for (wait, octets) in steps {
                now += wait;
                let leaves = lane.enter(now, octets).unwrap();
                prop_assert!(leaves >= now + 50 && leaves >= last);
                last = leaves;
            }
        }
    }
}
