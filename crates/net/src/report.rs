//! Figures of the document on its network, with ours beside: response times between hosts,
//! reference values of types of machines, delays of gateways, the first request's activation.
//!
//! Its load (Tables 1 and 2) is made by [`crate::activity`] and [`crate::table`]. Values are the
//! shortest of many, as there: "best case from many measurements".

use crate::path::topology::{ElementKind, Topology};
use crate::rows::{RoundTrip, Transfer};
use chronoscope_statistics::{Histogram, Quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most pairs of hosts that are told apart; round trips of further pairs are counted and left out.
pub const PAIRS_MAX: usize = 2048;
/// Size at which an element's delay is given where it was not measured, in octets.
const OCTETS: u32 = 64;

/// The document's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Distribution of load.
    pub table1: Distribution,
    /// Activity over time.
    pub table2: Activity,
    /// Response times between hosts.
    pub table3: Vec<Response>,
    /// Round trips with both ends on one machine.
    pub host_types: Vec<HostType>,
    /// Figures in the document's text.
    pub text: Text,
}

/// The most active hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// Measured time, in seconds.
    pub interval_s: f64,
    /// Hosts from this share on.
    pub threshold_percent: f64,
    /// Load of the hosts.
    pub hosts: Vec<Load>,
}

/// Load of one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Name of the host.
    pub host: String,
    /// Packets received.
    pub in_packets: u64,
    /// Share of all received packets, in percent.
    pub in_percent: f64,
    /// Packets that went out.
    pub out_packets: u64,
    /// Their share of all that went out, in percent.
    pub out_percent: f64,
}

/// Activity of hosts, scan by scan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    /// Interval between two scans, in seconds.
    pub interval_s: f64,
    /// Below it is a dot.
    pub threshold_percent: f64,
    /// Activity of the hosts.
    pub hosts: Vec<HostShares>,
}

/// Activity of one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostShares {
    /// Name of the host.
    pub host: String,
    /// Share in each scan, in percent; 0 below the threshold.
    pub percent: Vec<f64>,
}

/// A response time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Ring of the host that asks.
    pub from_ring: String,
    /// Host that asks.
    pub from: String,
    /// Ring of the host that answered.
    pub ring: String,
    /// Host that replies.
    pub to: String,
    /// The shortest, in milliseconds.
    pub best_ms: f64,
}

/// A type of machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostType {
    /// Name of the element.
    pub name: String,
    /// From and to, in milliseconds.
    pub ms: [f64; 2],
}

/// Figures in the document's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Delay of a bridge.
    pub bridge: String,
    /// Delays of gateways, from and to, in milliseconds.
    pub gateway_ms: [f64; 2],
    /// The first request, from and to, in milliseconds.
    pub activation_ms: [f64; 2],
    /// Step of the clock, in milliseconds.
    pub timer_ms: f64,
    /// Location of the bottleneck.
    pub bottleneck: String,
}

impl Published {
    /// The figures.
    ///
    /// # Errors
    /// When the file that was built in is none; a test reads it.
    pub fn read() -> Result<Self, toml::de::Error> {
        toml::from_str(include_str!("published.toml"))
    }
}

/// Round trips between hosts, in little memory.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    pairs: BTreeMap<(String, String, String), Pair>,
    left_out: u64,
}

/// Round trips from one host to another by one kind of probe.
#[derive(Clone, Debug, Default)]
struct Pair {
    steady: Histogram,
    lost: u64,
    first: Histogram,
}

/// Round trips of a pair, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Host that asks.
    pub from: String,
    /// Host that replies.
    pub to: String,
    /// Kind of the probe.
    pub by: String,
    /// Steady round trips.
    pub count: u64,
    /// Requests that were not answered in time.
    pub lost: u64,
    /// The shortest, in nanoseconds; `None` where there is none.
    pub best_ns: Option<u64>,
    /// Their median, to 3.125 %.
    pub p50_ns: Option<u64>,
    /// First requests: the shortest and the longest.
    pub first_ns: Option<[u64; 2]>,
}

impl RoundTrips {
    /// Adds one round trip.
    pub fn add(&mut self, row: &RoundTrip) {
        let key = (row.from.clone(), row.to.clone(), row.by.clone());
        if !self.pairs.contains_key(&key) && self.pairs.len() >= PAIRS_MAX {
            self.left_out += 1;
            return;
        }
        let pair = self.pairs.entry(key).or_default();
        match row.took_ns {
            None => pair.lost += 1,
            Some(took_ns) if row.first => pair.first.add(took_ns),
            Some(took_ns) => pair.steady.add(took_ns),
        }
    }

    /// Round trips of too many pairs.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Each pair, by names.
    pub fn measured(&self) -> impl Iterator<Item = Measured> + '_ {
        self.pairs.iter().map(|((from, to, by), pair)| Measured {
            from: from.clone(),
            to: to.clone(),
            by: by.clone(),
            count: pair.steady.count(),
            lost: pair.lost,
            best_ns: pair.steady.min(),
            p50_ns: pair.steady.quantile(Quantile::P50),
            first_ns: pair.first.min().zip(pair.first.max()).map(|(min, max)| [min, max]),
        })
    }

    /// The shortest and the longest first request of all pairs, in nanoseconds.
    #[must_use]
    pub fn activation_ns(&self) -> Option<[u64; 2]> {
        let all = || self.pairs.values().map(|pair| &pair.first);
        let least = all().filter_map(Histogram::min).min()?;
        Some([least, all().filter_map(Histogram::max).max()?])
    }
}

