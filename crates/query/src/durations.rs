//! All durations that a question is about, ascending: for distributions and verdicts.

use crate::answer::{Answer, ClockQuality, PathAnswer};
use crate::chunk::{PathNumbers, PathText, both};
use crate::found_elsewhere::FoundElsewhere;
use crate::gather::{Gathered, QueryEnvironment, gather};
use crate::question::Question;
use crate::spread::spread;
use chronoscope_chain::{Counts, Crossings, Distribution, sort};
use chronoscope_statistics::{Quantile, nearest_rank};
use chronoscope_store::{Snapshot, StoreError};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Durations and what they are like.
pub(crate) struct Durations {
    pub(crate) distribution: Option<Distribution>,
    pub(crate) ascending_ns: Vec<u64>,
    /// Paths in words, and how many durations each has.
    pub(crate) paths: Vec<(String, u64)>,
    by_path: Vec<(Arc<PathText>, Distribution)>,
    counts: Counts,
    clocks: Option<ClockQuality>,
    /// First and last start.
    pub(crate) starts_ns: Option<(i64, i64)>,
    rows: u64,
}

/// Answers a question as [`ask_watched`](crate::ask_watched) does, with what earlier questions
/// found: without points, and without splits.
///
/// Counts are of what is asked for, but for roots that are missing and doubled rows: those are
/// not counted here.
///
/// # Errors
/// As [`ask_watched`](crate::ask_watched).
pub fn ask_again(
    snapshot: &Snapshot,
    question: &Question,
    asking: &QueryEnvironment<'_>,
) -> Result<Answer, StoreError> {
    ask_again_with(snapshot, question, asking, Vec::new())
}

/// The same with durations of other rows that were computed elsewhere.
pub(crate) fn ask_again_with(
    snapshot: &Snapshot,
    question: &Question,
    asking: &QueryEnvironment<'_>,
    found: Vec<FoundElsewhere>,
) -> Result<Answer, StoreError> {
    let (all, losses) =
        gather(snapshot, question, asking, |gathered| durations_with(gathered, found))?;
    let mut paths: Vec<PathAnswer> = all
        .by_path
        .iter()
        .map(|(path, distribution)| PathAnswer {
            path: path.path.clone(),
            hops: path.hops.clone(),
            distribution: *distribution,
            split: None,
        })
        .collect();
    paths.sort_by(|a, b| {
        let by_count = b.distribution.count.cmp(&a.distribution.count);
        by_count.then_with(|| a.path.cmp(&b.path))
    });
    let mut answer = Answer {
        distribution: all.distribution,
        verdict: None,
        arrivals: None,
        paths,
        counts: all.counts,
        points: Vec::new(),
        covered_ns: all.starts_ns.map(|(first, last)| first..=last),
        rows_read: all.rows,
        losses,
        clocks: all.clocks,
        durations_ns: all.ascending_ns,
        groups: None,
    };
    answer.judge(snapshot, question, None);
    Ok(answer)
}

/// Findings of one thread.
#[derive(Default)]
struct Mine {
    numbers: PathNumbers,
    /// By the number of the path.
    durations_ns: Vec<Vec<u64>>,
    counts: Counts,
    crossings: Crossings,
    starts_ns: Option<(i64, i64)>,
    rows: u64,
}

impl Mine {
    /// Adds what is counted of others.
    fn add(
        &mut self,
        (counts, crossings): (&Counts, &Crossings),
        rows: u64,
        starts_ns: Option<(i64, i64)>,
    ) {
        self.counts.add(counts);
        self.crossings.merge(crossings);
        self.rows += rows;
        self.starts_ns = both(self.starts_ns, starts_ns);
    }
}

/// All durations that were gathered. Takes 16 bytes for each while they are sorted, then 8.
pub(crate) fn durations(gathered: &Gathered<'_>) -> Result<Durations, StoreError> {
    durations_with(gathered, Vec::new())
}

