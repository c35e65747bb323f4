//! A base-2 exponential histogram: [`PER_DOUBLING`] buckets of equal ratio to every doubling, at any
//! magnitude.
//!
//! It is the layout of Prometheus's native histograms (there "schema" 5) and of OpenTelemetry's
//! exponential histograms ("scale" 5). 1 is a boundary, and a boundary is the one before times
//! 2^(1/32), so that bucket `index` counts values in (2^((index − 1)/32), 2^(index/32)]. Bounds do
//! not depend on a unit's smallest step, as those of [`crate::Histogram`] do: a bucket of that
//! one may lie across a boundary of this one when the unit is a second. Values are therefore counted
//! here as they come, and never converted from there.

use std::sync::LazyLock;

/// Exponent of two of the number of buckets to every doubling.
pub const EXPONENTIAL_SCHEMA: i32 = 5;
/// Buckets to every doubling.
const PER_DOUBLING: usize = 1 << EXPONENTIAL_SCHEMA;

/// Boundaries between a half and 1, the half included.
static BOUNDS: LazyLock<[f64; PER_DOUBLING]> = LazyLock::new(|| {
    std::array::from_fn(|index| 0.5 * (index as f64 / PER_DOUBLING as f64).exp2())
});

/// The bucket of a positive number. Zero, negative numbers and NaN have none.
pub fn exponential_index(value: f64) -> Option<i32> {
    const MANTISSA: u64 = (1 << 52) - 1;
    const HALF: u64 = 1022 << 52;
    if !(value > 0.0 && value.is_finite()) {
        return None;
    }
    // Smaller numbers have fewer digits, and are below every unit that is measured.
    let bits = value.max(f64::MIN_POSITIVE).to_bits();
    let exponent = i32::try_from(bits >> 52).unwrap_or(0) - 1022;
    let fraction = f64::from_bits(bits & MANTISSA | HALF); // in [1/2, 1)
    let step = BOUNDS.partition_point(|bound| *bound < fraction);
    Some(((exponent - 1) << EXPONENTIAL_SCHEMA) + i32::try_from(step).unwrap_or(0))
}

/// The largest number that bucket `index` counts; the bucket before ends where this one begins.
pub fn exponential_max(index: i32) -> f64 {
    (f64::from(index) / PER_DOUBLING as f64).exp2()
}

/// Counts of numbers. Any number read from a bucket is within 2.19 % (2^(1/32) − 1) of those that
/// the bucket counts.
///
/// Memory: eight bytes for each bucket between the smallest and the largest number, 2,080 buckets
/// from a nanosecond in seconds to the most that 64 bits of nanoseconds hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExponentialHistogram {
    zero: u64,
    /// Index of the first of the counts.
    first: i32,
    counts: Vec<u64>,
}

impl ExponentialHistogram {
    /// Counts a number; one that has no bucket ([`exponential_index`]) counts as zero.
    pub fn add(&mut self, value: f64) {
        let Some(index) = exponential_index(value) else { return self.zero += 1 };
        if self.counts.is_empty() {
            self.first = index;
        }
        if index < self.first {
            let more = usize::try_from(self.first - index).unwrap_or(0);
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = index;
        }
        let at = usize::try_from(index - self.first).unwrap_or(0);
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
    }

    /// Count of zeros.
    pub const fn zero(&self) -> u64 {
        self.zero
    }

    /// The buckets that counted anything, ascending: index and count.
    pub fn buckets(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        (self.first..).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn powers_of_two_are_the_last_of_their_bucket() {
        for exponent in [-30, -1, 0, 1, 34] {
            let value = f64::from(exponent).exp2();
            assert_eq!(exponential_index(value), Some(exponent * 32), "{value}");
            assert_eq!(exponential_index(value * 1.000_001), Some(exponent * 32 + 1), "{value}");
            assert_eq!(exponential_max(exponent * 32), value);
        }
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(exponential_index), [None; 4]);
        assert!(exponential_index(f64::from_bits(1)).is_some());
    }

    #[test]
    fn counts_by_hand() {
        let mut counted = ExponentialHistogram::default();
        for value in [1.0, 4.0, 0.0, 0.5, 4.0] {
            counted.add(value);
        }
        assert_eq!(counted.zero(), 1);
        assert_eq!(counted.buckets().collect::<Vec<_>>(), [(-32, 1), (0, 1), (64, 2)]);
    }

    proptest! {
        /// The promise: every number of nanoseconds, in seconds, lies in its bucket.
        #[test]
        fn a_number_is_within_its_bucket(ns in any::<u64>().prop_map(|v| (v >> (v % 64)).max(1))) {
            let seconds = ns as f64 / 1e9;
            let index = exponential_index(seconds).unwrap();
            let (below, max) = (exponential_max(index - 1), exponential_max(index));
            // A bound is irrational unless it is a power of two: the last digit may differ.
            prop_assert!(below <= seconds * (1.0 + 1e-15) && seconds <= max * (1.0 + 1e-15));
            prop_assert!(max / below <= 1.021_9);
        }

        /// Counting is the same in any order, and loses nothing.
        #[test]
        fn the_order_of_numbers_does_not_matter(ns in prop::collection::vec(0u64..1 << 40, 0..50)) {
            let count = |values: &mut dyn Iterator<Item = &u64>| {
                let mut counted = ExponentialHistogram::default();
                values.for_each(|ns| counted.add(*ns as f64));
                counted
            };
            let (forward, backward) = (count(&mut ns.iter()), count(&mut ns.iter().rev()));
            prop_assert_eq!(&forward, &backward);
            let all: u64 = forward.buckets().map(|(_, count)| count).sum();
            prop_assert_eq!(all + forward.zero(), ns.len() as u64);
        }
    }
}
