//! Error bounds of durations that cross from one host's clock to another's.
//!
//! A raw duration is `(start − root start) + elapsed`. The true duration differs from it by the
//! difference of the two clock offsets, each known within its error. The raw duration is therefore
//! wrong by up to the difference *plus* the errors, a corrected one by the errors alone. A duration
//! that is shorter than this bound, or negative, is explained by the clocks: it is known only to be
//! short.

use crate::ClockEstimate;

/// Correction and errors of durations between two hosts' clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockShift {
    /// Correction to add to the raw duration, in nanoseconds; saturating.
    pub correction_ns: i64,
    /// The true duration is within the corrected one ± this, in nanoseconds; saturating.
    pub error_ns: u64,
}

impl ClockShift {
    /// The clock shift between a root's start, by its host's clock at that time, and the end of a
    /// leaf, by its host's clock at the leaf's start.
    pub const fn between(root: ClockEstimate, leaf: ClockEstimate) -> Self {
        Self {
            correction_ns: root.offset_ns.saturating_sub(leaf.offset_ns),
            error_ns: root.error_ns.saturating_add(leaf.error_ns),
        }
    }

    /// The raw duration is within so much of the true one, in nanoseconds.
    pub const fn raw_error_ns(self) -> u64 {
        self.correction_ns.unsigned_abs().saturating_add(self.error_ns)
    }
}

/// The shortest of the durations that cross hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortest {
    /// Nanoseconds; negative when the clocks disagree by more than it took.
    pub duration_ns: i64,
    /// Error bound of the duration, in nanoseconds; `None` when it is not known.
    pub error_ns: Option<u64>,
}

impl Shortest {
    /// Whether the clocks explain it: the truth may as well be nothing, or anything up to twice
    /// as long.
    pub fn is_explained(&self) -> bool {
        let length_ns = self.duration_ns.unsigned_abs();
        self.error_ns.is_some_and(|error_ns| length_ns <= error_ns)
    }
}

/// Parts of 1 in which [`Crossings::share_sum`] counts.
pub const SHARE_UNITS: u64 = 1 << 32;

/// Durations that cross hosts, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crossings {
    /// Number of crossing durations, including negative ones.
    pub count: u64,
    /// Number of these that start or end on a clock without any reading.
    pub unknown: u64,
    /// The most that a duration may be off by, in nanoseconds.
    pub error_ns_max: u64,
    /// Sum of all known error bounds, in nanoseconds.
    pub error_ns_sum: u128,
    /// Sum of error bound divided by duration, over durations above 0; each in units of 1 /
    /// [`SHARE_UNITS`], rounded down, so that the sum does not depend on the order.
    pub share_sum: u128,
    /// Number of these.
    pub share_count: u64,
    /// Number of durations not above their error bound.
    pub explained: u64,
    /// Number of negative durations.
    pub negative: u64,
    /// Number of negative durations whose size is within their error bound.
    pub negative_explained: u64,
    /// The shortest duration.
    pub shortest: Option<Shortest>,
}

impl Crossings {
    /// Adds a duration with its error bound; `None` when the bound is not known.
    pub fn add(&mut self, duration_ns: i64, error_ns: Option<u64>) {
        let this = Shortest { duration_ns, error_ns };
        self.count += 1;
        self.unknown += u64::from(error_ns.is_none());
        if let Some(error_ns) = error_ns {
            self.error_ns_max = self.error_ns_max.max(error_ns);
            self.error_ns_sum += u128::from(error_ns);
            if duration_ns > 0 {
                self.share_sum += share(error_ns, duration_ns.unsigned_abs());
                self.share_count += 1;
            }
        }
        let explained = u64::from(this.is_explained());
        self.explained += explained;
        if duration_ns < 0 {
            self.negative += 1;
            self.negative_explained += explained;
        }
        self.offer(this);
    }