/// Bulk transfers from one host to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// Sending host.
    pub from: String,
    /// Receiving host.
    pub to: String,
    /// Transfers that went to their end.
    pub count: u64,
    /// The fastest of them, in bits a second.
    pub best_bits_per_s: f64,
}

/// Adds a transfer that went to its end to the speeds between hosts; those of more than
/// [`PAIRS_MAX`] pairs are left out: whether this one was not.
pub fn add_transfer(speeds: &mut Vec<Speed>, row: &Transfer) -> bool {
    if !row.complete || row.took_ns == 0 {
        return true;
    }
    let bits_per_s = row.octets as f64 * 8e9 / row.took_ns as f64;
    let room = speeds.len() < PAIRS_MAX;
    match speeds.iter_mut().find(|speed| speed.from == row.from && speed.to == row.to) {
        Some(speed) => {
            speed.count += 1;
            speed.best_bits_per_s = speed.best_bits_per_s.max(bits_per_s);
        }
        None if room => {
            let (from, to) = (row.from.clone(), row.to.clone());
            speeds.push(Speed { from, to, count: 1, best_bits_per_s: bits_per_s });
        }
        None => return false,
    }
    true
}

/// A type of host, bridge or gateway.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reference {
    /// Name of the element.
    pub name: String,
    /// Kind of the element.
    pub kind: ElementKind,
    /// Whether the value was measured; otherwise it was entered.
    pub measured: bool,
    /// Size of request and reply, in octets: the smallest that was measured.
    pub octets: u32,
    /// Part in the shortest round trip, in nanoseconds; for a host, that round trip.
    pub best_ns: f64,
}

/// Reference values of the types of a topology, by kind and name; links have none.
#[must_use]
pub fn references(topology: &Topology) -> Vec<Reference> {
    let types = topology.types.iter().filter(|(_, kind)| kind.kind != ElementKind::Link);
    let mut all: Vec<Reference> = types
        .map(|(name, kind)| {
            let octets = kind.measured.first().map_or(OCTETS, |at| at.octets);
            Reference {
                name: name.clone(),
                kind: kind.kind,
                measured: !kind.measured.is_empty(),
                octets,
                best_ns: kind.characteristic().delay(octets).fixed_ns,
            }
        })
        .collect();
    all.sort_by_key(|reference| (reference.kind.to_string(), reference.name.clone()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trip(to: &str, first: bool, took_ns: Option<u64>) -> RoundTrip {
        RoundTrip {
            from: "a".to_owned(),
            to: to.to_owned(),
            by: "udp".to_owned(),
            first,
            octets: 64,
            start_ns: 0,
            took_ns,
        }
    }

    #[test]
    fn the_published_figures_are_there() {
        let published = Published::read().unwrap();
        assert_eq!(published.table1.hosts.len(), 6);
        assert!(published.table2.hosts.iter().all(|host| host.percent.len() == 9));
        assert_eq!(published.table3.len(), 8);
    }

    #[test]
    fn first_requests_are_apart_and_losses_are_counted() {
        let mut trips = RoundTrips::default();
        trips.add(&trip("b", true, Some(9000)));
        for ns in [300, 100, 200] {
            trips.add(&trip("b", false, Some(ns)));
        }
        trips.add(&trip("b", false, None));
        trips.add(&trip("c", true, Some(5000)));
        let measured: Vec<Measured> = trips.measured().collect();
        assert_eq!((measured[0].count, measured[0].lost), (3, 1));
        assert_eq!((measured[0].best_ns, measured[0].first_ns), (Some(100), Some([9000, 9000])));
        assert_eq!((measured[1].to.as_str(), measured[1].best_ns), ("c", None));
        assert_eq!(trips.activation_ns(), Some([5000, 9000]));
        assert_eq!(RoundTrips::default().activation_ns(), None);
    }

    #[test]
    fn the_fastest_transfer_counts() {
        let row = |octets, complete| Transfer {
            from: "a".to_owned(),
            to: "b".to_owned(),
            octets,
            start_ns: 0,
            took_ns: 1_000_000_000,
            complete,
        };
        let mut speeds = Vec::new();
        for (octets, complete) in [(1000, true), (3000, true), (9000, false)] {
            assert!(add_transfer(&mut speeds, &row(octets, complete)));
        }
        assert_eq!((speeds.len(), speeds[0].count, speeds[0].best_bits_per_s), (1, 2, 24_000.0));
    }

    #[test]
    fn pairs_are_bounded() {
        let mut trips = RoundTrips::default();
        (0..PAIRS_MAX + 3).for_each(|n| trips.add(&trip(&format!("h{n}"), false, Some(1))));
        assert_eq!((trips.measured().count(), trips.left_out()), (PAIRS_MAX, 3));
    }

    #[test]
    fn references_are_what_types_add() {
        let topology = Topology::read(
            "[types]\npc = { kind = \"host\", delay_us = 60_000 }\nring = { kind = \"link\" }\n\
             gw = { kind = \"gateway\", measured = [{ octets = 100, with_ns = [50, 70], without_ns \
             = [20, 30] }] }\n",
            None,
        )
        .unwrap();
        let found = references(&topology);
        let told: Vec<_> = found.iter().map(|r| (r.name.as_str(), r.octets, r.best_ns)).collect();
        assert_eq!(told, [("gw", 100, 30.0), ("pc", 64, 60e6)]);
        assert_eq!([found[0].measured, found[1].measured], [true, false]);
    }
}
