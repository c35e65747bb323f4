//! A comparison as Markdown, for the summary of a CI job.

use chronoscope_figures::numbers;
use std::fmt::Write;

use super::Detail;
use super::comparison::{Comparison, ProcessResult, Row};
use super::text::{cycles_line, figure, order, other_line, percent, summary};

/// Functions of a detail that are listed.
const FUNCTIONS: usize = 8;

/// A table of verdicts, how they were made, and where it moved.
pub fn markdown(title: &str, comparison: &Comparison, details: &[Detail]) -> String {
    let mut page = String::new();
    // Writing into a string cannot fail.
    let _ = write_page(&mut page, title, comparison, details);
    page
}

fn write_page(
    page: &mut String,
    title: &str,
    comparison: &Comparison,
    details: &[Detail],
) -> std::fmt::Result {
    writeln!(page, "### {}: {}\n", cell(title), summary(comparison))?;
    let (before, after) = (&comparison.before, &comparison.after);
    writeln!(page, "{} → {}\n", cell(&before.title), cell(&after.title))?;
    for warning in &comparison.warnings {
        writeln!(page, "> careful: {}\n", cell(warning))?;
    }
    writeln!(page, "| | | change | threshold | before | after |\n|---|---|---:|---:|---:|---:|")?;
    let mut rows: Vec<&Row> = comparison.rows.iter().collect();
    rows.sort_by_key(|row| order(&row.state));
    for row in &rows {
        writeln!(page, "{}", line(row))?;
    }
    for row in &rows {
        let statements = row.judged.iter().map(|judged| (&judged.figure, &judged.statement));
        for (figure, statement) in statements {
            writeln!(page, "\n`{}`: {figure} {statement}.", cell(&row.name()))?;
        }
        if let Some(cycles) = &row.cycles {
            writeln!(page, "\n`{}`: {}.", cell(&row.name()), cycles_line(cycles))?;
        }
    }
    for detail in details {
        write_detail(page, detail)?;
    }
    let (one, two) = (before.load_before.one, after.load_after.one);
    writeln!(page, "\n<sub>load of the machine {one:.2}, then {two:.2}</sub>")
}

fn line(row: &Row) -> String {
    let name = cell(&row.name());
    let word = match &row.state {
        ProcessResult::Moved if row.main().is_some_and(|judged| judged.change > 0.0) => "🔴 dearer",
        ProcessResult::Moved => "🟢 cheaper",
        ProcessResult::Unmoved => "same",
        ProcessResult::Whole => {
            let times: Vec<String> = row.others.iter().map(other_line).collect();
            return format!("| {name} | all processes | {} | | | |", cell(&times.join(", ")));
        }
        ProcessResult::New => "new",
        ProcessResult::Gone => "gone",
        ProcessResult::NoVerdict { because } => {
            return format!("| {name} | ⚠ {} | | | | |", cell(because));
        }
    };
    let Some(judged) = row.main() else { return format!("| {name} | {word} | | | | |") };
    let verdict = &judged.verdict;
    format!(
        "| {name} | {word} | {} | ±{} | {} | {} |",
        percent(judged.change),
        numbers::percent(verdict.threshold.part, 4),
        figure("", verdict.before),
        figure("", verdict.after)
    )
}

fn write_detail(page: &mut String, detail: &Detail) -> std::fmt::Result {
    writeln!(page, "\n<details><summary>Where <code>{}</code> moved</summary>\n", detail.name)?;
    writeln!(page, "| own cost | of itself | function | |\n|---:|---:|---|---|")?;
    let total = detail.diff.total.before;
    for function in detail.diff.functions.iter().take(FUNCTIONS) {
        let own = function.own;
        writeln!(
            page,
            "| {} | {} | `{}` | {} |",
            percent(own.share_of(total)),
            if own.before == 0 { "new".to_owned() } else { percent(own.share_of(own.before)) },
            cell(&function.name).replace('`', "'"),
            cell(&function.file)
        )?;
    }
    writeln!(page, "\n</details>")
}

/// Escapes characters that would end a cell or begin a tag.
fn cell(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('|', "\\|").replace(['\n', '\r'], " ")
}
