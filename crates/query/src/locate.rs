//! Looks up the chains that durations belong to.
//!
//! Durations are kept without their chain's id, which would double what a scan has to decode. For
//! the few that somebody wants to look at the id is looked up by the root's start.

use crate::chunk::RowPlace;
use crate::gather::{Gathered, QueryEnvironment};
use crate::minutes::REACH;
use crate::question::{Clocks, DurationKind, Question};
use crate::series::Point;
use crate::spread::spread;
use chronoscope_model::ChainId;
use chronoscope_model::schema::column;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{MINUTE_NS, Segment, Snapshot, StoreError};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Mutex;

/// The chain of a duration; `None` when it is no longer there. Should two roots have started in
/// the same nanosecond, it is the chain of one of them.
///
/// Cost: two columns of instants of one minute's segments are decoded, and of up to [`REACH`]
/// before it and a minute after it where the root asked for is an inner one.
///
/// # Errors
/// [`StoreError`] when a segment cannot be read; with [`StoreError::is_missing`] when it has been
/// removed since the snapshot was taken: take a new one.
pub fn locate(snapshot: &Snapshot, point: &Point) -> Result<Option<ChainId>, StoreError> {
    let mut search = Search::new(std::slice::from_ref(point), None);
    search.look_at_unsealed(snapshot);
    let mut found = search.look_at_segments(snapshot, 1, || Ok(()))?;
    Ok(found.pop().flatten())
}

/// The chains of durations that a question found. Where their leaves were read the ids are read
/// beside them; the others are looked up as [`locate`] does, and where several roots started in the
/// same nanosecond, the one whose leaf ends when the duration does is preferred.
///
/// # Errors
/// As [`locate`].
pub(crate) fn locate_all(
    snapshot: &Snapshot,
    question: &Question,
    (points, gathered): (&[Point], &Gathered<'_>),
    asking: &QueryEnvironment<'_>,
) -> Result<Vec<Option<ChainId>>, StoreError> {
    let places = gathered.places(points)?;
    let mut chains = vec![None; points.len()];
    let by_segment = rows_by_segment(snapshot, &places);
    let threads = asking.limits.threads;
    let check = || asking.progress.check();
    let found = spread(&by_segment, threads, Vec::new, |found, (segment, rows)| {
        check()?;
        found.extend(read_ids(&SegmentFile::open(segment)?, rows)?);
        Ok(())
    })?;
    for (number, chain) in found.into_iter().flatten() {
        chains[number] = Some(chain);
    }
    let others: Vec<usize> = (0..points.len()).filter(|number| chains[*number].is_none()).collect();
    if others.is_empty() {
        return Ok(chains);
    }
    let points: Vec<Point> = others.iter().map(|number| points[*number]).collect();
    let mut search = Search::new(&points, Some(question));
    search.look_at_unsealed(snapshot);
    let found = search.look_at_segments(snapshot, threads, check)?;
    for (number, chain) in others.into_iter().zip(found) {
        chains[number] = chain;
    }
    Ok(chains)
}

/// The rows at some places, ascending by segment, each with the number of its place.
pub(crate) fn rows_by_segment<'s>(
    snapshot: &'s Snapshot,
    places: &[Option<RowPlace>],
) -> Vec<(&'s Segment, Vec<(usize, usize)>)> {
    let mut by_segment: BTreeMap<&Path, Vec<(usize, usize)>> = BTreeMap::new();
    for (number, place) in places.iter().enumerate() {
        if let Some(place) = place {
            by_segment.entry(&place.segment).or_default().push((place.row as usize, number));
        }
    }
    let segments = snapshot.segments().iter();
    segments
        .filter_map(|segment| {
            let mut rows = by_segment.remove(segment.path.as_path())?;
            rows.sort_unstable();
            Some((segment, rows))
        })
        .collect()
}

/// Quality of a row's match with a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The row or its root started at the duration's start.
    Start,
    /// In addition, the row ends at the duration's end.
    End,
}

struct Search<'a> {
    points: &'a [Point],
    /// Indices of the points, by their start.
    starts: HashMap<i64, Vec<usize>>,
    found: Mutex<Vec<Option<(Fit, ChainId)>>>,
    /// Whether the end of a row says whether it is the leaf.
    ends: bool,
}

impl<'a> Search<'a> {
    fn new(points: &'a [Point], question: Option<&Question>) -> Self {
        let mut starts: HashMap<i64, Vec<usize>> = HashMap::new();
        for (number, point) in points.iter().enumerate() {
            starts.entry(point.start_ns).or_default().push(number);
        }
        let raw = |question: &Question| {
            question.clocks == Clocks::Raw || question.kind == DurationKind::Sync
        };
        Self {
            points,
            starts,
            found: Mutex::new(vec![None; points.len()]),
            ends: question.is_some_and(raw),
        }
    }

    /// The points that a row may belong to, and how well it fits.
    fn fits(&self, start: i64, elapsed: i64, root: i64) -> impl Iterator<Item = (usize, Fit)> {
        let of =
            |begin: i64| self.starts.get(&begin).into_iter().flatten().map(move |n| (*n, begin));
        let end = start.saturating_add(elapsed);
        let own = of(start).filter(move |_| start != root);
        of(root).chain(own).map(move |(number, begin)| {
            let duration_ns = u64::try_from(end.saturating_sub(begin)).ok();
            let ends = duration_ns == Some(self.points[number].duration_ns);
            (number, if ends { Fit::End } else { Fit::Start })
        })
    }

    fn offer(&self, number: usize, fit: Fit, chain: ChainId) {
        let mut found = self.found.lock().unwrap_or_else(|e| e.into_inner());
        if found[number].is_none_or(|(known, _)| fit > known) {
            found[number] = Some((fit, chain));
        }
    }

