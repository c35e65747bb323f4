//! Reading the rows of chosen durations again: how their time is divided among hops, or all
//! attributes.

use crate::attributes::{AttributeReader, Attributes};
use crate::clock::HostClocks;
use crate::context::QuestionContext;
use crate::foreign_chains::{ForeignChains, MixedChainRows};
use crate::gather::{Gathered, QueryEnvironment};
use crate::locate::{locate_all, rows_by_segment, selection_of};
use crate::minutes::{Minutes, REACH};
use crate::path_catalog::PathCatalog;
use crate::question::Question;
use crate::series::{DurationDetail, Findings, Point};
use crate::spread::spread;
use crate::task::Task;
use crate::wanted_breakdowns::{ChainSet, WantedBreakdowns};
use chronoscope_chain::{AttributeSelection, HopPath};
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{Minute, Snapshot, StoreError};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// What is read of chosen durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChosenDetail {
    /// Their hop breakdowns, where no row between root and leaf is missing.
    Hops,
    /// All their attributes.
    Attributes,
}

/// What was read of chosen durations, by start and length.
pub(crate) struct ChosenRows {
    /// Their hop breakdowns, where these are asked for.
    pub(crate) breakdowns: Vec<(Point, HopPath)>,
    /// Their attributes, where these are asked for.
    pub(crate) described: Vec<(Point, Attributes)>,
    /// The names of hosts, by number.
    pub(crate) hosts: Vec<String>,
    /// The words of classes.
    pub(crate) catalog: PathCatalog,
}

