//! The fast way: one pass over a segment's columns, no chain put together.
//!
//! It serves where every row knows its root's start and the root asked for is the chain's own. The
//! column `path` is read first: native rows stand in the order of their paths, so that it decodes
//! to a few long stretches, every distinct path is judged once, and only the wanted stretches of
//! the other columns are decoded.

use crate::clock::only_host;
use crate::context::QuestionContext;
use crate::question::DurationKind;
use crate::series::{Findings, Whole, WholeRows};
use chronoscope_chain::links::bits;
use chronoscope_chain::{Counts, Hosts, Meaning};
use chronoscope_model::ClassId;
use chronoscope_model::schema::column;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{RowKind, StoreError};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::collections::HashMap;

/// What is to be done with a stretch of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Todo {
    Skip,
    /// Their durations belong to a series.
    Take(usize),
    /// Ancestors were dropped on the way: the row's level decides. The path, by number.
    AskLevel(usize),
}

/// Rows that follow each other and are treated alike.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    rows: usize,
    todo: Todo,
}

/// What a scan needs to know of the whole segment before it decodes any durations.
#[derive(Default)]
struct Plan {
    stretches: Vec<Stretch>,
    /// Texts of the paths of [`Todo::AskLevel`].
    asked: Vec<String>,
}

impl Plan {
    fn push(&mut self, todo: Todo, rows: usize) {
        if rows == 0 {
            return;
        }
        match self.stretches.last_mut() {
            Some(last) if last.todo == todo => last.rows += rows,
            _ => self.stretches.push(Stretch { rows, todo }),
        }
    }

    /// How many rows at most belong to which series.
    fn taken(&self) -> HashMap<usize, usize> {
        let mut taken = HashMap::new();
        for stretch in &self.stretches {
            if let Todo::Take(series) = stretch.todo {
                *taken.entry(series).or_default() += stretch.rows;
            }
        }
        taken
    }

    /// The stretches to decode, or `None` to decode all: where wanted and unwanted rows alternate
    /// often, passing over costs more than it saves.
    fn selection(&self) -> Option<RowSelection> {
        let rows: usize = self.stretches.iter().map(|stretch| stretch.rows).sum();
        if self.stretches.len() * 32 > rows {
            return None;
        }
        let selectors = self.stretches.iter().map(|stretch| match stretch.todo {
            Todo::Skip => RowSelector::skip(stretch.rows),
            Todo::Take(_) | Todo::AskLevel(_) => RowSelector::select(stretch.rows),
        });
        Some(selectors.collect::<Vec<_>>().into())
    }
}

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
    if plan.stretches.iter().all(|stretch| stretch.todo == Todo::Skip) {
        return Ok(Some(findings));
    }
    let mut columns = vec![column::START, column::ELAPSED_NS];
    if shared.question.kind != DurationKind::Sync {
        columns.extend([column::ROOT_START, column::LINKS]);
    }
    if !plan.asked.is_empty() {
        columns.push(column::LEVEL);
    }
    let one = shared.clocks.as_ref().and_then(|_| only_host(file));
    if let (Some(clocks), Some(host)) = (&shared.clocks, &one)
        && !clocks.wants_name(host)
    {
        return Ok(Some(findings));
    }
    let clocks = shared.clocks.as_ref().filter(|_| one.is_none());
    if let Some(clocks) = clocks {
        columns.extend(clocks.columns());
    }
    let selection = plan.selection();
    let skipped = selection.is_some();
    let kept = |stretch: &&Stretch| !skipped || stretch.todo != Todo::Skip;
    let mut first = 0;
    let numbered = plan.stretches.iter().map(|stretch| {
        first += stretch.rows;
        (first - stretch.rows, *stretch)
    });
    let mut stretches = numbered.filter(|(_, stretch)| kept(&stretch));
    let (mut number, mut stretch) = (0, Stretch { rows: 0, todo: Todo::Skip });
    let mut levels = LevelMeanings { shared, asked: &plan.asked, known: HashMap::new() };
    for (series, count) in plan.taken() {
        findings.reserve_exact(series, count);
    }
    let only = shared.clocks.as_ref().zip(one).map(|(clocks, host)| clocks.index(&host));
    let only = only.unwrap_or_default();
    let mut hosts = Vec::new();
    for batch in file.read(&columns, None, selection)? {
        shared.progress.check()?;
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        if let Some(clocks) = clocks {
            clocks.hosts_of(&columns, &mut hosts)?;
        }
        let mut rows = Rows::of(&columns, shared.question.kind, kind)?;
        rows.hosts = &hosts;
        rows.only = Hosts { own: only, root: only };
        let mut from = 0;
        while from < batch.num_rows() {
            while stretch.rows == 0 {
                (number, stretch) =
                    stretches.next().ok_or_else(|| file.unexpected_column(column::PATH))?;
            }
            let count = stretch.rows.min(batch.num_rows() - from);
            let taken = rows.slice((from, number), count);
            match stretch.todo {
                Todo::Skip => {}
                Todo::Take(series) => taken.collect(shared, series, &mut findings),
                Todo::AskLevel(path) => {
                    for row in 0..count {
                        match levels.series(path, taken.levels[row], &mut findings) {
                            ByLevel::No => {}
                            ByLevel::Series(series) => {
                                let one = taken.slice((row, number + row), 1);
                                one.collect(shared, series, &mut findings);
                            }
                            ByLevel::Group => return Ok(None),
                        }
                    }
                }
            }
            stretch.rows -= count;
            number += count;
            from += count;
        }
    }
    Ok(Some(findings))
}

