//! Limit of a path: its links, a gateway, or a host.
//!
//! The document's conclusion was that "the bottle-neck of the communication system is not in the
//! hardware level of the TR but rather in the software or hardware of the hosts and gateways". Here
//! that is computed, once for requests and once for bulk data, with the numbers that say so.
//!
//! A round trip between two hosts is taken apart. Each host's part is half of a round trip between
//! two programs on it (the document's reference of a type of machine), or more, where the reply
//! takes longer than the making of a connection does: that is answered by the kernel alone, so the
//! difference is the server's. Gateways' and bridges' parts are those of their types in a topology.
//! What remains is the links'; without a topology, of the network: links and gateways.
//!
//! Bulk data is limited by a host, where the thread that sends or receives it computes more than
//! half of the time in which it is not kept from a processor ([`Cpu::wanted`]); else by the element
//! with the lowest capacity, where the transfer comes near it; else by the links, or the network.
//!
//! Not here: measuring ([`crate::survey`]).

use crate::answer::Cpu;
use crate::path::topology::{ElementKind, ElementType, PathStep, Topology, TopologyError};
use serde::Serialize;
use std::fmt;

/// A thread that computes for a larger share of its time is what limits a transfer: one that waits
/// for the network hardly does.
const HOST_SHARE: f64 = 0.5;
/// A transfer that reaches so much of an element's capacity is limited by it: frames and
/// acknowledgements take some.
const NEAR: f64 = 0.5;
/// Octets of a packet of bulk data.
const PACKET_OCTETS: u32 = 1448;

/// Location on a path: of a part of a round trip, or of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathLocation {
    /// A computer at one end: its hardware or software.
    Host,
    /// A link on the way.
    Link,
    /// A bridge on the way.
    Bridge,
    /// A gateway on the way.
    Gateway,
    /// Between the hosts: links or gateways, which cannot be told apart without a topology.
    Network,
}

impl fmt::Display for PathLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Host => "host",
            Self::Link => "link",
            Self::Bridge => "bridge",
            Self::Gateway => "gateway",
            Self::Network => "network",
        })
    }
}

/// A round trip of some size, in nanoseconds: the median of many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizedRoundTrip {
    /// Octets each way.
    pub octets: u32,
    /// Duration, in nanoseconds.
    pub ns: f64,
}

/// Round trips of two sizes, the smaller first.
pub type Sizes = [SizedRoundTrip; 2];

/// Measurements of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathMeasurements {
    /// Both hosts: the client and the server of the requests.
    pub hosts: [String; 2],
    /// Round trips between them.
    pub between: Sizes,
    /// Round trips between two programs on each of them.
    pub alone: [Option<Sizes>; 2],
    /// Time to establish a connection between them, in nanoseconds.
    pub connect_ns: Option<f64>,
    /// Bulk data from the first to the second, and back.
    pub bulk: [Option<Bulk>; 2],
}

/// Bulk data in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bulk {
    /// Speed, in bits per second.
    pub bits_per_s: f64,
    /// Processor time at both ends, in the order of the hosts.
    pub cpu: [Cpu; 2],
}

/// A bridge, gateway or link on the way, as far as a topology tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Name of the element.
    pub name: String,
    /// Kind of the element.
    pub kind: ElementKind,
    /// Part in a round trip, at both sizes, in nanoseconds; not used for links.
    pub ns: [f64; 2],
    /// Bits a second that it passes on at most; `None`: not known.
    pub bits_per_s: Option<f64>,
}

/// Part of one element in a round trip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundTripPart {
    /// Location of the part.
    pub place: PathLocation,
    /// Name of the element; of several links, their names.
    pub name: String,
    /// Part in a small round trip, in nanoseconds.
    pub ns: f64,
    /// Share of the round trip, in `[0, 1]`.
    pub share: f64,
    /// Part that does not depend on the size, in nanoseconds.
    pub request_ns: f64,
    /// Time that each octet adds, there and back, in nanoseconds.
    pub octet_ns: f64,
}

/// Limit of requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requests {
    /// Location of the largest part.
    pub place: PathLocation,
    /// Name of the element.
    pub name: String,
    /// The small round trip, in nanoseconds.
    pub round_trip_ns: f64,
    /// Parts of the round trip, the largest first.
    pub parts: Vec<RoundTripPart>,
}

/// Limit of bulk data in one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transfer {
    /// Location of the limit.
    pub place: PathLocation,
    /// Name of the element.
    pub name: String,
    /// Speed of the transfer, in bits per second.
    pub bits_per_s: f64,
    /// Bits a second that it could pass on, where that is known.
    pub capacity_bits_per_s: Option<f64>,
    /// Share of its time for which each host's thread computed ([`Cpu::wanted`]).
    pub wanted: [f64; 2],
    /// Share of each host's processors that was busy, where it is known.
    pub busy: [Option<f64>; 2],
}

