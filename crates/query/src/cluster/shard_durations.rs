//! Durations computed by the shards: of the leaves of linked chains nothing but their durations
//! travels, path by path.
//!
//! This serves distributions and verdicts where no clock was read (else a duration's error depends on
//! its hosts) and no points are asked for. What is not linked is put together here, and both are
//! one answer.

use super::ask::ClusterView;
use super::duration_rows::LeafPlan;
use super::fetched::groups;
use super::leaf_fetch::quoted_list;
use super::sql::quoted;
use crate::answer::Answer;
use crate::error::QueryError;
use crate::progress::Progress;
use crate::question::{Limits, Question};
use crate::run::ask_with;
use crate::series::FoundElsewhere;
use chronoscope_chain::Counts;
use chronoscope_chain::links::bits;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use std::collections::HashMap;

/// Rows of a shard whose durations are in its memory at once.
const GROUP_ROWS: u64 = 1 << 22;

/// What the shards have found.
#[derive(Default)]
struct Found {
    by_path: HashMap<String, FoundElsewhere>,
}

impl ClusterView {
    /// Answers a question about leaves from durations that the shards compute; `None` where these
    /// do not suffice.
    pub(super) fn ask_shards(
        &self,
        plan: &LeafPlan,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<Answer>, QueryError> {
        if question.points {
            return Ok(None);
        }
        let Some(rest) = self.assembled_rows(plan, progress)? else { return Ok(None) };
        if !rest.clocks().is_empty() {
            return Ok(None);
        }
        let mut found = Found::default();
        if !plan.wanted.paths.is_empty() {
            let mut linked = plan.counts.clone();
            linked.retain(|minute, _| plan.versions.contains_key(minute));
            for minutes in groups(&linked, GROUP_ROWS) {
                progress.check()?;
                let by_shard = self.cluster().on_all(|shard, node| {
                    let mut found = Found::default();
                    for sql in durations_sql(plan, question, shard, &minutes) {
                        node.query(&sql, |batch| found.add(&ResultRows { node, batch }))?;
                    }
                    found.add_unusual(node, plan, question, (shard, &minutes))?;
                    Ok(found)
                })?;
                by_shard.into_iter().for_each(|theirs| found.merge(theirs));
            }
        }
        let found = found.by_path.into_values().collect();
        Ok(Some(ask_with(&rest, question, limits, progress, found)?))
    }
}

/// The conditions of a question on rows, given the columns of their root's start and their duration.
fn wanted(question: &Question, root: &str, duration: &str) -> String {
    let (start, end) = (question.start_ns.start, question.start_ns.end);
    let (shortest, longest) = (question.duration_ns.start(), question.duration_ns.end());
    let longest = (*longest).min(i64::MAX.unsigned_abs());
    let hosts: Vec<String> = question.hosts.iter().map(|host| quoted(host)).collect();
    let hosts = match hosts.is_empty() {
        true => String::new(),
        false => format!(" AND host IN ({})", hosts.join(",")),
    };
    format!(
        "{root} >= {start} AND {root} < {end} \
         AND ({duration} < 0 OR {duration} BETWEEN {shortest} AND {longest}){hosts}"
    )
}

/// The questions to a shard for the durations of native and of linked foreign chains.
fn durations_sql(
    plan: &LeafPlan,
    question: &Question,
    shard: usize,
    minutes: &[i64],
) -> Vec<String> {
    let (paths, tops) = (quoted_list(&plan.wanted.paths), quoted_list(&plan.wanted.tops));
    let mut inner = Vec::new();
    let on_shard = |minute: &&i64| plan.versions.get(minute).is_some_and(|of| of[shard].is_some());
    let on_shard: Vec<String> = minutes.iter().filter(on_shard).map(i64::to_string).collect();
    if !on_shard.is_empty() {
        let without =
            plan.linked.as_ref().map_or_else(String::new, |linked| linked.without_foreign(shard));
        inner.push(format!(
            "SELECT path, host, 0 AS links, toUnixTimestamp64Nano(root_start) AS root_ns, \
             toUnixTimestamp64Nano(start) + elapsed_ns - root_ns AS duration FROM transactions \
             PREWHERE path IN ({paths}) WHERE minute IN ({}) AND top IN ({tops}){without}",
            on_shard.join(",")
        ));
    }
    if let Some((linked, cells)) = plan.linked.as_ref().and_then(|linked| {
        let cells = linked.listed(minutes, shard)?;
        Some((linked, cells))
    }) {
        inner.push(format!(
            "SELECT path, host, links, root_start_ns AS root_ns, \
             start_ns + elapsed_ns - root_ns AS duration FROM linked_rows \
             WHERE (minute, version) IN ({cells}) AND path IN ({paths}){}",
            linked.without_loose(shard)
        ));
    }
    let outer = |inner: String| {
        format!(
            "SELECT path, groupArrayIf(toUInt64(duration), duration >= 0) AS durations, \
             countIf(duration < 0) AS negative, minIf(root_ns, duration >= 0) AS first, \
             maxIf(root_ns, duration >= 0) AS last, {}, {} FROM ({inner}) WHERE {} GROUP BY path",
            marked(bits::BEFORE_PARENT, "before_parent"),
            marked(bits::ASSEMBLED, "assembled"),
            wanted(question, "root_ns", "duration"),
        )
    };
    inner.into_iter().map(outer).collect()
}

/// The number of used durations with a mark.
fn marked(mark: u8, name: &str) -> String {
    format!("countIf(duration >= 0 AND bitAnd(links, {mark}) != 0) AS {name}")
}

impl Found {
    fn of(&mut self, path: &str) -> &mut FoundElsewhere {
        if !self.by_path.contains_key(path) {
            let found = FoundElsewhere { path: path.to_owned(), ..FoundElsewhere::default() };
            self.by_path.insert(path.to_owned(), found);
        }
        self.by_path.entry(path.to_owned()).or_default()
    }

