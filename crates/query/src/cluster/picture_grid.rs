//! The cells of a picture as numbers, and the statement by which a shard counts them.

use super::cell_sql::CellSql;
use super::packing::Packing;
use super::shard_extents::marked;
use chronoscope_chain::links::bits;
use chronoscope_statistics::Edges;
use std::ops::Range;

/// Rows of a shard, of all paths, from which on it counts columns in slices: each slice is some
/// milliseconds of parsing and planning, which grouping without hashing saves again in about a million
/// rows of the picture.
const SLICED_ROWS: u64 = 4_000_000;
/// Most slices: with many paths a slice has few columns, and planning would take longer than hashing.
const SLICES_MAX: usize = 8;

/// The cells of a picture as numbers: column by column, path by path, and behind all of them one for
/// negative durations.
pub(super) struct Grid {
    pub(super) start_ns: i64,
    pub(super) width: usize,
    height: usize,
    paths: usize,
    /// The edges of the columns, since the start.
    edges_ns: Vec<u64>,
    pub(super) x: CellSql,
    y: CellSql,
    /// `None` where a duration and a start have no room in one number.
    pub(super) packing: Option<Packing>,
}

impl Grid {
    pub(super) fn new(start_ns: i64, (columns, rows): (&Edges, &Edges), paths: usize) -> Self {
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

    /// The number of negative durations' cell.
    pub(super) const fn behind(&self) -> u64 {
        self.paths as u64 * self.width as u64 * self.height as u64
    }

    /// Path, column and row of a cell.
    pub(super) fn place(&self, cell: u64) -> (usize, usize, usize) {
        let cell = usize::try_from(cell).unwrap_or(usize::MAX);
        let (column_of_path, y) = (cell / self.height, cell % self.height);
        (column_of_path % self.paths, column_of_path / self.paths, y)
    }

    /// Ranges of columns that are counted apart: of so few cells that their numbers have 16 bits, by
    /// which a server groups without hashing. All in one where there are so few rows that several
    /// statements would take longer.
    pub(super) fn slices(&self, rows: u64) -> Vec<Range<usize>> {
        let most = usize::from(u16::MAX) / (self.paths * self.height).max(1);
        let count = self.width.div_ceil(most.max(1));
        if most == 0 || rows < SLICED_ROWS || count > SLICES_MAX {
            return std::iter::once(0..self.width).collect();
        }
        let each = self.width.div_ceil(count);
        let firsts = (0..self.width).step_by(each);
        firsts.map(|first| first..(first + each).min(self.width)).collect()
    }

    /// The starts that lie in some columns.
    pub(super) fn starts_ns(&self, columns: &Range<usize>) -> Range<i64> {
        let edge = |column: usize| self.start_ns.saturating_add_unsigned(self.edges_ns[column]);
        edge(columns.start)..edge(columns.end)
    }

    /// The statement that counts the rows of a table, which lie in some columns.
    pub(super) fn sql(
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
