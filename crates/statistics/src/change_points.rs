//! The points at which a history moved.
//!
//! The history is cut into segments so that the sum of distances to each segment's median, with a
//! price for each cut, is the least of all (optimal partitioning, by dynamic programming). Of
//! neighbouring segments whose medians differ by less than the floor, one is made.
//!
//! Why not E-divisive, which performance trackers use: it decides by random permutations, so that
//! it answers differently for equal data, or the same only by a fixed seed; it is greedy; and on
//! counts with a noise of parts per million it finds change points in an eighth of the histories
//! that have none, all of them too small to matter. Medians and absolute distances do not bend to
//! single outliers; the optimum is exact and needs no chance; the floor is part of the method.

use crate::{ascending, median};

/// The smallest step and the shortest segment that count.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// Smallest step, as a part of the value before it: smaller ones are no change points.
    pub part: f64,
    /// Shortest segment, in values; shorter ones are outliers. At least 1.
    pub length: usize,
}

impl Default for Floor {
    /// Steps of more than 0.05 %, segments of at least three.
    fn default() -> Floor {
        Floor { part: 5e-4, length: 3 }
    }
}

/// A point at which a history moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after it.
    pub index: usize,
    /// Median of the segment before.
    pub before: f64,
    /// Median of the segment after.
    pub after: f64,
    /// The step divided by the usual distance of a value from its segment's median; infinite when
    /// that distance is 0.
    pub strength: f64,
}

impl ChangePoint {
    /// The step, as a part of the value before.
    pub fn change(&self) -> f64 {
        self.after / self.before - 1.0
    }
}

/// The change points of a history, and its noise.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The points, in order.
    pub points: Vec<ChangePoint>,
    /// Mean distance of a value from its segment's median, as a part of the median.
    pub noise: f64,
}

/// Largest number of values that are searched (the last ones): the work grows with their square.
const VALUES_MAX: usize = 2000;

/// The price of a cut, in mean distances and logarithms of the length. Chosen so that a history of
/// pure noise, normal or heavy-tailed, has a change point in less than one of a hundred cases; the
/// tests hold it to that.
const PRICE: f64 = 5.0;

/// Finds the points at which a history moved; `None` where a value is not positive and finite, and so
/// has no logarithm.
pub fn find(values: &[f64], floor: Floor) -> Option<History> {
    if values.iter().any(|value| !(*value > 0.0 && value.is_finite())) {
        return None;
    }
    let skipped = values.len().saturating_sub(VALUES_MAX);
    let logs: Vec<f64> = values[skipped..].iter().map(|value| value.ln()).collect();
    let length = floor.length.max(1);
    let mut cuts = partition(&logs, length, noise(&logs, floor.part) * PRICE);
    merge(&logs, &mut cuts, length, floor.part);
    let distance = distance_in(&logs, &cuts);
    let points = cuts.iter().enumerate().map(|(index, cut)| {
        let (before, after) = around(&logs, &cuts, index);
        let strength = (after - before).abs() / distance;
        ChangePoint { index: cut + skipped, before: before.exp(), after: after.exp(), strength }
    });
    Some(History { points: points.collect(), noise: distance })
}

/// The usual distance of a value from the level it scatters around. It is estimated from
/// differences of neighbours, which steps hardly affect. At least a part of the floor: otherwise a
/// cut in a history without noise would cost nothing.
fn noise(logs: &[f64], floor: f64) -> f64 {
    let differences = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    // The median difference of two normal values is 0.954 of their standard deviation, and the mean
    // distance from the middle is 0.798 of it.
    let usual = median(differences).unwrap_or(0.0) * 0.798 / 0.954;
    usual.max(floor / 20.0)
}

