//! The cells of a picture of leaves, and the extremes of its columns, counted by the shards: they
//! read each leaf once.

use super::cell_sql::CellSql;
use super::leaf_tables::LeafTables;
use super::packing::Packing;
use super::shard_extents::marked;
use super::shard_picture::ShardPicture;
use crate::chunk::PathText;
use crate::error::QueryError;
use crate::scatter::wider;
use arrow_array::types::{UInt32Type, UInt64Type};
use chronoscope_chain::Counts;
use chronoscope_chain::links::bits;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_statistics::Edges;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a shard from which on it counts columns in slices.
const SLICED_ROWS: u64 = 4_000_000;
/// Most slices.
const SLICES_MAX: usize = 8;

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

/// The cells of a picture as numbers: column by column, path by path, and behind all of them one for
/// negative durations.
struct Grid {
    start_ns: i64,
    width: usize,
    height: usize,
    paths: usize,
    /// The edges of the columns, since the start.
    edges_ns: Vec<u64>,
    x: CellSql,
    y: CellSql,
    /// `None` where a duration and a start have no room in one number.
    packing: Option<Packing>,
}

impl Grid {
    fn new(start_ns: i64, (columns, rows): (&Edges, &Edges), paths: usize) -> Self {
        let longest_ns = rows.all().last().copied().unwrap_or(u64::MAX);
        Self {
            start_ns,
            width: columns.count(),
            height: rows.count(),
            paths,
            edges_ns: columns.all().to_vec(),
            x: CellSql::of(columns, &format!("(root_ns - toInt64({start_ns}))")),
            y: CellSql::of(rows, "duration"),
            packing: Some(Packing::of(start_ns, columns))
                .filter(|packing| packing.holds(longest_ns)),
        }
    }

    fn empty(&self) -> ShardCells {
        ShardCells { columns: vec![ShardColumn::default(); self.width], ..ShardCells::default() }
    }

    /// The number of negative durations' cell.
    const fn behind(&self) -> u64 {
        self.paths as u64 * self.width as u64 * self.height as u64
    }

    /// Path, column and row of a cell.
    fn place(&self, cell: u64) -> (usize, usize, usize) {
        let cell = usize::try_from(cell).unwrap_or(usize::MAX);
        let (column_of_path, y) = (cell / self.height, cell % self.height);
        (column_of_path % self.paths, column_of_path / self.paths, y)
    }

    /// Ranges of columns that are counted apart: of so few cells that their numbers have 16 bits, by
    /// which a server groups without hashing. All in one where there are so few rows that several
    /// statements would take longer.
    fn slices(&self, rows: u64) -> Vec<Range<usize>> {
        let most = usize::from(u16::MAX) / (self.paths * self.height).max(1);
        let count = self.width.div_ceil(most.max(1));
        if most == 0 || rows < SLICED_ROWS || count > SLICES_MAX {
            return std::iter::once(0..self.width).collect();
        }
        let each = self.width.div_ceil(count);
        let firsts = (0..self.width).step_by(each);
        firsts.map(|first| first..(first + each).min(self.width)).collect()
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

    /// The starts that lie in some columns.
    fn starts_ns(&self, columns: &Range<usize>) -> Range<i64> {
        let edge = |column: usize| self.start_ns.saturating_add_unsigned(self.edges_ns[column]);
        edge(columns.start)..edge(columns.end)
    }

    /// The statement that counts the rows of a table, which lie in some columns.
    fn sql(
        &self,
        columns: &Range<usize>,
        table: &str,
        path_number: &str,
        has_marks: bool,
    ) -> String {
        let Self { paths, height, x, y, .. } = self;
        let cells = |columns: usize| (columns * paths * height) as u64;
        // Within these columns, and behind all.
        let (before, within, behind) = (cells(columns.start), cells(columns.len()), self.behind());
        // A smaller key is grouped faster.
        let key = match (u16::try_from(within), u32::try_from(within)) {
            (Ok(_), _) => "UInt16",
            (_, Ok(_)) => "UInt32",
            _ => "UInt64",
        };
        let longest = match self.packing {
            Some(packing) => packing.sql(&x.cell),
            None => "toUInt64(duration)".to_owned(),
        };
        let (marks, names) = match has_marks {
            false => (String::new(), ""),
            true => (
                format!(
                    ", {}, {}",
                    marked(bits::BEFORE_PARENT, "before_parent"),
                    marked(bits::ASSEMBLED, "assembled")
                ),
                ", before_parent, assembled",
            ),
        };
        format!(
            "{}SELECT toUInt64(if(number = {within}, {behind}, number + {before})) AS cell, \
             rows, shortest, longest{names} FROM (SELECT \
             to{key}(if(duration < 0, {within}, \
             (({} - {}) * {paths} + {path_number}) * {height} + {})) AS number, \
             count() AS rows, min(duration) AS shortest, max({longest}) AS longest{marks} \
             FROM {table} GROUP BY number)",
            CellSql::with_all(&[x, y]),
            x.cell,
            columns.start,
            y.cell,
        )
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
            true => Some((
                rows.numbers::<UInt64Type>("before_parent")?,
                rows.numbers::<UInt64Type>("assembled")?,
            )),
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

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_statistics::Scale;

    fn grid(width: usize, height: usize, paths: usize) -> Grid {
        let columns = Edges::new(Scale::Linear, 0..1_000_000_000, width);
        let rows = Edges::new(Scale::Log, 1..1_000_000, height);
        Grid::new(7, (&columns, &rows), paths)
    }

    #[test]
    fn slices_are_all_columns_in_numbers_of_16_bits() {
        for (width, height, paths) in [(600, 300, 1), (600, 300, 2), (601, 100, 3), (7, 9, 40)] {
            let grid = grid(width, height, paths);
            let slices = grid.slices(SLICED_ROWS);
            let columns: Vec<usize> = slices.iter().cloned().flatten().collect();
            assert_eq!(columns, (0..width).collect::<Vec<_>>());
            let cells = |columns: &Range<usize>| columns.len() * height * paths;
            assert!(slices.iter().all(|columns| u16::try_from(cells(columns)).is_ok()));
            // The starts of one end where those of the next begin.
            let ends: Vec<_> = slices.iter().map(|columns| grid.starts_ns(columns)).collect();
            assert!(ends.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!((ends[0].start, ends[ends.len() - 1].end), (7, 1_000_000_007));
        }
    }

    #[test]
    fn few_rows_and_many_cells_are_counted_at_once() {
        let counted = |grid: Grid, rows: u64| {
            let slices = grid.slices(rows);
            (slices.len(), slices.into_iter().flatten().count())
        };
        assert_eq!(counted(grid(600, 300, 1), SLICED_ROWS - 1), (1, 600));
        assert_eq!(counted(grid(600, 300, 8), u64::MAX), (1, 600));
        assert_eq!(counted(grid(10, 70_000, 1), u64::MAX), (1, 10));
    }

    #[test]
    fn a_number_is_a_place() {
        let grid = grid(5, 4, 3);
        let mut expected =
            (0..5).flat_map(|x| (0..3).flat_map(move |path| (0..4).map(move |y| (path, x, y))));
        assert!((0..grid.behind()).all(|cell| Some(grid.place(cell)) == expected.next()));
        assert_eq!(expected.next(), None);
    }
}
