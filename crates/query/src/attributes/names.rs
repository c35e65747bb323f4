//! The attributes that a store's rows have, and their values: for people who want to know what they
//! can ask for, and for completion.

use super::entry::name_of;
use super::groups::{GROUPS_MAX, GroupValue, Ranked};
use super::rows::AttributeReader;
use super::values::{GroupNumbers, NONE, ValueTable};
use crate::classes::word;
use crate::context_columns::ContextColumns;
use crate::minute_share::{MinuteShare, root_start_column, root_start_ns};
use crate::progress::Progress;
use crate::spread::spread;
use chronoscope_chain::{AttributeKey, AttributeSelection};
use chronoscope_model::context::ContextEntry;
use chronoscope_model::hash::hash_bytes;
use chronoscope_model::schema::column;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{Damage, Segment, Snapshot, StoreError};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Largest number of names that are listed: beyond it those with the larger hashes are left out.
pub const NAMES_MAX: usize = 2_000;
/// Largest number of values of a name that are counted.
pub const COUNTED_MAX: usize = 1_000;

/// The names of the attributes of some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeNames {
    /// In most rows first, then by name.
    pub names: Vec<AttributeName>,
    /// Whether there are more than [`NAMES_MAX`].
    pub cut: bool,
    /// Rows that were looked at.
    pub rows: u64,
    /// Whether older rows were not looked at, because enough newer ones were.
    pub newest_only: bool,
    /// Segments that could not be read.
    pub damage: Vec<Damage>,
}

/// The name of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeName {
    /// The key, as a filter names it.
    pub key: String,
    /// Rows that have it.
    pub rows: u64,
    /// Different values of it, at most [`COUNTED_MAX`] counted.
    pub values: u64,
}

/// The values of one attribute in some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeValues {
    /// Each value with the number of rows that have it, most rows first; at most [`GROUPS_MAX`].
    pub values: Vec<(GroupValue, u64)>,
    /// Rows that have other values: beyond those listed, or too long.
    pub others: u64,
    /// Rows without the attribute.
    pub without: u64,
    /// As in [`AttributeNames`].
    pub rows: u64,
    /// As in [`AttributeNames`].
    pub newest_only: bool,
    /// As in [`AttributeNames`].
    pub damage: Vec<Damage>,
}

/// The rows to look at.
#[derive(Clone, Debug)]
pub struct AttributeRows<'a> {
    /// When their roots started, foreign ones themselves: UTC, nanoseconds since 1970.
    pub start_ns: Range<i64>,
    /// The newest are enough, whole segments of about so many rows; `None` for all.
    pub most: Option<u64>,
    /// Threads that read.
    pub threads: usize,
    /// Progress, counted in segments, and cancellation.
    pub progress: &'a Progress,
}

/// Lists the names of attributes. Names of resources and scopes are without their prefix, as a
/// filter names them.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken; [`StoreError::Cancelled`].
pub fn attribute_names(
    snapshot: &Snapshot,
    asked: &AttributeRows<'_>,
) -> Result<AttributeNames, StoreError> {
    let table = Mutex::new(ValueTable::new(NAMES_MAX));
    let Read { states, rows, newest_only, damage } = read(
        snapshot,
        asked,
        &[column::APPLICATION, column::HOST],
        || NameCounts::new(&table),
        NameCounts::add_batch,
    )?;
    let mut all = NameCounts::new(&table);
    for record in unsealed(snapshot, asked) {
        all.add_record(snapshot, record);
    }
    states.into_iter().for_each(|state| all.merge(state));
    let counts = all.counts;
    let table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
    let named = counts.into_iter().filter_map(|(number, count)| {
        let key = table.text(number)?.to_string();
        Some(AttributeName { key, rows: count.rows, values: count.values.len() as u64 })
    });
    let mut names: Vec<AttributeName> = named.collect();
    names.sort_by(|a, b| (Reverse(a.rows), &a.key).cmp(&(Reverse(b.rows), &b.key)));
    Ok(AttributeNames { names, cut: table.is_cut(), rows, newest_only, damage })
}

