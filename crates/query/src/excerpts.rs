//! The rows of one class, as much of them as a question about it needs.

use crate::context_columns::ContextColumns;
use crate::minutes::REACH;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{DictionaryArray, StringArray};
use chronoscope_model::schema::column;
use chronoscope_model::{ClassId, ClassName, Excerpt, Status};
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{Damage, RowKind, Segment, Slot, Snapshot, StoreError};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Number of attempts to read a minute whose segments are replaced meanwhile.
const TRIES: usize = 5;

/// Gives the rows of `class` that started in `start_ns` (UTC, nanoseconds since 1970) to `each`,
/// minute by minute of their roots' starts; and what could not be read. Rows of native chains are
/// looked for up to [`REACH`] after their root started.
///
/// Memory: a batch of a segment's rows, in the columns that are given out, and the rows that are not
/// sealed yet. The segments of a minute are opened together, and where one has been replaced the
/// store is looked at anew: it may be written for as long as this takes.
///
/// # Errors
/// [`StoreError`] when the store cannot be read.
pub fn excerpts(
    dir: &Path,
    class: &ClassName,
    start_ns: &Range<i64>,
    each: &mut dyn FnMut(&Excerpt<'_>),
) -> Result<Vec<Damage>, StoreError> {
    let mut view = View::open(dir, class, start_ns)?;
    let mut damage = view.snapshot.damage().to_vec();
    let mut done: Option<Slot> = None;
    let mut tries = 1;
    while let Some(slot) = view.next_slot(done, start_ns) {
        let segments = view.snapshot.segments().iter().filter(|segment| segment.slot == slot);
        let opened: Result<Vec<_>, StoreError> = segments.map(open).collect();
        let opened = match opened {
            Err(error) if error.is_missing() && tries < TRIES => {
                tries += 1;
                view = View::open(dir, class, start_ns)?;
                continue;
            }
            opened => opened?,
        };
        for (segment, file) in opened {
            let read = file.and_then(|file| read(&file, class, start_ns, each));
            damage.extend(read.err().map(|error| Damage {
                path: segment.path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            }));
        }
        let batch = view.snapshot.unsealed();
        for row in view.unsealed.get(&slot).into_iter().flatten() {
            let record = &batch.records()[*row];
            each(&Excerpt::of_record(record, batch.context(record)));
        }
        (done, tries) = (Some(slot), 1);
    }
    Ok(damage)
}

/// The store at one moment.
struct View {
    snapshot: Snapshot,
    /// The rows that are wanted and not sealed yet.
    unsealed: BTreeMap<Slot, Vec<usize>>,
}

impl View {
    fn open(dir: &Path, class: &ClassName, start_ns: &Range<i64>) -> Result<Self, StoreError> {
        let snapshot = Snapshot::open(dir)?;
        let id = ClassId::of(&class.application, &class.class);
        let mut unsealed: BTreeMap<Slot, Vec<usize>> = BTreeMap::new();
        for (row, record) in snapshot.unsealed().records().iter().enumerate() {
            if record.class == id && start_ns.contains(&record.start_ns) {
                unsealed.entry(Slot::of(record)).or_default().push(row);
            }
        }
        Ok(Self { snapshot, unsealed })
    }

    /// The slot after `done` that may have rows that are wanted.
    fn next_slot(&self, done: Option<Slot>, start_ns: &Range<i64>) -> Option<Slot> {
        let later = |slot: &Slot| done.is_none_or(|done| *slot > done);
        let may = |slot: &Slot| {
            let reach_ns = match slot.kind {
                RowKind::Native => i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX),
                RowKind::Foreign => 0,
            };
            let end_ns = slot.minute.end_ns().saturating_add(reach_ns);
            // The last minute of time ends in itself.
            slot.minute.start_ns() < start_ns.end && (end_ns > start_ns.start || end_ns == i64::MAX)
        };
        let sealed = self.snapshot.segments().iter().map(|segment| segment.slot).filter(may);
        sealed.chain(self.unsealed.keys().copied()).filter(later).min()
    }
}

/// A segment, or why it is damaged; an error where it is gone.
fn open(segment: &Segment) -> Result<(&Segment, Result<SegmentFile, StoreError>), StoreError> {
    match SegmentFile::open(segment) {
        Err(error) if error.is_missing() => Err(error),
        opened => Ok((segment, opened)),
    }
}

