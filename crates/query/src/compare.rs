//! Two sets of durations side by side: two times of one store, or two stores.

use crate::draws::Sides;
use crate::durations::{Durations, durations};
use crate::gather::{QueryEnvironment, gather};
use crate::hop_breakdowns::{Sampled, sample};
use crate::question::Question;
use crate::scatter::starts;
use chronoscope_chain::{Contrast, Distribution, HopPath, PartKind, PartSide};
use chronoscope_model::ClassId;
use chronoscope_statistics::{Edges, MeanDifference, Moments, Scale};
use chronoscope_store::{Snapshot, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Cells of the common histogram.
const CELLS: usize = 120;

/// Two sets of durations side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The first, which is usual.
    pub a: ComparedSide,
    /// The second.
    pub b: ComparedSide,
    /// The common edges of both histograms, logarithmic, in nanoseconds. None without durations.
    pub edges_ns: Vec<u64>,
    /// Difference of B's mean from A's; `None` where one of them has fewer than two durations.
    pub difference: Option<MeanDifference>,
    /// B's median less A's, in nanoseconds; `None` where one is empty.
    pub median_shift_ns: Option<i64>,
    /// The difference in words.
    pub sentence: String,
    /// Hop by hop, by samples of both: those that moved the mean and the tail most first.
    pub parts: Vec<ComparedPart>,
    /// The common edges of the parts' histograms, in nanoseconds. None without parts.
    pub part_edges_ns: Vec<u64>,
    /// The paths of both, with their durations in A and in B; most first.
    pub paths: Vec<(String, u64, u64)>,
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct ComparedSide {
    /// Range of starts: UTC, nanoseconds since 1970. An end that the question leaves open is that
    /// of the stored durations.
    pub start_ns: Range<i64>,
    /// Distribution of its durations; `None` without any.
    pub distribution: Option<Distribution>,
    /// Number of durations in each cell.
    pub counts: Vec<u64>,
    /// Number of durations in the sample that was split into hops.
    pub sampled: u64,
}

/// One part of one hop.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedPart {
    /// The hop's class in words.
    pub hop: String,
    /// Part of the hop.
    pub kind: PartKind,
    /// Values of A.
    pub a: PartSide,
    /// Values of B.
    pub b: PartSide,
    /// B's median less A's, in nanoseconds.
    pub shift_ns: i64,
    /// Its part of the difference of the mean durations, in nanoseconds.
    pub change_ns: f64,
    /// Its share of that: all shares add up to 1; 0 where there is no difference.
    pub share: f64,
    /// Its part of the difference of the tails' mean durations, in nanoseconds: a tail is the
    /// slowest hundredth of a side's ways.
    pub tail_change_ns: f64,
    /// Its share of that, as `share`.
    pub tail_share: f64,
    /// The chance of such a difference where there is none; `None` where one has no such hop.
    pub p_value: Option<f64>,
    /// The chance that the slowest hundredth of both is divided between them like this where there
    /// is no difference; `None` where one has no such hop.
    pub tail_p_value: Option<f64>,
}

/// Compares the durations of two questions, of one store or of two: all durations, and the hops of
/// up to `most` of each, sampled as [`hops`](crate::hops()) does.
///
/// # Errors
/// As [`ask_watched`](crate::ask_watched).
pub fn compare(
    (snapshot_a, question_a): (&Snapshot, &Question),
    (snapshot_b, question_b): (&Snapshot, &Question),
    most: usize,
    asking: &QueryEnvironment<'_>,
) -> Result<Comparison, StoreError> {
    let (all_a, ways_a) = side(snapshot_a, question_a, most, asking)?;
    let (all_b, ways_b) = side(snapshot_b, question_b, most, asking)?;
    let range = range(&all_a, &all_b);
    let edges = range.map(|range| Edges::new(Scale::Log, range, CELLS));
    let compared = |question: &Question, all: &Durations, breakdowns: &Sampled| ComparedSide {
        start_ns: starts(question, all.starts_ns),
        distribution: all.distribution,
        counts: edges.as_ref().map(|edges| edges.counts(&all.ascending_ns)).unwrap_or_default(),
        sampled: breakdowns.breakdowns[0].len() as u64,
    };
    let (a, b) = (compared(question_a, &all_a, &ways_a), compared(question_b, &all_b, &ways_b));
    let both = a.distribution.zip(b.distribution);
    let difference = both.and_then(|(a, b)| MeanDifference::between(&moments(&a), &moments(&b)));
    let median = |side: &Distribution| i64::try_from(side.median_ns()).unwrap_or(i64::MAX);
    let (parts, part_edges_ns) = parts(&ways_a, &ways_b);
    Ok(Comparison {
        median_shift_ns: both.map(|(a, b)| median(&b) - median(&a)),
        sentence: sentence(both, difference.as_ref()),
        edges_ns: edges.map(|edges| edges.all().to_vec()).unwrap_or_default(),
        parts,
        part_edges_ns,
        paths: paths(&all_a, &all_b),
        a,
        b,
        difference,
    })
}

