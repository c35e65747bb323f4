//! Contrast of two sets of chains: the wait and work of each hop in the one and in the other.
//!
//! A hop's *wait* is the time from what called it until it starts (for the hop after hop i the
//! waiting of [`HopTimes`] i), its *work* the time from its start until it ends or the next hop
//! starts (the inside of its own [`HopTimes`]). So waits and works of a path ([`HopPath`]) add up to
//! its duration, and the differences of their means add up to the difference of the mean durations.
//! The share of a hop is its part of that difference. Hops of different paths are compared at the
//! same level below the root; a path without such a hop counts there as 0 for the share, and not
//! at all otherwise.
//!
//! The *tail* of a set is its slowest hundredth of ways. Its mean durations are divided among the
//! parts in the same way, so a hop that is slow in few chains has its share there, where medians do
//! not show it and means hardly do.

use crate::inner::{self, InnerContrast, InnerTime};
use crate::{HopTimes, HostIndex};
use chronoscope_model::ClassId;
use chronoscope_statistics::{Edges, KolmogorovSmirnov, Scale, TailTest};
use chronoscope_statistics::{Quantile, nearest_rank};
use std::collections::BTreeMap;

/// Cells of the histograms of all parts.
const CELLS: usize = 48;

/// One hop of a path through a chain: its class, host and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathHop {
    /// The hop's class.
    pub class: ClassId,
    /// The hop's host.
    pub host: HostIndex,
    /// The hop's own time, and the waiting after it.
    pub part: HopTimes,
}

/// The path of one chain from the selected root to its leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopPath {
    /// Start time of the root: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Root first. Nothing is waited for after the last.
    pub hops: Vec<PathHop>,
    /// Time of transactions beside the path, by level and class.
    pub inner: Vec<InnerTime>,
}

impl HopPath {
    /// The sum of all parts: the chain's duration, in nanoseconds.
    pub fn duration_ns(&self) -> i64 {
        self.parts().map(|(_, ns)| ns).sum()
    }

    /// Waits and works in the order of time, each with its place below the root.
    fn parts(&self) -> impl Iterator<Item = (PartName, i64)> {
        let name = |(level, hop): (usize, &PathHop), kind| PartName {
            level: u16::try_from(level).unwrap_or(u16::MAX),
            class: hop.class,
            kind,
        };
        let before = self.hops.iter().map(|hop| hop.part.waiting_ns);
        let waits = self.hops.iter().enumerate().skip(1).zip(before);
        let waits = waits.map(move |(hop, wait_ns)| (name(hop, PartKind::Wait), wait_ns));
        let works = self.hops.iter().enumerate();
        waits.chain(works.map(move |hop| (name(hop, PartKind::Work), hop.1.part.inside_ns)))
    }
}

/// Wait or work of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// From the caller until the hop starts.
    Wait,
    /// From its start until it ends or the next hop starts.
    Work,
}

/// A part of a hop, by its place below the selected root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartName {
    /// Steps from the selected root.
    pub level: u16,
    /// The hop's class.
    pub class: ClassId,
    /// Wait or work.
    pub kind: PartKind,
}

/// Time of one part in one of two sets of ways. Nanoseconds; quantiles by nearest rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartSide {
    /// Number of ways that have the hop.
    pub count: u64,
    /// The mean of these; 0 without any.
    pub mean_ns: f64,
    /// The median of these; 0 without any. Negative where clocks disagree.
    pub median_ns: i64,
    /// The 99th percentile of these; 0 without any.
    pub p99_ns: i64,
    /// Number of ways in each cell of [`Contrast::edges`]; negative times count in the first.
    pub counts: Vec<u64>,
}

/// One part, compared between two sets of ways.
#[derive(Clone, Debug, PartialEq)]
pub struct PartContrast {
    /// Place, class and kind of the part.
    pub name: PartName,
    /// Statistics in the usual ways.
    pub usual: PartSide,
    /// Statistics in the other ways.
    pub other: PartSide,
    /// Test of the two distributions; `None` where a set lacks the hop.
    pub test: Option<KolmogorovSmirnov>,
    /// Whether one of them is more often slow; `None` where one of them has no such hop.
    pub tail_test: Option<TailTest>,
    /// The part's contribution to the difference of the mean durations, in nanoseconds.
    pub change_ns: f64,
    /// The part's share of the difference of the mean durations: all shares add up to 1. Negative
    /// where it moved in the other direction; 0 where there is no difference.
    pub share: f64,
    /// The part's contribution to the difference of the tails' mean durations, in nanoseconds.
    pub tail_change_ns: f64,
    /// The part's share of the difference of the tails' mean durations, as [`share`](Self::share).
    pub tail_share: f64,
}

