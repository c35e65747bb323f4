//! A histogram as Protocol Buffers.

use chronoscope_statistics::{BUCKET_COUNT, Histogram};

/// A histogram: the buckets that counted anything, ascending, and the exact values.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Counts {
    #[prost(uint32, repeated, tag = "1")]
    buckets: Vec<u32>,
    #[prost(uint64, repeated, tag = "2")]
    counts: Vec<u64>,
    #[prost(uint64, tag = "3")]
    sum: u64,
    #[prost(uint64, tag = "4")]
    min: u64,
    #[prost(uint64, tag = "5")]
    max: u64,
}

/// A count as messages have it.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl From<&Histogram> for Counts {
    fn from(histogram: &Histogram) -> Self {
        let (buckets, counts) =
            histogram.buckets().map(|(bucket, count)| (number(bucket), count)).unzip();
        Self {
            buckets,
            counts,
            sum: u64::try_from(histogram.sum()).unwrap_or(u64::MAX),
            min: histogram.min().unwrap_or(0),
            max: histogram.max().unwrap_or(0),
        }
    }
}

impl Counts {
    /// The histogram.
    ///
    /// # Errors
    /// What cannot be, in words.
    pub(super) fn histogram(&self) -> Result<Histogram, &'static str> {
        if self.buckets.len() != self.counts.len() {
            return Err("another number of buckets than of counts");
        }
        if !self.buckets.is_sorted_by(|a, b| a < b) {
            return Err("buckets are not in order");
        }
        if self.buckets.last().is_some_and(|bucket| *bucket as usize >= BUCKET_COUNT) {
            return Err("a bucket that there is not");
        }
        let sum = self.counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        sum.ok_or("more values than can be counted")?;
        let mut histogram = Histogram::default();
        for (bucket, count) in self.buckets.iter().zip(&self.counts) {
            histogram.add_bucket(*bucket as usize, *count);
        }
        if histogram.count() > 0 {
            if self.min > self.max {
                return Err("the smallest value is above the largest");
            }
            histogram.set_exact(u128::from(self.sum), self.min, self.max);
        }
        Ok(histogram)
    }
}
