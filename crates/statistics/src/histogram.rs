//! A log-linear histogram of 64-bit values: 32 buckets to every doubling.
//!
//! Values below 64 have a bucket each; above, a bucket is at most 1/32 of its lower bound wide, so
//! that a value read from a bucket's upper bound is at most 3.125 % too large. The layout is the
//! one in the ring file and in sketch rows and may never change.

use crate::Quantile;

/// Buckets to every doubling.
pub const SUB_BUCKETS: usize = 32;
/// Buckets of a histogram over all of `u64`.
pub const BUCKET_COUNT: usize = 1920;

/// The bucket that counts `value`, in `[0, BUCKET_COUNT)`.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the result is below 1920
pub const fn bucket_index(value: u64) -> usize {
    // Below 64 the shift is 0 and the index the value itself, without a branch: `value | 32` has
    // its highest bit at position 5 or above.
    let shift = 58 - (value | 32).leading_zeros();
    (shift as usize) * SUB_BUCKETS + (value >> shift) as usize
}

/// The smallest value that bucket `index` counts.
pub const fn bucket_min(index: usize) -> u64 {
    if index < 2 * SUB_BUCKETS {
        return index as u64;
    }
    let shift = index / SUB_BUCKETS - 1;
    ((index % SUB_BUCKETS + SUB_BUCKETS) as u64) << shift
}

/// The largest value that bucket `index` counts.
pub const fn bucket_max(index: usize) -> u64 {
    if index + 1 >= BUCKET_COUNT { u64::MAX } else { bucket_min(index + 1) - 1 }
}

/// Buckets of one [`CoarseBin`]: four bins to every doubling.
const COARSE_BUCKETS: usize = SUB_BUCKETS / 4;

/// Count of neighbouring buckets, as people look at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoarseBin {
    /// The smallest value that it counts.
    pub min: u64,
    /// The largest value that it counts.
    pub max: u64,
    /// Number of values, above 0.
    pub count: u64,
}

/// Counts of values, with their exact count, sum, smallest and largest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>, // BUCKET_COUNT of them
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKET_COUNT], count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Histogram {
    /// Counts one value.
    pub fn add(&mut self, value: u64) {
        self.counts[bucket_index(value)] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Counts `count` values of which only the bucket `index` is known. Smallest and largest become
    /// the bucket's bounds, and the sum grows by the middle of the bucket.
    ///
    /// # Panics
    /// When `index` is not below [`BUCKET_COUNT`].
    pub fn add_bucket(&mut self, index: usize, count: u64) {
        if count == 0 {
            return;
        }
        let (low, high) = (bucket_min(index), bucket_max(index));
        self.counts[index] += count;
        self.count += count;
        self.sum += u128::from(count) * u128::from(low + (high - low) / 2);
        self.min = self.min.min(low);
        self.max = self.max.max(high);
    }

    /// Replaces sum, smallest and largest by exact values from another source.
    pub fn set_exact(&mut self, sum: u128, min: u64, max: u64) {
        (self.sum, self.min, self.max) = (sum, min, max);
    }

    /// Adds all counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of counted values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the counted values.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Smallest value; `None` when nothing was counted.
    pub const fn min(&self) -> Option<u64> {
        if self.count == 0 { None } else { Some(self.min) }
    }

    /// Largest value; `None` when nothing was counted.
    pub const fn max(&self) -> Option<u64> {
        if self.count == 0 { None } else { Some(self.max) }
    }

    /// Mean of the counted values; `None` when nothing was counted.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The quantile by nearest rank, rounded up to the upper bound of its bucket (at most 3.125 %
    /// too large) and never beyond the largest value; `None` when nothing was counted.
    pub fn quantile(&self, quantile: Quantile) -> Option<u64> {
        let rank = quantile.rank(self.count);
        let mut seen = 0;
        self.buckets()
            .find(|(_, count)| {
                seen += count;
                seen >= rank
            })
            .map(|(index, _)| bucket_max(index).min(self.max))
    }

    /// The buckets that counted anything, ascending: index and count.
    pub fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }

    /// The counts in at most four bins to every doubling, ascending, so that decades fit on a
    /// screen; below 32 a bin has eight values. Bins without a value are left out.
    pub fn coarse_bins(&self) -> impl Iterator<Item = CoarseBin> + '_ {
        self.counts.chunks(COARSE_BUCKETS).enumerate().filter_map(|(bin, counts)| {
            let count = counts.iter().sum();
            let first = bin * COARSE_BUCKETS;
            let max = bucket_max(first + COARSE_BUCKETS - 1);
            (count > 0).then(|| CoarseBin { min: bucket_min(first), max, count })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_tile_the_numbers() {
        assert_eq!(bucket_min(0), 0);
        assert_eq!(bucket_index(u64::MAX), BUCKET_COUNT - 1);
        for index in 0..BUCKET_COUNT {
            assert_eq!(bucket_index(bucket_min(index)), index);
            assert_eq!(bucket_index(bucket_max(index)), index);
        }
    }

    #[test]
    fn examples_by_hand() {
        assert_eq!(bucket_index(63), 63);
        assert_eq!((bucket_index(64), bucket_index(65)), (64, 64)); // 64 and 65 share a bucket
        assert_eq!(bucket_index(66), 65);
    }

    #[test]
    fn nothing_counted_has_no_quantile() {
        let h = Histogram::default();
        assert_eq!((h.quantile(Quantile::P50), h.min(), h.mean()), (None, None, None));
    }

    #[test]
    fn coarse_bins_by_hand() {
        let mut h = Histogram::default();
        [0, 7, 8, 64, 79, 80].into_iter().for_each(|value| h.add(value));
        let bins: Vec<_> = h.coarse_bins().map(|bin| (bin.min, bin.max, bin.count)).collect();
        assert_eq!(bins, [(0, 7, 2), (8, 15, 1), (64, 79, 2), (80, 95, 1)]);
        h.add(u64::MAX);
        assert_eq!(h.coarse_bins().last().map(|bin| bin.max), Some(u64::MAX));
    }

    proptest! {
        /// The promise: a quantile is never too small and at most 3.125 % too large.
        #[test]
        fn quantiles_are_within_the_error(
            mut values in prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 60)), 1..300),
            q in 0u32..=1_000_000,
        ) {
            let mut h = Histogram::default();
            values.iter().for_each(|v| h.add(*v));
            values.sort_unstable();
            let q = Quantile::from_millionths(q).unwrap();
            let exact = crate::nearest_rank(&values, q).unwrap();
            let read = h.quantile(q).unwrap();
            prop_assert!(read >= exact);
            prop_assert!(u128::from(read) * 32 <= u128::from(exact) * 33);
            prop_assert_eq!(h.sum(), values.iter().map(|v| u128::from(*v)).sum::<u128>());
        }

        /// Merging is the same as having counted all in one.
        #[test]
        fn merge_is_addition(a in prop::collection::vec(any::<u64>(), 0..50), b in prop::collection::vec(any::<u64>(), 0..50)) {
            let count = |v: &[u64]| { let mut h = Histogram::default(); v.iter().for_each(|x| h.add(*x)); h };
            let mut merged = count(&a);
            merged.merge(&count(&b));
            prop_assert_eq!(merged, count(&[a, b].concat()));
        }
    }
}
