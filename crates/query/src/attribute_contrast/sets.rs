//! Two sets of durations, drawn with their attributes and divided into blocks of time.

use crate::attributes::Attributes;
use crate::chosen::{ChosenDetail, describe_alone, read_chosen};
use crate::draws::{Sides, count, draw, pick, seed};
use crate::gather::{Gathered, QueryEnvironment};
use crate::kept_attributes::MinuteAttributes;
use crate::question::{DurationKind, Question};
use crate::series::Point;
use chronoscope_statistics::{BlockDesign, Histogram, Quantile, bucket_index};
use chronoscope_store::{Minute, Snapshot, StoreError};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Blocks of time of both sets together.
pub(super) const BLOCKS: usize = 16;
/// One part in so many of a block of two times does not count at each of its ends.
const GAP: usize = 8;

/// Two sets of durations; the usual one first.
pub(super) struct DrawnSets {
    pub(super) sets: [DrawnSet; 2],
    pub(super) design: BlockDesign,
    /// Number of blocks.
    pub(super) blocks: usize,
}

/// The durations that were drawn of one set.
#[derive(Default)]
pub(super) struct DrawnSet {
    /// Number of durations that they were drawn from.
    pub(super) total: u64,
    pub(super) durations: Vec<DrawnDuration>,
}

/// A duration that was drawn.
pub(super) struct DrawnDuration {
    pub(super) duration_ns: u64,
    /// Number of its block of time; `None` between two blocks.
    pub(super) block: Option<usize>,
    pub(super) attributes: Attributes,
}

/// One side of a comparison of two times: its durations with their blocks, from 0 on, and the
/// number of these.
type Side = (DrawnSet, usize);

impl Default for DrawnSets {
    /// Nothing, compared with nothing.
    fn default() -> Self {
        Self { sets: Default::default(), design: BlockDesign::Exchanged, blocks: 0 }
    }
}

