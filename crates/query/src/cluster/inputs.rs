//! Durations over several parents, from the chains that can matter.
//!
//! Files read all rows within reach, because any row may be linked from any chain. Where a cluster
//! has stored the links ([`chronoscope_clickhouse::ChainLink`]), it is known which chains have or are
//! further parents, and which foreign chains are not whole or continue others. All other chains are
//! each for itself: those without a row of the root's or the leaf's class have no duration, and stay
//! where they are. What they would be counted for is asked for: the number of rows read, and whether
//! any row is there twice.

use super::ask::ClusterView;
use super::linked_cells::LinkedCells;
use super::names::ClusterNames;
use super::needed::NeededMinutes;
use super::row_counts::{MinuteRows, RowCounts, count_rows, minutes_of};
use super::sql::{between, quoted};
use super::take::FetchError;
use crate::error::QueryError;
use crate::fan_in::{FanInAnswer, ask_inputs};
use crate::minutes::{REACH, around};
use crate::path_catalog::PathCatalog;
use crate::progress::Progress;
use crate::question::{DurationKind, Limits, Question, VerdictSubject};
use chronoscope_chain::fan_in::InputCase;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows, fingerprint};
use chronoscope_model::Flags;
use std::ops::RangeInclusive;

const FOREIGN: u8 = Flags::FOREIGN.0;
/// Most rows of the wanted classes on a shard: it holds the ids of their chains in memory.
const CLASS_ROWS_MAX: u64 = 4 << 20;

impl ClusterView {
    /// Answers a question about durations over parents and links, as [`crate::ask_inputs`] does.
    pub(crate) fn ask_inputs(
        &self,
        question: &Question,
        case: InputCase,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<FanInAnswer, QueryError> {
        match self.ask_linked_inputs(question, case, limits, progress) {
            Ok(Some(found)) => return Ok(found),
            // Without a shard it is answered below.
            Err(QueryError::ClickHouse(error)) if self.cluster().goes_on_after(&error) => {}
            Err(error) => return Err(error),
            Ok(None) => {}
        }
        let needed: Vec<_> = NeededMinutes::of_question(question, limits).into_iter().collect();
        let rows = self.rows(&needed, progress)?;
        ask_inputs(&rows, question, case, limits, progress)
    }

    /// The same answer from the chains that can matter alone; `None` where it is not known which these
    /// are: a minute within reach has other rows than when its links were stored, the question is
    /// about what arrived or about every leaf, or a native row is there twice.
    ///
    /// # Errors
    /// As [`crate::ask_inputs`], and [`QueryError::ClickHouse`].
    pub fn ask_linked_inputs(
        &self,
        question: &Question,
        case: InputCase,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<FanInAnswer>, QueryError> {
        if !is_of_chains(question) {
            return Ok(None);
        }
        let Some(needed) = NeededMinutes::of_question(question, limits) else { return Ok(None) };
        let (cluster, window) = (self.cluster(), needed.range());
        let counts = count_rows(cluster, std::slice::from_ref(&window))?;
        let Some(linked) = LinkedCells::of(cluster, &window, &counts, limits)? else {
            return Ok(None);
        };
        let names = ClusterNames::read(cluster)?;
        if !linked.open_minutes().is_empty()
            || !linked.has_all_links(&counts)
            || !linked.is_under(fingerprint(&names.aliases))
        {
            return Ok(None);
        }
        let Some(classes) = wanted_classes(question, &names) else { return Ok(None) };
        let by_shard = cluster.on_all(|_, node| {
            Ok(class_rows(node, &window, &classes)? <= CLASS_ROWS_MAX
                && !has_doubles(node, &window)?)
        })?;
        if by_shard.contains(&false) {
            return Ok(None);
        }
        let of_classes = format!(
            "(chain_high, chain_low) IN (SELECT chain_high, chain_low FROM transactions \
             WHERE {} AND {classes})",
            between("minute", &window)
        );
        let wanted = |shard: usize| Some(linked.is_wanted(shard, &of_classes));
        let mut view = self.rows_of_minutes([], progress)?;
        if !view.away().is_empty() {
            return Ok(None);
        }
        match self.fetched.chosen(
            cluster,
            &names,
            (&linked, &of_classes, &wanted),
            &counts,
            progress,
        ) {
            Ok(minutes) => view.add(minutes),
            Err(FetchError::NewPath) => return Ok(None),
            Err(FetchError::Failed(error)) => return Err(error),
        }
        let mut found = ask_inputs(&view, question, case, limits, progress)?;
        found.answer.rows_read = rows_within(question, &counts, limits);
        Ok(linked.is_kept(cluster)?.then_some(found))
    }
}

/// Whether a question is one about chains that have rows of certain classes, as far as it can tell by
/// itself.
fn is_of_chains(question: &Question) -> bool {
    let of_classes = question.kind == DurationKind::Acpd && question.leaf.is_some();
    of_classes && question.judged == VerdictSubject::Durations && question.attributes.is_empty()
}

/// The condition of rows of the root's and the leaf's classes; `None` where there are no such classes
/// by name.
fn wanted_classes(question: &Question, names: &ClusterNames) -> Option<String> {
    let selection = PathCatalog::new(&names.names, question).selection;
    let ids = selection.roots.iter().chain(selection.leaves.iter().flatten());
    let mut classes = Vec::new();
    for id in ids {
        let name = names.names.class(*id)?;
        classes.push(format!("({},{})", quoted(&name.application), quoted(&name.class)));
    }
    classes.sort();
    classes.dedup();
    (!classes.is_empty()).then(|| format!("(application, class) IN ({})", classes.join(",")))
}

fn class_rows(
    node: &Node,
    window: &RangeInclusive<i64>,
    classes: &str,
) -> Result<u64, ClickHouseError> {
    let within = between("minute", window);
    let sql = format!("SELECT count() AS rows FROM transactions WHERE {within} AND {classes}");
    let mut count = 0;
    node.query(&sql, |batch| {
        count += ResultRows { node, batch }.ids("rows")?.iter().sum::<u64>();
        Ok(())
    })?;
    Ok(count)
}

/// Whether a native row is there twice; a chain with a foreign one twice is loose.
fn has_doubles(node: &Node, window: &RangeInclusive<i64>) -> Result<bool, ClickHouseError> {
    // In the order of the table a minute is in memory at once.
    let sql = format!(
        "SELECT minute FROM transactions WHERE {} AND id != 0 AND bitAnd(flags, {FOREIGN}) = 0 \
         GROUP BY minute HAVING count() > uniqExact(chain_high, chain_low, id) \
         LIMIT 1 SETTINGS optimize_aggregation_in_order = 1",
        between("minute", window)
    );
    let mut found = false;
    node.query(&sql, |batch| {
        found |= batch.num_rows() > 0;
        Ok(())
    })?;
    Ok(found)
}

/// Rows that files would read for a question.
fn rows_within(question: &Question, counts: &RowCounts, limits: &Limits) -> u64 {
    let native = minutes_of(&around(&question.start_ns, REACH));
    let foreign = minutes_of(&around(&question.start_ns, limits.foreign_reach));
    let of_minute = |(minute, rows): (&i64, &Vec<MinuteRows>)| {
        let of_shard = |rows: &MinuteRows| {
            let (all, of_foreign) = (rows.rows, rows.foreign);
            let native = if native.contains(minute) { all.saturating_sub(of_foreign) } else { 0 };
            native + if foreign.contains(minute) { of_foreign } else { 0 }
        };
        rows.iter().map(of_shard).sum::<u64>()
    };
    counts.iter().map(of_minute).sum()
}
