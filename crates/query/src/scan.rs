//! The fast way: one pass over a segment's columns, no chain put together.
//!
//! It serves where every row knows its root's start and the root asked for is the chain's own. The
//! column `path` is read first: native rows stand in the order of their paths, so that it decodes
//! to a few long stretches, every distinct path is judged once, and only the wanted stretches of
//! the other columns are decoded.

mod levels;
mod plan;

use crate::attributes::AttributeReader;
use crate::clock::{HostClocks, only_host};
use crate::context::QuestionContext;
use crate::question::DurationKind;
use crate::series::{DurationExtras, Findings, Point, WholeRows};
use chronoscope_chain::links::bits;
use chronoscope_chain::{Counts, Hosts, RowAttributes};
use chronoscope_model::schema::column;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{RowKind, StoreError};
use levels::{ByLevel, LevelMeanings};
use plan::{Plan, Stretch, StretchAction, Stretches, plan_classes, plan_paths};
use std::collections::HashMap;

/// Scans a segment of a kind, passing over the rows whose numbers are in `without`, ascending (for
/// native rows only); `None` where the question cannot be answered without grouping its rows.
pub(crate) fn scan(
    file: &SegmentFile,
    shared: &QuestionContext,
    kind: RowKind,
    without: &[usize],
) -> Result<Option<Findings>, StoreError> {
    let mut findings = Findings::new(shared.keep);
    findings.rows = file.rows();
    let plan = match shared.question.kind {
        DurationKind::Sync => Some(plan_classes(file, shared, &mut findings)?),
        DurationKind::Acpd | DurationKind::Apcd => {
            plan_paths(file, shared, &mut findings, without)?
        }
    };
    let Some(plan) = plan else { return Ok(None) };
    if plan.stretches.iter().all(|stretch| stretch.todo == StretchAction::Skip) {
        return Ok(Some(findings));
    }
    let one = shared.clocks.as_ref().and_then(|_| only_host(file));
    if let (Some(clocks), Some(host)) = (&shared.clocks, &one)
        && !clocks.wants_name(host)
    {
        return Ok(Some(findings));
    }
    let only = shared.clocks.as_ref().zip(one.as_ref()).map(|(clocks, host)| clocks.index(host));
    let only = only.unwrap_or_default();
    let clocks = shared.clocks.as_ref().filter(|_| one.is_none());
    let selection = plan.selection();
    let mut stretches = Stretches::new(&plan, selection.is_some());
    let mut levels = LevelMeanings { shared, asked: &plan.asked, known: HashMap::new() };
    for (series, count) in plan.taken() {
        findings.reserve_exact(series, count);
    }
    let (mut hosts, mut attributes) = (Vec::new(), Vec::new());
    let mut attribute_rows = shared.attributes.as_ref().map(AttributeReader::rows);
    for batch in shared.read(file, &columns_of(shared, &plan, clocks), selection)? {
        shared.progress.check()?;
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        if let Some(clocks) = clocks {
            clocks.hosts_of(&columns, &mut hosts)?;
        }
        if let Some(rows) = &mut attribute_rows {
            rows.read(&columns, &mut attributes)?;
        }
        let mut rows = Rows::of(&columns, shared.question.kind, kind)?;
        rows.hosts = &hosts;
        rows.attributes = &attributes;
        rows.only = Hosts { own: only, root: only };
        let mut from = 0;
        while from < batch.num_rows() {
            let piece = stretches.next_piece(batch.num_rows() - from);
            let (number, stretch) = piece.ok_or_else(|| file.unexpected_column(column::PATH))?;
            let taken = rows.slice((from, number), stretch.rows);
            if !collect(&taken, stretch, &mut levels, &mut findings) {
                return Ok(None);
            }
            from += stretch.rows;
        }
    }
    Ok(Some(findings))
}

/// The columns that a plan needs to be read, besides those by which it was made.
fn columns_of(
    shared: &QuestionContext,
    plan: &Plan,
    clocks: Option<&HostClocks<'_>>,
) -> Vec<&'static str> {
    let mut columns = vec![column::START, column::ELAPSED_NS];
    if shared.question.kind != DurationKind::Sync {
        columns.extend([column::ROOT_START, column::LINKS]);
    }
    if !plan.asked.is_empty() {
        columns.push(column::LEVEL);
    }
    if let Some(clocks) = clocks {
        columns.extend(clocks.columns());
    }
    columns.extend(shared.attributes.iter().flat_map(AttributeReader::columns));
    columns
}

/// Adds the durations of a stretch of rows to their series. `false` where a row's level says that
/// the question cannot be answered without grouping.
fn collect(
    taken: &Rows<'_>,
    stretch: Stretch,
    levels: &mut LevelMeanings<'_>,
    findings: &mut Findings,
) -> bool {
    match stretch.todo {
        StretchAction::Skip => {}
        StretchAction::Take(series) => taken.collect(levels.shared, series, findings),
        StretchAction::AskLevel(path) => {
            for row in 0..stretch.rows {
                match levels.series(path, taken.levels[row], findings) {
                    ByLevel::No => {}
                    ByLevel::Series(series) => {
                        let one = taken.slice((row, taken.first + row), 1);
                        one.collect(levels.shared, series, findings);
                    }
                    ByLevel::Group => return false,
                }
            }
        }
    }
    true
}

