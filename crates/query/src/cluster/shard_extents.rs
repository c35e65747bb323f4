//! How many leaves of each path there are on a shard, and from when to when: of whole minutes from
//! counts that were made when they were linked.

use super::leaf_tables::LeafTables;
use crate::chunk::both;
use arrow_array::types::UInt64Type;
use chronoscope_chain::Counts;
use chronoscope_chain::links::bits;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use std::collections::HashMap;

/// The leaves of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct PathExtent {
    pub(super) counts: Counts,
    /// First and last start of the roots of those that are used.
    pub(super) starts_ns: Option<(i64, i64)>,
    /// Shortest and longest of those that are used; the shortest is below 0 where a minute does not
    /// tell it ([`shortest`] does).
    pub(super) durations_ns: Option<(i64, i64)>,
}

/// By the path as rows have it.
pub(super) type PathExtents = HashMap<String, PathExtent>;

/// What a table of leaves says of its rows.
const OF_ROWS: &str = "countIf(duration >= 0) AS used, countIf(duration < 0) AS negatives, \
    minIf(root_ns, duration >= 0) AS first_root, maxIf(root_ns, duration >= 0) AS last_root, \
    minIf(duration, duration >= 0) AS shortest, maxIf(duration, duration >= 0) AS longest";

/// The same from counts of whole minutes. Of paths whose durations are all negative first and last
/// mean nothing.
const OF_MINUTES: &str = "toUInt64(sum(rows) - sum(negative)) AS used, sum(negative) AS negatives, \
    minIf(first_ns, rows > negative) AS first_root, maxIf(last_ns, rows > negative) AS last_root, \
    minIf(shortest_ns, rows > negative) AS shortest, max(longest_ns) AS longest, \
    toUInt64(0) AS before_parent, toUInt64(0) AS assembled";

/// The number of used durations with a mark.
pub(super) fn marked(mark: u8, name: &str) -> String {
    format!("countIf(duration >= 0 AND bitAnd(links, {mark}) != 0) AS {name}")
}

/// The leaves of a question on a shard.
pub(super) fn extents(
    node: &Node,
    tables: &LeafTables<'_>,
    shard: usize,
) -> Result<PathExtents, ClickHouseError> {
    let (counted, rest) = tables.counted(shard);
    let marks = format!(
        "{}, {}",
        marked(bits::BEFORE_PARENT, "before_parent"),
        marked(bits::ASSEMBLED, "assembled")
    );
    let of_rows = tables.native(shard, &rest).into_iter().chain(tables.linked(shard));
    let of_rows = of_rows
        .map(|table| format!("SELECT path, {OF_ROWS}, {marks} FROM ({table}) GROUP BY path"));
    let of_minutes = counted.map(|condition| {
        format!("SELECT path, {OF_MINUTES} FROM path_extents WHERE {condition} GROUP BY path")
    });
    let mut found = PathExtents::new();
    for sql in of_minutes.into_iter().chain(of_rows) {
        node.query(&sql, |batch| add(&ResultRows { node, batch }, &mut found))?;
    }
    add_unusual(node, tables, shard, &mut found)?;
    Ok(found)
}

/// The shortest duration on a shard that is used, of all rows; `None` without any.
pub(super) fn shortest(
    node: &Node,
    tables: &LeafTables<'_>,
    shard: usize,
) -> Result<Option<i64>, ClickHouseError> {
    let Some(table) = tables.all(shard) else { return Ok(None) };
    let sql = format!(
        "SELECT count() AS used, min(duration) AS shortest FROM {table} WHERE duration >= 0"
    );
    let mut found = None;
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        let (used, shortest) = (rows.ids("used")?, rows.times("shortest")?);
        found = used.iter().zip(shortest).find(|(used, _)| **used > 0).map(|(_, ns)| *ns).or(found);
        Ok(())
    })?;
    Ok(found)
}

fn add(rows: &ResultRows<'_>, found: &mut PathExtents) -> Result<(), ClickHouseError> {
    let (paths, used, negative) = (rows.texts("path")?, rows.ids("used")?, rows.ids("negatives")?);
    let (first, last) = (rows.times("first_root")?, rows.times("last_root")?);
    let (shortest, longest) = (rows.times("shortest")?, rows.times("longest")?);
    let (before, assembled) =
        (rows.numbers::<UInt64Type>("before_parent")?, rows.numbers::<UInt64Type>("assembled")?);
    for row in 0..rows.batch.num_rows() {
        let extent = found.entry(paths.value(row).to_owned()).or_default();
        extent.counts.add(&Counts {
            used: used[row],
            negative: negative[row],
            before_parent: before[row],
            foreign: assembled[row],
            ..Counts::default()
        });
        if used[row] > 0 {
            extent.starts_ns = both(extent.starts_ns, Some((first[row], last[row])));
            extent.durations_ns = both(extent.durations_ns, Some((shortest[row], longest[row])));
        }
    }
    Ok(())
}

/// Counts the native rows of which something is wrong; they are counted as used already.
fn add_unusual(
    node: &Node,
    tables: &LeafTables<'_>,
    shard: usize,
    found: &mut PathExtents,
) -> Result<(), ClickHouseError> {
    let Some(table) = tables.unusual(shard) else { return Ok(()) };
    let sql = format!(
        "SELECT path, {}, {} FROM {table} GROUP BY path",
        marked(bits::ANCESTOR_MISSING, "incomplete"),
        marked(bits::BEFORE_PARENT, "before_parent"),
    );
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        let (paths, incomplete) = (rows.texts("path")?, rows.ids("incomplete")?);
        let before = rows.ids("before_parent")?;
        for row in 0..batch.num_rows() {
            found.entry(paths.value(row).to_owned()).or_default().counts.add(&Counts {
                incomplete: incomplete[row],
                before_parent: before[row],
                ..Counts::default()
            });
        }
        Ok(())
    })
}
