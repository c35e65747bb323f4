//! Results in `docs/papers`: each document's page compares them with its claims.

use super::words::{held_to, notes, printed_value, ratio, value};
use super::{Report, ReportEntry, number};
use crate::outcome::{Outcome, Verdict, of_figure};
use anyhow::{Context, Result};
use chronoscope_published::{Document, Figure};
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

/// Verdicts of all items, the figures that are judged, and those that are not comparable.
fn found(document: &Document, entries: &[ReportEntry<'_>]) -> String {
    let counts = Verdict::ALL.map(|verdict| {
        let count = entries.iter().filter(|entry| entry.verdict == verdict).count();
        format!("{count} {}", verdict.name())
    });
    let mut text = format!("Of {} items {}.\n", entries.len(), counts.join(", "));
    let heads = "| item | figure | published | ours | held to | ours / theirs | | |\n\
                 |---|---|---:|---:|---|---:|---|---|\n";
    text += &table(document, entries, "What is checked", heads, Figure::is_judged);
    let heads = "| item | figure | published | ours | not comparable: | | | |\n\
                 |---|---|---:|---:|---|---|---|---|\n";
    let apart = |figure: &Figure| figure.not_comparable.is_some();
    text += &table(document, entries, "What is not comparable", heads, apart);
    for entry in entries {
        if matches!(entry.verdict, Verdict::Missing | Verdict::Differs) {
            let item = short(document, entry);
            let _ = writeln!(text, "\n`{item}` {}: {}.", entry.verdict.name(), entry.why);
        }
    }
    text + &circumstances(entries)
}

/// The figures of a kind below a heading, with ours; nothing where there are none.
fn table(
    document: &Document,
    entries: &[ReportEntry<'_>],
    heading: &str,
    heads: &str,
    is_wanted: impl Fn(&Figure) -> bool,
) -> String {
    let mut rows = String::new();
    for entry in entries {
        for figure in entry.item.figures.iter().filter(|figure| is_wanted(figure)) {
            let row = entry.found.and_then(|(_, found)| found.of(&figure.id));
            let ours = row.and_then(|row| row.ours);
            let verdict = of_figure(figure, ours).filter(|_| figure.is_judged());
            let cells = [
                format!("`{}`", short(document, entry)),
                figure.what.clone(),
                with_unit(&printed_value(figure), &figure.unit),
                ours.map_or("–".to_owned(), |ours| with_unit(&value(Some(ours)), &figure.unit)),
                held_to(figure),
                ratio(figure, ours),
                verdict.map_or(String::new(), |verdict| verdict.name().to_owned()),
                notes(Some(figure), row),
            ];
            let _ =
                writeln!(rows, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
    }
    if rows.is_empty() { rows } else { format!("\n### {heading}\n\n{heads}{rows}") }
}

/// The item's name in its document.
fn short<'e>(document: &Document, entry: &'e ReportEntry<'_>) -> &'e str {
    entry.name.strip_prefix(&format!("{}.", document.id)).unwrap_or(&entry.name)
}

/// Numbers have their unit, words have none.
fn with_unit(shown: &str, unit: &str) -> String {
    let is_number = shown.starts_with(|first: char| first.is_ascii_digit() || first == '−');
    if is_number { format!("{shown} {unit}").trim_end().to_owned() } else { shown.to_owned() }
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
