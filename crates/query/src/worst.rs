//! The worst transactions of every class, by elapsed time or by CPU time of their threads.
//!
//! The sketches say how long a transaction has to be to come into question at all; segments whose
//! longest are shorter are not opened. So it costs about the sketches and a few segments. Of CPU
//! times the sketches have sums only: a segment with less CPU time in all than what is found already
//! is not opened.

use crate::fetch::transactions;
use crate::progress::Progress;
use chronoscope_chain::ClassSelector;
use chronoscope_model::schema::column;
use chronoscope_model::{ClassName, Record, Transaction};
use chronoscope_statistics::{Histogram, bucket_min};
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{
    Damage, RowKind, Segment, SketchRow, Slot, Snapshot, StoreError, read_sketch,
};
use parquet::arrow::arrow_reader::RowSelector;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Transactions of each class, the worst first.
pub type ByClass = BTreeMap<ClassName, Vec<Transaction>>;

/// What transactions are worst by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorstBy {
    /// Elapsed time.
    #[default]
    Elapsed,
    /// CPU time of the thread. Transactions of which it is not known are left out.
    Cpu,
}

impl WorstBy {
    const fn column(self) -> &'static str {
        match self {
            Self::Elapsed => column::ELAPSED_NS,
            Self::Cpu => column::CPU_NS,
        }
    }

    /// The value of a stored transaction; `None` where it is not known.
    const fn of(self, transaction: &Transaction) -> Option<u64> {
        match self {
            Self::Elapsed => Some(transaction.elapsed_ns),
            Self::Cpu => transaction.known_cpu_ns(),
        }
    }

    const fn of_record(self, record: &Record) -> u64 {
        match self {
            Self::Elapsed => record.elapsed_ns,
            Self::Cpu => record.cpu_ns,
        }
    }

    /// What no transaction of a sketch exceeds.
    fn bound(self, row: &SketchRow) -> u64 {
        match self {
            Self::Elapsed => row.elapsed.max().unwrap_or(0),
            Self::Cpu => row.cpu_ns,
        }
    }
}

/// A query for the worst transactions of each class.
#[derive(Clone, Debug)]
pub struct WorstQuery {
    /// When their chain's root started (they themselves, of foreign chains): UTC, nanoseconds since
    /// 1970.
    pub start_ns: Range<i64>,
    /// Hosts of the transactions; all when empty.
    pub hosts: Vec<String>,
    /// Class of the transactions; each class when `None`.
    pub class: Option<ClassSelector>,
    /// Number of transactions of each class.
    pub count: usize,
    /// What they are worst by.
    pub by: WorstBy,
}

/// The worst transactions by class, the worst first; and what could not be read.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one. [`StoreError::Cancelled`].
pub fn worst(
    snapshot: &Snapshot,
    question: &WorstQuery,
    progress: &Progress,
) -> Result<(ByClass, Vec<Damage>), StoreError> {
    let mut search = Search { question, found: BTreeMap::new(), enough: HashMap::new() };
    let mut damage = snapshot.damage().to_vec();
    let mut lost = |segment: &Segment, error: StoreError| match error.is_missing() {
        true => Err(error),
        false => {
            damage.push(Damage {
                path: segment.path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            });
            Ok(())
        }
    };
    let range = &question.start_ns;
    let may = |segment: &&Segment| {
        let minute = segment.slot.minute;
        minute.start_ns() < range.end && minute.end_ns() > range.start
    };
    let segments: Vec<_> = snapshot.segments().iter().filter(may).collect();
    progress.expect(2 * segments.len() as u64);
    let mut longest: Vec<(&Segment, Vec<(ClassName, u64)>)> = Vec::new();
    let mut classes: HashMap<ClassName, Histogram> = HashMap::new();
    for segment in segments {
        let minute = segment.slot.minute;
        let whole = minute.start_ns() >= range.start && minute.end_ns() <= range.end;
        match read_sketch(segment) {
            Ok(rows) => {
                let mut maxima = Vec::with_capacity(rows.len());
                for row in rows {
                    let bound = question.by.bound(&row);
                    let class = ClassName { application: row.application, class: row.class };
                    let exact = whole && question.hosts.is_empty();
                    if exact && question.by == WorstBy::Elapsed {
                        classes.entry(class.clone()).or_default().merge(&row.elapsed);
                    }
                    maxima.push((class, bound));
                }
                longest.push((segment, maxima));
            }
            Err(error) => lost(segment, error)?,
        }
        progress.tick()?;
    }
    for (class, histogram) in classes {
        search.enough.insert(class, at_least(&histogram, question.count));
    }
    // The segments with the longest come first: their results make it unnecessary to read the
    // others.
    longest.sort_by_key(|(_, maxima)| std::cmp::Reverse(maxima.iter().map(|(_, max)| *max).max()));
    for (segment, maxima) in longest {
        if maxima.iter().any(|(class, max)| search.wants(class, *max))
            && let Err(error) = search.read(segment)
        {
            lost(segment, error)?;
        }
        progress.tick()?;
    }
    search.unsealed(snapshot);
    Ok((search.found, damage))
}