/// The first indices of all segments but the first.
fn partition(logs: &[f64], length: usize, unit: f64) -> Vec<usize> {
    let n = logs.len();
    if n < 2 * length {
        return Vec::new();
    }
    let price = unit * (n as f64).ln().max(1.0);
    // best[end]: the least cost of the values before `end`, and where its last segment begins.
    let mut best = vec![(f64::INFINITY, 0); n + 1];
    best[0] = (-price, 0);
    for begin in 0..=n - length {
        if best[begin].0 == f64::INFINITY {
            continue;
        }
        let mut segment = RunningMedian::default();
        for end in begin + 1..=n {
            segment.push(logs[end - 1]);
            if end - begin >= length {
                let cost = best[begin].0 + price + segment.distance();
                if cost < best[end].0 {
                    best[end] = (cost, begin);
                }
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = n;
    while end > 0 {
        end = best[end].1;
        if end > 0 {
            cuts.push(end);
        }
    }
    cuts.reverse();
    cuts
}

/// The running sum of distances to the median of values that are added one by one: two heaps, each
/// with the sum of its values.
#[derive(Default)]
struct RunningMedian {
    low: std::collections::BinaryHeap<Ordered>,
    high: std::collections::BinaryHeap<std::cmp::Reverse<Ordered>>,
    low_sum: f64,
    high_sum: f64,
}

#[derive(PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl RunningMedian {
    fn push(&mut self, value: f64) {
        if self.low.peek().is_none_or(|middle| value <= middle.0) {
            self.low.push(Ordered(value));
            self.low_sum += value;
        } else {
            self.high.push(std::cmp::Reverse(Ordered(value)));
            self.high_sum += value;
        }
        if self.low.len() > self.high.len() + 1
            && let Some(Ordered(value)) = self.low.pop()
        {
            self.low_sum -= value;
            self.high_sum += value;
            self.high.push(std::cmp::Reverse(Ordered(value)));
        } else if self.high.len() > self.low.len()
            && let Some(std::cmp::Reverse(Ordered(value))) = self.high.pop()
        {
            self.high_sum -= value;
            self.low_sum += value;
            self.low.push(Ordered(value));
        }
    }

    fn distance(&self) -> f64 {
        let Some(Ordered(middle)) = self.low.peek() else { return 0.0 };
        let above = self.high_sum - middle * self.high.len() as f64;
        let below = middle * self.low.len() as f64 - self.low_sum;
        (above + below).max(0.0)
    }
}

/// Removes cuts whose step is within the floor, the smallest first. Also removes cuts beside which
/// fewer than `length` values are nearer to their own segment's median than to the other's: two
/// outliers that drew a third value into a segment.
fn merge(logs: &[f64], cuts: &mut Vec<usize>, length: usize, floor: f64) {
    let least = floor.ln_1p();
    loop {
        let steps = (0..cuts.len()).map(|index| {
            let (before, after) = around(logs, cuts, index);
            let step = (after - before).abs();
            let (begin, end) = bounds(logs, cuts, index);
            let nearer = |part: &[f64], own: f64, other: f64| {
                part.iter().filter(|log| (*log - own).abs() < (*log - other).abs()).count()
            };
            let supported = nearer(&logs[begin..cuts[index]], before, after) >= length
                && nearer(&logs[cuts[index]..end], after, before) >= length;
            (if supported { step } else { 0.0 }, index)
        });
        match steps.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((step, index)) if step <= least => drop(cuts.remove(index)),
            _ => return,
        }
    }
}

/// Start of the segment before a cut, and end of the segment after it.
fn bounds(logs: &[f64], cuts: &[usize], index: usize) -> (usize, usize) {
    let begin = if index == 0 { 0 } else { cuts[index - 1] };
    (begin, cuts.get(index + 1).copied().unwrap_or(logs.len()))
}

/// Medians of the segments before and after a cut.
fn around(logs: &[f64], cuts: &[usize], index: usize) -> (f64, f64) {
    let (begin, end) = bounds(logs, cuts, index);
    let middle = |part: &[f64]| median(part.iter().copied()).unwrap_or(0.0);
    (middle(&logs[begin..cuts[index]]), middle(&logs[cuts[index]..end]))
}

/// The mean distance of the values from their segments' medians.
fn distance_in(logs: &[f64], cuts: &[usize]) -> f64 {
    let ends = cuts.iter().copied().chain([logs.len()]);
    let (mut begin, mut sum) = (0, 0.0);
    for end in ends {
        let part = ascending(logs[begin..end].iter().copied());
        let middle = median(part.iter().copied()).unwrap_or(0.0);
        sum += part.iter().map(|log| (log - middle).abs()).sum::<f64>();
        begin = end;
    }
    sum / logs.len().max(1) as f64
}
