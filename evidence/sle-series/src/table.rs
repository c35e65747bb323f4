//! Tables: the same rows for people and as JSON.

use chronoscope_figures::numbers;
use chronoscope_figures::tables::{self, Align};
use serde_json::{Map, Value, json};

/// A column: its key in JSON, its head for people, digits after the point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) key: &'static str,
    pub(crate) head: &'static str,
    pub(crate) digits: usize,
}

/// A column of numbers.
pub(crate) const fn number(key: &'static str, head: &'static str, digits: usize) -> Column {
    Column { key, head, digits }
}

/// A column of words.
pub(crate) const fn words(key: &'static str, head: &'static str) -> Column {
    Column { key, head, digits: 0 }
}

/// Content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Nothing: not measured, or not published.
    None,
    Text(String),
    Number(f64),
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Number(value) } else { Self::None }
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Self {
        Self::Number(f64::from(value))
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// A named table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Without rows.
    pub(crate) fn new(title: impl Into<String>, columns: &[Column]) -> Self {
        Self { title: title.into(), columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row: one cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.title);
        self.rows.push(cells);
    }

    /// For people: aligned, numbers to the right.
    pub(crate) fn text(&self) -> String {
        let is_words =
            |column: usize| self.rows.iter().any(|row| matches!(row[column], Cell::Text(_)));
        let side = |column| if is_words(column) { Align::Left } else { Align::Right };
        let heads: Vec<&str> = self.columns.iter().map(|column| column.head).collect();
        let mut table = tables::Table::new(&heads).aligned((0..self.columns.len()).map(side));
        for row in &self.rows {
            table.row(row.iter().zip(&self.columns).map(|(cell, c)| shown(cell, c)).collect());
        }
        let mut text = format!("{}\n", self.title);
        for line in table.to_string().lines() {
            text += format!("   {line}").trim_end();
            text.push('\n');
        }
        text
    }

    /// For a page in Markdown: the same, as a table of it.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("{}\n\n", self.title);
        text += &line(self.columns.iter().map(|column| column.head.to_owned()).collect());
        text += &line(self.columns.iter().map(|_| "---".to_owned()).collect());
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns);
            text += &line(cells.map(|(cell, column)| shown(cell, column)).collect());
        }
        text
    }

    /// For programs: one object a row; what is not there is left out.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let mut object = Map::new();
                for (cell, column) in row.iter().zip(&self.columns) {
                    match cell {
                        Cell::None => None,
                        Cell::Text(text) => object.insert(column.key.to_owned(), json!(text)),
                        Cell::Number(number) => object.insert(column.key.to_owned(), json!(number)),
                    };
                }
                Value::Object(object)
            })
            .collect();
        json!({ "title": self.title, "rows": rows })
    }

    /// The rows in which these columns have these numbers.
    pub(crate) fn only(&self, wanted: &[(&str, f64)]) -> Self {
        let at = |key: &str| self.columns.iter().position(|column| column.key == key);
        let mut some = self.clone();
        some.rows.retain(|row| {
            wanted
                .iter()
                .all(|(key, number)| at(key).is_some_and(|i| row[i] == Cell::Number(*number)))
        });
        some
    }

    /// The numbers of two columns where a third one, if any, has this text.
    pub(crate) fn series(&self, x: &str, y: &str, only: Option<(&str, &str)>) -> Vec<(f64, f64)> {
        let at = |key: &str| self.columns.iter().position(|column| column.key == key);
        let (Some(x), Some(y)) = (at(x), at(y)) else { return Vec::new() };
        let only = only.and_then(|(key, text)| Some((at(key)?, Cell::from(text))));
        let wanted = |row: &&Vec<Cell>| only.as_ref().is_none_or(|(i, text)| row[*i] == *text);
        let points = self.rows.iter().filter(wanted).filter_map(|row| match (&row[x], &row[y]) {
            (Cell::Number(x), Cell::Number(y)) => Some((*x, *y)),
            _ => None,
        });
        points.collect()
    }
}

fn shown(cell: &Cell, column: &Column) -> String {
    match cell {
        Cell::None => "–".to_owned(),
        Cell::Text(text) => text.clone(),
        Cell::Number(number) => numbers::decimal(*number, column.digits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = Table::new(
            "rates",
            &[words("who", "who"), number("rate", "Mbit/s", 1), number("n", "n", 0)],
        );
        table.row(["ours".into(), 1234.56.into(), Cell::None]);
        table.row(["the slides".into(), 0.8.into(), 7u32.into()]);
        table
    }

    #[test]
    fn words_left_and_numbers_right() {
        assert_eq!(
            example().text(),
            "rates\n   who          Mbit/s  n\n   ours        1,234.6  –\n   the slides      0.8  7\n"
        );
    }

    #[test]
    fn the_same_in_markdown() {
        assert_eq!(
            example().markdown(),
            "rates\n\n| who | Mbit/s | n |\n| --- | --- | --- |\n| ours | 1,234.6 | – |\n\
             | the slides | 0.8 | 7 |\n"
        );
    }

    #[test]
    fn a_row_is_an_object() {
        let json = example().json();
        assert_eq!(json["rows"][0], json!({"who": "ours", "rate": 1234.56}));
        assert_eq!(json["rows"][1]["n"], 7.0);
    }

    #[test]
    fn a_series_is_two_columns() {
        let table = example();
        assert_eq!(table.series("n", "rate", None), [(7.0, 0.8)]);
        assert_eq!(table.series("n", "rate", Some(("who", "ours"))), []);
        assert_eq!(table.series("no", "rate", None), []);
        assert_eq!(table.only(&[("n", 7.0)]).rows.len(), 1);
        assert!(table.only(&[("n", 8.0)]).rows.is_empty());
    }
}
