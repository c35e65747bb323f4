//! Utilisation of an element, from counters of hosts.
//!
//! An element names the hosts whose counters measure it (`scanned = ["gw1"]`). Packets and octets a
//! second, multiplied by the time for which each packet and octet occupies it (`service`; a link
//! without one: `rate_bits`), give the share of the time that it is busy.
//!
//! * Of a joint, its own host: what it passes on comes in once and goes out once, half of it in
//!   either direction (counters of a whole host do not say which).
//! * Of a segment, every host that sends on it, so that each packet is counted once, when it goes
//!   out; or only one, which all of it comes from or goes to: then both ways count.
//!
//! The share has an error: traffic comes in bursts, and the intervals between scans differ. It is
//! 1.96 standard errors of the mean of the intervals; with less than two of them it is unknown, and
//! taken as large as the share.

use super::topology::{ElementKind, Service, Sizes, Topology, Utilisation};
use crate::table::Observation;
use serde::Serialize;

/// Measured utilisation of an element.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Busy {
    /// Name of the element.
    pub element: String,
    /// Share of the time in either direction.
    pub share: f64,
    /// By how much it may be wrong, with 95 % confidence.
    pub error: f64,
    /// Mean size of packets, in octets.
    pub octets: f64,
    /// Intervals between scans that tell it.
    pub intervals: usize,
    /// Hosts that should measure it but have no scans.
    pub missing: Vec<String>,
}

/// Packets and octets of one host in an interval, a second.
#[derive(Clone, Copy, Default)]
struct Rate {
    packets: f64,
    octets: f64,
    seconds: f64,
}

/// Computes the utilisation of every element that names scanned hosts, and replaces the entered
/// one. An element without scans keeps the entered one; its [`Busy::intervals`] is 0.
pub fn apply(topology: &mut Topology, observations: &[Observation]) -> Vec<Busy> {
    let mut all = Vec::new();
    for (name, joint) in &mut topology.joints {
        let Some(kind) = topology.types.get(&joint.type_name) else { continue };
        if joint.scanned.is_empty() {
            continue;
        }
        let busy = busy(name, &joint.scanned, observations, Counted::Passed, kind.service);
        if busy.intervals > 0 {
            joint.utilisation = Utilisation::Both(busy.share);
            joint.utilisation_error = busy.error;
        }
        all.push(busy);
    }
    for (name, segment) in &mut topology.segments {
        let Some(kind) = topology.types.get(&segment.type_name) else { continue };
        if segment.scanned.is_empty() {
            continue;
        }
        debug_assert_eq!(kind.kind, ElementKind::Link);
        let by_rate = kind.rate_bits.filter(|rate| *rate > 0.0).map(|rate| Service {
            packet_us: 0.0,
            octet_us: 8e6 / rate,
            octets: 0.0,
            sizes: Sizes::Exponential,
        });
        let counted = if segment.scanned.len() == 1 { Counted::Both } else { Counted::Sent };
        let service = kind.service.or(by_rate);
        let busy = busy(name, &segment.scanned, observations, counted, service);
        if busy.intervals > 0 {
            segment.utilisation = Utilisation::Both(busy.share);
            segment.utilisation_error = busy.error;
        }
        all.push(busy);
    }
    all
}

/// Packets of a host that are counted.
#[derive(Clone, Copy)]
enum Counted {
    /// A quarter of in and out: half is in either direction, and each packet is counted twice.
    Passed,
    /// Sent packets.
    Sent,
    /// Sent and received packets.
    Both,
}

fn busy(
    element: &str,
    hosts: &[String],
    observations: &[Observation],
    counted: Counted,
    service: Option<Service>,
) -> Busy {
    let mut found = Busy {
        element: element.to_owned(),
        share: 0.0,
        error: 0.0,
        octets: 0.0,
        intervals: 0,
        missing: Vec::new(),
    };
    let occupied = |rate: &Rate| {
        service.map_or(0.0, |s| (rate.packets * s.packet_us + rate.octets * s.octet_us) / 1e6)
    };
    let (mut packets, mut octets, mut variance) = (0.0, 0.0, 0.0);
    for host in hosts {
        let rates = rates(observations, host, counted);
        let seconds: f64 = rates.iter().map(|rate| rate.seconds).sum();
        if seconds <= 0.0 {
            found.missing.push(host.clone());
            continue;
        }
        let weighted = |value: &dyn Fn(&Rate) -> f64| {
            rates.iter().map(|rate| value(rate) * rate.seconds).sum::<f64>() / seconds
        };
        let mean = weighted(&occupied);
        found.share += mean;
        packets += weighted(&|rate| rate.packets);
        octets += weighted(&|rate| rate.octets);
        found.intervals = found.intervals.max(rates.len());
        variance += match rates.len() {
            1 => (mean / 1.96).powi(2),
            count => {
                let squares = weighted(&|rate| (occupied(rate) - mean).powi(2));
                squares / (count - 1) as f64
            }
        };
    }
    found.share = found.share.min(1.0);
    found.error = 1.96 * variance.sqrt();
    found.octets = if packets > 0.0 { octets / packets } else { 0.0 };
    found
}

