//! Octets of a sequence of CLTUs, as runs of equal sizes.

use std::collections::VecDeque;

/// Runs that are kept at most. CLTUs of one pass have few sizes; a run costs 12 octets.
const RUNS_MAX: usize = 16_384;

/// Sizes of CLTUs in their order, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SizeRuns {
    /// Octets of a CLTU, and number of CLTUs.
    runs: VecDeque<(u32, u32)>,
    octets: u64,
}

impl SizeRuns {
    /// Octets of all.
    pub(super) fn octets(&self) -> u64 {
        self.octets
    }

    /// Adds CLTUs of `octets` each. `false` if there is no room: nothing is added.
    pub(super) fn push(&mut self, octets: u32, count: u32) -> bool {
        let is_full = self.runs.len() >= RUNS_MAX;
        match self.runs.back_mut() {
            Some((size, run)) if *size == octets && run.checked_add(count).is_some() => {
                *run += count;
            }
            _ if is_full => return false,
            _ => self.runs.push_back((octets, count)),
        }
        self.octets += u64::from(octets) * u64::from(count);
        true
    }

    /// Takes the oldest CLTUs away, `count` of them or all, and gives each run to `to`.
    pub(super) fn pop(&mut self, mut count: u32, mut to: impl FnMut(u32, u32)) {
        while count > 0 {
            let Some((size, run)) = self.runs.front_mut() else { return };
            let (size, taken) = (*size, count.min(*run));
            *run -= taken;
            if *run == 0 {
                self.runs.pop_front();
            }
            count -= taken;
            self.octets -= u64::from(size) * u64::from(taken);
            to(size, taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_leave_in_the_order_in_which_they_came() {
        let mut sizes = SizeRuns::default();
        for (octets, count) in [(10, 3), (10, 2), (20, 1)] {
            assert!(sizes.push(octets, count));
        }
        let mut taken = Vec::new();
        sizes.pop(4, |octets, count| taken.push((octets, count)));
        sizes.pop(9, |octets, count| taken.push((octets, count)));
        assert_eq!(taken, [(10, 4), (10, 1), (20, 1)]);
        assert_eq!(sizes, SizeRuns::default());
    }

    #[test]
    fn as_many_runs_are_kept_as_there_is_room_for() {
        let mut sizes = SizeRuns::default();
        let kept = (0..20_000).filter(|octets| sizes.push(*octets, 1)).count();
        assert_eq!(kept, RUNS_MAX);
    }
}
