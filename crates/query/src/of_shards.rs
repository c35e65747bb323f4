//! Pictures and lists of durations that the shards of a cluster count, with what is put together here:
//! what [`crate::scatter()`] and [`crate::list_chains()`] say of files.

use crate::chain_list::{ChainOrder, ChainPoint, First, firsts};
use crate::chunk::Extent;
use crate::cluster::ShardPicture;
use crate::error::QueryError;
use crate::gather::{Gathered, QueryEnvironment, gather};
use crate::locate::locate_all;
use crate::question::Question;
use crate::scatter::{Axes, Canvas, Raster, Scatter, gaps, survey, wider};
use crate::series::Point;
use chronoscope_chain::Crossings;
use chronoscope_model::ChainId;
use chronoscope_store::Snapshot;

/// Draws a scattergram; `None` where the shards cannot tell how well its durations are known.
///
/// # Errors
/// [`QueryError`].
pub(crate) fn scatter_of_shards(
    shards: &ShardPicture,
    question: &Question,
    raster: Raster,
    asking: &QueryEnvironment<'_>,
) -> Result<Option<Scatter>, QueryError> {
    let Some(crossings) = shards.crossings()? else { return Ok(None) };
    let rest: &Snapshot = &shards.rest;
    let (mut scatter, losses) = gather(rest, question, asking, |gathered| {
        draw((shards, crossings), question, raster, gathered, asking)
    })?;
    scatter.gaps = gaps(rest, &losses.damage);
    scatter.losses = losses;
    Ok(Some(scatter))
}

fn draw(
    (shards, crossings): (&ShardPicture, Crossings),
    question: &Question,
    raster: Raster,
    gathered: &Gathered<'_>,
    asking: &QueryEnvironment<'_>,
) -> Result<Scatter, QueryError> {
    let (mut numbers, mut extents, mut rows_read) = survey(gathered)?;
    let mut all = Extent::default();
    extents.iter().for_each(|extent| all.merge(extent));
    if has_open_axis(question) {
        all.merge(&shards.extent()?);
    }
    let axes = Axes::new(question, raster, &all);
    asking.progress.check()?;
    let found = shards.cells(axes.start_ns.start, (&axes.columns, &axes.rows))?;
    rows_read += found.negative;
    let numbered: Vec<usize> = found.paths.iter().map(|path| numbers.of(path)).collect();
    extents.resize(numbers.paths.len(), Extent::default());
    for (path, _, _, count) in &found.cells {
        extents[numbered[*path]].count += count;
        rows_read += count;
    }
    let canvas = Canvas::new(axes, numbers, &extents);
    let mut seen = canvas.draw(gathered)?;
    seen.crossings.merge(&crossings);
    let places: Vec<usize> = found.paths.iter().map(|path| canvas.place_of(path)).collect();
    for (path, x, y, count) in &found.cells {
        canvas.add_cell(places[*path], (*x, *y), *count);
    }
    // By column, whether its longest duration is of the rows that are put together here.
    let mut own = vec![true; seen.extremes.len()];
    seen.counts.negative += found.negative;
    for (x, column) in found.columns.iter().enumerate() {
        seen.counts.add(&column.counts);
        let Some(mine) = seen.extremes.get_mut(x) else { continue };
        seen.incomplete[x] += column.counts.incomplete;
        let Some((shortest, longest)) = column.durations_ns else { continue };
        let both = wider(*mine, (shortest, longest, column.start_ns));
        own[x] = mine.is_some_and(|mine| (mine.1, mine.2) == (both.1, both.2));
        *mine = Some(both);
    }
    let mut scatter = canvas.finish(seen, gathered);
    scatter.rows_read = rows_read;
    let longest = scatter.longest();
    let longest = longest.iter().map(|(x, point)| (*point, own[*x as usize])).collect::<Vec<_>>();
    scatter.name_longest(locate_both(shards, question, &longest, (gathered, asking))?);
    Ok(scatter)
}

/// Whether an axis of a question's picture ends where its durations do.
fn has_open_axis(question: &Question) -> bool {
    let Question { start_ns, duration_ns, .. } = question;
    start_ns.start == i64::MIN
        || start_ns.end == i64::MAX
        || *duration_ns.start() == 0
        || *duration_ns.end() == u64::MAX
}

/// Lists the first of the durations, and counts them.
///
/// # Errors
/// [`QueryError`].
pub(crate) fn list_chains_of_shards(
    shards: &ShardPicture,
    question: &Question,
    (order, limit): (ChainOrder, usize),
    asking: &QueryEnvironment<'_>,
) -> Result<(u64, Vec<ChainPoint>), QueryError> {
    let (listed, _) = gather(&shards.rest, question, asking, |gathered| {
        let (total, of_rest) = firsts(gathered, order, limit)?;
        let (theirs, of_shards) = shards.firsts(order, limit)?;
        let mut all: Vec<(First, bool)> = of_rest.into_iter().map(|first| (first, true)).collect();
        all.extend(of_shards.into_iter().map(|first| (first, false)));
        all.sort_unstable();
        all.truncate(limit);
        let points: Vec<_> = all.iter().map(|(first, own)| (first.point, *own)).collect();
        let chains = locate_both(shards, question, &points, (gathered, asking))?;
        let listed = all.into_iter().zip(chains).map(|((first, _), chain)| first.listed(chain));
        Ok::<_, QueryError>((total + theirs, listed.collect()))
    })?;
    Ok(listed)
}

/// The chains of durations: of the rows that are put together here, and of the shards.
fn locate_both(
    shards: &ShardPicture,
    question: &Question,
    points: &[(Point, bool)],
    (gathered, asking): (&Gathered<'_>, &QueryEnvironment<'_>),
) -> Result<Vec<Option<ChainId>>, QueryError> {
    let of = |own: bool| -> Vec<Point> {
        points.iter().filter(|(_, is_own)| *is_own == own).map(|(point, _)| *point).collect()
    };
    let mine = locate_all(&shards.rest, question, (&of(true), gathered), asking)?;
    let theirs = shards.locate(&of(false))?;
    let (mut mine, mut theirs) = (mine.into_iter(), theirs.into_iter());
    let next = |(_, own): &(Point, bool)| if *own { mine.next() } else { theirs.next() };
    Ok(points.iter().map(next).map(Option::flatten).collect())
}
