//! Elements of a path, each with its part in the round trip of a message.

use super::element::{Characteristic, Delay, Jitter};
use super::message::{ACKNOWLEDGEMENT, MTU, Message, Transport};
use super::queue::UTILISATION_MAX;
use super::topology::{ElementKind, ElementType, PathStep, Service, Topology, TopologyError};
use super::transit::{Hop, Passage, Window, transit};

/// One element on a path, and its utilisation.
#[derive(Clone, Debug, PartialEq)]
pub struct PathElement {
    /// Name of the element; of both hosts at the ends, joined by a comma.
    pub name: String,
    /// Kind of the element.
    pub kind: ElementKind,
    /// Name of its type.
    pub type_name: String,
    /// Delay in a round trip of all packets of the message, when it is idle.
    pub delay: Delay,
    /// Service time of other traffic.
    pub service: Option<Service>,
    /// Share of the time in which other traffic occupies it, on the way of the request and of the
    /// reply.
    pub utilisation: [f64; 2],
    /// By how much either share may be wrong.
    pub utilisation_error: f64,
}

/// A hypothetical change to a path, for a what-if prediction.
#[derive(Clone, Debug, PartialEq)]
pub enum PathChange {
    /// The element of this name is replaced by one of that type.
    Replace {
        /// Name of the element.
        element: String,
        /// Name of the type.
        by: String,
    },
    /// One more element of this type is on the way.
    Add {
        /// Name of the type.
        type_name: String,
    },
    /// All utilisations are multiplied by a factor.
    Load {
        /// The factor.
        factor: f64,
    },
}

/// The elements between two hosts for a request and a reply, with `changes` made in their order.
/// Both hosts come first, as one: half a round trip on one and half on the other.
///
/// # Errors
/// [`TopologyError`]: a name that is not there, or no way.
pub fn parts(
    topology: &Topology,
    from: &str,
    to: &str,
    message: impl Into<Message>,
    changes: &[PathChange],
) -> Result<Vec<PathElement>, TopologyError> {
    let message = message.into();
    let mut elements = vec![ends(topology, from, to)?];
    elements.extend(topology.way(from, to)?.iter().map(|step| Element::on_the_way(topology, step)));
    for change in changes {
        apply(&mut elements, change, topology)?;
    }
    let types: Vec<Vec<&ElementType>> =
        elements.iter().map(|element| element.types(topology)).collect::<Result<_, _>>()?;
    let mtu = types[1..].iter().flatten().filter_map(|kind| kind.mtu).min().unwrap_or(MTU);
    let mut parts: Vec<PathElement> = elements
        .into_iter()
        .zip(&types)
        .map(|(element, types)| element.part(types, message.octets))
        .collect();
    carry(&mut parts[1..], &types[1..], message, mtu);
    Ok(parts)
}

/// The largest packet of the path between two hosts, in octets.
///
/// # Errors
/// [`TopologyError`]: a name that is not there, or no way.
pub fn mtu(topology: &Topology, from: &str, to: &str) -> Result<u32, TopologyError> {
    let mut smallest = None;
    for step in topology.way(from, to)? {
        for kind in Element::on_the_way(topology, &step).types(topology)? {
            smallest = smallest.into_iter().chain(kind.mtu).min();
        }
    }
    Ok(smallest.unwrap_or(MTU))
}

/// Sets the delay of each element between the hosts to its part in the time of all packets of a
/// request and of its reply.
fn carry(parts: &mut [PathElement], types: &[Vec<&ElementType>], message: Message, mtu: u32) {
    let packets = message.packets(mtu);
    let known: Vec<Passes<'_>> = types.iter().map(|types| Passes::new(types[0], mtu)).collect();
    let one_way = |direction: usize| -> Vec<Passage> {
        let passage = |(passes, part): (&Passes<'_>, &PathElement)| Passage {
            hops: passes.hops(&packets),
            utilisation: part.utilisation[direction].min(UTILISATION_MAX),
        };
        known.iter().zip(&*parts).map(passage).collect()
    };
    let (there, mut back) = (one_way(0), one_way(1));
    back.reverse();
    let acknowledged = |of: Vec<f64>| match message.transport {
        Transport::Tcp { window: Some(packets) } => {
            Some(Window { packets, acknowledgement_ns: of })
        }
        _ => None,
    };
    let mut acknowledgement: Vec<f64> =
        known.iter().map(|passes| passes.hop(ACKNOWLEDGEMENT).whole_ns()).collect();
    let request_ns = transit(&there, acknowledged(acknowledgement.clone()).as_ref());
    acknowledgement.reverse();
    let reply_ns = transit(&back, acknowledged(acknowledgement).as_ref());
    for (part, (there, back)) in parts.iter_mut().zip(request_ns.iter().zip(reply_ns.iter().rev()))
    {
        part.delay.fixed_ns = there + back;
    }
}