/// Judges every distinct path of a segment, and finds the stretches of rows. `None` where a root
/// that is asked for stands below a chain's root: its start is in another row.
fn plan_paths(
    file: &SegmentFile,
    shared: &QuestionContext,
    findings: &mut Findings,
    without: &[usize],
) -> Result<Option<Plan>, StoreError> {
    let mut plan = Plan::default();
    let mut without = without.iter().copied().peekable();
    let mut first = 0;
    for batch in file.read(&[column::PATH], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let (keys, words) = SegmentColumns { file, batch: &batch }.words(column::PATH)?;
        let mut todos = Vec::with_capacity(words.len());
        for word in words {
            let Some(todo) = judge_path(word, shared, findings, &mut plan) else {
                return Ok(None);
            };
            todos.push(todo);
        }
        let mut rest = keys;
        while let Some(key) = rest.first() {
            let todo = usize::try_from(*key).ok().and_then(|key| todos.get(key));
            let todo = *todo.ok_or_else(|| file.unexpected_column(column::PATH))?;
            let count = alike(rest);
            rest = &rest[count..];
            let end = first + count;
            while let Some(row) = without.next_if(|row| *row < end) {
                plan.push(todo, row - first);
                plan.push(Todo::Skip, 1);
                first = row + 1;
            }
            plan.push(todo, end - first);
            first = end;
        }
    }
    Ok(Some(plan))
}

/// How many keys at the beginning are equal. Sixty-four are compared at a time: paths go on for
/// thousands of rows.
fn alike(keys: &[i32]) -> usize {
    let Some(first) = keys.first() else { return 0 };
    let mut count = 0;
    for some in keys.chunks(64) {
        if some.iter().fold(0, |differing, key| differing | (key ^ first)) != 0 {
            return count + some.iter().take_while(|key| *key == first).count();
        }
        count += some.len();
    }
    count
}

fn judge_path(
    text: &str,
    shared: &QuestionContext,
    findings: &mut Findings,
    plan: &mut Plan,
) -> Option<Todo> {
    let mut catalog = shared.catalog();
    if shared.question.kind == DurationKind::Apcd {
        let classes = catalog.path(text).classes.clone();
        let (top, below) = classes.split_first()?;
        if below.iter().any(|class| catalog.is_root(*class)) {
            return None;
        }
        let is_root = catalog.is_root(*top);
        drop(catalog);
        return Some(take(shared, &classes, is_root, findings));
    }
    Some(match catalog.meaning(text) {
        Some(Meaning::None | Meaning::Hidden) => Todo::Skip,
        Some(Meaning::Below { from_top: true, .. }) => {
            let classes = catalog.path(text).classes.clone();
            drop(catalog);
            take(shared, &classes, true, findings)
        }
        Some(Meaning::Below { from_top: false, .. }) => return None,
        None => {
            let known = plan.asked.iter().position(|asked| asked == text);
            Todo::AskLevel(known.unwrap_or_else(|| {
                plan.asked.push(text.to_owned());
                plan.asked.len() - 1
            }))
        }
    })
}

