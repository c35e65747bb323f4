//! Last readings of hosts, and differences since then.

use super::{Reading, is_loopback};
use crate::counters::{Advance, Counters, Widths};
use std::collections::HashMap;

/// 800 Gbit/s: no interface of a host is faster.
const OCTETS_PER_NS_MAX: u64 = 100;
const UP_ERROR_NS: u64 = 3_000_000_000;
const UP_RANGE_NS: u64 = (1 << 32) * 10_000_000;

/// Difference of a host's counters between two readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingStep {
    /// Between the two, in nanoseconds.
    pub interval_ns: u64,
    /// Sum over its interfaces, without loopback.
    pub counters: Counters,
    /// Counters of one of its interfaces went back, which means a restart: the difference is a
    /// lower bound.
    pub restarted: bool,
    /// Each interface by its name, without loopback.
    pub interfaces: Vec<(String, Counters)>,
    /// Speed of its fastest interface in bits per second, where the host tells it.
    pub bits_per_s: Option<u64>,
}

/// The last reading of each host.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    last: HashMap<String, Reading>,
}

impl Readings {
    /// Takes a host's reading; how far it went since the one before. `None` for the first, and for
    /// one that is not later.
    pub fn take(&mut self, host: &str, reading: Reading) -> Option<ReadingStep> {
        let step = self.last.get(host).and_then(|before| step(before, &reading));
        self.last.insert(host.to_owned(), reading);
        step
    }

    /// Forgets a host that is no longer queried.
    pub fn forget(&mut self, host: &str) {
        self.last.remove(host);
    }
}

fn step(before: &Reading, now: &Reading) -> Option<ReadingStep> {
    let interval_ns = now.at_ns.checked_sub(before.at_ns).filter(|ns| *ns > 0)?;
    let host_restarted = started_anew(before, now, interval_ns);
    let octets_max = interval_ns.saturating_mul(OCTETS_PER_NS_MAX);
    let traffic = |counters: &Counters| counters.in_bytes.max(counters.out_bytes);
    let earlier: HashMap<&str, &Counters> =
        before.interfaces.iter().map(|i| (i.name.as_str(), &i.counters)).collect();
    let (mut counters, mut restarted) = (Counters::default(), false);
    let mut interfaces = Vec::new();
    for interface in now.interfaces.iter().filter(|interface| !is_loopback(&interface.name)) {
        // An interface that was not there has counted from nothing since.
        let zero = Counters::default();
        let earlier = earlier.get(interface.name.as_str()).copied().unwrap_or(&zero);
        let mut went = match interface.counters.since(earlier, now.widths, host_restarted) {
            Advance::Counted(advance) => advance,
            Advance::Restarted(since) => {
                restarted = true;
                // More than any wire carries: the counter went back, but not to zero, and the
                // traffic since is unknown.
                if traffic(&since) > octets_max { Counters::default() } else { since }
            }
        };
        drop_packets_without_octets(&mut went);
        counters += went;
        interfaces.push((interface.name.clone(), went));
    }
    let own = now.interfaces.iter().filter(|interface| !is_loopback(&interface.name));
    let bits_per_s = own.filter_map(|interface| interface.bits_per_s).max();
    Some(ReadingStep { interval_ns, counters, restarted, interfaces, bits_per_s })
}

/// A packet has at least one octet. For its first seconds net-snmp reports no received packets, and
/// then all since the host's start: the packets of this interval are unknown.
const fn drop_packets_without_octets(counters: &mut Counters) {
    if counters.in_packets > counters.in_bytes {
        counters.in_packets = 0;
    }
    if counters.out_packets > counters.out_bytes {
        counters.out_packets = 0;
    }
}

/// Whether the host has been up for less than the interval requires. Its time may come from a clock
/// that is set (`node_exporter`), runs at another rate or has whole seconds only.
fn started_anew(before: &Reading, now: &Reading, interval_ns: u64) -> bool {
    let (Some(before_ns), Some(now_ns)) = (before.up_ns, now.up_ns) else { return false };
    let expected_ns = before_ns.saturating_add(interval_ns);
    let allowed_ns = UP_ERROR_NS.saturating_add(interval_ns / 100);
    let is_less = |expected_ns: u64| now_ns.saturating_add(allowed_ns) < expected_ns;
    // sysUpTime has 32 bits, in hundredths of a second: 497 days.
    let wrapped = now.widths != Widths::Wide
        && expected_ns.saturating_add(allowed_ns) >= UP_RANGE_NS
        && !is_less(expected_ns.saturating_sub(UP_RANGE_NS));
    is_less(expected_ns) && !wrapped
}

#[cfg(test)]
mod tests {
    use super::super::Interface;
    use super::*;

