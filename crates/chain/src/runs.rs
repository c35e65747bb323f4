//! Bringing a chain's rows together when they lie in several places.
//!
//! A [`Run`] holds rows sorted by chain; [`merge`] walks several runs at once and hands out one
//! chain after the other. Its heap is touched once per chain and run, not per row. Memory is what
//! the runs take ([`ROW_BYTES`] a row) and one chain more; where that is too much, all rows are
//! read in several passes, each with the chains of one [`Partition`]: the bound is the caller's,
//! the price is reading again.

use crate::arrivals::RowOutcome;
use crate::{CarriedAncestors, Hop, PathIndex};
use chronoscope_model::ChainId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Memory of a row in a [`Run`], in bytes.
pub const ROW_BYTES: usize =
    size_of::<ChainId>() + size_of::<Hop>() + size_of::<PathIndex>() + size_of::<(u16, i64)>();

/// Rows of many chains. Sorted by chain once [`Run::sort`] has been called.
#[derive(Clone, Debug, Default)]
pub struct Run {
    chains: Vec<ChainId>,
    hops: Vec<Hop>,
    paths: Vec<PathIndex>,
    roots: Vec<(u16, i64)>,
    /// Hosts by row; empty where they are not requested.
    hosts: Vec<Hosts>,
    /// Outcomes by row; empty where they are not requested.
    outcomes: Vec<RowOutcome>,
    /// Attributes by row; empty where they are not requested.
    attributes: Vec<RowAttributes>,
}

/// What a question about attributes needs to know of a row. Its numbers are the question's: 0
/// stands for an attribute that the row does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowAttributes {
    /// Outcome of up to 16 filters, two bits each.
    pub tests: u32,
    /// Values of up to two keys.
    pub values: [u32; 2],
}

/// A host, by its number in one question; 0: not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostIndex(pub u32);

impl HostIndex {
    /// A host that is not known.
    pub const UNKNOWN: Self = Self(0);
}

/// Hosts whose clocks stamped a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// The host of the row itself.
    pub own: HostIndex,
    /// Host of the root, as the row's correlator names it.
    pub root: HostIndex,
}

/// Value in `Run::paths` of a row whose correlator carried no ancestors.
const FOREIGN: PathIndex = PathIndex(u32::MAX);

impl Run {
    /// Adds a row.
    pub fn push(&mut self, chain: ChainId, hop: Hop, told: Option<CarriedAncestors>) {
        self.chains.push(chain);
        self.hops.push(hop);
        // A run of foreign rows only needs no storage for ancestors.
        if told.is_some() || !self.paths.is_empty() {
            self.paths.resize(self.hops.len() - 1, FOREIGN);
            self.roots.resize(self.hops.len() - 1, (0, 0));
            let (path, root) = told
                .map_or((FOREIGN, (0, 0)), |told| (told.path, (told.level, told.root_start_ns)));
            self.paths.push(path);
            self.roots.push(root);
        }
    }

    /// Sets the hosts of the row that was pushed last. Call it for all rows of a run or for none.
    pub fn stamped_by(&mut self, hosts: Hosts) {
        self.hosts.resize(self.hops.len().saturating_sub(1), Hosts::default());
        self.hosts.push(hosts);
    }

    /// Sets the outcome of the row that was pushed last. Call it for all rows of a run or for none.
    pub fn ended_as(&mut self, outcome: RowOutcome) {
        self.outcomes.resize(self.hops.len().saturating_sub(1), RowOutcome::default());
        self.outcomes.push(outcome);
    }

    /// Sets the attributes of the row that was pushed last. Call it for all rows of a run or for
    /// none.
    pub fn described_by(&mut self, attributes: RowAttributes) {
        self.attributes.resize(self.hops.len().saturating_sub(1), RowAttributes::default());
        self.attributes.push(attributes);
    }

    /// Adds the rows of one chain.
    pub fn extend(&mut self, chain: ChainId, rows: &ChainRows) {
        for (row, hop) in rows.hops.iter().enumerate() {
            self.push(chain, *hop, rows.told(row));
            if !rows.hosts.is_empty() {
                self.stamped_by(rows.hosts(row));
            }
            if !rows.outcomes.is_empty() {
                self.ended_as(rows.outcome(row));
            }
            if !rows.attributes.is_empty() {
                self.described_by(rows.attributes(row));
            }
        }
    }

