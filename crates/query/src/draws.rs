//! Draws of durations whose rows are read.
//!
//! A draw is clustered by time, because the rows of a minute are read together: up to so many
//! minutes are drawn at random, each as probable as it has durations, and in them durations at
//! random, in equal numbers as far as they have them. Randomness comes from the question, so that
//! it is answered alike again. Durations of one minute are more alike than those of two: a sample
//! of few minutes says less than its number.

use crate::chunk::{Chunk, ChunkSeries, Dot, DurationFilter, Picker};
use crate::gather::Gathered;
use crate::question::Question;
use crate::series::Point;
use chronoscope_store::{MINUTE_NS, Minute, StoreError};
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Minutes whose rows are read, for each of two sets.
const MINUTES_MAX: usize = 24;

/// Assignment of durations to one or two sets.
pub(crate) enum Sides {
    /// All durations go into the first set.
    One,
    /// Selected durations go into the second set, others of the context into the first.
    Two(Box<Selected>),
}

/// Filters of the selected durations and of their context.
pub(crate) struct Selected {
    pub(crate) selected: DurationFilter,
    pub(crate) context: DurationFilter,
}

/// The same, for one path of one chunk.
enum Judge<'a> {
    One,
    Two { selected: Picker<'a>, context: Picker<'a> },
}

impl Sides {
    fn judge<'a>(&'a self, chunk: &Chunk, series: &ChunkSeries) -> Judge<'a> {
        match self {
            Self::One => Judge::One,
            Self::Two(two) => Judge::Two {
                selected: Picker::new(chunk, series, &two.selected),
                context: Picker::new(chunk, series, &two.context),
            },
        }
    }
}

impl Judge<'_> {
    /// The set that all go into, or none, where that is one and the same.
    const fn all(&self) -> Option<Option<usize>> {
        match self {
            Self::One => Some(Some(0)),
            Self::Two { selected: Picker::All, .. } => Some(Some(1)),
            Self::Two { selected: Picker::Nothing, context: Picker::All } => Some(Some(0)),
            Self::Two { selected: Picker::Nothing, context: Picker::Nothing } => Some(None),
            Self::Two { .. } => None,
        }
    }

    fn set(&self, dot: &Dot) -> Option<usize> {
        match self {
            Self::One => Some(0),
            Self::Two { selected, .. } if selected.has(dot) => Some(1),
            Self::Two { context, .. } => context.has(dot).then_some(0),
        }
    }
}

/// Counts of both sets by minute.
pub(crate) type Counts = BTreeMap<Minute, [u64; 2]>;

/// Counts the durations that were gathered, minute by minute.
pub(crate) fn count(gathered: &Gathered<'_>, sides: &Sides) -> Result<Counts, StoreError> {
    let wanted = gathered.wanted();
    let states = gathered.each(Counts::new, |counts, chunk| {
        for series in &chunk.series {
            let judge = sides.judge(chunk, series);
            if let (Some(set), Some((minute, count))) = (judge.all(), series.all_of_minute())
                && chunk.known(series, wanted).is_some()
            {
                if let Some(set) = set {
                    counts.entry(minute).or_default()[set] += count;
                }
                continue;
            }
            let mut last: (i64, [u64; 2]) = (i64::MIN, [0; 2]);
            chunk.each(series, wanted, |dot| {
                let Some(set) = judge.set(&dot).filter(|_| dot.duration_ns >= 0) else { return };
                if !(last.0..last.0.saturating_add(MINUTE_NS)).contains(&dot.start_ns) {
                    add(counts, last);
                    last = (Minute::of(dot.start_ns).start_ns(), [0; 2]);
                }
                last.1[set] += 1;
            });
            add(counts, last);
        }
    })?;
    let mut counts = Counts::new();
    for (minute, [a, b]) in states.into_iter().flatten() {
        let both = counts.entry(minute).or_default();
        *both = [both[0] + a, both[1] + b];
    }
    Ok(counts)
}

fn add(counts: &mut Counts, (start_ns, [a, b]): (i64, [u64; 2])) {
    if a + b > 0 {
        let both = counts.entry(Minute::of(start_ns)).or_default();
        *both = [both[0] + a, both[1] + b];
    }
}

