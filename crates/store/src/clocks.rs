//! Offsets of the hosts' clocks, from readings: `docs/clocks.md`.

use chronoscope_chain::{ClockEstimate, ClockTrack};
use chronoscope_model::Transaction;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most hosts whose clocks are known. Beyond, the one that was read longest ago is forgotten.
pub const CLOCK_HOSTS_MAX: usize = 4096;

/// A host's clock beside the collector's at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The host, as its processes name it.
    pub host: String,
    /// Time of the reading by the collector's clock: UTC, nanoseconds since 1970.
    pub at_ns: i64,
    /// The host's clock minus the collector's, in nanoseconds; positive when it is ahead.
    pub offset_ns: i64,
    /// The true offset is within `offset_ns ± error_ns`.
    pub error_ns: u64,
}

/// The clocks of all hosts over time. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockTable {
    hosts: BTreeMap<Arc<str>, Arc<ClockTrack>>,
}

impl ClockTable {
    /// Takes in a reading; whether it was of use.
    pub fn insert(&mut self, reading: &ClockReading) -> bool {
        let ClockReading { host, at_ns, offset_ns, error_ns } = reading;
        let estimate = ClockEstimate { offset_ns: *offset_ns, error_ns: *error_ns };
        if let Some(track) = self.hosts.get_mut(host.as_str()) {
            return Arc::make_mut(track).insert(*at_ns, estimate);
        }
        let mut track = ClockTrack::default();
        track.insert(*at_ns, estimate);
        self.set(host, track);
        true
    }

    /// Replaces what is known of a host.
    pub(crate) fn set(&mut self, host: &str, track: ClockTrack) {
        self.hosts.insert(host.into(), Arc::new(track));
        if self.hosts.len() > CLOCK_HOSTS_MAX {
            let last = |track: &ClockTrack| track.knots().last().map(|knot| knot.at_ns);
            let oldest = self.hosts.iter().min_by_key(|(_, track)| last(track));
            if let Some(host) = oldest.map(|(host, _)| host.clone()) {
                self.hosts.remove(&host);
            }
        }
    }

    /// Offset of the clock of `host` at the time it showed `stamp_ns` (UTC, nanoseconds since
    /// 1970); `None` when it was never read.
    pub fn at(&self, host: &str, stamp_ns: i64) -> Option<ClockEstimate> {
        self.hosts.get(host)?.at_own(stamp_ns)
    }

    /// Offset of the clock of a transaction's host at its start; `None` when its host is
    /// not known or its clock was never read.
    pub fn of_transaction(&self, transaction: &Transaction) -> Option<ClockEstimate> {
        self.at(&transaction.process.as_ref()?.host, transaction.start_ns)
    }

    /// All readings of one host's clock.
    pub fn track(&self, host: &str) -> Option<&ClockTrack> {
        self.hosts.get(host).map(Arc::as_ref)
    }

    /// All hosts, by name.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, &ClockTrack)> {
        self.hosts.iter().map(|(host, track)| (host.as_ref(), track.as_ref()))
    }

    /// Whether no clock was ever read.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_bounded_and_the_quietest_goes() {
        let mut table = ClockTable::default();
        for n in 0..=CLOCK_HOSTS_MAX {
            let at_ns = i64::try_from(n).unwrap() + 10;
            // The second host is the one that was read longest ago.
            let at_ns = if n == 1 { 3 } else { at_ns };
            let reading = ClockReading { host: format!("h{n}"), at_ns, offset_ns: 5, error_ns: 1 };
            assert!(table.insert(&reading));
        }
        assert_eq!(table.hosts().count(), CLOCK_HOSTS_MAX);
        assert_eq!(table.at("h1", 0), None);
        assert_eq!(table.at("h0", 10).unwrap().offset_ns, 5);
    }
}
