//! What hosts said before, and how far they went since.

use super::{Reading, is_loopback};
use crate::counters::{Advance, Counters};
use std::collections::HashMap;

/// How far a host went between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Between the two, in nanoseconds.
    pub interval_ns: u64,
    /// Sum over its interfaces, without loopback.
    pub counters: Counters,
    /// It, or one of its interfaces, began to count anew: the counters are at least so much.
    pub restarted: bool,
}

/// The last reading of each host.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    last: HashMap<String, Reading>,
}

impl Readings {
    /// Takes a host's reading; how far it went since the one before. `None` for the first, and for
    /// one that is not later.
    pub fn take(&mut self, host: &str, reading: Reading) -> Option<Step> {
        let step = self.last.get(host).and_then(|before| step(before, &reading));
        self.last.insert(host.to_owned(), reading);
        step
    }

    /// A host that is not asked any more.
    pub fn forget(&mut self, host: &str) {
        self.last.remove(host);
    }
}

fn step(before: &Reading, now: &Reading) -> Option<Step> {
    let interval_ns = now.at_ns.checked_sub(before.at_ns).filter(|ns| *ns > 0)?;
    let host_restarted = matches!((before.up_ns, now.up_ns), (Some(b), Some(n)) if n < b);
    let earlier: HashMap<&str, &Counters> =
        before.interfaces.iter().map(|i| (i.name.as_str(), &i.counters)).collect();
    let (mut counters, mut restarted) = (Counters::default(), host_restarted);
    for interface in now.interfaces.iter().filter(|interface| !is_loopback(&interface.name)) {
        // An interface that was not there has counted from nothing since.
        let zero = Counters::default();
        let earlier = earlier.get(interface.name.as_str()).copied().unwrap_or(&zero);
        match interface.counters.since(earlier, now.widths, host_restarted) {
            Advance::Counted(advance) => counters += advance,
            Advance::Restarted(since) => {
                counters += since;
                restarted = true;
            }
        }
    }
    Some(Step { interval_ns, counters, restarted })
}

#[cfg(test)]
mod tests {
    use super::super::Interface;
    use super::*;
    use crate::counters::Widths;

    fn reading(at_s: u64, up_s: u64, octets: &[(&str, u64)]) -> Reading {
        let interface = |(name, in_bytes): &(&str, u64)| Interface {
            name: (*name).to_owned(),
            counters: Counters { in_bytes: *in_bytes, ..Counters::default() },
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
        assert!(!step.restarted);
        assert_eq!(readings.take("b", reading(2, 11, &[])), None, "another host");
    }

    #[test]
    fn who_begins_anew_counts_what_is_there() {
        let mut readings = Readings::default();
        readings.take("a", reading(0, 900, &[("eth0", 1_000_000)]));
        let step = readings.take("a", reading(1, 901, &[("eth0", 300)])).unwrap();
        assert_eq!((step.counters.in_bytes, step.restarted), (300, true));
        // More than before, and yet anew: the host says for how long it is up.
        let step = readings.take("a", reading(2, 1, &[("eth0", 400)])).unwrap();
        assert_eq!((step.counters.in_bytes, step.restarted), (400, true));
    }

    #[test]
    fn two_readings_of_one_instant_say_nothing() {
        let mut readings = Readings::default();
        readings.take("a", reading(5, 9, &[("eth0", 100)]));
        assert_eq!(readings.take("a", reading(5, 9, &[("eth0", 200)])), None);
    }
}
