//! How regularly something arrives, and what is usual for many such streams.
//!
//! The measure is the *spread* of the intervals between arrivals: their standard deviation over their
//! mean (the coefficient of variation). It has no unit, so that streams of different rates are
//! comparable: 0 is a clock, 1 is arrivals at random (a Poisson process), above are bursts and gaps.
//!
//! A stream stands out by [`Usual`]: a bound that is made of the medians of many streams, which half
//! of them cannot move. Not here: a change of the rate alone, which is regular before and after.

use crate::median;

/// Least number of intervals of which a spread is taken.
pub const INTERVALS_MIN: u64 = 10;
/// A spread below this never stands out: the jitter of processes and networks.
pub const SPREAD_MIN: f64 = 0.05;
/// Least number of spreads by which the usual one is known.
const SPREADS_MIN: usize = 3;
/// Median deviations above the median that still are usual, in standard deviations of a normal
/// distribution: of values that scatter widely none stands out by their scatter alone.
const DEVIATIONS_MAX: f64 = 5.0;
/// Standard deviation of a normal distribution in median deviations (F. Hampel, 1974).
const NORMAL: f64 = 1.4826;

/// Intervals between arrivals of a stream within a time, as exact sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Intervals {
    /// Number of intervals that ended within the time.
    pub count: u64,
    /// Their sum, in nanoseconds.
    pub sum_ns: u64,
    /// Sum of their squares, in square nanoseconds.
    pub squares_ns2: u128,
    /// Age of the last arrival at the end of the time, in nanoseconds; 0 where none is known.
    pub open_ns: u64,
}

impl Intervals {
    /// Adds an interval.
    pub const fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.squares_ns2 = self.squares_ns2.saturating_add(ns as u128 * ns as u128);
    }

    /// Adds those of the time that follows.
    pub const fn append(&mut self, next: Self) {
        self.count += next.count;
        self.sum_ns = self.sum_ns.saturating_add(next.sum_ns);
        self.squares_ns2 = self.squares_ns2.saturating_add(next.squares_ns2);
        self.open_ns = next.open_ns;
    }

    /// These without those of a first part of the time.
    #[must_use]
    pub const fn without(self, first: Self) -> Self {
        Self {
            count: self.count.saturating_sub(first.count),
            sum_ns: self.sum_ns.saturating_sub(first.sum_ns),
            squares_ns2: self.squares_ns2.saturating_sub(first.squares_ns2),
            open_ns: self.open_ns,
        }
    }

    /// Standard deviation of the intervals over their mean. The open interval counts where it is
    /// longer than the mean: a gap is one before it ends. Infinite where the stream was silent all
    /// the time; `None` with 1 to 9 intervals ([`INTERVALS_MIN`]), which do not tell.
    pub fn spread(self) -> Option<f64> {
        if self.count == 0 {
            return Some(f64::INFINITY);
        }
        if self.count < INTERVALS_MIN {
            return None;
        }
        let mut all = self;
        if self.open_ns > self.sum_ns / self.count {
            all.add(self.open_ns);
        }
        // Exact until here: n Σx² − (Σx)² is the variance times n².
        let sum = u128::from(all.sum_ns);
        let squares = u128::from(all.count).saturating_mul(all.squares_ns2);
        let variance = squares.saturating_sub(sum.saturating_mul(sum)) as f64;
        Some(if sum == 0 { 0.0 } else { variance.sqrt() / sum as f64 })
    }
}

/// The usual spread: of many streams at one time, or of one stream at many times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usual {
    /// Median of the spreads.
    pub median: f64,
    /// Median of their deviations from it.
    pub deviation: f64,
}

impl Usual {
    /// Of these spreads; `None` of fewer than three. The one that is judged may be among them: it
    /// moves neither median by more than its neighbour.
    pub fn of(spreads: &[f64]) -> Option<Self> {
        if spreads.len() < SPREADS_MIN {
            return None;
        }
        let middle = median(spreads.iter().copied())?;
        if middle.is_infinite() {
            return Some(Self { median: middle, deviation: 0.0 });
        }
        let deviation = median(spreads.iter().map(|spread| (spread - middle).abs()))?;
        Some(Self { median: middle, deviation })
    }

