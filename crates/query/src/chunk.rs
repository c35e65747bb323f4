//! All durations of some segments, column by column, to be asked for again and again: which path,
//! which hosts, which time and which lengths is asked of them here.

use crate::path_catalog::PathCatalog;
use crate::question::Question;
use crate::series::{FOREIGN, Findings, Series, UNCROSSED_NS, UNKNOWN_NS, Wholes};
use chronoscope_chain::HostIndex;
use chronoscope_model::ClassId;
use chronoscope_store::Minute;
use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

/// The durations of some segments.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The hosts' names, by their numbers here; the first is not known.
    hosts: Vec<String>,
    pub(crate) series: Vec<ChunkSeries>,
    /// Rows that were looked at to find them.
    pub(crate) rows: u64,
    /// The segment that they were found in, where it is one.
    segment: Option<Arc<Path>>,
}

/// Storage position of a duration's leaf.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RowPlace {
    /// The file of its segment.
    pub(crate) segment: Arc<Path>,
    /// The row's number in it.
    pub(crate) row: u32,
}

/// The classes of a path, root first, in words and as numbers, and all of it in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PathText {
    pub(crate) path: String,
    pub(crate) hops: Vec<String>,
    pub(crate) classes: Box<[ClassId]>,
}

impl PathText {
    /// A path by its classes.
    pub(crate) fn of(classes: &[ClassId], catalog: &PathCatalog) -> Self {
        let hop = |class: &ClassId| catalog.text(std::slice::from_ref(class));
        let hops = classes.iter().map(hop).collect();
        Self { path: catalog.text(classes), hops, classes: classes.into() }
    }
}

/// The durations of one path.
#[derive(Debug)]
pub(crate) struct ChunkSeries {
    pub(crate) path: Arc<PathText>,
    wholes: Wholes,
    /// First and last start.
    starts_ns: RangeInclusive<i64>,
    /// Shortest and longest, negative ones included.
    durations_ns: RangeInclusive<i64>,
}

/// One duration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub(crate) start_ns: i64,
    /// Nanoseconds; a negative duration is only counted.
    pub(crate) duration_ns: i64,
    /// Index of the host in the chunk.
    pub(crate) host: HostIndex,
    /// Index in the series.
    at: usize,
    marks: u8,
    /// Error bound where the duration crosses hosts; the inner `None` is an unknown bound.
    pub(crate) error_ns: Option<Option<u64>>,
}

impl Dot {
    /// `links` of the leaf.
    pub(crate) const fn links(&self) -> u8 {
        self.marks & !FOREIGN
    }

    /// Whether the chain was assembled from foreign rows, whose correlators carry no ancestors.
    pub(crate) const fn is_foreign(&self) -> bool {
        self.marks & FOREIGN != 0
    }
}

/// Filter for durations.
#[derive(Clone, Debug)]
pub(crate) struct DurationFilter {
    pub(crate) start_ns: Range<i64>,
    pub(crate) duration_ns: RangeInclusive<u64>,
    path: Option<String>,
    hosts: HashSet<String>,
}

impl DurationFilter {
    pub(crate) fn by(question: &Question) -> Self {
        Self {
            start_ns: question.start_ns.clone(),
            duration_ns: question.duration_ns.clone(),
            path: question.path.clone(),
            hosts: question.hosts.iter().cloned().collect(),
        }
    }

    /// Whether it is the path that is asked for, or all are.
    pub(crate) fn wants_path(&self, path: &PathText) -> bool {
        self.path.as_ref().is_none_or(|wanted| *wanted == path.path)
    }

    fn wants_duration(&self, duration_ns: i64) -> bool {
        u64::try_from(duration_ns).map_or(true, |ns| self.duration_ns.contains(&ns))
    }
}

impl Chunk {
    /// Makes a chunk of findings, with the names of their ids.
    pub(crate) fn new(
        findings: Findings,
        segment: Option<&Path>,
        names: &[String],
        catalog: &PathCatalog,
    ) -> Self {
        let rows = findings.rows;
        let mut found = findings.into_series();
        let hosts = renumber(&mut found, names);
        let found = found.into_iter();
        let series =
            found.filter_map(|(classes, of)| ChunkSeries::new(&classes, of.wholes, catalog));
        let mut series: Vec<ChunkSeries> = series.collect();
        series.sort_by(|a, b| a.path.cmp(&b.path));
        Self { hosts, series, rows, segment: segment.map(Arc::from) }
    }

    /// The name of a host.
    pub(crate) fn host(&self, host: HostIndex) -> &str {
        self.hosts.get(host.0 as usize).map_or("", String::as_str)
    }

    /// Storage position of a duration's leaf, as far as it is known.
    pub(crate) fn place(&self, series: &ChunkSeries, dot: &Dot) -> Option<RowPlace> {
        let row = series.wholes.row_of(dot.at)?;
        Some(RowPlace { segment: self.segment.clone()?, row })
    }