    fn add(&mut self, rows: &ResultRows<'_>) -> Result<(), ClickHouseError> {
        let (paths, negative) = (rows.texts("path")?, rows.ids("negative")?);
        let (firsts, lasts) = (rows.times("first")?, rows.times("last")?);
        let (before, assembled) = (rows.ids("before_parent")?, rows.ids("assembled")?);
        for (row, durations_ns) in rows.id_lists("durations")?.into_iter().enumerate() {
            let found = self.of(paths.value(row));
            let used = durations_ns.len() as u64;
            found.rows += used + negative[row];
            found.counts.add(&Counts {
                used,
                negative: negative[row],
                before_parent: before[row],
                foreign: assembled[row],
                ..Counts::default()
            });
            if used > 0 {
                found.cover((firsts[row], lasts[row]));
                found.durations_ns.push(durations_ns);
            }
        }
        Ok(())
    }

    /// Counts the native rows of which something is wrong; their durations are among the others'.
    fn add_unusual(
        &mut self,
        node: &Node,
        plan: &LeafPlan,
        question: &Question,
        (shard, minutes): (usize, &[i64]),
    ) -> Result<(), ClickHouseError> {
        let unusual = minutes.iter().filter_map(|minute| {
            let version = plan.versions.get(minute)?[shard].filter(|sealed| sealed.unusual > 0)?;
            Some(format!("({minute},{})", version.version))
        });
        let unusual: Vec<String> = unusual.collect();
        if unusual.is_empty() {
            return Ok(());
        }
        let without =
            plan.linked.as_ref().map_or_else(String::new, |linked| linked.without_foreign(shard));
        let sql = format!(
            "SELECT path, {}, {} FROM (SELECT path, host, links, root_start_ns, \
             start_ns + elapsed_ns - root_start_ns AS duration FROM unusual_rows \
             WHERE (minute, version) IN ({}) AND path IN ({}){without}) WHERE {} GROUP BY path",
            marked(bits::ANCESTOR_MISSING, "incomplete"),
            marked(bits::BEFORE_PARENT, "before_parent"),
            unusual.join(","),
            quoted_list(&plan.wanted.paths),
            wanted(question, "root_start_ns", "duration"),
        );
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (paths, incomplete) = (rows.texts("path")?, rows.ids("incomplete")?);
            let before = rows.ids("before_parent")?;
            for row in 0..batch.num_rows() {
                self.of(paths.value(row)).counts.add(&Counts {
                    incomplete: incomplete[row],
                    before_parent: before[row],
                    ..Counts::default()
                });
            }
            Ok(())
        })
    }

    fn merge(&mut self, other: Self) {
        for (path, theirs) in other.by_path {
            let mine = self.of(&path);
            mine.durations_ns.extend(theirs.durations_ns);
            mine.counts.add(&theirs.counts);
            mine.rows += theirs.rows;
            theirs.starts_ns.into_iter().for_each(|starts| mine.cover(starts));
        }
    }
}