    /// The largest spread that does not stand out: `times` the median, five standard deviations of
    /// the others above it, or [`SPREAD_MIN`], whichever is most.
    pub fn bound(self, times: f64) -> f64 {
        let scatter = DEVIATIONS_MAX * NORMAL * self.deviation;
        (times * self.median).max(self.median + scatter).max(SPREAD_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use proptest::prelude::*;

    fn of(intervals: impl IntoIterator<Item = u64>) -> Intervals {
        let mut all = Intervals::default();
        intervals.into_iter().for_each(|ns| all.add(ns));
        all
    }

    #[test]
    fn by_hand() {
        assert_eq!(of([7; 20]).spread(), Some(0.0));
        // Mean 2, standard deviation 1.
        assert_eq!(of([1, 3].repeat(10)).spread(), Some(0.5));
        assert_eq!(of([1; 9]).spread(), None, "too few");
        assert_eq!(of([0; 12]).spread(), Some(0.0), "all at once");
        assert_eq!(Intervals { open_ns: 5, ..Intervals::default() }.spread(), Some(f64::INFINITY));
    }

    #[test]
    fn a_gap_counts_before_it_ends() {
        let regular = of([10; 30]);
        assert_eq!(Intervals { open_ns: 9, ..regular }.spread(), Some(0.0));
        let gap = Intervals { open_ns: 3_000, ..regular }.spread().unwrap();
        assert_eq!(of([10; 30].into_iter().chain([3_000])).spread(), Some(gap));
        assert!(gap > 4.0, "{gap}");
    }

    #[test]
    fn one_of_three_stands_out_and_a_common_fault_of_nobody() {
        let bound = |spreads: &[f64]| Usual::of(spreads).unwrap().bound(3.0);
        assert!(bound(&[0.01, 0.02, 2.0]) < 2.0);
        assert_eq!(bound(&[0.001, 0.002, 0.003]), SPREAD_MIN);
        assert!(bound(&[1.9, 2.0, 2.1]) > 2.1, "all are irregular");
        assert_eq!(bound(&[0.1, f64::INFINITY, f64::INFINITY]), f64::INFINITY);
        assert!(bound(&[0.1, 0.1, f64::INFINITY]) < 1.0);
        assert_eq!(Usual::of(&[0.1, 0.2]), None);
    }

    /// A draw of an interval.
    type Draw = fn(&mut Random) -> f64;

    /// Kinds of streams that are regular in their way, with the standard deviation of their spread
    /// over time left to chance.
    const KINDS: [(&str, Draw); 4] = [
        ("a clock with a jitter of 2 %", |random| 1.0 + 0.02 * random.normal()),
        ("at random (Poisson)", |random| random.exponential(1.0)),
        ("log-normal, sigma 1", |random| random.log_normal(1.0, 1.0)),
        ("one of ten intervals is a pause", |random| match random.below(10) {
            0 => random.exponential(9.0),
            _ => 0.1,
        }),
    ];

    /// The spread of a stream's intervals.
    fn drawn(random: &mut Random, draw: Draw, count: u64) -> f64 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, small
        let ns = |value: f64| (value.max(0.0) * 1e9) as u64;
        of((0..count).map(|_| ns(draw(random)))).spread().unwrap()
    }

    /// A/A: streams of one kind, none of which is irregular. At most one in 300 judgements of a
    /// stream may stand out; printed with `--nocapture`.
    #[test]
    fn streams_of_one_kind_hardly_ever_stand_out() {
        for (name, draw) in KINDS {
            for (streams, count) in [(3, 30), (5, 300), (14, 1000), (100, 50)] {
                let (mut found, mut judged) = (0_u32, 0_u32);
                for seed in 0..400 {
                    let mut random = Random(seed);
                    let spreads: Vec<f64> =
                        (0..streams).map(|_| drawn(&mut random, draw, count)).collect();
                    let bound = Usual::of(&spreads).unwrap().bound(3.0);
                    judged += streams;
                    found +=
                        u32::try_from(spreads.iter().filter(|it| **it > bound).count()).unwrap();
                }
                println!("{name}: {streams} streams of {count}: {found} of {judged}");
                assert!(found * 300 <= judged, "{name}, {streams} of {count}: {found} of {judged}");
            }
        }
    }

    /// The power: one stream of five whose every tenth interval is ten times as long is found.
    #[test]
    fn an_irregular_stream_among_regular_ones_stands_out() {
        for seed in 0..400 {
            let mut random = Random(seed);
            let mut spreads: Vec<f64> =
                (0..5).map(|_| drawn(&mut random, KINDS[0].1, 300)).collect();
            spreads[2] =
                drawn(&mut random, |random| if random.below(10) == 0 { 10.0 } else { 1.0 }, 300);
            let bound = Usual::of(&spreads).unwrap().bound(3.0);
            let out: Vec<usize> = (0..5).filter(|at| spreads[*at] > bound).collect();
            assert_eq!(out, [2], "seed {seed}: {spreads:?}");
        }
    }

    proptest! {
        /// The sums of a part and of the rest are those of the whole, and no sum overflows.
        #[test]
        fn parts_make_the_whole(first in prop::collection::vec(any::<u64>(), 0..9), rest in prop::collection::vec(any::<u64>(), 0..40)) {
            let small = |all: &[u64]| all.iter().map(|ns| ns >> 20).collect::<Vec<_>>();
            let (first, rest) = (of(small(&first)), of(small(&rest)));
            let mut whole = first;
            whole.append(rest);
            prop_assert_eq!(whole.without(first), rest);
            let spread = of([u64::MAX; 12]).spread().unwrap();
            prop_assert!(spread >= 0.0 && spread.is_finite());
        }
    }
}
