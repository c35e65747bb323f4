//! Tables for a terminal: aligned columns under a heading.
//!
//! ```
//! let mut table = chronoscope_figures::tables::Table::new(&["class", "n"]);
//! table.row(vec!["decode".to_owned(), "12".to_owned()]);
//! assert_eq!(table.to_string(), "class    n\ndecode  12\n");
//! ```

use std::fmt;
use unicode_width::UnicodeWidthStr as _;

/// The side to which a column is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// To the left: words.
    #[default]
    Left,
    /// To the right: numbers.
    Right,
}

/// Rows under a heading. Columns are two spaces apart; the first is aligned to the left and the
/// rest to the right, unless [`Table::aligned`] says otherwise. Control characters in cells are
/// escaped, and wide letters take two columns of the terminal.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    aligned: Vec<Align>,
}

impl Table {
    /// A table with a heading and no rows.
    #[must_use]
    pub fn new(heading: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(heading.iter().map(|cell| (*cell).to_owned()).collect());
        table
    }

    /// Aligns the columns, from the first one.
    #[must_use]
    pub fn aligned(self, aligned: impl IntoIterator<Item = Align>) -> Self {
        Self { aligned: aligned.into_iter().collect(), ..self }
    }

    /// Adds a row. A row may have fewer cells than the heading.
    pub fn row(&mut self, cells: Vec<String>) {
        // A name with a line break would look like a row of its own.
        let safe = |cell: String| chronoscope_escape::terminal(&cell).into_owned();
        self.rows.push(cells.into_iter().map(safe).collect());
    }

    /// Width of the longest line, in columns of a terminal.
    #[must_use]
    pub fn width(&self) -> usize {
        self.to_string().lines().map(|line| line.width()).max().unwrap_or(0)
    }

    fn align(&self, column: usize) -> Align {
        let usual = if column == 0 { Align::Left } else { Align::Right };
        self.aligned.get(column).copied().unwrap_or(usual)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let padding = " ".repeat(widths[column] - cell.width());
                match self.align(column) {
                    Align::Left => format!("{cell}{padding}"),
                    Align::Right => format!("{padding}{cell}"),
                }
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A bar of eighths of a character, at most `width` characters long, for `value` of `largest`.
#[must_use]
pub fn bar(value: u64, largest: u64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    if largest == 0 {
        return String::new();
    }
    let eighths = u128::from(value) * 8 * width as u128;
    let mut eighths = usize::try_from(eighths / u128::from(largest)).unwrap_or(8 * width);
    if eighths == 0 && value > 0 {
        eighths = 1; // the least value is seen, too
    }
    let mut text = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        text.push(EIGHTHS[eighths % 8]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_cells_escaped() {
        let mut table = Table::new(&["class", "n"]);
        table.row(vec!["a".into(), "12".into()]);
        assert_eq!(table.to_string(), "class   n\na      12\n");
        table.row(vec!["b\nc\u{1b}[2J\u{202e}".into()]);
        assert!(table.to_string().ends_with("\nb\\u000ac\\u001b[2J\\u202e\n"), "{table}");
    }

    #[test]
    fn a_wide_letter_takes_two_columns() {
        let mut table = Table::new(&["host", "n"]);
        table.row(vec!["東京".into(), "1".into()]);
        table.row(vec!["e\u{301}".into(), "2".into()]);
        assert_eq!(table.to_string(), "host  n\n東京  1\ne\u{301}     2\n");
        assert_eq!(table.width(), 7);
    }

    #[test]
    fn alignment_is_chosen() {
        let mut table = Table::new(&["n", "class"]).aligned([Align::Right, Align::Left]);
        table.row(vec!["12".into(), "a".into()]);
        assert_eq!(table.to_string(), " n  class\n12  a\n");
    }

    #[test]
    fn a_bar_has_eighths() {
        assert_eq!(bar(4, 8, 4), "██");
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(5, 0, 10), "");
    }
}