fn rates(observations: &[Observation], host: &str, counted: Counted) -> Vec<Rate> {
    let of = observations.iter().filter(|one| one.host == host && one.interval_ns > 0);
    let rate = |one: &Observation| {
        let seconds = one.interval_ns as f64 / 1e9;
        let part = |received: u64, sent: u64| match counted {
            Counted::Passed => (received as f64 + sent as f64) / 4.0 / seconds,
            Counted::Sent => sent as f64 / seconds,
            Counted::Both => (received as f64 + sent as f64) / seconds,
        };
        let c = &one.counters;
        Rate {
            packets: part(c.in_packets, c.out_packets),
            octets: part(c.in_bytes, c.out_bytes),
            seconds,
        }
    };
    of.map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;

    const TEXT: &str = r#"
        [types]
        pc = { kind = "host" }
        ring = { kind = "link", rate_bits = 4e6 }
        router = { kind = "gateway", service = { packet_us = 1000, octet_us = 1, octets = 300 } }
        [segments]
        s0 = { type = "ring", scanned = ["a", "b"] }
        s1 = { type = "ring", scanned = ["gw"], utilisation = 0.7 }
        [joints]
        g = { type = "router", joins = ["s0", "s1"], scanned = ["gw"] }
        [hosts]
    "#;

    fn counted(host: &str, second: i64, packets: [u64; 2], bytes: [u64; 2]) -> Observation {
        Observation {
            host: host.to_owned(),
            start_ns: second * 1_000_000_000,
            interval_ns: 1_000_000_000,
            counters: Counters {
                in_packets: packets[0],
                out_packets: packets[1],
                in_bytes: bytes[0],
                out_bytes: bytes[1],
                ..Counters::default()
            },
            restarted: false,
        }
    }

    #[test]
    fn a_gateway_and_a_ring() {
        let mut topology = Topology::read(TEXT, None).unwrap();
        // The gateway passes 400 and 600 packets of 100 octets, a and b send 50 kB and 75 kB.
        let seen = [
            counted("gw", 0, [400, 400], [40_000, 40_000]),
            counted("gw", 1, [600, 600], [60_000, 60_000]),
            counted("a", 0, [9, 100], [900, 50_000]),
            counted("b", 0, [9, 100], [900, 75_000]),
        ];
        let all = apply(&mut topology, &seen);
        // 250 packets a second each way, 1.1 ms each; the two intervals are 20 % off.
        let gateway = &all[0];
        assert!((gateway.share - 0.275).abs() < 1e-9, "{gateway:?}");
        assert!((gateway.error - 1.96 * 0.055).abs() < 1e-9, "{gateway:?}");
        assert_eq!((gateway.octets, gateway.intervals), (100.0, 2));
        assert_eq!(topology.joints["g"].utilisation, Utilisation::Both(gateway.share));
        // 1 Mbit/s of 4; one interval tells no error, and it is as large as the share.
        let ring = &all[1];
        assert!((ring.share - 0.25).abs() < 1e-9, "{ring:?}");
        assert!(ring.error > 0.1);
        // 640 and 960 kbit/s there and back.
        assert!((all[2].share - 0.2).abs() < 1e-9, "{:?}", all[2]);
    }

    #[test]
    fn of_whom_nothing_was_scanned_keeps_what_was_entered() {
        let mut topology = Topology::read(TEXT, None).unwrap();
        let all = apply(&mut topology, &[]);
        assert!(all.iter().all(|busy| busy.intervals == 0));
        assert_eq!(all[0].missing, ["gw"]);
        assert_eq!(topology.segments["s1"].utilisation, Utilisation::Both(0.7));
    }
}
