//! The rows of each path minute by minute: from sketches where they hold, else counted.

use super::buckets::{BUCKET, BUCKET_SUMS, BucketCounts, add_buckets, bucket_of};
use super::sketched::{SketchHistograms, Sketched, of_minutes, sketch_sums};
use crate::cluster::ClusterView;
use arrow_array::types::UInt8Type;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_model::{ClassName, Flags};
use chronoscope_store::Minute;
use std::collections::{BTreeMap, BTreeSet};

const FOREIGN: u8 = Flags::FOREIGN.0;
/// Time from the start of the root to the end: of rows that know their root.
const SINCE_ROOT: &str = "(toUnixTimestamp64Nano(start) + elapsed_ns \
    - toUnixTimestamp64Nano(root_start))";

/// The rows of one path in one minute.
#[derive(Clone, Debug, Default)]
pub struct PathMinuteRows {
    /// Their elapsed times.
    pub elapsed: BucketCounts,
    /// Times from the start of the root to their ends; of rows that know their root, and whose clock
    /// does not show them as ended before.
    pub since_root: BucketCounts,
}

/// A path in a minute: the minute, the path's text (empty for rows without a path), the class of the
/// rows, and whether they are foreign.
pub type PathMinuteKey = (Minute, String, ClassName, bool);

type ByPath = BTreeMap<PathMinuteKey, PathMinuteRows>;

/// The columns of a [`PathMinuteKey`].
const KEY: &str = "minute, application, class, path, foreign_row";

impl ClusterView {
    /// Rows by path in these minutes.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn path_minutes(
        &self,
        minutes: &[Minute],
    ) -> Result<BTreeMap<PathMinuteKey, PathMinuteRows>, ClickHouseError> {
        let wanted: BTreeSet<i64> = minutes.iter().map(|minute| minute.0).collect();
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
            return Ok(ByPath::new());
        };
        let list = wanted.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let by_shard = self.cluster().on_all(|_, node| {
            let of_sketches = |sketched: &Sketched| of_sketches(node, sketched, &list);
            let is_wanted = |minute| wanted.contains(&minute);
            let (mut found, rest) = of_minutes(node, &(*first..=*last), &is_wanted, of_sketches)?;
            if let Some(minutes) = rest {
                let condition = format!("minute IN ({list}) AND ({minutes})");
                merge(&mut found, of_rows(node, &condition)?);
            }
            Ok(found)
        })?;
        let mut all = ByPath::new();
        by_shard.into_iter().for_each(|theirs| merge(&mut all, theirs));
        Ok(all)
    }
}

fn merge(all: &mut ByPath, theirs: ByPath) {
    for (key, rows) in theirs {
        let mine = all.entry(key).or_default();
        mine.elapsed.merge(&rows.elapsed);
        mine.since_root.merge(&rows.since_root);
    }
}

/// What sketches counted in these minutes, and the number of rows.
fn of_sketches(
    node: &Node,
    sketched: &Sketched,
    minutes: &str,
) -> Result<(ByPath, u64), ClickHouseError> {
    let sql = format!(
        "SELECT {KEY}, sum(elapsed_count) AS rows, {}, {} FROM sketches \
         WHERE minute IN ({minutes}) AND {} GROUP BY {KEY}",
        sketch_sums("elapsed"),
        sketch_sums("since_root"),
        sketched.condition()
    );
    let (mut found, mut counted) = (ByPath::new(), 0);
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        counted += rows.ids("rows")?.iter().sum::<u64>();
        let keys = keys(&rows)?;
        let elapsed = SketchHistograms::new(&rows, "elapsed")?;
        let since_root = SketchHistograms::new(&rows, "since_root")?;
        for (row, key) in keys.into_iter().enumerate() {
            let (elapsed, since_root) = (elapsed.of(row)?, since_root.of(row)?);
            found.insert(key, PathMinuteRows { elapsed, since_root });
        }
        Ok(())
    })?;
    Ok((found, counted))
}

/// The same of rows that fulfil a condition.
fn of_rows(node: &Node, condition: &str) -> Result<ByPath, ClickHouseError> {
    let is_foreign = format!("toUInt8(bitAnd(flags, {FOREIGN}) != 0) AS foreign_row");
    let select = |value: &str, further: &str| {
        let of = bucket_of(value);
        format!(
            "{of} SELECT minute, application, class, path, {is_foreign}, {BUCKET}, {BUCKET_SUMS} \
             FROM transactions WHERE {condition}{further} GROUP BY {KEY}, doubling, sub_bucket"
        )
    };
    let mut found = ByPath::new();
    for (key, sums) in by_path(node, &select("elapsed_ns", ""))? {
        found.entry(key).or_default().elapsed = sums;
    }
    let knows_root = format!(" AND bitAnd(flags, {FOREIGN}) = 0 AND {SINCE_ROOT} >= 0");
    for (key, sums) in by_path(node, &select(SINCE_ROOT, &knows_root))? {
        found.entry(key).or_default().since_root = sums;
    }
    Ok(found)
}

fn by_path(
    node: &Node,
    sql: &str,
) -> Result<BTreeMap<PathMinuteKey, BucketCounts>, ClickHouseError> {
    let mut found: BTreeMap<PathMinuteKey, BucketCounts> = BTreeMap::new();
    node.query(sql, |batch| {
        let rows = ResultRows { node, batch };
        for (row, key) in keys(&rows)?.into_iter().enumerate() {
            add_buckets(&rows, row, found.entry(key).or_default())?;
        }
        Ok(())
    })?;
    Ok(found)
}

/// The keys of an answer with [`KEY`].
fn keys(rows: &ResultRows<'_>) -> Result<Vec<PathMinuteKey>, ClickHouseError> {
    let (minutes, paths) = (rows.times("minute")?, rows.texts("path")?);
    let (applications, classes) = (rows.texts("application")?, rows.texts("class")?);
    let foreign = rows.numbers::<UInt8Type>("foreign_row")?;
    let key = |(row, minute): (usize, &i64)| {
        let class = ClassName {
            application: applications.value(row).to_owned(),
            class: classes.value(row).to_owned(),
        };
        (Minute(*minute), paths.value(row).to_owned(), class, foreign[row] != 0)
    };
    Ok(minutes.iter().enumerate().map(key).collect())
}
