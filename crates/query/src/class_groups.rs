//! Statistics of every class, of the rows that filters select and by the values of attributes.
//!
//! Sketches do not know attributes, so that the rows are read.

use crate::attributes::{AttributeReader, GROUPS_MAX, GroupNumbers, GroupValue, Ranked};
use crate::classes::{ClassStatistics, class_of, word};
use crate::error::QueryError;
use crate::minute_share::{MinuteShare, root_start_column, root_start_ns};
use crate::progress::Progress;
use crate::question::Limits;
use crate::spread::spread;
use chronoscope_chain::{AttributeKey, AttributeSelection, RowAttributes};
use chronoscope_model::schema::column;
use chronoscope_model::{ClassName, Status};
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{Damage, RowKind, Segment, Snapshot, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Statistics of classes by the values of attributes. Every row is in exactly one group.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassGroups {
    /// The keys to group by; none where rows are only filtered.
    pub by: Vec<AttributeKey>,
    /// By class; within a class most rows first, at last those that were brought together.
    pub classes: Vec<ClassGroup>,
    /// Number of groups that were brought together as `(others)` of their class, because they are
    /// not among the [`GROUPS_MAX`] largest of all classes.
    pub merged: u64,
    /// For each key whether it has more values than are told apart.
    pub cut: Vec<bool>,
    /// Segments that could not be read.
    pub damage: Vec<Damage>,
}

/// The rows of a class with the same values.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassGroup {
    /// The class.
    pub name: ClassName,
    /// The value for each key.
    pub values: Vec<GroupValue>,
    /// Statistics of the rows.
    pub statistics: ClassStatistics,
}

/// What counts of a row. Ordered by class and group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    /// Number of the class among those of the answer.
    class: u32,
    group: GroupNumbers,
    is_good: bool,
    elapsed_ns: u64,
    cpu_ns: Option<u64>,
}

/// Rows by class, on one thread.
#[derive(Default)]
struct Rows {
    classes: HashMap<ClassName, u32>,
    rows: Vec<Row>,
    damage: Vec<Damage>,
}

impl Rows {
    fn number(&mut self, class: ClassName) -> u32 {
        let next = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        *self.classes.entry(class).or_insert(next)
    }
}

/// Statistics by class of the rows whose root started in `start_ns` (UTC, nanoseconds since 1970),
/// foreign ones by their own start, that all filters of `selection` select; by its keys, each row by
/// its own attributes. Takes 40 octets for each selected row.
///
/// # Errors
/// [`QueryError::TooManyRows`] beyond [`Limits::memory_bytes`]; else as [`crate::ask_watched`].
pub fn class_groups(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
    selection: &AttributeSelection,
    limits: &Limits,
    progress: &Progress,
) -> Result<ClassGroups, QueryError> {
    let reader = AttributeReader::of(snapshot, selection);
    let segments: Vec<&Segment> = snapshot
        .segments()
        .iter()
        .filter(|segment| MinuteShare::of(segment.slot.minute, start_ns) != MinuteShare::Nothing)
        .collect();
    progress.expect(segments.len() as u64);
    let most = limits.memory_bytes / size_of::<Row>() as u64;
    let most_each = most / limits.threads.max(1) as u64;
    let states = spread(&segments, limits.threads, Rows::default, |rows, segment| {
        if rows.rows.len() as u64 <= most_each {
            let before = rows.rows.len();
            match read(segment, start_ns, reader.as_ref(), rows) {
                Err(error) if error.is_missing() || error.is_cancelled() => return Err(error),
                Err(error) => {
                    rows.rows.truncate(before);
                    rows.damage.push(Damage {
                        path: segment.path.clone(),
                        position: 0,
                        reason: error.to_string(),
                        rows_lost: segment.row_count,
                    });
                }
                Ok(()) => {}
            }
        }
        progress.tick()
    })?;
    let mut all = unsealed(snapshot, start_ns, reader.as_ref());
    all.damage.splice(..0, snapshot.damage().iter().cloned());
    if states.iter().any(|rows| rows.rows.len() as u64 > most_each) {
        let rows = segments.iter().map(|segment| segment.row_count).sum();
        return Err(QueryError::TooManyRows { rows, most });
    }
    for rows in states {
        let names: HashMap<u32, ClassName> =
            rows.classes.into_iter().map(|(name, number)| (number, name)).collect();
        let numbers: HashMap<u32, u32> =
            names.into_iter().map(|(number, name)| (number, all.number(name))).collect();
        let renumbered = |row: Row| Row { class: numbers[&row.class], ..row };
        all.rows.extend(rows.rows.into_iter().map(renumbered));
        all.damage.extend(rows.damage);
    }
    Ok(answer(all, selection, reader.as_ref()))
}

/// The rows of the log.
fn unsealed(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
    reader: Option<&AttributeReader<'_>>,
) -> Rows {
    let mut rows = Rows::default();
    let mut attributes = reader.map(AttributeReader::rows);
    for record in snapshot.unsealed().records() {
        if !start_ns.contains(&root_start_ns(record)) {
            continue;
        }
        let of_row = attributes.as_mut().map(|attributes| attributes.record(record));
        let Some(group) = group(reader, of_row.as_ref()) else { continue };
        let class = rows.number(class_of(record, snapshot.names()));
        rows.rows.push(Row {
            class,
            group,
            is_good: record.status() == Status::Good,
            elapsed_ns: record.elapsed_ns,
            cpu_ns: record.known_cpu_ns(),
        });
    }
    rows
}

