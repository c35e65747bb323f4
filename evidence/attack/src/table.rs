//! The report as a table.

use crate::report::{Report, ReportLine, Tried};
use anyhow::{Context, Result, bail};
use chronoscope_chain::Thousands;
use std::fmt::Write as _;
use std::path::Path;

/// Between these the table stands in a Markdown file.
const MARKS: [&str; 2] = ["<!-- make attack -->\n", "<!-- end -->\n"];

/// Columns of a line after its name.
fn cells(line: &ReportLine) -> [String; 7] {
    match &line.result {
        Tried::Outcome(outcome) => {
            let memory = match outcome.memory {
                0 => String::new(),
                octets => chronoscope_figures::numbers::bytes(octets),
            };
            let figures =
                [outcome.tried, outcome.lost, outcome.doubled, outcome.silent, outcome.hung];
            let [tried, lost, doubled, silent, hung] =
                figures.map(|figure| Thousands(figure).to_string());
            [tried, lost, doubled, silent, hung, memory, outcome.note.clone()]
        }
        Tried::Skipped(why) => not_tried("skipped", why),
        Tried::Failed(why) => not_tried("failed", why),
    }
}

fn not_tried(word: &str, why: &str) -> [String; 7] {
    let mut cells = [const { String::new() }; 7];
    cells[0] = word.to_owned();
    cells[6] = why.to_owned();
    cells
}

const HEADING: [&str; 8] =
    ["attack", "tried", "lost", "doubled", "silently wrong", "hung", "memory", "what held"];

fn summary(report: &Report) -> String {
    format!(
        "{} of {} attacks held, in {:.0} s on {} processors (load before: {}); {}, seed {}{}",
        report.attacks.iter().filter(|line| holds(line)).count(),
        report.attacks.len(),
        report.seconds,
        report.processors,
        report.load,
        report.program,
        report.seed,
        if report.short { ", short form" } else { "" }
    )
}

fn holds(line: &ReportLine) -> bool {
    matches!(&line.result, Tried::Outcome(outcome) if outcome.holds())
}

/// For a terminal.
pub(crate) fn text(report: &Report) -> String {
    let mut text = String::new();
    let mut row = |name: &str, cells: &[String]| {
        let _ = writeln!(
            text,
            "{name:<16} {:>9} {:>7} {:>7} {:>8} {:>5} {:>9}  {}",
            cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]
        );
    };
    let heading = ["tried", "lost", "doubled", "silent", "hung", "memory", "what held"];
    row("attack", &heading.map(str::to_owned));
    for line in &report.attacks {
        row(line.name, &cells(line));
    }
    text + &summary(report) + "\n"
}

/// For a document.
fn markdown(report: &Report) -> String {
    let mut text = format!("{}\n|---|---:|---:|---:|---:|---:|---:|---|\n", row(&HEADING));
    for line in &report.attacks {
        let [tried, lost, doubled, silent, hung, memory, note] = cells(line);
        let name = format!("{}: {}", line.name, line.what);
        let cells = [&name, &tried, &lost, &doubled, &silent, &hung, &memory, &note];
        let _ = writeln!(text, "{}", row(&cells.map(|cell| cell.as_str())));
    }
    text + "\n" + &summary(report) + ".\n"
}

fn row(cells: &[&str]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// Replaces the text between the marks in a file.
///
/// # Errors
/// When the file cannot be read or written, or has no marks.
pub(crate) fn write(report: &Report, path: &Path) -> Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let parts = text.split_once(MARKS[0]).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(MARKS[1])?;
        Some([before, MARKS[0], &markdown(report), MARKS[1], after].concat())
    });
    let Some(text) = parts else {
        bail!("{}: no {:?} with {:?} behind it", path.display(), MARKS[0], MARKS[1])
    };
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}
