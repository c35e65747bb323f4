//! Way of a message's packets through several elements.
//!
//! Each element receives a whole packet before it passes it on (store and forward), and serves one
//! after the other. So while one element serves a packet, the next one serves the packet before:
//! packets of equal size over elements that serve them at once take the time of all packets in the
//! slowest element, and of one packet in each of the others. In general, the begin of a packet's
//! service is the later of its arrival and the end of the service of the packet before; that is
//! computed packet by packet.
//!
//! The time of the last packet's arrival is the sum of services and delays on one chain of causes
//! (the critical path). The part of an element is its share of that chain, so that the parts of all
//! elements add up to the time of the whole message.

/// Passage of one packet through an element that is idle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hop {
    /// Time for which it occupies the element: packets after it wait so long. In nanoseconds.
    pub occupied_ns: f64,
    /// Time until it has left the element after that, in which other packets are served. Below 0
    /// only by what measuring left uncertain.
    pub delay_ns: f64,
}

impl Hop {
    /// Time from the packet's arrival until it has left, in nanoseconds.
    #[must_use]
    pub fn whole_ns(&self) -> f64 {
        self.occupied_ns + self.delay_ns
    }
}

/// Passage of all packets through one element.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Of each packet, in their order.
    pub hops: Vec<Hop>,
    /// Share of the time for which other traffic occupies the element. Packets of others that arrive
    /// between two of the message are served between them.
    pub utilisation: f64,
}

/// Limit of the number of packets on their way.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Packets that are sent before the first acknowledgement, 2 or more. Each acknowledged packet
    /// lets two more go (slow start, RFC 5681 §3.1); every second one is acknowledged (RFC 1122
    /// §4.2.3.2).
    pub packets: u32,
    /// Time of an acknowledgement in each element on its way back, in nanoseconds.
    pub acknowledgement_ns: Vec<f64>,
}

/// A point in time, and the elements that it is made of.
#[derive(Clone, Debug)]
struct Moment {
    at_ns: f64,
    parts_ns: Vec<f64>,
}

impl Moment {
    fn begin(elements: usize) -> Self {
        Self { at_ns: 0.0, parts_ns: vec![0.0; elements] }
    }

    fn add(&mut self, element: usize, ns: f64) {
        self.at_ns += ns;
        self.parts_ns[element] += ns;
    }
}

/// Part of each element in the time from the begin of a message until its last packet has arrived,
/// in nanoseconds; their sum is that time. All elements have as many hops.
#[must_use]
pub fn transit(elements: &[Passage], window: Option<&Window>) -> Vec<f64> {
    let packets = elements.iter().map(|element| element.hops.len()).min().unwrap_or(0);
    let mut lanes: Vec<Option<Lane>> = vec![None; elements.len()];
    let mut arrived: Vec<Moment> = Vec::new();
    for packet in 0..packets {
        let mut now = match window {
            Some(window) => window.opens(packet, &arrived, elements.len()),
            None => Moment::begin(elements.len()),
        };
        for (index, element) in elements.iter().enumerate() {
            let enters_ns = now.at_ns;
            if let Some(before) = &lanes[index] {
                before.wait(&mut now, index, element.utilisation);
            }
            now.add(index, element.hops[packet].occupied_ns);
            lanes[index] = Some(Lane { entered_ns: enters_ns, free: now.clone() });
            now.add(index, element.hops[packet].delay_ns);
        }
        arrived.push(now);
    }
    arrived.pop().map_or_else(|| vec![0.0; elements.len()], |last| last.parts_ns)
}

/// An element after a packet.
#[derive(Clone, Debug)]
struct Lane {
    /// Time when that packet came.
    entered_ns: f64,
    /// End of its service.
    free: Moment,
}

impl Lane {
    /// Moves `now`, the arrival of a packet, to the begin of its service: behind the packet before,
    /// and behind those of others that arrived between the two.
    fn wait(&self, now: &mut Moment, element: usize, utilisation: f64) {
        let others_ns = utilisation * (now.at_ns - self.entered_ns).max(0.0);
        if self.free.at_ns + others_ns > now.at_ns {
            *now = self.free.clone();
            now.add(element, others_ns);
        }
    }
}

