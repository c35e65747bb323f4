//! Outcome of an experiment, as it is stored and shown in the report.

use crate::picture::Picture;
use chronoscope_published::{Cell, Figure, Judge, PublishedItem, Table, Value, Whose};
use serde::{Deserialize, Serialize};

/// Version of the kept file: one of another version is measured again.
pub const VERSION: u32 = 2;

/// Outcome of one experiment, and its circumstances.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Outcome {
    /// Version of the form, [`VERSION`].
    pub version: u32,
    /// Id of the experiment.
    pub experiment: String,
    /// Programs and options; of another key it is measured again.
    pub key: String,
    /// The commit that was measured.
    pub commit: String,
    /// Whether it is the short form.
    pub quick: bool,
    /// Extent, compared with the document's.
    pub scale: String,
    /// Machine of the measurement.
    pub machine: Machine,
    /// Programs that wanted a processor (load average of a minute), before and after.
    pub load: [f64; 2],
    /// UTC at the beginning, ns since 1970.
    pub began_utc_ns: i64,
    /// Seconds it took.
    pub took_s: f64,
    /// The command lines, in order.
    pub commands: Vec<String>,
    /// Reason why it failed; `None` for success.
    pub failure: Option<String>,
    /// Results by item.
    pub found: Vec<ItemResults>,
}

/// Machine on which something was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Machine {
    /// Name of the processor, as it reports it.
    pub cpu: String,
    /// Processors that may be used.
    pub cpus: usize,
    /// Memory, in MB.
    pub memory_mb: u64,
    /// Release of Linux.
    pub kernel: String,
}

/// Results for one item.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ItemResults {
    /// The item's full name.
    pub item: String,
    /// Figures, beside published ones or alone.
    pub rows: Vec<Row>,
    /// Tables of ours.
    pub tables: Vec<Titled>,
    /// Pictures of ours.
    pub pictures: Vec<Picture>,
    /// Remarks, a sentence each.
    pub words: Vec<String>,
    /// Reason why what is judged could not be measured.
    #[serde(default)]
    pub missing: Option<String>,
}

/// A table with its title.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Titled {
    /// Title of the table.
    pub title: String,
    /// Content of the table.
    pub table: Table,
}

/// A figure of ours.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Row {
    /// Name among the item's published figures; empty for an unpublished one.
    #[serde(default)]
    pub figure: String,
    /// Meaning of an unpublished figure.
    #[serde(default)]
    pub what: String,
    /// Unit of an unpublished figure.
    #[serde(default)]
    pub unit: String,
    /// Our value; `None` where it could not be measured.
    pub ours: Option<Value>,
    /// Remark on the value.
    #[serde(default)]
    pub note: String,
    /// A limit or a peer of the same run.
    #[serde(default)]
    pub beside: Option<Beside>,
}

/// A limit or a peer, measured in the same run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Beside {
    /// Name of the value.
    pub what: String,
    /// In the row's unit.
    pub value: f64,
}

/// What a reader may conclude from an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A finding, a factor or a shape was checked, could have failed, and holds.
    Confirmed,
    /// It was checked, and does not hold.
    Differs,
    /// A picture or a table without a claim that is checked.
    Shown,
    /// Another load, machine or population: both numbers are shown.
    NotComparable,
    /// What should be there was not measured.
    Missing,
}

impl Verdict {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 5] =
        [Self::Confirmed, Self::Differs, Self::Shown, Self::NotComparable, Self::Missing];

    /// Name for display.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Differs => "differs",
            Self::Shown => "shown",
            Self::NotComparable => "not comparable",
            Self::Missing => "missing",
        }
    }

    /// Name for programs: as for display, without blanks.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::NotComparable => "not_comparable",
            other => other.name(),
        }
    }
}

/// Relative tolerance of equality, where a figure has none of its own.
const TOLERANCE: f64 = 0.1;

