//! Statistics of every class in the store. Whole minutes come from the sketches; rows are read only
//! of the minutes that the time range cuts.

use crate::minute_share::{MinuteShare, root_start_column, root_start_ns};
use chronoscope_model::schema::column;
use chronoscope_model::{ClassName, Names, Record, Status};
use chronoscope_statistics::Histogram;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{
    Damage, RowKind, Segment, SketchRow, Slot, Snapshot, StoreError, read_sketch,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Statistics of the rows of one class, over all paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassStatistics {
    /// Elapsed times in nanoseconds. Count, sum, smallest and largest are exact, quantiles at most
    /// 3.125 % too large.
    pub elapsed: Histogram,
    /// Thread CPU time of all rows together, in nanoseconds.
    pub cpu_ns: u64,
    /// Rows whose CPU time is known ([`Record::known_cpu_ns`]). Of a whole minute's foreign rows
    /// all are taken to be known where any is: sketches have their sum only.
    pub cpu_known: u64,
    /// Rows whose status is not GOOD.
    pub not_good: u64,
}

impl ClassStatistics {
    /// Mean CPU time of the rows whose CPU time is known, in nanoseconds; `None` where it is known
    /// of no row.
    pub fn cpu_mean_ns(&self) -> Option<f64> {
        (self.cpu_known > 0).then(|| self.cpu_ns as f64 / self.cpu_known as f64)
    }

    /// Adds others of the same class.
    pub(crate) fn merge(&mut self, others: &Self) {
        self.elapsed.merge(&others.elapsed);
        self.cpu_ns = self.cpu_ns.saturating_add(others.cpu_ns);
        self.cpu_known += others.cpu_known;
        self.not_good += others.not_good;
    }

    pub(crate) fn add(&mut self, elapsed_ns: u64, cpu_ns: Option<u64>, is_good: bool) {
        self.elapsed.add(elapsed_ns);
        self.cpu_ns = self.cpu_ns.saturating_add(cpu_ns.unwrap_or(0));
        self.cpu_known += u64::from(cpu_ns.is_some());
        self.not_good += u64::from(!is_good);
    }
}

type ByClass = BTreeMap<ClassName, ClassStatistics>;

/// Statistics by class, and what could not be read.
///
/// Rows count whose root started in `start_ns` (UTC, nanoseconds since 1970), foreign ones by their
/// own start. Rows that are not sealed yet are counted too. A range that begins or ends within a
/// minute costs reading that minute's rows, in six columns.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one.
pub fn classes(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
) -> Result<(ByClass, Vec<Damage>), StoreError> {
    let mut classes = ByClass::new();
    let mut damage = snapshot.damage().to_vec();
    for segment in snapshot.segments() {
        let (path, found) = match MinuteShare::of(segment.slot.minute, start_ns) {
            MinuteShare::Nothing => continue,
            MinuteShare::All => (&segment.sketch_path, of_sketch(segment)),
            MinuteShare::Some => (&segment.path, of_rows(segment, start_ns)),
        };
        match found {
            Ok(found) => {
                for (name, theirs) in found {
                    classes.entry(name).or_default().merge(&theirs);
                }
            }
            Err(error) if error.is_missing() => return Err(error),
            Err(error) => damage.push(Damage {
                path: path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            }),
        }
    }
    for record in snapshot.unsealed().records() {
        if start_ns.contains(&root_start_ns(record)) {
            let class = classes.entry(class_of(record, snapshot.names())).or_default();
            let is_good = record.status() == Status::Good;
            class.add(record.elapsed_ns, record.known_cpu_ns(), is_good);
        }
    }
    Ok((classes, damage))
}

pub(crate) fn class_of(record: &Record, names: &Names) -> ClassName {
    let unnamed = || ClassName { application: String::new(), class: format!("?{}", record.class) };
    names.class(record.class).cloned().unwrap_or_else(unnamed)
}

fn of_sketch(segment: &Segment) -> Result<ByClass, StoreError> {
    let mut classes = ByClass::new();
    for row in read_sketch(segment)? {
        let SketchRow { application, class, elapsed, cpu_ns, not_good, .. } = row;
        let is_unknown = segment.slot.kind == RowKind::Foreign && cpu_ns == 0;
        let cpu_known = if is_unknown { 0 } else { elapsed.count() };
        let of_path = ClassStatistics { elapsed, cpu_ns, cpu_known, not_good };
        classes.entry(ClassName { application, class }).or_default().merge(&of_path);
    }
    Ok(classes)
}

/// The rows of a segment whose root started in a range.
fn of_rows(segment: &Segment, start_ns: &Range<i64>) -> Result<ByClass, StoreError> {
    let Slot { kind, .. } = segment.slot;
    let file = SegmentFile::open(segment)?;
    let starts = root_start_column(kind);
    let mut classes = ByClass::new();
    let wanted = [
        column::APPLICATION,
        column::CLASS,
        starts,
        column::ELAPSED_NS,
        column::CPU_NS,
        column::STATUS,
    ];
    for batch in file.read(&wanted, None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file: &file, batch: &batch };
        let (applications, application_words) = columns.words(column::APPLICATION)?;
        let (names, class_words) = columns.words(column::CLASS)?;
        let (statuses, status_words) = columns.words(column::STATUS)?;
        let (elapsed, cpu) =
            (columns.nanoseconds(column::ELAPSED_NS)?, columns.nanoseconds(column::CPU_NS)?);
        let mut of_batch: HashMap<(i32, i32), ClassStatistics> = HashMap::new();
        for (row, start) in columns.instants(starts)?.iter().enumerate() {
            if start_ns.contains(start) {
                let class = of_batch.entry((applications[row], names[row])).or_default();
                let cpu_ns = cpu[row].cast_unsigned();
                let cpu_ns = Some(cpu_ns).filter(|ns| kind == RowKind::Native || *ns > 0);
                let is_good = word(&status_words, statuses[row]) == Status::Good.name();
                class.add(elapsed[row].cast_unsigned(), cpu_ns, is_good);
            }
        }
        for ((application, class), statistics) in of_batch {
            let name = ClassName {
                application: word(&application_words, application).to_owned(),
                class: word(&class_words, class).to_owned(),
            };
            classes.entry(name).or_default().merge(&statistics);
        }
    }
    Ok(classes)
}

/// The word of a key; empty where there is none.
pub(crate) fn word<'a>(words: &[&'a str], key: i32) -> &'a str {
    usize::try_from(key).ok().and_then(|key| words.get(key)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::Flags;

    #[test]
    fn flags_of_a_kind_and_of_a_record_tell_the_same_of_cpu_time() {
        let foreign = Record { flags: Flags::FOREIGN.0, ..Record::default() };
        assert_eq!(foreign.known_cpu_ns(), None);
        assert_eq!(Record { cpu_ns: 7, ..foreign }.known_cpu_ns(), Some(7));
        assert_eq!(Record::default().known_cpu_ns(), Some(0));
        assert_eq!(Slot::of(&foreign).kind, RowKind::Foreign);
    }
}
