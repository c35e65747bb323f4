//! Counts for pictures: the bins of a histogram and the grid of a scattergram.

use crate::edges::linear;
use std::ops::Range;

/// Equal bins over a range. Values outside the range are counted too, so that every value is in a
/// count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    /// From the first bin's lower edge (in it) to the last bin's upper edge (not in it), in
    /// nanoseconds.
    pub range_ns: Range<u64>,
    /// Number of values in each bin.
    pub counts: Vec<u64>,
    /// Number of values below the range.
    pub below: u64,
    /// Number of values above the range.
    pub above: u64,
}

impl Bins {
    /// Bins ascending durations (nanoseconds).
    ///
    /// # Panics
    /// When `range_ns` is empty or `count` is 0.
    pub fn of_ascending(durations_ns: &[u64], range_ns: Range<u64>, count: usize) -> Self {
        assert!(count > 0 && !range_ns.is_empty(), "{count} bins over {range_ns:?}");
        let edge = |index: usize| linear(&range_ns, count, index);
        let at = |ns: u64| durations_ns.partition_point(|duration| *duration < ns);
        let edges: Vec<usize> = (0..=count).map(|index| at(edge(index))).collect();
        Self {
            counts: edges.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect(),
            below: edges[0] as u64,
            above: (durations_ns.len() - edges[count]) as u64,
            range_ns,
        }
    }

    /// The lower edge of a bin (at `counts.len()` the upper edge of the last), in nanoseconds.
    pub fn edge_ns(&self, index: usize) -> u64 {
        linear(&self.range_ns, self.counts.len(), index)
    }
}

/// Cell of a value that lies in the range, in `[0, count)`.
#[allow(clippy::cast_possible_truncation)] // below `count`
fn cell(range: &Range<u64>, count: usize, value: u64) -> usize {
    let width = u128::from(range.end - range.start);
    (u128::from(value - range.start) * count as u128 / width) as usize
}

/// Counts over time and duration: a scattergram of any number of points in bounded memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    start_ns: Range<i64>,
    duration_ns: Range<u64>,
    columns: usize,
    rows: usize,
    counts: Vec<u32>,
    outside: u64,
}

impl Grid {
    /// An empty grid: `columns` over the starts (UTC, nanoseconds since 1970), `rows` over the
    /// durations (nanoseconds).
    ///
    /// # Panics
    /// When a range is empty, or there are no columns or rows.
    pub fn new(start_ns: Range<i64>, duration_ns: Range<u64>, columns: usize, rows: usize) -> Self {
        assert!(columns > 0 && rows > 0, "a grid of {columns} x {rows}");
        assert!(!start_ns.is_empty() && !duration_ns.is_empty(), "{start_ns:?}, {duration_ns:?}");
        Self { counts: vec![0; columns * rows], start_ns, duration_ns, columns, rows, outside: 0 }
    }

    /// Counts a point; returns whether it lies inside the grid.
    pub fn add(&mut self, start_ns: i64, duration_ns: u64) -> bool {
        if !self.start_ns.contains(&start_ns) || !self.duration_ns.contains(&duration_ns) {
            self.outside += 1;
            return false;
        }
        let width = 0..self.start_ns.end.abs_diff(self.start_ns.start);
        let column = cell(&width, self.columns, start_ns.abs_diff(self.start_ns.start));
        let row = cell(&self.duration_ns, self.rows, duration_ns);
        let count = &mut self.counts[row * self.columns + column];
        *count = count.saturating_add(1);
        true
    }

    /// The counts of one row, by column; row 0 has the shortest durations.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.counts[row * self.columns..][..self.columns]
    }

    /// All counts, row by row.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Number of columns and of rows.
    pub const fn size(&self) -> (usize, usize) {
        (self.columns, self.rows)
    }

    /// Number of points outside the grid.
    pub const fn outside(&self) -> u64 {
        self.outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_by_hand() {
        let bins = Bins::of_ascending(&[1, 10, 11, 19, 20, 29, 30], 10..30, 2);
        assert_eq!((bins.counts.as_slice(), bins.below, bins.above), (&[3, 2][..], 1, 1));
        assert_eq!([bins.edge_ns(0), bins.edge_ns(1), bins.edge_ns(2)], [10, 20, 30]);
    }

    #[test]
    fn a_grid_by_hand() {
        let mut grid = Grid::new(-100..100, 0..10, 2, 5);
        assert!(grid.add(-100, 0) && grid.add(0, 9) && grid.add(99, 8));
        assert!(!grid.add(100, 0) && !grid.add(0, 10));
        assert_eq!((grid.row(0), grid.row(4)), (&[1, 0][..], &[0, 2][..]));
        assert_eq!((grid.outside(), grid.size()), (2, (2, 5)));
    }

    proptest! {
        /// Every duration is in the bin whose edges enclose it, and none is lost.
        #[test]
        fn bins_enclose(
            mut values in prop::collection::vec(0u64..500, 0..200),
            low in 0u64..300, width in 1u64..300, count in 1usize..40,
        ) {
            values.sort_unstable();
            let bins = Bins::of_ascending(&values, low..low + width, count);
            let total = bins.below + bins.above + bins.counts.iter().sum::<u64>();
            prop_assert_eq!(total, values.len() as u64);
            for (index, counted) in bins.counts.iter().enumerate() {
                let inside = bins.edge_ns(index)..bins.edge_ns(index + 1);
                let expected = values.iter().filter(|v| inside.contains(v)).count() as u64;
                prop_assert_eq!(*counted, expected);
            }
            for value in values.iter().filter(|v| bins.range_ns.contains(v)) {
                let index = cell(&bins.range_ns, count, *value);
                prop_assert!((bins.edge_ns(index)..bins.edge_ns(index + 1)).contains(value));
            }
        }
    }
}
