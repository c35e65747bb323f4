//! Transactions beside a path: those that run inside a hop of the path without being a hop.
//!
//! A transaction is *beside* a path when its parent is a hop of the path, it is no hop itself, and
//! it begins and ends within its parent: calls that the hop waits for. Its time counts as far as it
//! is within the hop's own part ([`HopTimes::inside_ns`](crate::HopTimes)); those of one class that
//! overlap count once. So the time of a class inside a hop is at most the hop's own.

use crate::{Hop, HopTimes};
use chronoscope_figures::numbers::duration;
use chronoscope_model::ClassId;
use std::collections::BTreeMap;

/// Time of the transactions of one class inside one hop of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InnerTime {
    /// Steps from the root of the path to the hop.
    pub level: u16,
    /// The class of the transactions beside the path.
    pub class: ClassId,
    /// Their time inside the hop, in nanoseconds; above 0.
    pub inside_ns: i64,
}

/// The times inside each hop of a path. `parts` are the hops' own ([`split`](crate::split())),
/// `children` the rows whose parent is a hop and that are no hop, each with its parent's place in
/// `way`. Cost: the children are sorted.
pub fn inner_times<'a>(
    way: &[Hop],
    parts: &[HopTimes],
    children: impl Iterator<Item = (usize, &'a Hop)>,
) -> Vec<InnerTime> {
    let mut stretches: Vec<(usize, ClassId, i64, i64)> = children
        .filter_map(|(level, child)| {
            let (hop, part) = (way.get(level)?, parts.get(level)?);
            let within = child.start_ns >= hop.start_ns && child.end_ns() <= hop.end_ns();
            let until_ns = child.end_ns().min(hop.start_ns.saturating_add(part.inside_ns));
            (within && until_ns > child.start_ns).then_some((
                level,
                child.class,
                child.start_ns,
                until_ns,
            ))
        })
        .collect();
    stretches.sort_unstable();
    let mut times: Vec<InnerTime> = Vec::new();
    let mut covered_ns = i64::MIN;
    for (level, class, from_ns, until_ns) in stretches {
        let level = u16::try_from(level).unwrap_or(u16::MAX);
        match times.last_mut().filter(|last| (last.level, last.class) == (level, class)) {
            Some(last) => last.inside_ns += (until_ns - from_ns.max(covered_ns)).max(0),
            None => {
                covered_ns = i64::MIN;
                times.push(InnerTime { level, class, inside_ns: until_ns - from_ns });
            }
        }
        covered_ns = covered_ns.max(until_ns);
    }
    times
}

/// Time of a class inside a hop in two sets of ways, in nanoseconds. A way without it counts as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InnerContrast {
    /// As [`InnerTime::level`].
    pub level: u16,
    /// As [`InnerTime::class`].
    pub class: ClassId,
    /// Mean over the usual ways.
    pub usual_mean_ns: f64,
    /// Mean over the other ways.
    pub other_mean_ns: f64,
}

impl InnerContrast {
    /// Difference of the two means.
    pub fn change_ns(&self) -> f64 {
        self.other_mean_ns - self.usual_mean_ns
    }

    /// The class's part of a hop's work in words: `lookup takes 410 ms of 430 ms there, else 5 ms of
    /// 25 ms`. `hop` are the means of the hop's work: of the usual and of the other ways.
    pub fn words(&self, class: &str, hop: (f64, f64)) -> String {
        let of = |inner_ns, hop_ns| format!("{} of {}", duration(inner_ns), duration(hop_ns));
        let (usual, other) = (of(self.usual_mean_ns, hop.0), of(self.other_mean_ns, hop.1));
        format!("{class} takes {other} there, else {usual}")
    }
}

