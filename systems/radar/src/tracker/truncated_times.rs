//! Whole times for plots of category 001, which carry the low 16 bits of theirs.
//!
//! A truncated time is right while the radar's clock is within 256 s of the receiver's. A radar whose
//! clock is further off says so in its service messages (category 002), which carry whole times: its
//! plots are then near the time of its latest one.

use crate::asterix::{DataSource, TimeOfDay};
use std::collections::HashMap;

/// A clock that is nearer to the receiver's than this is taken for the receiver's, ns.
const NEAR_NS: i64 = 60_000_000_000;

/// Stamps of service messages less their times of arrival, by radar.
#[derive(Debug, Default)]
pub(super) struct TruncatedTimes {
    offsets_ns: HashMap<DataSource, i64>,
}

impl TruncatedTimes {
    /// Takes in a whole time of a radar, received at `utc_ns`.
    pub(super) fn heard(&mut self, radar: DataSource, time: TimeOfDay, utc_ns: i64) {
        self.offsets_ns.insert(radar, time.to_utc_ns(utc_ns) - utc_ns);
    }

    /// A time of day that the stamp of a plot received at `utc_ns` is near.
    pub(super) fn near(&self, radar: DataSource, utc_ns: i64) -> TimeOfDay {
        let offset_ns = self.offsets_ns.get(&radar).filter(|offset| offset.abs() > NEAR_NS);
        TimeOfDay::from_utc_ns(utc_ns + offset_ns.copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_an_hour_wrong_is_known_by_its_service_messages() {
        let radar = DataSource { sac: 1, sic: 2 };
        let now_ns = 20_000 * 86_400_000_000_000 + 43_200_000_000_000;
        let mut times = TruncatedTimes::default();
        assert_eq!(times.near(radar, now_ns).seconds(), 43_200.0);
        times.heard(radar, TimeOfDay::from_ticks(46_800 * 128), now_ns - 1_000_000_000);
        assert_eq!(times.near(radar, now_ns).seconds(), 46_801.0);
        assert_eq!(times.near(DataSource::default(), now_ns).seconds(), 43_200.0);
    }
}