/// Number of durations to take from each drawn minute.
pub(crate) fn draw(
    counts: &Counts,
    set: usize,
    sample: usize,
    seed: u64,
) -> BTreeMap<Minute, usize> {
    // Efraimidis and Spirakis: the smallest −ln(u) / weight are a draw by weight without
    // replacement.
    let mut keys: Vec<(f64, Minute, u64)> = counts
        .iter()
        .filter(|(_, counts)| counts[set] > 0)
        .map(|(minute, counts)| {
            let share = ((hash(seed, &(minute, set)) >> 11) + 1) as f64 / (1u64 << 53) as f64;
            (-share.ln() / counts[set] as f64, *minute, counts[set])
        })
        .collect();
    keys.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    keys.truncate(MINUTES_MAX);
    // Smallest minutes first: the quota that they cannot fill goes to the others.
    keys.sort_by_key(|(_, minute, count)| (*count, *minute));
    let (mut left, mut minutes) = (sample, keys.len());
    let mut draws = BTreeMap::new();
    for (_, minute, count) in keys {
        let quota = usize::try_from(count).unwrap_or(usize::MAX).min(left.div_ceil(minutes));
        draws.insert(minute, quota);
        left -= quota.min(left);
        minutes -= 1;
    }
    draws
}

/// The durations that are drawn of both sets, in some minutes. `quota` says to which stratum a
/// duration of a set belongs by its start, and how many durations are drawn of it; `None` where it
/// is not drawn.
pub(crate) fn pick(
    gathered: &Gathered<'_>,
    sides: &Sides,
    drawn: &HashSet<Minute>,
    quota: impl Fn(usize, i64) -> Option<(i64, usize)> + Sync,
    seed: u64,
) -> Result<[Vec<Point>; 2], StoreError> {
    // By set and stratum, with the quota.
    type Heaps = BTreeMap<(usize, i64), (usize, BinaryHeap<(u64, Point)>)>;
    let wanted = gathered.wanted();
    let states = gathered.each(Heaps::new, |heaps, chunk| {
        let touches = |minute: &Minute| !chunk.is_outside(&(minute.start_ns()..minute.end_ns()));
        if !drawn.iter().any(touches) {
            return;
        }
        for series in &chunk.series {
            let judge = sides.judge(chunk, series);
            // Most durations are of the same minute as the one before.
            let mut last = (i64::MIN..i64::MIN, false);
            chunk.each(series, wanted, |dot| {
                let Ok(duration_ns) = u64::try_from(dot.duration_ns) else { return };
                if !last.0.contains(&dot.start_ns) {
                    let minute = Minute::of(dot.start_ns);
                    last = (minute.start_ns()..minute.end_ns(), drawn.contains(&minute));
                }
                let Some(set) = judge.set(&dot).filter(|_| last.1) else { return };
                let Some((stratum, quota)) = quota(set, dot.start_ns) else { return };
                let point = Point { start_ns: dot.start_ns, duration_ns };
                let heap =
                    heaps.entry((set, stratum)).or_insert_with(|| (quota, BinaryHeap::new()));
                offer(&mut heap.1, quota, hash(seed, &point), point);
            });
        }
    })?;
    let mut heaps = Heaps::new();
    for (key, (quota, heap)) in states.into_iter().flatten() {
        let mine = heaps.entry(key).or_insert_with(|| (quota, BinaryHeap::new()));
        heap.into_iter().for_each(|(rank, point)| offer(&mut mine.1, quota, rank, point));
    }
    let mut points = [Vec::new(), Vec::new()];
    for ((set, _), (_, heap)) in heaps {
        points[set].extend(heap.into_iter().map(|(_, point)| point));
    }
    Ok(points)
}

fn offer(heap: &mut BinaryHeap<(u64, Point)>, quota: usize, rank: u64, point: Point) {
    if heap.len() < quota {
        heap.push((rank, point));
    } else if heap.peek().is_some_and(|(last, _)| rank < *last) {
        heap.pop();
        heap.push((rank, point));
    }
}

/// Seed of the draw: the same question draws the same sample.
pub(crate) fn seed(question: &Question) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{question:?}").hash(&mut hasher);
    hasher.finish()
}

/// A number that looks random and is always the same.
fn hash(seed: u64, of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    of.hash(&mut hasher);
    hasher.finish()
}
