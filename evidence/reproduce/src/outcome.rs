//! Outcome of an experiment, as it is stored and shown in the report.

use crate::picture::Picture;
use chronoscope_published::{Cell, Figure, Judge, PublishedItem, Table, Value};
use serde::{Deserialize, Serialize};

/// Version of the kept file: one of another version is measured again.
pub const VERSION: u32 = 1;

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
    /// Verdict and its reason, where figures do not decide it.
    pub verdict: Option<(Verdict, String)>,
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
    /// Our value.
    pub ours: Value,
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

/// Result of comparing ours with the published value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Better than the published value.
    Better,
    /// Equal, or within a limit.
    Reproduced,
    /// Not equal, or outside a limit.
    Differs,
    /// We have no value.
    Missing,
}

impl Verdict {
    /// All of them, best first.
    pub const ALL: [Self; 4] = [Self::Better, Self::Reproduced, Self::Differs, Self::Missing];

    /// Name for display.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Reproduced => "reproduced",
            Self::Differs => "differs",
            Self::Missing => "missing",
        }
    }
}

/// Relative tolerance of equality, where a figure has none of its own.
const TOLERANCE: f64 = 0.1;

/// Ours beside a published figure; `None` where nothing is judged.
#[must_use]
pub fn judge(figure: &Figure, ours: Value) -> Option<Verdict> {
    let tolerance = figure.tolerance.unwrap_or(TOLERANCE);
    let ([from, to], [low, high]) = (figure.value.bounds(), ours.bounds());
    // Of a range, ours is better where all of it lies beyond.
    let (below, above) = (high < from * (1.0 - tolerance), low > to * (1.0 + tolerance));
    let same = !below && !above;
    let kept = |kept: bool| if kept { Verdict::Reproduced } else { Verdict::Differs };
    Some(match figure.judge {
        Judge::None => return None,
        Judge::AtMost => kept(high <= to),
        Judge::AtLeast => kept(low >= from),
        Judge::Near => kept(same),
        Judge::Less | Judge::More if same => Verdict::Reproduced,
        Judge::Less => {
            if below {
                Verdict::Better
            } else {
                Verdict::Differs
            }
        }
        Judge::More => {
            if above {
                Verdict::Better
            } else {
                Verdict::Differs
            }
        }
    })
}

impl ItemResults {
    /// Results for an item, empty at first.
    #[must_use]
    pub fn new(item: &str) -> Self {
        Self { item: item.to_owned(), ..Self::default() }
    }

    /// A figure beside a published one. One that is not finite was not measured.
    pub fn figure(&mut self, figure: &str, ours: f64) -> &mut Row {
        self.row(Row { figure: figure.to_owned(), ..Row::new("", "", Value::Number(ours)) })
    }

    /// Adds a range, from one figure to another, beside a published one.
    pub fn range(&mut self, figure: &str, from: f64, to: f64) -> &mut Row {
        self.row(Row { figure: figure.to_owned(), ..Row::new("", "", Value::Range([from, to])) })
    }

    /// A figure that the document has not.
    pub fn own(&mut self, what: &str, unit: &str, ours: f64) -> &mut Row {
        self.row(Row::new(what, unit, Value::Number(ours)))
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

    /// The verdict, where figures do not say it.
    pub fn conclude(&mut self, verdict: Verdict, why: impl Into<String>) {
        self.verdict = Some((verdict, why.into()));
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

    /// Verdict on an item, and its reason: the explicit one; else the worst of all comparisons.
    #[must_use]
    pub fn verdict(&self, item: &PublishedItem) -> (Verdict, String) {
        if let Some((verdict, why)) = &self.verdict {
            return (*verdict, why.clone());
        }
        let judged = item.figures.iter().filter(|figure| figure.judge != Judge::None);
        let (mut worst, mut differing, mut absent) = (None, Vec::new(), Vec::new());
        for figure in judged {
            let Some(row) = self.of(&figure.id) else {
                absent.push(figure.what.as_str());
                continue;
            };
            let Some(verdict) = judge(figure, row.ours) else { continue };
            if verdict == Verdict::Differs {
                differing.push(figure.what.as_str());
            }
            worst = worst.max(Some(verdict));
        }
        let mut why = Vec::new();
        if !differing.is_empty() {
            why.push(format!("not so: {}", differing.join("; ")));
        }
        if !absent.is_empty() {
            why.push(format!("not measured: {}", absent.join("; ")));
        }
        let verdict = worst.unwrap_or_else(|| self.shown());
        (verdict, why.join(". "))
    }

    /// Verdict without comparisons: whether there are any results.
    fn shown(&self) -> Verdict {
        let nothing = self.rows.is_empty() && self.tables.is_empty() && self.pictures.is_empty();
        if nothing { Verdict::Missing } else { Verdict::Reproduced }
    }
}

impl Row {
    fn new(what: &str, unit: &str, ours: Value) -> Self {
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
        assert_eq!(verdict(Judge::Less, 100.0, 89.0), Some(Verdict::Better));
        assert_eq!(verdict(Judge::Less, 100.0, 109.0), Some(Verdict::Reproduced));
        assert_eq!(verdict(Judge::Less, 100.0, 111.0), Some(Verdict::Differs));
        assert_eq!(verdict(Judge::More, 100.0, 111.0), Some(Verdict::Better));
        assert_eq!(verdict(Judge::Near, 100.0, 111.0), Some(Verdict::Differs));
        assert_eq!(verdict(Judge::AtMost, 0.3, 0.3), Some(Verdict::Reproduced));
        assert_eq!(verdict(Judge::AtLeast, 8.0, 7.0), Some(Verdict::Differs));
        let range = figure(Judge::Less, Value::Range([80.0, 100.0]));
        assert_eq!(judge(&range, Value::Number(71.0)), Some(Verdict::Better));
        assert_eq!(judge(&range, Value::Range([71.0, 90.0])), Some(Verdict::Reproduced));
    }

    #[test]
    fn an_item_is_as_good_as_its_worst_figure_and_says_what_is_not_measured() {
        let published = Published::read().unwrap();
        let item = published.item("phoenix.image14").unwrap();
        let mut found = ItemResults::new("phoenix.image14");
        assert_eq!(found.verdict(item).0, Verdict::Missing);
        assert!(found.verdict(item).1.contains("longest"));
        found.figure("peak_ms", 5000.0);
        assert_eq!(
            found.verdict(item),
            (Verdict::Differs, "not so: longest, more than".to_owned())
        );
        found.conclude(Verdict::Better, "because");
        assert_eq!(found.verdict(item).0, Verdict::Better);
    }
}
