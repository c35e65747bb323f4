//! The cells of a picture of leaves, and the extremes of its columns, counted by the shards: they
//! read each leaf once.

use super::cell_sql::CellSql;
use super::leaf_tables::LeafTables;
use super::picture_grid::Grid;
use super::shard_extents::marked;
use super::shard_picture::ShardPicture;
use crate::chunk::PathText;
use crate::error::QueryError;
use crate::scatter::wider;
use arrow_array::types::UInt32Type;
use chronoscope_chain::Counts;
use chronoscope_chain::links::bits;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_statistics::Edges;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The leaves in a column of a picture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShardColumn {
    /// Those that are not negative.
    pub(crate) counts: Counts,
    /// Shortest and longest.
    pub(crate) durations_ns: Option<(u64, u64)>,
    /// The first start of those that took longest.
    pub(crate) start_ns: i64,
}

/// The leaves of a picture.
#[derive(Debug, Default)]
pub(crate) struct ShardCells {
    /// The paths.
    pub(crate) paths: Vec<Arc<PathText>>,
    /// Number of the path, column, row and number of leaves; a cell may stand there several times.
    pub(crate) cells: Vec<(usize, usize, usize, u64)>,
    /// All columns.
    pub(crate) columns: Vec<ShardColumn>,
    /// Leaves with negative durations, of all columns.
    pub(crate) negative: u64,
}

impl ShardPicture {
    /// Counts the leaves of a picture that begins at `start_ns`. Its axes enclose them all.
    pub(crate) fn cells(
        &self,
        start_ns: i64,
        (columns, rows): (&Edges, &Edges),
    ) -> Result<ShardCells, QueryError> {
        let tables = self.tables();
        let grid = Grid::new(start_ns, (columns, rows), tables.paths.len());
        let by_shard = self.on_all(|shard, node| grid.count(node, &tables, shard))?;
        let paths = tables.paths.iter().map(|(_, path)| Arc::clone(path)).collect();
        let mut all = ShardCells { paths, ..grid.empty() };
        for theirs in by_shard {
            all.merge(theirs);
        }
        if grid.packing.is_some() {
            return Ok(all);
        }
        let longest = |(x, column): (usize, &ShardColumn)| Some((x, column.durations_ns?.1));
        let longest: Vec<(usize, u64)> =
            all.columns.iter().enumerate().filter_map(longest).collect();
        let starts = self.on_all(|shard, node| grid.starts(node, &tables, shard, &longest))?;
        let mut first: HashMap<usize, i64> = HashMap::new();
        for (x, start) in starts.into_iter().flatten() {
            let known = first.entry(x).or_insert(start);
            *known = start.min(*known);
        }
        for (x, column) in all.columns.iter_mut().enumerate() {
            column.start_ns = first.get(&x).copied().unwrap_or(start_ns);
        }
        Ok(all)
    }
}

impl ShardCells {
    fn merge(&mut self, theirs: Self) {
        self.cells.extend(theirs.cells);
        self.negative += theirs.negative;
        for (mine, column) in self.columns.iter_mut().zip(&theirs.columns) {
            mine.merge(column);
        }
    }
}

impl ShardColumn {
    fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        if let Some((shortest, longest)) = other.durations_ns {
            let known = self.durations_ns.map(|known| (known.0, known.1, self.start_ns));
            let both = wider(known, (shortest, longest, other.start_ns));
            (self.durations_ns, self.start_ns) = (Some((both.0, both.1)), both.2);
        }
    }
}

impl Grid {
    fn empty(&self) -> ShardCells {
        ShardCells { columns: vec![ShardColumn::default(); self.width], ..ShardCells::default() }
    }

