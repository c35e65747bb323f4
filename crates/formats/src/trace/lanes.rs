//! Slices of one thread, put side by side where they neither nest nor follow each other: tasks of
//! an asynchronous program take turns on a thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of lanes in which a slice may nest. In further lanes slices only follow each other, which
/// bounds the search however many overlap.
const NESTING: usize = 16;

/// The lanes of a thread.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// For each lane, the ends of its open slices, outermost first.
    nesting: Vec<Vec<i64>>,
    /// Further lanes by when they are free.
    free: BinaryHeap<Reverse<(i64, usize)>>,
    further: usize,
}

impl Lanes {
    /// The lane for a slice; slices have to come by their start, longer ones first.
    pub(super) fn place(&mut self, start_ns: i64, end_ns: i64) -> usize {
        for (lane, open) in self.nesting.iter_mut().enumerate() {
            while open.last().is_some_and(|end| *end <= start_ns) {
                open.pop();
            }
            if open.last().is_none_or(|end| *end >= end_ns) {
                open.push(end_ns);
                return lane;
            }
        }
        if self.nesting.len() < NESTING {
            self.nesting.push(vec![end_ns]);
            return self.nesting.len() - 1;
        }
        let lane = match self.free.peek() {
            Some(Reverse((free_ns, lane))) if *free_ns <= start_ns => {
                let lane = *lane;
                self.free.pop();
                lane
            }
            _ => {
                self.further += 1;
                NESTING + self.further - 1
            }
        };
        self.free.push(Reverse((end_ns, lane)));
        lane
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// In every lane two slices are disjoint, or one lies inside the other.
        #[test]
        fn slices_of_a_lane_nest(
            mut slices in prop::collection::vec((0i64..60, 0i64..30), 0..120)
        ) {
            slices.sort_by_key(|(start, length)| (*start, Reverse(*length)));
            let mut lanes = Lanes::default();
            let placed: Vec<_> = slices
                .iter()
                .map(|(start, length)| (lanes.place(*start, start + length), *start, start + length))
                .collect();
            for (index, (lane, start, end)) in placed.iter().enumerate() {
                for (_, _, before) in placed[..index].iter().filter(|(other, ..)| other == lane) {
                    prop_assert!(before <= start || before >= end, "{placed:?}");
                }
            }
        }
    }
}