    /// Memory, in bytes.
    pub(crate) fn size_bytes(&self) -> u64 {
        let hosts: usize = self.hosts.iter().map(|host| host.len() + size_of::<String>()).sum();
        let series: usize = self.series.iter().map(ChunkSeries::size_bytes).sum();
        (size_of::<Self>() + hosts + series) as u64
    }

    /// Whether nothing in it started in a time.
    pub(crate) fn is_outside(&self, start_ns: &Range<i64>) -> bool {
        self.series.iter().all(|series| series.is_outside(start_ns))
    }

    /// Gives the durations of a path that are asked for to `each`, in no order.
    #[inline]
    pub(crate) fn each(
        &self,
        series: &ChunkSeries,
        wanted: &DurationFilter,
        mut each: impl FnMut(Dot),
    ) {
        let Some(hosts) = self.hosts_of(series, wanted) else { return };
        let wholes = &series.wholes;
        let all = series.is_inside(wanted) && hosts.is_empty();
        for at in 0..wholes.starts_ns.len() {
            let (start_ns, duration_ns) = (wholes.starts_ns[at], wholes.durations_ns[at]);
            let host = wholes.hosts[at];
            if !all {
                let of_host = hosts.is_empty() || hosts.get(host.0 as usize) == Some(&true);
                let within = wanted.start_ns.contains(&start_ns);
                if !(within && of_host && wanted.wants_duration(duration_ns)) {
                    continue;
                }
            }
            let error_ns = match wholes.errors_ns.get(at).copied().unwrap_or(UNCROSSED_NS) {
                UNCROSSED_NS => None,
                UNKNOWN_NS => Some(None),
                ns => Some(Some(ns)),
            };
            each(Dot { start_ns, duration_ns, host, at, marks: wholes.marks[at], error_ns });
        }
    }

    /// Marks the wanted hosts, empty for all; `None` where nothing of the series is wanted.
    fn hosts_of(&self, series: &ChunkSeries, wanted: &DurationFilter) -> Option<Vec<bool>> {
        if !wanted.wants_path(&series.path) || series.is_outside(&wanted.start_ns) {
            return None;
        }
        if wanted.hosts.is_empty() {
            return Some(Vec::new());
        }
        let hosts: Vec<bool> = self.hosts.iter().map(|host| wanted.hosts.contains(host)).collect();
        hosts.contains(&true).then_some(hosts)
    }

    /// Number of wanted durations of a path without negative ones, with their first and last start
    /// and the shortest and longest; `None` where this needs a look at each.
    pub(crate) fn known(&self, series: &ChunkSeries, wanted: &DurationFilter) -> Option<Extent> {
        let whole = series.is_inside(wanted) && *series.durations_ns.start() >= 0;
        let whole = whole && wanted.hosts.is_empty() && wanted.path.is_none();
        whole.then(|| Extent {
            count: series.wholes.starts_ns.len() as u64,
            starts_ns: Some((*series.starts_ns.start(), *series.starts_ns.end())),
            durations_ns: Some((
                series.durations_ns.start().unsigned_abs(),
                series.durations_ns.end().unsigned_abs(),
            )),
        })
    }
}

/// Judges single durations of a path.
pub(crate) enum Picker<'a> {
    /// None of them is wanted.
    Nothing,
    /// All are.
    All,
    /// By each; on any host where there are none.
    Each(&'a DurationFilter, Vec<bool>),
}

impl<'a> Picker<'a> {
    pub(crate) fn new(chunk: &Chunk, series: &ChunkSeries, wanted: &'a DurationFilter) -> Self {
        match chunk.hosts_of(series, wanted) {
            None => Self::Nothing,
            Some(hosts) if hosts.is_empty() && series.is_inside(wanted) => Self::All,
            Some(_) if series.has_no_length(wanted) => Self::Nothing,
            Some(hosts) => Self::Each(wanted, hosts),
        }
    }

    #[inline]
    pub(crate) fn has(&self, dot: &Dot) -> bool {
        let (wanted, hosts) = match self {
            Self::Nothing => return false,
            Self::All => return true,
            Self::Each(wanted, hosts) => (wanted, hosts),
        };
        wanted.start_ns.contains(&dot.start_ns)
            && wanted.wants_duration(dot.duration_ns)
            && (hosts.is_empty() || hosts.get(dot.host.0 as usize) == Some(&true))
    }
}

/// Numbers hosts anew, those that are there: by the names of their numbers in the question. The
/// names by the new numbers; the first is not known.
fn renumber(series: &mut [(Box<[ClassId]>, Series)], names: &[String]) -> Vec<String> {
    let mut is_there = vec![false; names.len()];
    for host in series.iter().flat_map(|(_, series)| &series.wholes.hosts) {
        if let Some(there) = is_there.get_mut(host.0 as usize) {
            *there = true;
        }
    }
    let mut hosts = vec![String::new()];
    let mut numbers = vec![HostIndex::UNKNOWN; names.len()];
    let first = HostIndex::UNKNOWN.0 as usize + 1;
    for index in (first..names.len()).filter(|index| is_there[*index]) {
        numbers[index] = HostIndex(u32::try_from(hosts.len()).unwrap_or(0));
        hosts.push(names[index].clone());
    }
    for host in series.iter_mut().flat_map(|(_, series)| &mut series.wholes.hosts) {
        *host = numbers.get(host.0 as usize).copied().unwrap_or_default();
    }
    hosts
}

