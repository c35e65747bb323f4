//! A scattergram of any number of durations: how many lie in each cell, and the longest and the
//! shortest of every column. Counts are exact; no duration is sampled away.

use crate::answer::{ClockQuality, Losses};
use crate::chunk::{Chunk, Dot, DurationFilter, Extent, PathNumbers, PathText};
use crate::gather::{Gathered, QueryEnvironment, gather};
use crate::locate::locate_all;
use crate::question::Question;
use crate::series::Point;
use chronoscope_chain::links::bits;
use chronoscope_chain::{Counts, Crossings};
use chronoscope_model::ChainId;
use chronoscope_statistics::{Edges, Scale};
use chronoscope_store::{Damage, Snapshot, StoreError};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Paths that are told apart; what is beyond them is counted together.
pub const PATHS_MAX: usize = 8;
/// Cells of a scattergram, at most.
pub const CELLS_MAX: usize = 1 << 21;
/// The longest durations whose chains are named.
const NAMED: usize = 24;

/// Division of a scattergram into cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raster {
    /// Columns, over the starts.
    pub width: usize,
    /// Rows, over the durations.
    pub height: usize,
    /// Scale of the durations.
    pub scale: Scale,
}

/// A scattergram.
#[derive(Clone, Debug)]
pub struct Scatter {
    /// The starts that its columns cover: UTC, nanoseconds since 1970.
    pub start_ns: Range<i64>,
    /// The edges of its columns, in nanoseconds since the beginning of [`Self::start_ns`].
    pub columns: Edges,
    /// The edges of its rows, in nanoseconds; row 0 has the shortest durations.
    pub rows: Edges,
    /// Durations in it.
    pub total: u64,
    /// The paths, most durations first; the rest as one without a name.
    pub paths: Vec<ScatterPath>,
    /// Cells with anything in them, column by column, shortest first.
    pub cells: Vec<Cell>,
    /// Extremes of every column that is not empty.
    pub extremes: Vec<Extreme>,
    /// Durations with rows missing on their way, by column.
    pub incomplete: Vec<(u32, u64)>,
    /// Number of durations, and of those left out, by reason.
    pub counts: Counts,
    /// When rows are known to be missing.
    pub gaps: Vec<Gap>,
    /// Accuracy by the hosts' clocks; `None` where no clock was ever read.
    pub clocks: Option<ClockQuality>,
    /// Known losses of the store.
    pub losses: Losses,
    /// Rows that were looked at to find these, now or before.
    pub rows_read: u64,
}

/// A path of a scattergram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScatterPath {
    /// In words; empty for all those that are not told apart.
    pub path: String,
    /// Steps from the selected root to the leaf; 0 for those that are not told apart.
    pub level: usize,
    /// Number of durations.
    pub count: u64,
}

/// A cell with anything in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Column of the cell.
    pub x: u32,
    /// Row of the cell.
    pub y: u32,
    /// Durations in it.
    pub count: u32,
    /// The path that most of them took (of equal ones the more frequent), by its number in
    /// [`Scatter::paths`].
    pub path: u32,
}

/// The longest and the shortest of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extreme {
    /// The column.
    pub x: u32,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The longest, in nanoseconds; of equal ones the first to start.
    pub max: Point,
    /// The longest one's chain, where it is among the longest of all.
    pub max_chain: Option<ChainId>,
}

/// A time from which rows are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// UTC, nanoseconds since 1970. When in it each row was lost is not known.
    pub start_ns: Range<i64>,
    /// Number of lost rows.
    pub lost_rows: u64,
    /// The source, and the reason.
    pub what: String,
}

