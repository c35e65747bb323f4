//! Deleting versions that no reader can need any more.
//!
//! Three kinds are deleted: versions that another one replaced longer than a grace ago, versions that
//! were written and never published (their writer was killed, or another one was faster), and lines
//! of `linkings` about minutes that are gone.
//!
//! A deletion is a linking of its own, without cells: it takes the number that follows. So whoever
//! was linking meanwhile cannot publish what it wrote, and nothing that could still be published is
//! deleted. Its line says up to which number replaced versions are gone, so that a reader that
//! began before finds out afterwards ([`Cluster::pruned_until`]).

use super::linkings::{NO_MINUTE, Publication, new_version};
use super::links_tables::CHAIN_LINKS;
use crate::cluster::Cluster;
use crate::error::ClickHouseError;
use crate::http::Node;
use crate::rows::ResultRows;
use crate::shared::inserts::DELETED_AT_THIS_COPY;
use arrow_array::types::UInt32Type;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Versions, or lines, that are named in one statement.
const AT_ONCE: usize = 5_000;
/// The tables that have rows of versions.
const TABLES: [&str; 3] = ["linked_rows", "foreign_chains", CHAIN_LINKS];

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrunedLinkings {
    /// Versions of a minute on a shard that another one had replaced.
    pub replaced: u64,
    /// Versions of a minute on a shard that were never published.
    pub unpublished: u64,
    /// Lines about minutes that have no rows any more.
    pub gone: u64,
}

/// A minute's version.
type MinuteVersion = (i64, u64);

/// What is to be deleted.
#[derive(Debug, Default)]
struct Superfluous {
    /// By shard.
    replaced: Vec<BTreeSet<MinuteVersion>>,
    unpublished: Vec<BTreeSet<MinuteVersion>>,
    /// Lines of `linkings` by minute, shard and number.
    lines: Vec<(i64, u32, u64)>,
    gone: Vec<(i64, u32, u64)>,
}

impl Cluster {
    /// Deletes what was replaced by a linking that is older than `grace`, in all minutes; and in the
    /// `minutes` given (since 1970) what was never published. Any number of processes may do so, also
    /// while others link: those try again.
    ///
    /// Rows that are deleted are invisible at once, and leave the disks when the servers merge their
    /// parts. Cost: `linkings` is read, and of the other tables minute and version in these minutes.
    ///
    /// # Errors
    /// [`ClickHouseError`]; a part may be deleted, and the next time the rest is.
    pub fn prune_linkings(
        &self,
        minutes: &RangeInclusive<i64>,
        grace: Duration,
    ) -> Result<PrunedLinkings, ClickHouseError> {
        let before = self.newest_linking()?;
        let until = self.replaced_until(grace)?;
        if before.sequence == 0 {
            return Ok(PrunedLinkings::default());
        }
        // Listed before the publication: who would publish them now cannot any more.
        let unpublished = self.unpublished(minutes)?;
        let mut superfluous = Superfluous { unpublished, ..Superfluous::default() };
        superfluous.find_replaced(self, until)?;
        superfluous.find_gone(self, until)?;
        let count = |of: &[BTreeSet<MinuteVersion>]| of.iter().map(|of| of.len() as u64).sum();
        let pruned = PrunedLinkings {
            replaced: count(&superfluous.replaced),
            unpublished: count(&superfluous.unpublished),
            gone: superfluous.gone.len() as u64,
        };
        if pruned == PrunedLinkings::default() {
            return Ok(pruned);
        }
        let publication = Publication {
            version: new_version(),
            aliases: before.aliases,
            aliases_until_ns: before.aliases_until_ns,
            cells: BTreeMap::new(),
        };
        if !self.publish_pruning(&before, &publication, until)? {
            return Ok(PrunedLinkings::default());
        }
        let versions = superfluous.replaced.iter().zip(&superfluous.unpublished);
        for ((replaced, unpublished), node) in versions.zip(self.nodes()) {
            let versions: Vec<MinuteVersion> = replaced.union(unpublished).copied().collect();
            for some in versions.chunks(AT_ONCE) {
                TABLES.iter().try_for_each(|table| delete_versions(node, table, some))?;
            }
        }
        let lines: Vec<_> = superfluous.lines.iter().chain(&superfluous.gone).collect();
        for some in lines.chunks(AT_ONCE) {
            let some: Vec<String> = some.iter().map(|line| format!("{line:?}")).collect();
            let some = some.join(",");
            let sql = format!("DELETE FROM linkings WHERE (minute, shard, sequence) IN ({some})");
            self.nodes()[0].execute(&DELETED_AT_THIS_COPY, &sql)?;
        }
        Ok(pruned)
    }