/// The same with durations that were computed elsewhere.
fn durations_with(
    gathered: &Gathered<'_>,
    found: Vec<FoundElsewhere>,
) -> Result<Durations, StoreError> {
    let wanted = gathered.wanted();
    let states = gathered.each(Mine::default, |mine, chunk| {
        mine.rows += chunk.rows;
        for series in &chunk.series {
            let number = mine.numbers.of(&series.path);
            mine.durations_ns.resize_with(mine.numbers.paths.len(), Vec::new);
            let mut counts = Counts::default();
            chunk.each(series, wanted, |dot| {
                if let Some(error_ns) = dot.error_ns {
                    mine.crossings.add(dot.duration_ns, error_ns);
                }
                if counts.count(dot.duration_ns, dot.links(), dot.is_foreign()) {
                    mine.durations_ns[number].push(dot.duration_ns.unsigned_abs());
                    let (first, last) = mine.starts_ns.unwrap_or((dot.start_ns, dot.start_ns));
                    mine.starts_ns = Some((first.min(dot.start_ns), last.max(dot.start_ns)));
                }
            });
            mine.counts.add(&counts);
        }
    })?;
    let mut all = Mine::default();
    let mut pieces: Vec<Vec<Vec<u64>>> = Vec::new();
    for state in states {
        all.add((&state.counts, &state.crossings), state.rows, state.starts_ns);
        for (path, durations_ns) in state.numbers.paths.iter().zip(state.durations_ns) {
            let number = all.numbers.of(path);
            pieces.resize_with(all.numbers.paths.len(), Vec::new);
            pieces[number].push(durations_ns);
        }
    }
    for one in found {
        let Some(path) = gathered.path_of(&one.path) else { continue };
        let number = all.numbers.of(&path);
        pieces.resize_with(all.numbers.paths.len(), Vec::new);
        pieces[number].extend(one.durations_ns);
        all.add((&one.counts, &one.crossings), one.rows, one.starts_ns);
    }
    let mut sorted = sort_all(&pieces, gathered.threads())?;
    drop(pieces);
    let mut by_path = Vec::new();
    for (path, ascending) in all.numbers.paths.iter().zip(&sorted) {
        by_path.extend(Distribution::of_ascending(ascending).map(|one| (path.clone(), one)));
    }
    // The shortest first: then those that are merged again and again are the few.
    sorted.sort_by_key(Vec::len);
    let ascending_ns = sorted.into_iter().reduce(|a, b| merge(&a, &b)).unwrap_or_default();
    let distribution = match &by_path[..] {
        [(_, only)] => Some(*only),
        _ => Distribution::of_ascending(&ascending_ns),
    };
    Ok(Durations {
        distribution,
        ascending_ns,
        paths: by_path.iter().map(|(path, one)| (path.path.clone(), one.count)).collect(),
        by_path,
        clocks: gathered.quality(all.counts.used + all.counts.negative, all.crossings),
        counts: all.counts,
        starts_ns: all.starts_ns,
        rows: all.rows,
    })
}

/// Durations of which half go to one thread, and half to another.
const HALVED: usize = 1 << 16;

/// The durations of each path ascending, sorted by several threads.
fn sort_all(paths: &[Vec<Vec<u64>>], threads: usize) -> Result<Vec<Vec<u64>>, StoreError> {
    let mut jobs: Vec<(usize, RangeInclusive<u64>)> = Vec::new();
    for (number, pieces) in paths.iter().enumerate() {
        match middle(pieces) {
            Some(middle) => jobs.extend([(number, 0..=middle - 1), (number, middle..=u64::MAX)]),
            None => jobs.push((number, 0..=u64::MAX)),
        }
    }
    let states = spread(&jobs, threads, Vec::new, |done, (number, range)| {
        let pieces = &paths[*number];
        let ascending = if *range == (0..=u64::MAX) {
            sort(pieces)
        } else {
            sort(&[pieces.iter().flatten().copied().filter(|ns| range.contains(ns)).collect()])
        };
        done.push((*number, *range.start(), ascending));
        Ok(())
    })?;
    let mut parts: Vec<_> = states.into_iter().flatten().collect();
    parts.sort_by_key(|(number, start, _)| (*number, *start));
    let mut sorted: Vec<Vec<u64>> = Vec::new();
    for (number, _, ascending) in parts {
        match sorted.get_mut(number) {
            Some(lower) => lower.extend(ascending),
            None => sorted.push(ascending),
        }
    }
    Ok(sorted)
}

/// About the median of many durations, above 0; `None` where they are few.
fn middle(pieces: &[Vec<u64>]) -> Option<u64> {
    const SAMPLE: usize = 1001;
    let count: usize = pieces.iter().map(Vec::len).sum();
    if count < HALVED {
        return None;
    }
    let mut sample: Vec<u64> = pieces.iter().flatten().step_by(count / SAMPLE).copied().collect();
    sample.sort_unstable();
    nearest_rank(&sample, Quantile::P50).filter(|middle| *middle > 0)
}

/// Two ascending sets as one.
fn merge(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let mut rest = a;
    for ns in b {
        let before = rest.iter().take_while(|other| *other <= ns).count();
        merged.extend_from_slice(&rest[..before]);
        rest = &rest[before..];
        merged.push(*ns);
    }
    merged.extend_from_slice(rest);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// By two threads and path by path, or all at once.
        #[test]
        fn sorted_is_sorted(
            few in prop::collection::vec(any::<u16>(), 0..50),
            seed in any::<u64>(),
            many in 0usize..3 * HALVED,
        ) {
            let few: Vec<u64> = few.into_iter().map(u64::from).collect();
            let many: Vec<u64> =
                (0..many as u64).map(|n| n.wrapping_mul(seed | 1) >> 40 << (seed % 3)).collect();
            let paths = [vec![few.clone()], many.chunks(10_000).map(<[_]>::to_vec).collect()];
            let sorted = sort_all(&paths, 2).unwrap();
            prop_assert_eq!(sorted.len(), 2);
            for (path, sorted) in [&few, &many].into_iter().zip(&sorted) {
                let mut expected = path.clone();
                expected.sort_unstable();
                prop_assert_eq!(sorted, &expected);
            }
            let mut all = [few, many].concat();
            all.sort_unstable();
            prop_assert_eq!(merge(&sorted[0], &sorted[1]), all);
        }
    }
}