fn side(
    snapshot: &Snapshot,
    question: &Question,
    most: usize,
    asking: &QueryEnvironment<'_>,
) -> Result<(Durations, Sampled), StoreError> {
    let (found, _) = gather(snapshot, question, asking, |gathered| {
        let all = durations(gathered)?;
        let breakdowns = sample(snapshot, question, gathered, &Sides::One, (most, asking))?;
        Ok((all, breakdowns))
    })?;
    Ok(found)
}

const fn moments(distribution: &Distribution) -> Moments {
    Moments { count: distribution.count, mean: distribution.mean_ns, sd: distribution.sd_ns }
}

fn range(a: &Durations, b: &Durations) -> Option<Range<u64>> {
    let all = || a.distribution.iter().chain(&b.distribution);
    let shortest = all().map(|one| one.min_ns).min()?;
    let longest = all().map(|one| one.max_ns).max()?;
    let end = longest.saturating_add(1);
    Some(shortest.min(end - 1)..end)
}

/// The classes of two stores are the same numbers: they are made from names.
fn parts(a: &Sampled, b: &Sampled) -> (Vec<ComparedPart>, Vec<u64>) {
    let names = |way: &HopPath| way.hops.iter().map(|hop| hop.class).collect::<Vec<_>>();
    let mut words: HashMap<ClassId, String> = HashMap::new();
    for sampled in [a, b] {
        for class in sampled.breakdowns[0].iter().flat_map(names) {
            words.entry(class).or_insert_with(|| sampled.catalog.text(&[class]));
        }
    }
    let contrast = Contrast::between(&a.breakdowns[0], &b.breakdowns[0]);
    let Some(contrast) = contrast else { return (Vec::new(), Vec::new()) };
    let edges_ns = contrast.edges.all().to_vec();
    let parts = contrast.into_ranked().into_iter().map(|part| ComparedPart {
        hop: words.get(&part.name.class).cloned().unwrap_or_default(),
        kind: part.name.kind,
        shift_ns: part.shift_ns(),
        change_ns: part.change_ns,
        share: part.share,
        tail_change_ns: part.tail_change_ns,
        tail_share: part.tail_share,
        p_value: part.test.map(|test| test.p_value),
        tail_p_value: part.tail_test.map(|test| test.p_value),
        a: part.usual,
        b: part.other,
    });
    (parts.collect(), edges_ns)
}

fn paths(a: &Durations, b: &Durations) -> Vec<(String, u64, u64)> {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (path, count) in &a.paths {
        counts.entry(path).or_default().0 += count;
    }
    for (path, count) in &b.paths {
        counts.entry(path).or_default().1 += count;
    }
    let mut paths: Vec<_> =
        counts.into_iter().map(|(path, (a, b))| (path.to_owned(), a, b)).collect();
    paths.sort_by_key(|(path, a, b)| (std::cmp::Reverse(a + b), path.clone()));
    paths
}

fn sentence(
    both: Option<(Distribution, Distribution)>,
    difference: Option<&MeanDifference>,
) -> String {
    let (Some((a, b)), Some(difference)) = (both, difference) else {
        return "one of the two has too few durations to compare".to_owned();
    };
    let (low, high) = difference.interval;
    let mean_ns = a.mean_ns.max(f64::MIN_POSITIVE);
    let relative = |ns: f64| ns / mean_ns;
    let shown = [difference.difference, low, high].map(relative);
    // Beyond twice as long nobody thinks in percent.
    let interval = if shown[0] >= 1.0 {
        let [mean, low, high] = shown.map(|share| 1.0 + share);
        format!("{mean:.1} times the mean, 95 % interval {low:.1} to {high:.1}")
    } else {
        let [mean, low, high] = shown.map(|share| 100.0 * share);
        format!("{mean:+.1} % of the mean, 95 % interval {low:+.1} to {high:+.1} %")
    };
    let (of_a, of_b) = (a.count, b.count);
    if low <= 0.0 && high >= 0.0 {
        return format!("no difference is shown: {interval} ({of_a} and {of_b} durations)");
    }
    let word = if difference.difference > 0.0 { "slower" } else { "faster" };
    format!("B is {word}: {interval} ({of_a} and {of_b} durations)")
}