    fn look_at_unsealed(&mut self, snapshot: &Snapshot) {
        for record in snapshot.unsealed().records() {
            let elapsed = i64::try_from(record.elapsed_ns).unwrap_or(i64::MAX);
            for (number, fit) in self.fits(record.start_ns, elapsed, record.root_start_ns) {
                self.offer(number, fit, record.chain());
            }
        }
    }

    /// The points that nothing fits yet, or not well enough.
    fn open(&self) -> Vec<usize> {
        let found = self.found.lock().unwrap_or_else(|e| e.into_inner());
        let needed = if self.ends { Fit::End } else { Fit::Start };
        let is_open = |number: &usize| found[*number].is_none_or(|(fit, _)| fit < needed);
        (0..self.points.len()).filter(is_open).collect()
    }

    /// Looks into the roots' own minutes first: only an inner root lies in an earlier one.
    fn look_at_segments(
        self,
        snapshot: &Snapshot,
        threads: usize,
        check: impl Fn() -> Result<(), StoreError> + Sync,
    ) -> Result<Vec<Option<ChainId>>, StoreError> {
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        // An inner root that another clock stamped may seem to start before its chain's.
        for (back, ahead) in [(0, 0), (reach, MINUTE_NS)] {
            let open = self.open();
            if back > 0 && self.ends && open.iter().all(|number| self.has_any(*number)) {
                break; // they are there; their clocks were corrected, or their leaves are gone
            }
            let is_near = |segment: &&Segment| {
                let minute = segment.slot.minute;
                open.iter().any(|number| {
                    let start_ns = self.points[*number].start_ns;
                    minute.end_ns() > start_ns.saturating_sub(back)
                        && minute.start_ns() <= start_ns.saturating_add(ahead)
                })
            };
            let mut segments: Vec<_> = snapshot.segments().iter().filter(is_near).collect();
            segments.sort_by_key(|segment| std::cmp::Reverse(segment.slot.minute.start_ns()));
            spread(
                &segments,
                threads,
                || (),
                |(), segment| {
                    check()?;
                    self.look_at(segment)
                },
            )?;
        }
        let found = self.found.into_inner().unwrap_or_else(|e| e.into_inner());
        Ok(found.into_iter().map(|found| found.map(|(_, chain)| chain)).collect())
    }

    fn has_any(&self, number: usize) -> bool {
        self.found.lock().unwrap_or_else(|e| e.into_inner())[number].is_some()
    }

    /// Finds the rows that fit by their stamps; ids are read of these rows only.
    fn look_at(&self, segment: &Segment) -> Result<(), StoreError> {
        let file = SegmentFile::open(segment)?;
        let mut fitting: Vec<(usize, usize, Fit)> = Vec::new();
        let mut first = 0;
        for batch in
            file.read(&[column::START, column::ELAPSED_NS, column::ROOT_START], None, None)?
        {
            let batch = batch.map_err(file.unreadable())?;
            let columns = SegmentColumns { file: &file, batch: &batch };
            let (starts, roots) =
                (columns.instants(column::START)?, columns.instants(column::ROOT_START)?);
            let elapsed = columns.nanoseconds(column::ELAPSED_NS)?;
            for (row, (start, root)) in starts.iter().zip(roots).enumerate() {
                for (number, fit) in self.fits(*start, elapsed[row], *root) {
                    fitting.push((first + row, number, fit));
                }
            }
            first += batch.num_rows();
        }
        // One row of a chain is enough.
        fitting.sort_by_key(|(row, number, fit)| (*number, std::cmp::Reverse(*fit), *row));
        fitting.dedup_by_key(|(_, number, _)| *number);
        fitting.sort_unstable_by_key(|(row, ..)| *row);
        if fitting.is_empty() {
            return Ok(());
        }
        let rows: Vec<(usize, usize)> =
            (0..).zip(&fitting).map(|(at, (row, ..))| (*row, at)).collect();
        for (at, chain) in read_ids(&file, &rows)? {
            let (_, number, fit) = fitting[at];
            self.offer(number, fit, chain);
        }
        Ok(())
    }
}

/// Selects rows, ascending, of which each is selected once.
pub(crate) fn selection_of(rows: &[(usize, usize)]) -> RowSelection {
    let mut selectors = Vec::new();
    let mut at = 0;
    for (row, ..) in rows {
        if *row < at {
            continue; // two points of one row
        }
        selectors.extend([RowSelector::skip(row - at), RowSelector::select(1)]);
        at = row + 1;
    }
    selectors.into()
}

/// The chains of some rows, ascending, each with what it is called.
fn read_ids(
    file: &SegmentFile,
    rows: &[(usize, usize)],
) -> Result<Vec<(usize, ChainId)>, StoreError> {
    let mut ids = Vec::new();
    for batch in
        file.read(&[column::CHAIN_HIGH, column::CHAIN_LOW], None, Some(selection_of(rows)))?
    {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        let halves = columns.ids(column::CHAIN_HIGH)?.iter().zip(columns.ids(column::CHAIN_LOW)?);
        ids.extend(halves.map(|(high, low)| ChainId::from_halves(*high, *low)));
    }
    let mut ids = ids.into_iter();
    let (mut last, mut found) = (None, Vec::new());
    for (row, number) in rows {
        let chain = match last {
            Some((known, chain)) if known == *row => chain,
            _ => ids.next().ok_or_else(|| file.unexpected_column(column::CHAIN_LOW))?,
        };
        last = Some((*row, chain));
        found.push((*number, chain));
    }
    Ok(found)
}
