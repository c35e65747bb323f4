//! Minutes whose native chains were linked: which rows have a chain that is not whole.
//!
//! A row tells its path, its root's start and its level by itself. What it cannot tell is whether its
//! ancestors are there and whether it started before its parent. Rows of which that is so are few;
//! they are stored once more, with what was found, under a version of their minute. A version holds
//! for the rows that its minute had then: where the number has changed, it says nothing.

use crate::cluster::Cluster;
use crate::error::ClickHouseError;
use crate::insert::escaped;
use crate::rows::ResultRows;
use chronoscope_model::ChainId;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// A native row of which something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusualRow {
    /// The path in words.
    pub path: String,
    /// The root's class, as the column `top` has it.
    pub top: String,
    /// The host, and that of the root; empty where they are not known.
    pub hosts: [String; 2],
    /// The row's chain.
    pub chain: ChainId,
    /// The row's id.
    pub id: u64,
    /// Start: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Elapsed time, in nanoseconds.
    pub elapsed_ns: i64,
    /// The root's start: UTC, nanoseconds since 1970.
    pub root_start_ns: i64,
    /// Steps from the root.
    pub level: u16,
    /// What its chain says about it: `chronoscope_chain::links::bits`.
    pub links: u8,
}

/// What a version of a minute says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedMinute {
    /// Greater for what was found later.
    pub version: u64,
    /// Native rows that were linked.
    pub rows: u64,
    /// Number of [`UnusualRow`]s.
    pub unusual: u64,
    /// Rows that their durations were filled in for ([`Cluster::fill_durations`]): all, or 0 where
    /// the minute was linked by a program that did not do so.
    pub durations: u64,
}

/// The statement for the newest versions of some minutes: `minute`, and as in [`SealedMinute`] `newest`
/// (the version), `newest_rows`, `newest_unusual` and `newest_durations`.
pub fn sealed_sql(minutes: &RangeInclusive<i64>) -> String {
    format!(
        "SELECT minute, max(version) AS newest, argMax(rows, version) AS newest_rows, \
         argMax(unusual, version) AS newest_unusual, \
         argMax(durations, version) AS newest_durations FROM sealed_minutes \
         WHERE minute BETWEEN {} AND {} GROUP BY minute",
        minutes.start(),
        minutes.end()
    )
}

impl Cluster {
    /// Stores a version of a minute of a shard; readers see it whole or not at all.
    ///
    /// # Errors
    /// [`ClickHouseError`]; nothing refers to what may have been stored then.
    ///
    /// # Panics
    /// When there is no such shard.
    pub fn seal_minute(
        &self,
        shard: usize,
        minute: i64,
        sealed: SealedMinute,
        unusual: &[UnusualRow],
    ) -> Result<(), ClickHouseError> {
        let node = &self.nodes()[shard];
        let version = sealed.version;
        let mut lines = String::new();
        for row in unusual {
            let (path, top) = (escaped(&row.path), escaped(&row.top));
            let [host, root_host] = [escaped(&row.hosts[0]), escaped(&row.hosts[1])];
            let (high, low) = (row.chain.high(), row.chain.low());
            let UnusualRow { id, start_ns, elapsed_ns, root_start_ns, level, links, .. } = row;
            let _ = writeln!(
                lines,
                "{minute}\t{version}\t{top}\t{path}\t{root_start_ns}\t{start_ns}\t{elapsed_ns}\t\
                 {level}\t{links}\t{host}\t{root_host}\t{high}\t{low}\t{id}"
            );
        }
        if !lines.is_empty() {
            node.insert(&[], "INSERT INTO unusual_rows FORMAT TSV", lines.as_bytes())?;
        }
        let SealedMinute { rows, unusual, durations, .. } = sealed;
        let line = format!("{minute}\t{version}\t{rows}\t{unusual}\t{durations}\n");
        let sql =
            "INSERT INTO sealed_minutes (minute, version, rows, unusual, durations) FORMAT TSV";
        node.insert(&[], sql, line.as_bytes())
    }

    /// The newest version of each minute that has one, by shard.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn sealed_minutes(
        &self,
        minutes: &RangeInclusive<i64>,
    ) -> Result<Vec<BTreeMap<i64, SealedMinute>>, ClickHouseError> {
        let sql = sealed_sql(minutes);
        self.on_all(|_, node| {
            let mut sealed = BTreeMap::new();
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let (minutes, versions) = (rows.times("minute")?, rows.ids("newest")?);
                let (counts, unusual) = (rows.ids("newest_rows")?, rows.ids("newest_unusual")?);
                let durations = rows.ids("newest_durations")?;
                for (row, minute) in minutes.iter().enumerate() {
                    let (version, rows) = (versions[row], counts[row]);
                    let (unusual, durations) = (unusual[row], durations[row]);
                    let minute_sealed = SealedMinute { version, rows, unusual, durations };
                    sealed.insert(*minute, minute_sealed);
                }
                Ok(())
            })?;
            Ok(sealed)
        })
    }
}