/// A bound that at least `count` of the counted values reach; 0 where there are fewer.
fn at_least(histogram: &Histogram, count: usize) -> u64 {
    let buckets: Vec<_> = histogram.buckets().collect();
    let mut seen = 0;
    let found = buckets.iter().rev().find(|(_, in_bucket)| {
        seen += in_bucket;
        seen >= count as u64
    });
    found.map_or(0, |(bucket, _)| bucket_min(*bucket))
}

struct Search<'a> {
    question: &'a WorstQuery,
    found: ByClass,
    /// By class: the value that a transaction has to reach to come into question.
    enough: HashMap<ClassName, u64>,
}

impl Search<'_> {
    fn wants(&self, class: &ClassName, value: u64) -> bool {
        let selected = self.question.class.as_ref().is_none_or(|wanted| wanted.selects(class));
        selected && value >= self.enough.get(class).copied().unwrap_or(0)
    }

    /// Takes in rows, of which only the worst are kept.
    fn add(&mut self, rows: Vec<Transaction>) {
        let by = self.question.by;
        for row in rows.into_iter().filter(|row| by.of(row).is_some()) {
            let class = row.class.clone();
            let kept = self.found.entry(class.clone()).or_default();
            // Among equal ones the earlier comes first: the answer does not depend on the order of
            // reading.
            let key = |t: &Transaction| (std::cmp::Reverse(by.of(t)), t.start_ns, t.id);
            let at = kept.partition_point(|other| key(other) < key(&row));
            kept.insert(at, row);
            kept.truncate(self.question.count);
            if let Some(last) = kept.get(self.question.count.saturating_sub(1)) {
                let enough = self.enough.entry(class).or_insert(0);
                *enough = (*enough).max(by.of(last).unwrap_or(0));
            }
        }
    }

    /// Reads the rows of a segment that come into question.
    fn read(&mut self, segment: &Segment) -> Result<(), StoreError> {
        let file = SegmentFile::open(segment)?;
        let start = match segment.slot.kind {
            RowKind::Native => column::ROOT_START,
            RowKind::Foreign => column::START,
        };
        let value = self.question.by.column();
        let mut names = vec![column::APPLICATION, column::CLASS, value, start];
        if !self.question.hosts.is_empty() {
            names.push(column::HOST);
        }
        let mut longest = Longest::new(self.question.count);
        let mut row = 0;
        for batch in file.read(&names, None, None)? {
            let batch = batch.map_err(file.unreadable())?;
            let columns = SegmentColumns { file: &file, batch: &batch };
            let (application_keys, applications) = columns.words(column::APPLICATION)?;
            let (class_keys, classes) = columns.words(column::CLASS)?;
            let hosts = if names.len() > 4 { Some(columns.words(column::HOST)?) } else { None };
            let (values, starts) = (columns.nanoseconds(value)?, columns.instants(start)?);
            // Few pairs of words stand for all rows: each is looked up once.
            let mut known: HashMap<(i32, i32), Option<(ClassName, u64)>> = HashMap::new();
            for index in 0..batch.num_rows() {
                row += 1;
                let keys = (application_keys[index], class_keys[index]);
                let class = known.entry(keys).or_insert_with(|| {
                    let class = ClassName {
                        application: word(&applications, keys.0),
                        class: word(&classes, keys.1),
                    };
                    let wanted = self.wants(&class, u64::MAX);
                    wanted.then(|| {
                        let enough = self.enough.get(&class).copied().unwrap_or(0);
                        (class, enough)
                    })
                });
                let ns = values[index].cast_unsigned();
                let Some((class, _)) = class.as_ref().filter(|(_, enough)| ns >= *enough) else {
                    continue;
                };
                let on_host = hosts.as_ref().is_none_or(|(keys, words)| {
                    self.question.hosts.contains(&word(words, keys[index]))
                });
                if on_host && self.question.start_ns.contains(&starts[index]) {
                    longest.add(class, (ns, std::cmp::Reverse(starts[index])), row - 1);
                }
            }
        }
        let selectors = longest.selectors();
        if !selectors.is_empty() {
            self.add(transactions(&file, None, selectors.into())?);
        }
        Ok(())
    }

    /// Takes in the rows that no segment holds yet.
    fn unsealed(&mut self, snapshot: &Snapshot) {
        let (unsealed, names) = (snapshot.unsealed(), snapshot.names());
        let mut longest = Longest::new(self.question.count);
        let root_start_ns = |record: &Record| match Slot::of(record).kind {
            RowKind::Native => record.root_start_ns,
            RowKind::Foreign => record.start_ns,
        };
        for (index, record) in unsealed.records().iter().enumerate() {
            let Some(class) = names.class(record.class) else { continue };
            let host = names.process(record.process).map_or("", |process| &process.host);
            let hosts = &self.question.hosts;
            let on_host = hosts.is_empty() || hosts.iter().any(|wanted| wanted == host);
            let start_ns = root_start_ns(record);
            let in_time = self.question.start_ns.contains(&start_ns);
            let value = self.question.by.of_record(record);
            if in_time && on_host && self.wants(class, value) {
                longest.add(class, (value, std::cmp::Reverse(start_ns)), index);
            }
        }
        let rows = longest.rows().into_iter().map(|index| {
            let record = &unsealed.records()[index];
            Transaction::from_record(record, unsealed.context(record), names)
        });
        self.add(rows.collect());
    }
}