/// Ours held to a judged figure; `None` where nothing is judged.
#[must_use]
pub fn judge(figure: &Figure, ours: Value) -> Option<Verdict> {
    let tolerance = figure.tolerance.unwrap_or(TOLERANCE);
    let ([from, to], [low, high]) = (figure.value.bounds(), ours.bounds());
    // Each comparison is false of what is no number.
    let holds = match figure.judge {
        Judge::None => return None,
        Judge::AtMost => high <= to,
        Judge::AtLeast => low >= from,
        Judge::Near => low >= from - from.abs() * tolerance && high <= to + to.abs() * tolerance,
    };
    Some(if holds { Verdict::Confirmed } else { Verdict::Differs })
}

/// Verdict on one figure; `None` for a circumstance.
#[must_use]
pub fn of_figure(figure: &Figure, ours: Option<Value>) -> Option<Verdict> {
    match ours {
        _ if figure.not_comparable.is_some() => Some(Verdict::NotComparable),
        None if figure.is_judged() => Some(Verdict::Missing),
        None => None,
        Some(ours) => judge(figure, ours),
    }
}

impl ItemResults {
    /// Results for an item, empty at first.
    #[must_use]
    pub fn new(item: &str) -> Self {
        Self { item: item.to_owned(), ..Self::default() }
    }

    /// A figure beside a published one. One that is not finite was not measured.
    pub fn figure(&mut self, figure: &str, ours: f64) -> &mut Row {
        self.row(Row { figure: figure.to_owned(), ..Row::new("", "", measured(ours)) })
    }

    /// Adds a range, from one figure to another, beside a published one.
    pub fn range(&mut self, figure: &str, from: f64, to: f64) -> &mut Row {
        let ours = (from.is_finite() && to.is_finite()).then_some(Value::Range([from, to]));
        self.row(Row { figure: figure.to_owned(), ..Row::new("", "", ours) })
    }

    /// A figure that the document has not.
    pub fn own(&mut self, what: &str, unit: &str, ours: f64) -> &mut Row {
        self.row(Row::new(what, unit, measured(ours)))
    }

    /// Adds a table.
    pub fn table(&mut self, title: &str, columns: &[&str], rows: Vec<Vec<Cell>>) {
        let columns = columns.iter().map(|head| (*head).to_owned()).collect();
        self.tables.push(Titled { title: title.to_owned(), table: Table { columns, rows } });
    }

    /// Adds a sentence.
    pub fn say(&mut self, words: impl Into<String>) {
        self.words.push(words.into());
    }

    /// Says why what is judged could not be measured.
    pub fn missing(&mut self, why: impl Into<String>) {
        self.missing = Some(why.into());
    }

    fn row(&mut self, row: Row) -> &mut Row {
        self.rows.push(row);
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// The row of a published figure.
    #[must_use]
    pub fn of(&self, figure: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.figure == figure)
    }

    /// Verdict on an item, and its reason. One judged figure that differs decides; then one that was
    /// not measured. An item without judged figures of the document claims nothing, whatever it
    /// shows: an aim of ours can fail it, and confirms nothing.
    #[must_use]
    pub fn verdict(&self, item: &PublishedItem) -> (Verdict, String) {
        let ours = |figure: &Figure| self.of(&figure.id).and_then(|row| row.ours);
        let of = |verdict: Verdict| {
            let figures = item.figures.iter();
            let such = figures.filter(move |one| of_figure(one, ours(one)) == Some(verdict));
            such.map(|figure| figure.what.as_str()).collect::<Vec<_>>()
        };
        let (differing, absent) = (of(Verdict::Differs), of(Verdict::Missing));
        let mut why = Vec::new();
        if !differing.is_empty() {
            why.push(format!("not so: {}", differing.join("; ")));
        }
        if !absent.is_empty() {
            why.push(format!("not measured: {}", absent.join("; ")));
        }
        why.extend(self.missing.clone());
        let empty = self.rows.is_empty() && self.tables.is_empty() && self.pictures.is_empty();
        let verdict = if !differing.is_empty() {
            Verdict::Differs
        } else if !absent.is_empty() || self.missing.is_some() || empty {
            Verdict::Missing
        } else if item.figures.iter().any(|one| one.is_judged() && one.whose != Whose::Aim) {
            Verdict::Confirmed
        } else if !of(Verdict::NotComparable).is_empty() {
            Verdict::NotComparable
        } else {
            Verdict::Shown
        };
        (verdict, why.join(". "))
    }
}

