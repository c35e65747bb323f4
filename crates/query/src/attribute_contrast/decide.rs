//! Which values differ for certain, and by how much.

use super::sets::DrawnSets;
use super::tally::{Tally, ValueTally};
use super::{AttributeDifference, CONTRAST_NAMED_MAX, CONTRAST_P_MAX, CONTRAST_SAME_MIN};
use chronoscope_statistics::{BlockDesign, BlockTest, fisher_exact, holm, weighted_median};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Relabellings of the blocks that are drawn.
const DRAWS: usize = 999;
/// Differences below so many standard deviations are chance, even where only one is looked at.
const DEVIATIONS_MIN: f64 = 1.96;

/// What was decided.
pub(super) struct Decided {
    pub(super) differences: Vec<AttributeDifference>,
    pub(super) looked_at: u64,
    pub(super) rare: u64,
}

/// A value that differs.
struct Named {
    /// Index among the values.
    value: usize,
    p_value: f64,
    p_corrected: f64,
}

/// Decides which values differ, the largest difference of shares first.
pub(super) fn decide(sets: &DrawnSets) -> Decided {
    let tally = Tally::of(sets);
    let sizes = [0, 1].map(|set| sets.sets[set].durations.len() as u64);
    let mut named = certain(&tally, sets, sizes);
    let share = |value: usize, set: usize| {
        tally.values[value].counts[set] as f64 / sizes[set].max(1) as f64
    };
    let difference = |value: usize| share(value, 1) - share(value, 0);
    named.sort_by(|a, b| {
        // Of two values that share all durations between them neither differs more: rounding must
        // not decide which is first.
        let rounded = |named: &Named| (difference(named.value).abs() * 1e9).round();
        let key = |named: &Named| {
            let value = &tally.values[named.value];
            let is_less_often = difference(named.value) < 0.0;
            (is_less_often, Reverse(value.has_value()), value.filter().to_string())
        };
        rounded(b).total_cmp(&rounded(a)).then_with(|| key(a).cmp(&key(b)))
    });
    named.truncate(CONTRAST_NAMED_MAX);
    let values: Vec<usize> = named.iter().map(|named| named.value).collect();
    let members = tally.members(&values);
    let leaders = leaders(&members);
    let effects = Effects::of(sets);
    let mut differences: Vec<AttributeDifference> = Vec::new();
    let mut of_leader: HashMap<usize, usize> = HashMap::new();
    for (at, named) in named.iter().enumerate() {
        let filter = tally.values[named.value].filter();
        if let Some(known) = of_leader.get(&leaders[at]) {
            differences[*known].same.push(filter);
            continue;
        }
        of_leader.insert(at, differences.len());
        let (mean_shift_ns, median_shift_ns) = effects.shifts(&members[at]);
        let [usual, other] = tally.values[named.value].counts;
        differences.push(AttributeDifference {
            filter,
            same: Vec::new(),
            usual,
            other,
            usual_share: share(named.value, 0),
            other_share: share(named.value, 1),
            mean_shift_ns,
            median_shift_ns,
            p_value: named.p_value,
            p_corrected: named.p_corrected,
        });
    }
    Decided { differences, looked_at: tally.values.len() as u64, rare: tally.rare }
}

/// The values of which both tests say that they differ.
fn certain(tally: &Tally<'_>, sets: &DrawnSets, sizes: [u64; 2]) -> Vec<Named> {
    if sizes.contains(&0) {
        return Vec::new();
    }
    // Many values are as rare as each other.
    let mut known: HashMap<[u64; 2], f64> = HashMap::new();
    let p_values: Vec<f64> = tally
        .values
        .iter()
        .map(|value| {
            *known.entry(value.counts).or_insert_with(|| fisher_exact(value.counts, sizes))
        })
        .collect();
    let by_holm = holm(&p_values, p_values.len());
    if by_holm.iter().all(|p| *p > CONTRAST_P_MAX) {
        return Vec::new();
    }
    let in_blocks = block_sizes(sets);
    let scores: Vec<Vec<f64>> =
        tally.values.iter().map(|value| scores(value, sets, (sizes, &in_blocks))).collect();
    let test = BlockTest { design: sets.design, draws: DRAWS, seed: 1 };
    // What Fisher's test does not find need not be corrected, but for what it does to the others.
    let smallest = scores.iter().zip(&by_holm).filter(|(_, p)| **p <= CONTRAST_P_MAX);
    let smallest = smallest.map(|(scores, _)| test.size(scores)).fold(f64::INFINITY, f64::min);
    let by_blocks = test.corrected(&scores, smallest.max(DEVIATIONS_MIN));
    let both = by_holm.iter().zip(by_blocks).map(|(holm, blocks)| holm.max(blocks));
    let named = both.zip(&p_values).enumerate();
    let named = named.map(|(value, (p_corrected, p))| Named { value, p_value: *p, p_corrected });
    named.filter(|named| named.p_corrected <= CONTRAST_P_MAX).collect()
}

