//! How many rows of each minute the shards have.

use super::missing::Missing;
use super::sql::between;
use chronoscope_clickhouse::{ClickHouseError, Cluster, Node, ResultRows};
use chronoscope_model::Flags;
use chronoscope_store::Minute;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

const FOREIGN: u8 = Flags::FOREIGN.0;
const LINKED: u8 = Flags::FURTHER_PARENTS.0;

/// Rows of a minute on a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MinuteRows {
    /// All of them.
    pub(super) rows: u64,
    /// Those without ancestors.
    pub(super) foreign: u64,
    /// Those with further parents.
    pub(super) links: u64,
    /// The version of what was linked of them, where that matters; else 0.
    pub(super) linked: u64,
}

impl MinuteRows {
    /// Those with ancestors.
    pub(super) const fn native(&self) -> u64 {
        self.rows.saturating_sub(self.foreign)
    }
}

/// Rows by minute and shard.
pub(super) type RowCounts = BTreeMap<i64, Vec<MinuteRows>>;

/// Number of rows of each minute in some ranges, by shard; of minutes that have any.
pub(super) fn count_rows(
    cluster: &Cluster,
    ranges: &[RangeInclusive<i64>],
) -> Result<RowCounts, ClickHouseError> {
    let sql = counts_sql(ranges);
    let by_shard = cluster.on_all(|shard, node| Ok((shard, counts(node, &sql)?)))?;
    Ok(by_minute(by_shard, cluster.shard_count()))
}

/// The same of the shards that answer; the others have none, and are in `missing`.
pub(super) fn count_reachable_rows(
    cluster: &Cluster,
    missing: &mut Missing,
    ranges: &[RangeInclusive<i64>],
) -> Result<RowCounts, ClickHouseError> {
    let sql = counts_sql(ranges);
    let asked = |shard: usize, node: &Node| Ok((shard, counts(node, &sql)?));
    let by_shard = cluster.ask_all(&mut missing.0, asked)?;
    Ok(by_minute(by_shard, cluster.shard_count()))
}

/// In the words of the projection `minute_rows` of the table, so that the server answers from it.
pub(super) fn counts_sql(ranges: &[RangeInclusive<i64>]) -> String {
    let ranges = joined(ranges);
    let wanted: Vec<_> = ranges.iter().map(|range| between("minute", range)).collect();
    format!(
        "SELECT minute, count() AS rows, countIf(bitAnd(flags, {FOREIGN}) != 0) AS foreign_rows, \
         countIf(bitAnd(flags, {LINKED}) != 0) AS linking_rows \
         FROM transactions WHERE {} GROUP BY minute",
        wanted.join(" OR ")
    )
}

pub(super) fn counts(node: &Node, sql: &str) -> Result<Vec<(i64, MinuteRows)>, ClickHouseError> {
    let mut counts = Vec::new();
    node.query(sql, |batch| {
        let rows = ResultRows { node, batch };
        let (all, foreign) = (rows.ids("rows")?, rows.ids("foreign_rows")?);
        let links = rows.ids("linking_rows")?;
        for (row, minute) in rows.times("minute")?.iter().enumerate() {
            let (rows, foreign, links) = (all[row], foreign[row], links[row]);
            counts.push((*minute, MinuteRows { rows, foreign, links, linked: 0 }));
        }
        Ok(())
    })?;
    Ok(counts)
}

pub(super) fn by_minute(
    by_shard: Vec<(usize, Vec<(i64, MinuteRows)>)>,
    shards: usize,
) -> RowCounts {
    let mut all = RowCounts::new();
    for (shard, counts) in by_shard {
        for (minute, rows) in counts {
            all.entry(minute).or_insert_with(|| vec![MinuteRows::default(); shards])[shard] = rows;
        }
    }
    all
}

/// The same minutes in as few ranges as possible, ascending.
fn joined(ranges: &[RangeInclusive<i64>]) -> Vec<RangeInclusive<i64>> {
    let mut ranges = ranges.to_vec();
    ranges.sort_unstable_by_key(|range| *range.start());
    let mut joined: Vec<RangeInclusive<i64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if *range.start() <= last.end().saturating_add(1) => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// The minutes that a range of instants (UTC, nanoseconds since 1970) touches.
pub(super) fn minutes_of(range: &Range<i64>) -> RangeInclusive<i64> {
    Minute::of(range.start).0..=Minute::of(range.end.saturating_sub(1)).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_ranges_are_one() {
        let ranges = [7..=7, 1..=2, 3..=4, 9..=i64::MAX, 2..=3, 10..=11];
        assert_eq!(joined(&ranges), [1..=4, 7..=7, 9..=i64::MAX]);
    }
}