fn word(words: &[&str], key: i32) -> String {
    let word = usize::try_from(key).ok().and_then(|key| words.get(key));
    word.map_or_else(String::new, |word| (*word).to_owned())
}

/// Sort key: the value, then the earlier start.
type Rank = (u64, std::cmp::Reverse<i64>);

/// The rows with the worst transactions of each class in one place.
struct Longest {
    count: usize,
    by_class: HashMap<ClassName, std::collections::BinaryHeap<std::cmp::Reverse<(Rank, usize)>>>,
}

impl Longest {
    fn new(count: usize) -> Self {
        Self { count, by_class: HashMap::new() }
    }

    fn add(&mut self, class: &ClassName, rank: Rank, row: usize) {
        if !self.by_class.contains_key(class) {
            self.by_class.insert(class.clone(), std::collections::BinaryHeap::new());
        }
        let Some(heap) = self.by_class.get_mut(class) else { return };
        heap.push(std::cmp::Reverse((rank, row)));
        if heap.len() > self.count {
            heap.pop();
        }
    }

    /// The rows, ascending.
    fn rows(self) -> Vec<usize> {
        let heaps = self.by_class.into_values();
        let mut rows: Vec<_> =
            heaps.flat_map(|heap| heap.into_iter().map(|entry| entry.0.1)).collect();
        rows.sort_unstable();
        rows
    }

    fn selectors(self) -> Vec<RowSelector> {
        let mut next = 0;
        let mut selectors = Vec::new();
        for row in self.rows() {
            if row > next {
                selectors.push(RowSelector::skip(row - next));
            }
            selectors.push(RowSelector::select(1));
            next = row + 1;
        }
        selectors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_enough_values_reach() {
        let mut histogram = Histogram::default();
        [5, 9, 9, 40].into_iter().for_each(|value| histogram.add(value));
        assert_eq!([1, 2, 3, 4, 5].map(|count| at_least(&histogram, count)), [40, 9, 9, 5, 0]);
    }
}
