//! Durations of one series: Prometheus's classic buckets, its native ones, and exemplars.

use chronoscope_model::ChainId;
use chronoscope_statistics::ExponentialHistogram;

/// Upper bounds of the classic buckets in nanoseconds: 1, 2.5 and 5 of every power of ten from 1 µs
/// to 50 s.
pub(super) const BOUNDS_NS: [u64; 24] = {
    let mut bounds = [0; 24];
    let (mut index, mut power) = (0, 1_000);
    while index < bounds.len() {
        bounds[index] = power;
        bounds[index + 1] = power / 2 * 5;
        bounds[index + 2] = power * 5;
        power *= 10;
        index += 3;
    }
    bounds
};
/// Number of classic buckets: those with a bound, and the one of all above.
pub(super) const CLASSIC_COUNT: usize = BOUNDS_NS.len() + 1;

/// Time that an exemplar stands before one of a shorter duration may replace it.
const REPLACED_AFTER_NS: i64 = 60_000_000_000;
/// Age at which an exemplar is left out: its chain may be deleted soon, and it says nothing of now.
const AGE_NS_MAX: i64 = 600_000_000_000;

/// A chain that stands for a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exemplar {
    pub(super) chain: ChainId,
    /// The chain's id is a trace id of OpenTelemetry.
    pub(super) is_trace: bool,
    /// The duration.
    pub(super) ns: u64,
    /// End of the duration, and not after its arrival: UTC, nanoseconds since 1970. Prometheus
    /// refuses exemplars that are older than the one before, so one of the future would be the last.
    pub(super) at_ns: i64,
}

/// Where a duration comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DurationSource {
    pub(super) chain: ChainId,
    /// The chain's id is a trace id of OpenTelemetry.
    pub(super) is_trace: bool,
    /// End of the duration: UTC, nanoseconds since 1970.
    pub(super) end_ns: i64,
    /// When it was counted: UTC, nanoseconds since 1970.
    pub(super) now_ns: i64,
}

/// Counts of durations.
#[derive(Clone, Debug, Default)]
pub(super) struct DurationHistogram {
    /// Values up to each bound and above the one before; then those above all.
    pub(super) counts: [u64; CLASSIC_COUNT],
    /// By classic bucket: a slow one of the last minutes.
    exemplars: [Option<Exemplar>; CLASSIC_COUNT],
    /// The same values in seconds.
    pub(super) native: ExponentialHistogram,
    pub(super) sum_ns: u128,
}

impl DurationHistogram {
    /// Counts a duration.
    pub(super) fn add(&mut self, ns: u64, of: DurationSource) {
        let bucket = BOUNDS_NS.partition_point(|bound| *bound < ns);
        self.counts[bucket] += 1;
        self.native.add(seconds(u128::from(ns)));
        self.sum_ns += u128::from(ns);
        let at_ns = of.end_ns.min(of.now_ns);
        let is_replaced = |kept: &Exemplar| {
            at_ns >= kept.at_ns
                && (ns >= kept.ns || at_ns.saturating_sub(kept.at_ns) >= REPLACED_AFTER_NS)
        };
        if !of.chain.is_none() && self.exemplars[bucket].as_ref().is_none_or(is_replaced) {
            let DurationSource { chain, is_trace, .. } = of;
            self.exemplars[bucket] = Some(Exemplar { chain, is_trace, ns, at_ns });
        }
    }

    /// The histogram without exemplars that are too old at `now_ns` (UTC, nanoseconds since 1970).
    pub(super) fn at(mut self, now_ns: i64) -> Self {
        for kept in &mut self.exemplars {
            *kept = kept.filter(|kept| now_ns.saturating_sub(kept.at_ns) <= AGE_NS_MAX);
        }
        self
    }

    /// The classic buckets: upper bound in seconds, cumulated count, exemplar.
    pub(super) fn classic(&self) -> impl Iterator<Item = (f64, u64, Option<&Exemplar>)> {
        let bounds = BOUNDS_NS.iter().map(|ns| seconds(u128::from(*ns))).chain([f64::INFINITY]);
        let mut below = 0;
        let buckets = bounds.zip(self.counts).zip(&self.exemplars);
        buckets.map(move |((bound, count), exemplar)| {
            below += count;
            (bound, below, exemplar.as_ref())
        })
    }

    /// All exemplars, the oldest first.
    pub(super) fn exemplars(&self) -> Vec<&Exemplar> {
        let mut all: Vec<_> = self.exemplars.iter().flatten().collect();
        all.sort_by_key(|exemplar| exemplar.at_ns);
        all
    }

    /// Number of durations.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl Exemplar {
    /// Its labels, less than the 128 characters that OpenMetrics allows.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&'static str, String)> {
        let names = ["chain_id", "trace_id"].into_iter().take(1 + usize::from(self.is_trace));
        names.map(|name| (name, self.chain.to_string()))
    }
}

/// Nanoseconds as seconds.
#[allow(clippy::cast_precision_loss)] // 53 bits are enough for a sum
pub(super) fn seconds(ns: u128) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(chain: u128, end_ns: i64) -> DurationSource {
        DurationSource { chain: ChainId(chain), end_ns, now_ns: i64::MAX, is_trace: false }
    }

    #[test]
    fn bounds_are_inclusive_as_prometheus_has_them() {
        assert_eq!(BOUNDS_NS[..4], [1_000, 2_500, 5_000, 10_000]);
        assert_eq!(BOUNDS_NS[23], 50_000_000_000);
        let mut counted = DurationHistogram::default();
        for ns in [0, 1_000, 1_001, u64::MAX] {
            counted.add(ns, DurationSource::default());
        }
        assert_eq!((counted.counts[0], counted.counts[1], counted.counts[24]), (2, 1, 1));
        assert_eq!((counted.native.zero(), counted.count()), (1, 4));
        assert!(counted.exemplars().is_empty(), "a row without a chain");
    }

    #[test]
    fn an_exemplar_is_the_slowest_of_a_minute() {
        let mut counted = DurationHistogram::default();
        let shown = |counted: &DurationHistogram| {
            counted.exemplars().iter().map(|exemplar| exemplar.chain.0).collect::<Vec<_>>()
        };
        let minute_ns = REPLACED_AFTER_NS;
        let steps = [
            (1_500, 1, 0, 1),
            (1_400, 2, 1, 1),
            (1_600, 3, 2, 3),
            (1_300, 4, minute_ns + 1, 3),
            (1_300, 5, minute_ns + 2, 5),
            (1_700, 6, 3, 5), // a row of before, which came late
        ];
        for (ns, chain, end_ns, expected) in steps {
            counted.add(ns, from(chain, end_ns));
            assert_eq!(shown(&counted), [expected]);
        }
        counted.add(9_000, from(7, 0));
        assert_eq!(shown(&counted), [7, 5], "the oldest first");
        assert_eq!(shown(&counted.clone().at(minute_ns + 2 + AGE_NS_MAX)), [5]);
        assert_eq!(shown(&counted.at(minute_ns + 3 + AGE_NS_MAX)), [0u128; 0]);
    }

    #[test]
    fn an_exemplar_is_not_of_the_future() {
        let mut counted = DurationHistogram::default();
        let ahead = DurationSource { now_ns: 50, ..from(1, 1_000) };
        counted.add(7, ahead);
        assert_eq!(counted.exemplars()[0].at_ns, 50);
    }
}