    /// Adds all rows of another.
    pub fn append(&mut self, other: Self) {
        if !other.hosts.is_empty() {
            self.hosts.resize(self.hops.len(), Hosts::default());
            self.hosts.extend_from_slice(&other.hosts);
        }
        if !other.outcomes.is_empty() {
            self.outcomes.resize(self.hops.len(), RowOutcome::default());
            self.outcomes.extend_from_slice(&other.outcomes);
        }
        if !other.attributes.is_empty() {
            self.attributes.resize(self.hops.len(), RowAttributes::default());
            self.attributes.extend_from_slice(&other.attributes);
        }
        if other.paths.is_empty() && self.paths.is_empty() {
            self.chains.extend(other.chains);
            self.hops.extend(other.hops);
            return;
        }
        for row in 0..other.len() {
            self.push(other.chains[row], other.hops[row], other.told(row));
        }
    }

    /// Makes room for more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.chains.reserve(rows);
        self.hops.reserve(rows);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.hops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }

    /// The chains of its rows, row by row.
    pub fn chains(&self) -> impl Iterator<Item = ChainId> {
        self.chains.iter().copied()
    }

    /// Whether rows of one chain stand together, ascending by chain.
    pub fn is_sorted(&self) -> bool {
        self.chains.is_sorted()
    }

    /// Brings the rows of each chain together. Costs nothing when they already are.
    pub fn sort(&mut self) {
        if self.is_sorted() {
            return;
        }
        let mut order: Vec<(ChainId, usize)> = self.chains.iter().copied().zip(0..).collect();
        order.sort_unstable();
        self.hops = order.iter().map(|(_, index)| self.hops[*index]).collect();
        if !self.paths.is_empty() {
            self.paths = order.iter().map(|(_, index)| self.paths[*index]).collect();
            self.roots = order.iter().map(|(_, index)| self.roots[*index]).collect();
        }
        if !self.hosts.is_empty() {
            self.hosts.resize(self.chains.len(), Hosts::default());
            self.hosts = order.iter().map(|(_, index)| self.hosts[*index]).collect();
        }
        if !self.outcomes.is_empty() {
            self.outcomes.resize(self.chains.len(), RowOutcome::default());
            self.outcomes = order.iter().map(|(_, index)| self.outcomes[*index]).collect();
        }
        if !self.attributes.is_empty() {
            self.attributes.resize(self.chains.len(), RowAttributes::default());
            self.attributes = order.iter().map(|(_, index)| self.attributes[*index]).collect();
        }
        self.chains = order.into_iter().map(|(chain, _)| chain).collect();
    }

    fn told(&self, index: usize) -> Option<CarriedAncestors> {
        let path = self.paths.get(index).copied().filter(|path| *path != FOREIGN)?;
        let (level, root_start_ns) = self.roots[index];
        Some(CarriedAncestors { path, level, root_start_ns })
    }

    /// The first row from `from` on that belongs to another chain.
    fn chain_end(&self, from: usize) -> usize {
        let chain = self.chains[from];
        self.chains[from..].iter().position(|c| *c != chain).map_or(self.len(), |n| from + n)
    }
}

/// The rows of one chain, gathered from all runs.
#[derive(Clone, Debug, Default)]
pub struct ChainRows {
    /// The rows.
    pub hops: Vec<Hop>,
    /// Empty where all rows are foreign.
    told: Vec<Option<CarriedAncestors>>,
    /// Hosts by row; empty where they are not requested.
    hosts: Vec<Hosts>,
    /// Outcomes by row; empty where they are not requested.
    outcomes: Vec<RowOutcome>,
    /// Attributes by row; empty where they are not requested.
    attributes: Vec<RowAttributes>,
}

impl ChainRows {
    /// Ancestors that a row's correlator carried; `None` for a foreign row.
    #[inline]
    pub fn told(&self, row: usize) -> Option<CarriedAncestors> {
        self.told.get(row).copied().flatten()
    }

    /// Hosts whose clocks stamped a row, where they are requested.
    #[inline]
    pub fn hosts(&self, row: usize) -> Hosts {
        self.hosts.get(row).copied().unwrap_or_default()
    }

    /// Outcome of a row, where it is requested.
    #[inline]
    pub fn outcome(&self, row: usize) -> RowOutcome {
        self.outcomes.get(row).copied().unwrap_or_default()
    }

    /// Attributes of a row, where they are requested.
    #[inline]
    pub fn attributes(&self, row: usize) -> RowAttributes {
        self.attributes.get(row).copied().unwrap_or_default()
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.hops.clear();
        self.told.clear();
        self.hosts.clear();
        self.outcomes.clear();
        self.attributes.clear();
    }

    /// Adds a foreign row with its host, outcome and attributes.
    pub fn push_foreign(
        &mut self,
        hop: Hop,
        host: Option<HostIndex>,
        outcome: Option<RowOutcome>,
        attributes: Option<RowAttributes>,
    ) {
        self.hops.push(hop);
        self.hosts.extend(host.map(|own| Hosts { own, ..Hosts::default() }));
        self.outcomes.extend(outcome);
        self.attributes.extend(attributes);
    }

