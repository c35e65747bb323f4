//! Durations as they are found: by path, with what could not be used.

use crate::arrivals::ArrivalsFound;
use crate::attributes::{Attributes, GroupNumbers};
use crate::question::Question;
use chronoscope_chain::links::bits;
use chronoscope_chain::{Counts, Crossings, HopPath, HostIndex, Hosts, Split};
use chronoscope_model::ClassId;
use std::collections::HashMap;

/// One duration with its start, as a scattergram shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Start of the root: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
}

/// Level of detail at which found durations are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DurationDetail {
    /// Their lengths alone.
    Durations,
    /// Their starts as well, 16 bytes each.
    Points,
    /// Everything, negative ones too, column by column.
    Whole,
}

impl DurationDetail {
    /// The parts that a question needs.
    pub(crate) const fn of(question: &Question) -> Self {
        if question.points { Self::Points } else { Self::Durations }
    }
}

/// Further data of a duration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DurationExtras {
    /// `links` of its leaf.
    pub(crate) links: u8,
    /// Assembled from rows without ancestors in their correlators.
    pub(crate) foreign: bool,
    /// Host of its leaf.
    pub(crate) host: HostIndex,
    /// Error bound where it crosses hosts; the inner `None` where a clock was never read.
    pub(crate) error_ns: Option<Option<u64>>,
    /// The number of its leaf's row in the segment that it was found in, where one was scanned.
    pub(crate) row: Option<u32>,
}

/// Rows that follow each other in a segment and are all kept, column by column. No clock was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeRows<'a> {
    pub(crate) start: &'a [i64],
    pub(crate) elapsed: &'a [i64],
    pub(crate) root_start: &'a [i64],
    /// Empty where they have none.
    pub(crate) links: &'a [u8],
    /// Empty where all of them are on the same.
    pub(crate) hosts: &'a [Hosts],
    /// Their common host where `hosts` is empty.
    pub(crate) only: Hosts,
    pub(crate) foreign: bool,
    /// The number of the first one's row.
    pub(crate) first: Option<u32>,
}

/// Durations column by column, an entry each: 21 bytes, and 8 more where clocks were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wholes {
    /// When the root started: UTC, nanoseconds since 1970.
    pub(crate) starts_ns: Vec<i64>,
    /// Nanoseconds, also below 0.
    pub(crate) durations_ns: Vec<i64>,
    /// Hosts of the leaves.
    pub(crate) hosts: Vec<HostIndex>,
    /// `links` of the leaf, and [`FOREIGN`].
    pub(crate) marks: Vec<u8>,
    /// Error bounds, [`UNKNOWN_NS`], or [`UNCROSSED_NS`]. Empty where no duration crosses hosts.
    pub(crate) errors_ns: Vec<u64>,
    /// Rows of their leaves in the segment; empty unless all of them are known.
    rows: Vec<RowRun>,
}

/// Durations whose leaves follow each other in the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowRun {
    /// The number of the first duration.
    at: u32,
    /// Row of the first duration's leaf.
    row: u32,
}

/// In [`Wholes::marks`]: assembled from rows without ancestors in their correlators.
pub(crate) const FOREIGN: u8 = bits::ASSEMBLED;
/// In [`Wholes::errors_ns`]: a clock was never read.
pub(crate) const UNKNOWN_NS: u64 = u64::MAX;
/// In [`Wholes::errors_ns`]: both ends are of one clock.
pub(crate) const UNCROSSED_NS: u64 = u64::MAX - 1;

impl Wholes {
    fn push(&mut self, start_ns: i64, duration_ns: i64, whole: DurationExtras) {
        if let Some(error_ns) = whole.error_ns {
            self.errors_ns.resize(self.starts_ns.len(), UNCROSSED_NS);
            self.errors_ns.push(error_ns.map_or(UNKNOWN_NS, |ns| ns.min(UNCROSSED_NS - 1)));
        } else if !self.errors_ns.is_empty() {
            self.errors_ns.push(UNCROSSED_NS);
        }
        self.note_row(whole.row);
        self.starts_ns.push(start_ns);
        self.durations_ns.push(duration_ns);
        self.hosts.push(whole.host);
        self.marks.push(whole.links | if whole.foreign { FOREIGN } else { 0 });
    }

