//! The last hour of a cluster, as [`super::history`] has that of files, and its chains of spans.

use super::history::{Buckets, History, MINUTES, PATHS_MAX, PathMinute};
use super::judge::Paths;
use crate::limits::{Limit, Limited};
use crate::metrics::live::{LiveLimits, LiveMinute};
use chronoscope_model::{ClassName, Names};
use chronoscope_query::{ClusterView, LeafLevel, Limits, Progress, QueryError, Question};
use chronoscope_store::Minute;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The paths of a minute as text, with their statistics.
type MinutePaths = Arc<Vec<(String, PathMinute)>>;

/// The last hour of a cluster. A minute is read again when the number of its rows has changed: rows
/// are only added, or deleted.
#[derive(Debug, Default)]
pub(super) struct ClusterMinutes(Mutex<BTreeMap<Minute, (u64, MinutePaths)>>);

impl ClusterMinutes {
    /// Minutes before `until_ns` that have ended by then, and the one that has not.
    pub(super) fn history(
        &self,
        remote: &ClusterView,
        until_ns: i64,
    ) -> Result<History, QueryError> {
        let last = Minute::of(until_ns); // which has not ended
        let range = Minute(last.0.saturating_sub(MINUTES))..=last;
        // Before the rows: rows that come in between are seen the next time.
        let counts = remote.minute_counts(&range)?;
        let known: HashMap<Minute, u64> =
            self.lock().iter().map(|(minute, (rows, _))| (*minute, *rows)).collect();
        let changed = counts.iter().filter(|(minute, rows)| known.get(minute) != Some(rows));
        let changed: Vec<Minute> = changed.map(|(minute, _)| *minute).collect();
        let mut read: BTreeMap<Minute, Vec<(String, PathMinute)>> = BTreeMap::new();
        for ((minute, path, class, is_foreign), rows) in remote.path_minutes(&changed)? {
            let paths = read.entry(minute).or_default();
            if paths.len() >= PATHS_MAX {
                continue;
            }
            // Foreign rows have no path: their class distinguishes them.
            let foreign = is_foreign || path.is_empty();
            let path = if foreign { class.to_string() } else { path };
            let elapsed = rows.elapsed.histogram();
            let row = PathMinute {
                class,
                foreign,
                count: elapsed.count(),
                elapsed: Buckets::of(&elapsed),
                since_root: Buckets::of(&rows.since_root.histogram()),
            };
            paths.push((path, row));
        }
        let mut minutes = self.lock();
        minutes.retain(|minute, _| counts.contains_key(minute));
        for minute in changed {
            let paths = Arc::new(read.remove(&minute).unwrap_or_default());
            minutes.insert(minute, (counts[&minute], paths));
        }
        let mut history = History::default();
        for (minute, (_, paths)) in &*minutes {
            let by_path = history.minutes.entry(*minute).or_default();
            for (path, row) in paths.iter() {
                by_path.entry(path.clone()).or_default().push(row.clone());
            }
        }
        history.running = history.minutes.remove(&last).unwrap_or_default();
        Ok(history)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Minute, (u64, MinutePaths)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Chains of spans of the last hour, counted for the limits on them. A collector sees only those
/// spans that come to it: so they are counted from the stored rows, when the limits are judged.
#[derive(Debug, Default)]
pub(super) struct SpanChains(Mutex<LiveLimits>);

impl SpanChains {
    /// The counts of the last judgement.
    pub(super) fn counted(&self) -> LiveLimits {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts the chains of spans of each limit on chains whose leaf or root comes in spans, and
    /// notes where rows over links may be missing among arrivals.
    pub(super) fn count(
        &self,
        remote: &ClusterView,
        limits: &Arc<[Limit]>,
        (history, names): (&History, &Names),
        at_ns: i64,
    ) -> Result<LiveLimits, QueryError> {
        let rows = history.minutes.values().chain([&history.running]);
        let foreign = rows.flat_map(|paths| paths.values().flatten()).filter(|row| row.foreign);
        let foreign: BTreeSet<&ClassName> = foreign.map(|row| &row.class).collect();
        let of_spans = |limit: &Limit| {
            let mut classes = foreign.iter();
            limit.is_of_chains()
                && classes.any(|class| limit.is_of_leaf(class) || limit.is_of_root(class))
        };
        let last = Minute::of(at_ns);
        let first = Minute(last.0.saturating_sub(MINUTES));
        let has_arrivals = limits.iter().any(Limit::is_of_arrivals);
        let has_links = has_arrivals && remote.has_links(&(first..=last))?;
        let paths = Paths::of(names);
        let minutes = limits.iter().map(|limit| {
            let mut minutes = match of_spans(limit) {
                true => span_minutes(remote, limit, first.start_ns()..at_ns)?,
                false => BTreeMap::new(),
            };
            take_off_native(&mut minutes, limit, history, &paths);
            // Leaves below a transaction that took a root over a link are not counted here.
            if has_links && limit.is_of_arrivals() {
                (first.0..=last.0).for_each(|minute| {
                    minutes.entry(Minute(minute)).or_default().linked += 1;
                });
            }
            Ok(minutes)
        });
        let minutes = minutes.collect::<Result<Vec<_>, QueryError>>()?;
        let counted = LiveLimits::counted(limits.clone(), minutes, first.start_ns() - 1);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counted.clone();
        Ok(counted)
    }
}

/// The chains of a limit by the minute of their root's start; and in the last minute the leaves whose
/// root is not there.
fn span_minutes(
    remote: &ClusterView,
    limit: &Limit,
    start_ns: Range<i64>,
) -> Result<BTreeMap<Minute, LiveMinute>, QueryError> {
    let Limited::Chain { root, leaf, level, .. } = &limit.of else { return Ok(BTreeMap::new()) };
    let level = level.map_or(LeafLevel::Any, LeafLevel::Exactly);
    let ask = |start_ns: Range<i64>| {
        let question =
            Question { level, start_ns, points: true, ..Question::acpd(&root.0, &leaf.0) };
        remote.ask(&question, &Limits::default(), &Progress::default())
    };
    let last = Minute(Minute::of(start_ns.end).0 - 1);
    let answer = ask(start_ns)?;
    let mut minutes: BTreeMap<Minute, LiveMinute> = BTreeMap::new();
    for point in &answer.points {
        let counts = minutes.entry(Minute::of(point.start_ns)).or_default();
        counts.count += 1;
        counts.above += u64::from(point.duration_ns > limit.limit_ns);
    }
    if answer.counts.root_missing > 0 {
        let missing = ask(last.start_ns()..last.end_ns())?.counts.root_missing;
        minutes.entry(last).or_default().unreached = missing;
    }
    Ok(minutes)
}

/// Takes off the chains of our recorder, which the history has by their paths.
fn take_off_native(
    minutes: &mut BTreeMap<Minute, LiveMinute>,
    limit: &Limit,
    history: &History,
    paths: &Paths,
) {
    for (minute, counts) in minutes {
        let by_path = history.minutes.get(minute).into_iter().flatten();
        for (_, rows) in by_path.filter(|(path, _)| limit.is_of_path(paths.hops(path))) {
            for row in rows.iter().filter(|row| !row.foreign) {
                counts.count = counts.count.saturating_sub(row.count);
                counts.above = counts.above.saturating_sub(row.since_root.above(limit.limit_ns));
            }
        }
    }
}