/// Durations of each set in each block.
fn block_sizes(sets: &DrawnSets) -> [Vec<f64>; 2] {
    [0, 1].map(|set| {
        let mut sizes = vec![0.0; sets.blocks];
        let blocks = sets.sets[set].durations.iter().filter_map(|duration| duration.block);
        blocks.for_each(|block| sizes[block] += 1.0);
        sizes
    })
}

/// A value's scores block by block, in standard deviations of independent durations.
fn scores(
    value: &ValueTally<'_>,
    sets: &DrawnSets,
    (sizes, in_blocks): ([u64; 2], &[Vec<f64>; 2]),
) -> Vec<f64> {
    let all = (value.counts[0] + value.counts[1]) as f64 / (sizes[0] + sizes[1]) as f64;
    let variance = all * (1.0 - all);
    let share = |set: usize, block: usize| {
        let size = in_blocks[set][block];
        (f64::from(value.by_block[set][block]) / size, size)
    };
    let score = |block: usize| match sets.design {
        BlockDesign::Exchanged => {
            let ((a, size_a), (b, size_b)) = (share(0, block), share(1, block));
            // A block with durations of one set alone compares nothing.
            if size_a == 0.0 || size_b == 0.0 {
                return 0.0;
            }
            (b - a) / (variance * (1.0 / size_a + 1.0 / size_b)).sqrt()
        }
        BlockDesign::Dealt { first } => {
            let (share, size) = share(usize::from(block >= first), block);
            share / (variance / size).sqrt()
        }
    };
    (0..sets.blocks).map(score).collect()
}

/// For each value the first one that is of nearly the same durations, or itself.
fn leaders(members: &[Vec<bool>]) -> Vec<usize> {
    let mut leaders: Vec<usize> = Vec::with_capacity(members.len());
    for (at, mine) in members.iter().enumerate() {
        let is_same = |other: &usize| {
            let pairs = || mine.iter().zip(&members[*other]);
            let both = pairs().filter(|(a, b)| **a && **b).count();
            let any = pairs().filter(|(a, b)| **a || **b).count();
            both as f64 >= CONTRAST_SAME_MIN * any as f64
        };
        let leader = (0..at).find(|other| leaders[*other] == *other && is_same(other));
        leaders.push(leader.unwrap_or(at));
    }
    leaders
}

/// The durations of both sets, ascending, with what each stands for.
struct Effects {
    /// Length in nanoseconds, weight, and the number in the sets.
    ascending: Vec<(u64, f64, usize)>,
}

impl Effects {
    fn of(sets: &DrawnSets) -> Self {
        let weighted = sets.sets.iter().flat_map(|set| {
            let weight = set.total as f64 / set.durations.len().max(1) as f64;
            set.durations.iter().map(move |duration| (duration.duration_ns, weight))
        });
        let mut ascending: Vec<(u64, f64, usize)> =
            weighted.enumerate().map(|(number, (ns, weight))| (ns, weight, number)).collect();
        ascending.sort_unstable_by_key(|(ns, _, number)| (*ns, *number));
        Self { ascending }
    }

    /// The mean and median of the durations that have a value less those of the others; `None`
    /// where there are no others.
    fn shifts(&self, members: &[bool]) -> (Option<f64>, Option<i64>) {
        let of = |has: bool| -> Vec<(u64, f64)> {
            let mine = self.ascending.iter().filter(|(.., number)| members[*number] == has);
            mine.map(|(ns, weight, _)| (*ns, *weight)).collect()
        };
        let (with, without) = (of(true), of(false));
        let mean = |set: &[(u64, f64)]| {
            let weight: f64 = set.iter().map(|(_, weight)| weight).sum();
            let sum: f64 = set.iter().map(|(ns, weight)| *ns as f64 * weight).sum();
            (weight > 0.0).then(|| sum / weight)
        };
        let mean_shift = mean(&with).zip(mean(&without)).map(|(with, without)| with - without);
        let median = |set: &[(u64, f64)]| {
            weighted_median(set).map(|ns| i64::try_from(ns).unwrap_or(i64::MAX))
        };
        let median_shift = median(&with).zip(median(&without));
        (mean_shift, median_shift.map(|(with, without)| with - without))
    }
}
