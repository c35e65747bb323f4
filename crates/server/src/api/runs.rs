//! `GET /runs`, `/runs/history`, `/runs/diff`: what `chronoscope track` has measured.
//!
//! The folder has runs, or a folder of runs for each suite, as `track` keeps them. Runs are named
//! by their ids only: no path that a request brings is opened.

use super::error::{ApiError, ErrorBody};
use super::parameters::{Nothing, PlainParameters};
use super::profile_kind::ProfileKind;
use super::{Api, beside};
use axum::Json;
use axum::extract::State;
use chronoscope_track::callgrind::diff::{CallChange, CostChange, Options as DiffOptions, diff};
use chronoscope_track::history::{Options, Series, histories};
use chronoscope_track::report::{Comparison, Row, Unchanged};
use chronoscope_track::run::{Folder, ProfiledProcess, Record, process_name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use utoipa::{IntoParams, ToSchema};

/// Functions of a diff that are sent, those that moved most.
const FUNCTIONS_MAX: usize = 200;
/// Callers of a function that are sent.
const CALLERS_MAX: usize = 10;

/// All runs.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(super) struct Runs {
    /// Runs, the oldest first.
    runs: Vec<RunRow>,
    /// Runs that cannot be read, and why.
    damage: Vec<String>,
}

/// One run of a suite.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RunRow {
    /// Name of the run.
    id: String,
    /// Name of the suite.
    suite: String,
    /// Beginning of the commit's hash, with `+` where files were modified; empty when not known.
    commit: String,
    /// First line of the commit's message; empty when not known.
    subject: String,
    /// Time of the measurement: UTC ns since 1970.
    at_ns: i64,
    /// Machine on which it ran.
    machine: String,
    /// Load of the machine before it, processes that want to run, mean of a minute.
    load: f64,
    /// Whether the run was completed.
    complete: bool,
    /// Processes with a kept profile.
    profiles: Vec<RunProfile>,
}

/// A process of a run with a kept profile.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RunProfile {
    /// `item` or `item/process`.
    process: String,
    /// The kept profiles, one or both.
    of: Vec<ProfileKind>,
}

/// Selection of histories.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HistorySelection {
    /// Only this process, as `item` or `item/process`.
    process: Option<String>,
    /// Only this counter, as `instructions`; all by default.
    counter: Option<String>,
}

/// Cost of each process in run after run.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(super) struct RunHistory {
    series: Vec<RunSeries>,
    /// Runs of another machine or method than the suite's last: not held against it.
    left_out: usize,
}

/// One counter of one process.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RunSeries {
    /// `item` or `item/process`.
    process: String,
    counter: String,
    /// Unit of the values: `ns`, `bytes`, or empty for a count.
    unit: String,
    /// The oldest first: medians of a run's executions.
    points: Vec<RunPoint>,
    changes: Vec<RunChange>,
}

/// A value of one run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RunPoint {
    run: String,
    /// Commit and subject.
    commit: String,
    /// UTC ns since 1970.
    at_ns: i64,
    value: f64,
}

/// A change point of a history.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RunChange {
    /// The first run that has it.
    run: String,
    /// Level before the change.
    before: f64,
    /// Level after the change.
    after: f64,
    /// The step as a part of the level before.
    relative: f64,
    sentence: String,
}

/// The two runs to compare.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RunPair {
    /// The id of the run before.
    a: String,
    /// The id of the run after.
    b: String,
}

/// Changes between two runs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RunDiff {
    a: String,
    b: String,
    /// One verdict for each judged counter of each process.
    verdicts: Vec<RunVerdict>,
    /// Functions whose own or inclusive instructions changed, in processes that changed and whose
    /// profiles both runs kept; largest change first.
    functions: Vec<FunctionRow>,
    /// Differences that make the runs hard to compare, or the reason for missing functions.
    note: Option<String>,
}

/// A verdict on one counter of one process.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RunVerdict {
    process: String,
    counter: String,
    a: f64,
    b: f64,
    /// b by a, less 1.
    relative: f64,
    /// Threshold as a part of a: larger changes are reported.
    threshold: f64,
    moved: bool,
    sentence: String,
}

/// One function, in instructions.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct FunctionRow {
    function: String,
    process: String,
    /// Last part of the path of its file.
    source: String,
    /// Own instructions before.
    a: u64,
    /// Own instructions after.
    b: u64,
    /// Change of its own instructions.
    difference: i64,
    /// Change of its own instructions and of those of the functions it called.
    inclusive_difference: i64,
    /// Callers whose calls of it changed.
    callers: Vec<CallerRow>,
}

/// One caller.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct CallerRow {
    function: String,
    /// Change of the cost below its calls.
    difference: i64,
}