/// The number, where it is one.
fn measured(ours: f64) -> Option<Value> {
    ours.is_finite().then_some(Value::Number(ours))
}

impl Row {
    fn new(what: &str, unit: &str, ours: Option<Value>) -> Self {
        Self {
            figure: String::new(),
            what: what.to_owned(),
            unit: unit.to_owned(),
            ours,
            note: String::new(),
            beside: None,
        }
    }

    /// With a note.
    pub fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = note.into();
        self
    }

    /// With a limit or a peer of the same run.
    pub fn beside(&mut self, what: &str, value: f64) -> &mut Self {
        self.beside = Some(Beside { what: what.to_owned(), value });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_published::Published;

    fn figure(judge: Judge, value: Value) -> Figure {
        let text = "id = \"x\"\nwhat = \"x\"\nvalue = 1";
        Figure { judge, value, ..toml::from_str(text).unwrap() }
    }

    #[test]
    fn ours_is_held_to_what_the_figure_says() {
        let verdict = |how, published, ours| {
            judge(&figure(how, Value::Number(published)), Value::Number(ours))
        };
        assert_eq!(verdict(Judge::None, 1.0, 2.0), None);
        assert_eq!(verdict(Judge::Near, 100.0, 109.0), Some(Verdict::Confirmed));
        assert_eq!(verdict(Judge::Near, 100.0, 111.0), Some(Verdict::Differs));
        assert_eq!(verdict(Judge::Near, -1.0, -1.05), Some(Verdict::Confirmed));
        assert_eq!(verdict(Judge::Near, -1.0, -1.2), Some(Verdict::Differs));
        assert_eq!(verdict(Judge::AtMost, 0.3, 0.3), Some(Verdict::Confirmed));
        assert_eq!(verdict(Judge::AtMost, 0.3, f64::NAN), Some(Verdict::Differs));
        assert_eq!(verdict(Judge::AtLeast, 8.0, 7.0), Some(Verdict::Differs));
        let range = figure(Judge::Near, Value::Range([80.0, 100.0]));
        assert_eq!(judge(&range, Value::Number(71.0)), Some(Verdict::Differs));
        assert_eq!(judge(&range, Value::Range([73.0, 109.0])), Some(Verdict::Confirmed));
        assert_eq!(judge(&range, Value::Range([73.0, 120.0])), Some(Verdict::Differs));
    }

    #[test]
    fn content_alone_confirms_nothing() {
        let published = Published::read().unwrap();
        let item = published.item("phoenix.image1").unwrap();
        let mut found = ItemResults::new("phoenix.image1");
        assert_eq!(found.verdict(item).0, Verdict::Missing);
        found.own("classes", "", 8.0);
        assert_eq!(found.verdict(item).0, Verdict::Shown);
    }

    #[test]
    fn what_is_judged_and_not_measured_is_missing() {
        let published = Published::read().unwrap();
        let item = published.item("etfms.target").unwrap();
        let mut found = ItemResults::new("etfms.target");
        found.figure("detect_pct", 0.1);
        found.figure("false_alarms", f64::NAN);
        let (verdict, why) = found.verdict(item);
        assert_eq!(verdict, Verdict::Missing);
        assert!(why.contains("not measured: pairs"), "{why}");
        // One that differs says more than one that is not there.
        found.rows[0].ours = Some(Value::Number(2.0));
        assert_eq!(found.verdict(item).0, Verdict::Differs);
    }
}
