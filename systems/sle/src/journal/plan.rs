//! The CLTUs that a session sends: positions in the session, from 0, and indices in the transfer.

use std::ops::Range;

/// CLTUs of a transfer, in the order in which a session sends them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendPlan {
    /// Indices, and the position of the first one.
    ranges: Vec<(u64, Range<u64>)>,
    len: u64,
}

impl From<Range<u64>> for SendPlan {
    fn from(range: Range<u64>) -> Self {
        Self::of([range])
    }
}

impl SendPlan {
    /// The CLTUs of these indices.
    #[must_use]
    pub fn of(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut plan = Self::default();
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            let position = plan.len;
            plan.len += range.end - range.start;
            match plan.ranges.last_mut() {
                Some((_, last)) if last.end == range.start => last.end = range.end,
                _ => plan.ranges.push((position, range)),
            }
        }
        plan
    }

    /// Number of CLTUs.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The indices, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        self.ranges.iter().map(|(_, range)| range.clone())
    }

    /// Index of the CLTU at a position; `None` beyond the last.
    #[must_use]
    pub fn index(&self, position: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|(first, _)| *first <= position);
        let (first, range) = self.ranges.get(after.checked_sub(1)?)?;
        Some(range.start + (position - first)).filter(|index| *index < range.end)
    }

    /// The CLTUs at positions, as pairs of a position and indices.
    pub fn slices(&self, positions: Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
        self.ranges.iter().filter_map(move |(first, range)| {
            let end = first + (range.end - range.start);
            let (from, until) = (positions.start.max(*first), positions.end.min(end));
            let indices = range.start + from.checked_sub(*first)?..;
            (from < until).then(|| (from, indices.start..indices.start + (until - from)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_indices_correspond() {
        let plan = SendPlan::of([3..5, 5..6, 10..10, 20..22]);
        assert_eq!(plan.len(), 5);
        let indices: Vec<_> = (0..6).map(|position| plan.index(position)).collect();
        assert_eq!(indices, [Some(3), Some(4), Some(5), Some(20), Some(21), None]);
        let slices: Vec<_> = plan.slices(1..4).collect();
        assert_eq!(slices, [(1, 4..6), (3, 20..21)]);
        assert_eq!(plan.slices(3..3).count(), 0);
        assert_eq!(plan.slices(0..99).map(|(_, range)| range).collect::<Vec<_>>(), [3..6, 20..22]);
        assert!(SendPlan::of([]).is_empty());
    }
}
