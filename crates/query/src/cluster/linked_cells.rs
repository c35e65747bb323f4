//! Which linked chains a question reads, and which it puts together itself.

use super::row_counts::RowCounts;
use crate::question::Limits;
use chronoscope_clickhouse::{ClickHouseError, Cluster, Linkings};
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Longest time between the starts of rows of a chain that is linked: the default of
/// [`crate::Limits::foreign_reach`].
pub(super) const SPAN_NS: i64 = 600_000_000_000;

/// The linked chains of the minutes that a question needs, all of them at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkedCells {
    linkings: Linkings,
    shards: usize,
}

impl Hash for LinkedCells {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // What rows are left out depends on all cells with chains.
        for (at, cell) in self.linkings.cells.iter().filter(|(_, cell)| cell.chains > 0) {
            (at, cell.version).hash(state);
        }
    }
}

impl LinkedCells {
    /// The linked chains of some minutes; `None` where not all of them are linked as they are now.
    pub(super) fn of(
        cluster: &Cluster,
        minutes: &RangeInclusive<i64>,
        counts: &RowCounts,
        limits: &Limits,
    ) -> Result<Option<Self>, ClickHouseError> {
        // Of a chain that reaches further a question sees a part.
        if limits.foreign_reach < Duration::from_nanos(SPAN_NS.unsigned_abs()) {
            return Ok(None);
        }
        let linkings = cluster.linkings(minutes)?;
        let shards = cluster.shard_count();
        let is_current = |minute: &i64, shard: usize| {
            let now = counts.get(minute).map(|rows| rows[shard]).unwrap_or_default();
            let known = linkings.cells.get(&(*minute, shard)).copied().unwrap_or_default();
            (now.rows, now.foreign) == (known.rows, known.foreign)
        };
        let of_cells = linkings.cells.keys().map(|(minute, _)| minute);
        let current = counts
            .keys()
            .chain(of_cells)
            .all(|minute| (0..shards).all(|shard| is_current(minute, shard)));
        Ok(current.then_some(Self { linkings, shards }))
    }

    /// Whether chains were linked under the aliases with this fingerprint.
    pub(super) const fn is_under(&self, aliases: u64) -> bool {
        self.linkings.aliases == aliases
    }

    /// The version of a minute's linked rows on a shard; 0 without any.
    pub(super) fn version(&self, minute: i64, shard: usize) -> u64 {
        let cell = self.linkings.cells.get(&(minute, shard));
        cell.filter(|cell| cell.linked > 0).map_or(0, |cell| cell.version)
    }

    /// The minutes among some that have linked rows on a shard, with their versions, in SQL; `None`
    /// without any.
    pub(super) fn listed(&self, minutes: &[i64], shard: usize) -> Option<String> {
        let cells = minutes.iter().map(|minute| (minute, self.version(*minute, shard)));
        let cells = cells.filter(|(_, version)| *version > 0);
        let cells: Vec<String> =
            cells.map(|(minute, version)| format!("({minute},{version})")).collect();
        (!cells.is_empty()).then(|| cells.join(","))
    }

    /// Whether any shard has chains of which not all is said by linked rows.
    pub(super) fn has_chains(&self) -> bool {
        (0..self.shards).any(|shard| self.chains(shard, "1").is_some())
    }

    /// The SQL of the chains of a shard for which a condition holds, by id and by component; `None`
    /// without any.
    fn chains(&self, shard: usize, condition: &str) -> Option<String> {
        let cells = self.linkings.cells.iter();
        let cells = cells.filter(|((_, of), cell)| *of == shard && cell.chains > 0);
        let cells: Vec<String> =
            cells.map(|((minute, _), cell)| format!("({minute},{})", cell.version)).collect();
        (!cells.is_empty()).then(|| {
            format!(
                "FROM foreign_chains WHERE (minute, version) IN ({}) AND {condition}",
                cells.join(",")
            )
        })
    }

    /// The condition that leaves out rows of native chains that have foreign rows too.
    pub(super) fn without_foreign(&self, shard: usize) -> String {
        self.chains(shard, "1").map_or_else(String::new, |chains| {
            format!(" AND (chain_high, chain_low) NOT IN (SELECT chain_high, chain_low {chains})")
        })
    }

    /// The condition that leaves out linked rows of chains that are loose somewhere else.
    pub(super) fn without_loose(&self, shard: usize) -> String {
        self.chains(shard, "loose").map_or_else(String::new, |chains| {
            format!(
                " AND (component_high, component_low) NOT IN \
                 (SELECT component_high, component_low {chains})"
            )
        })
    }

    /// The condition of rows of loose chains; `None` where the shard has none.
    pub(super) fn is_loose(&self, shard: usize) -> Option<String> {
        let chains = self.chains(shard, "loose")?;
        Some(format!("(chain_high, chain_low) IN (SELECT chain_high, chain_low {chains})"))
    }
}
