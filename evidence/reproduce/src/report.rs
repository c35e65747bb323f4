//! The report: every item of the documents, ours beside theirs.

use crate::coverage::result::CoveredRow;
use crate::outcome::{ItemResults, Outcome, Verdict};
use crate::plan::{Experiment, REASONS};
use anyhow::{Context, Result};
use chronoscope_published::{Document, Published, PublishedItem};
use std::path::{Path, PathBuf};

mod coverage;
mod figures;
mod html;
mod pages;
mod style;
mod words;

/// All that is shown.
#[derive(Debug)]
pub struct Report<'a> {
    /// The documents with their entries, in order.
    pub documents: Vec<(&'a Document, Vec<ReportEntry<'a>>)>,
    /// Outcomes in the order of the plan.
    pub outcomes: &'a [Outcome],
    /// UTC when it was put together, ns since 1970.
    pub at_utc_ns: i64,
    /// Rows of the coverage, with the outcomes of their checks; none without a table.
    pub coverage: Vec<CoveredRow<'a>>,
}

/// An item and its results.
#[derive(Debug)]
pub struct ReportEntry<'a> {
    /// Full name of the item.
    pub name: String,
    /// The published item.
    pub item: &'a PublishedItem,
    /// Results, and the outcome that has them.
    pub found: Option<(&'a Outcome, &'a ItemResults)>,
    /// Verdict on the item.
    pub verdict: Verdict,
    /// Reason of the verdict; may be empty.
    pub why: String,
}

impl<'a> Report<'a> {
    /// Makes a report of outcomes. An item without results is included as missing, with the reason.
    #[must_use]
    pub fn new(
        published: &'a Published,
        plan: &[Experiment],
        outcomes: &'a [Outcome],
        at_utc_ns: i64,
    ) -> Self {
        let entry = |document: &Document, item: &'a PublishedItem| {
            let name = format!("{}.{}", document.id, item.id);
            let found = outcomes.iter().find_map(|outcome| {
                Some((outcome, outcome.found.iter().find(|found| found.item == name)?))
            });
            let (verdict, why) = match found {
                Some((_, found)) => found.verdict(item),
                None => (Verdict::Missing, missing(&name, plan, outcomes)),
            };
            ReportEntry { name, item, found, verdict, why }
        };
        let documents = published.documents.iter().map(|document| {
            (document, document.items.iter().map(|item| entry(document, item)).collect())
        });
        Self { documents: documents.collect(), outcomes, at_utc_ns, coverage: Vec::new() }
    }

    /// All entries of the report.
    pub fn entries(&self) -> impl Iterator<Item = &ReportEntry<'a>> {
        self.documents.iter().flat_map(|(_, entries)| entries)
    }

    /// Number of items by verdict.
    #[must_use]
    pub fn counts(&self) -> [(Verdict, usize); 5] {
        Verdict::ALL.map(|verdict| {
            (verdict, self.entries().filter(|entry| entry.verdict == verdict).count())
        })
    }

    /// `index.html` and `figures.json` in a folder; where the page is.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf> {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let page = folder.join("index.html");
        let figures = serde_json::to_string_pretty(&self.figures())? + "\n";
        for (path, text) in [(&page, self.html()), (&folder.join("figures.json"), figures)] {
            std::fs::write(path, text).with_context(|| path.display().to_string())?;
        }
        Ok(page)
    }

    /// Text for a terminal: a line for each selected item.
    #[must_use]
    pub fn text(&self, is_wanted: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        for (document, entries) in &self.documents {
            let wanted = || entries.iter().filter(|entry| is_wanted(&entry.name));
            if wanted().next().is_none() {
                continue;
            }
            text += &format!("\n{} ({})\n", document.title, document.year);
            for entry in wanted() {
                let why =
                    if entry.why.is_empty() { String::new() } else { format!("  ({})", entry.why) };
                text += &format!(
                    "  {:<14} {}: {}{why}\n",
                    entry.verdict.name(),
                    entry.name,
                    entry.item.title
                );
            }
        }
        let counts = self.counts().map(|(verdict, count)| format!("{count} {}", verdict.name()));
        text + &format!("\n{}\n", counts.join(", "))
    }
}

/// Reason why an item has no results.
fn missing(name: &str, plan: &[Experiment], outcomes: &[Outcome]) -> String {
    if let Some((_, why)) = REASONS.iter().find(|(item, _)| *item == name) {
        return (*why).to_owned();
    }
    let Some(experiment) = plan.iter().find(|one| one.items.contains(&name)) else {
        return "no experiment yields it".to_owned();
    };
    match outcomes.iter().find(|outcome| outcome.experiment == experiment.id) {
        Some(Outcome { failure: Some(why), .. }) => format!("{} failed: {why}", experiment.id),
        Some(_) => format!("{} found nothing of it", experiment.id),
        None => format!("not measured yet: tools/reproduce --only {}", experiment.id),
    }
}

pub use chronoscope_escape::xml as escaped;

pub use chronoscope_figures::numbers::significant as number;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_that_count() {
        let shown = [0.0, 137.038, 277_000.0, -0.165, 1048.43, 0.000_02, 11_598_168.0, 4.0];
        let shown = shown.map(number);
        let right = ["0", "137", "277,000", "−0.165", "1,048", "2.0e-5", "11,598,168", "4"];
        assert_eq!(shown, right);
    }
}