/// Draws a scattergram of the durations that a question is about.
///
/// Its axes are the question's ranges of time and length; an open end is that of the stored
/// durations.
///
/// # Errors
/// As [`ask_watched`](crate::ask_watched).
///
/// # Panics
/// When there are no cells, or more than [`CELLS_MAX`].
pub fn scatter(
    snapshot: &Snapshot,
    question: &Question,
    raster: Raster,
    asking: &QueryEnvironment<'_>,
) -> Result<Scatter, StoreError> {
    let cells = raster.width.checked_mul(raster.height);
    assert!(cells.is_some_and(|cells| (1..=CELLS_MAX).contains(&cells)), "{raster:?}");
    let (mut scatter, losses) = gather(snapshot, question, asking, |gathered| {
        let (numbers, extents, rows_read) = survey(gathered)?;
        let mut all = Extent::default();
        extents.iter().for_each(|extent| all.merge(extent));
        let axes = Axes::new(question, raster, &all);
        let canvas = Canvas::new(axes, numbers, &extents);
        let seen = canvas.draw(gathered)?;
        let mut scatter = canvas.finish(seen, gathered);
        scatter.rows_read = rows_read;
        let longest: Vec<Point> = scatter.longest().into_iter().map(|(_, point)| point).collect();
        let chains = locate_all(snapshot, question, (&longest, gathered), asking)?;
        scatter.name_longest(chains);
        Ok::<_, StoreError>(scatter)
    })?;
    scatter.gaps = gaps(snapshot, &losses.damage);
    scatter.losses = losses;
    Ok(scatter)
}

impl Scatter {
    /// The extremes of which chains are named.
    fn longest_extremes(&self) -> Vec<usize> {
        let mut longest: Vec<usize> = (0..self.extremes.len()).collect();
        longest.sort_by_key(|at| Reverse(self.extremes[*at].max.duration_ns));
        longest.truncate(NAMED);
        longest
    }

    /// The longest durations, of which chains are named, with their columns.
    pub(crate) fn longest(&self) -> Vec<(u32, Point)> {
        let of = |at: usize| (self.extremes[at].x, self.extremes[at].max);
        self.longest_extremes().into_iter().map(of).collect()
    }

    /// Names the chains of [`Self::longest`].
    pub(crate) fn name_longest(&mut self, chains: Vec<Option<ChainId>>) {
        for (at, chain) in self.longest_extremes().into_iter().zip(chains) {
            self.extremes[at].max_chain = chain;
        }
    }
}

/// The paths with the number, range of starts and range of lengths of their durations.
pub(crate) fn survey(
    gathered: &Gathered<'_>,
) -> Result<(PathNumbers, Vec<Extent>, u64), StoreError> {
    let wanted = gathered.wanted();
    let states = gathered.each(
        || (PathNumbers::default(), Vec::<Extent>::new(), 0),
        |(numbers, extents, rows), chunk| {
            *rows += chunk.rows;
            for series in &chunk.series {
                let extent = chunk.known(series, wanted).unwrap_or_else(|| {
                    let mut extent = Extent::default();
                    chunk.each(series, wanted, |dot| extent.add(&dot));
                    extent
                });
                let number = numbers.of(&series.path);
                extents.resize(numbers.paths.len(), Extent::default());
                extents[number].merge(&extent);
            }
        },
    )?;
    let (mut numbers, mut extents, mut rows) = (PathNumbers::default(), Vec::new(), 0);
    for (theirs, found, read) in states {
        rows += read;
        for (path, extent) in theirs.paths.iter().zip(&found) {
            let number = numbers.of(path);
            extents.resize(numbers.paths.len(), Extent::default());
            extents[number].merge(extent);
        }
    }
    Ok((numbers, extents, rows))
}

/// What a scattergram covers.
pub(crate) struct Axes {
    pub(crate) start_ns: Range<i64>,
    pub(crate) columns: Edges,
    pub(crate) rows: Edges,
}

impl Axes {
    /// The axes for all durations together.
    pub(crate) fn new(question: &Question, raster: Raster, all: &Extent) -> Self {
        let (start_ns, columns) = time_axis(question, raster, all.starts_ns);
        let rows = Edges::new(raster.scale, lengths(question, all), raster.height);
        Self { start_ns, columns, rows }
    }
}

