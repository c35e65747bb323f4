//! Which linked chains a question reads, and which it puts together itself.

use super::row_counts::RowCounts;
use super::sql::between;
use crate::question::Limits;
use chronoscope_clickhouse::{ClickHouseError, Cluster, Linkings, ResultRows};
use chronoscope_model::ChainId;
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Longest time between the starts of rows of a chain that is linked: the default of
/// [`crate::Limits::foreign_reach`].
pub(super) const SPAN_NS: i64 = 600_000_000_000;

/// The linked chains of the minutes that a question needs, all of them at one moment.
///
/// Some minutes may be *open*: they have rows that came after they were linked, as the last ones of
/// all do. Their rows are fetched first. Chains that have some of these, and others in minutes that are
/// not open, *straddle*: the question puts them together with all of their rows, and nothing is taken
/// of what was linked of them. Rows that come to open minutes later change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkedCells {
    linkings: Linkings,
    shards: usize,
    open: BTreeSet<i64>,
    /// By whatever id their rows are stored, and the ids of their components.
    straddling: BTreeSet<ChainId>,
}

impl Hash for LinkedCells {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // What rows are left out depends on all cells with chains. Straddling chains are told minute by
        // minute.
        for (at, cell) in self.linkings.cells.iter().filter(|(_, cell)| cell.chains > 0) {
            (at, cell.version).hash(state);
        }
    }
}

