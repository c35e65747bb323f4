//! What cells say, before and after; and writing them.

use chronoscope_clickhouse::{ChainLink, ClickHouseError, Cluster, ForeignChain, LinkedRow};
use chronoscope_model::ChainId;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a shard that are written at once.
pub(super) const WRITE_ROWS: usize = 1 << 16;

/// Rows and chains of a cell.
#[derive(Debug, Default)]
pub(super) struct CellRows {
    pub(super) rows: Vec<LinkedRow>,
    pub(super) chains: Vec<ForeignChain>,
    pub(super) links: Vec<ChainLink>,
}

/// What a cell says of some components: as many rows of a component are the same rows, because rows
/// are added and removed, never changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CellContent {
    /// Number of rows by component.
    pub(super) rows: BTreeMap<ChainId, u64>,
    /// Component by chain, and whether it is loose.
    pub(super) chains: BTreeMap<ChainId, (ChainId, bool)>,
}

/// Contents by minute and shard.
pub(super) type Contents = BTreeMap<(i64, usize), CellContent>;

/// What a changed cell does not keep of before.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) components: Vec<ChainId>,
    pub(super) chains: Vec<ChainId>,
    /// Components of links.
    pub(super) links: BTreeSet<ChainId>,
}

/// Writes cells under a version.
pub(super) struct CellWriter<'a> {
    cluster: &'a Cluster,
    pub(super) version: u64,
    waiting: Vec<CellRows>,
    /// Number of rows and of chains by cell.
    pub(super) written: BTreeMap<(i64, usize), (u64, u64)>,
    /// Cells of which only some components are written anew.
    pub(super) changed: BTreeMap<(i64, usize), Changed>,
}

impl CellRows {
    fn content(&self) -> CellContent {
        let mut content = CellContent::default();
        for row in &self.rows {
            *content.rows.entry(row.component).or_default() += 1;
        }
        for ForeignChain { chain, component, loose, .. } in &self.chains {
            content.chains.insert(*chain, (*component, *loose));
        }
        content
    }
}

impl<'a> CellWriter<'a> {
    pub(super) fn new(cluster: &'a Cluster, version: u64) -> Self {
        let waiting = (0..cluster.shard_count()).map(|_| CellRows::default()).collect();
        let (written, changed) = (BTreeMap::new(), BTreeMap::new());
        Self { cluster, version, waiting, written, changed }
    }

    /// Writes what some components say now, into cells of `dirty` minutes whatever it is, into
    /// others where it is not what they say of these components.
    pub(super) fn write(
        &mut self,
        mut cells: BTreeMap<(i64, usize), CellRows>,
        mut old: Contents,
        dirty: &BTreeSet<i64>,
    ) -> Result<(), ClickHouseError> {
        let all: BTreeSet<(i64, usize)> = cells.keys().chain(old.keys()).copied().collect();
        for at in all {
            let new = cells.remove(&at).unwrap_or_default();
            if !dirty.contains(&at.0) {
                let (before, after) = (old.remove(&at).unwrap_or_default(), new.content());
                if before == after {
                    continue;
                }
                let changed = self.changed.entry(at).or_default();
                let rows = before.rows.keys().chain(after.rows.keys());
                changed.components.extend(rows.copied());
                let chains = before.chains.keys().chain(after.chains.keys());
                changed.chains.extend(chains.copied());
            }
            self.add(at, new)?;
        }
        Ok(())
    }

    fn add(&mut self, at: (i64, usize), new: CellRows) -> Result<(), ClickHouseError> {
        let written = self.written.entry(at).or_default();
        written.0 += new.rows.len() as u64;
        written.1 += new.chains.len() as u64;
        let waiting = &mut self.waiting[at.1];
        waiting.rows.extend(new.rows);
        waiting.chains.extend(new.chains);
        if waiting.rows.len() + waiting.chains.len() >= WRITE_ROWS {
            self.flush_shard(at.1)?;
        }
        Ok(())
    }

    /// Writes a link into a cell.
    pub(super) fn add_link(
        &mut self,
        (_, shard): (i64, usize),
        link: ChainLink,
    ) -> Result<(), ClickHouseError> {
        let waiting = &mut self.waiting[shard].links;
        waiting.push(link);
        match waiting.len() >= WRITE_ROWS {
            true => self.flush_shard(shard),
            false => Ok(()),
        }
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self) -> Result<(), ClickHouseError> {
        (0..self.waiting.len()).try_for_each(|shard| self.flush_shard(shard))
    }

    fn flush_shard(&mut self, shard: usize) -> Result<(), ClickHouseError> {
        let CellRows { rows, chains, links } = std::mem::take(&mut self.waiting[shard]);
        self.cluster.insert_linked_rows(shard, self.version, &rows)?;
        self.cluster.insert_foreign_chains(shard, self.version, &chains)?;
        self.cluster.insert_chain_links(shard, self.version, &links)
    }
}