/// Reads the rows of a class out of a segment: first which they are, then what they say.
fn read(
    file: &SegmentFile,
    class: &ClassName,
    start_ns: &Range<i64>,
    each: &mut dyn FnMut(&Excerpt<'_>),
) -> Result<(), StoreError> {
    let outside = |range: std::ops::RangeInclusive<i64>| {
        *range.end() < start_ns.start || *range.start() >= start_ns.end
    };
    if file.range(column::START).is_some_and(outside) {
        return Ok(());
    }
    let Some(selection) = select(file, class, start_ns)? else { return Ok(()) };
    for batch in file.read_contexts(&EXCERPT, Some(selection))? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        let (starts, elapsed) =
            (columns.instants(column::START)?, columns.nanoseconds(column::ELAPSED_NS)?);
        let statuses = Word::of(&columns, column::STATUS)?;
        let said = ContextColumns::of(&columns)?;
        let mut excerpt = Excerpt::default();
        for row in 0..batch.num_rows() {
            excerpt.start_ns = starts[row];
            excerpt.elapsed_ns = elapsed[row].cast_unsigned();
            excerpt.status = statuses.at(row).parse().unwrap_or(Status::Unknown);
            excerpt.properties.clear();
            excerpt.properties.extend(said.properties(row));
            excerpt.metrics.clear();
            excerpt.metrics.extend(said.metrics(row));
            each(&excerpt);
        }
    }
    Ok(())
}

/// The columns that are read of the rows that are wanted.
const EXCERPT: [&str; 5] =
    [column::START, column::ELAPSED_NS, column::STATUS, column::PROPERTIES, column::METRICS];

/// The rows of a class that started in a range; `None` where there is none.
fn select(
    file: &SegmentFile,
    class: &ClassName,
    start_ns: &Range<i64>,
) -> Result<Option<RowSelection>, StoreError> {
    let mut selectors: Vec<RowSelector> = Vec::new();
    let mut any = false;
    for batch in file.read(&[column::APPLICATION, column::CLASS, column::START], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        let applications = Word::of(&columns, column::APPLICATION)?.which(&class.application);
        let classes = Word::of(&columns, column::CLASS)?.which(&class.class);
        let starts = columns.instants(column::START)?;
        for (row, start) in starts.iter().enumerate() {
            let wanted = applications.holds(row) && classes.holds(row) && start_ns.contains(start);
            any |= wanted;
            match selectors.last_mut() {
                Some(last) if last.skip != wanted => last.row_count += 1,
                _ if wanted => selectors.push(RowSelector::select(1)),
                _ => selectors.push(RowSelector::skip(1)),
            }
        }
    }
    Ok(any.then(|| selectors.into()))
}

/// A column of words.
struct Word<'a> {
    column: &'a DictionaryArray<Int32Type>,
    words: &'a StringArray,
}

impl<'a> Word<'a> {
    fn of(columns: &SegmentColumns<'a>, name: &str) -> Result<Self, StoreError> {
        let column = columns.batch.column_by_name(name);
        let column = column.and_then(|column| column.as_dictionary_opt::<Int32Type>());
        let words = column.and_then(|column| column.values().as_string_opt::<i32>());
        let both = column.zip(words).map(|(column, words)| Self { column, words });
        both.ok_or_else(|| columns.file.unexpected_column(name))
    }

    /// The word of a row; empty where it is null.
    fn at(&self, row: usize) -> &'a str {
        self.column.key(row).map_or("", |key| self.words.value(key))
    }

    /// The keys of a word: there may be several, or none.
    fn which(self, word: &str) -> Which<'a> {
        let is_word = self.words.iter().map(|own| own == Some(word)).collect();
        Which { column: self.column, is_word }
    }
}

/// Tells the rows of a column that have a word.
struct Which<'a> {
    column: &'a DictionaryArray<Int32Type>,
    is_word: Vec<bool>,
}

impl Which<'_> {
    fn holds(&self, row: usize) -> bool {
        self.column.key(row).is_some_and(|key| self.is_word.get(key) == Some(&true))
    }
}
