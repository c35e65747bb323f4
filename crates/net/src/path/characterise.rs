//! Types of elements from the round trips around them.

use super::around::{Around, Plan};
use super::element::{AtSize, Characteristic};
use super::further::packet_us;
use super::message::{MTU, UDP_HEADERS};
use super::parts;
use super::topology::{ElementType, Topology};
use chronoscope_statistics::{Quantile, nearest_rank};
use serde::Serialize;
use std::collections::BTreeMap;

/// Steady round trips to each host with requests of each size (octets), in nanoseconds.
pub type Samples = BTreeMap<(String, u32), Vec<u64>>;

/// Result of a characterisation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Characterised {
    /// The types, as a topology has them.
    pub types: BTreeMap<String, ElementType>,
    /// Each element that was measured.
    pub elements: Vec<Element>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// Measured characteristics of an element.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Name of the element.
    pub element: String,
    /// Kind of the element.
    pub kind: super::topology::ElementKind,
    /// Name of its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The host whose round trip passes it.
    pub with: String,
    /// The one whose round trip does not.
    pub without: Option<String>,
    /// Segments that were taken off.
    pub besides: Vec<String>,
    /// At each size.
    pub sizes: Vec<ElementDelay>,
    /// Time for which each packet of a message occupies it beside its octets, in microseconds; `None`
    /// where no message of several packets tells it.
    pub packet_us: Option<f64>,
}

/// Delay of an element in round trips of a size: quantiles of those with it less quantiles of those
/// without it. The two are separate samples: the difference is negative by chance where the element
/// adds less than round trips vary. Then it is below the resolution of the measurement, and JSON
/// has null there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ElementDelay {
    /// Octets of request and reply, each.
    pub octets: u32,
    /// Round trips with the element.
    pub count: usize,
    /// Part in the median, in nanoseconds.
    #[serde(serialize_with = "resolved_or_null")]
    pub p50_ns: f64,
    /// Part in the 90th percentile, where both vary together, in nanoseconds.
    #[serde(serialize_with = "resolved_or_null")]
    pub p90_ns: f64,
}

