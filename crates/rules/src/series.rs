//! Counts of consecutive slots, and their sums over windows.

use crate::condition::WindowCounts;

/// Counts of consecutive slots of one length. A slot that is not in it has counted nothing.
#[derive(Clone, Debug, Default)]
pub struct CountSeries {
    /// Number of the first slot.
    first: i64,
    /// Sums of the slots before each, from 0; one more than there are slots, or none.
    sums: Vec<WindowCounts>,
}

impl CountSeries {
    /// Replaces the counts of `slot` and of all later ones. Slots between the last one and `slot`
    /// have counted nothing.
    pub fn replace_from(&mut self, slot: i64, counts: impl IntoIterator<Item = WindowCounts>) {
        if self.sums.is_empty() || slot < self.first {
            (self.first, self.sums) = (slot, vec![WindowCounts::default()]);
        }
        let before = index(slot - self.first);
        let last = self.sums.last().copied().unwrap_or_default();
        self.sums.resize(before + 1, last);
        let mut sum = self.sums.last().copied().unwrap_or_default();
        for counts in counts {
            sum.add(counts);
            self.sums.push(sum);
        }
    }

    /// Removes slots before `slot`.
    pub fn forget_before(&mut self, slot: i64) {
        let gone = index(slot.saturating_sub(self.first)).min(self.sums.len().saturating_sub(1));
        self.sums.drain(..gone);
        self.first = self.first.saturating_add(i64::try_from(gone).unwrap_or(i64::MAX));
    }

    /// The counts of the `slots` slots before `end`.
    pub fn window(&self, end: i64, slots: u64) -> WindowCounts {
        let begin = end.saturating_sub_unsigned(slots);
        self.sum_before(end).without(self.sum_before(begin))
    }

    /// Sum of the slots before `slot`.
    fn sum_before(&self, slot: i64) -> WindowCounts {
        let Some(last) = self.sums.len().checked_sub(1) else { return WindowCounts::default() };
        self.sums[index(slot.saturating_sub(self.first)).min(last)]
    }

    /// Number of slots that are kept.
    pub fn len(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    /// True when nothing was counted yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An index from a difference of slots; 0 for what lies before.
fn index(difference: i64) -> usize {
    usize::try_from(difference.max(0)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(count: u64) -> WindowCounts {
        WindowCounts { count, ..WindowCounts::default() }
    }

    #[test]
    fn a_window_has_the_slots_before_its_end() {
        let mut series = CountSeries::default();
        assert_eq!(series.window(7, 3), of(0));
        series.replace_from(10, [1, 2, 4].map(of));
        assert_eq!(series.window(13, 2), of(6));
        assert_eq!(series.window(11, 5), of(1), "nothing lies before");
        assert_eq!(series.window(20, 9), of(6), "nor after");
        series.replace_from(12, [8, 16].map(of));
        assert_eq!((series.window(14, 4), series.len()), (of(27), 4));
        series.replace_from(16, [of(32)]);
        assert_eq!(series.window(17, 4), of(48), "a gap is empty");
        series.forget_before(13);
        assert_eq!((series.window(17, 4), series.len()), (of(48), 4));
    }

    proptest! {
        /// The sums of a window are those of its slots, whatever was replaced and forgotten.
        #[test]
        fn sums_are_those_of_the_slots(
            steps in prop::collection::vec((0_i64..30, prop::collection::vec(0_u64..9, 1..8)), 1..12),
            end in 0_i64..50, slots in 1_u64..40, forget in 0_i64..5,
        ) {
            let mut series = CountSeries::default();
            let mut plain = std::collections::BTreeMap::new();
            let mut first = i64::MAX;
            for (slot, counts) in steps {
                if slot < first { plain.clear(); first = slot; }
                plain.retain(|at, _| *at < slot);
                plain.extend((slot..).zip(counts.iter().copied()));
                series.replace_from(slot, counts.into_iter().map(of));
            }
            series.forget_before(forget);
            let begin = (end - i64::try_from(slots).unwrap()).max(forget);
            let sum: u64 = plain.range(begin.min(end)..end).map(|(_, count)| count).sum();
            prop_assert_eq!(series.window(end, slots).count, sum);
        }
    }
}
