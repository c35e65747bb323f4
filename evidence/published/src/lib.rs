//! Figures, tables and pictures of the published documents, as data: `published.toml`.
//!
//! ```
//! use chronoscope_published::{Published, Value};
//!
//! let published = Published::read()?;
//! let mean = published.item("phoenix.image10").and_then(|item| item.figure("mean_ms"));
//! assert_eq!(mean.map(|figure| figure.value), Some(Value::Number(137.038)));
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! Not here: ours, and the comparison (`reproduce`). The figures that a product prints are in that
//! product, and read from there (`net`).

pub mod coverage;
mod net;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// All documents, in their order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// All documents.
    #[serde(rename = "document")]
    pub documents: Vec<Document>,
}

/// A published document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Short name, the first half of its items' names.
    pub id: String,
    /// Title as printed.
    pub title: String,
    /// Names of the authors.
    pub authors: String,
    /// Year of publication.
    pub year: u32,
    /// Question of the document, in a sentence.
    pub about: String,
    /// Tables, pictures and passages with figures, in their order.
    #[serde(rename = "item")]
    pub items: Vec<PublishedItem>,
}

/// A table, a picture or a passage with figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedItem {
    /// Unique in its document.
    pub id: String,
    /// Title in the document.
    pub title: String,
    /// Place in the document.
    pub place: String,
    /// Kind of the item.
    pub kind: ItemKind,
    /// Description of its content.
    pub shows: String,
    /// Published figures.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
    /// The table as printed.
    pub table: Option<Table>,
    /// Measurements of the program that the document describes, made apart from it and from ours.
    #[serde(default)]
    pub elsewhere: Vec<Elsewhere>,
}

/// A figure of the program that the document describes, which neither the document prints nor
/// `make reproduce` measures: context, held to nothing.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Elsewhere {
    /// Meaning of the figure.
    pub what: String,
    /// Measured value.
    pub value: Value,
    /// Unit of the figure; empty for counts and ratios.
    #[serde(default)]
    pub unit: String,
    /// What was measured: program and version.
    pub by: String,
    /// When, and on what machine.
    pub when: String,
}

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// The item is a picture.
    Picture,
    /// The item is a table.
    Table,
    /// Words with figures in them.
    Text,
}

/// One published figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Unique in its item.
    pub id: String,
    /// Meaning of the figure.
    pub what: String,
    /// Published value.
    pub value: Value,
    /// Unit of the figure; empty for counts and ratios.
    #[serde(default)]
    pub unit: String,
    /// Comparison for ours.
    #[serde(default)]
    pub judge: Judge,
    /// Relative tolerance of equality, in [0, 1].
    pub tolerance: Option<f64>,
    /// Reason why ours is shown beside it and not held to it: another machine, load or population.
    pub not_comparable: Option<String>,
    /// Origin of the figure.
    #[serde(default)]
    pub whose: Whose,
    /// Derivation, where it is computed and not printed.
    pub source: Option<String>,
}

/// A figure: one number, or from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Two bounds, ascending.
    Range([f64; 2]),
}

impl Value {
    /// Both bounds, which of a number are the same.
    #[must_use]
    pub fn bounds(self) -> [f64; 2] {
        match self {
            Self::Number(number) => [number, number],
            Self::Range(bounds) => bounds,
        }
    }
}

/// Comparison that ours has to pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// No comparison: the figure is a circumstance, or not comparable.
    #[default]
    None,
    /// Equality within the tolerance; with a range, all of ours within it.
    Near,
    /// A limit above which it must not be.
    AtMost,
    /// A limit below which it must not be.
    AtLeast,
}

/// Origin of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Whose {
    /// Printed in the document, or computed from what it prints.
    #[default]
    Document,
    /// The document says it in words, which `source` quotes; the number is our criterion for them.
    Claim,
    /// Ours to reach, where the document says nothing.
    Aim,
}

/// A printed table.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Rows, with as many cells as heads.
    pub rows: Vec<Vec<Cell>>,
}

/// Content of a cell.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Cell {
    /// The number in it.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Text("–".to_owned()) }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.unwrap_or(f64::NAN).into()
    }
}

impl Published {
    /// The documents' figures.
    ///
    /// # Errors
    /// When the file that was built in contradicts itself; a test reads it.
    pub fn read() -> Result<Self> {
        let mut documents: toml::Table =
            include_str!("../published.toml").parse().context("published.toml")?;
        net::fill_in(&mut documents)?;
        let read: Self = documents.try_into().context("published.toml")?;
        read.check()?;
        Ok(read)
    }

    /// Every item with its full name, in order.
    pub fn items(&self) -> impl Iterator<Item = (String, &PublishedItem)> {
        self.documents.iter().flat_map(|document| {
            document.items.iter().map(|item| (format!("{}.{}", document.id, item.id), item))
        })
    }

