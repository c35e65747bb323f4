//! Writing a linking: rows and chains under its version, then the cells, all at once.

use super::linkings::{ForeignChain, LinkedRow, Linkings, NO_MINUTE, Publication};
use super::links_tables::CHAIN_LINKS;
use crate::cluster::Cluster;
use crate::error::ClickHouseError;
use crate::insert::escaped;
use crate::rows::ResultRows;
use crate::shared::inserts::PLAIN;
use chronoscope_model::{ChainId, ClassId, PathId};
use std::fmt::Write;

impl Cluster {
    /// Stores linked rows of a shard under a version, which nothing refers to yet.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    ///
    /// # Panics
    /// When there is no such shard.
    pub fn insert_linked_rows(
        &self,
        shard: usize,
        version: u64,
        rows: &[LinkedRow],
    ) -> Result<(), ClickHouseError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut lines = String::new();
        for row in rows {
            let LinkedRow { minute, path, root_start_ns, start_ns, elapsed_ns, links, .. } = row;
            let path = escaped(path);
            let [host, root_host] = [escaped(&row.hosts[0]), escaped(&row.hosts[1])];
            let (high, low) = (row.component.high(), row.component.low());
            // A String takes everything.
            let _ = writeln!(
                lines,
                "{minute}\t{version}\t{path}\t{root_start_ns}\t{start_ns}\t{elapsed_ns}\t{links}\t\
                 {host}\t{root_host}\t{high}\t{low}"
            );
        }
        let sql = "INSERT INTO linked_rows FORMAT TSV";
        self.nodes()[shard].insert(&PLAIN, sql, lines.as_bytes())
    }

    /// Stores chains of a shard under a version, which nothing refers to yet.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    ///
    /// # Panics
    /// When there is no such shard.
    pub fn insert_foreign_chains(
        &self,
        shard: usize,
        version: u64,
        chains: &[ForeignChain],
    ) -> Result<(), ClickHouseError> {
        if chains.is_empty() {
            return Ok(());
        }
        let mut lines = String::new();
        for ForeignChain { minute, chain, component, loose } in chains {
            let ((high, low), loose) = ((chain.high(), chain.low()), u8::from(*loose));
            let (of_high, of_low) = (component.high(), component.low());
            let _ =
                writeln!(lines, "{minute}\t{version}\t{high}\t{low}\t{of_high}\t{of_low}\t{loose}");
        }
        let sql = "INSERT INTO foreign_chains FORMAT TSV";
        self.nodes()[shard].insert(&PLAIN, sql, lines.as_bytes())
    }

    /// Copies a cell's rows, chains and links to another version, on the shard itself, but for rows of
    /// some components, some chains, and links of some components.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    ///
    /// # Panics
    /// When there is no such shard.
    pub fn copy_linked(
        &self,
        (minute, shard): (i64, usize),
        (from, to): (u64, u64),
        [components, chains, joined]: [&[ChainId]; 3],
    ) -> Result<(), ClickHouseError> {
        let node = &self.nodes()[shard];
        let settings = [PLAIN[0], ("max_query_size", "268435456")];
        let rows = "path, root_start_ns, start_ns, elapsed_ns, links, host, root_host, \
            component_high, component_low";
        let of_chains = "chain_high, chain_low, component_high, component_low, loose";
        let links = "chain_high, chain_low, id, of_high, of_low, of_id, component_high, \
            component_low";
        for (table, columns, key, without) in [
            ("linked_rows", rows, "component", components),
            ("foreign_chains", of_chains, "chain", chains),
            (CHAIN_LINKS, links, "component", joined),
        ] {
            let without = match without {
                [] => String::new(),
                some => format!(" AND ({key}_high, {key}_low) NOT IN ({})", pairs(some)),
            };
            let sql = format!(
                "INSERT INTO {table} (minute, version, {columns}) SELECT minute, {to}, {columns} \
                 FROM {table} WHERE minute = {minute} AND version = {from}{without}"
            );
            node.execute(&settings, &sql)?;
        }
        Ok(())
    }

    /// Stores paths by their ids, with their texts, on all shards; the same again does no harm.
    ///
    /// # Errors
    /// [`ClickHouseError`]; some shards may have them.
    pub fn add_paths(
        &self,
        paths: &[(PathId, String, Vec<ClassId>)],
    ) -> Result<(), ClickHouseError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut lines = String::new();
        for (id, text, classes) in paths {
            let classes: Vec<String> = classes.iter().map(|class| class.0.to_string()).collect();
            let _ = writeln!(lines, "{}\t{}\t[{}]", id.0, escaped(text), classes.join(","));
        }
        let sql = "INSERT INTO paths (id, path, classes) FORMAT TSV";
        self.on_all(|_, node| node.insert(&[], sql, lines.as_bytes())).map(drop)
    }

    /// Publishes the linking that follows `before`: readers see all of its cells from now on.
    /// `false` where another one has followed `before` already; then nothing was changed.
    ///
    /// # Errors
    /// [`ClickHouseError`]; whether it was published is not known then.
    pub fn publish_linking(
        &self,
        before: &Linkings,
        publication: &Publication,
    ) -> Result<bool, ClickHouseError> {
        let mut lines = String::new();
        for ((minute, shard), cell) in &publication.cells {
            let shard = u32::try_from(*shard).unwrap_or(u32::MAX);
            let counts = [cell.rows, cell.foreign, cell.linked, cell.chains, cell.links];
            line(&mut lines, (before, publication), (*minute, shard), counts);
        }
        if publication.cells.is_empty() {
            // A linking is known by its lines: this one is of no minute.
            line(&mut lines, (before, publication), NO_MINUTE, [0; 5]);
        }
        self.publish_lines(before, publication.version, &lines)
    }

    /// Publishes a linking without cells that says up to which number replaced versions are deleted.
    pub(super) fn publish_pruning(
        &self,
        before: &Linkings,
        publication: &Publication,
        until: u64,
    ) -> Result<bool, ClickHouseError> {
        let mut lines = String::new();
        line(&mut lines, (before, publication), NO_MINUTE, [until, 0, 0, 0, 0]);
        self.publish_lines(before, publication.version, &lines)
    }

    fn publish_lines(
        &self,
        before: &Linkings,
        version: u64,
        lines: &str,
    ) -> Result<bool, ClickHouseError> {
        // The server may have forgotten the token of a number whose lines were deleted.
        if self.newest_linking()?.sequence != before.sequence {
            return Ok(false);
        }
        let node = &self.nodes()[0];
        let sequence = before.sequence + 1;
        let token = format!("linking {sequence}");
        let settings = [
            ("insert_deduplicate", "1"),
            ("insert_deduplication_token", token.as_str()),
            ("max_insert_block_size", "16777216"),
            ("input_format_parallel_parsing", "0"),
        ];
        let sql = "INSERT INTO linkings (sequence, version, minute, shard, rows, foreign_rows, \
            linked, chains, aliases, aliases_until, links) FORMAT TSV";
        node.insert(&settings, sql, lines.as_bytes())?;
        let mut taken = None;
        let sql = format!(
            "SELECT any(version) AS taken FROM linkings WHERE sequence = {sequence} \
             SETTINGS select_sequential_consistency = 1"
        );
        node.query(&sql, |batch| {
            taken = ResultRows { node, batch }.ids("taken")?.first().copied().or(taken);
            Ok(())
        })?;
        Ok(taken == Some(version))
    }
}

/// Adds a line of a publication.
fn line(
    lines: &mut String,
    (before, publication): (&Linkings, &Publication),
    (minute, shard): (i64, u32),
    [rows, foreign, linked, chains, links]: [u64; 5],
) {
    let sequence = before.sequence + 1;
    let Publication { version, aliases, aliases_until_ns, .. } = publication;
    // A String takes everything.
    let _ = writeln!(
        lines,
        "{sequence}\t{version}\t{minute}\t{shard}\t{rows}\t{foreign}\t{linked}\t{chains}\t\
         {aliases}\t{aliases_until_ns}\t{links}"
    );
}

/// Ids as pairs of numbers, in SQL.
fn pairs(chains: &[ChainId]) -> String {
    let pair = |chain: &ChainId| format!("({},{})", chain.high(), chain.low());
    chains.iter().map(pair).collect::<Vec<_>>().join(",")
}
