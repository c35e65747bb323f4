//! The cells of an axis: equal ones, or equal on a logarithmic scale.
//!
//! Edges are whole nanoseconds, so that a cell is a range of values that can be asked for again,
//! and which cell a value is in is exact whatever the scale.

use std::ops::Range;

/// Linear or logarithmic scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scale {
    /// Equal cells.
    Linear,
    /// Cells of equal ratio. Values below 1 lie in the first cell.
    #[default]
    Log,
}

/// The edges of an axis' cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Edges {
    scale: Scale,
    /// Ascending edges, one more than cells. Neighbours are equal where there are more cells than
    /// values.
    at: Vec<u64>,
    /// For each bucket from `first_bucket` on: the cell of its smallest value (logarithmic axes
    /// only).
    first: Vec<u32>,
    first_bucket: usize,
    /// Cells per unit (linear axes only).
    per_unit: f64,
}

impl Edges {
    /// `count` cells over the range (its end is not in it).
    ///
    /// # Panics
    /// When the range is empty, or there are no cells or more than 2³² − 1.
    pub fn new(scale: Scale, range: Range<u64>, count: usize) -> Self {
        assert!(!range.is_empty() && u32::try_from(count).is_ok_and(|n| n > 0), "{count} cells");
        let at = match scale {
            Scale::Linear => (0..=count).map(|index| linear(&range, count, index)).collect(),
            Scale::Log => logarithmic(&range, count),
        };
        let per_unit = count as f64 / (range.end - range.start) as f64;
        let mut edges = Self { scale, at, first: Vec::new(), first_bucket: 0, per_unit };
        if scale == Scale::Log {
            let (first, last) = (bucket(range.start), bucket(range.end));
            edges.first_bucket = first;
            let cell = |bucket| u32::try_from(edges.search(bucket_min(bucket))).unwrap_or(0);
            edges.first = (first..=last).map(cell).collect();
        }
        edges
    }

    /// The scale of the axis.
    pub const fn scale(&self) -> Scale {
        self.scale
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        self.at.len() - 1
    }

    /// The edges, ascending, one more than cells.
    pub fn all(&self) -> &[u64] {
        &self.at
    }

    /// The values of a cell (its end is not in it).
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn range(&self, cell: usize) -> Range<u64> {
        self.at[cell]..self.at[cell + 1]
    }

    /// The cell of a value. A value beyond an end is in the first or last cell.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded just below
    pub fn cell(&self, value: u64) -> usize {
        let last = self.at.len() - 2;
        // The guess may be one cell off by rounding; the edges decide.
        let guess = match self.scale {
            Scale::Log => {
                let known = bucket(value).saturating_sub(self.first_bucket);
                self.first[known.min(self.first.len() - 1)] as usize
            }
            Scale::Linear => (value.saturating_sub(self.at[0]) as f64 * self.per_unit) as usize,
        };
        let mut cell = guess.min(last);
        while cell < last && self.at[cell + 1] <= value {
            cell += 1;
        }
        while cell > 0 && self.at[cell] > value {
            cell -= 1;
        }
        cell
    }

    fn search(&self, value: u64) -> usize {
        let at_or_below = self.at.partition_point(|edge| *edge <= value);
        at_or_below.saturating_sub(1).min(self.at.len() - 2)
    }

    /// Number of ascending values in each cell. Values beyond the ends count in the first or last.
    pub fn counts(&self, ascending: &[u64]) -> Vec<u64> {
        let below = |edge: u64| ascending.partition_point(|value| *value < edge);
        let mut cuts: Vec<usize> = self.at.iter().map(|edge| below(*edge)).collect();
        if let [first, .., last] = &mut cuts[..] {
            (*first, *last) = (0, ascending.len());
        }
        cuts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect()
    }
}

/// Bits of a bucket's number below its power of two. Buckets are 0.1 % wide, narrower than the
/// cells that are drawn, so a guess by bucket is mostly right. The buckets of an ordinary range
/// stay in the first-level cache.
const BUCKET_BITS: u32 = 10;