/// Lists the values of an attribute, row by row: `root.` and `leaf.` make no difference.
///
/// # Errors
/// As [`attribute_names`].
pub fn attribute_values(
    snapshot: &Snapshot,
    key: &AttributeKey,
    asked: &AttributeRows<'_>,
) -> Result<AttributeValues, StoreError> {
    let selection = AttributeSelection::by_key(key.clone());
    let Some(reader) = AttributeReader::of(snapshot, &selection) else {
        return Ok(AttributeValues::default());
    };
    let state = || (reader.rows(), Vec::new(), HashMap::<GroupNumbers, u64>::new());
    let Read { states, rows, newest_only, damage } = read(
        snapshot,
        asked,
        &reader.columns(),
        state,
        |(rows, of_batch, counts), columns, wanted| {
            rows.read(columns, of_batch)?;
            for (row, attributes) in of_batch.iter().enumerate() {
                if wanted(row) {
                    *counts.entry(attributes.values).or_default() += 1;
                }
            }
            Ok(())
        },
    )?;
    let (mut row_reader, _, mut counts) = state();
    for record in unsealed(snapshot, asked) {
        *counts.entry(row_reader.record(record).values).or_default() += 1;
    }
    for (number, count) in states.into_iter().flat_map(|(.., counts)| counts) {
        *counts.entry(number).or_default() += count;
    }
    let without = counts.remove(&[NONE; 2]).unwrap_or(0);
    let counts = counts.into_iter().map(|(number, rows)| (number, rows, rows)).collect();
    let Ranked { groups, others, .. } = reader.rank(counts, GROUPS_MAX);
    let values = groups.into_iter();
    let values = values.filter_map(|(mut values, rows)| Some((values.pop()?, rows))).collect();
    let others = others.iter().sum();
    Ok(AttributeValues { values, others, without, rows, newest_only, damage })
}

/// What all threads have read.
pub(super) struct Read<S> {
    pub(super) states: Vec<S>,
    pub(super) rows: u64,
    pub(super) newest_only: bool,
    pub(super) damage: Vec<Damage>,
}

/// Reads the rows that are asked for, batch by batch; `add` is told which rows of a batch are.
pub(super) fn read<S: Send>(
    snapshot: &Snapshot,
    asked: &AttributeRows<'_>,
    columns: &[&str],
    state: impl Fn() -> S + Sync,
    add: impl Fn(&mut S, &SegmentColumns<'_>, &dyn Fn(usize) -> bool) -> Result<(), StoreError> + Sync,
) -> Result<Read<S>, StoreError> {
    let mut rows = unsealed(snapshot, asked).count() as u64;
    let mut segments: Vec<&Segment> = snapshot.segments().iter().collect();
    segments.retain(|segment| {
        !matches!(MinuteShare::of(segment.slot.minute, &asked.start_ns), MinuteShare::Nothing)
    });
    segments.sort_by_key(|segment| (Reverse(segment.slot.minute), segment.path.clone()));
    let mut sum = rows;
    let enough = segments.iter().position(|segment| {
        let is_enough = asked.most.is_some_and(|most| sum >= most);
        sum += segment.row_count;
        is_enough
    });
    segments.truncate(enough.unwrap_or(segments.len()));
    asked.progress.expect(segments.len() as u64);
    let new = || (state(), 0_u64, Vec::new());
    let states = spread(&segments, asked.threads, new, |(state, rows, damage), segment| {
        asked.progress.check()?;
        let mut count = 0;
        let read = SegmentFile::open(segment).and_then(|file| {
            let wanted = match MinuteShare::of(segment.slot.minute, &asked.start_ns) {
                MinuteShare::All => None,
                _ => Some(root_start_column(segment.slot.kind)),
            };
            let names: Vec<&str> =
                columns.iter().copied().chain(ContextColumns::NAMES).chain(wanted).collect();
            for batch in file.read_contexts(&names, None)? {
                asked.progress.check()?;
                let batch = batch.map_err(file.unreadable())?;
                let columns = SegmentColumns { file: &file, batch: &batch };
                let starts = wanted.map(|name| columns.instants(name)).transpose()?;
                let wanted =
                    |row: usize| starts.is_none_or(|starts| asked.start_ns.contains(&starts[row]));
                add(state, &columns, &wanted)?;
                count += (0..batch.num_rows()).filter(|row| wanted(*row)).count() as u64;
            }
            Ok(())
        });
        *rows += count;
        match read {
            Err(error) if error.is_missing() || error.is_cancelled() => return Err(error),
            Err(error) => damage.push(Damage {
                path: segment.path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            }),
            Ok(()) => {}
        }
        asked.progress.tick()
    })?;
    let mut damage = snapshot.damage().to_vec();
    let mut all = Vec::new();
    for (state, count, broken) in states {
        rows += count;
        damage.extend(broken);
        all.push(state);
    }
    Ok(Read { states: all, rows, newest_only: enough.is_some(), damage })
}

/// The rows of the log that are asked for.
pub(super) fn unsealed<'a>(
    snapshot: &'a Snapshot,
    asked: &AttributeRows<'_>,
) -> impl Iterator<Item = &'a chronoscope_model::Record> {
    let start_ns = asked.start_ns.clone();
    let records = snapshot.unsealed().records().iter();
    records.filter(move |record| start_ns.contains(&root_start_ns(record)))
}