/// Reads the rows of durations that were gathered for a question from roots to leaves.
pub(crate) fn read_chosen(
    snapshot: &Snapshot,
    question: &Question,
    (points, gathered): (&[Point], &Gathered<'_>),
    detail: ChosenDetail,
    asking: &QueryEnvironment<'_>,
) -> Result<ChosenRows, StoreError> {
    let attributes = match detail {
        ChosenDetail::Hops => question.attributes.without_groups(),
        // A reader of all attributes has no filters, which the durations have passed already.
        ChosenDetail::Attributes => AttributeSelection::default(),
    };
    let plain = Question {
        path: None,
        hosts: Vec::new(),
        duration_ns: 0..=u64::MAX,
        start_ns: i64::MIN..i64::MAX,
        attributes,
        ..question.clone()
    };
    let chains = locate_all(snapshot, &plain, (points, gathered), asking)?;
    let wanted = WantedBreakdowns {
        chains: Some(ChainSet::of(chains.iter().flatten().copied())),
        points: points.iter().copied().collect(),
    };
    read(snapshot, &plain, (wanted, detail), asking)
}

/// Reads durations in the minutes of their starts, and where they are not there in earlier ones,
/// because an inner root lies in the minute of its chain's root.
fn read(
    snapshot: &Snapshot,
    question: &Question,
    (wanted, detail): (WantedBreakdowns, ChosenDetail),
    asking: &QueryEnvironment<'_>,
) -> Result<ChosenRows, StoreError> {
    let points = wanted.points.clone();
    let first = points.iter().map(|point| point.start_ns).min().unwrap_or(0);
    let last = points.iter().map(|point| point.start_ns).max().unwrap_or(0);
    let range = Question { start_ns: first..last.saturating_add(1), ..question.clone() };
    let minutes = Minutes::of(snapshot, &range, asking.limits);
    let attributes = match detail {
        ChosenDetail::Hops => AttributeReader::of(snapshot, &question.attributes),
        ChosenDetail::Attributes => Some(AttributeReader::of_all(snapshot, &question.attributes)),
    };
    let shared = QuestionContext {
        question,
        names: snapshot.names(),
        catalog: Mutex::new(PathCatalog::new(snapshot.names(), question)),
        clocks: HostClocks::of(snapshot.clocks(), question, true),
        progress: asking.progress,
        keep: DurationDetail::Durations,
        window_ns: question.start_ns.clone(),
        breakdowns: Some(wanted),
        arriving: None,
        attributes,
    };
    let task = Task { shared: &shared, limits: asking.limits, damage: Mutex::default() };
    let mut found = Findings::new(DurationDetail::Durations);
    if minutes.foreign.is_empty() && minutes.foreign_unsealed.is_empty() {
        let own: HashSet<Minute> = points.iter().map(|point| Minute::of(point.start_ns)).collect();
        found = read_minutes(&task, &minutes, &|minute| own.contains(&minute))?;
        let there: HashSet<Point> = match detail {
            ChosenDetail::Hops => found.breakdowns.iter().map(|(point, _)| *point).collect(),
            ChosenDetail::Attributes => found.described.iter().map(|(point, _)| *point).collect(),
        };
        let missing: Vec<i64> = points.difference(&there).map(|point| point.start_ns).collect();
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let before = |minute: Minute| {
            let may = |start: &i64| {
                minute.end_ns() > start.saturating_sub(reach) && minute.start_ns() <= *start
            };
            !own.contains(&minute) && missing.iter().any(may)
        };
        // Ways with rows missing are nowhere: they are looked for only where roots are inner ones.
        if !missing.is_empty() && missing.len() * 2 > points.len() {
            found.merge(read_minutes(&task, &minutes, &before)?);
        }
    } else {
        found.merge(task.ask_chosen(&minutes)?);
    }
    let hosts = shared.clocks.as_ref().map(HostClocks::names).unwrap_or_default();
    let Findings { mut breakdowns, mut described, .. } = found;
    // By start and length: threads come in any order.
    breakdowns.sort_by_key(|(point, _)| *point);
    described.sort();
    let catalog = shared.catalog.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(ChosenRows { breakdowns, described, hosts, catalog })
}

fn read_minutes(
    task: &Task<'_>,
    minutes: &Minutes<'_>,
    of: &(impl Fn(Minute) -> bool + Sync),
) -> Result<Findings, StoreError> {
    let jobs: Vec<_> = minutes.native.iter().filter(|(minute, _)| of(**minute)).collect();
    let new = || Findings::new(DurationDetail::Durations);
    let states = task.spread(&jobs, new, |findings, (_, rows)| {
        let none = ForeignChains::default();
        findings.merge(task.ask_minute(rows, &none, &mut MixedChainRows::default())?);
        Ok(())
    })?;
    let mut findings = new();
    states.into_iter().for_each(|found| findings.merge(found));
    Ok(findings)
}

/// Reads the attributes of transactions that are measured by themselves: of rows whose places are
/// known, and of rows that no segment holds yet.
pub(crate) fn describe_alone(
    snapshot: &Snapshot,
    question: &Question,
    (points, gathered): (&[Point], &Gathered<'_>),
    asking: &QueryEnvironment<'_>,
) -> Result<Vec<(Point, Attributes)>, StoreError> {
    let nothing = AttributeSelection::default();
    let reader = AttributeReader::of_all(snapshot, &nothing);
    let places = gathered.places(points)?;
    let by_segment = rows_by_segment(snapshot, &places);
    let states = spread(&by_segment, asking.limits.threads, Vec::new, |found, (segment, rows)| {
        asking.progress.check()?;
        let file = SegmentFile::open(segment)?;
        let mut rows = rows.clone();
        rows.dedup_by_key(|(row, _)| *row);
        let (mut reading, mut attributes) = (reader.rows(), Vec::new());
        let mut numbers = rows.iter().map(|(_, number)| *number);
        for batch in file.read_contexts(&reader.columns(), Some(selection_of(&rows)))? {
            let batch = batch.map_err(file.unreadable())?;
            reading.read(&SegmentColumns { file: &file, batch: &batch }, &mut attributes)?;
            for (row, number) in attributes.iter().zip(numbers.by_ref()) {
                found.extend(reader.described_row(*row).map(|said| (points[number], said)));
            }
        }
        Ok(())
    })?;
    let mut found = states.concat();
    let wanted: HashSet<&Point> = points.iter().collect();
    let catalog = PathCatalog::new(snapshot.names(), question);
    let mut reading = reader.rows();
    for record in snapshot.unsealed().records() {
        let point = Point { start_ns: record.start_ns, duration_ns: record.elapsed_ns };
        if wanted.contains(&point) && catalog.is_root(record.class) {
            let row = reading.record(record);
            found.extend(reader.described_row(row).map(|said| (point, said)));
        }
    }
    found.sort();
    Ok(found)
}
