//! Pictures and lists of durations that the shards of a cluster count, with what is put together here:
//! what [`crate::scatter()`] and [`crate::list_chains()`] say of files.

use crate::chain_list::{ChainOrder, ChainPoint, First, firsts};
use crate::chunk::{Extent, both};
use crate::cluster::ShardPicture;
use crate::error::QueryError;
use crate::gather::{Gathered, QueryEnvironment, gather};
use crate::locate::locate_all;
use crate::question::Question;
use crate::scatter::{Axes, Canvas, Raster, Scatter, gaps, survey, time_axis, wider};
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
    let is_open = question.start_ns.start == i64::MIN || question.start_ns.end == i64::MAX;
    if is_open {
        all.starts_ns = both(all.starts_ns, shards.starts_ns()?);
    }
    let (start_ns, columns) = time_axis(question, raster, all.starts_ns);
    let by_column = shards.columns(start_ns.start, &columns)?;
    for column in by_column.values() {
        all.durations_ns = both(all.durations_ns, column.durations_ns);
        rows_read += column.counts.used + column.counts.negative;
    }
    let axes = Axes::new(question, raster, &all);
    asking.progress.check()?;
    let found = shards.cells(&axes.start_ns, (&axes.columns, &axes.rows))?;
    for (path, _, _, count) in &found.cells {
        let number = numbers.of(&found.paths[*path]);
        extents.resize(numbers.paths.len(), Extent::default());
        extents[number].count += count;
    }
    let canvas = Canvas::new(axes, numbers, &extents);
    let mut seen = canvas.draw(gathered)?;
    seen.crossings.merge(&crossings);
    for (path, x, y, count) in &found.cells {
        canvas.add_cell(&found.paths[*path], (*x, *y), *count);
    }
    // By column, whether its longest duration is of the rows that are put together here.
    let mut own = vec![true; seen.extremes.len()];
    for (x, column) in by_column {
        seen.counts.add(&column.counts);
        let Some(mine) = seen.extremes.get_mut(x) else { continue }; // negative ones
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