/// All runs.
#[utoipa::path(get, path = "/runs", tag = "runs",
    responses((status = 200, body = Runs), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 500, body = ErrorBody)))]
pub(super) async fn runs(
    State(api): State<Api>,
    PlainParameters { own: Nothing {}, .. }: PlainParameters<Nothing>,
) -> Result<Json<Runs>, ApiError> {
    beside(move || {
        let (records, damage) = all(&api.runs)?;
        Ok(Runs { runs: records.iter().map(row).collect(), damage })
    })
    .await
}

/// Cost of each process in run after run, with the change points.
#[utoipa::path(get, path = "/runs/history", tag = "runs", params(HistorySelection),
    responses((status = 200, body = RunHistory), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 500, body = ErrorBody)))]
pub(super) async fn history(
    State(api): State<Api>,
    PlainParameters { own: which, .. }: PlainParameters<HistorySelection>,
) -> Result<Json<RunHistory>, ApiError> {
    beside(move || {
        let (records, _) = all(&api.runs)?; // `/runs` tells what cannot be read
        let suites: BTreeSet<&str> = records.iter().map(|record| record.suite.as_str()).collect();
        let mut answer = RunHistory::default();
        for suite in suites {
            let own: Vec<Record> =
                records.iter().filter(|record| record.suite == suite).cloned().collect();
            let mut left_out = 0;
            for figure in figures(&own, which.counter.as_deref()) {
                let options = Options { figure, only: Vec::new(), floor: None };
                let found = histories(&own, &options);
                left_out = found.left_out;
                let series = found.series.into_iter().map(series);
                let wanted = |series: &RunSeries| {
                    which.process.as_ref().is_none_or(|process| *process == series.process)
                };
                answer.series.extend(series.filter(wanted));
            }
            answer.left_out += left_out;
        }
        Ok(answer)
    })
    .await
}