    fn extend(&mut self, rows: &WholeRows<'_>) {
        let count = rows.start.len();
        if count == 0 {
            return;
        }
        self.note_row(rows.first);
        self.starts_ns.extend_from_slice(rows.root_start);
        let ends = rows.start.iter().zip(rows.elapsed).map(|(start, ns)| start.saturating_add(*ns));
        let durations = ends.zip(rows.root_start).map(|(end, root)| end.saturating_sub(*root));
        self.durations_ns.extend(durations);
        if rows.hosts.is_empty() {
            self.hosts.extend(std::iter::repeat_n(rows.only.own, count));
        } else {
            self.hosts.extend(rows.hosts.iter().map(|hosts| hosts.own));
        }
        let foreign = if rows.foreign { FOREIGN } else { 0 };
        if rows.links.is_empty() {
            self.marks.extend(std::iter::repeat_n(foreign, count));
        } else {
            self.marks.extend(rows.links.iter().map(|links| links | foreign));
        }
        if !self.errors_ns.is_empty() {
            self.errors_ns.resize(self.starts_ns.len(), UNCROSSED_NS);
        }
    }

    #[inline]
    fn note_row(&mut self, row: Option<u32>) {
        let at = u32::try_from(self.starts_ns.len()).ok();
        let (Some(row), Some(at)) = (row, at) else { return self.rows.clear() };
        match self.rows.last() {
            Some(run) if at - run.at == row.wrapping_sub(run.row) => {}
            None if at > 0 => {} // not known of those before
            _ => self.rows.push(RowRun { at, row }),
        }
    }

    /// The row of a duration's leaf in the segment, where that is known.
    pub(crate) fn row_of(&self, at: usize) -> Option<u32> {
        let at = u32::try_from(at).ok()?;
        let behind = self.rows.partition_point(|run| run.at <= at);
        let run = self.rows.get(behind.checked_sub(1)?)?;
        Some(run.row + (at - run.at))
    }

    /// Makes room for more.
    fn reserve(&mut self, count: usize) {
        self.starts_ns.reserve(count);
        self.durations_ns.reserve(count);
        self.hosts.reserve(count);
        self.marks.reserve(count);
    }

    /// Makes room for so many and no more.
    fn reserve_exact(&mut self, count: usize) {
        self.starts_ns.reserve_exact(count);
        self.durations_ns.reserve_exact(count);
        self.hosts.reserve_exact(count);
        self.marks.reserve_exact(count);
    }

    /// Gives back room that is not used.
    pub(crate) fn shrink(&mut self) {
        self.starts_ns.shrink_to_fit();
        self.durations_ns.shrink_to_fit();
        self.hosts.shrink_to_fit();
        self.marks.shrink_to_fit();
        self.rows.shrink_to_fit();
        if !self.errors_ns.is_empty() {
            self.errors_ns.resize(self.starts_ns.len(), UNCROSSED_NS);
            self.errors_ns.shrink_to_fit();
        }
    }

    /// Memory, in bytes.
    pub(crate) const fn size_bytes(&self) -> usize {
        self.starts_ns.capacity() * size_of::<i64>()
            + self.durations_ns.capacity() * size_of::<i64>()
            + self.hosts.capacity() * size_of::<HostIndex>()
            + self.marks.capacity()
            + self.errors_ns.capacity() * size_of::<u64>()
            + self.rows.capacity() * size_of::<RowRun>()
    }

    fn append(&mut self, mut other: Self) {
        if self.starts_ns.is_empty() {
            *self = other;
            return;
        }
        if !other.errors_ns.is_empty() || !self.errors_ns.is_empty() {
            self.errors_ns.resize(self.starts_ns.len(), UNCROSSED_NS);
            other.errors_ns.resize(other.starts_ns.len(), UNCROSSED_NS);
            self.errors_ns.append(&mut other.errors_ns);
        }
        self.rows.clear(); // they are of different segments
        self.starts_ns.append(&mut other.starts_ns);
        self.durations_ns.append(&mut other.durations_ns);
        self.hosts.append(&mut other.hosts);
        self.marks.append(&mut other.marks);
    }
}

/// The durations of one path.
#[derive(Debug, Default)]
pub(crate) struct Series {
    /// In pieces, so that no duration is copied before the sorting: the last one grows.
    pub(crate) durations_ns: Vec<Vec<u64>>,
    pub(crate) split: Split,
    /// All data of the durations, where everything is kept.
    pub(crate) wholes: Wholes,
}

/// Findings of one thread, or of all threads together.
#[derive(Debug)]
pub(crate) struct Findings {
    keep: DurationDetail,
    by_path: HashMap<Box<[ClassId]>, usize>,
    pub(crate) series: Vec<Series>,
    pub(crate) points: Vec<Point>,
    pub(crate) counts: Counts,
    pub(crate) crossings: Crossings,
    /// First and last start.
    pub(crate) starts_ns: Option<(i64, i64)>,
    /// Durations that could not be split, because a row between root and leaf is missing.
    pub(crate) unsplit: u64,
    /// Rows that were looked at.
    pub(crate) rows: u64,
    /// The hop breakdowns that were looked for.
    pub(crate) breakdowns: Vec<(Point, HopPath)>,
    /// The attributes of durations that were looked for.
    pub(crate) described: Vec<(Point, Attributes)>,
    /// Arrivals of roots, where they are asked for.
    pub(crate) arrivals: ArrivalsFound,
    /// Durations with their groups by attributes, where these are asked for.
    pub(crate) grouped: Vec<(GroupNumbers, Point)>,
}