/// Limits of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Limit of requests.
    pub requests: Requests,
    /// Bulk data from the first host to the second, and back; `None`: not measured.
    pub bulk: [Option<Transfer>; 2],
}

/// Finds the limits of a path with the known `elements`; `None`: there is no topology.
#[must_use]
pub fn verdict(seen: &PathMeasurements, elements: Option<&[Element]>) -> Verdict {
    let bulk = seen.bulk.map(|bulk| bulk.map(|bulk| transfer(seen, elements, &bulk)));
    Verdict { requests: requests(seen, elements), bulk }
}

/// Elements between two hosts of a topology, with their parts at the sizes of two round trips.
///
/// # Errors
/// [`TopologyError`]: an unknown name, or no path.
pub fn elements(
    topology: &Topology,
    from: &str,
    to: &str,
    sizes: [u32; 2],
) -> Result<Vec<Element>, TopologyError> {
    let way = topology.way(from, to)?;
    let of = |step: &PathStep<'_>| {
        let (name, type_name) = match step {
            PathStep::Segment(name) => (*name, &topology.segments[*name].type_name),
            PathStep::Joint(name) => (*name, &topology.joints[*name].type_name),
        };
        let element = &topology.types[type_name.as_str()];
        let delay = |octets| element.characteristic().delay(octets).fixed_ns;
        let ns = if element.kind == ElementKind::Link { [0.0; 2] } else { sizes.map(delay) };
        Element { name: name.to_owned(), kind: element.kind, ns, bits_per_s: capacity(element) }
    };
    Ok(way.iter().map(of).collect())
}

/// Bits a second that an element passes on, by all that is known of it.
fn capacity(element: &ElementType) -> Option<f64> {
    let delay = |octets| element.characteristic().delay(octets).fixed_ns;
    // A round trip passes every octet twice.
    let octet_ns = (delay(PACKET_OCTETS) - delay(64)) / f64::from(PACKET_OCTETS - 64) / 2.0;
    let by_delay = (octet_ns > 0.0).then(|| 8e9 / octet_ns);
    let octets = f64::from(PACKET_OCTETS);
    let by_service = element.service.and_then(|service| {
        let packet_us = service.packet_us + service.octet_us * octets;
        (packet_us > 0.0).then(|| octets * 8e6 / packet_us)
    });
    let rate = element.rate_bits.filter(|rate| *rate > 0.0);
    [rate, by_service, by_delay].into_iter().flatten().reduce(f64::min)
}

/// Splits a duration into a part that does not depend on the size, and one per octet.
fn split([small, large]: Sizes) -> (f64, f64) {
    let octets = f64::from(large.octets) - f64::from(small.octets);
    let octet_ns = if octets > 0.0 { ((large.ns - small.ns) / octets).max(0.0) } else { 0.0 };
    ((small.ns - octet_ns * f64::from(small.octets)).max(0.0), octet_ns)
}

/// Part of a small and of a large round trip.
struct Piece {
    place: PathLocation,
    name: String,
    ns: [f64; 2],
}

fn requests(seen: &PathMeasurements, elements: Option<&[Element]>) -> Requests {
    let mut pieces = hosts(seen);
    for element in elements.unwrap_or_default().iter().filter(|e| e.kind != ElementKind::Link) {
        let place = if element.kind == ElementKind::Bridge {
            PathLocation::Bridge
        } else {
            PathLocation::Gateway
        };
        let ns = element.ns.map(|ns| ns.max(0.0));
        pieces.push(Piece { place, name: element.name.clone(), ns });
    }
    let known = |size: usize| pieces.iter().map(|piece| piece.ns[size]).sum::<f64>();
    let rest = [0, 1].map(|size| (seen.between[size].ns - known(size)).max(0.0));
    let (place, name) = remains(elements);
    pieces.push(Piece { place, name, ns: rest });
    let whole: f64 = pieces.iter().map(|piece| piece.ns[0]).sum();
    let mut parts: Vec<RoundTripPart> = pieces
        .into_iter()
        .map(|Piece { place, name, ns }| {
            let sizes = [0, 1]
                .map(|size| SizedRoundTrip { octets: seen.between[size].octets, ns: ns[size] });
            let (request_ns, octet_ns) = split(sizes);
            let share = if whole > 0.0 { ns[0] / whole } else { 0.0 };
            RoundTripPart { place, name, ns: ns[0], share, request_ns, octet_ns }
        })
        .collect();
    parts.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    let first = parts.first().map(|part| (part.place, part.name.clone()));
    let (place, name) = first.unwrap_or((PathLocation::Network, String::new()));
    Requests { place, name, round_trip_ns: seen.between[0].ns, parts }
}