/// Changes between two runs: by counter, and by function where profiles were kept.
#[utoipa::path(get, path = "/runs/diff", tag = "runs", params(RunPair),
    responses((status = 200, body = RunDiff), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn difference(
    State(api): State<Api>,
    PlainParameters { own: two, .. }: PlainParameters<RunPair>,
) -> Result<Json<RunDiff>, ApiError> {
    beside(move || {
        let (records, _) = all(&api.runs)?; // `/runs` tells what cannot be read
        let run =
            |id: &str| records.iter().find(|record| record.id == id).ok_or_else(|| no_run(id));
        let (before, after) = (run(&two.a)?, run(&two.b)?);
        let alike = records.iter().filter(|record| record.suite == after.suite);
        let unchanged = Unchanged::of(alike, after);
        let comparison = Comparison::of(before, after, &unchanged, false);
        Ok(compared(&comparison, before, after))
    })
    .await
}

/// The run with an id.
pub(super) fn run_of(folder: &Path, id: &str) -> Result<Record, ApiError> {
    let (records, _) = all(folder)?;
    records.into_iter().find(|record| record.id == id).ok_or_else(|| no_run(id))
}

fn no_run(id: &str) -> ApiError {
    ApiError::missing(format!("no run {id:?}")).hint("/runs lists the runs")
}

/// All runs below a folder, the oldest first, and the reasons why others cannot be read.
fn all(folder: &Path) -> Result<(Vec<Record>, Vec<String>), ApiError> {
    let mut folders = vec![folder.to_owned()];
    match std::fs::read_dir(folder) {
        Ok(entries) => folders.extend(
            // Reading an inaccessible entry as a folder of runs reports the error.
            entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.is_dir() && !path.join("run.json").is_file()),
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(ApiError::failed(format!("{}: {error}", folder.display()))),
    }
    let (mut records, mut damage) = (Vec::new(), Vec::new());
    for folder in folders {
        let found = Folder::new(&folder).all().map_err(ApiError::failed)?;
        records.extend(found.records);
        damage.extend(found.unreadable.iter().map(ToString::to_string));
    }
    records.sort_by(|a, b| (a.started_ns, &a.id).cmp(&(b.started_ns, &b.id)));
    Ok((records, damage))
}

/// Whether there is anything below a folder that may be a run.
pub(super) fn is_any(folder: &Path) -> bool {
    all(folder).is_ok_and(|(records, damage)| !records.is_empty() || !damage.is_empty())
}

fn row(record: &Record) -> RunRow {
    let commit = record.commit.as_ref();
    let subject = commit.and_then(|commit| commit.subject.clone());
    RunRow {
        id: record.id.clone(),
        suite: record.suite.clone(),
        commit: commit.map_or_else(String::new, |commit| commit.short()),
        subject: subject.unwrap_or_default(),
        at_ns: record.started_ns,
        machine: record.system.machine.clone(),
        load: record.load_before.one,
        complete: record.complete,
        profiles: record.profiled().into_iter().map(profiles).collect(),
    }
}

fn profiles(kept: ProfiledProcess) -> RunProfile {
    RunProfile { process: kept.name, of: kept.kinds.into_iter().map(ProfileKind::from).collect() }
}

/// The counters of the runs, or the requested one.
fn figures(records: &[Record], wanted: Option<&str>) -> BTreeSet<String> {
    let items = records.iter().flat_map(|record| &record.items);
    let figures = items.flat_map(|item| &item.processes).flat_map(|process| &process.runs);
    let names = figures.flat_map(|figures| figures.keys());
    names.filter(|name| wanted.is_none_or(|wanted| *name == wanted)).cloned().collect()
}

fn series(found: Series) -> RunSeries {
    let unit = match &found.figure {
        name if name.ends_with("_ns") => "ns",
        name if name.ends_with("_bytes") => "bytes",
        _ => "",
    };
    let points = found.points.into_iter().map(|point| RunPoint {
        run: point.run,
        commit: point.title,
        at_ns: point.started_ns,
        value: point.value,
    });
    let changes = found.changes.into_iter().map(|change| RunChange {
        sentence: format!("{:+.3} % since {}", change.change * 100.0, change.title),
        run: change.run,
        before: change.before,
        after: change.after,
        relative: change.change,
    });
    RunSeries {
        process: process_name(&found.item, &found.process),
        counter: found.figure,
        unit: unit.to_owned(),
        points: points.collect(),
        changes: changes.collect(),
    }
}

fn compared(comparison: &Comparison, before: &Record, after: &Record) -> RunDiff {
    let mut notes = comparison.warnings.clone();
    let mut verdicts = Vec::new();
    for row in &comparison.rows {
        verdicts.extend(row.judged.iter().map(|judged| RunVerdict {
            process: row.name(),
            counter: judged.figure.clone(),
            a: judged.verdict.before,
            b: judged.verdict.after,
            relative: judged.change,
            threshold: judged.verdict.threshold.part,
            moved: judged.verdict.moved,
            sentence: judged.statement.clone(),
        }));
    }
    let mut functions = Vec::new();
    for row in comparison.moved() {
        match moved(row, before, after) {
            Ok(more) => functions.extend(more),
            Err(why) => notes.push(why),
        }
    }
    functions.sort_by_key(|row| {
        std::cmp::Reverse((row.difference.unsigned_abs(), row.inclusive_difference.unsigned_abs()))
    });
    functions.truncate(FUNCTIONS_MAX);
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    RunDiff { a: before.id.clone(), b: after.id.clone(), verdicts, functions, note }
}

/// Changes in a process, function by function, from the profiles that both runs kept.
fn moved(row: &Row, before: &Record, after: &Record) -> Result<Vec<FunctionRow>, String> {
    let profile = |record: &Record| {
        let item = record.item(&row.item);
        let process = item.and_then(|item| item.processes.iter().find(|p| p.name == row.process));
        let kept = process.map(|process| record.profile(process)).transpose();
        let kept = kept.map_err(|error| format!("{}: {error}", row.name()))?;
        kept.flatten().ok_or_else(|| {
            format!(
                "{}: {} kept no profile; `chronoscope track compare {} {} --detail` makes one",
                row.name(),
                record.id,
                before.id,
                after.id
            )
        })
    };
    let (one, other) = (profile(before)?, profile(after)?);
    let floor = row.main().map_or(1e-5, |judged| judged.verdict.threshold.part);
    // When the whole change is as small as the threshold, the part in one function is smaller
    // still.
    let options = DiffOptions { floor: floor / 4.0, ..DiffOptions::default() };
    let found = diff(&one, &other, &options).map_err(|error| format!("{}: {error}", row.name()))?;
    let functions = found.functions.iter().take(FUNCTIONS_MAX).map(|function| {
        let calls = found.calls.iter().filter(|call| call.callee == function.name);
        let caller = |call: &CallChange| CallerRow {
            function: call.caller.clone(),
            difference: delta(call.inclusive),
        };
        FunctionRow {
            function: function.name.clone(),
            process: row.name(),
            source: function.file.clone(),
            a: function.own.before,
            b: function.own.after,
            difference: delta(function.own),
            inclusive_difference: delta(function.inclusive),
            callers: calls.take(CALLERS_MAX).map(caller).collect(),
        }
    });
    Ok(functions.collect())
}

fn delta(change: CostChange) -> i64 {
    let delta = change.delta();
    i64::try_from(delta).unwrap_or(if delta < 0 { i64::MIN } else { i64::MAX })
}
