//! Chains that go on in another one's name, on every shard.

use crate::cluster::Cluster;
use crate::error::ClickHouseError;
use crate::http::Node;
use crate::rows::ResultRows;
use chronoscope_model::ChainId;
use chronoscope_store::{Aliases, ChainAlias};
use std::fmt::Write;

impl Cluster {
    /// Stores aliases on all shards; the same again does no harm.
    ///
    /// # Errors
    /// [`ClickHouseError`]; some shards may have them.
    pub fn add_aliases(&self, aliases: &[ChainAlias]) -> Result<(), ClickHouseError> {
        if aliases.is_empty() {
            return Ok(());
        }
        let mut lines = String::new();
        for (position, ChainAlias { chain, continues }) in aliases.iter().enumerate() {
            let (high, low) = (continues.high(), continues.low());
            let (own_high, own_low) = (chain.high(), chain.low());
            let _ = writeln!(lines, "{own_high}\t{own_low}\t{high}\t{low}\t{position}");
        }
        let columns = "chain_high, chain_low, continues_high, continues_low, position";
        let sql = format!("INSERT INTO aliases ({columns}) FORMAT TSV");
        self.on_all(|_, node| node.insert(&[], &sql, lines.as_bytes())).map(drop)
    }

    /// The newest aliases, as far as they are kept ([`chronoscope_store::ALIASES_MAX`]): whatever
    /// their age, because they hold for rows that are there.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn aliases(&self) -> Result<Aliases, ClickHouseError> {
        let mut aliases = Aliases::default();
        // Every shard has them all; the first may be one that a question goes on without.
        let mut nodes = self.nodes().iter();
        let found = loop {
            let Some(node) = nodes.next() else { break Vec::new() };
            match newest_aliases(node) {
                Err(error)
                    if self.left_out(node, &error).is_some() && !nodes.as_slice().is_empty() => {}
                found => break found?,
            }
        };
        // A later one replaces an earlier one.
        found.into_iter().rev().for_each(|alias| aliases.insert(alias, 0));
        Ok(aliases)
    }
}

impl Cluster {
    /// The aliases that were told at `since_ns` or later (UTC, nanoseconds since 1970), by the first
    /// shard's clock, with all others of the same chains; and when the last of them was told, at
    /// least `since_ns`.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn aliases_since(&self, since_ns: i64) -> Result<(Vec<ChainAlias>, i64), ClickHouseError> {
        let node = &self.nodes()[0];
        let sql = format!(
            "SELECT chain_high, chain_low, continues_high, continues_low, \
             toUnixTimestamp64Nano(at) AS told_ns FROM aliases WHERE (chain_high, chain_low) IN \
             (SELECT chain_high, chain_low FROM aliases WHERE toUnixTimestamp64Nano(at) >= {since_ns})"
        );
        let (mut found, mut last_ns) = (Vec::new(), since_ns);
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            read_aliases(&rows, &mut found)?;
            last_ns = rows.times("told_ns")?.iter().fold(last_ns, |last, told| last.max(*told));
            Ok(())
        })?;
        Ok((found, last_ns))
    }
}

fn newest_aliases(node: &Node) -> Result<Vec<ChainAlias>, ClickHouseError> {
    let sql = format!(
        "SELECT chain_high, chain_low, continues_high, continues_low FROM aliases \
         ORDER BY at DESC, position DESC LIMIT {}",
        chronoscope_store::ALIASES_MAX
    );
    let mut found = Vec::new();
    node.query(&sql, |batch| read_aliases(&ResultRows { node, batch }, &mut found))?;
    Ok(found)
}

fn read_aliases(rows: &ResultRows<'_>, found: &mut Vec<ChainAlias>) -> Result<(), ClickHouseError> {
    let (high, low) = (rows.ids("chain_high")?, rows.ids("chain_low")?);
    let (to_high, to_low) = (rows.ids("continues_high")?, rows.ids("continues_low")?);
    found.extend((0..high.len()).map(|row| ChainAlias {
        chain: ChainId::from_halves(high[row], low[row]),
        continues: ChainId::from_halves(to_high[row], to_low[row]),
    }));
    Ok(())
}
