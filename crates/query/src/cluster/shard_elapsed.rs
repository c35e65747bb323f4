//! Elapsed times of a class, selected by the shards: of its rows nothing but these travels, 4 octets
//! each (8 of those that are longer than 4 s), and their starts where points are asked for.
//!
//! Each transaction is measured by itself: its row alone says how long it took. So every stored row
//! is taken as it is, native or foreign, linked or not; aliases, clocks and roots play no part.
//! Not here: attributes, by which no shard can filter.

use super::ask::ClusterView;
use super::class_numbers::ClassNumbers;
use super::duration_rows::joined;
use super::missing::Missing;
use super::names::ClusterNames;
use super::row_counts::minutes_of;
use super::rows_view::RowsView;
use super::shard_durations::ShardAnswer;
use super::sql::{between, quoted};
use crate::answer::Answer;
use crate::error::QueryError;
use crate::found_elsewhere::{FoundElsewhere, FoundPath};
use crate::minutes::{REACH, around};
use crate::progress::Progress;
use crate::question::{DurationKind, Limits, Question, VerdictSubject};
use crate::run::ask_with;
use crate::series::Point;
use arrow_array::types::{UInt8Type, UInt32Type};
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows, root_class_text};
use chronoscope_model::{ClassName, Flags};
use std::ops::Range;

const FOREIGN: u8 = Flags::FOREIGN.0;

/// Whether rows tell by themselves, in few columns, all that a question is about.
fn is_of_elapsed(question: &Question) -> bool {
    question.kind == DurationKind::Sync
        && question.judged == VerdictSubject::Durations
        && question.attributes.is_empty()
}

impl ClusterView {
    /// Answers a question about the elapsed times of a class; `None` for any other question, and
    /// where a shard is missing.
    pub(super) fn ask_elapsed(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<Answer>, QueryError> {
        let known = self.shard_elapsed(question, progress)?;
        let Some(ShardAnswer { rest, found }) = known else { return Ok(None) };
        Ok(Some(ask_with(&rest, question, limits, progress, found)?))
    }

    /// The elapsed times of a class as the shards select them; `None` for any other question, and
    /// where a shard is missing.
    pub(super) fn shard_elapsed(
        &self,
        question: &Question,
        progress: &Progress,
    ) -> Result<Option<ShardAnswer>, QueryError> {
        if !is_of_elapsed(question) {
            return Ok(None);
        }
        // Asked at the same time: the rows take longer than all that is known besides them.
        let asked = std::thread::scope(|scope| {
            let names = scope.spawn(|| ClusterNames::read(self.cluster()));
            let besides = scope.spawn(|| {
                let mut missing = Missing::default();
                let extent = self.reachable_extent(&mut missing)?;
                let notes = self.notes(&mut missing)?;
                Ok(missing.0.is_empty().then_some((notes, extent)))
            });
            let found = self.cluster().on_all(|_, node| elapsed(node, question))?;
            Ok::<_, QueryError>((joined(names)?, joined(besides)?, found))
        })?;
        progress.check()?;
        let (names, Some((notes, extent)), found) = asked else { return Ok(None) };
        let known = self.known_besides_rows(notes, extent)?;
        let rest = RowsView::without_rows(names, known);
        Ok(Some(ShardAnswer { rest, found: found.into_iter().flatten().collect() }))
    }
}

/// The elapsed times on a shard, by class.
fn elapsed(node: &Node, question: &Question) -> Result<Vec<FoundElsewhere>, ClickHouseError> {
    let classes = selected_classes(node, question)?;
    if classes.is_empty() {
        return Ok(Vec::new());
    }
    let numbers = ClassNumbers::new(&classes);
    let of_class = |class: &ClassName| FoundElsewhere::new(FoundPath::Class(class.clone()));
    let mut found: Vec<FoundElsewhere> = classes.iter().map(of_class).collect();
    let (rows, add) = (ElapsedRows::of(question, &numbers), &mut found);
    match question.points {
        true => node.query(&rows.each(""), |batch| {
            add_points(&ResultRows { node, batch }, &numbers, add)
        })?,
        false => node.query(&rows.lengths(), |batch| {
            add_lengths(&ResultRows { node, batch }, &numbers, add)
        })?,
    }
    found.retain(|found| found.rows > 0);
    Ok(found)
}

/// The classes on a shard that a question is about; those that nobody named, by their numbers, among
/// them.
fn selected_classes(node: &Node, question: &Question) -> Result<Vec<ClassName>, ClickHouseError> {
    let mut selected = Vec::new();
    node.query("SELECT DISTINCT application, class FROM classes", |batch| {
        let rows = ResultRows { node, batch };
        let (applications, classes) = (rows.texts("application")?, rows.texts("class")?);
        for row in 0..batch.num_rows() {
            let (application, class) = (applications.value(row), classes.value(row));
            let is_path = |path: &String| *path == root_class_text(application, class);
            let (application, class) = (application.to_owned(), class.to_owned());
            let name = ClassName { application, class };
            if question.root.selects(&name) && question.path.as_ref().is_none_or(is_path) {
                selected.push(name);
            }
        }
        Ok(())
    })?;
    Ok(selected)
}

/// A statement's parts: the rows of a question, as the columns `number` (of the class, where there are
/// several), `is_foreign`, `start_ns` and `duration`.
struct ElapsedRows {
    number: Option<String>,
    /// What follows the columns.
    from: String,
}

impl ElapsedRows {
    fn of(question: &Question, numbers: &ClassNumbers<'_>) -> Self {
        let Question { start_ns, hosts, duration_ns, .. } = question;
        // A native row lies in the minute of its root's start, a foreign one in that of its own.
        let mut conditions = between("minute", &minutes_of(&around(start_ns, REACH)));
        if *start_ns != (i64::MIN..i64::MAX) {
            let Range { start, end } = start_ns;
            conditions.push_str(&format!(" AND start_ns >= {start} AND start_ns < {end}"));
        }
        if !hosts.is_empty() {
            let hosts: Vec<String> = hosts.iter().map(|host| quoted(host)).collect();
            conditions.push_str(&format!(" AND host IN ({})", hosts.join(",")));
        }
        if *duration_ns != (0..=u64::MAX) {
            let longest = (*duration_ns.end()).min(i64::MAX.unsigned_abs());
            let shortest = duration_ns.start();
            conditions.push_str(&format!(" AND duration BETWEEN {shortest} AND {longest}"));
        }
        let from = format!("FROM transactions PREWHERE {} WHERE {conditions}", numbers.condition());
        Self { number: numbers.column(), from }
    }