impl Window {
    /// Time when a packet, counted from 0, may be sent.
    fn opens(&self, packet: usize, arrived: &[Moment], elements: usize) -> Moment {
        let first = usize::try_from(self.packets).unwrap_or(usize::MAX).max(2);
        if packet < first {
            return Moment::begin(elements);
        }
        // `first + acknowledged` may be on their way: 2 × acknowledged + first are sent in all.
        let acknowledged = (packet + 1 - first).div_ceil(2).next_multiple_of(2);
        let Some(at) = arrived.get(acknowledged.min(arrived.len()) - 1) else {
            return Moment::begin(elements);
        };
        let mut at = at.clone();
        for (element, ns) in self.acknowledgement_ns.iter().enumerate().take(elements) {
            at.add(element, *ns);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passage(services: &[f64], delay_ns: f64) -> Passage {
        let hop = |occupied_ns: &f64| Hop { occupied_ns: *occupied_ns, delay_ns };
        Passage { hops: services.iter().map(hop).collect(), utilisation: 0.0 }
    }

    fn total(elements: &[Passage]) -> f64 {
        transit(elements, None).iter().sum()
    }

    /// Ten packets over three links: all on one of them, one on each of the others.
    #[test]
    fn packets_of_a_message_follow_each_other() {
        let link = passage(&[3.0; 10], 0.0);
        let links = [link.clone(), link.clone(), link];
        assert_eq!(total(&links), 30.0 + 3.0 + 3.0);
        // The slowest one has the whole message, wherever it is; delays come once.
        for slowest in 0..3 {
            let mut links: Vec<Passage> = vec![passage(&[3.0; 10], 100.0); 3];
            links[slowest] = passage(&[7.0; 10], 100.0);
            let parts = transit(&links, None);
            assert_eq!(parts[slowest], 170.0, "{parts:?}");
            assert_eq!(parts.iter().sum::<f64>(), 300.0 + 70.0 + 3.0 + 3.0);
        }
    }

    /// A short last packet catches up with the one before where the link is no slower.
    #[test]
    fn the_last_packet_is_shorter() {
        let link = passage(&[10.0, 1.0], 0.0);
        assert_eq!(total(&[link.clone(), link.clone(), link.clone()]), 31.0);
        let slow_first = passage(&[20.0, 2.0], 0.0);
        assert_eq!(total(&[slow_first, link]), 20.0 + 10.0 + 1.0);
    }

    /// The first element sees them all at once; behind it they come 10 apart, and an element that is
    /// half busy serves five of others' between.
    #[test]
    fn others_are_served_between() {
        let first = passage(&[10.0; 5], 0.0);
        let busy = |ns| Passage { utilisation: 0.5, ..passage(&[ns; 5], 0.0) };
        assert_eq!(total(&[first.clone(), busy(4.0)]), 54.0, "there is room for both");
        // Each further packet needs 8 and 5 of others: 3 more than it comes after.
        assert_eq!(total(&[first, busy(8.0)]), 10.0 + 8.0 + 4.0 * 13.0);
        assert_eq!(total(&[busy(8.0)]), 40.0, "nobody arrives between packets that come at once");
    }

    /// Two may go at once, then two more for each that is acknowledged.
    #[test]
    fn a_window_waits_for_acknowledgements() {
        let elements = [passage(&[1.0; 8], 50.0)];
        let window = Window { packets: 2, acknowledgement_ns: vec![50.0] };
        // 0 and 1 arrive at 51 and 52; their acknowledgement at 102 lets 2 to 5 go, the last of
        // which arrives at 156; 6 and 7 wait for that of 2 and 3, which arrive at 154.
        let parts = transit(&elements, Some(&window));
        assert_eq!(parts, [154.0 + 50.0 + 2.0 + 50.0]);
        let open = Window { packets: 8, ..window };
        assert_eq!(transit(&elements, Some(&open)), [58.0]);
    }

    #[test]
    fn nothing_takes_no_time() {
        assert_eq!(transit(&[], None), [0.0; 0]);
        assert_eq!(transit(&[passage(&[], 5.0)], None), [0.0]);
    }

    prop_compose! {
        fn elements()(count in 1..12_usize)(
            services in prop::collection::vec(prop::collection::vec(0.0..100.0_f64, count), 1..8),
            delay in 0.0..50.0_f64,
        ) -> Vec<Passage> {
            services.iter().map(|of| passage(of, delay)).collect()
        }
    }

    proptest! {
        /// Never less than the slowest element needs for all packets, or any packet for all
        /// elements; never more than one after the other.
        #[test]
        fn is_between_its_bounds(elements in elements()) {
            let of = |element: &Passage| element.hops.iter().map(|hop| hop.occupied_ns).sum::<f64>();
            let found = total(&elements);
            let delays: f64 = elements.iter().map(|element| element.hops[0].delay_ns).sum();
            let slowest = elements.iter().map(of).fold(0.0, f64::max);
            prop_assert!(found >= slowest + delays - 1e-9);
            for packet in 0..elements[0].hops.len() {
                let alone: f64 = elements.iter().map(|e| e.hops[packet].occupied_ns).sum();
                prop_assert!(found >= alone + delays - 1e-9);
            }
            prop_assert!(found <= elements.iter().map(of).sum::<f64>() + delays + 1e-9);
        }

        /// A message of one packet is in each element for as long as that one needs alone.
        #[test]
        fn one_packet_is_the_sum(elements in elements()) {
            let one: Vec<Passage> = elements
                .iter()
                .map(|element| Passage { hops: element.hops[..1].to_vec(), ..element.clone() })
                .collect();
            let expected: Vec<f64> =
                one.iter().map(|e| e.hops[0].occupied_ns + e.hops[0].delay_ns).collect();
            prop_assert_eq!(transit(&one, None), expected);
        }

        /// A further packet, other traffic and a window only make it longer.
        #[test]
        fn more_takes_longer(elements in elements(), busy in 0.0..0.9_f64, window in 2..12_u32) {
            let now = total(&elements);
            let more: Vec<Passage> = elements
                .iter()
                .map(|element| {
                    let mut more = element.clone();
                    more.hops.push(Hop { occupied_ns: 1.0, ..element.hops[0] });
                    more
                })
                .collect();
            prop_assert!(total(&more) >= now - 1e-9);
            let others: Vec<Passage> =
                elements.iter().map(|e| Passage { utilisation: busy, ..e.clone() }).collect();
            prop_assert!(total(&others) >= now - 1e-9);
            let acknowledgement_ns = vec![1.0; elements.len()];
            let window = Window { packets: window, acknowledgement_ns };
            prop_assert!(transit(&elements, Some(&window)).iter().sum::<f64>() >= now - 1e-9);
        }
    }
}
