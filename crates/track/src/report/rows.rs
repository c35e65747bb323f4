//! Verdicts, process by process.

use super::comparison::{Cycles, FigureVerdict, ProcessResult, Row, UnjudgedFigure};
use super::threshold::{JUDGED, Unchanged};
use crate::compare::{self, VerdictError};
use crate::counters::Method;
use crate::run::{Measured, Process, Record};

/// Changes of cycles up to this are none: placement of code and data alone moves them so.
const CYCLES_FLOOR: f64 = 0.01;
/// The part of unchanged comparisons of cycles that are called changed, were there no floor.
const CYCLES_ALPHA: f64 = 0.01;

/// Figures of time and of the machine, which differ from execution to execution: they are shown
/// whether they moved or not.
const NOISY: [&str; 10] = [
    "branches",
    "cycles",
    "elapsed_ns",
    "user_ns",
    "system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "major_faults",
    "rss_bytes_max",
    "syscalls_cpu_ns",
];

/// Differences that make the runs hard to compare.
pub(super) fn warnings(before: &Record, after: &Record) -> Vec<String> {
    let callgrind = before.method != Method::Hardware;
    let mut warnings = before.system.differences(&after.system, callgrind);
    if before.suite != after.suite {
        warnings.push(format!("suite: {:?}, then {:?}", before.suite, after.suite));
    }
    for record in [before, after] {
        if !record.complete {
            warnings.push(format!("{} was interrupted: it has not the whole suite", record.id));
        }
    }
    for item in &after.items {
        let Some(was) = before.item(&item.name) else { continue };
        let differ = item.outputs.iter().filter(|(path, sum)| was.outputs.get(*path) != Some(*sum));
        let differ: Vec<&str> = differ.map(|(path, _)| path.as_str()).collect();
        if !differ.is_empty() {
            let (n, some) = (differ.len(), differ[..differ.len().min(3)].join(", "));
            warnings.push(format!("{}: {n} outputs are not as before: {some}", item.name));
        }
        warnings.extend(item.remarks.iter().map(|remark| format!("{}: {remark}", item.name)));
    }
    let corrects = |record: &Record| record.calibration.is_none_or(|found| found.corrects());
    if !corrects(before) || !corrects(after) {
        let what = "instructions minus branches are not free of interrupts on this processor";
        warnings.push(what.to_owned());
    }
    warnings
}

pub(super) fn rows(
    before: &Record,
    after: &Record,
    unchanged: &Unchanged,
    interleaved: bool,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for item in &after.items {
        rows.extend(item_rows(
            before.item(&item.name),
            item,
            (before, after),
            unchanged,
            interleaved,
        ));
    }
    for item in before.items.iter().filter(|item| after.item(&item.name).is_none()) {
        rows.push(row(&item.name, "", ProcessResult::Gone));
    }
    rows
}

fn row(item: &str, process: &str, state: ProcessResult) -> Row {
    let (item, process) = (item.to_owned(), process.to_owned());
    Row { item, process, state, judged: Vec::new(), cycles: None, others: Vec::new() }
}

fn item_rows(
    was: Option<&Measured>,
    is: &Measured,
    records: (&Record, &Record),
    unchanged: &Unchanged,
    interleaved: bool,
) -> Vec<Row> {
    let no_verdict =
        |because: String| vec![row(&is.name, "", ProcessResult::NoVerdict { because })];
    if let Some(failure) = &is.failure {
        return no_verdict(format!("it failed: {failure}"));
    }
    let Some(was) = was else { return vec![row(&is.name, "", ProcessResult::New)] };
    if let Some(failure) = &was.failure {
        return no_verdict(format!("it failed before: {failure}"));
    }
    let mut rows = Vec::new();
    for process in &is.processes {
        let old = was.processes.iter().find(|old| old.name == process.name);
        rows.push(match old {
            None => row(&is.name, &process.name, ProcessResult::New),
            Some(old) => judge(is, old, process, records, unchanged, interleaved),
        });
    }
    let gone = |old: &&Process| is.processes.iter().all(|process| process.name != old.name);
    rows.extend(
        was.processes.iter().filter(gone).map(|old| row(&is.name, &old.name, ProcessResult::Gone)),
    );
    if let (Some(old), Some(new)) = (was.whole_system(), is.whole_system()) {
        let others = others(&old, &new);
        rows.push(Row { others, ..row(&is.name, &new.name, ProcessResult::Whole) });
    }
    rows
}