    fn take(&mut self, run: &Run, from: usize, end: usize) {
        if !run.hosts.is_empty() {
            self.hosts.resize(self.hops.len(), Hosts::default());
            let hosts = (from..end).map(|index| run.hosts.get(index).copied().unwrap_or_default());
            self.hosts.extend(hosts);
        }
        if !run.outcomes.is_empty() {
            self.outcomes.resize(self.hops.len(), RowOutcome::default());
            let said = (from..end).map(|at| run.outcomes.get(at).copied().unwrap_or_default());
            self.outcomes.extend(said);
        }
        if !run.attributes.is_empty() {
            self.attributes.resize(self.hops.len(), RowAttributes::default());
            let said = (from..end).map(|at| run.attributes.get(at).copied().unwrap_or_default());
            self.attributes.extend(said);
        }
        if !run.paths.is_empty() {
            self.told.resize(self.hops.len(), None);
            self.told.extend((from..end).map(|index| run.told(index)));
        }
        self.hops.extend_from_slice(&run.hops[from..end]);
    }
}

/// Hands out the chains of all runs, ascending by id.
///
/// # Panics
/// When a run is not sorted (checked in debug builds).
pub fn merge(runs: &[Run], each: impl FnMut(ChainId, &ChainRows)) {
    merge_between(runs, ChainId::NONE, None, each);
}

/// Passes the chains from `from` (inclusive) to `until` (exclusive) on, ascending by id. Several
/// threads may share the chains of the same runs; [`cuts`] gives the bounds.
///
/// # Panics
/// When a run is not sorted (checked in debug builds).
pub fn merge_between(
    runs: &[Run],
    from: ChainId,
    until: Option<ChainId>,
    mut each: impl FnMut(ChainId, &ChainRows),
) {
    debug_assert!(runs.iter().all(Run::is_sorted), "runs are sorted by chain");
    let mut rows = ChainRows::default();
    let heads = runs.iter().enumerate().filter_map(|(index, run)| {
        let at = run.chains.partition_point(|chain| *chain < from);
        Some(Reverse((*run.chains.get(at)?, index, at)))
    });
    let mut heap: BinaryHeap<Reverse<(ChainId, usize, usize)>> = heads.collect();
    while let Some(Reverse((chain, _, _))) = heap.peek().copied() {
        if until.is_some_and(|until| chain >= until) {
            break;
        }
        rows.clear();
        while let Some(mut head) = heap.peek_mut() {
            let Reverse((other, index, from)) = *head;
            if other != chain {
                break;
            }
            let run = &runs[index];
            let end = run.chain_end(from);
            rows.take(run, from, end);
            if end < run.len() {
                *head = Reverse((run.chains[end], index, end));
            } else {
                std::collections::binary_heap::PeekMut::pop(head);
            }
        }
        each(chain, &rows);
    }
}

/// `count` − 1 ids that cut the chains of all runs into about equal shares, ascending.
pub fn cuts(runs: &[Run], count: usize) -> Vec<ChainId> {
    const SAMPLES: usize = 64;
    let mut sample: Vec<ChainId> = Vec::new();
    for run in runs {
        sample.extend(run.chains.iter().step_by(run.len() / SAMPLES + 1));
    }
    sample.sort_unstable();
    (1..count).filter_map(|cut| sample.get(sample.len() * cut / count).copied()).collect()
}

/// One of several disjoint sets of chains that together contain every chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Index of the partition, in `[0, count)`.
    pub index: u32,
    /// Number of partitions; at least 1.
    pub count: u32,
}

impl Partition {
    /// The partition that contains every chain.
    pub const ALL: Self = Self { index: 0, count: 1 };

    /// The smallest number of partitions of which each needs at most `memory_bytes` for `rows`
    /// rows, when chains are of one size.
    pub fn within(rows: u64, memory_bytes: u64) -> impl Iterator<Item = Self> {
        let bytes = rows.saturating_mul(ROW_BYTES as u64);
        let count = u32::try_from(bytes.div_ceil(memory_bytes.max(1))).unwrap_or(u32::MAX).max(1);
        (0..count).map(move |index| Self { index, count })
    }