    /// Up to which number replaced versions are deleted: who reads linkings of this number or a later
    /// one reads all of their rows. 0 where nothing was deleted.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn pruned_until(&self) -> Result<u64, ClickHouseError> {
        let (minute, shard) = NO_MINUTE;
        let sql = format!(
            "SELECT max(rows) AS pruned FROM linkings WHERE minute = {minute} AND shard = {shard} \
             SETTINGS select_sequential_consistency = 1"
        );
        let mut pruned = 0;
        let node = &self.nodes()[0];
        node.query(&sql, |batch| {
            pruned = ResultRows { node, batch }.ids("pruned")?.first().copied().unwrap_or(pruned);
            Ok(())
        })?;
        Ok(pruned)
    }

    /// The last linking that was published longer than `grace` ago, by the first shard's clock.
    fn replaced_until(&self, grace: Duration) -> Result<u64, ClickHouseError> {
        let node = &self.nodes()[0];
        let sql = format!(
            "SELECT max(sequence) AS until FROM linkings WHERE at <= now() - {}",
            grace.as_secs()
        );
        let mut until = 0;
        node.query(&sql, |batch| {
            until = ResultRows { node, batch }.ids("until")?.first().copied().unwrap_or(until);
            Ok(())
        })?;
        Ok(until)
    }

    /// By shard, the versions in some minutes that no linking has.
    fn unpublished(
        &self,
        minutes: &RangeInclusive<i64>,
    ) -> Result<Vec<BTreeSet<MinuteVersion>>, ClickHouseError> {
        let within = format!("minute BETWEEN {} AND {}", minutes.start(), minutes.end());
        let each = TABLES
            .map(|table| format!("SELECT DISTINCT minute, version FROM {table} WHERE {within}"));
        let sql = each.join(" UNION DISTINCT ");
        let mut stored = self.on_all(|_, node| {
            let mut versions = BTreeSet::new();
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let both = rows.times("minute")?.iter().zip(rows.ids("version")?);
                versions.extend(both.map(|(minute, version)| (*minute, *version)));
                Ok(())
            })?;
            Ok(versions)
        })?;
        // Read after them: one that is published meanwhile is none of them.
        let node = &self.nodes()[0];
        let sql = format!(
            "SELECT minute, shard, version FROM linkings WHERE {within} \
             SETTINGS select_sequential_consistency = 1"
        );
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (shards, versions) = (rows.numbers::<UInt32Type>("shard")?, rows.ids("version")?);
            for (row, minute) in rows.times("minute")?.iter().enumerate() {
                if let Some(of_shard) = stored.get_mut(shards[row] as usize) {
                    of_shard.remove(&(*minute, versions[row]));
                }
            }
            Ok(())
        })?;
        Ok(stored)
    }
}

fn delete_versions(
    node: &Node,
    table: &str,
    versions: &[MinuteVersion],
) -> Result<(), ClickHouseError> {
    let (Some((first, _)), Some((last, _))) = (versions.first(), versions.last()) else {
        return Ok(());
    };
    let pairs: Vec<String> = versions.iter().map(|pair| format!("{pair:?}")).collect();
    let sql = format!(
        "DELETE FROM {table} WHERE minute BETWEEN {first} AND {last} \
         AND (minute, version) IN ({})",
        pairs.join(",")
    );
    node.execute(&DELETED_AT_THIS_COPY, &sql).map(drop)
}

impl Superfluous {
    /// Finds the lines of cells that have a later line of a number up to `until`.
    fn find_replaced(&mut self, cluster: &Cluster, until: u64) -> Result<(), ClickHouseError> {
        let node = &cluster.nodes()[0];
        self.replaced = vec![BTreeSet::new(); cluster.shard_count()];
        let sql = format!(
            "SELECT minute, shard, sequence, version, rows, \
             max(sequence) OVER (PARTITION BY minute, shard) AS newest, \
             max(rows) OVER (PARTITION BY minute, shard) AS most \
             FROM linkings WHERE sequence <= {until} AND (minute, shard) IN \
             (SELECT minute, shard FROM linkings WHERE sequence <= {until} \
             GROUP BY minute, shard HAVING count() > 1) \
             SETTINGS select_sequential_consistency = 1"
        );
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (minutes, shards) = (rows.times("minute")?, rows.numbers::<UInt32Type>("shard")?);
            let (sequences, newest) = (rows.ids("sequence")?, rows.ids("newest")?);
            let (versions, counts) = (rows.ids("version")?, rows.ids("rows")?);
            let most = rows.ids("most")?;
            for row in 0..minutes.len() {
                let (minute, shard, sequence) = (minutes[row], shards[row], sequences[row]);
                // What readers find out by stays, though a later line is of no minute either.
                let says_until = (minute, shard) == NO_MINUTE && counts[row] == most[row];
                if sequence == newest[row] || (says_until && most[row] > 0) {
                    continue;
                }
                self.lines.push((minute, shard, sequence));
                if let Some(of_shard) = self.replaced.get_mut(shard as usize) {
                    of_shard.insert((minute, versions[row]));
                }
            }
            Ok(())
        })
    }

    /// Finds cells without anything, of which nothing else is left that they replaced.
    fn find_gone(&mut self, cluster: &Cluster, until: u64) -> Result<(), ClickHouseError> {
        let node = &cluster.nodes()[0];
        let (no_minute, _) = NO_MINUTE;
        let sql = format!(
            "SELECT minute, shard, max(sequence) AS newest FROM linkings \
             WHERE minute != {no_minute} GROUP BY minute, shard \
             HAVING count() = 1 AND newest <= {until} \
             AND sum(rows + foreign_rows + linked + chains + links) = 0 \
             SETTINGS select_sequential_consistency = 1"
        );
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (minutes, shards) = (rows.times("minute")?, rows.numbers::<UInt32Type>("shard")?);
            for (row, newest) in rows.ids("newest")?.iter().enumerate() {
                self.gone.push((minutes[row], shards[row], *newest));
            }
            Ok(())
        })
    }
}
