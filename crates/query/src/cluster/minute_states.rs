//! What the shards have of each minute: how many rows, and of which version of it the chains are linked.
//! One statement on each shard, because every question begins with it.

use super::row_counts::{MinuteRows, RowCounts, by_minute, counts_sql};
use arrow_array::types::UInt8Type;
use chronoscope_clickhouse::{
    ClickHouseError, Cluster, Node, ResultRows, SealedMinute, sealed_sql,
};
use chronoscope_store::Minute;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// What is there of some minutes.
pub(super) struct MinuteStates {
    /// Rows of the minutes within reach.
    pub(super) around: RowCounts,
    /// The newest versions of the minutes in which roots may have started, by shard.
    pub(super) sealed: Vec<BTreeMap<i64, SealedMinute>>,
    /// From the first minute that has rows to the end of the last one, of all time.
    pub(super) extent: Option<Range<i64>>,
}

/// The same of one shard; the extent as its first and last minute.
#[derive(Default)]
struct OfShard {
    counts: Vec<(i64, MinuteRows)>,
    sealed: BTreeMap<i64, SealedMinute>,
    first: Option<i64>,
    last: Option<i64>,
}

impl MinuteStates {
    /// Asks for the rows of the minutes within reach, and for the versions of those in which roots may
    /// have started.
    pub(super) fn read(
        cluster: &Cluster,
        reach: &RangeInclusive<i64>,
        minutes: &RangeInclusive<i64>,
    ) -> Result<Self, ClickHouseError> {
        // The first and the last minute are answered from the parts' own bounds, without a scan.
        let sql = format!(
            "SELECT toUInt8(0) AS kind, minute, rows AS a, foreign_rows AS b, linking_rows AS c, \
             toUInt64(0) AS d FROM ({}) UNION ALL \
             SELECT 1, minute, newest, newest_rows, newest_unusual, newest_durations FROM ({}) \
             UNION ALL SELECT 2, min(minute), 0, 0, 0, 0 FROM transactions HAVING count() > 0 \
             UNION ALL SELECT 3, max(minute), 0, 0, 0, 0 FROM transactions HAVING count() > 0",
            counts_sql(std::slice::from_ref(reach)),
            sealed_sql(minutes)
        );
        let by_shard = cluster.on_all(|shard, node| Ok((shard, OfShard::read(node, &sql)?)))?;
        let first = by_shard.iter().filter_map(|(_, of)| of.first).min();
        let last = by_shard.iter().filter_map(|(_, of)| of.last).max();
        let (mut counts, mut sealed) = (Vec::new(), Vec::new());
        for (shard, of) in by_shard {
            counts.push((shard, of.counts));
            sealed.push(of.sealed);
        }
        let extent = first.zip(last);
        Ok(Self {
            around: by_minute(counts, cluster.shard_count()),
            sealed,
            extent: extent.map(|(first, last)| Minute(first).start_ns()..Minute(last).end_ns()),
        })
    }
}

impl OfShard {
    fn read(node: &Node, sql: &str) -> Result<Self, ClickHouseError> {
        let mut found = Self::default();
        node.query(sql, |batch| {
            let rows = ResultRows { node, batch };
            let (kinds, minutes) = (rows.numbers::<UInt8Type>("kind")?, rows.times("minute")?);
            let (a, b) = (rows.ids("a")?, rows.ids("b")?);
            let (c, d) = (rows.ids("c")?, rows.ids("d")?);
            for (row, minute) in minutes.iter().enumerate() {
                let (a, b, c, d) = (a[row], b[row], c[row], d[row]);
                match kinds[row] {
                    0 => {
                        let rows = MinuteRows { rows: a, foreign: b, links: c, linked: 0 };
                        found.counts.push((*minute, rows));
                    }
                    1 => {
                        let sealed = SealedMinute { version: a, rows: b, unusual: c, durations: d };
                        found.sealed.insert(*minute, sealed);
                    }
                    2 => found.first = Some(*minute),
                    _ => found.last = Some(*minute),
                }
            }
            Ok(())
        })?;
        Ok(found)
    }
}