    /// Whether a chain is in it.
    #[inline]
    pub const fn contains(self, chain: ChainId) -> bool {
        if self.count == 1 {
            return true;
        }
        // Ids may be counters or have one half empty: mix before cutting the range.
        let mixed =
            (chain.low() ^ chain.high().rotate_left(31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 32) * self.count as u64) >> 32 == self.index as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{ClassId, TransactionId};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn hop(id: u64) -> Hop {
        let (parent, class) = (TransactionId::NONE, ClassId(1));
        Hop { id: TransactionId(id), parent, class, start_ns: 0, elapsed_ns: 0 }
    }

    #[test]
    fn what_rows_were_told_stays_with_them() {
        let told = CarriedAncestors { path: PathIndex(7), level: 3, root_start_ns: 5 };
        let mut run = Run::default();
        run.push(ChainId(2), hop(1), None);
        run.push(ChainId(1), hop(2), Some(told));
        run.push(ChainId(2), hop(3), None);
        run.sort();
        let mut seen = Vec::new();
        merge(&[run], |chain, rows| {
            let told = (0..rows.hops.len()).map(|row| rows.told(row));
            seen.push((chain, told.collect::<Vec<_>>()));
        });
        assert_eq!(seen, [(ChainId(1), vec![Some(told)]), (ChainId(2), vec![None, None])]);
    }

    #[test]
    fn hosts_stay_with_their_rows() {
        let on = |own, root| Hosts { own: HostIndex(own), root: HostIndex(root) };
        let (mut first, mut second) = (Run::default(), Run::default());
        for (chain, id, hosts) in [(2, 1, on(1, 2)), (1, 2, on(3, 4)), (2, 3, on(5, 6))] {
            first.push(ChainId(chain), hop(id), None);
            first.stamped_by(hosts);
        }
        second.push(ChainId(2), hop(4), None);
        second.append(first);
        second.sort();
        let mut seen = Vec::new();
        merge(&[second], |_, rows| {
            seen.extend(rows.hops.iter().zip(0..).map(|(hop, row)| (hop.id.0, rows.hosts(row))));
        });
        assert_eq!(seen, [(2, on(3, 4)), (4, on(0, 0)), (1, on(1, 2)), (3, on(5, 6))]);
    }

    #[test]
    fn attributes_stay_with_their_rows() {
        let of = |tests| RowAttributes { tests, values: [tests + 1, tests + 2] };
        let (mut first, mut second) = (Run::default(), Run::default());
        for (chain, id, attributes) in [(2, 1, of(1)), (1, 2, of(5)), (2, 3, of(9))] {
            first.push(ChainId(chain), hop(id), None);
            first.described_by(attributes);
        }
        second.push(ChainId(2), hop(4), None);
        second.append(first);
        second.sort();
        let mut third = Run::default();
        let mut seen = Vec::new();
        merge(&[second], |chain, rows| {
            third.extend(chain, rows);
            let of = |row: usize| rows.attributes(row);
            seen.extend(rows.hops.iter().zip(0..).map(|(hop, row)| (hop.id.0, of(row))));
        });
        let expected = [(2, of(5)), (4, RowAttributes::default()), (1, of(1)), (3, of(9))];
        assert_eq!(seen, expected);
        seen.clear();
        merge(&[third], |_, rows| {
            seen.extend(rows.hops.iter().zip(0..).map(|(hop, r)| (hop.id.0, rows.attributes(r))));
        });
        assert_eq!(seen, expected, "through a run of chains");
    }

    #[test]
    fn few_rows_are_one_partition() {
        assert_eq!(Partition::within(10, 1 << 20).collect::<Vec<_>>(), [Partition::ALL]);
        assert_eq!(Partition::within(0, 0).count(), 1);
        assert_eq!(Partition::within(1_000, ROW_BYTES as u64 * 100).count(), 10);
    }

    proptest! {
        /// Every row comes out once, with its chain, for any number of partitions.
        #[test]
        fn nothing_is_lost_or_doubled(
            chains in prop::collection::vec(prop::collection::vec(0u128..40, 0..60), 0..6),
            count in 1u32..5,
            spread in any::<u64>(),
        ) {
            let id = |chain: u128| ChainId(chain * u128::from(spread | 1));
            let mut expected: BTreeMap<ChainId, Vec<u64>> = BTreeMap::new();
            let mut found = BTreeMap::new();
            for index in 0..count {
                let partition = Partition { index, count };
                let mut number = 0;
                let mut runs = Vec::new();
                for chains in &chains {
                    let mut run = Run::default();
                    for chain in chains.iter().map(|chain| id(*chain)) {
                        number += 1;
                        if partition.contains(chain) {
                            run.push(chain, hop(number), None);
                            expected.entry(chain).or_default().push(number);
                        }
                    }
                    run.sort();
                    runs.push(run);
                }
                let mut each = |chain: ChainId, rows: &ChainRows| {
                    let mut ids: Vec<u64> = rows.hops.iter().map(|hop| hop.id.0).collect();
                    ids.sort_unstable();
                    assert!(found.insert(chain, ids).is_none(), "a chain twice");
                };
                let cuts = cuts(&runs, 3);
                let starts = std::iter::once(ChainId::NONE).chain(cuts.iter().copied());
                let ends = cuts.iter().copied().map(Some).chain([None]);
                starts.zip(ends).for_each(|(from, until)| merge_between(&runs, from, until, &mut each));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