fn judge(
    item: &Measured,
    was: &Process,
    is: &Process,
    (before, after): (&Record, &Record),
    unchanged: &Unchanged,
    interleaved: bool,
) -> Row {
    let mut row = row(&item.name, &is.name, ProcessResult::Unmoved);
    if std::mem::discriminant(&before.method) != std::mem::discriminant(&after.method) {
        let because = "one was counted by the processor, the other by Callgrind".to_owned();
        row.state = ProcessResult::NoVerdict { because };
        return row;
    }
    if (&was.command, &was.environment) != (&is.command, &is.environment) {
        let because = format!("its command changed: {:?}, then {:?}", was.command, is.command);
        row.state = ProcessResult::NoVerdict { because };
        return row;
    }
    match judged(item, was, is, unchanged) {
        Err(error) => row.state = ProcessResult::NoVerdict { because: error.to_string() },
        Ok(judged) if judged.is_empty() => {
            row.state =
                ProcessResult::NoVerdict { because: "no instructions were counted".to_owned() };
        }
        Ok(judged) => {
            if judged.iter().any(|judged| judged.verdict.moved) {
                row.state = ProcessResult::Moved;
            }
            row.judged = judged;
        }
    }
    let pairs: Vec<_> = was.values("cycles").into_iter().zip(is.values("cycles")).collect();
    // With fewer than three pairs there is no interval, and hence no verdict.
    let verdict = compare::pairs(&pairs, CYCLES_ALPHA, CYCLES_FLOOR).ok();
    row.cycles = verdict.map(|verdict| Cycles { verdict, interleaved });
    row.others = others(was, is);
    row
}

fn judged(
    item: &Measured,
    was: &Process,
    is: &Process,
    unchanged: &Unchanged,
) -> Result<Vec<FigureVerdict>, VerdictError> {
    let mut all = Vec::new();
    for figure in JUDGED {
        let (Some(before), Some(after)) = (was.median(figure), is.median(figure)) else { continue };
        let key = [item.name.as_str(), &is.name, figure];
        let threshold = unchanged.threshold(key, item.exactness);
        let verdict = compare::pair(before, after, threshold)?;
        let (change, statement) = (verdict.change(), verdict.statement());
        all.push(FigureVerdict { figure: figure.to_owned(), verdict, change, statement });
    }
    Ok(all)
}

/// Other figures that differ by something that is worth a line.
fn others(was: &Process, is: &Process) -> Vec<UnjudgedFigure> {
    let figures = is.runs.first().into_iter().flat_map(|run| run.keys());
    let figures = figures.filter(|figure| !JUDGED.contains(&figure.as_str()));
    let others = figures.filter_map(|figure| {
        let (before, after) = (was.median(figure)?, is.median(figure)?);
        Some(UnjudgedFigure { figure: figure.clone(), before, after })
    });
    others
        .filter(|other| NOISY.contains(&other.figure.as_str()) || other.is_worth_a_line())
        .collect()
}

impl UnjudgedFigure {
    /// Whether the value differs by more than its own spread.
    fn is_worth_a_line(&self) -> bool {
        // Pages that a program touches differ by a few from one execution to the next.
        let slack = if self.figure == "minor_faults" { 0.05 } else { 0.0 };
        (self.after - self.before).abs() > self.before * slack
    }

    /// Whether the figure is a time, or depends on other load of the machine.
    pub(super) fn is_noisy(&self) -> bool {
        NOISY.contains(&self.figure.as_str())
    }
}