/// Both hosts' parts.
fn hosts(seen: &PathMeasurements) -> Vec<Piece> {
    let half = |host: usize, size: usize| {
        seen.alone[host].map_or(0.0, |alone| {
            let (request_ns, octet_ns) = split(alone);
            (request_ns + octet_ns * f64::from(seen.between[size].octets)) / 2.0
        })
    };
    let mut ns = [0, 1].map(|host| [0, 1].map(|size| half(host, size)));
    // What a program needs that the kernel does not: it is the server's, as the client is the same
    // trivial program in all of them.
    // A connection is made with next to no octets.
    let (request_ns, _) = split(seen.between);
    let own = seen.connect_ns.map_or(0.0, |connect_ns| request_ns - connect_ns);
    let more = (own - ns[0][0] - ns[1][0]).max(0.0);
    ns[1] = ns[1].map(|ns| ns + more);
    let named = seen.hosts.iter().zip(ns);
    named.map(|(name, ns)| Piece { place: PathLocation::Host, name: name.clone(), ns }).collect()
}

/// Location and name of the rest after hosts and gateways are subtracted.
fn remains(elements: Option<&[Element]>) -> (PathLocation, String) {
    let Some(elements) = elements else {
        return (PathLocation::Network, "between them".to_owned());
    };
    let links = elements.iter().filter(|element| element.kind == ElementKind::Link);
    let names: Vec<&str> = links.map(|element| element.name.as_str()).collect();
    (PathLocation::Link, names.join(", "))
}

