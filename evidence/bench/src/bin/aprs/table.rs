//! Tables for people.

/// A table with a title; columns are as wide as they need.
#[derive(Debug)]
pub(crate) struct Table {
    title: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With the columns' heads.
    pub(crate) fn new(title: &'static str, heads: &[&str]) -> Self {
        Self { title, rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()] }
    }

    /// Another row; as many cells as heads.
    pub(crate) fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    /// Prints the table to stdout.
    pub(crate) fn print(&self) {
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        println!("\n{}", self.title);
        for row in &self.rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
            println!("{}", cells.collect::<Vec<_>>().join("  "));
        }
    }
}
