//! Results in `docs/papers`: each document's page compares them with its claims.

use super::html::value;
use super::{Report, ReportEntry, number};
use crate::outcome::{Outcome, Verdict, judge};
use anyhow::{Context, Result};
use chronoscope_published::{Document, Value};
use std::fmt::Write as _;
use std::path::Path;

/// Heading of the results; they extend to the next heading.
const HEADING: &str = "\n## What we find\n";

impl Report<'_> {
    /// Writes the results into the pages of a folder, `DOCUMENT.md`; the rest of the pages stays.
    ///
    /// # Errors
    /// When a page cannot be read or written, or has no place for it.
    pub fn write_pages(&self, folder: &Path) -> Result<()> {
        for (document, entries) in &self.documents {
            let path = folder.join(format!("{}.md", document.id));
            let page =
                std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let page = with_found(&page, &found(document, entries))
                .with_context(|| format!("{}: no heading {}", path.display(), HEADING.trim()))?;
            std::fs::write(&path, page).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// The page with new results; `None` where it has no section for them.
fn with_found(page: &str, found: &str) -> Option<String> {
    let (before, rest) = page.split_once(HEADING)?;
    let after = rest.find("\n## ").map_or("", |at| &rest[at..]);
    Some(format!("{before}{HEADING}\n{found}{after}"))
}

/// Verdicts of all items, and the figures that are judged.
fn found(document: &Document, entries: &[ReportEntry<'_>]) -> String {
    let mut text = String::new();
    let counts = Verdict::ALL.map(|verdict| {
        let count = entries.iter().filter(|entry| entry.verdict == verdict).count();
        format!("{count} {}", verdict.name())
    });
    let _ = writeln!(
        text,
        "Of {} items {}. The figures that are judged:\n",
        entries.len(),
        counts.join(", ")
    );
    text +=
        "| item | figure | published | ours | ours / theirs | |\n|---|---|---:|---:|---:|---|\n";
    for entry in entries {
        for figure in &entry.item.figures {
            let row = entry.found.and_then(|(_, found)| found.of(&figure.id));
            let Some((row, verdict)) = row.and_then(|row| Some((row, judge(figure, row.ours)?)))
            else {
                continue;
            };
            let ratio = match (row.ours, figure.value) {
                (Value::Number(ours), Value::Number(theirs)) if theirs != 0.0 => {
                    number(ours / theirs)
                }
                _ => String::new(),
            };
            let item = entry.name.strip_prefix(&format!("{}.", document.id)).unwrap_or(&entry.name);
            let _ = writeln!(
                text,
                "| `{item}` | {} | {} | {} | {ratio} | {} |",
                figure.what,
                with_unit(figure.value, &figure.unit),
                with_unit(row.ours, &figure.unit),
                verdict.name()
            );
        }
    }
    for entry in
        entries.iter().filter(|entry| matches!(entry.verdict, Verdict::Missing | Verdict::Differs))
    {
        let item = entry.name.strip_prefix(&format!("{}.", document.id)).unwrap_or(&entry.name);
        let _ = writeln!(text, "\n`{item}` {}: {}.", entry.verdict.name(), entry.why);
    }
    text + &circumstances(entries)
}

fn with_unit(shown: Value, unit: &str) -> String {
    format!("{} {unit}", value(shown)).trim_end().to_owned()
}

/// Machine, load, and extent compared with the document's.
fn circumstances(entries: &[ReportEntry<'_>]) -> String {
    let mut outcomes: Vec<&Outcome> = Vec::new();
    for (outcome, _) in entries.iter().filter_map(|entry| entry.found) {
        if !outcomes.iter().any(|one| one.experiment == outcome.experiment) {
            outcomes.push(outcome);
        }
    }
    let Some(first) = outcomes.first() else { return String::new() };
    let mut text = format!(
        "\nMeasured on {}, {} processors, Linux {}; `reproduce --pages docs/papers` writes this section:\n\n",
        first.machine.cpu, first.machine.cpus, first.machine.kernel
    );
    for outcome in outcomes {
        let [before, after] = outcome.load.map(number);
        let form = if outcome.quick { "the short form" } else { "the whole" };
        let _ = writeln!(
            text,
            "* `{}`, {form}: {}; load average {before} before, {after} after.",
            outcome.experiment, outcome.scale
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_section_is_written() {
        let page = "# T\n\n## What we find\n\nold\n\nolder\n\n## Where we differ\n\nend\n";
        let written = with_found(page, "new\n").unwrap();
        assert_eq!(written, "# T\n\n## What we find\n\nnew\n\n## Where we differ\n\nend\n");
        assert_eq!(with_found(&written, "new\n").unwrap(), written, "twice is once");
        assert_eq!(with_found("# T\n", "new\n"), None);
        let last = with_found("# T\n\n## What we find\n\nold\n", "new\n").unwrap();
        assert_eq!(last, "# T\n\n## What we find\n\nnew\n");
    }
}