    /// Adds what others have counted.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.unknown += other.unknown;
        self.error_ns_max = self.error_ns_max.max(other.error_ns_max);
        self.error_ns_sum += other.error_ns_sum;
        self.share_sum += other.share_sum;
        self.share_count += other.share_count;
        self.explained += other.explained;
        self.negative += other.negative;
        self.negative_explained += other.negative_explained;
        other.shortest.into_iter().for_each(|other| self.offer(other));
    }

    fn offer(&mut self, other: Shortest) {
        // Of equal durations the one with the smaller error, so that the order of arrival has no
        // effect.
        let rank = |short: &Shortest| (short.duration_ns, short.error_ns.is_none(), short.error_ns);
        if self.shortest.is_none_or(|mine| rank(&other) < rank(&mine)) {
            self.shortest = Some(other);
        }
    }

    /// Mean of the known error bounds, in nanoseconds; `None` without any.
    pub fn error_ns_mean(&self) -> Option<f64> {
        let known = self.count - self.unknown;
        (known > 0).then(|| self.error_ns_sum as f64 / known as f64)
    }

    /// The mean share that a duration may be off by, 1 being the whole of it; `None` without any.
    pub fn share_mean(&self) -> Option<f64> {
        let mean = |sum: u128| sum as f64 / SHARE_UNITS as f64 / self.share_count as f64;
        (self.share_count > 0).then(|| mean(self.share_sum))
    }
}

/// An error bound divided by a duration above 0, in units of 1 / [`SHARE_UNITS`].
fn share(error_ns: u64, duration_ns: u64) -> u128 {
    match error_ns.checked_mul(SHARE_UNITS) {
        Some(units) => u128::from(units / duration_ns),
        None => u128::from(error_ns) * u128::from(SHARE_UNITS) / u128::from(duration_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClockTrack;
    use proptest::prelude::*;

    #[test]
    fn counted_by_hand() {
        let mut crossings = Crossings::default();
        for (duration_ns, error_ns) in [(10, Some(5)), (-3, Some(4)), (-9, Some(1)), (7, None)] {
            crossings.add(duration_ns, error_ns);
        }
        assert_eq!((crossings.count, crossings.unknown, crossings.explained), (4, 1, 1));
        assert_eq!((crossings.negative, crossings.negative_explained), (2, 1));
        assert_eq!((crossings.error_ns_max, crossings.error_ns_mean()), (5, Some(10.0 / 3.0)));
        assert_eq!(crossings.share_mean(), Some(0.5));
        let shortest = crossings.shortest.unwrap();
        assert_eq!((shortest.duration_ns, shortest.is_explained()), (-9, false));
        let mut twice = crossings;
        twice.merge(&crossings);
        assert_eq!((twice.count, twice.shortest), (8, crossings.shortest));
    }

    proptest! {
        /// Two clocks with offsets and reading errors: the true duration is within the stated
        /// bounds of the corrected one, and of the raw one.
        #[test]
        fn the_true_duration_is_within_what_is_said(
            offsets in [-5_000_000_000i64..5_000_000_000, -5_000_000_000i64..5_000_000_000],
            errors in [0u64..9_000_000, 0u64..9_000_000],
            shares in [-100i64..=100, -100i64..=100],
            every_ns in 1i64..60_000_000_000,
            root_ns in 0i64..600_000_000_000,
            true_ns in 0i64..10_000_000_000,
        ) {
            let mut tracks = [ClockTrack::default(), ClockTrack::default()];
            for host in 0..2 {
                let off = i64::try_from(errors[host]).unwrap() * shares[host] / 100;
                for n in 0..10 {
                    let offset_ns = offsets[host] + off;
                    let read = ClockEstimate { offset_ns, error_ns: errors[host] };
                    tracks[host].insert(n * every_ns, read);
                }
            }
            let (root_stamp, leaf_stamp) = (root_ns + offsets[0], root_ns + true_ns + offsets[1]);
            let shift = ClockShift::between(
                tracks[0].at_own(root_stamp).unwrap(),
                tracks[1].at_own(leaf_stamp).unwrap(),
            );
            let raw_ns = leaf_stamp - root_stamp;
            prop_assert!(raw_ns.abs_diff(true_ns) <= shift.raw_error_ns());
            prop_assert!((raw_ns + shift.correction_ns).abs_diff(true_ns) <= shift.error_ns);
        }
    }
}