impl DrawnSets {
    /// Draws up to `most` durations of the second of two sets, and in every block of time as many
    /// of the first.
    pub(super) fn of_same_time(
        snapshot: &Snapshot,
        question: &Question,
        (gathered, sides): (&Gathered<'_>, &Sides),
        (most, asking): (usize, &QueryEnvironment<'_>),
    ) -> Result<Self, StoreError> {
        let seed = lasting_seed(question);
        let counts = count(gathered, sides)?;
        let totals = [0, 1].map(|set| counts.values().map(|counts| counts[set]).sum());
        let draws = draw(&counts, 1, most, seed);
        let drawn: HashSet<Minute> = draws.keys().copied().collect();
        let by_minute = |set: usize, start_ns: i64| {
            let minute = Minute::of(start_ns);
            draws.get(&minute).filter(|_| set == 1).map(|quota| (minute.0, *quota))
        };
        let [_, others] = pick(gathered, sides, &drawn, by_minute, seed)?;
        let blocks = TimeBlocks::of(&others, BLOCKS);
        let mut quotas = vec![0; blocks.count()];
        others.iter().for_each(|point| quotas[blocks.block(point.start_ns)] += 1);
        let by_block = |set: usize, start_ns: i64| {
            let block = blocks.block(start_ns);
            let quota = quotas.get(block).copied().filter(|_| set == 0)?;
            Some((i64::try_from(block).ok()?, quota))
        };
        let [usual, _] = pick(gathered, sides, &drawn, by_block, seed)?;
        let points = [usual, others];
        let described = describe(snapshot, question, gathered, (&points.concat(), asking))?;
        let mut sets = points.map(|points| drawn_set(&points, &blocks, &described));
        for (set, total) in sets.iter_mut().zip(totals) {
            set.total = total;
        }
        Ok(Self { sets, design: BlockDesign::Exchanged, blocks: blocks.count() })
    }

    /// Draws up to `most` of all durations that were gathered.
    pub(super) fn side(
        snapshot: &Snapshot,
        question: &Question,
        gathered: &Gathered<'_>,
        (most, asking): (usize, &QueryEnvironment<'_>),
    ) -> Result<Side, StoreError> {
        let (seed, sides) = (lasting_seed(question), Sides::One);
        let counts = count(gathered, &sides)?;
        let draws = draw(&counts, 0, most, seed);
        let drawn: HashSet<Minute> = draws.keys().copied().collect();
        let by_minute = |_: usize, start_ns: i64| {
            let minute = Minute::of(start_ns);
            draws.get(&minute).map(|quota| (minute.0, *quota))
        };
        let [points, _] = pick(gathered, &sides, &drawn, by_minute, seed)?;
        let blocks = TimeBlocks::with_gaps(&points, BLOCKS / 2);
        let described = describe(snapshot, question, gathered, (&points, asking))?;
        let mut set = drawn_set(&points, &blocks, &described);
        set.total = counts.values().map(|counts| counts[0]).sum();
        Ok((set, blocks.count()))
    }

    /// Two sides of a comparison, whose blocks follow each other.
    pub(super) fn dealt((a, blocks_a): Side, (mut b, blocks_b): Side) -> Self {
        for duration in &mut b.durations {
            duration.block = duration.block.map(|block| block + blocks_a);
        }
        let design = BlockDesign::Dealt { first: blocks_a };
        Self { sets: [a, b], design, blocks: blocks_a + blocks_b }
    }
}

/// The seed of a question whatever its time and lengths: where these move, many of the durations
/// drawn are the same, and their attributes are known.
fn lasting_seed(question: &Question) -> u64 {
    let start_ns = i64::MIN..i64::MAX;
    seed(&Question { start_ns, duration_ns: 0..=u64::MAX, limit_ns: None, ..question.clone() })
}

/// Blocks of time with about as many durations each. Durations of one start are in one block.
struct TimeBlocks {
    /// The first start of each block, ascending.
    firsts_ns: Vec<i64>,
    /// The starts of each block that count in it.
    counted_ns: Vec<RangeInclusive<i64>>,
}

impl TimeBlocks {
    /// At most `most` blocks.
    fn of(points: &[Point], most: usize) -> Self {
        let mut starts: Vec<i64> = points.iter().map(|point| point.start_ns).collect();
        starts.sort_unstable();
        let count = most.min(starts.len());
        let mut firsts_ns: Vec<i64> =
            (0..count).map(|block| starts[block * starts.len() / count]).collect();
        firsts_ns.dedup();
        let counted_ns = vec![i64::MIN..=i64::MAX; firsts_ns.len()];
        Self { firsts_ns, counted_ns }
    }

    /// The same with a gap between two blocks: one part in [`GAP`] of each at both ends does not
    /// count, so that the blocks depend less on each other.
    fn with_gaps(points: &[Point], most: usize) -> Self {
        let mut blocks = Self::of(points, most);
        let mut starts_ns: Vec<Vec<i64>> = vec![Vec::new(); blocks.count()];
        points
            .iter()
            .for_each(|point| starts_ns[blocks.block(point.start_ns)].push(point.start_ns));
        for (counted_ns, mut starts_ns) in blocks.counted_ns.iter_mut().zip(starts_ns) {
            starts_ns.sort_unstable();
            let gap = starts_ns.len() / GAP;
            if let [first, .., last] = &starts_ns[gap..starts_ns.len() - gap] {
                *counted_ns = *first..=*last;
            }
        }
        blocks
    }

    fn count(&self) -> usize {
        self.firsts_ns.len()
    }

    /// The block of a start; what starts before all is in the first.
    fn block(&self, start_ns: i64) -> usize {
        self.firsts_ns.partition_point(|first| *first <= start_ns).saturating_sub(1)
    }

    /// The block in which a start counts; `None` in a gap.
    fn counted(&self, start_ns: i64) -> Option<usize> {
        let block = self.block(start_ns);
        self.counted_ns.get(block).filter(|counted| counted.contains(&start_ns)).map(|_| block)
    }
}

fn describe(
    snapshot: &Snapshot,
    question: &Question,
    gathered: &Gathered<'_>,
    (points, asking): (&[Point], &QueryEnvironment<'_>),
) -> Result<MinuteAttributes, StoreError> {
    gathered.attributes_of(points, |missing| {
        let from = (missing, gathered);
        if question.kind == DurationKind::Sync {
            return describe_alone(snapshot, question, from, asking);
        }
        let detail = ChosenDetail::Attributes;
        Ok(read_chosen(snapshot, question, from, detail, asking)?.described)
    })
}

fn drawn_set(points: &[Point], blocks: &TimeBlocks, described: &MinuteAttributes) -> DrawnSet {
    let durations = points.iter().map(|point| DrawnDuration {
        duration_ns: point.duration_ns,
        block: blocks.counted(point.start_ns),
        attributes: described.get(point).cloned().unwrap_or_default(),
    });
    DrawnSet { total: 0, durations: durations.collect() }
}

/// A quantile of all durations that were gathered, by nearest rank, in nanoseconds; `None` where
/// there are none. They are counted in a histogram first, so that only those of one bucket are
/// sorted.
pub(super) fn quantile_ns(
    gathered: &Gathered<'_>,
    quantile: Quantile,
) -> Result<Option<u64>, StoreError> {
    let wanted = gathered.wanted();
    let counted = gathered.each(Histogram::default, |counts, chunk| {
        for series in &chunk.series {
            chunk.each(series, wanted, |dot| {
                if let Ok(ns) = u64::try_from(dot.duration_ns) {
                    counts.add(ns);
                }
            });
        }
    })?;
    let mut counts = Histogram::default();
    counted.iter().for_each(|of_thread| counts.merge(of_thread));
    let rank = quantile.rank(counts.count());
    let mut below = 0;
    let reached = counts.buckets().find(|(_, count)| {
        let is_it = below + count >= rank;
        below += if is_it { 0 } else { *count };
        is_it
    });
    let Some((bucket, _)) = reached.filter(|_| rank > 0) else { return Ok(None) };
    let of_bucket = gathered.each(Vec::new, |of_bucket, chunk| {
        for series in &chunk.series {
            chunk.each(series, wanted, |dot| {
                let ns = u64::try_from(dot.duration_ns).ok();
                of_bucket.extend(ns.filter(|ns| bucket_index(*ns) == bucket));
            });
        }
    })?;
    let mut of_bucket = of_bucket.concat();
    of_bucket.sort_unstable();
    let at = usize::try_from(rank - below - 1).unwrap_or(usize::MAX);
    Ok(of_bucket.get(at).copied())
}