/// Contrasts of all classes inside hops, by place and class; each way has its times.
pub(crate) fn contrasts(usual: &[&[InnerTime]], other: &[&[InnerTime]]) -> Vec<InnerContrast> {
    let mut sums: BTreeMap<(u16, ClassId), [i128; 2]> = BTreeMap::new();
    for (set, ways) in [usual, other].into_iter().enumerate() {
        for inner in ways.iter().copied().flatten() {
            sums.entry((inner.level, inner.class)).or_default()[set] += i128::from(inner.inside_ns);
        }
    }
    let mean = |sum: i128, ways: &[&[InnerTime]]| sum as f64 / ways.len().max(1) as f64;
    let contrast = |((level, class), [of_usual, of_other]): ((u16, ClassId), [i128; 2])| {
        let (usual_mean_ns, other_mean_ns) = (mean(of_usual, usual), mean(of_other, other));
        InnerContrast { level, class, usual_mean_ns, other_mean_ns }
    };
    sums.into_iter().map(contrast).collect()
}

/// Share of a hop's change from which on a class inside it is its cause.
const CAUSE_SHARE: f64 = 0.5;

/// The class inside a hop that makes most of the change of the hop's work; `None` where no class
/// makes half of it.
pub(crate) fn cause_inside(
    inner: &[InnerContrast],
    level: u16,
    work_change_ns: f64,
) -> Option<&InnerContrast> {
    let of_hop = |one: &&InnerContrast| one.level == level && one.change_ns() > 0.0;
    let most = inner.iter().filter(of_hop);
    let most = most.max_by(|a, b| a.change_ns().total_cmp(&b.change_ns()))?;
    (most.change_ns() >= CAUSE_SHARE * work_change_ns).then_some(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split;
    use chronoscope_model::TransactionId;
    use proptest::prelude::*;

    fn hop(class: u64, start_ns: i64, elapsed_ns: u64) -> Hop {
        let (id, class) = (TransactionId(1), ClassId(class));
        Hop { id, parent: id, class, start_ns, elapsed_ns }
    }

    fn times(way: &[Hop], children: &[(usize, Hop)]) -> Vec<(u16, u64, i64)> {
        let mut parts = Vec::new();
        split(way, &mut parts);
        let children = children.iter().map(|(level, hop)| (*level, hop));
        let times = inner_times(way, &parts, children);
        times.into_iter().map(|time| (time.level, time.class.0, time.inside_ns)).collect()
    }

    #[test]
    fn by_hand() {
        // The root runs from 0 to 100, the next hop starts at 60.
        let way = [hop(1, 0, 100), hop(2, 60, 30)];
        let (lookup, log) = (7, 8);
        let children = [
            (0, hop(lookup, 10, 20)),
            (0, hop(lookup, 20, 20)), // overlaps by 10
            (0, hop(log, 50, 20)),    // until the next hop starts: 10
            (0, hop(log, 70, 10)),    // after it: nothing
            (0, hop(log, 90, 20)),    // goes on after its parent: not waited for
            (1, hop(log, 60, 30)),
            (5, hop(log, 60, 30)), // of no hop
        ];
        assert_eq!(times(&way, &children), [(0, lookup, 30), (0, log, 10), (1, log, 30)]);
        assert_eq!(times(&way, &[]), []);
    }

    proptest! {
        /// A class's time inside a hop is at most the hop's own.
        #[test]
        fn no_more_than_the_hop(
            way in prop::collection::vec((0i64..1000, 0u64..500), 1..5),
            children in prop::collection::vec((0_usize..5, 0u64..3, 0i64..1000, 0u64..500), 0..20),
        ) {
            let way: Vec<Hop> = way.into_iter().map(|(at, ns)| hop(9, at, ns)).collect();
            let child = |(level, class, at, ns)| (level, hop(class, at, ns));
            let children: Vec<_> = children.into_iter().map(child).collect();
            let mut parts = Vec::new();
            split(&way, &mut parts);
            for (level, _, ns) in times(&way, &children) {
                prop_assert!(ns > 0 && ns <= parts[usize::from(level)].inside_ns);
            }
        }
    }
}
