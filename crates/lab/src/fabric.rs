//! Transport of packets between hosts: their paths and their times of arrival.

use crate::element::{Element, Lane};
use crate::packet;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::Ipv4Addr;

/// Plan of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Links that hosts and joints are on.
    pub segments: Vec<Element>,
    /// Bridges and gateways.
    pub joints: Vec<Joint>,
    /// Hosts: where each is reached, and the segment that it is on.
    pub hosts: Vec<(Ipv4Addr, usize)>,
}

/// A bridge or gateway.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Behaviour of the element.
    pub element: Element,
    /// Indices of the segments that it joins.
    pub joins: Vec<usize>,
    /// A gateway's address, from which it answers when a packet's time to live is used up; a bridge
    /// has none.
    pub address: Option<Ipv4Addr>,
}

/// Faults of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A segment does not exist.
    #[error("{what} {index} is on segment {segment}, which does not exist")]
    Segment {
        /// A host or joint.
        what: &'static str,
        /// Index of the segment.
        index: usize,
        /// Index of the segment.
        segment: usize,
    },
    /// Two hosts have the same address.
    #[error("two hosts have the address {0}")]
    Address(Ipv4Addr),
}

/// Packets on their way.
#[derive(Debug)]
pub struct Fabric {
    plan: Plan,
    hosts: HashMap<Ipv4Addr, usize>,
    lanes: HashMap<LaneId, Lane>,
    ways: HashMap<(usize, usize), Vec<Hop>>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    next_number: u64,
    lost: u64,
}

/// Direction of an element: a joint is left into one of its segments; on a segment every host and
/// joint hears all packets, so it has one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LaneId {
    Segment(usize),
    Joint { joint: usize, into: usize },
}

/// A lane on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hop {
    lane: LaneId,
    gateway: Option<Ipv4Addr>,
    /// The segment from which it is entered.
    from: usize,
}

/// A packet in an element, by when it leaves it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    leaves_ns: u64,
    /// Sequence number: packets that leave at the same time do so in the order of their arrival.
    number: u64,
    /// Source segment and destination host; `hop` is the present hop on the way.
    way: (usize, usize),
    hop: usize,
    packet: Vec<u8>,
}

