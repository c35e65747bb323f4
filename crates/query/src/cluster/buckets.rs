//! The histogram's buckets as a server counts them.

use chronoscope_clickhouse::{ClickHouseError, ResultRows};
use chronoscope_statistics::{BUCKET_COUNT, Histogram, SUB_BUCKETS};
use std::collections::BTreeMap;

/// The bucket of `value`: 32 to every doubling, none below 32, as `statistics` has them.
pub(super) const BUCKET: &str = "roundToExp2(bitOr(value, 32)) AS doubling, \
    intDiv(value, intDiv(doubling, 32)) AS sub_bucket";
/// Exact sums over the values of a bucket.
pub(super) const BUCKET_SUMS: &str = "count() AS rows, toString(sum(toUInt128(value))) AS sum_ns, \
    min(value) AS min_ns, max(value) AS max_ns";

const _: () = assert!(SUB_BUCKETS == 32, "the SQL has the number");

/// Names the value of [`BUCKET`]; before SELECT.
pub(super) fn bucket_of(value: &str) -> String {
    format!("WITH toUInt64({value}) AS value")
}

/// A histogram as a few counts: the buckets that counted anything, with the exact sum and range of
/// the values.
#[derive(Clone, Debug, Default)]
pub struct BucketCounts {
    counts: BTreeMap<usize, u64>,
    sum_ns: u128,
    range_ns: Option<(u64, u64)>,
}

impl BucketCounts {
    /// What a sketch has: the counts by bucket, and the exact sum and range of the values.
    pub(super) const fn of_sketch(
        counts: BTreeMap<usize, u64>,
        sum_ns: u128,
        range_ns: Option<(u64, u64)>,
    ) -> Self {
        Self { counts, sum_ns, range_ns }
    }

    /// The histogram.
    pub fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::default();
        self.counts.iter().for_each(|(bucket, count)| histogram.add_bucket(*bucket, *count));
        if let Some((min, max)) = self.range_ns {
            histogram.set_exact(self.sum_ns, min, max);
        }
        histogram
    }

    /// Adds the counts of another shard.
    pub(super) fn merge(&mut self, other: &Self) {
        other.counts.iter().for_each(|(bucket, count)| {
            *self.counts.entry(*bucket).or_default() += count;
        });
        self.sum_ns += other.sum_ns;
        self.add_range(other.range_ns);
    }

    fn add_range(&mut self, range_ns: Option<(u64, u64)>) {
        let Some((min, max)) = range_ns else { return };
        self.range_ns = Some(match self.range_ns {
            Some((low, high)) => (low.min(min), high.max(max)),
            None => (min, max),
        });
    }
}

/// Adds a row of an answer with [`BUCKET`] and [`BUCKET_SUMS`].
pub(super) fn add_buckets(
    rows: &ResultRows<'_>,
    row: usize,
    sums: &mut BucketCounts,
) -> Result<(), ClickHouseError> {
    let doubling = rows.ids("doubling")?[row];
    let sub_bucket = rows.ids("sub_bucket")?[row];
    let index = u64::from(doubling.trailing_zeros()).checked_sub(5);
    let index = index.map(|shift| shift * SUB_BUCKETS as u64 + sub_bucket);
    let index = index.and_then(|index| usize::try_from(index).ok());
    let index = index.filter(|index| *index < BUCKET_COUNT);
    let index = index.ok_or_else(|| rows.node.unexpected_column("sub_bucket"))?;
    *sums.counts.entry(index).or_default() += rows.ids("rows")?[row];
    let sum = rows.texts("sum_ns")?.value(row).parse::<u128>();
    sums.sum_ns += sum.map_err(|_| rows.node.unexpected_column("sum_ns"))?;
    sums.add_range(Some((rows.ids("min_ns")?[row], rows.ids("max_ns")?[row])));
    Ok(())
}
