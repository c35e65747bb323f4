//! Which minutes of a range a shard has sketches of that hold, and what they say.

use super::buckets::BucketCounts;
use super::row_counts::{counts, counts_sql, minutes_of};
use super::sql::between;
use crate::minute_share::MinuteShare;
use arrow_array::StringArray;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows, SketchedMinute};
use chronoscope_statistics::BUCKET_COUNT;
use chronoscope_store::Minute;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// Number of attempts while sketches are made anew; after them rows are counted.
const TRIES: usize = 3;
/// Most ranges of minutes in one query.
const RANGES_MAX: usize = 1000;

/// Minutes of a shard whose sketches hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sketched {
    /// The minutes, ascending. Those among them that had no rows may be in it or not.
    minutes: Vec<RangeInclusive<i64>>,
    /// Rows that they counted.
    rows: u64,
}

impl Sketched {
    /// The condition of the sketches: the newest of each minute.
    pub(super) fn condition(&self) -> String {
        let minutes = any_of(&self.minutes);
        format!(
            "({minutes}) AND (minute, version) IN \
             (SELECT minute, max(version) FROM sketches WHERE {minutes} GROUP BY minute)"
        )
    }
}

/// Asks the sketches of a shard for root starts in `start_ns` (UTC, nanoseconds since 1970): what they
/// answer, and the condition of the minutes that remain to be counted row by row, if there are any.
/// `None` where the range is empty. `ask`: as of [`of_minutes`].
pub(super) fn with_sketches<T: Default>(
    node: &Node,
    start_ns: &Range<i64>,
    ask: impl Fn(&Sketched) -> Result<(T, u64), ClickHouseError>,
) -> Result<Option<(T, Option<String>)>, ClickHouseError> {
    if start_ns.is_empty() {
        return Ok(None);
    }
    let is_whole = |minute| MinuteShare::of(Minute(minute), start_ns) == MinuteShare::All;
    of_minutes(node, &minutes_of(start_ns), &is_whole, ask).map(Some)
}

/// The same of those of the minutes `touched` that are `wanted`. `ask` returns the answer and how many
/// rows it is of: where another number was expected, sketches were made meanwhile, and it is asked again.
pub(super) fn of_minutes<T: Default>(
    node: &Node,
    touched: &RangeInclusive<i64>,
    wanted: &dyn Fn(i64) -> bool,
    ask: impl Fn(&Sketched) -> Result<(T, u64), ClickHouseError>,
) -> Result<(T, Option<String>), ClickHouseError> {
    for _ in 0..TRIES {
        let (sketched, rest) = split(node, touched, wanted)?;
        let rest = (!rest.is_empty()).then(|| any_of(&rest));
        if sketched.minutes.is_empty() {
            return Ok((T::default(), rest));
        }
        let (answer, rows) = ask(&sketched)?;
        if rows == sketched.rows {
            return Ok((answer, rest));
        }
    }
    Ok((T::default(), Some(between("minute", touched))))
}

/// The minutes with rows that sketches hold for, and the others.
fn split(
    node: &Node,
    touched: &RangeInclusive<i64>,
    wanted: &dyn Fn(i64) -> bool,
) -> Result<(Sketched, Vec<RangeInclusive<i64>>), ClickHouseError> {
    // Rows that come in between make a sketch say less than its minute has: it is not used.
    let known = node.sketched_minutes(touched)?;
    if known.is_empty() {
        return Ok((Sketched::default(), vec![touched.clone()]));
    }
    let mut rows = counts(node, &counts_sql(std::slice::from_ref(touched)))?;
    rows.sort_unstable_by_key(|(minute, _)| *minute);
    let (mut sketched, mut rest) = (Sketched::default(), Vec::new());
    let mut last = None;
    for (minute, rows) in rows {
        let holds = wanted(minute)
            && known.get(&minute).is_some_and(|known| {
                let SketchedMinute { rows: counted, native, .. } = *known;
                counted == rows.rows && native == rows.rows - rows.foreign
            });
        let ranges = if holds { &mut sketched.minutes } else { &mut rest };
        match ranges.last_mut() {
            Some(range) if last == Some(holds) => *range = *range.start()..=minute,
            _ => ranges.push(minute..=minute),
        }
        sketched.rows += if holds { rows.rows } else { 0 };
        last = Some(holds);
    }
    if sketched.minutes.len() + rest.len() > RANGES_MAX {
        return Ok((Sketched::default(), vec![touched.clone()]));
    }
    Ok((sketched, rest))
}

fn any_of(minutes: &[RangeInclusive<i64>]) -> String {
    minutes.iter().map(|range| between("minute", range)).collect::<Vec<_>>().join(" OR ")
}

/// The columns of a histogram that is added up of sketches (`elapsed` or `since_root`):
/// [`SketchHistograms`].
pub(super) fn sketch_sums(of: &str) -> String {
    let map = format!("sumMap({of}_buckets, {of}_counts)");
    format!(
        "toString(sum({of}_sum)) AS sum_of_{of}, minIf({of}_min, {of}_count > 0) AS min_of_{of}, \
         max({of}_max) AS max_of_{of}, \
         CAST(tupleElement({map}, 1), 'Array(UInt64)') AS buckets_of_{of}, \
         tupleElement({map}, 2) AS counts_of_{of}"
    )
}

/// Histograms of an answer with [`sketch_sums`].
pub(super) struct SketchHistograms<'a> {
    rows: &'a ResultRows<'a>,
    sums: &'a StringArray,
    /// The smallest and the largest values.
    ranges: [&'a [u64]; 2],
    buckets: Vec<Vec<u64>>,
    counts: Vec<Vec<u64>>,
}

impl<'a> SketchHistograms<'a> {
    /// # Errors
    /// [`ClickHouseError::Strange`].
    pub(super) fn new(rows: &'a ResultRows<'a>, of: &str) -> Result<Self, ClickHouseError> {
        Ok(Self {
            rows,
            sums: rows.texts(&format!("sum_of_{of}"))?,
            ranges: [rows.ids(&format!("min_of_{of}"))?, rows.ids(&format!("max_of_{of}"))?],
            buckets: rows.id_lists(&format!("buckets_of_{of}"))?,
            counts: rows.id_lists(&format!("counts_of_{of}"))?,
        })
    }

    /// The histogram of a row of the answer.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`].
    pub(super) fn of(&self, row: usize) -> Result<BucketCounts, ClickHouseError> {
        let strange = |column: &str| self.rows.node.unexpected_column(column);
        let mut counts = BTreeMap::new();
        for (bucket, count) in self.buckets[row].iter().zip(&self.counts[row]) {
            let index = usize::try_from(*bucket).ok().filter(|index| *index < BUCKET_COUNT);
            counts.insert(index.ok_or_else(|| strange("buckets"))?, *count);
        }
        let sum_ns = self.sums.value(row).parse().map_err(|_| strange("sum"))?;
        let range_ns = (!counts.is_empty()).then(|| (self.ranges[0][row], self.ranges[1][row]));
        Ok(BucketCounts::of_sketch(counts, sum_ns, range_ns))
    }
}
