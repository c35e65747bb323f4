//! A [`Diff`] as words: what moved, by how much of the total, from where.

use std::fmt::Write;

use super::Same;
use super::changes::{CostChange, Diff, FunctionChange, FunctionPresence};
use chronoscope_figures::numbers::{duration_rounded, grouped};

/// The `rows` largest changes of each kind, as a page of text.
pub fn text(diff: &Diff, rows: usize) -> String {
    let mut page = String::new();
    // Writing into a string cannot fail.
    let _ = write_page(&mut page, diff, rows);
    page
}

fn write_page(page: &mut String, diff: &Diff, rows: usize) -> std::fmt::Result {
    let total = diff.total.before;
    writeln!(
        page,
        "{}  {} -> {}  {}  ({}); changes up to {} are not shown",
        diff.event,
        grouped(diff.total.before),
        grouped(diff.total.after),
        signed(&diff.total),
        percent(diff.total.share_of(total)),
        grouped(diff.floor),
    )?;
    if diff.is_empty() {
        writeln!(page, "nothing moved")?;
        return system(page, diff, rows);
    }
    let own: Vec<_> = diff.functions.iter().filter(|f| moved(diff, &f.own)).collect();
    section(page, "own cost", "of itself  function", &own, rows, |page, f| {
        row(page, &f.own, total)?;
        writeln!(page, "{:>10}  {}", of_itself(&f.own), title(f))?;
        if !f.chain.is_empty() {
            writeln!(page, "{:>40}< {}", "", f.chain.join(" < "))?;
        }
        Ok(())
    })?;
    section(page, "source lines", "of itself  line", &diff.lines, rows, |page, line| {
        row(page, &line.own, total)?;
        let number = |line: Option<u32>| line.map_or("none".to_owned(), |line| line.to_string());
        let (before, after) = (number(line.line_before), number(line.line_after));
        let number = if before == after { after } else { format!("{before} -> {after}") };
        writeln!(page, "{:>10}  {}:{number} in {}", of_itself(&line.own), line.file, line.function)
    })?;
    let mut inclusive: Vec<_> =
        diff.functions.iter().filter(|f| moved(diff, &f.inclusive)).collect();
    inclusive.sort_by_key(|f| {
        (std::cmp::Reverse(f.inclusive.delta().unsigned_abs()), f.inclusive.before)
    });
    section(page, "inclusive cost", "of itself  function", &inclusive, rows, |page, f| {
        row(page, &f.inclusive, total)?;
        let note = if f.in_cycle { "  (in a cycle: at least)" } else { "" };
        writeln!(page, "{:>10}  {}{note}", of_itself(&f.inclusive), f.name)
    })?;
    section(page, "calls", "of itself  caller -> callee", &diff.calls, rows, |page, call| {
        row(page, &call.inclusive, total)?;
        let counts = counts("calls", &call.calls);
        let share = of_itself(&call.inclusive);
        writeln!(page, "{share:>10}  {} -> {}  {counts}", call.caller, call.callee)
    })?;
    section(page, "cycles", "of itself  members", &diff.cycles, rows, |page, cycle| {
        row(page, &cycle.inclusive, total)?;
        writeln!(page, "{:>10}  {}", of_itself(&cycle.inclusive), cycle.members.join(", "))
    })?;
    section(
        page,
        "inlined, or no longer",
        "of itself  function",
        &diff.inlined,
        rows,
        |page, f| {
            row(page, &f.own, total)?;
            let callers: Vec<_> = f.callers.iter().map(|(name, _)| name.as_str()).collect();
            let what = if f.inlined { "inlined into" } else { "no longer inlined into" };
            writeln!(page, "{:>10}  {} {what} {}", of_itself(&f.own), f.name, callers.join(", "))
        },
    )?;
    renamed(page, diff, rows)?;
    system(page, diff, rows)
}

/// CPU time in the kernel by function, on both sides: times, which are not judged.
fn system(page: &mut String, diff: &Diff, rows: usize) -> std::fmt::Result {
    if diff.system.is_empty() {
        return Ok(());
    }
    let pair = |change: &CostChange| {
        let [before, after] = [change.before, change.after].map(|ns| duration_rounded(ns as f64));
        if before == after { after } else { format!("{before} -> {after}") }
    };
    let total = pair(&diff.system_ns);
    writeln!(page, "\nCPU time of system calls: {total}; of functions with those they call")?;
    writeln!(page, "{:>24}  {:>24}  function", "with those below", "of itself")?;
    for one in diff.system.iter().take(rows) {
        let (inclusive, own) = (pair(&one.inclusive_ns), pair(&one.own_ns));
        let calls = counts("system calls", &one.calls);
        writeln!(page, "{inclusive:>24}  {own:>24}  {}  ({})  {calls}", one.name, one.object)?;
    }
    if diff.system.len() > rows {
        writeln!(page, "  and {} more", diff.system.len() - rows)?;
    }
    Ok(())
}

fn renamed(page: &mut String, diff: &Diff, rows: usize) -> std::fmt::Result {
    for (index, (before, after, likeness)) in diff.renamed.iter().take(rows).enumerate() {
        if index == 0 {
            writeln!(page, "\nrenamed")?;
        }
        writeln!(page, "  {before} -> {after}  (likeness {likeness:.2})")?;
    }
    Ok(())
}

fn section<T>(
    page: &mut String,
    title: &str,
    columns: &str,
    all: &[T],
    rows: usize,
    line: impl Fn(&mut String, &T) -> std::fmt::Result,
) -> std::fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n{title}\n{:>16}  {:>10} {columns}", "change", "of total")?;
    for row in all.iter().take(rows) {
        line(page, row)?;
    }
    if all.len() > rows {
        writeln!(page, "  and {} more", all.len() - rows)?;
    }
    Ok(())
}

fn moved(diff: &Diff, change: &CostChange) -> bool {
    change.delta().unsigned_abs() > u128::from(diff.floor)
}

fn row(page: &mut String, change: &CostChange, total: u64) -> std::fmt::Result {
    write!(page, "{:>16}  {:>10}", signed(change), percent(change.share_of(total)))
}

fn title(f: &FunctionChange) -> String {
    let mut title = format!("{}  ({}, {})", f.name, f.file, f.object);
    if let Some(before) = &f.name_before {
        title += &format!("  was {before}");
    }
    match f.fate {
        FunctionPresence::Gone => title += "  gone",
        FunctionPresence::New => title += "  new",
        FunctionPresence::Inlined => title += "  inlined now",
        FunctionPresence::OutOfLine => title += "  no longer inlined",
        FunctionPresence::Kept(Same::Name | Same::Moved | Same::Renamed { .. }) => {
            title += &format!("  {}", counts("called", &f.calls));
        }
    }
    title
}

/// Number of calls before and after: it shows whether there are more calls or more expensive ones.
fn counts(word: &str, change: &CostChange) -> String {
    if change.before == change.after {
        format!("{word} {}", grouped(change.after))
    } else {
        format!("{word} {} -> {}", grouped(change.before), grouped(change.after))
    }
}

fn of_itself(change: &CostChange) -> String {
    match (change.before, change.after) {
        (0, _) => "new".to_owned(),
        (_, 0) => "gone".to_owned(),
        _ => percent(change.share_of(change.before)),
    }
}

fn percent(share: f64) -> String {
    chronoscope_figures::numbers::signed_percent(share, 3)
}

fn signed(change: &CostChange) -> String {
    let delta = change.delta();
    let sign = if delta < 0 { '-' } else { '+' };
    format!("{sign}{}", grouped(delta.unsigned_abs()))
}