    /// The item of a full name.
    #[must_use]
    pub fn item(&self, name: &str) -> Option<&PublishedItem> {
        self.items().find(|(known, _)| known == name).map(|(_, item)| item)
    }

    /// The figure of an item, where it is one number.
    ///
    /// # Errors
    /// When there is no such item or figure, or it is a range.
    pub fn number(&self, item: &str, figure: &str) -> Result<f64> {
        match self.value(item, figure)? {
            Value::Number(number) => Ok(number),
            Value::Range([from, to]) => bail!("{item}: {figure} is {from} to {to}"),
        }
    }

    /// The figure of an item.
    ///
    /// # Errors
    /// When there is no such item or figure.
    pub fn value(&self, item: &str, figure: &str) -> Result<Value> {
        let of_item = self.item(item).with_context(|| format!("no item is called {item}"))?;
        let of_figure = of_item.figure(figure);
        Ok(of_figure.with_context(|| format!("{item} has no figure {figure}"))?.value)
    }

    /// The rows of an item's table.
    ///
    /// # Errors
    /// When there is no such item, or it has no table.
    pub fn rows(&self, item: &str) -> Result<&[Vec<Cell>]> {
        let of_item = self.item(item).with_context(|| format!("no item is called {item}"))?;
        Ok(&of_item.table.as_ref().with_context(|| format!("{item} has no table"))?.rows)
    }

    fn check(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        for (name, item) in self.items() {
            ensure!(names.insert(name.clone()), "{name} is there twice");
            let mut figures = BTreeSet::new();
            for figure in &item.figures {
                ensure!(figures.insert(&figure.id), "{name}: {} is there twice", figure.id);
                let [from, to] = figure.value.bounds();
                ensure!(from <= to, "{name}: {}: {from} to {to}", figure.id);
                let fits = figure.tolerance.is_none_or(|part| (0.0..=1.0).contains(&part));
                ensure!(fits, "{name}: {}: a tolerance is a part of 1", figure.id);
                figure.check().with_context(|| format!("{name}: {}", figure.id))?;
            }
            for row in item.table.iter().flat_map(|table| &table.rows) {
                let columns = item.table.as_ref().map_or(0, |table| table.columns.len());
                ensure!(row.len() == columns, "{name}: a row of {} cells", row.len());
            }
        }
        Ok(())
    }
}

impl Figure {
    /// Whether a verdict depends on it.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        self.judge != Judge::None
    }

    fn check(&self) -> Result<()> {
        ensure!(self.not_comparable.is_none() || !self.is_judged(), "judged, and not comparable");
        ensure!(
            self.tolerance.is_none() || self.judge == Judge::Near,
            "a tolerance, and nothing is compared"
        );
        match self.whose {
            Whose::Document => {}
            Whose::Claim => {
                ensure!(self.is_judged() && self.source.is_some(), "a claim is judged and quoted");
            }
            Whose::Aim => ensure!(self.is_judged(), "an aim that nothing is held to"),
        }
        Ok(())
    }
}

impl PublishedItem {
    /// The figure of a name.
    #[must_use]
    pub fn figure(&self, id: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read_and_all_five_documents_are_there() {
        let published = Published::read().unwrap();
        let documents: Vec<&str> = published.documents.iter().map(|d| d.id.as_str()).collect();
        assert_eq!(documents, ["phoenix", "etfms", "sps-lep", "aprsc", "csts"]);
        let mean = published.item("phoenix.image10").unwrap().figure("mean_ms").unwrap();
        assert_eq!((mean.value, mean.judge), (Value::Number(137.038), Judge::None));
        assert!(mean.not_comparable.is_some(), "a mean of another machine and load");
    }

    #[test]
    fn the_figures_of_net_are_filled_in() {
        let published = Published::read().unwrap();
        let rows = published.rows("sps-lep.table1").unwrap();
        assert_eq!(rows[3][0], Cell::Text("fsPCR".to_owned()));
        assert_eq!(rows[3][1].number(), Some(22_739.0));
        let rows = published.rows("sps-lep.table2").unwrap();
        let dot = Cell::Text(".".to_owned());
        assert_eq!(rows[2][1..4], [Cell::Number(1.4), Cell::Number(10.7), dot]);
        // The range of table 3, which the document does not print.
        let best =
            published.rows("sps-lep.table3").unwrap().iter().filter_map(|row| row[2].number());
        let best: Vec<f64> = best.collect();
        let bounds = published.value("sps-lep.table3", "response_ms").unwrap().bounds();
        let least = best.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!([least, best.iter().copied().fold(0.0, f64::max)], bounds);
        assert_eq!(published.number("sps-lep.rtrt", "i80386_ms").unwrap(), 60.0);
    }
}
