//! The chains inside a rectangle of a scattergram.

use crate::chunk::{Chunk, Dot, DurationFilter, PathText};
use crate::gather::{Gathered, QueryEnvironment, gather};
use crate::locate::locate_all;
use crate::question::Question;
use crate::series::Point;
use chronoscope_model::ChainId;
use chronoscope_store::{Snapshot, StoreError};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Order of the chains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChainOrder {
    /// Longest durations first.
    #[default]
    Longest,
    /// Shortest durations first.
    Shortest,
    /// Earliest root starts first.
    First,
}

/// One duration and its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPoint {
    /// When it started, and how long it took.
    pub point: Point,
    /// The path from the selected root to the leaf, in words.
    pub path: String,
    /// Steps from the selected root to the leaf.
    pub level: usize,
    /// Host of the leaf; empty where it is unknown.
    pub host: String,
    /// Chain of the duration; `None` where the store no longer has it.
    pub chain: Option<ChainId>,
}

/// Counts the durations of a question, and lists the first of them in an order.
///
/// Memory: the `limit` that are returned, for each thread.
///
/// # Errors
/// As [`ask_watched`](crate::ask_watched).
pub fn list_chains(
    snapshot: &Snapshot,
    question: &Question,
    (order, limit): (ChainOrder, usize),
    asking: &QueryEnvironment<'_>,
) -> Result<(u64, Vec<ChainPoint>), StoreError> {
    let ((total, firsts, chains), _) = gather(snapshot, question, asking, |gathered| {
        let (total, all) = firsts(gathered, order, limit)?;
        let points: Vec<Point> = all.iter().map(|first| first.point).collect();
        let chains = locate_all(snapshot, question, (&points, gathered), asking)?;
        Ok::<_, StoreError>((total, all, chains))
    })?;
    Ok((total, firsts.into_iter().zip(chains).map(|(first, chain)| first.listed(chain)).collect()))
}

/// How many durations there are, and the first of them in an order.
pub(crate) fn firsts(
    gathered: &Gathered<'_>,
    order: ChainOrder,
    limit: usize,
) -> Result<(u64, Vec<First>), StoreError> {
    let wanted = gathered.wanted();
    let states = gathered.each(
        || Firsts { total: 0, limit, order, kept: BinaryHeap::new(), open_ns: 0..=u64::MAX },
        |firsts, chunk| firsts.add_chunk(chunk, wanted),
    )?;
    let total = states.iter().map(|firsts| firsts.total).sum();
    let mut all: Vec<First> = states.into_iter().flat_map(|firsts| firsts.kept).collect();
    all.sort_unstable();
    all.truncate(limit);
    Ok((total, all))
}

/// A duration, first by what it is ordered by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct First {
    rank: (Option<Reverse<u64>>, u64, i64, u64),
    path: Arc<str>,
    host: Arc<str>,
    pub(crate) point: Point,
    level: usize,
}

/// The place of a duration in an order.
const fn rank(order: ChainOrder, point: Point) -> (Option<Reverse<u64>>, u64, i64, u64) {
    let Point { start_ns, duration_ns } = point;
    match order {
        ChainOrder::Longest => (Some(Reverse(duration_ns)), 0, start_ns, 0),
        ChainOrder::Shortest => (None, duration_ns, start_ns, 0),
        ChainOrder::First => (None, 0, start_ns, duration_ns),
    }
}

impl First {
    pub(crate) fn of(order: ChainOrder, path: &PathText, host: &str, point: Point) -> Self {
        let level = path.hops.len().saturating_sub(1);
        let (path, host) = (path.path.as_str().into(), host.into());
        Self { rank: rank(order, point), path, host, point, level }
    }

    pub(crate) fn listed(self, chain: Option<ChainId>) -> ChainPoint {
        let Self { path, host, point, level, .. } = self;
        ChainPoint { point, path: path.to_string(), level, host: host.to_string(), chain }
    }
}

/// The first of what one thread has seen; the last of them on top.
struct Firsts {
    total: u64,
    limit: usize,
    order: ChainOrder,
    kept: BinaryHeap<First>,
    /// Durations outside of it are surely not among the first: most are decided by this alone.
    open_ns: RangeInclusive<u64>,
}

impl Firsts {
    fn add_chunk(&mut self, chunk: &Chunk, wanted: &DurationFilter) {
        for series in &chunk.series {
            let path: Arc<str> = series.path.path.as_str().into();
            let level = series.path.hops.len().saturating_sub(1);
            chunk.each(series, wanted, |dot| self.add(chunk, &path, level, &dot));
        }
    }

    fn add(&mut self, chunk: &Chunk, path: &Arc<str>, level: usize, dot: &Dot) {
        let Ok(duration_ns) = u64::try_from(dot.duration_ns) else { return };
        self.total += 1;
        if !self.open_ns.contains(&duration_ns) {
            return;
        }
        let point = Point { start_ns: dot.start_ns, duration_ns };
        let rank = rank(self.order, point);
        if self.kept.len() >= self.limit && self.kept.peek().is_none_or(|last| last.rank <= rank) {
            return;
        }
        let host = chunk.host(dot.host).into();
        self.kept.push(First { rank, path: path.clone(), host, point, level });
        if self.kept.len() > self.limit {
            self.kept.pop();
        }
        if let Some(last) = self.kept.peek().filter(|_| self.kept.len() >= self.limit) {
            self.open_ns = match self.order {
                ChainOrder::Longest => last.point.duration_ns..=u64::MAX,
                ChainOrder::Shortest => 0..=last.point.duration_ns,
                ChainOrder::First => 0..=u64::MAX,
            };
        }
    }
}