/// What is to be done with the rows of a path.
fn take(
    shared: &QuestionContext,
    classes: &[ClassId],
    selected: bool,
    findings: &mut Findings,
) -> Todo {
    if selected && shared.wants_path(classes) {
        Todo::Take(findings.series_of(classes))
    } else {
        Todo::Skip
    }
}

/// Finds the stretches of rows of the class asked for.
fn plan_classes(
    file: &SegmentFile,
    shared: &QuestionContext,
    findings: &mut Findings,
) -> Result<Plan, StoreError> {
    let mut plan = Plan::default();
    for batch in file.read(&[column::APPLICATION, column::CLASS], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        let (applications, application_words) = columns.words(column::APPLICATION)?;
        let (classes, class_words) = columns.words(column::CLASS)?;
        let mut last = None;
        for pair in applications.iter().zip(classes) {
            if last.is_none_or(|(known, _)| known != pair) {
                let word = |key: &i32, words: &[&str]| {
                    let word = usize::try_from(*key).ok().and_then(|key| words.get(key).copied());
                    word.map(str::to_owned).ok_or_else(|| file.unexpected_column(column::CLASS))
                };
                let application = word(pair.0, &application_words)?;
                let class = word(pair.1, &class_words)?;
                let mut catalog = shared.catalog();
                let class = catalog.class(&application, &class);
                let is_root = catalog.is_root(class);
                drop(catalog);
                last = Some((pair, take(shared, &[class], is_root, findings)));
            }
            if let Some((_, todo)) = last {
                plan.push(todo, 1);
            }
        }
    }
    Ok(plan)
}

/// What rows with dropped ancestors mean, by path and level.
struct LevelMeanings<'a> {
    shared: &'a QuestionContext<'a>,
    asked: &'a [String],
    known: HashMap<(usize, u16), ByLevel>,
}

#[derive(Clone, Copy)]
enum ByLevel {
    No,
    Series(usize),
    Group,
}

impl LevelMeanings<'_> {
    fn series(&mut self, path: usize, level: u16, findings: &mut Findings) -> ByLevel {
        if let Some(known) = self.known.get(&(path, level)) {
            return *known;
        }
        let mut catalog = self.shared.catalog();
        let classes: Vec<ClassId> = catalog.path(&self.asked[path]).classes.clone();
        let found = match catalog.selection.meaning(&classes, Some(level)) {
            Meaning::None => ByLevel::No,
            // The rows may know what the correlator dropped.
            Meaning::Hidden | Meaning::Below { from_top: false, .. } => ByLevel::Group,
            Meaning::Below { .. } => {
                drop(catalog);
                match take(self.shared, &classes, true, findings) {
                    Todo::Take(series) => ByLevel::Series(series),
                    Todo::Skip | Todo::AskLevel(_) => ByLevel::No,
                }
            }
        };
        self.known.insert((path, level), found);
        found
    }
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
    /// Where it is one and the same: whose, as far as anybody asks.
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
            only: self.only,
            foreign: self.foreign,
            first,
        }
    }

    /// As they are kept where all of them are.
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
        if needed == 0 && all_times && all_lengths && all_hosts && findings.keeps_whole() {
            return findings.keep_wholes(series, &self.wholes());
        }
        findings.reserve(series, self.start.len());
        for row in 0..self.start.len() {
            let links = self.links.get(row).copied().unwrap_or(0);
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
            let ends = ((hosts.root, root_start), (hosts.own, self.start[row]));
            let shift = clocks.and_then(|clocks| Some((clocks, clocks.shift(ends.0, ends.1)?)));
            let error_ns = shift.map(|(clocks, shift)| shift.map(|shift| clocks.error_ns(shift)));
            if let Some(error_ns) = error_ns {
                findings.crossings.add(duration, error_ns);
            }
            let foreign = self.foreign;
            let at = u32::try_from(self.first + row).ok();
            let whole = Whole { links, foreign, host: hosts.own, error_ns, row: at };
            findings.keep_whole(series, root_start, duration, whole);
            if counts.count(duration, links, self.foreign) {
                findings.push(series, root_start, duration.unsigned_abs());
            }
        }
        findings.counts.add(&counts);
    }
}