impl PartContrast {
    /// Median of the other ways minus that of the usual ways, in nanoseconds.
    pub const fn shift_ns(&self) -> i64 {
        self.other.median_ns.saturating_sub(self.usual.median_ns)
    }
}

/// Number of ways in which a hop ran on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostContrast {
    /// Steps from the selected root.
    pub level: u16,
    /// The hop's class.
    pub class: ClassId,
    /// The host.
    pub host: HostIndex,
    /// Number in the usual ways.
    pub usual: u64,
    /// Number in the other ways.
    pub other: u64,
}

/// The comparison of two sets of ways, part by part.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// All parts, by place, waits first.
    pub parts: Vec<PartContrast>,
    /// The common cells of all histograms, logarithmic.
    pub edges: Edges,
    /// Hosts of the hops, by place and class.
    pub hosts: Vec<HostContrast>,
    /// Transactions beside the paths, by place and class.
    pub inner: Vec<InnerContrast>,
    /// Mean duration of the other ways minus that of the usual ways, in nanoseconds.
    pub difference_ns: f64,
    /// The same difference for the two tails: the slowest hundredth of each set, at least one way.
    pub tail_difference_ns: f64,
}

impl Contrast {
    /// Compares two sets of ways; `None` where one is empty.
    pub fn between(usual: &[HopPath], other: &[HopPath]) -> Option<Self> {
        if usual.is_empty() || other.is_empty() {
            return None;
        }
        let (usual_parts, other_parts) = (by_part(usual), by_part(other));
        let mut names: Vec<PartName> =
            usual_parts.keys().chain(other_parts.keys()).copied().collect();
        names.sort_unstable();
        names.dedup();
        let edges = edges_of(usual_parts.values().chain(other_parts.values()).flatten());
        let all = |parts: &BTreeMap<PartName, Vec<i64>>, name| {
            parts.get(name).map(Vec::as_slice).unwrap_or_default().to_vec()
        };
        let means = (Means::of(usual), Means::of(other));
        let tails = (Means::of(slowest(usual)), Means::of(slowest(other)));
        let difference_ns = means.1.duration_ns - means.0.duration_ns;
        let tail_difference_ns = tails.1.duration_ns - tails.0.duration_ns;
        let share = |change_ns: f64, of_ns: f64| if of_ns == 0.0 { 0.0 } else { change_ns / of_ns };
        let parts = names.iter().map(|name| {
            let (usual, other) = (all(&usual_parts, name), all(&other_parts, name));
            let change_ns = means.1.part(name) - means.0.part(name);
            let tail_change_ns = tails.1.part(name) - tails.0.part(name);
            PartContrast {
                name: *name,
                test: KolmogorovSmirnov::of_ascending(&usual, &other),
                tail_test: TailTest::of_ascending(&usual, &other),
                change_ns,
                share: share(change_ns, difference_ns),
                tail_change_ns,
                tail_share: share(tail_change_ns, tail_difference_ns),
                usual: PartSide::of(&usual, &edges),
                other: PartSide::of(&other, &edges),
            }
        });
        let parts = parts.collect();
        let hosts = hosts_of(usual, other);
        let [inner_usual, inner_other] =
            [usual, other].map(|ways| ways.iter().map(|way| &way.inner[..]).collect::<Vec<_>>());
        let inner = inner::contrasts(&inner_usual, &inner_other);
        Some(Self { parts, edges, hosts, inner, difference_ns, tail_difference_ns })
    }