/// Rows and values by name, on one thread.
struct NameCounts<'t> {
    table: &'t Mutex<ValueTable>,
    /// Numbers of keys that came lately, as rows have them.
    known: HashMap<Box<str>, u32>,
    counts: HashMap<u32, NameCount>,
    /// The names of the present row.
    seen: Vec<u32>,
}

/// The hash of a metric's value: as text, so that it is one value with a property of that text.
fn of_number(number: f64) -> u64 {
    hash_bytes(number.to_string().as_bytes())
}

/// Keys that a thread remembers before it asks what all threads share.
const REMEMBERED_MAX: usize = 4_096;

#[derive(Default)]
struct NameCount {
    rows: u64,
    /// Hashes of values.
    values: HashSet<u64>,
}

impl<'t> NameCounts<'t> {
    fn new(table: &'t Mutex<ValueTable>) -> Self {
        Self { table, known: HashMap::new(), counts: HashMap::new(), seen: Vec::new() }
    }

    fn add_batch(
        &mut self,
        columns: &SegmentColumns<'_>,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Result<(), StoreError> {
        let said = ContextColumns::of(columns)?;
        let (applications, application_words) = columns.words(column::APPLICATION)?;
        let (hosts, host_words) = columns.words(column::HOST)?;
        let of_properties: Vec<u32> = said.property_keys().map(|key| self.number(key)).collect();
        let of_metrics: Vec<u32> = said.metric_keys().map(|key| self.number(key)).collect();
        for row in (0..columns.batch.num_rows()).filter(|row| wanted(*row)) {
            for (key, at) in said.properties_of(row) {
                let name = of_properties.get(key).copied().unwrap_or(NONE);
                self.add(name, || hash_bytes(said.text(at).0.as_bytes()));
            }
            for (key, number) in said.metrics_of(row) {
                let name = of_metrics.get(key).copied().unwrap_or(NONE);
                self.add(name, || of_number(number));
            }
            self.add_field("service.name", word(&application_words, applications[row]));
            self.add_field("host.name", word(&host_words, hosts[row]));
            self.end_row();
        }
        Ok(())
    }

    fn add_record(&mut self, snapshot: &Snapshot, record: &chronoscope_model::Record) {
        let names = snapshot.names();
        for entry in names.entries(record, snapshot.unsealed().context(record)) {
            match entry {
                ContextEntry::Property(key, text) => {
                    let name = self.number(key);
                    self.add(name, || hash_bytes(text.as_bytes()));
                }
                ContextEntry::Metric(key, number) => {
                    let name = self.number(key);
                    self.add(name, || of_number(number));
                }
                ContextEntry::Parent(_) | ContextEntry::Field(..) => {}
            }
        }
        let application = names.class(record.class).map(|class| class.application.as_str());
        let host = names.process(record.process).map(|process| process.host.as_str());
        self.add_field("service.name", application.unwrap_or_default());
        self.add_field("host.name", host.unwrap_or_default());
        self.end_row();
    }

    fn add_field(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            let name = self.number(key);
            self.add(name, || hash_bytes(value.as_bytes()));
        }
    }

    /// Counts a name by its number, with the hash of its value.
    fn add(&mut self, number: u32, value: impl Fn() -> u64) {
        // Of several the first counts, as in a question.
        if number <= super::values::OTHERS || self.seen.contains(&number) {
            return;
        }
        self.seen.push(number);
        let count = self.counts.entry(number).or_default();
        count.rows += 1;
        if count.values.len() < COUNTED_MAX {
            count.values.insert(value());
        }
    }

    fn end_row(&mut self) {
        self.seen.clear();
    }

    /// The number of a key's name; [`NONE`] where it is no attribute.
    fn number(&mut self, key: &str) -> u32 {
        if let Some(number) = self.known.get(key) {
            return *number;
        }
        let number = name_of(key).map_or(NONE, |(name, _)| {
            self.table.lock().unwrap_or_else(PoisonError::into_inner).number(name)
        });
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
        }
        self.known.insert(key.into(), number);
        number
    }

    fn merge(&mut self, other: Self) {
        for (number, theirs) in other.counts {
            let mine = self.counts.entry(number).or_default();
            mine.rows += theirs.rows;
            for value in theirs.values {
                if mine.values.len() < COUNTED_MAX {
                    mine.values.insert(value);
                }
            }
        }
    }
}