    /// The rows themselves, with another column in front.
    fn each(&self, front: &str) -> String {
        let number = self.number.iter().map(|sql| format!("{sql} AS number, "));
        let number: String = number.collect();
        // An end after the last instant is taken to be there, as in files.
        format!(
            "SELECT {front}{number}toUInt8(bitAnd(flags, {FOREIGN}) != 0) AS is_foreign, \
             toUnixTimestamp64Nano(start) AS start_ns, \
             least(elapsed_ns, {} - greatest(start_ns, 0)) AS duration {}",
            i64::MAX,
            self.from
        )
    }

    /// The lengths alone, as lists by class and kind, with first and last start. One statement, so that
    /// all of it is of the same rows; by minute, so that long lists can go to the disk where memory is
    /// short.
    fn lengths(&self) -> String {
        let number = if self.number.is_some() { "number, " } else { "" };
        let (each, longest) = (self.each("minute, "), u32::MAX);
        format!(
            "SELECT {number}is_foreign, min(start_ns) AS first_ns, max(start_ns) AS last_ns, \
             groupArrayIf(toUInt32(duration), duration <= {longest}) AS short_ns, \
             groupArrayIf(toUInt64(duration), duration > {longest}) AS long_ns \
             FROM ({each}) GROUP BY minute, {number}is_foreign \
             SETTINGS max_bytes_before_external_group_by = 1000000000"
        )
    }
}

/// Adds lists of lengths.
fn add_lengths(
    rows: &ResultRows<'_>,
    numbers: &ClassNumbers<'_>,
    found: &mut [FoundElsewhere],
) -> Result<(), ClickHouseError> {
    let of_classes = numbers.read(rows)?;
    let foreign = rows.numbers::<UInt8Type>("is_foreign")?;
    let (first, last) = (rows.times("first_ns")?, rows.times("last_ns")?);
    let short = rows.number_lists::<UInt32Type>("short_ns")?;
    let long = rows.id_lists("long_ns")?;
    for (row, long) in long.into_iter().enumerate() {
        let of_class = &mut found[of_classes.of(row)?];
        let count = (short[row].len() + long.len()) as u64;
        count_elapsed(of_class, count, foreign[row] != 0);
        of_class.add_starts(first[row], last[row]);
        let mut piece = long;
        piece.extend(short[row].iter().map(|ns| u64::from(*ns)));
        of_class.durations_ns.push(piece);
    }
    Ok(())
}

/// Adds single rows with their starts.
fn add_points(
    rows: &ResultRows<'_>,
    numbers: &ClassNumbers<'_>,
    found: &mut [FoundElsewhere],
) -> Result<(), ClickHouseError> {
    let of_classes = numbers.read(rows)?;
    let foreign = rows.numbers::<UInt8Type>("is_foreign")?;
    let starts = rows.times("start_ns")?.iter();
    for (row, (start_ns, duration)) in starts.zip(rows.times("duration")?).enumerate() {
        let of_class = &mut found[of_classes.of(row)?];
        let (start_ns, duration_ns) = (*start_ns, duration.unsigned_abs());
        count_elapsed(of_class, 1, foreign[row] != 0);
        of_class.add_starts(start_ns, start_ns);
        of_class.points.push(Point { start_ns, duration_ns });
        match of_class.durations_ns.last_mut() {
            Some(piece) => piece.push(duration_ns),
            None => of_class.durations_ns.push(vec![duration_ns]),
        }
    }
    Ok(())
}

/// Counts rows: nothing can be missing of one that is measured by itself.
fn count_elapsed(found: &mut FoundElsewhere, rows: u64, is_foreign: bool) {
    found.rows += rows;
    found.counts.used += rows;
    found.counts.foreign += if is_foreign { rows } else { 0 };
}