    fn reading(at_s: u64, up_s: u64, octets: &[(&str, u64)]) -> Reading {
        let interface = |(name, in_bytes): &(&str, u64)| Interface {
            name: (*name).to_owned(),
            counters: Counters { in_bytes: *in_bytes, ..Counters::default() },
            bits_per_s: (*name != "tun0").then_some(*in_bytes * 10),
        };
        Reading {
            at_ns: at_s * 1_000_000_000,
            up_ns: Some(up_s * 1_000_000_000),
            widths: Widths::Wide,
            interfaces: octets.iter().map(interface).collect(),
        }
    }

    #[test]
    fn interfaces_are_added_and_loopback_is_not() {
        let mut readings = Readings::default();
        assert_eq!(
            readings.take("a", reading(0, 9, &[("eth0", 100), ("lo", 5), ("eth1", 7)])),
            None
        );
        let step =
            readings.take("a", reading(2, 11, &[("eth0", 130), ("lo", 999), ("tun0", 4)])).unwrap();
        assert_eq!((step.interval_ns, step.counters.in_bytes), (2_000_000_000, 34));
        assert_eq!(step.bits_per_s, Some(1300), "the fastest, and not loopback");
        assert!(!step.restarted);
        assert_eq!(readings.take("b", reading(2, 11, &[])), None, "another host");
    }

    #[test]
    fn who_begins_anew_counts_what_is_there() {
        let mut readings = Readings::default();
        readings.take("a", reading(0, 900, &[("eth0", 1_000_000)]));
        let step = readings.take("a", reading(1, 901, &[("eth0", 300)])).unwrap();
        assert_eq!((step.counters.in_bytes, step.restarted), (300, true));
    }

    /// The time that it says it is up is that of the program that answers.
    #[test]
    fn a_fresh_daemon_whose_counters_go_on_has_not_begun_to_count_anew() {
        let mut readings = Readings::default();
        readings.take("a", reading(1, 901, &[("eth0", 300)]));
        let step = readings.take("a", reading(2, 1, &[("eth0", 400)])).unwrap();
        assert_eq!((step.counters.in_bytes, step.restarted), (100, false));
        // Up for longer than before, and yet not for as long as it should.
        let step = readings.take("a", reading(102, 50, &[("eth0", 450)])).unwrap();
        assert_eq!((step.counters.in_bytes, step.restarted), (50, false));
    }

    #[test]
    fn a_host_that_is_up_for_long_has_not_begun_anew() {
        let mut readings = Readings::default();
        let range_s = UP_RANGE_NS / 1_000_000_000;
        let narrow = |at_s, up_s, octets| Reading {
            widths: Widths::WideTraffic,
            ..reading(at_s, up_s, &[("eth0", octets)])
        };
        readings.take("a", narrow(0, range_s - 3, 100));
        let step = readings.take("a", narrow(10, 7, 150)).unwrap();
        assert_eq!((step.counters.in_bytes, step.restarted), (50, false));
        // A clock that was set back by a second while the host was asked.
        let step = readings.take("a", narrow(11, 7, 160)).unwrap();
        assert_eq!((step.counters.in_bytes, step.restarted), (10, false));
        // One that was started anew does not wrap: what is lower went back.
        let low = |at_s, up_s, octets| Reading {
            widths: Widths::Narrow,
            ..reading(at_s, up_s, &[("eth0", octets)])
        };
        readings.take("b", low(0, range_s / 2, (1 << 32) - 1));
        assert!(readings.take("b", low(10, 7, 150)).unwrap().restarted);
    }

    #[test]
    fn packets_of_which_nothing_was_told_before() {
        let mut readings = Readings::default();
        let with = |at_s, in_packets, in_bytes| {
            let mut reading = reading(at_s, at_s, &[("eth0", in_bytes)]);
            reading.interfaces[0].counters.in_packets = in_packets;
            reading
        };
        readings.take("a", with(1, 0, 1_000_000));
        let step = readings.take("a", with(2, 9_000, 1_000_600)).unwrap();
        assert_eq!((step.counters.in_packets, step.counters.in_bytes), (0, 600));
        assert!(!step.restarted, "no counter went back");
        let step = readings.take("a", with(3, 9_010, 1_001_200)).unwrap();
        assert_eq!((step.counters.in_packets, step.restarted), (10, false));
    }

    /// A counter that goes back a little says nothing of what was counted.
    #[test]
    fn who_lies_loads_no_network() {
        let mut readings = Readings::default();
        readings.take("a", reading(0, 900, &[("eth0", 1 << 50), ("eth1", 5)]));
        let step =
            readings.take("a", reading(1, 901, &[("eth0", (1 << 50) - 9), ("eth1", 7)])).unwrap();
        assert_eq!((step.counters.in_bytes, step.restarted), (2, true));
    }

    #[test]
    fn two_readings_of_one_instant_say_nothing() {
        let mut readings = Readings::default();
        readings.take("a", reading(5, 9, &[("eth0", 100)]));
        assert_eq!(readings.take("a", reading(5, 9, &[("eth0", 200)])), None);
    }
}