impl Fabric {
    /// A fabric without packets.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn new(plan: Plan) -> Result<Self, PlanError> {
        let there = |what, index, segment: usize| match segment < plan.segments.len() {
            true => Ok(()),
            false => Err(PlanError::Segment { what, index, segment }),
        };
        let mut hosts = HashMap::new();
        for (index, (address, segment)) in plan.hosts.iter().enumerate() {
            there("host", index, *segment)?;
            if hosts.insert(*address, index).is_some() {
                return Err(PlanError::Address(*address));
            }
        }
        for (index, joint) in plan.joints.iter().enumerate() {
            joint.joins.iter().try_for_each(|segment| there("joint", index, *segment))?;
        }
        Ok(Self {
            plan,
            hosts,
            lanes: HashMap::new(),
            ways: HashMap::new(),
            waiting: BinaryHeap::new(),
            next_number: 0,
            lost: 0,
        })
    }

    /// Sends a packet from a host. A packet without a route is lost; one that is not IPv4 is
    /// ignored.
    pub fn send(&mut self, now_ns: u64, host: usize, packet: Vec<u8>) {
        let Some(&(_, segment)) = self.plan.hosts.get(host) else { return };
        self.start(now_ns, segment, packet);
    }

    fn start(&mut self, now_ns: u64, segment: usize, packet: Vec<u8>) {
        let Some((_, to)) = packet::ends(&packet) else { return };
        match self.hosts.get(&to).copied() {
            Some(to) if self.find_way(segment, to) => self.enter(now_ns, (segment, to), 0, packet),
            _ => self.lost += 1,
        }
    }

    /// The next packet that has arrived, and its host. Packets due before `now_ns` continue as if
    /// they had been processed in time.
    pub fn arrived(&mut self, now_ns: u64) -> Option<(usize, Vec<u8>)> {
        loop {
            self.waiting.peek().filter(|Reverse(first)| first.leaves_ns <= now_ns)?;
            let Reverse(first) = self.waiting.pop()?;
            let hops = &self.ways[&first.way];
            let (hop, is_last) = (hops[first.hop], first.hop + 1 == hops.len());
            if let Some(lane) = self.lanes.get_mut(&hop.lane) {
                lane.leave(first.packet.len());
            }
            if is_last {
                return Some((first.way.1, first.packet));
            }
            self.enter(first.leaves_ns, first.way, first.hop + 1, first.packet);
        }
    }

    /// A joint does something else from now on; whether there is such a joint.
    pub fn change_joint(&mut self, now_ns: u64, joint: usize, element: Element) -> bool {
        let Some(planned) = self.plan.joints.get_mut(joint) else { return false };
        planned.element = element;
        for (id, lane) in &mut self.lanes {
            if matches!(id, LaneId::Joint { joint: of, .. } if *of == joint) {
                lane.change(now_ns, element);
            }
        }
        true
    }

    /// Time when the next packet leaves an element.
    #[must_use]
    pub fn due_ns(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse(first)| first.leaves_ns)
    }

    /// Packets that found no room, or no way.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost + self.lanes.values().map(Lane::dropped).sum::<u64>()
    }

    fn enter(&mut self, now_ns: u64, way: (usize, usize), hop: usize, mut packet: Vec<u8>) {
        let Hop { lane: id, gateway, from } = self.ways[&way][hop];
        if let Some(address) = gateway
            && !packet::pass_gateway(&mut packet)
        {
            match packet::time_exceeded(&packet, address) {
                Some(answer) => self.start(now_ns, from, answer),
                None => self.lost += 1,
            }
            return;
        }
        let element = match id {
            LaneId::Segment(segment) => self.plan.segments[segment],
            LaneId::Joint { joint, .. } => self.plan.joints[joint].element,
        };
        let seed = self.lanes.len() as u64 + 1;
        let lane = self.lanes.entry(id).or_insert_with(|| Lane::new(element, seed));
        if let Some(leaves_ns) = lane.enter(now_ns, packet.len()) {
            let number = self.next_number;
            self.next_number += 1;
            self.waiting.push(Reverse(Waiting { leaves_ns, number, way, hop, packet }));
        }
    }

    /// Whether there is a way from a segment to a host; the one with the fewest joints is
    /// remembered.
    fn find_way(&mut self, from: usize, to: usize) -> bool {
        if self.ways.contains_key(&(from, to)) {
            return true;
        }
        let end = self.plan.hosts[to].1;
        let mut reached: HashMap<usize, Option<(usize, usize)>> = HashMap::from([(from, None)]);
        let mut next = VecDeque::from([from]);
        while let Some(segment) = next.pop_front() {
            let joints = self.plan.joints.iter().enumerate();
            for (index, joint) in joints.filter(|(_, joint)| joint.joins.contains(&segment)) {
                for further in &joint.joins {
                    if !reached.contains_key(further) {
                        reached.insert(*further, Some((segment, index)));
                        next.push_back(*further);
                    }
                }
            }
        }
        if !reached.contains_key(&end) {
            return false;
        }
        let mut hops = Vec::new();
        let mut at = end;
        loop {
            hops.push(Hop { lane: LaneId::Segment(at), gateway: None, from: at });
            let Some((before, joint)) = reached[&at] else { break };
            let gateway = self.plan.joints[joint].address;
            hops.push(Hop { lane: LaneId::Joint { joint, into: at }, gateway, from: before });
            at = before;
        }
        hops.reverse();
        self.ways.insert((from, to), hops);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    const MS: u64 = 1_000_000;
    const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);

    fn address(host: usize) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, u8::try_from(host).unwrap() + 1)
    }

    fn packet(from: usize, to: usize, ttl: u8, len: usize) -> Vec<u8> {
        let mut packet = vec![0; len];
        (packet[0], packet[8], packet[9]) = (0x45, ttl, 17);
        packet[12..16].copy_from_slice(&address(from).octets());
        packet[16..20].copy_from_slice(&address(to).octets());
        packet
    }

    fn delay(ms: u64) -> Element {
        Element { delay: Duration::from_millis(ms), ..Element::default() }
    }

    /// Hosts 0 and 1 on one segment, 2 on another behind a gateway, 3 on one that is not joined.
    fn fabric() -> Fabric {
        let gateway = Element { bits_per_s: Some(8_000_000), ..delay(5) }; // an octet in a microsecond
        let joint = Joint { element: gateway, joins: vec![0, 1], address: Some(GATEWAY) };
        Fabric::new(Plan {
            segments: vec![delay(1), delay(2), delay(0)],
            joints: vec![joint],
            hosts: vec![(address(0), 0), (address(1), 0), (address(2), 1), (address(3), 2)],
        })
        .unwrap()
    }

    #[test]
    fn delays_of_the_way_add_up() {
        let mut fabric = fabric();
        fabric.send(0, 0, packet(0, 1, 9, 100));
        fabric.send(0, 0, packet(0, 2, 9, 1000));
        fabric.send(0, 0, packet(0, 2, 9, 1000));
        assert_eq!(fabric.arrived(MS - 1), None);
        assert_eq!(fabric.arrived(MS).unwrap(), (1, packet(0, 1, 9, 100)));
        // 1 + 5 + 2 ms and 1 ms for its octets; the second waits for the first. Nobody looked
        // meanwhile, and still they are in time.
        assert_eq!(fabric.arrived(9 * MS - 1), None);
        let (host, arrived) = fabric.arrived(9 * MS).unwrap();
        assert_eq!((host, arrived[8], fabric.due_ns()), (2, 8, Some(10 * MS)));
        assert!(fabric.arrived(10 * MS).is_some());
        assert_eq!((fabric.due_ns(), fabric.lost()), (None, 0));
    }

    #[test]
    fn a_gateway_that_changes() {
        let mut fabric = fabric();
        fabric.send(0, 0, packet(0, 2, 9, 1000));
        assert!(fabric.change_joint(MS, 0, delay(20)));
        assert!(!fabric.change_joint(MS, 1, delay(20)));
        assert!(fabric.arrived(9 * MS).is_none(), "it enters at 1 ms, after the change");
        assert!(fabric.arrived(23 * MS).is_some());
    }

    #[test]
    fn a_gateway_answers_for_who_is_too_far() {
        let mut fabric = fabric();
        fabric.send(0, 0, packet(0, 2, 1, 100));
        let (host, answer) = fabric.arrived(u64::MAX).unwrap();
        assert_eq!((host, answer[20]), (0, 11));
        assert_eq!(packet::ends(&answer), Some((GATEWAY, address(0))));
    }

    #[test]
    fn what_leads_nowhere_is_lost_and_counted() {
        let mut fabric = fabric();
        fabric.send(0, 0, packet(0, 3, 9, 100));
        fabric.send(0, 0, packet(0, 77, 9, 100));
        fabric.send(0, 0, vec![1, 2, 3]);
        fabric.send(0, 99, packet(0, 1, 9, 100));
        assert_eq!((fabric.arrived(u64::MAX), fabric.lost()), (None, 2));
    }

    #[test]
    fn a_plan_is_looked_at() {
        let plan = Plan { hosts: vec![(address(0), 3)], ..Plan::default() };
        let error = PlanError::Segment { what: "host", index: 0, segment: 3 };
        assert_eq!(Fabric::new(plan).unwrap_err(), error);
        let hosts = vec![(address(0), 0), (address(0), 0)];
        let plan = Plan { segments: vec![delay(0)], hosts, ..Plan::default() };
        assert_eq!(Fabric::new(plan).unwrap_err(), PlanError::Address(address(0)));
    }

    proptest! {
        /// Every packet arrives once, at its host, and those of one way in their order.
        #[test]
        fn all_arrive(sent in prop::collection::vec((0usize..3, 0usize..3, 0u64..3000), 1..60)) {
            let (mut fabric, mut now_ns) = (fabric(), 0);
            for (number, (from, to, wait_ns)) in sent.iter().enumerate() {
                now_ns += wait_ns;
                let mut packet = packet(*from, *to, 9, 100);
                packet[99] = u8::try_from(number).unwrap();
                fabric.send(now_ns, *from, packet);
            }
            let mut came = Vec::new();
            while let Some((host, packet)) = fabric.arrived(u64::MAX / 2) {
                let (from, to, _) = sent[usize::from(packet[99])];
                prop_assert_eq!(host, to);
                came.push((from, to, packet[99]));
            }
            prop_assert_eq!(came.len(), sent.len());
            for (index, (from, to, number)) in came.iter().enumerate() {
                let later = &came[index + 1..];
                prop_assert!(!later.iter().any(|(f, t, n)| (f, t) == (from, to) && n < number));
            }
        }
    }
}
