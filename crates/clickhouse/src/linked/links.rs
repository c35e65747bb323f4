//! Stored links of fan-in: a row's further parents, each with the component of the chains that links
//! join.

use super::linkings::Linkings;
use super::links_tables::CHAIN_LINKS;
use crate::cluster::Cluster;
use crate::error::ClickHouseError;
use crate::rows::ResultRows;
use crate::shared::inserts::PLAIN;
use chronoscope_model::{ChainId, TransactionId};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// A link from a row to a further parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainLink {
    /// The minute that the row is stored in, since 1970.
    pub minute: i64,
    /// The chain by whose id the row is stored.
    pub chain: ChainId,
    /// The row's id.
    pub id: TransactionId,
    /// The chain of the further parent, as the row names it.
    pub of: ChainId,
    /// The further parent's id.
    pub of_id: TransactionId,
    /// Of all chains that links join: the id of one of them, the same in all of their links.
    pub component: ChainId,
}

/// The columns of a link.
const COLUMNS: &str = "minute, chain_high, chain_low, id, of_high, of_low, of_id, component_high, \
    component_low";

impl Cluster {
    /// Stores links on a shard under a version, which nothing refers to yet.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    ///
    /// # Panics
    /// When there is no such shard.
    pub fn insert_chain_links(
        &self,
        shard: usize,
        version: u64,
        links: &[ChainLink],
    ) -> Result<(), ClickHouseError> {
        if links.is_empty() {
            return Ok(());
        }
        let mut lines = String::new();
        for ChainLink { minute, chain, id, of, of_id, component } in links {
            let [(a, b), (c, d), (e, f)] =
                [chain, of, component].map(|chain| (chain.high(), chain.low()));
            let (id, of_id) = (id.0, of_id.0);
            // A String takes everything.
            let _ =
                writeln!(lines, "{minute}\t{a}\t{b}\t{id}\t{c}\t{d}\t{of_id}\t{e}\t{f}\t{version}");
        }
        let sql = format!("INSERT INTO {CHAIN_LINKS} ({COLUMNS}, version) FORMAT TSV");
        self.nodes()[shard].insert(&PLAIN, &sql, lines.as_bytes())
    }

    /// The stored links of a shard in some minutes (since 1970), as they are in `linkings`: of the
    /// rows there, and those to rows there. `condition` is SQL about the columns of `chain_links`.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    ///
    /// # Panics
    /// When there is no such shard.
    pub fn chain_links(
        &self,
        shard: usize,
        linkings: &Linkings,
        (minutes, condition): (&dyn Fn(i64) -> bool, &str),
    ) -> Result<Vec<ChainLink>, ClickHouseError> {
        let cells = linkings.cells.iter();
        let cells = cells
            .filter(|((minute, of), cell)| *of == shard && cell.version > 0 && minutes(*minute));
        let cells: Vec<String> =
            cells.map(|((minute, _), cell)| format!("({minute},{})", cell.version)).collect();
        let mut found = Vec::new();
        if cells.is_empty() {
            return Ok(found);
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM {CHAIN_LINKS} WHERE (minute, version) IN ({}) AND ({condition})",
            cells.join(",")
        );
        let node = &self.nodes()[shard];
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let chain = |of: &str| -> Result<_, ClickHouseError> {
                Ok((rows.ids(&format!("{of}_high"))?, rows.ids(&format!("{of}_low"))?))
            };
            let (chains, of, components) = (chain("chain")?, chain("of")?, chain("component")?);
            let (ids, of_ids) = (rows.ids("id")?, rows.ids("of_id")?);
            for (row, minute) in rows.times("minute")?.iter().enumerate() {
                let id = |of: (&[u64], &[u64])| ChainId::from_halves(of.0[row], of.1[row]);
                found.push(ChainLink {
                    minute: *minute,
                    chain: id(chains),
                    id: TransactionId(ids[row]),
                    of: id(of),
                    of_id: TransactionId(of_ids[row]),
                    component: id(components),
                });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The links of rows in some minutes (since 1970), as they are now: each once, ascending.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn all_chain_links(
        &self,
        minutes: &RangeInclusive<i64>,
    ) -> Result<Vec<ChainLink>, ClickHouseError> {
        loop {
            let linkings = self.linkings(minutes)?;
            let wanted = |minute: i64| minutes.contains(&minute);
            let by_shard =
                self.on_all(|shard, _| self.chain_links(shard, &linkings, (&wanted, "1")))?;
            // What was replaced is deleted some time later.
            if self.pruned_until()? <= linkings.sequence {
                let all: BTreeSet<ChainLink> = by_shard.into_iter().flatten().collect();
                return Ok(all.into_iter().collect());
            }
        }
    }
}
