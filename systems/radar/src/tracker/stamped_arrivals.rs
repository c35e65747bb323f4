//! When the records of a recording without times of arrival came in: by the stamps of most sources.
//!
//! Nobody noted when a block of a raw recording arrived, so that the stamps of its sources have to say it,
//! and one of their clocks may be wrong. Of each source its lead is kept: its latest stamp less what has
//! passed of the recording. The middle lead of all sources is the receiver's clock; with an even number it
//! is the earlier one of the two in the middle. So a wrong clock moves nobody's time where two others are
//! right. Of two sources that differ nobody can say which is right; the earlier one is believed.
//!
//! What has passed is told by the steps of single sources, of which each counts for [`STEP_NS_MAX`] at most: a
//! source that sends seldom, or not any more, does not hold the others up, and a clock that leaps takes
//! nobody along.

use crate::asterix::DataSource;
use chronoscope_statistics::{Quantile, nearest_rank};
use std::collections::BTreeMap;

/// A step of one source is believed to be that of all up to here, ns.
const STEP_NS_MAX: i64 = 5_000_000_000;
/// A stamp that differs by more from its source's latest is wrong by itself, ns.
const LEAP_NS: i64 = 60_000_000_000;
/// So many of them in a row are a new time, or follow a pause.
const LEAPS: u8 = 3;

/// What is known of a source.
#[derive(Clone, Copy, Debug)]
struct Source {
    stamp_ns: i64,
    /// What had passed when that was read.
    passed_ns: i64,
    /// Stamps in a row that leap.
    leaps: u8,
}

/// The receiver's clock, as the stamps of a recording tell it. Times are UTC, ns.
#[derive(Clone, Debug, Default)]
pub(super) struct StampedArrivals {
    sources: BTreeMap<DataSource, Source>,
    passed_ns: i64,
    now_ns: Option<i64>,
}

impl StampedArrivals {
    /// A clock that knows by how much the sources of the first records differ: those stamps that are given,
    /// in their order.
    pub(super) fn after(first: impl IntoIterator<Item = (DataSource, i64)>) -> Self {
        let mut rehearsal = Self::default();
        let mut sources = BTreeMap::new();
        for (source, stamp_ns) in first {
            rehearsal.hear(source, stamp_ns);
            let heard = Source { stamp_ns, passed_ns: rehearsal.passed_ns, leaps: 0 };
            let lead_ns = heard.lead_ns();
            sources.entry(source).or_insert(Source { stamp_ns: lead_ns, passed_ns: 0, leaps: 0 });
        }
        Self { sources, passed_ns: 0, now_ns: None }
    }

    /// The time of the latest record; `None` before the first stamp.
    pub(super) fn now_ns(&self) -> Option<i64> {
        self.now_ns
    }

    /// Takes in the stamp of a record.
    pub(super) fn hear(&mut self, source: DataSource, stamp_ns: i64) {
        let passed_ns = self.passed_ns;
        let known = self.sources.entry(source).or_insert(Source { stamp_ns, passed_ns, leaps: 0 });
        let step_ns = stamp_ns - known.stamp_ns;
        if step_ns.abs() > LEAP_NS {
            known.leaps += 1;
            if known.leaps < LEAPS {
                return;
            }
        }
        if (0..=STEP_NS_MAX).contains(&step_ns) {
            self.passed_ns = passed_ns.max(known.passed_ns + step_ns);
        }
        *known = Source { stamp_ns, passed_ns: self.passed_ns, leaps: 0 };
        let now_ns = self.passed_ns + self.middle_lead_ns();
        self.now_ns = self.now_ns.max(Some(now_ns));
    }

    fn middle_lead_ns(&self) -> i64 {
        let mut leads: Vec<i64> = self.sources.values().map(Source::lead_ns).collect();
        leads.sort_unstable();
        nearest_rank(&leads, Quantile::P50).unwrap_or(0)
    }
}

impl Source {
    fn lead_ns(&self) -> i64 {
        self.stamp_ns - self.passed_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: i64 = 1_000_000_000;

    /// Stamps of radars whose clocks are ahead by `errors_s`, each heard every `every_s`, the first one first;
    /// with the true second of each.
    fn stamps(errors_s: &[i64], every_s: i64, seconds: i64) -> Vec<(i64, DataSource, i64)> {
        let mut all = Vec::new();
        for turn in 0..seconds / every_s {
            for (sic, error_s) in (0..).zip(errors_s) {
                // The radars are heard one after the other within their period.
                let radars = i64::try_from(errors_s.len()).unwrap();
                let at_ns = (turn * every_s + 1_000) * SECOND_NS
                    + i64::from(sic) * every_s * SECOND_NS / radars;
                all.push((at_ns, DataSource { sac: 25, sic }, at_ns + error_s * SECOND_NS));
            }
        }
        all
    }

    /// The largest error of the receiver's clock, s.
    fn error_s(all: &[(i64, DataSource, i64)]) -> f64 {
        let first = all.iter().take(40).map(|(_, source, stamp_ns)| (*source, *stamp_ns));
        let mut clock = StampedArrivals::after(first);
        let errors = all.iter().map(|(at_ns, source, stamp_ns)| {
            clock.hear(*source, *stamp_ns);
            (clock.now_ns().unwrap() - at_ns).abs()
        });
        errors.max().unwrap() as f64 / 1e9
    }

    #[test]
    fn one_wrong_clock_moves_nobodys_time_also_when_it_is_heard_first() {
        for wrong_s in [3_600, -3_600, 20, -20, 3] {
            for every_s in [1, 4] {
                for right in [2, 3, 8] {
                    let mut errors_s = vec![0; right];
                    errors_s.insert(0, wrong_s);
                    let found_s = error_s(&stamps(&errors_s, every_s, 120));
                    assert!(found_s <= every_s as f64, "{wrong_s} {every_s} {right}: {found_s}");
                }
            }
        }
        assert!(error_s(&stamps(&[20, 0], 1, 60)) <= 1.0, "of two the earlier one");
    }

    #[test]
    fn a_clock_that_leaps_later_takes_nobody_along() {
        for wrong_s in [3_600, -3_600, 20] {
            let mut all = stamps(&[0, 0, 0], 1, 120);
            let after_ns = all[60].0;
            for (at_ns, source, stamp_ns) in &mut all {
                if *at_ns >= after_ns && source.sic == 1 {
                    *stamp_ns += wrong_s * SECOND_NS;
                }
            }
            assert!(error_s(&all) <= 1.0, "{wrong_s}");
        }
    }

    #[test]
    fn a_pause_of_all_and_the_end_of_one_hold_nobody_up() {
        let mut all = stamps(&[0, 0], 1, 60);
        let again = stamps(&[0, 0], 1, 120);
        all.extend(again.iter().filter(|(at_ns, ..)| *at_ns >= 1_090 * SECOND_NS));
        // After the pause the second one of two has to say so, too.
        assert!(error_s(&all[..120]) <= 1.0);
        let mut clock = StampedArrivals::default();
        all.iter().for_each(|(_, source, stamp_ns)| clock.hear(*source, *stamp_ns));
        assert!((clock.now_ns().unwrap() - all[all.len() - 1].0).abs() <= SECOND_NS);
        // One of two falls silent.
        let mut alone = stamps(&[0, 0], 1, 120);
        alone.retain(|(at_ns, source, _)| source.sic == 0 || *at_ns < 1_030 * SECOND_NS);
        assert!(error_s(&alone) <= 1.0);
    }
}