    fn count(
        &self,
        node: &Node,
        tables: &LeafTables<'_>,
        shard: usize,
    ) -> Result<ShardCells, ClickHouseError> {
        let mut found = self.empty();
        let has_marks = tables.linked(shard).is_some();
        // Of native chains a shard has the minutes apart.
        let slices = self.slices(if has_marks { 0 } else { tables.row_count(shard) });
        let of_slice = |columns: Range<usize>| {
            let table = match columns.len() == self.width {
                true => tables.all(shard),
                false => tables.between(self.starts_ns(&columns)).all(shard),
            };
            Some(self.sql(&columns, &table?, &tables.path_number(), has_marks))
        };
        let statements: Vec<String> = slices.into_iter().filter_map(of_slice).collect();
        if !statements.is_empty() {
            let sql = statements.join(" UNION ALL ");
            node.query(&sql, |batch| self.add(&ResultRows { node, batch }, has_marks, &mut found))?;
        }
        if let Some(table) = tables.unusual(shard) {
            let sql = format!(
                "{}SELECT toUInt32({}) AS x, {}, {} FROM {table} WHERE duration >= 0 GROUP BY x",
                CellSql::with_all(&[&self.x]),
                self.x.cell,
                marked(bits::ANCESTOR_MISSING, "incomplete"),
                marked(bits::BEFORE_PARENT, "before_parent"),
            );
            node.query(&sql, |batch| add_unusual(&ResultRows { node, batch }, &mut found))?;
        }
        Ok(found)
    }

    fn add(
        &self,
        rows: &ResultRows<'_>,
        has_marks: bool,
        found: &mut ShardCells,
    ) -> Result<(), ClickHouseError> {
        let (cells, counts) = (rows.ids("cell")?, rows.ids("rows")?);
        let (shortest, longest) = (rows.times("shortest")?, rows.ids("longest")?);
        let marks = match has_marks {
            true => Some((rows.ids("before_parent")?, rows.ids("assembled")?)),
            false => None,
        };
        let behind = self.behind();
        for (row, cell) in cells.iter().enumerate() {
            if *cell >= behind {
                found.negative += counts[row];
                continue;
            }
            let (path, x, y) = self.place(*cell);
            found.cells.push((path, x, y, counts[row]));
            let mut of_cell = ShardColumn::default();
            of_cell.counts.used = counts[row];
            if let Some((before, assembled)) = marks {
                of_cell.counts.before_parent = before[row];
                of_cell.counts.foreign = assembled[row];
            }
            let (longest_ns, start_ns) = match self.packing {
                Some(packing) => packing.parts(longest[row], x),
                None => (longest[row], self.start_ns),
            };
            of_cell.durations_ns = Some((shortest[row].unsigned_abs(), longest_ns));
            of_cell.start_ns = start_ns;
            found.columns[x].merge(&of_cell);
        }
        Ok(())
    }

    /// The first starts on a shard of leaves of a given length, by column.
    fn starts(
        &self,
        node: &Node,
        tables: &LeafTables<'_>,
        shard: usize,
        longest: &[(usize, u64)],
    ) -> Result<Vec<(usize, i64)>, ClickHouseError> {
        let mut found = Vec::new();
        let least = longest.iter().map(|(_, ns)| *ns).min();
        let (Some(table), Some(least)) = (tables.all(shard), least) else { return Ok(found) };
        let (numbers, lengths): (Vec<String>, Vec<String>) =
            longest.iter().map(|(number, ns)| (number.to_string(), ns.to_string())).unzip();
        let sql = format!(
            "{}SELECT toUInt32({}) AS x, min(root_ns) AS first_root FROM {table} \
             WHERE duration >= {least} \
             AND toUInt64(duration) = transform(x, [{}], [{}], toUInt64(9223372036854775808)) \
             GROUP BY x",
            CellSql::with_all(&[&self.x]),
            self.x.cell,
            numbers.join(","),
            lengths.join(",")
        );
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let numbers = rows.numbers::<UInt32Type>("x")?.iter().map(|number| *number as usize);
            found.extend(numbers.zip(rows.times("first_root")?.iter().copied()));
            Ok(())
        })?;
        Ok(found)
    }
}

/// Adds the marks of native rows; they are counted as used already.
fn add_unusual(rows: &ResultRows<'_>, found: &mut ShardCells) -> Result<(), ClickHouseError> {
    let (incomplete, before) = (rows.ids("incomplete")?, rows.ids("before_parent")?);
    for (row, x) in rows.numbers::<UInt32Type>("x")?.iter().enumerate() {
        let column = found.columns.get_mut(*x as usize);
        let column = column.ok_or_else(|| rows.node.unexpected_column("x"))?;
        column.counts.incomplete += incomplete[row];
        column.counts.before_parent += before[row];
    }
    Ok(())
}