    /// The parts, largest movement first: by their part of all movement of the mean and of the
    /// tail, in either direction.
    pub fn into_ranked(self) -> Vec<PartContrast> {
        let moved =
            |of: fn(&PartContrast) -> f64| self.parts.iter().map(|part| of(part).abs()).sum();
        let (mean_ns, tail_ns): (f64, f64) = (moved(|p| p.change_ns), moved(|p| p.tail_change_ns));
        let share = |change_ns: f64, of_ns: f64| change_ns.abs() / of_ns.max(f64::MIN_POSITIVE);
        let weight = |part: &PartContrast| {
            share(part.change_ns, mean_ns) + share(part.tail_change_ns, tail_ns)
        };
        let mut parts = self.parts;
        parts.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        parts
    }

    /// The part with the largest share of the difference; `None` where there is no difference.
    pub fn cause(&self) -> Option<&PartContrast> {
        let largest = self.parts.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        largest.filter(|part| part.share > 0.0)
    }

    /// The class inside a hop that makes most of a part's change: of its work, at least half.
    pub fn cause_inside(&self, part: &PartContrast) -> Option<&InnerContrast> {
        let is_work = part.name.kind == PartKind::Work;
        let cause = inner::cause_inside(&self.inner, part.name.level, part.change_ns);
        cause.filter(|_| is_work)
    }

    /// The host that ran a hop in most of the other ways (four of five), and in less than half that
    /// share of the usual ways.
    pub fn host_of(&self, name: PartName) -> Option<HostIndex> {
        let of_hop = |host: &&HostContrast| (host.level, host.class) == (name.level, name.class);
        let hosts = || self.hosts.iter().filter(of_hop);
        let (usual, other) = hosts().fold((0, 0), |(u, o), host| (u + host.usual, o + host.other));
        let stands_out = |host: &&HostContrast| {
            let most = host.other * 5 >= other * 4 && other > 0;
            // share(other) > 2 · share(usual), without a division by nothing
            most && u128::from(host.other) * u128::from(usual)
                > 2 * u128::from(host.usual) * u128::from(other)
        };
        hosts().find(stands_out).map(|host| host.host).filter(|host| *host != HostIndex::UNKNOWN)
    }
}

impl PartSide {
    fn of(ascending: &[i64], edges: &Edges) -> Self {
        let at = |quantile| nearest_rank(ascending, quantile).unwrap_or(0);
        let from_zero: Vec<u64> =
            ascending.iter().map(|ns| u64::try_from(*ns).unwrap_or(0)).collect();
        Self {
            count: ascending.len() as u64,
            mean_ns: if ascending.is_empty() {
                0.0
            } else {
                sum(ascending) / ascending.len() as f64
            },
            median_ns: at(Quantile::P50),
            p99_ns: at(Quantile::P99),
            counts: edges.counts(&from_zero),
        }
    }
}

fn sum(values: &[i64]) -> f64 {
    values.iter().map(|ns| i128::from(*ns)).sum::<i128>() as f64
}

/// Mean of each part over a set of ways; a way without the part counts as 0.
struct Means {
    duration_ns: f64,
    parts: BTreeMap<PartName, f64>,
}

impl Means {
    fn of<'a>(ways: impl IntoIterator<Item = &'a HopPath>) -> Self {
        let mut count = 0_u64;
        let (mut duration, mut sums) = (0_i128, BTreeMap::<PartName, i128>::new());
        for way in ways {
            count += 1;
            for (name, ns) in way.parts() {
                duration += i128::from(ns);
                *sums.entry(name).or_default() += i128::from(ns);
            }
        }
        let mean = |sum: i128| sum as f64 / count.max(1) as f64;
        let parts = sums.into_iter().map(|(name, sum)| (name, mean(sum))).collect();
        Self { duration_ns: mean(duration), parts }
    }

    fn part(&self, name: &PartName) -> f64 {
        self.parts.get(name).copied().unwrap_or_default()
    }
}

/// The slowest hundredth, at least one.
fn slowest(ways: &[HopPath]) -> Vec<&HopPath> {
    let mut all: Vec<&HopPath> = ways.iter().collect();
    all.sort_by_key(|way| std::cmp::Reverse(way.duration_ns()));
    all.truncate(ways.len().div_ceil(100));
    all
}