impl ChunkSeries {
    fn new(classes: &[ClassId], mut wholes: Wholes, catalog: &PathCatalog) -> Option<Self> {
        wholes.shrink();
        let (starts_ns, durations_ns) = (range(&wholes.starts_ns)?, range(&wholes.durations_ns)?);
        let path = Arc::new(PathText::of(classes, catalog));
        Some(Self { path, wholes, starts_ns, durations_ns })
    }

    fn size_bytes(&self) -> usize {
        let text = |text: &String| text.len() + size_of::<String>();
        let path = text(&self.path.path) + self.path.hops.iter().map(text).sum::<usize>();
        size_of::<Self>() + path + self.wholes.size_bytes()
    }

    /// The minute and the number of the durations, where all of them started in one minute and none
    /// is negative.
    pub(crate) fn all_of_minute(&self) -> Option<(Minute, u64)> {
        let minute = Minute::of(*self.starts_ns.start());
        let one = Minute::of(*self.starts_ns.end()) == minute && *self.durations_ns.start() >= 0;
        one.then_some((minute, self.wholes.starts_ns.len() as u64))
    }

    /// Whether no duration has a wanted length and none is negative.
    fn has_no_length(&self, wanted: &DurationFilter) -> bool {
        let (shortest, longest) = (*self.durations_ns.start(), *self.durations_ns.end());
        let (Ok(shortest), Ok(longest)) = (u64::try_from(shortest), u64::try_from(longest)) else {
            return false;
        };
        longest < *wanted.duration_ns.start() || shortest > *wanted.duration_ns.end()
    }

    fn is_outside(&self, start_ns: &Range<i64>) -> bool {
        *self.starts_ns.end() < start_ns.start || *self.starts_ns.start() >= start_ns.end
    }

    /// The elements of `ascending` in the series' range of starts.
    pub(crate) fn starts_among<'a>(&self, ascending: &'a [i64]) -> &'a [i64] {
        let from = ascending.partition_point(|start| start < self.starts_ns.start());
        let to = ascending.partition_point(|start| start <= self.starts_ns.end());
        &ascending[from..to.max(from)]
    }

    /// Whether all are in the time and of the lengths that are asked for.
    fn is_inside(&self, wanted: &DurationFilter) -> bool {
        let within = |ns: i64| wanted.wants_duration(ns);
        wanted.start_ns.contains(self.starts_ns.start())
            && wanted.start_ns.contains(self.starts_ns.end())
            && within(*self.durations_ns.end())
            && (*wanted.duration_ns.start() == 0 || within(*self.durations_ns.start()))
            && (*self.durations_ns.start() >= 0 || *wanted.duration_ns.start() == 0)
    }
}

/// From the smallest to the largest; `None` without any. In a form that compares many at a time.
fn range(of: &[i64]) -> Option<RangeInclusive<i64>> {
    let (low, high) =
        of.iter().fold((i64::MAX, i64::MIN), |(low, high), ns| (low.min(*ns), high.max(*ns)));
    (!of.is_empty()).then_some(low..=high)
}

/// Number, range of starts and range of lengths of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) count: u64,
    /// First and last start.
    pub(crate) starts_ns: Option<(i64, i64)>,
    /// Shortest and longest.
    pub(crate) durations_ns: Option<(u64, u64)>,
}

impl Extent {
    /// Adds one; negative ones have no length.
    pub(crate) fn add(&mut self, dot: &Dot) {
        if let Ok(ns) = u64::try_from(dot.duration_ns) {
            let (start, one) = (dot.start_ns, Some((ns, ns)));
            self.merge(&Self { count: 1, starts_ns: Some((start, start)), durations_ns: one });
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.starts_ns = both(self.starts_ns, other.starts_ns);
        self.durations_ns = both(self.durations_ns, other.durations_ns);
    }
}

/// The range that encloses two.
pub(crate) fn both<T: Ord + Copy>(a: Option<(T, T)>, b: Option<(T, T)>) -> Option<(T, T)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

/// Numbers for paths, as many as there are.
#[derive(Debug, Default)]
pub(crate) struct PathNumbers {
    numbers: HashMap<Arc<PathText>, usize>,
    pub(crate) paths: Vec<Arc<PathText>>,
}

impl PathNumbers {
    /// The number of a path that has one.
    pub(crate) fn find(&self, path: &Arc<PathText>) -> Option<usize> {
        self.numbers.get(path).copied()
    }

    /// The number of a path, a new one where it has none.
    pub(crate) fn of(&mut self, path: &Arc<PathText>) -> usize {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        self.paths.push(path.clone());
        self.numbers.insert(path.clone(), self.paths.len() - 1);
        self.paths.len() - 1
    }
}
