//! A comparison in words.

use chronoscope_figures::numbers;
use std::fmt::Write;

use super::comparison::{Comparison, Cycles, ProcessResult, Row, RunHeader, UnjudgedFigure};

/// A page: who was compared, then what moved, then the rest.
pub fn text(comparison: &Comparison) -> String {
    let mut page = String::new();
    // Writing into a string cannot fail.
    let _ = write_page(&mut page, comparison);
    page
}

fn write_page(page: &mut String, comparison: &Comparison) -> std::fmt::Result {
    for (word, head) in [("before", &comparison.before), ("after ", &comparison.after)] {
        writeln!(page, "{word}  {}", head_line(head))?;
    }
    for warning in &comparison.warnings {
        writeln!(page, "careful: {warning}")?;
    }
    let mut rows: Vec<&Row> = comparison.rows.iter().collect();
    rows.sort_by_key(|row| order(&row.state));
    for row in rows {
        writeln!(page)?;
        write_row(page, row)?;
    }
    writeln!(page, "\n{}", summary(comparison))
}

/// One line that identifies a run.
pub(super) fn head_line(head: &RunHeader) -> String {
    let discarded = match head.discarded {
        0 => String::new(),
        n => format!("; {n} executions discarded, their counters contradicted each other"),
    };
    let (before, after) = (head.load_before.one, head.load_after.one);
    format!("{}  {}  (load {before:.2}, then {after:.2}{discarded})", head.id, head.title)
}

/// The result in a sentence.
pub(super) fn summary(comparison: &Comparison) -> String {
    let (moved, none) = (comparison.moved().count(), comparison.without_verdict().count());
    let of = comparison.rows.iter().filter(|row| row.state != ProcessResult::Whole).count();
    let moved = match moved {
        0 => format!("nothing moved, of {of}"),
        n => format!("{n} of {of} moved"),
    };
    if none == 0 { moved } else { format!("{moved}; {none} without a verdict") }
}

/// Sort key: the most important state first.
pub(super) fn order(state: &ProcessResult) -> u8 {
    match state {
        ProcessResult::Moved => 0,
        ProcessResult::NoVerdict { .. } => 1,
        ProcessResult::New | ProcessResult::Gone => 2,
        ProcessResult::Unmoved => 3,
        ProcessResult::Whole => 4,
    }
}

fn write_row(page: &mut String, row: &Row) -> std::fmt::Result {
    let word = match &row.state {
        ProcessResult::Moved => "MOVED",
        ProcessResult::Unmoved => "same",
        ProcessResult::Whole => "all",
        ProcessResult::New => "new",
        ProcessResult::Gone => "gone",
        ProcessResult::NoVerdict { .. } => "no verdict",
    };
    write!(page, "{word:<10}  {}", row.name())?;
    match (&row.state, row.main()) {
        (ProcessResult::NoVerdict { because }, _) => return writeln!(page, ": {because}"),
        (_, None) => return writeln!(page),
        (_, Some(judged)) => writeln!(
            page,
            "  {}  {} -> {}",
            percent(judged.change),
            figure("", judged.verdict.before),
            figure("", judged.verdict.after)
        )?,
    }
    for judged in &row.judged {
        writeln!(page, "            {} {}", judged.figure, judged.statement)?;
    }
    if let Some(cycles) = &row.cycles {
        writeln!(page, "            {}", cycles_line(cycles))?;
    }
    for other in row.others.iter().filter(|other| !other.is_noisy()) {
        writeln!(page, "            {}", other_line(other))?;
    }
    let noisy: Vec<_> =
        row.others.iter().filter(|other| other.is_noisy()).map(other_line).collect();
    if noisy.is_empty() { Ok(()) } else { writeln!(page, "            {}", noisy.join(", ")) }
}

pub(super) fn cycles_line(cycles: &Cycles) -> String {
    let verdict = &cycles.verdict;
    let moved = if verdict.moved { "cycles moved" } else { "cycles did not move" };
    let how = match cycles.interleaved {
        true => "executions in turns",
        false => "executions one version after the other: what else the machine did is in it",
    };
    format!(
        "{moved}: {} (from {} to {} with {} confidence; {} pairs, {how}; a change of {} would \
         have been found)",
        percent(verdict.change),
        percent(verdict.interval.0),
        percent(verdict.interval.1),
        numbers::percent(1.0 - verdict.alpha, 0),
        verdict.pairs,
        percent(verdict.detectable),
    )
}

pub(super) fn other_line(other: &UnjudgedFigure) -> String {
    let (name, before) =
        (other.figure.trim_end_matches("_ns"), figure(&other.figure, other.before));
    if before == figure(&other.figure, other.after) {
        return format!("{name} {before}");
    }
    format!("{name} {before} -> {}", figure(&other.figure, other.after))
}

/// The value with its sign, and enough digits for one part in ten million.
pub(super) fn percent(part: f64) -> String {
    numbers::signed_percent(part, 4)
}

/// A figure in the unit that its name implies.
pub fn figure(name: &str, value: f64) -> String {
    if name.ends_with("_ns") {
        return numbers::duration_rounded(value);
    }
    numbers::decimal(value.max(0.0).round(), 0)
}