fn transfer(seen: &PathMeasurements, elements: Option<&[Element]>, bulk: &Bulk) -> Transfer {
    let wanted = bulk.cpu.map(|cpu| cpu.wanted());
    let host = usize::from(wanted[1] > wanted[0]);
    let near =
        |element: &&Element| element.bits_per_s.is_some_and(|most| bulk.bits_per_s >= NEAR * most);
    let lowest = |a: &&Element, b: &&Element| {
        let capacity = |element: &Element| element.bits_per_s.unwrap_or(f64::INFINITY);
        capacity(a).total_cmp(&capacity(b))
    };
    let element = elements.unwrap_or_default().iter().filter(near).min_by(lowest);
    let (place, name, capacity_bits_per_s) = match element {
        _ if wanted[host] >= HOST_SHARE => (PathLocation::Host, seen.hosts[host].clone(), None),
        Some(element) => {
            let place = match element.kind {
                ElementKind::Host => PathLocation::Host,
                ElementKind::Link => PathLocation::Link,
                ElementKind::Bridge => PathLocation::Bridge,
                ElementKind::Gateway => PathLocation::Gateway,
            };
            (place, element.name.clone(), element.bits_per_s)
        }
        None => {
            let (place, name) = remains(elements);
            (place, name, None)
        }
    };
    let busy = bulk.cpu.map(|cpu| cpu.host_busy);
    Transfer { place, name, bits_per_s: bulk.bits_per_s, capacity_bits_per_s, wanted, busy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(request_us: f64, octet_ns: f64) -> Sizes {
        [64, 1400].map(|octets| SizedRoundTrip {
            octets,
            ns: request_us * 1e3 + octet_ns * f64::from(octets),
        })
    }

    fn cpu(thread_share: f64) -> Cpu {
        let thread_ns = thread_share * 1e9;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Cpu { wall_ns: 1_000_000_000, thread_ns: thread_ns as u64, ..Cpu::default() }
    }

    /// Two equal hosts of 100 µs, whatever is between them.
    fn seen(request_us: f64, octet_ns: f64) -> PathMeasurements {
        PathMeasurements {
            hosts: ["a", "b"].map(str::to_owned),
            between: sizes(100.0 + request_us, 1.0 + octet_ns),
            alone: [Some(sizes(100.0, 1.0)); 2],
            connect_ns: Some((100.0 + request_us) * 1e3),
            bulk: [None; 2],
        }
    }

    const TOPOLOGY: &str = r#"
        [types]
        pc = { kind = "host", delay_us = 100 }
        wire = { kind = "link", rate_bits = 1e9 }
        router = { kind = "gateway", delay_us = 20_000, rate_bits = 1e7 }
        [segments]
        near = { type = "wire" }
        far = { type = "wire" }
        [joints]
        gw = { type = "router", joins = ["near", "far"] }
        [hosts]
        a = { type = "pc", segment = "near" }
        b = { type = "pc", segment = "far" }
    "#;

    fn on_the_way() -> Vec<Element> {
        let topology = Topology::read(TOPOLOGY, None).unwrap();
        elements(&topology, "a", "b", [64, 1400]).unwrap()
    }

    #[test]
    fn a_gateway_that_takes_its_time_is_named() {
        let way = on_the_way();
        assert_eq!(way.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["near", "gw", "far"]);
        // 20 ms, and 1.6 µs for each octet and those of the headers there and back at 10 Mbit/s.
        assert!((way[1].ns[0] - 20.1472e6).abs() < 1.0, "{way:?}");
        let found = verdict(&seen(20_000.0, 1600.0), Some(&way)).requests;
        assert_eq!((found.place, found.name.as_str()), (PathLocation::Gateway, "gw"));
        assert!(found.parts[0].share > 0.98, "{found:?}");
        let shares: f64 = found.parts.iter().map(|part| part.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_neither_hosts_nor_gateways_take_is_the_links() {
        // A slow line: 40 ms more than the gateway without its headers, and 32 µs for each octet
        // there and back.
        let found = verdict(&seen(60_000.0, 33_600.0), Some(&on_the_way())).requests;
        assert_eq!((found.place, found.name.as_str()), (PathLocation::Link, "near, far"));
        let headers_ns = 28.0 * 1600.0;
        assert!((found.parts[0].request_ns - (40e6 - headers_ns)).abs() < 1e3, "{found:?}");
        assert!((found.parts[0].octet_ns - 32_000.0).abs() < 1.0, "{found:?}");
        let without = verdict(&seen(60_000.0, 33_600.0), None).requests;
        assert_eq!(without.place, PathLocation::Network, "not told apart");
    }

    #[test]
    fn slow_hosts_are_known_by_their_own_round_trips() {
        let mut seen = seen(20.0, 1.0);
        seen.alone = [Some(sizes(10.0, 0.0)), Some(sizes(180.0, 0.0))];
        seen.connect_ns = None;
        let found = verdict(&seen, None).requests;
        assert_eq!((found.place, found.name.as_str()), (PathLocation::Host, "b"));
        assert!(
            (found.parts[0].ns - 90_000.0).abs() < 1.0,
            "half of its own round trip: {found:?}"
        );
    }

    #[test]
    fn a_slow_server_is_known_by_its_kernel_being_fast() {
        let mut seen = seen(20_000.0, 0.0);
        seen.connect_ns = Some(150_000.0);
        let found = verdict(&seen, None).requests;
        assert_eq!((found.place, found.name.as_str()), (PathLocation::Host, "b"));
        assert!(found.parts[0].share > 0.98, "{found:?}");
    }

    #[test]
    fn a_host_that_computes_all_the_time_limits_bulk_data() {
        let mut seen = seen(20_000.0, 0.0);
        seen.bulk[0] = Some(Bulk { bits_per_s: 9e6, cpu: [cpu(0.1), cpu(0.97)] });
        let mut waits = cpu(0.2);
        waits.waited_ns = Some(700_000_000);
        seen.bulk[1] = Some(Bulk { bits_per_s: 9e6, cpu: [waits, cpu(0.1)] });
        let [there, back] = verdict(&seen, Some(&on_the_way())).bulk.map(Option::unwrap);
        assert_eq!((there.place, there.name.as_str()), (PathLocation::Host, "b"));
        assert_eq!(
            (back.place, back.name.as_str()),
            (PathLocation::Host, "a"),
            "others have its processor"
        );
    }

    #[test]
    fn the_lowest_capacity_that_is_reached_limits_bulk_data() {
        let mut seen = seen(20_000.0, 0.0);
        seen.bulk[0] = Some(Bulk { bits_per_s: 9e6, cpu: [cpu(0.01); 2] });
        seen.bulk[1] = Some(Bulk { bits_per_s: 2e6, cpu: [cpu(0.01); 2] });
        let [there, back] = verdict(&seen, Some(&on_the_way())).bulk.map(Option::unwrap);
        assert_eq!((there.place, there.capacity_bits_per_s), (PathLocation::Gateway, Some(1e7)));
        assert_eq!(back.place, PathLocation::Link, "far from what the gateway can");
        let without = verdict(&seen, None).bulk[0].clone().unwrap();
        assert_eq!(without.place, PathLocation::Network);
    }

    #[test]
    fn numbers_that_do_not_fit_make_no_nonsense() {
        let mut seen = seen(0.0, 0.0);
        seen.between =
            [SizedRoundTrip { octets: 64, ns: 0.0 }, SizedRoundTrip { octets: 64, ns: 0.0 }];
        seen.alone = [None; 2];
        let found = verdict(&seen, Some(&on_the_way())).requests;
        assert!(found.parts.iter().all(|part| part.share.is_finite() && part.octet_ns.is_finite()));
    }
}