/// Some rows' columns.
#[derive(Clone, Copy)]
struct Rows<'a> {
    start: &'a [i64],
    elapsed: &'a [i64],
    /// Their own start, where synchronous durations are asked for.
    root_start: &'a [i64],
    /// Empty where synchronous durations are asked for.
    links: &'a [u8],
    /// Empty where no row is asked for its level.
    levels: &'a [u16],
    /// By whose clocks they were stamped; empty where it is one and the same.
    hosts: &'a [Hosts],
    /// Empty where no attributes are asked for.
    attributes: &'a [RowAttributes],
    /// The common host where `hosts` is empty, as far as anybody asks.
    only: Hosts,
    foreign: bool,
    /// The number of the first of them in the file.
    first: usize,
}

impl<'a> Rows<'a> {
    fn of(
        columns: &SegmentColumns<'a>,
        kind: DurationKind,
        rows: RowKind,
    ) -> Result<Self, StoreError> {
        let start = columns.instants(column::START)?;
        let sync = kind == DurationKind::Sync;
        Ok(Self {
            start,
            elapsed: columns.nanoseconds(column::ELAPSED_NS)?,
            root_start: if sync { start } else { columns.instants(column::ROOT_START)? },
            links: if sync { &[] } else { columns.bits(column::LINKS)? },
            levels: match columns.batch.column_by_name(column::LEVEL) {
                Some(_) => columns.levels(column::LEVEL)?,
                None => &[],
            },
            hosts: &[],
            attributes: &[],
            only: Hosts::default(),
            foreign: rows == RowKind::Foreign,
            first: 0,
        })
    }

    /// Some of them, of which the first has a number in the file.
    fn slice(&self, (from, first): (usize, usize), count: usize) -> Self {
        let end = from + count;
        Self {
            start: &self.start[from..end],
            elapsed: &self.elapsed[from..end],
            root_start: &self.root_start[from..end],
            links: self.links.get(from..end).unwrap_or(&[]),
            levels: self.levels.get(from..end).unwrap_or(&[]),
            hosts: self.hosts.get(from..end).unwrap_or(&[]),
            attributes: self.attributes.get(from..end).unwrap_or(&[]),
            only: self.only,
            foreign: self.foreign,
            first,
        }
    }

    /// The rows in the form in which a series stores whole rows.
    fn wholes(&self) -> WholeRows<'_> {
        WholeRows {
            start: self.start,
            elapsed: self.elapsed,
            root_start: self.root_start,
            links: self.links,
            hosts: self.hosts,
            only: self.only,
            foreign: self.foreign,
            first: u32::try_from(self.first).ok(),
        }
    }

    /// Adds the durations of rows that all belong to one series.
    fn collect(&self, shared: &QuestionContext, series: usize, findings: &mut Findings) {
        let wanted = &shared.question.start_ns;
        let mut counts = Counts::default();
        let last_leaves_only = shared.question.kind == DurationKind::Apcd;
        let leaves_only =
            shared.question.kind == DurationKind::Acpd && shared.question.leaf.is_none();
        let needed = match (last_leaves_only, leaves_only) {
            (true, _) => bits::LAST_LEAF,
            (false, true) => bits::LEAF,
            (false, false) => 0,
        };
        let clocks = shared.clocks.as_ref().filter(|_| !self.hosts.is_empty());
        let all_times = *wanted == (i64::MIN..i64::MAX);
        let all_lengths = shared.question.duration_ns == (0..=u64::MAX);
        let all_hosts = clocks.is_none_or(|clocks| !clocks.read && clocks.wants_all());
        let all = all_times && all_lengths && all_hosts && shared.attributes.is_none();
        if needed == 0 && all && findings.keeps_whole() {
            return findings.keep_wholes(series, &self.wholes());
        }
        findings.reserve(series, self.start.len());
        for row in 0..self.start.len() {
            let marks = self.links.get(row).copied().unwrap_or(0);
            let (links, foreign) =
                (marks & !bits::ASSEMBLED, self.foreign || marks & bits::ASSEMBLED != 0);
            let root_start = self.root_start[row];
            if links & needed != needed || !wanted.contains(&root_start) {
                continue;
            }
            let end = self.start[row].saturating_add(self.elapsed[row]);
            let duration = end.saturating_sub(root_start);
            let hosts = self.hosts.get(row).copied().unwrap_or(self.only);
            let of_host = clocks.is_none_or(|clocks| clocks.wants(hosts.own));
            if !of_host || !shared.wants_duration(duration) {
                continue;
            }
            let Some(group) = shared.group_of_row(self.attributes.get(row)) else { continue };
            let ends = ((hosts.root, root_start), (hosts.own, self.start[row]));
            let shift = clocks.and_then(|clocks| Some((clocks, clocks.shift(ends.0, ends.1)?)));
            let error_ns = shift.map(|(clocks, shift)| shift.map(|shift| clocks.error_ns(shift)));
            if let Some(error_ns) = error_ns {
                findings.crossings.add(duration, error_ns);
            }
            let at = u32::try_from(self.first + row).ok();
            let whole = DurationExtras { links, foreign, host: hosts.own, error_ns, row: at };
            findings.keep_whole(series, root_start, duration, whole);
            if counts.count(duration, links, foreign) {
                findings.push(series, root_start, duration.unsigned_abs());
                let point = Point { start_ns: root_start, duration_ns: duration.unsigned_abs() };
                shared.note_group(findings, group, point);
            }
        }
        findings.counts.add(&counts);
    }
}