impl Findings {
    pub(crate) fn new(keep: DurationDetail) -> Self {
        Self {
            keep,
            by_path: HashMap::new(),
            series: Vec::new(),
            points: Vec::new(),
            counts: Counts::default(),
            crossings: Crossings::default(),
            starts_ns: None,
            unsplit: 0,
            rows: 0,
            breakdowns: Vec::new(),
            described: Vec::new(),
            arrivals: ArrivalsFound::default(),
            grouped: Vec::new(),
        }
    }

    /// The number of a path's series: the classes from the selected root to the leaf.
    pub(crate) fn series_of(&mut self, path: &[ClassId]) -> usize {
        if let Some(series) = self.by_path.get(path) {
            return *series;
        }
        self.series.push(Series::default());
        self.by_path.insert(path.into(), self.series.len() - 1);
        self.series.len() - 1
    }

    /// Makes room for more durations.
    pub(crate) fn reserve(&mut self, series: usize, count: usize) {
        if self.keep == DurationDetail::Whole {
            self.series[series].wholes.reserve(count);
            return;
        }
        let pieces = &mut self.series[series].durations_ns;
        match pieces.last_mut() {
            Some(last) => last.reserve(count),
            None => pieces.push(Vec::with_capacity(count)),
        }
    }

    /// Makes room for so many durations and no more, where all is kept of them.
    pub(crate) fn reserve_exact(&mut self, series: usize, count: usize) {
        if self.keep == DurationDetail::Whole {
            self.series[series].wholes.reserve_exact(count);
        }
    }

    /// Whether everything is kept.
    pub(crate) fn keeps_whole(&self) -> bool {
        self.keep == DurationDetail::Whole
    }

    /// Keeps durations, where everything is kept. They are not counted: whoever keeps everything
    /// counts what he looks at.
    pub(crate) fn keep_wholes(&mut self, series: usize, rows: &WholeRows<'_>) {
        self.series[series].wholes.extend(rows);
    }

    /// Keeps a duration; it is counted by whoever found it.
    #[inline]
    pub(crate) fn push(&mut self, series: usize, start_ns: i64, duration_ns: u64) {
        if self.keep == DurationDetail::Whole {
            return;
        }
        match self.series[series].durations_ns.last_mut() {
            Some(last) => last.push(duration_ns),
            None => self.series[series].durations_ns.push(vec![duration_ns]),
        }
        if self.keep == DurationDetail::Points {
            self.points.push(Point { start_ns, duration_ns });
        }
        self.starts_ns = Some(match self.starts_ns {
            Some((first, last)) => (first.min(start_ns), last.max(start_ns)),
            None => (start_ns, start_ns),
        });
    }

    /// Keeps a duration, also a negative one, with all that is known of it, where that is asked
    /// for.
    #[inline]
    pub(crate) fn keep_whole(
        &mut self,
        series: usize,
        start_ns: i64,
        duration_ns: i64,
        whole: DurationExtras,
    ) {
        if self.keep == DurationDetail::Whole {
            self.series[series].wholes.push(start_ns, duration_ns, whole);
        }
    }

    /// Adds what others have found.
    pub(crate) fn merge(&mut self, mut other: Self) {
        for (path, index) in std::mem::take(&mut other.by_path) {
            let theirs = std::mem::take(&mut other.series[index]);
            let mine = self.series_of(&path);
            let mine = &mut self.series[mine];
            mine.durations_ns.extend(theirs.durations_ns);
            mine.split.merge(&theirs.split);
            mine.wholes.append(theirs.wholes);
        }
        self.points.append(&mut other.points);
        self.counts.add(&other.counts);
        self.crossings.merge(&other.crossings);
        self.starts_ns = wider(self.starts_ns, other.starts_ns);
        self.unsplit += other.unsplit;
        self.rows += other.rows;
        self.breakdowns.append(&mut other.breakdowns);
        self.described.append(&mut other.described);
        self.arrivals.merge(other.arrivals);
        self.grouped.append(&mut other.grouped);
    }

    /// The paths with their series.
    pub(crate) fn into_series(self) -> Vec<(Box<[ClassId]>, Series)> {
        let mut series: Vec<Option<Series>> = self.series.into_iter().map(Some).collect();
        let taken = self.by_path.into_iter();
        taken.filter_map(|(path, index)| Some((path, series[index].take()?))).collect()
    }
}

/// The range of starts that has both.
pub(crate) fn wider(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}