/// Part of an element, where it is measurable: `None` below the resolution of the measurement.
#[must_use]
pub fn resolved(part_ns: f64) -> Option<f64> {
    (part_ns > 0.0).then_some(part_ns)
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn resolved_or_null<S: serde::Serializer>(part_ns: &f64, to: S) -> Result<S::Ok, S::Error> {
    resolved(*part_ns).serialize(to)
}

/// Makes types from samples. An element without samples is left out and noted. The first element of
/// a type represents it; differences of its other elements are noted.
#[must_use]
pub fn characterise(topology: &Topology, plan: &Plan, samples: &Samples) -> Characterised {
    let mut found = Characterised::default();
    for around in &plan.around {
        let mtu = parts::mtu(topology, &plan.from, &around.with).unwrap_or(MTU);
        let besides: Vec<ElementType> = around
            .besides
            .iter()
            .filter_map(|segment| {
                let name = &topology.segments.get(segment)?.type_name;
                found.types.get(name).or(topology.types.get(name)).cloned()
            })
            .collect();
        // Of several packets the first: further ones follow it within the same time.
        let taken_off = |octets: u32| {
            let octets = octets.min(mtu - UDP_HEADERS);
            let parts = besides.iter().map(|kind| median_ns(&kind.characteristic(), octets));
            parts.sum::<f64>().max(0.0)
        };
        let measured = sizes(around, samples, taken_off);
        if measured.is_empty() {
            let to = around.without.as_deref().unwrap_or(&around.with);
            found.notes.push(format!(
                "{}: no replies from {} and {to} at any one size: it is not characterised",
                around.element, around.with
            ));
            continue;
        }
        note_unknown_segments(topology, &mut found, around);
        let packet_us = packet_us(&measured, &besides, mtu);
        let element = Element { packet_us, ..said(around, &measured) };
        match found.types.get(&around.type_name) {
            Some(first) => {
                let first = median_ns(&first.characteristic(), element.sizes[0].octets);
                note_difference(&mut found.notes, &element, first);
            }
            None => {
                let known = topology.types.get(&around.type_name);
                let known = known.cloned().unwrap_or_else(|| ElementType::new(around.kind));
                let kind = ElementType {
                    measured,
                    packet_us: packet_us.or(known.packet_us),
                    mtu: known.mtu,
                    service: known.service,
                    ..ElementType::new(around.kind)
                };
                found.types.insert(around.type_name.clone(), kind);
            }
        }
        found.elements.push(element);
    }
    found
}

/// Round trips around it at each size at which both probes got replies.
fn sizes(around: &Around, samples: &Samples, taken_off: impl Fn(u32) -> f64) -> Vec<AtSize> {
    let of = |host: &str, octets| samples.get(&(host.to_owned(), octets)).filter(|s| !s.is_empty());
    let mut measured = Vec::new();
    for (host, octets) in samples.keys().filter(|(host, _)| *host == around.with) {
        let Some(with) = of(host, *octets) else { continue };
        let without = match &around.without {
            None => Vec::new(),
            Some(other) => match of(other, *octets) {
                Some(without) => without.clone(),
                None => continue,
            },
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 on
        let off = taken_off(*octets) as u64;
        let with = with.iter().map(|ns| ns.saturating_sub(off)).collect();
        measured.push(AtSize::new(*octets, with, without));
    }
    measured
}

/// A segment that nothing is known of is a part of the gateway before it.
fn note_unknown_segments(topology: &Topology, found: &mut Characterised, around: &Around) {
    for segment in &around.besides {
        let Some(segment_type) = topology.segments.get(segment).map(|s| &s.type_name) else {
            continue;
        };
        let entered = topology.types.get(segment_type).is_some_and(|t| !t.is_unknown());
        if !entered && !found.types.contains_key(segment_type) {
            found.notes.push(format!(
                "{}: nothing is known of segment {segment} behind it (type {segment_type}): what \
                 that adds is in the {}'s part",
                around.element, around.kind
            ));
        }
    }
}

fn note_difference(notes: &mut Vec<String>, element: &Element, first_ns: f64) {
    const WORTH_NOTING: f64 = 0.1;
    let here = element.sizes[0].p50_ns;
    if (here - first_ns).abs() > WORTH_NOTING * first_ns.abs() {
        notes.push(format!(
            "{}: its median part of {:.3} ms is not that of type {} ({:.3} ms, measured at another \
             one): give it a type of its own",
            element.element,
            here / 1e6,
            element.type_name,
            first_ns / 1e6
        ));
    }
}

fn said(around: &Around, measured: &[AtSize]) -> Element {
    let part = |at: &AtSize, quantile| {
        let of = |values: &[u64]| nearest_rank(values, quantile).unwrap_or(0) as f64;
        of(&at.with_ns) - of(&at.without_ns)
    };
    let sizes = measured.iter().map(|at| ElementDelay {
        octets: at.octets,
        count: at.with_ns.len(),
        p50_ns: part(at, Quantile::P50),
        p90_ns: part(at, Quantile::P90),
    });
    Element {
        element: around.element.clone(),
        kind: around.kind,
        type_name: around.type_name.clone(),
        with: around.with.clone(),
        without: around.without.clone(),
        besides: around.besides.clone(),
        sizes: sizes.collect(),
        packet_us: None,
    }
}

/// Part in the median round trip, in nanoseconds.
fn median_ns(characteristic: &Characteristic, octets: u32) -> f64 {
    let delay = characteristic.delay(octets);
    let middle = |values: &[f64]| values.get(values.len().div_ceil(2).saturating_sub(1)).copied();
    let varies = delay.jitter.map_or(0.0, |jitter| {
        middle(&jitter.with_ns).unwrap_or(0.0) - middle(&jitter.without_ns).unwrap_or(0.0)
    });
    delay.fixed_ns + varies
}

#[cfg(test)]
mod tests {
    use super::super::around::plan;
    use super::*;

    const TEXT: &str = r#"
        types = { pc = { kind = "host" }, ring = { kind = "link", rate_bits = 8e6 }, router = { kind = "gateway" } }
        [segments]
        s0 = { type = "ring" }
        s1 = { type = "ring" }
        s2 = { type = "ring" }
        [joints]
        g1 = { type = "router", joins = ["s0", "s1"] }
        g2 = { type = "router", joins = ["s1", "s2"] }
        [hosts]
        here = { type = "pc", segment = "s0", address = "10.0.0.1:7" }
        one = { type = "pc", segment = "s1", address = "10.0.1.1:7" }
        two = { type = "pc", segment = "s2", address = "10.0.2.1:7" }
    "#;

    fn samples(of: &[(&str, u64)]) -> Samples {
        let each = of
            .iter()
            .map(|(host, base)| (((*host).to_owned(), 100), (0..9).map(|n| base + n).collect()));
        each.collect()
    }

    /// A ring takes 256 µs for 100 octets and 28 of headers there and back; gateways 4 and 6 ms.
    #[test]
    fn what_lies_besides_is_taken_off() {
        let topology = Topology::read(TEXT, None).unwrap();
        let plan = plan(&topology, "here", None).unwrap();
        let samples = samples(&[("here", 500_000), ("one", 5_012_000), ("two", 11_268_000)]);
        let found = characterise(&topology, &plan, &samples);
        let medians: Vec<_> =
            found.elements.iter().map(|e| (&*e.element, e.sizes[0].p50_ns)).collect();
        // From here to one there are two rings beside the gateway.
        assert_eq!(medians, [("here", 500_004.0), ("g1", 4e6), ("g2", 6e6)]);
        assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
        assert!(found.notes[0].starts_with("g2: its median part of 6.000 ms is not that of type"));
        assert_eq!(found.types.keys().collect::<Vec<_>>(), ["pc", "router"]);
        // What comes out can be predicted with.
        let types = Topology { types: found.types, ..Topology::default() };
        let text = toml::to_string(&types).unwrap();
        let read = Topology::read(TEXT, Some(&text)).unwrap();
        assert_eq!(read.types["router"], types.types["router"]);
    }

    /// Two samples of the same round trips: what is between them is chance.
    #[test]
    fn what_an_element_adds_below_the_resolution_is_not_told() {
        let topology = Topology::read(TEXT, None).unwrap();
        let plan = plan(&topology, "here", Some("g2")).unwrap();
        let found =
            characterise(&topology, &plan, &samples(&[("one", 4_900_000), ("two", 4_890_000)]));
        let at = found.elements[0].sizes[0];
        assert!(at.p90_ns < 0.0 && resolved(at.p90_ns).is_none(), "{at:?}");
        let json = serde_json::to_value(at).unwrap();
        assert!(json["p90_ns"].is_null() && json["p50_ns"].is_null(), "{json}");
    }

    #[test]
    fn who_did_not_reply_is_noted() {
        let topology = Topology::read(TEXT, None).unwrap();
        let plan = plan(&topology, "here", Some("g2")).unwrap();
        let found = characterise(&topology, &plan, &samples(&[("two", 11_000_000)]));
        assert_eq!((found.types.len(), found.elements.len()), (0, 0));
        assert!(found.notes[0].contains("no replies from two and one"), "{:?}", found.notes);
    }
}