/// The starts and the columns of durations of which the first and the last start are given.
fn time_axis(
    question: &Question,
    raster: Raster,
    there_are: Option<(i64, i64)>,
) -> (Range<i64>, Edges) {
    let start_ns = starts(question, there_are);
    let span = start_ns.end.abs_diff(start_ns.start);
    let columns = Edges::new(Scale::Linear, 0..span.max(1), raster.width);
    (start_ns, columns)
}

/// Cells that are being counted.
pub(crate) struct Canvas {
    start_ns: Range<i64>,
    columns: Edges,
    rows: Edges,
    height: usize,
    /// The place of a path among those told apart, by its number; the others share the last.
    places: PathNumbers,
    place_of: Vec<usize>,
    paths: Vec<ScatterPath>,
    /// By place, column and row.
    counts: Vec<AtomicU32>,
    total: u64,
}

/// Extremes of the columns as one thread has found them.
#[derive(Clone)]
pub(crate) struct Seen {
    /// Shortest and longest, with the longest one's start.
    pub(crate) extremes: Vec<Option<(u64, u64, i64)>>,
    pub(crate) incomplete: Vec<u64>,
    pub(crate) counts: Counts,
    pub(crate) crossings: Crossings,
    open: Column,
}

/// The column that a thread draws in. Rows of a path stand in the order of their chains' starts, so
/// that many durations follow each other in one column: it is counted here, where nobody else
/// counts, and added to the others' when it is left.
#[derive(Clone, Default)]
struct Column {
    x: usize,
    /// Starts that lie in it, since the canvas begins; none where no column is open.
    since_ns: Range<u64>,
    /// Durations by row.
    cells: Vec<u32>,
    /// The rows that have any.
    touched: Vec<u32>,
    extremes: Option<(u64, u64, i64)>,
    incomplete: u64,
}

impl Canvas {
    /// For durations of paths of which the numbers are known.
    pub(crate) fn new(axes: Axes, numbers: PathNumbers, extents: &[Extent]) -> Self {
        let Axes { start_ns, columns, rows } = axes;
        let total = extents.iter().map(|extent| extent.count).sum();
        let mut order: Vec<usize> = (0..extents.len()).filter(|n| extents[*n].count > 0).collect();
        order.sort_by_key(|number| (Reverse(extents[*number].count), &numbers.paths[*number].path));
        let mut paths: Vec<ScatterPath> = Vec::new();
        let mut place_of = vec![PATHS_MAX; extents.len()];
        for (place, number) in order.into_iter().enumerate() {
            let (path, count) = (&numbers.paths[number], extents[number].count);
            place_of[number] = place.min(PATHS_MAX);
            match paths.get_mut(PATHS_MAX) {
                Some(rest) => rest.count += count,
                None if place == PATHS_MAX => {
                    paths.push(ScatterPath { path: String::new(), level: 0, count });
                }
                None => paths.push(ScatterPath {
                    path: path.path.clone(),
                    level: path.hops.len().saturating_sub(1),
                    count,
                }),
            }
        }
        let height = rows.count();
        let cells = columns.count() * height * paths.len();
        Self {
            start_ns,
            columns,
            rows,
            height,
            places: numbers,
            place_of,
            paths,
            counts: std::iter::repeat_with(AtomicU32::default).take(cells).collect(),
            total,
        }
    }

    /// Counts the durations that were gathered.
    pub(crate) fn draw(&self, gathered: &Gathered<'_>) -> Result<Seen, StoreError> {
        let width = self.columns.count();
        let nothing = Seen {
            extremes: vec![None; width],
            incomplete: vec![0; width],
            counts: Counts::default(),
            crossings: Crossings::default(),
            open: Column { cells: vec![0; self.height], ..Column::default() },
        };
        let wanted = gathered.wanted();
        let states =
            gathered.each(|| nothing.clone(), |seen, chunk| self.add_chunk(chunk, wanted, seen))?;
        let mut seen = nothing;
        states.iter().for_each(|state| seen.merge(state));
        Ok(seen)
    }