/// Passage of packets through elements of a type while they are idle.
pub(super) struct Passes<'a> {
    of: &'a ElementType,
    characteristic: Characteristic,
    mtu: u32,
}

impl<'a> Passes<'a> {
    pub(super) fn new(of: &'a ElementType, mtu: u32) -> Self {
        Self { of, characteristic: of.characteristic(), mtu }
    }

    /// Of each packet; all but the last are equally long.
    pub(super) fn hops(&self, packets: &[u32]) -> Vec<Hop> {
        let Some((last, full)) = packets.split_last() else { return Vec::new() };
        let full = full.first().map(|octets| vec![self.hop(*octets); full.len()]);
        full.into_iter().flatten().chain([self.hop(*last)]).collect()
    }

    /// Of one packet. It occupies the element for at most its whole time there: for what depends on
    /// its size, and the time of each packet; or for as long as other traffic's packets do.
    fn hop(&self, octets: u32) -> Hop {
        let octets = f64::from(octets);
        let whole_ns = self.characteristic.packet_ns(octets, self.mtu) / 2.0;
        let own_ns = match &self.characteristic {
            Characteristic::Entered(entered) => entered.packet_ns(octets),
            Characteristic::Measured { .. } => {
                let empty_ns = self.characteristic.packet_ns(0.0, self.mtu) / 2.0;
                self.of.packet_us.unwrap_or(0.0) * 1e3 + (whole_ns - empty_ns).max(0.0)
            }
        };
        let as_others = |service: Service| (service.packet_us + service.octet_us * octets) * 1e3;
        let occupied_ns = own_ns.max(self.of.service.map_or(0.0, as_others));
        let occupied_ns = occupied_ns.clamp(0.0, whole_ns.max(0.0));
        Hop { occupied_ns, delay_ns: whole_ns - occupied_ns }
    }
}

/// An element on the way, before its delay is looked up.
struct Element {
    name: String,
    /// Type of the element; of the two ends, each one's.
    types: Vec<String>,
    utilisation: [f64; 2],
    utilisation_error: f64,
}

fn ends(topology: &Topology, from: &str, to: &str) -> Result<Element, TopologyError> {
    let mut types = vec![topology.host(from)?.type_name.clone()];
    types.push(topology.host(to)?.type_name.clone());
    let name = if from == to { from.to_owned() } else { format!("{from}, {to}") };
    Ok(Element { name, types, utilisation: [0.0; 2], utilisation_error: 0.0 })
}

fn apply(
    elements: &mut Vec<Element>,
    change: &PathChange,
    topology: &Topology,
) -> Result<(), TopologyError> {
    const BY: &str = "the change";
    match change {
        PathChange::Replace { element, by } => {
            topology.type_of(BY, by)?;
            // A host at an end stands with the other one.
            let ends: Vec<String> = elements[0].name.split(", ").map(str::to_owned).collect();
            if let Some(end) = ends.iter().position(|end| end == element) {
                elements[0].types[end] = by.clone();
                return Ok(());
            }
            let known = || {
                let others = elements[1..].iter().map(|element| element.name.clone());
                ends.iter().cloned().chain(others).collect()
            };
            match elements.iter().position(|candidate| candidate.name == *element) {
                Some(found) => elements[found].types = vec![by.clone()],
                None => {
                    return Err(TopologyError::Unknown {
                        by: BY.to_owned(),
                        what: "element",
                        name: element.clone(),
                        known: known(),
                    });
                }
            }
        }
        PathChange::Add { type_name } => {
            topology.type_of(BY, type_name)?;
            let name = format!("new {type_name}");
            let types = vec![type_name.clone()];
            let utilisation = [0.0; 2];
            elements.push(Element { name, types, utilisation, utilisation_error: 0.0 });
        }
        PathChange::Load { factor } => {
            for element in elements {
                element.utilisation = element.utilisation.map(|share| share * factor.max(0.0));
                element.utilisation_error *= factor.max(0.0);
            }
        }
    }
    Ok(())
}

impl Element {
    fn on_the_way(topology: &Topology, step: &PathStep<'_>) -> Self {
        let (name, type_name, utilisation, utilisation_error) = match step {
            PathStep::Segment(name) => {
                let segment = &topology.segments[*name];
                (name, &segment.type_name, segment.utilisation, segment.utilisation_error)
            }
            PathStep::Joint(name) => {
                let joint = &topology.joints[*name];
                (name, &joint.type_name, joint.utilisation, joint.utilisation_error)
            }
        };
        let (name, types) = ((*name).to_owned(), vec![type_name.clone()]);
        Self { name, types, utilisation: utilisation.each(), utilisation_error }
    }

