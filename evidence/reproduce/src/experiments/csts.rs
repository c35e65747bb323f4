//! CSTS: the space link series.

mod buffers;
mod delay;
mod length;
mod summary;
#[cfg(test)]
mod tests;

use super::{list, word};
use crate::outcome::ItemResults;
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;

/// Runs the series.
///
/// # Errors
/// When it fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let (out, quick) = (run.fresh("series")?, run.quick);
    // The document has no Java peer and no chains of transactions. The short form has no time for
    // the communication server.
    let without = if quick { "java,verdict,server" } else { "java,verdict" };
    let call = run.call("sle-series")?.args(["--json", "--without", without, "--out"]);
    let call = call.arg(out);
    let call = if quick {
        call.args(["--quick", "--rounds", "1", "--round-ms", "150"])
    } else {
        call.args(["--rounds", "3", "--round-ms", "700"])
    };
    items(&call.json()?)
}

/// The items, from what the series prints.
fn items(printed: &Value) -> Result<Vec<ItemResults>> {
    let series = Printed(printed);
    Ok(vec![
        length::target(&series)?,
        length::setup(&series)?,
        length::measurement(&series, "csts.measurement1", "1")?,
        length::measurement(&series, "csts.measurement2", "2")?,
        length::measurement(&series, "csts.measurement3", "3")?,
        delay::delayed(&series)?,
        delay::reference(&series)?,
        delay::of_reference(&series)?,
        delay::windows(&series)?,
        summary::factors(&series)?,
        summary::aggregation(&series)?,
        buffers::confirmed(&series)?,
        buffers::buffering(&series)?,
        buffers::graph(&series)?,
        buffers::asn1(&series)?,
    ])
}

/// Output of the series.
struct Printed<'v>(&'v Value);

/// A table of it.
struct Rows<'v>(&'v [Value]);

impl<'v> Printed<'v> {
    /// The table whose title begins so.
    fn table(&self, title: &str) -> Result<Rows<'v>> {
        let tables =
            list(self.0, "/steps")?.iter().filter_map(|step| step["tables"].as_array()).flatten();
        let found = tables.into_iter().find(|table| word(table, "title").starts_with(title));
        let found = found.with_context(|| format!("the series has no table {title}"))?;
        Ok(Rows(list(found, "/rows")?))
    }

    /// Sentences of a step.
    fn words(&self, step: u64) -> Vec<String> {
        let steps = self.0["steps"].as_array().into_iter().flatten();
        let of =
            steps.filter(|found| found["step"] == step).filter_map(|step| step["words"].as_array());
        of.flatten().filter_map(|line| Some(line.as_str()?.trim().to_owned())).collect()
    }
}

impl<'v> Rows<'v> {
    /// The first row with these words and these numbers.
    fn row(&self, words: &[(&str, &str)], numbers: &[(&str, f64)]) -> Option<&'v Value> {
        self.0.iter().find(|row| {
            words.iter().all(|(key, expected)| word(row, key) == *expected)
                && numbers.iter().all(|(key, expected)| is(row, key, *expected))
        })
    }

    /// The output as a table of the report: columns by key and head.
    fn show(&self, columns: &[(&str, &str)]) -> Vec<Vec<Cell>> {
        let cell = |row: &Value, key: &str| match &row[key] {
            Value::String(text) => text.clone().into(),
            other => other.as_f64().into(),
        };
        self.0.iter().map(|row| columns.iter().map(|(key, _)| cell(row, key)).collect()).collect()
    }

    fn add_to(&self, found: &mut ItemResults, title: &str, columns: &[(&str, &str)]) {
        let heads: Vec<&str> = columns.iter().map(|(_, head)| *head).collect();
        found.table(title, &heads, self.show(columns));
    }
}

/// Whether a row has this number in a column; numbers of a series are printed with a point.
fn is(row: &Value, key: &str, number: impl Into<f64>) -> bool {
    row[key].as_f64() == Some(number.into())
}

/// A row's number; NaN where there is none, so that nothing is made of it.
fn number(row: Option<&Value>, key: &str) -> f64 {
    row.and_then(|row| row[key].as_f64()).unwrap_or(f64::NAN)
}

/// Columns that all measured points have.
const MEASURED: [(&str, &str); 3] =
    [("mbit_per_s", "Mbit/s"), ("units_per_s", "units/s"), ("spread", "spread")];

fn with<'c>(columns: &[(&'c str, &'c str)]) -> Vec<(&'c str, &'c str)> {
    [columns, &MEASURED].concat()
}