/// The group of a row; `None` where a filter leaves it out.
fn group(
    reader: Option<&AttributeReader<'_>>,
    row: Option<&RowAttributes>,
) -> Option<GroupNumbers> {
    let Some(reader) = reader else { return Some(GroupNumbers::default()) };
    reader.group_of_row(row.copied().unwrap_or_default())
}

/// Reads the rows of a segment.
fn read(
    segment: &Segment,
    start_ns: &Range<i64>,
    reader: Option<&AttributeReader<'_>>,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    let kind = segment.slot.kind;
    let file = SegmentFile::open(segment)?;
    let starts = root_start_column(kind);
    let mut names = vec![
        column::APPLICATION,
        column::CLASS,
        starts,
        column::ELAPSED_NS,
        column::CPU_NS,
        column::STATUS,
    ];
    names.extend(reader.iter().flat_map(|reader| reader.columns()));
    let (mut attribute_rows, mut attributes) = (reader.map(AttributeReader::rows), Vec::new());
    for batch in file.read_contexts(&names, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file: &file, batch: &batch };
        if let Some(rows) = &mut attribute_rows {
            rows.read(&columns, &mut attributes)?;
        }
        let (applications, application_words) = columns.words(column::APPLICATION)?;
        let (classes, class_words) = columns.words(column::CLASS)?;
        let (statuses, status_words) = columns.words(column::STATUS)?;
        let (elapsed, cpu) =
            (columns.nanoseconds(column::ELAPSED_NS)?, columns.nanoseconds(column::CPU_NS)?);
        let mut numbers: HashMap<(i32, i32), u32> = HashMap::new();
        for (row, start) in columns.instants(starts)?.iter().enumerate() {
            if !start_ns.contains(start) {
                continue;
            }
            let Some(group) = group(reader, attributes.get(row)) else { continue };
            let key = (applications[row], classes[row]);
            let class = *numbers.entry(key).or_insert_with(|| {
                rows.number(ClassName {
                    application: word(&application_words, key.0).to_owned(),
                    class: word(&class_words, key.1).to_owned(),
                })
            });
            let cpu_ns = cpu[row].cast_unsigned();
            rows.rows.push(Row {
                class,
                group,
                is_good: word(&status_words, statuses[row]) == Status::Good.name(),
                elapsed_ns: elapsed[row].cast_unsigned(),
                cpu_ns: Some(cpu_ns).filter(|ns| kind == RowKind::Native || *ns > 0),
            });
        }
    }
    Ok(())
}

/// Brings the rows together by class and group.
fn answer(
    mut all: Rows,
    selection: &AttributeSelection,
    reader: Option<&AttributeReader<'_>>,
) -> ClassGroups {
    // Numbered by name, so that the order of threads plays no part.
    let names: BTreeMap<ClassName, u32> = all.classes.into_iter().collect();
    let new: HashMap<u32, u32> = names.values().copied().zip(0..).collect();
    all.rows.iter_mut().for_each(|row| row.class = new[&row.class]);
    let names: Vec<ClassName> = names.into_keys().collect();
    if let Some(reader) = reader {
        reader.resolve(all.rows.iter_mut().map(|row| &mut row.group));
    }
    all.rows.sort_unstable();
    let of_groups = all.rows.chunk_by(|a, b| (a.class, a.group) == (b.class, b.group));
    let groups = of_groups.map(|rows| (rows[0].group, rows.len() as u64, rows)).collect();
    let most = if selection.by().is_empty() { usize::MAX } else { GROUPS_MAX };
    let Ranked { groups, others, merged } = match reader {
        Some(reader) => reader.rank(groups, most),
        None => Ranked {
            groups: groups.into_iter().map(|(.., rows)| (Vec::new(), rows)).collect(),
            others: Vec::new(),
            merged: 0,
        },
    };
    let mut classes: BTreeMap<u32, Vec<ClassGroup>> = BTreeMap::new();
    let statistics = |rows: &[Row]| {
        let mut statistics = ClassStatistics::default();
        rows.iter().for_each(|row| statistics.add(row.elapsed_ns, row.cpu_ns, row.is_good));
        statistics
    };
    for (values, rows) in groups {
        let class = rows[0].class;
        let name = names[class as usize].clone();
        let group = ClassGroup { name, values, statistics: statistics(rows) };
        classes.entry(class).or_default().push(group);
    }
    let mut of_others: BTreeMap<u32, ClassStatistics> = BTreeMap::new();
    for rows in others {
        of_others.entry(rows[0].class).or_default().merge(&statistics(rows));
    }
    for (class, statistics) in of_others {
        let values = vec![GroupValue::Others; selection.by().len()];
        let name = names[class as usize].clone();
        classes.entry(class).or_default().push(ClassGroup { name, values, statistics });
    }
    ClassGroups {
        by: selection.by().to_vec(),
        classes: classes.into_values().flatten().collect(),
        merged,
        cut: reader.map_or_else(Vec::new, AttributeReader::cut),
        damage: all.damage,
    }
}
