//! Durations computed by the shards: of the leaves of linked chains nothing but their durations
//! travels, as 4 octets each where none is longer than 4 s.
//!
//! This serves distributions and verdicts where no points are asked for. What is not linked is put
//! together here, and both are one answer.

use super::ask::ClusterView;
use super::duration_rows::LeafPlan;
use super::leaf_tables::LeafTables;
use super::rows_view::RowsView;
use super::shard_crossings::AskedClocks;
use super::shard_extents::{PathExtents, extents};
use crate::answer::Answer;
use crate::error::QueryError;
use crate::found_elsewhere::{FoundElsewhere, FoundPath};
use crate::progress::Progress;
use crate::question::{Limits, Question};
use crate::run::ask_with;
use arrow_array::types::UInt32Type;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};

/// A store of which some durations were computed by the shards.
pub(crate) struct ShardAnswer {
    /// The rows that are put together here, and all that is known besides rows.
    pub(crate) rest: RowsView<'static>,
    /// The durations of all others.
    pub(crate) found: Vec<FoundElsewhere>,
}

impl ClusterView {
    /// The durations of a question about leaves as the shards compute them, or the elapsed times of
    /// a class; `None` where these do not suffice, or a shard is missing and the question goes on
    /// without it.
    pub(crate) fn shard_answer(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<ShardAnswer>, QueryError> {
        self.unless_missing(|| {
            // Nobody looks at points here.
            let lengths = Question { points: false, ..question.clone() };
            if let Some(elapsed) = self.shard_elapsed(&lengths, progress)? {
                return Ok(Some(elapsed));
            }
            let Some(plan) = self.leaf_plan(question, limits, progress)? else { return Ok(None) };
            self.shard_durations(&plan, question, progress)
        })
    }

    /// Answers a question about leaves from durations that the shards compute; `None` where these do
    /// not suffice.
    pub(super) fn ask_shards(
        &self,
        plan: &LeafPlan,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<Answer>, QueryError> {
        let known = self.shard_durations(plan, question, progress)?;
        let Some(ShardAnswer { rest, found }) = known else { return Ok(None) };
        Ok(Some(ask_with(&rest, question, limits, progress, found)?))
    }

    /// What `ask` finds; `None` also where a shard is missing and the question goes on without it.
    pub(super) fn unless_missing<T>(
        &self,
        ask: impl FnOnce() -> Result<Option<T>, QueryError>,
    ) -> Result<Option<T>, QueryError> {
        match ask() {
            Err(QueryError::ClickHouse(error)) if self.cluster().goes_on_after(&error) => Ok(None),
            found => found,
        }
    }

    /// The durations of a question about leaves as the shards compute them; `None` where these do not
    /// suffice.
    fn shard_durations(
        &self,
        plan: &LeafPlan,
        question: &Question,
        progress: &Progress,
    ) -> Result<Option<ShardAnswer>, QueryError> {
        if question.points {
            return Ok(None);
        }
        let Some(rest) = self.assembled_rows(plan, progress)? else { return Ok(None) };
        let (tables, clocks) = (LeafTables::new(plan, question), AskedClocks::of(rest.clocks()));
        let by_shard =
            self.cluster().on_all(|shard, node| durations(node, &tables, shard, &clocks))?;
        progress.check()?;
        if !plan.is_kept(self.cluster())? {
            return Ok(None);
        }
        let found: Option<Vec<_>> = by_shard.into_iter().collect();
        Ok(found.map(|found| ShardAnswer { rest, found: found.into_iter().flatten().collect() }))
    }
}

/// The durations on a shard, by path; `None` where some cross hosts and it cannot tell their error
/// bounds.
fn durations(
    node: &Node,
    tables: &LeafTables<'_>,
    shard: usize,
    clocks: &AskedClocks,
) -> Result<Option<Vec<FoundElsewhere>>, ClickHouseError> {
    let Some(crossings) = clocks.crossings(node, tables, shard)? else { return Ok(None) };
    let extents = extents(node, tables, shard)?;
    let mut found: Vec<FoundElsewhere> =
        tables.paths.iter().map(|(path, _)| found_of(path, &extents)).collect();
    for (found, crossings) in found.iter_mut().zip(crossings) {
        found.crossings = crossings;
    }
    if let Some(table) = tables.all(shard) {
        let is_short = |found: &PathExtents| {
            let mut longest = found.values().filter_map(|extent| Some(extent.durations_ns?.1));
            longest.all(|ns| u32::try_from(ns).is_ok())
        };
        let number = tables.path_number();
        let type_name = if is_short(&extents) { "UInt32" } else { "UInt64" };
        let sql = format!(
            "SELECT {number} AS number, to{type_name}(duration) AS length FROM {table} \
             WHERE duration >= 0"
        );
        let sql = match &found[..] {
            [_] => sql.replace(&format!("{number} AS number, "), ""),
            _ => sql,
        };
        node.query(&sql, |batch| add(&ResultRows { node, batch }, &mut found))?;
    }
    for found in &mut found {
        // Rows may have been deleted since they were counted.
        found.counts.used = found.durations_ns.iter().map(|piece| piece.len() as u64).sum();
        found.rows = found.counts.used + found.counts.negative;
    }
    found.retain(|found| found.rows > 0);
    Ok(Some(found))
}

fn found_of(path: &str, extents: &PathExtents) -> FoundElsewhere {
    let mut found = FoundElsewhere::new(FoundPath::Words(path.to_owned()));
    if let Some(extent) = extents.get(path) {
        found.counts = extent.counts;
        found.starts_ns = extent.starts_ns;
        let used = usize::try_from(extent.counts.used).unwrap_or(0);
        found.durations_ns.push(Vec::with_capacity(used));
    }
    found
}

fn add(rows: &ResultRows<'_>, found: &mut [FoundElsewhere]) -> Result<(), ClickHouseError> {
    match rows.numbers::<UInt32Type>("length") {
        Ok(short) => add_lengths(rows, short.iter().map(|ns| u64::from(*ns)), found),
        Err(_) => add_lengths(rows, rows.ids("length")?.iter().copied(), found),
    }
}

fn add_lengths(
    rows: &ResultRows<'_>,
    lengths: impl Iterator<Item = u64>,
    found: &mut [FoundElsewhere],
) -> Result<(), ClickHouseError> {
    if let [only] = found {
        match only.durations_ns.last_mut() {
            Some(last) => last.extend(lengths),
            None => only.durations_ns.push(lengths.collect()),
        }
        return Ok(());
    }
    for (number, ns) in rows.numbers::<UInt32Type>("number")?.iter().zip(lengths) {
        let of_path = found.get_mut(*number as usize);
        let of_path = of_path.ok_or_else(|| rows.node.unexpected_column("number"))?;
        match of_path.durations_ns.last_mut() {
            Some(last) => last.push(ns),
            None => of_path.durations_ns.push(vec![ns]),
        }
    }
    Ok(())
}