impl LinkedCells {
    /// The linked chains of some minutes; `None` where too few of these are linked as they are now, or
    /// some have lost rows since.
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
        let mut cells =
            Self { linkings, shards, open: BTreeSet::new(), straddling: BTreeSet::new() };
        let of_cells = cells.linkings.cells.keys().map(|(minute, _)| *minute);
        let all: BTreeSet<i64> = counts.keys().copied().chain(of_cells).collect();
        for minute in all {
            for shard in 0..shards {
                let now = counts.get(&minute).map(|rows| rows[shard]).unwrap_or_default();
                let known = cells.linkings.cells.get(&(minute, shard)).copied().unwrap_or_default();
                if now.rows < known.rows || now.foreign < known.foreign {
                    // What was linked in other minutes may be of rows that are gone.
                    return Ok(None);
                }
                if (now.rows, now.foreign) != (known.rows, known.foreign) {
                    cells.open.insert(minute);
                }
            }
        }
        Ok(cells.suffices(counts).then_some(cells))
    }

    /// Takes minutes for open.
    pub(super) fn open(&mut self, minutes: impl IntoIterator<Item = i64>) {
        self.open.extend(minutes);
    }

    /// Whether most rows are in minutes that are not open.
    pub(super) fn suffices(&self, counts: &RowCounts) -> bool {
        let open = self.open.iter().filter_map(|minute| counts.get(minute));
        let open: u64 = open.flatten().map(|rows| rows.rows).sum();
        open <= counts.values().flatten().map(|rows| rows.rows).sum::<u64>() / 2
    }

    /// The open minutes.
    pub(super) const fn open_minutes(&self) -> &BTreeSet<i64> {
        &self.open
    }

    /// Notes the chains that straddle, and finds the minutes that have rows of these and are not open:
    /// what is taken of them is less.
    pub(super) fn set_straddling(
        &mut self,
        cluster: &Cluster,
        minutes: &RangeInclusive<i64>,
        straddling: BTreeSet<ChainId>,
    ) -> Result<BTreeSet<i64>, ClickHouseError> {
        self.straddling = straddling;
        let Some(set) = self.straddling_set() else { return Ok(BTreeSet::new()) };
        let sql = format!(
            "SELECT DISTINCT minute FROM transactions \
             WHERE {} AND (chain_high, chain_low) IN ({set})",
            between("minute", minutes)
        );
        let by_shard = cluster.on_all(|_, node| {
            let mut found = Vec::new();
            node.query(&sql, |batch| {
                found.extend_from_slice(ResultRows { node, batch }.times("minute")?);
                Ok(())
            })?;
            Ok(found)
        })?;
        let found = by_shard.into_iter().flatten();
        Ok(found.filter(|minute| !self.open.contains(minute)).collect())
    }

    /// The straddling chains as a set in SQL; `None` without any.
    fn straddling_set(&self) -> Option<String> {
        let pair = |chain: &ChainId| format!("({},{})", chain.high(), chain.low());
        let pairs: Vec<String> = self.straddling.iter().map(pair).collect();
        (!pairs.is_empty()).then(|| pairs.join(","))
    }

    /// Whether chains were linked under the aliases with this fingerprint.
    pub(super) const fn is_under(&self, aliases: u64) -> bool {
        self.linkings.aliases == aliases
    }

    /// Whether none of its rows were deleted since it was read: those of versions that were replaced
    /// long ago are.
    pub(super) fn is_kept(&self, cluster: &Cluster) -> Result<bool, ClickHouseError> {
        Ok(cluster.pruned_until()? <= self.linkings.sequence)
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
        !self.straddling.is_empty()
            || (0..self.shards).any(|shard| self.chains(shard, "1").is_some())
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
        let chains = self.chains(shard, "1");
        let chains = chains.map(|chains| format!("SELECT chain_high, chain_low {chains}"));
        let sets = chains.into_iter().chain(self.straddling_set());
        sets.map(|set| format!(" AND (chain_high, chain_low) NOT IN ({set})")).collect()
    }

    /// The condition that leaves out linked rows of chains that are loose somewhere else.
    pub(super) fn without_loose(&self, shard: usize) -> String {
        let loose = self.chains(shard, "loose");
        let loose = loose.map(|loose| format!("SELECT component_high, component_low {loose}"));
        let sets = loose.into_iter().chain(self.straddling_set());
        sets.map(|set| format!(" AND (component_high, component_low) NOT IN ({set})")).collect()
    }

    /// Whether it has all links of some minutes, as they are now.
    pub(super) fn has_all_links(&self, counts: &RowCounts) -> bool {
        let links = |minute: &i64, shard: usize| {
            self.linkings.cells.get(&(*minute, shard)).map_or(0, |cell| cell.links)
        };
        counts.iter().all(|(minute, rows)| {
            rows.iter().enumerate().all(|(shard, rows)| rows.links == links(minute, shard))
        })
    }

    /// The condition of rows of chains that are not each for itself, or for whose rows a condition
    /// holds: links join them, or they have native and foreign rows, are not whole, or continue others.
    pub(super) fn is_wanted(&self, shard: usize, condition: &str) -> String {
        let is_in = |sql: String| format!(" OR (chain_high, chain_low) IN ({sql})");
        let mut wanted = format!("({condition}");
        wanted += &is_in(
            "SELECT chain_high, chain_low FROM aliases \
             UNION ALL SELECT continues_high, continues_low FROM aliases"
                .to_owned(),
        );
        if let Some(chains) = self.chains(shard, "1") {
            wanted += &is_in(format!("SELECT chain_high, chain_low {chains}"));
        }
        let cells =
            self.linkings.cells.iter().filter(|((_, of), cell)| *of == shard && cell.version > 0);
        let cells: Vec<String> =
            cells.map(|((minute, _), cell)| format!("({minute},{})", cell.version)).collect();
        if !cells.is_empty() {
            let cells = cells.join(",");
            let of = format!("FROM chain_links WHERE (minute, version) IN ({cells})");
            wanted += &is_in(format!(
                "SELECT chain_high, chain_low {of} UNION ALL SELECT of_high, of_low {of}"
            ));
        }
        wanted + ")"
    }

    /// The cells and the straddling chains, with all that tells them from others.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (at, cell) in &self.linkings.cells {
            (at, cell.version).hash(&mut hasher);
        }
        self.straddling.hash(&mut hasher);
        hasher.finish()
    }

    /// The condition of rows of loose chains, those that straddle among them; `None` where
    /// the shard has none.
    pub(super) fn is_loose(&self, shard: usize) -> Option<String> {
        let loose = self.chains(shard, "loose");
        let loose = loose.map(|loose| format!("SELECT chain_high, chain_low {loose}"));
        let sets = loose.into_iter().chain(self.straddling_set());
        let is_in = sets.map(|set| format!("(chain_high, chain_low) IN ({set})"));
        let is_in: Vec<String> = is_in.collect();
        (!is_in.is_empty()).then(|| format!("({})", is_in.join(" OR ")))
    }
}