/// Times of each part over all ways, ascending.
fn by_part(ways: &[HopPath]) -> BTreeMap<PartName, Vec<i64>> {
    let mut parts: BTreeMap<PartName, Vec<i64>> = BTreeMap::new();
    for (name, ns) in ways.iter().flat_map(HopPath::parts) {
        parts.entry(name).or_default().push(ns);
    }
    parts.values_mut().for_each(|all| all.sort_unstable());
    parts
}

fn edges_of<'a>(values: impl Iterator<Item = &'a i64>) -> Edges {
    let (mut low, mut high) = (u64::MAX, 1);
    for ns in values.filter_map(|ns| u64::try_from(*ns).ok()).filter(|ns| *ns > 0) {
        (low, high) = (low.min(ns), high.max(ns));
    }
    Edges::new(Scale::Log, low.min(high)..high.saturating_add(1), CELLS)
}

fn hosts_of(usual: &[HopPath], other: &[HopPath]) -> Vec<HostContrast> {
    let mut counts: BTreeMap<(usize, ClassId, HostIndex), (u64, u64)> = BTreeMap::new();
    let both = usual.iter().map(|way| (way, (1, 0))).chain(other.iter().map(|way| (way, (0, 1))));
    for (way, (of_usual, of_other)) in both {
        for (level, hop) in way.hops.iter().enumerate() {
            let count = counts.entry((level, hop.class, hop.host)).or_default();
            *count = (count.0 + of_usual, count.1 + of_other);
        }
    }
    let all = counts.into_iter().map(|((level, class, host), (usual, other))| HostContrast {
        level: u16::try_from(level).unwrap_or(u16::MAX),
        class,
        host,
        usual,
        other,
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn way(hops: &[(u64, u32, i64, i64)]) -> HopPath {
        let hop = |&(class, host, inside_ns, waiting_ns)| PathHop {
            class: ClassId(class),
            host: HostIndex(host),
            part: HopTimes { inside_ns, waiting_ns },
        };
        HopPath { start_ns: 0, hops: hops.iter().map(hop).collect(), inner: Vec::new() }
    }

    /// Two hops; the others wait 80 longer before the second, all on host 7, and its work takes 20
    /// longer.
    #[test]
    fn the_cause_by_hand() {
        let usual: Vec<HopPath> = (0..10).map(|n| way(&[(1, 1, 10, 5), (2, n, 100, 0)])).collect();
        let other: Vec<HopPath> = (0..10).map(|_| way(&[(1, 1, 10, 85), (2, 7, 120, 0)])).collect();
        let found = Contrast::between(&usual, &other).unwrap();
        assert_eq!(found.difference_ns, 100.0);
        let cause = found.cause().unwrap();
        let name = PartName { level: 1, class: ClassId(2), kind: PartKind::Wait };
        assert_eq!((cause.name, cause.share, cause.shift_ns()), (name, 0.8, 80));
        assert_eq!(found.host_of(name), Some(HostIndex(7)));
        let root = PartName { level: 0, class: ClassId(1), kind: PartKind::Work };
        assert_eq!(found.host_of(root), None, "the usual ones ran there as well");
        assert!(cause.test.unwrap().statistic == 1.0 && cause.test.unwrap().p_value < 0.001);
        assert_eq!(found.parts.len(), 3, "a root does not wait");
        assert_eq!(Contrast::between(&usual, &[]), None);
        assert!(Contrast::between(&usual, &usual).unwrap().cause().is_none());
    }

    /// The second hop takes 50 longer because of what it calls: of the usual ways every other one calls
    /// it at all.
    #[test]
    fn the_cause_inside_a_hop_by_hand() {
        let inner = |inside_ns| InnerTime { level: 1, class: ClassId(9), inside_ns };
        let usual = |n: i64| HopPath {
            inner: if n % 2 == 0 { vec![inner(10)] } else { Vec::new() },
            ..way(&[(1, 1, 10, 5), (2, 1, 100, 0)])
        };
        let other = |_| HopPath { inner: vec![inner(45)], ..way(&[(1, 1, 10, 5), (2, 1, 150, 0)]) };
        let usual: Vec<HopPath> = (0..10).map(usual).collect();
        let found = Contrast::between(&usual, &(0..10).map(other).collect::<Vec<_>>()).unwrap();
        let cause = found.cause().unwrap();
        let inside = found.cause_inside(cause).unwrap();
        assert_eq!((inside.usual_mean_ns, inside.other_mean_ns), (5.0, 45.0));
        assert_eq!(
            inside.words("lookup", (cause.usual.mean_ns, cause.other.mean_ns)),
            "lookup takes 45 ns of 150 ns there, else 5 ns of 100 ns"
        );
        let wait = found.parts.iter().find(|part| part.name.kind == PartKind::Wait).unwrap();
        assert!(found.cause_inside(wait).is_none(), "nothing is called in a wait");
        // Where it makes less than half of the change it is not the cause.
        let other = |_| HopPath { inner: vec![inner(25)], ..way(&[(1, 1, 10, 5), (2, 1, 150, 0)]) };
        let found = Contrast::between(&usual, &(0..10).map(other).collect::<Vec<_>>()).unwrap();
        assert!(found.cause_inside(found.cause().unwrap()).is_none());
    }

    /// Of the other ways every hop is 12 faster in the root's work, and two of a hundred are 1000
    /// slower in the second hop: the median of the root moves most, but the fault is in the second.
    #[test]
    fn a_fault_of_the_tail_ranks_above_a_shift_of_the_median() {
        let usual: Vec<HopPath> = (0..200).map(|_| way(&[(1, 1, 50, 5), (2, 1, 100, 0)])).collect();
        let slow = |n: i64| if n % 50 == 0 { 1100 } else { 100 };
        let other = (0..200).map(|n| way(&[(1, 1, 38, 5), (2, 1, slow(n), 0)]));
        let found = Contrast::between(&usual, &other.collect::<Vec<_>>()).unwrap();
        assert_eq!((found.difference_ns, found.tail_difference_ns), (8.0, 988.0));
        let ranked = found.into_ranked();
        let name = |class, level| PartName { level, class: ClassId(class), kind: PartKind::Work };
        let named: Vec<PartName> = ranked.iter().map(|part| part.name).collect();
        assert_eq!(named[..2], [name(2, 1), name(1, 0)]);
        let (fault, root) = (&ranked[0], &ranked[1]);
        assert_eq!((fault.shift_ns(), fault.change_ns, fault.tail_change_ns), (0, 20.0, 1000.0));
        assert_eq!((root.shift_ns(), root.change_ns, root.tail_change_ns), (-12, -12.0, -12.0));
        assert_eq!((fault.share, root.share), (2.5, -1.5));
        assert!((fault.tail_share - 1000.0 / 988.0).abs() < 1e-12);
        assert!(fault.test.unwrap().p_value > 0.5, "all but four are as before");
    }

    fn ways() -> impl Strategy<Value = Vec<HopPath>> {
        let hop = (0u64..3, 0u32..3, -50i64..1000, 0i64..1000);
        let hops = prop::collection::vec(hop, 1..5);
        prop::collection::vec(hops.prop_map(|hops| way(&hops)), 1..30)
    }

    proptest! {
        /// The shares add up to 1 whatever paths the ways took, and every way is in the histogram
        /// of each of its hops.
        #[test]
        fn shares_add_up(usual in ways(), other in ways()) {
            let found = Contrast::between(&usual, &other).unwrap();
            let sum: f64 = found.parts.iter().map(|part| part.share).sum();
            let expected = if found.difference_ns == 0.0 { 0.0 } else { 1.0 };
            prop_assert!((sum - expected).abs() < 1e-6, "{sum}");
            let sum: f64 = found.parts.iter().map(|part| part.tail_share).sum();
            let expected = if found.tail_difference_ns == 0.0 { 0.0 } else { 1.0 };
            prop_assert!((sum - expected).abs() < 1e-6, "of the tail: {sum}");
            for part in &found.parts {
                prop_assert_eq!(part.usual.counts.iter().sum::<u64>(), part.usual.count);
                prop_assert_eq!(part.other.counts.iter().sum::<u64>(), part.other.count);
            }
            let hops: usize = usual.iter().chain(&other).map(|way| way.hops.len()).sum();
            let ran: u64 = found.hosts.iter().map(|host| host.usual + host.other).sum();
            prop_assert_eq!(ran, hops as u64);
        }
    }
}