    /// Counts durations of the path at a place in a cell that were found elsewhere.
    pub(crate) fn add_cell(&self, place: usize, (x, y): (usize, usize), count: u64) {
        let cell = (place * self.columns.count() + x) * self.height + y;
        if let Some(cell) = self.counts.get(cell) {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            cell.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// The scattergram of all that was counted.
    pub(crate) fn finish(self, seen: Seen, gathered: &Gathered<'_>) -> Scatter {
        let clocks = gathered.quality(seen.counts.used + seen.counts.negative, seen.crossings);
        let extremes = seen.extremes.iter().zip(0..).filter_map(|(extreme, x)| {
            let (min_ns, duration_ns, start_ns) = (*extreme)?;
            Some(Extreme { x, min_ns, max: Point { start_ns, duration_ns }, max_chain: None })
        });
        let incomplete = seen.incomplete.iter().zip(0..).filter(|(count, _)| **count > 0);
        Scatter {
            extremes: extremes.collect(),
            incomplete: incomplete.map(|(count, x)| (x, *count)).collect(),
            counts: seen.counts,
            clocks,
            cells: self.cells(),
            start_ns: self.start_ns,
            columns: self.columns,
            rows: self.rows,
            total: self.total,
            paths: self.paths,
            gaps: Vec::new(),
            losses: Losses::default(),
            rows_read: 0,
        }
    }

    /// The place of a path; every path was numbered when all was counted.
    pub(crate) fn place_of(&self, path: &Arc<PathText>) -> usize {
        self.places.find(path).map_or(PATHS_MAX, |number| self.place_of[number])
    }

    fn add_chunk(&self, chunk: &Chunk, wanted: &DurationFilter, seen: &mut Seen) {
        for series in &chunk.series {
            let place = self.place_of(&series.path);
            chunk.each(series, wanted, |dot| self.add(place, &dot, seen));
            self.leave_column(place, seen);
        }
    }

    /// Counts a duration of the path at a place.
    #[inline]
    fn add(&self, place: usize, dot: &Dot, seen: &mut Seen) {
        if let Some(error_ns) = dot.error_ns {
            seen.crossings.add(dot.duration_ns, error_ns);
        }
        if !seen.counts.count(dot.duration_ns, dot.links(), dot.is_foreign()) {
            return;
        }
        let duration_ns = dot.duration_ns.unsigned_abs();
        let since_ns = dot.start_ns.abs_diff(self.start_ns.start);
        if !seen.open.since_ns.contains(&since_ns) {
            self.leave_column(place, seen);
            seen.open.x = self.columns.cell(since_ns);
            seen.open.since_ns = self.columns.range(seen.open.x);
        }
        let column = &mut seen.open;
        column.extremes = Some(wider(column.extremes, (duration_ns, duration_ns, dot.start_ns)));
        column.incomplete += u64::from(dot.links() & bits::ANCESTOR_MISSING != 0);
        let row = self.rows.cell(duration_ns);
        let cell = &mut column.cells[row];
        if *cell == 0 {
            column.touched.push(u32::try_from(row).unwrap_or(0)); // there are at most CELLS_MAX
        }
        *cell += 1;
    }

    /// Adds what was counted in a column, for the path at a place, to what all threads count.
    fn leave_column(&self, place: usize, seen: &mut Seen) {
        let column = &mut seen.open;
        column.since_ns = 0..0;
        let Some(extremes) = column.extremes.take() else { return };
        let x = column.x;
        seen.extremes[x] = Some(wider(seen.extremes[x], extremes));
        seen.incomplete[x] += std::mem::take(&mut column.incomplete);
        let first = (place * self.columns.count() + x) * self.height;
        for row in column.touched.drain(..) {
            let count = std::mem::take(&mut column.cells[row as usize]);
            if let Some(cell) = self.counts.get(first + row as usize) {
                cell.fetch_add(count, Ordering::Relaxed);
            }
        }
    }

    fn cells(&self) -> Vec<Cell> {
        let column = self.columns.count() * self.height;
        let mut cells = Vec::new();
        for index in 0..column {
            let (mut count, mut most, mut path) = (0_u32, 0, 0);
            for place in 0..self.paths.len() {
                let here = self.counts[place * column + index].load(Ordering::Relaxed);
                count = count.saturating_add(here);
                if here > most {
                    (most, path) = (here, u32::try_from(place).unwrap_or(0));
                }
            }
            if count > 0 {
                let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                let (x, y) = (number(index / self.height), number(index % self.height));
                cells.push(Cell { x, y, count, path });
            }
        }
        cells
    }
}

impl Seen {
    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.extremes.iter_mut().zip(&other.extremes) {
            if let Some(theirs) = theirs {
                *mine = Some(wider(*mine, *theirs));
            }
        }
        for (mine, theirs) in self.incomplete.iter_mut().zip(&other.incomplete) {
            *mine += theirs;
        }
        self.counts.add(&other.counts);
        self.crossings.merge(&other.crossings);
    }
}

/// The shortest and the longest of both; of equally long ones the first to start.
#[inline]
pub(crate) fn wider(a: Option<(u64, u64, i64)>, b: (u64, u64, i64)) -> (u64, u64, i64) {
    let Some(a) = a else { return b };
    let longest = if b.1 > a.1 || (b.1 == a.1 && b.2 < a.2) { b } else { a };
    (a.0.min(b.0), longest.1, longest.2)
}

/// The starts that are asked for; where the question leaves an end open, those that there are, of
/// which the first and the last are given.
pub(crate) fn starts(question: &Question, there_are: Option<(i64, i64)>) -> Range<i64> {
    let asked = &question.start_ns;
    let (first, last) = there_are.unwrap_or((asked.start.max(0), asked.start.max(0)));
    let from = if asked.start == i64::MIN { first } else { asked.start };
    let until = if asked.end == i64::MAX { last.saturating_add(1) } else { asked.end };
    from..until.max(from.saturating_add(1))
}

/// The durations that are drawn.
pub(crate) fn lengths(question: &Question, all: &Extent) -> Range<u64> {
    let asked = &question.duration_ns;
    let (shortest, longest) = all.durations_ns.unwrap_or((*asked.start(), *asked.start()));
    let from = if *asked.start() == 0 { shortest } else { *asked.start() };
    let until = if *asked.end() == u64::MAX { longest } else { *asked.end() };
    let until = until.saturating_add(1);
    from.min(until - 1)..until
}

/// When the store knows that rows are missing: when they were lost is known to the life of their
/// process or to their minute.
pub(crate) fn gaps(snapshot: &Snapshot, damage: &[Damage]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let extent = snapshot.extent().unwrap_or_default();
    for (process, rows) in &snapshot.ledger().lost {
        let name = snapshot.names().process(*process);
        let start = name.map_or(extent.start, |name| name.start_ns);
        let who = name.map_or_else(
            || format!("process {process}"),
            |name| format!("{} (process {} on {})", name.application, name.pid, name.host),
        );
        gaps.push(Gap {
            start_ns: start..extent.end.max(start),
            lost_rows: *rows,
            what: format!("{who}: overwritten in its ring before they were read, or dropped"),
        });
    }
    for segment in snapshot.segments() {
        let Some(damage) = damage.iter().find(|damage| damage.path == segment.path) else {
            continue;
        };
        gaps.push(Gap {
            start_ns: segment.slot.minute.start_ns()..segment.slot.minute.end_ns(),
            lost_rows: damage.rows_lost,
            what: damage.to_string(),
        });
    }
    gaps
}