    fn types<'a>(&self, topology: &'a Topology) -> Result<Vec<&'a ElementType>, TopologyError> {
        self.types.iter().map(|name| topology.type_of(&self.name, name)).collect()
    }

    /// The element by itself.
    fn part(self, types: &[&ElementType], octets: u32) -> PathElement {
        let mut delays: Vec<Delay> =
            types.iter().map(|kind| kind.characteristic().delay(octets)).collect();
        let mut names = self.types;
        names.dedup();
        let delay = match (delays.pop(), delays.pop()) {
            (Some(to), Some(from)) if names.len() > 1 => half_of_each(&from, &to),
            (Some(delay), _) => delay,
            (None, _) => Delay { fixed_ns: 0.0, jitter: None },
        };
        PathElement {
            name: self.name,
            kind: types[0].kind,
            type_name: names.join(", "),
            delay,
            service: types[0].service,
            utilisation: self.utilisation,
            utilisation_error: self.utilisation_error,
        }
    }
}

/// Half of one host's round trip and half of another's. Slow moments of the two are taken to come
/// together, which is on the safe side.
fn half_of_each(a: &Delay, b: &Delay) -> Delay {
    const POINTS: u16 = 200;
    let at = |delay: &Delay, point: u16| {
        let jitter = delay.jitter.as_ref().map_or(&[][..], |jitter| &jitter.with_ns);
        let rank = usize::from(point) * jitter.len() / usize::from(POINTS);
        jitter.get(rank).copied().unwrap_or(0.0)
    };
    let fixed_ns = (a.fixed_ns + b.fixed_ns) / 2.0;
    if a.jitter.is_none() && b.jitter.is_none() {
        return Delay { fixed_ns, jitter: None };
    }
    let with_ns = (0..POINTS).map(|point| (at(a, point) + at(b, point)) / 2.0).collect();
    Delay { fixed_ns, jitter: Some(Jitter { with_ns, without_ns: Vec::new() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Three links of the document's rate, and what lies between.
    fn rings(joint: &str) -> Topology {
        let text = format!(
            "[types]\npc = {{ kind = \"host\" }}\nring = {{ kind = \"link\", rate_bits = 4e6 }}\n\
             gw = {{ kind = \"gateway\"{joint} }}\n[segments]\na = {{ type = \"ring\" }}\n\
             b = {{ type = \"ring\" }}\nc = {{ type = \"ring\" }}\n[joints]\n\
             one = {{ type = \"gw\", joins = [\"a\", \"b\"] }}\n\
             two = {{ type = \"gw\", joins = [\"b\", \"c\"] }}\n[hosts]\n\
             x = {{ type = \"pc\", segment = \"a\" }}\ny = {{ type = \"pc\", segment = \"c\" }}\n"
        );
        Topology::read(&text, None).unwrap()
    }

    fn round_trip_ns(topology: &Topology, message: impl Into<Message>) -> f64 {
        let parts = parts(topology, "x", "y", message, &[]).unwrap();
        parts.iter().map(|part| part.delay.fixed_ns).sum()
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1.0, "{found} for {expected}");
    }

    /// Serialisation of so many octets on one ring, in nanoseconds.
    fn ring_ns(octets: u32) -> f64 {
        f64::from(octets) * 2000.0
    }

    /// 14,000 octets are ten packets of 14,208 octets: not 168 ms, the whole message on each ring
    /// both ways, but the whole message on one and one packet on each of the others.
    #[test]
    fn packets_of_a_long_message_follow_each_other() {
        let topology = rings("");
        near(round_trip_ns(&topology, 14_000), 2.0 * (ring_ns(14_208) + 2.0 * ring_ns(1500)));
        near(round_trip_ns(&topology, 64), 6.0 * ring_ns(92));
        let tcp = Message { octets: 14_000, transport: Transport::Tcp { window: None } };
        let segments = ring_ns(14_004 + 10 * 52);
        near(round_trip_ns(&topology, tcp), 2.0 * (segments + 2.0 * ring_ns(1500)));
    }

    /// A gateway's program handles each packet: in each direction nine times 5 ms more.
    #[test]
    fn time_for_each_packet_is_passed_by_each() {
        let slow = rings(", packet_us = 5000");
        let expected = 2.0 * (3.0 * ring_ns(1500) + 2.0 * 5e6 + 8.0 * 5e6 + 5e6);
        let found = round_trip_ns(&slow, 14_000);
        // The last packet is shorter, and the last ring is done with it earlier.
        near(found, expected - 2.0 * (ring_ns(1500) - ring_ns(708)));
        let delayed = rings(", delay_us = 10_000");
        let rings_ns = 2.0 * (ring_ns(14_208) + 2.0 * ring_ns(1500));
        near(round_trip_ns(&delayed, 14_000), rings_ns + 2.0 * 10e6);
        // As long as others' packets occupy it, within its delay.
        let served = rings(", delay_us = 10_000, service = { packet_us = 5000, octets = 300 }");
        near(round_trip_ns(&served, 14_000), found);
        near(round_trip_ns(&served, 64), 6.0 * ring_ns(92) + 2.0 * 10e6);
    }

    #[test]
    fn the_smallest_packet_of_the_path_counts() {
        let topology = rings(", mtu = 576");
        assert_eq!(mtu(&topology, "x", "y"), Ok(576));
        assert_eq!(mtu(&topology, "x", "x"), Ok(MTU));
        let packets = Message::from(1400).packets(576);
        let all: u32 = packets.iter().sum();
        near(round_trip_ns(&topology, 1400), 2.0 * (ring_ns(all) + 2.0 * ring_ns(packets[0])));
    }

    /// A connection that has rested: ten packets, then twenty for each ten acknowledged.
    #[test]
    fn a_small_window_waits_on_a_long_path() {
        let far = rings(", delay_us = 200_000");
        let tcp = |window| Message { octets: 64_000, transport: Transport::Tcp { window } };
        let open = round_trip_ns(&far, tcp(None));
        let rested = round_trip_ns(&far, tcp(Some(10)));
        // A round trip of gateways of 2 × 200 ms for the first acknowledgement in each direction,
        // less what the first ten packets take in any case.
        assert!(rested > open + 2.0 * 300e6, "{rested} {open}");
        near(round_trip_ns(&far, tcp(Some(64))), open);
    }

    /// What elements add to one packet is a sum: measured types are as they were measured.
    #[test]
    fn measured_elements_carry_long_messages() {
        let measured = "[types.gw]\nkind = \"gateway\"\npacket_us = 1000\n\
                        measured = [{ octets = 472, with_ns = [14_000_000], without_ns = [0] }, \
                        { octets = 972, with_ns = [18_000_000], without_ns = [0] }]\n";
        let mut topology = rings("");
        topology.types.extend(Topology::read(measured, None).unwrap().types);
        // 4 µs an octet each way and 5 ms: of that 1 ms for each packet.
        near(round_trip_ns(&topology, 472), 6.0 * ring_ns(500) + 2.0 * 14e6);
        let one = 5e6 + 1500.0 * 4000.0;
        let last = 1e6 + 708.0 * 4000.0;
        let further = 8.0 * 7e6 + last;
        let way = 3.0 * ring_ns(1500) - (ring_ns(1500) - ring_ns(708)) + 2.0 * one + further;
        near(round_trip_ns(&topology, 14_000), 2.0 * way);
    }

    /// The model before: each element passes on the message as a whole.
    fn whole_ns(topology: &Topology, octets: u32) -> f64 {
        let rate = |name: &str| topology.types[name].rate_bits.unwrap_or(0.0);
        let gateway = topology.types["gw"].delay_us.unwrap_or(0.0) * 1e3;
        3.0 * 16e9 * f64::from(octets) / rate("ring") + 2.0 * gateway
    }

    proptest! {
        /// Never less than the slowest link's serialisation both ways; what it was before where there
        /// is one packet; and less than that, headers included, where there are more.
        #[test]
        fn bounds(octets in 0..65_507_u32, delay in 0..50_000_u32) {
            let topology = rings(&format!(", delay_us = {delay}"));
            let found = round_trip_ns(&topology, octets);
            let packets = Message::from(octets).packets(MTU);
            let all = packets.iter().sum();
            prop_assert!(found >= 2.0 * ring_ns(all) + 2e3 * f64::from(delay) - 1.0);
            if packets.len() == 1 {
                prop_assert!((found - whole_ns(&topology, all)).abs() < 1.0);
            } else {
                prop_assert!(found < whole_ns(&topology, all));
            }
        }

        /// More octets never take less time. Fragments carry multiples of 8: on links whose packets do
        /// not, one packet may be two octets longer than the first of two.
        #[test]
        fn monotone_in_length(
            octets in 0..60_000_u32,
            more in 1..5000_u32,
            mtu in (10..180_u32).prop_map(|n| n * 8 + 20),
            packet_us in 0..3000_u32,
            tcp in prop::option::of(prop::option::of(2..20_u32)),
        ) {
            let topology = rings(&format!(", mtu = {mtu}, packet_us = {packet_us}"));
            let transport = tcp.map_or(Transport::Udp, |window| Transport::Tcp { window });
            let of = |octets| round_trip_ns(&topology, Message { octets, transport });
            prop_assert!(of(octets + more) >= of(octets) - 1.0);
        }
    }
}
