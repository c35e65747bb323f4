//! Deleting the durations of versions that another version of their minute has replaced.
//!
//! The greatest version that `sealed_minutes` has of a minute is the one that counts. So a smaller one
//! is of no use any more, whether it was published before, or its writer was killed, or it is
//! published later by one that was suspended. Who began a question before the replacement may still
//! read it: for these it stays for a grace, and [`Cluster::is_linked_anew`] tells them when they take
//! longer. A greater version may be under way, and is left alone.

use super::duration_cell;
use crate::cluster::Cluster;
use crate::error::ClickHouseError;
use crate::http::Node;
use crate::rows::ResultRows;
use crate::shared::inserts::DELETED_AT_THIS_COPY;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Versions that are named in one statement.
const AT_ONCE: usize = 5_000;
/// The tables that have rows of versions.
const TABLES: [&str; 2] = ["durations", "path_extents"];

impl Cluster {
    /// Deletes the durations of versions that were replaced longer than `grace` ago, in some minutes
    /// (since 1970); the number of versions of a minute, each on each shard. Any number of processes
    /// may do so, also while others link.
    ///
    /// Rows that are deleted are invisible at once, and leave the disks when the servers merge their
    /// parts. Cost: the minutes and versions of all durations in these minutes are read.
    ///
    /// # Errors
    /// [`ClickHouseError`]; a part may be deleted, and the next time the rest is.
    pub fn prune_durations(
        &self,
        minutes: &RangeInclusive<i64>,
        grace: Duration,
    ) -> Result<u64, ClickHouseError> {
        let by_shard = self.on_all(|_, node| {
            let replaced = replaced(node, minutes, grace)?;
            for some in replaced.chunks(AT_ONCE) {
                TABLES.iter().try_for_each(|table| delete(node, table, some))?;
            }
            Ok(replaced.len() as u64)
        })?;
        Ok(by_shard.into_iter().sum())
    }

    /// Whether any of some minutes (since 1970), linked before, was linked anew within a time: who
    /// began longer ago may have read durations that are deleted.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn is_linked_anew(
        &self,
        minutes: &RangeInclusive<i64>,
        within: Duration,
    ) -> Result<bool, ClickHouseError> {
        let sql = format!(
            "SELECT minute FROM sealed_minutes WHERE minute BETWEEN {} AND {} GROUP BY minute \
             HAVING count() > 1 AND max(at) >= now() - {} LIMIT 1",
            minutes.start(),
            minutes.end(),
            // The tables know whole seconds.
            within.as_secs() + 1
        );
        let by_shard = self.on_all(|_, node| {
            let mut is_anew = false;
            node.query(&sql, |batch| {
                is_anew |= batch.num_rows() > 0;
                Ok(())
            })?;
            Ok(is_anew)
        })?;
        Ok(by_shard.contains(&true))
    }
}

/// The replaced versions of a shard that have durations, ascending by minute.
fn replaced(
    node: &Node,
    minutes: &RangeInclusive<i64>,
    grace: Duration,
) -> Result<Vec<(i64, u64)>, ClickHouseError> {
    let within = format!("minute BETWEEN {} AND {}", minutes.start(), minutes.end());
    let mut newest = BTreeMap::new();
    let sql = format!(
        "SELECT minute, maxIf(version, at <= now() - {}) AS newest FROM sealed_minutes \
         WHERE {within} GROUP BY minute",
        grace.as_secs()
    );
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        let both = rows.times("minute")?.iter().zip(rows.ids("newest")?);
        newest.extend(both.map(|(minute, version)| (*minute, *version)));
        Ok(())
    })?;
    // A writer that was killed between the two tables has filled in one of them.
    let each =
        TABLES.map(|table| format!("SELECT DISTINCT minute, cell FROM {table} WHERE {within}"));
    let sql = format!(
        "SELECT minute, toUInt64(splitByChar('.', CAST(cell, 'String'))[2]) AS version FROM ({})",
        each.join(" UNION DISTINCT ")
    );
    let mut replaced = Vec::new();
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        let versions = rows.times("minute")?.iter().zip(rows.ids("version")?);
        let versions = versions.map(|(minute, version)| (*minute, *version));
        replaced.extend(
            versions.filter(|(minute, version)| newest.get(minute).is_some_and(|at| version < at)),
        );
        Ok(())
    })?;
    replaced.sort_unstable();
    Ok(replaced)
}

fn delete(node: &Node, table: &str, versions: &[(i64, u64)]) -> Result<(), ClickHouseError> {
    let (Some((first, _)), Some((last, _))) = (versions.first(), versions.last()) else {
        return Ok(());
    };
    let cell = |(minute, version): &(i64, u64)| format!("'{}'", duration_cell(*minute, *version));
    let cells: Vec<String> = versions.iter().map(cell).collect();
    let sql = format!(
        "DELETE FROM {table} WHERE minute BETWEEN {first} AND {last} AND cell IN ({})",
        cells.join(",")
    );
    node.execute(&DELETED_AT_THIS_COPY, &sql).map(drop)
}
