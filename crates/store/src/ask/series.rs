//! Durations as they are found: by path, with what could not be used.

use chronoscope_chain::{Counts, Crossings, Split};
use chronoscope_model::ClassId;
use std::collections::HashMap;

/// One duration with its start, as a scattergram shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// Start of the root: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Nanoseconds.
    pub duration_ns: u64,
}

/// The durations of one path.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// In pieces, so that no duration is copied before the sorting: the last one grows.
    pub(super) durations_ns: Vec<Vec<u64>>,
    pub(super) split: Split,
}

/// What one thread has found, or all of them together.
#[derive(Debug)]
pub(super) struct Findings {
    keep_points: bool,
    by_path: HashMap<Box<[ClassId]>, usize>,
    pub(super) series: Vec<Series>,
    pub(super) points: Vec<Point>,
    pub(super) counts: Counts,
    pub(super) crossings: Crossings,
    /// First and last start.
    pub(super) starts_ns: Option<(i64, i64)>,
    /// Durations that could not be split, because a row between root and leaf is missing.
    pub(super) unsplit: u64,
    /// Rows that were looked at.
    pub(super) rows: u64,
}

impl Findings {
    pub(super) fn new(keep_points: bool) -> Self {
        Self {
            keep_points,
            by_path: HashMap::new(),
            series: Vec::new(),
            points: Vec::new(),
            counts: Counts::default(),
            crossings: Crossings::default(),
            starts_ns: None,
            unsplit: 0,
            rows: 0,
        }
    }

    /// The number of a path's series: the classes from the selected root to the leaf.
    pub(super) fn series_of(&mut self, path: &[ClassId]) -> usize {
        if let Some(series) = self.by_path.get(path) {
            return *series;
        }
        self.series.push(Series::default());
        self.by_path.insert(path.into(), self.series.len() - 1);
        self.series.len() - 1
    }

    /// Makes room for more durations.
    pub(super) fn reserve(&mut self, series: usize, count: usize) {
        let pieces = &mut self.series[series].durations_ns;
        match pieces.last_mut() {
            Some(last) => last.reserve(count),
            None => pieces.push(Vec::with_capacity(count)),
        }
    }

    /// Keeps a duration; it is counted by whoever found it.
    #[inline]
    pub(super) fn push(&mut self, series: usize, start_ns: i64, duration_ns: u64) {
        match self.series[series].durations_ns.last_mut() {
            Some(last) => last.push(duration_ns),
            None => self.series[series].durations_ns.push(vec![duration_ns]),
        }
        if self.keep_points {
            self.points.push(Point { start_ns, duration_ns });
        }
        self.starts_ns = Some(match self.starts_ns {
            Some((first, last)) => (first.min(start_ns), last.max(start_ns)),
            None => (start_ns, start_ns),
        });
    }

    /// Adds what others have found.
    pub(super) fn merge(&mut self, mut other: Self) {
        for (path, index) in std::mem::take(&mut other.by_path) {
            let theirs = std::mem::take(&mut other.series[index]);
            let mine = self.series_of(&path);
            let mine = &mut self.series[mine];
            mine.durations_ns.extend(theirs.durations_ns);
            mine.split.merge(&theirs.split);
        }
        self.points.append(&mut other.points);
        self.counts.add(&other.counts);
        self.crossings.merge(&other.crossings);
        self.starts_ns = match (self.starts_ns, other.starts_ns) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.unsplit += other.unsplit;
        self.rows += other.rows;
    }

    /// The paths with their series.
    pub(super) fn into_series(self) -> Vec<(Box<[ClassId]>, Series)> {
        let mut series: Vec<Option<Series>> = self.series.into_iter().map(Some).collect();
        let taken = self.by_path.into_iter();
        taken.filter_map(|(path, index)| Some((path, series[index].take()?))).collect()
    }
}
