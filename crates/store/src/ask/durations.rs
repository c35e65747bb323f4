//! All durations that a question is about, ascending: for distributions and verdicts.

use super::answer::{Answer, ClockQuality, PathAnswer};
use super::chunk::{PathNumbers, PathText};
use super::gather::{Asking, Gathered, gather};
use super::question::Question;
use crate::{Snapshot, StoreError};
use chronoscope_chain::{Counts, Crossings, Distribution, Requirement, sort};
use std::sync::Arc;

/// Durations and what they are like.
pub(super) struct Durations {
    pub(super) distribution: Option<Distribution>,
    pub(super) ascending_ns: Vec<u64>,
    /// Paths in words, and how many durations each has.
    pub(super) paths: Vec<(String, u64)>,
    by_path: Vec<(Arc<PathText>, Distribution)>,
    counts: Counts,
    clocks: Option<ClockQuality>,
    starts_ns: Option<(i64, i64)>,
    rows: u64,
}

/// Answers a question as [`ask_watched`](super::ask_watched) does, with what earlier questions
/// found: without points, and without splits.
///
/// Counts are of what is asked for, but for roots that are missing and doubled rows: those are
/// not counted here.
///
/// # Errors
/// As [`ask_watched`](super::ask_watched).
pub fn ask_again(
    snapshot: &Snapshot,
    question: &Question,
    asking: &Asking<'_>,
) -> Result<Answer, StoreError> {
    let (all, losses) = gather(snapshot, question, asking, durations)?;
    let judge = |limit_ns| Requirement::within(limit_ns).judge(&all.ascending_ns);
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
    Ok(Answer {
        distribution: all.distribution,
        verdict: question.limit_ns.map(judge),
        paths,
        counts: all.counts,
        points: Vec::new(),
        covered_ns: all.starts_ns.map(|(first, last)| first..=last),
        rows_read: all.rows,
        losses,
        clocks: all.clocks,
        durations_ns: all.ascending_ns,
    })
}

/// What one thread has found.
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

/// All durations that were gathered. Takes 16 bytes for each while they are sorted, then 8.
pub(super) fn durations(gathered: &Gathered<'_>) -> Result<Durations, StoreError> {
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
        all.counts.add(&state.counts);
        all.crossings.merge(&state.crossings);
        all.rows += state.rows;
        all.starts_ns = match (all.starts_ns, state.starts_ns) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        for (path, durations_ns) in state.numbers.paths.iter().zip(state.durations_ns) {
            let number = all.numbers.of(path);
            pieces.resize_with(all.numbers.paths.len(), Vec::new);
            pieces[number].push(durations_ns);
        }
    }
    let mut sorted: Vec<Vec<u64>> = pieces.iter().map(|pieces| sort(pieces)).collect();
    drop(pieces);
    let mut by_path = Vec::new();
    for (path, ascending) in all.numbers.paths.iter().zip(&sorted) {
        by_path.extend(Distribution::of_ascending(ascending).map(|one| (path.clone(), one)));
    }
    let ascending_ns = if sorted.len() == 1 { sorted.remove(0) } else { sort(&sorted) };
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