/// Numbers buckets of values in ascending order.
#[inline]
#[allow(clippy::cast_possible_truncation)] // below 2^16
const fn bucket(value: u64) -> usize {
    let shift = 63 - BUCKET_BITS - (value | 1 << BUCKET_BITS).leading_zeros();
    ((shift as usize) << BUCKET_BITS) + (value >> shift) as usize
}

/// The smallest value of a bucket.
const fn bucket_min(bucket: usize) -> u64 {
    if bucket < 2 << BUCKET_BITS {
        return bucket as u64;
    }
    let shift = (bucket >> BUCKET_BITS) - 1;
    ((bucket - (shift << BUCKET_BITS)) as u64) << shift
}

/// The first value of cell `index` when a range is cut into `count` equal ones.
#[allow(clippy::cast_possible_truncation)] // at most `range.end`
pub(crate) fn linear(range: &Range<u64>, count: usize, index: usize) -> u64 {
    let width = u128::from(range.end - range.start);
    range.start + (width * index as u128).div_ceil(count as u128) as u64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped into the range
fn logarithmic(range: &Range<u64>, count: usize) -> Vec<u64> {
    let (low, high) = ((range.start.max(1)) as f64, (range.end.max(2)) as f64);
    let ratio = (high / low).ln();
    let mut at = vec![range.start];
    for index in 1..count {
        let edge = (low * (ratio * index as f64 / count as f64).exp()).round() as u64;
        let before = at[index - 1];
        at.push(edge.clamp(before, range.end));
    }
    at.push(range.end);
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let edges = Edges::new(Scale::Log, 1..1000, 3);
        assert_eq!(edges.all(), [1, 10, 100, 1000]);
        assert_eq!([0, 9, 10, 99, 100, 5000].map(|v| edges.cell(v)), [0, 0, 1, 1, 2, 2]);
        let edges = Edges::new(Scale::Linear, 10..20, 4);
        assert_eq!(edges.all(), [10, 13, 15, 18, 20]);
        assert_eq!(edges.counts(&[3, 10, 12, 13, 19, 20]), [3, 1, 0, 2]);
        assert_eq!((edges.range(1), edges.count()), (13..15, 4));
    }

    #[test]
    fn buckets_are_numbered_without_gaps() {
        let mut last = 0;
        for value in (0..5000).chain([u64::MAX >> 1, 1 << 63, u64::MAX]) {
            let number = bucket(value);
            assert!(number >= last && (value > 5000 || number <= last + 1), "{value}");
            let behind = bucket_min(number + 1);
            assert!(bucket_min(number) <= value && (value < behind || behind == 0), "{value}");
            last = number;
        }
    }

    proptest! {
        /// A value is in the cell whose edges enclose it, and counting says the same.
        #[test]
        fn cells_enclose(
            log in any::<bool>(),
            start in any::<u64>().prop_map(|v| v >> (v % 60)),
            width in (1u64..u64::MAX).prop_map(|v| v >> (v % 60)),
            count in 1usize..2000,
            mut values in prop::collection::vec(any::<u64>(), 0..200),
        ) {
            let range = start..start.saturating_add(width.max(1));
            prop_assume!(!range.is_empty());
            let scale = if log { Scale::Log } else { Scale::Linear };
            let edges = Edges::new(scale, range.clone(), count);
            prop_assert!(edges.all().is_sorted());
            prop_assert_eq!((edges.all()[0], edges.all()[count]), (range.start, range.end));
            for value in &mut values {
                *value = range.start + *value % (range.end - range.start);
            }
            values.sort_unstable();
            let mut counts = vec![0; count];
            for value in &values {
                let cell = edges.cell(*value);
                prop_assert!(edges.range(cell).contains(value), "{value} in {:?}", edges.range(cell));
                counts[cell] += 1;
            }
            prop_assert_eq!(edges.counts(&values), counts);
        }
    }
}
