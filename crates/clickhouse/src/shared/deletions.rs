//! Deleting a range of time, and what was deleted.

use super::inserts::PLAIN;
use crate::Cluster;
use crate::error::ClickHouseError;
use crate::http::Node;
use crate::insert::escaped;
use crate::rows::ResultRows;
use chronoscope_store::{Deleted, Deletion, MINUTE_NS, RangeContent};
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// The minutes that a range touches.
fn minutes_of(range: &Range<i64>) -> RangeInclusive<i64> {
    range.start.div_euclid(MINUTE_NS)..=(range.end - 1).div_euclid(MINUTE_NS)
}

/// The durations of the rows of a range.
fn durations_within(range: &Range<i64>) -> String {
    let Range { start, end } = range;
    let minutes = minutes_of(range);
    let (first, last) = (minutes.start(), minutes.end());
    format!(
        "minute BETWEEN {first} AND {last} AND root_start_ns >= {start} AND root_start_ns < {end}"
    )
}

/// The rows of a range: by the start of their root, foreign rows by their own.
fn within(range: &Range<i64>) -> String {
    let Range { start, end } = range;
    let (first, last) = minutes_of(range).into_inner();
    let root = "toUnixTimestamp64Nano(root_start)";
    format!("minute BETWEEN {first} AND {last} AND {root} >= {start} AND {root} < {end}")
}

impl Cluster {
    /// Counts what lies in a range of time (UTC, nanoseconds since 1970). Its bytes are the share of
    /// its rows in those of each shard's table.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn range_content(&self, range: &Range<i64>) -> Result<RangeContent, ClickHouseError> {
        let within = within(range);
        let counts = format!(
            "SELECT count() AS rows, uniqExact(chain_high, chain_low) AS chains, \
             toUInt64(count() * (SELECT sum(bytes_on_disk) / greatest(sum(rows), 1) \
             FROM system.parts WHERE active AND database = currentDatabase() \
             AND table = 'transactions')) AS bytes FROM transactions WHERE {within}"
        );
        let minutes = format!("SELECT DISTINCT minute FROM transactions WHERE {within}");
        let by_shard = self.on_all(|_, node| {
            let mut content = RangeContent::default();
            node.query(&counts, |batch| {
                let rows = ResultRows { node, batch };
                for row in 0..batch.num_rows() {
                    content.rows += rows.ids("rows")?[row];
                    content.chains += rows.ids("chains")?[row];
                    content.bytes += rows.ids("bytes")?[row];
                }
                Ok(())
            })?;
            let mut of_shard = Vec::new();
            node.query(&minutes, |batch| {
                of_shard.extend_from_slice(ResultRows { node, batch }.times("minute")?);
                Ok(())
            })?;
            Ok((content, of_shard))
        })?;
        let mut all = RangeContent::default();
        let mut minutes = BTreeSet::new();
        for (content, of_shard) in by_shard {
            all.rows += content.rows;
            all.chains += content.chains; // a chain is on one shard
            all.bytes += content.bytes;
            minutes.extend(of_shard);
        }
        all.minutes = minutes.len() as u64;
        Ok(all)
    }

    /// Deletes the rows of a range of time for good, on all shards, and notes who did it. Rows that
    /// come meanwhile stay. Returns when every shard has written its files anew without them.
    ///
    /// # Errors
    /// [`ClickHouseError`]; some shards may have deleted their part then, and deleting the same range
    /// again deletes the rest.
    pub fn delete_range(
        &self,
        range: &Range<i64>,
        (by, at_ns): (&str, i64),
    ) -> Result<Deleted, ClickHouseError> {
        let content = self.range_content(range)?;
        // Noted before: a question may see rows that are about to go, and none without this.
        let (by, Range { start, end }) = (escaped(by), range);
        let line = format!("{start}\t{end}\t{at_ns}\t{}\t{by}\n", content.rows);
        let sql = "INSERT INTO deletions (from_ns, until_ns, at_ns, rows, by) FORMAT TSV";
        self.first().insert(&PLAIN, sql, line.as_bytes())?;
        let (rows, durations) = (within(range), durations_within(range));
        let delete = |node: &Node| {
            // Their minutes are linked anew, because they have fewer rows now.
            for (table, which) in [("transactions", &rows), ("durations", &durations)] {
                let sql = format!("ALTER TABLE {table} DELETE WHERE {which}");
                node.execute(&[("mutations_sync", "2")], &sql)?;
            }
            // What is left of the first and the last minute is counted anew the next time.
            node.delete_sketches(&minutes_of(range))
        };
        self.on_all(|_, node| delete(node))?;
        Ok(Deleted { rows: content.rows, bytes: content.bytes, ..Deleted::default() })
    }

    /// Ranges of which rows were deleted on request, by their beginning.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn deletions(&self) -> Result<Vec<Deletion>, ClickHouseError> {
        let node = self.first();
        let sql =
            "SELECT from_ns, until_ns, at_ns, rows, by FROM deletions ORDER BY from_ns, at_ns";
        let mut deletions = Vec::new();
        node.query(sql, |batch| {
            let rows = ResultRows { node, batch };
            for row in 0..batch.num_rows() {
                deletions.push(Deletion {
                    from_ns: rows.times("from_ns")?[row],
                    until_ns: rows.times("until_ns")?[row],
                    at_ns: rows.times("at_ns")?[row],
                    rows: rows.ids("rows")?[row],
                    by: rows.texts("by")?.value(row).to_owned(),
                });
            }
            Ok(())
        })?;
        Ok(deletions)
    }
}
