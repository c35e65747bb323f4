//! Prometheus's protobuf format: messages of `io.prometheus.client`, each after its length. It is the
//! only format from which Prometheus reads native histograms.
//!
//! The messages are those of Prometheus's `prompb/io/prometheus/client/metrics.proto`, with the
//! fields that are used here. No crate is taken for them: `prometheus-client` writes no exemplars of
//! native histograms, has a text format 0.0.4 of its own that is not the one that has been served
//! here, compiles its messages with `protoc` when it is built, and knows no remote write, which has
//! the same histograms in messages of its own.

use super::exposition::{Family, Kind, Series, Value};
use super::histogram::{DurationHistogram, seconds};
use chronoscope_statistics::{EXPONENTIAL_SCHEMA, ExponentialHistogram};
use prost::Message;

/// Width of the bucket of zeros, 2⁻¹²⁸: the one that all clients have, so that their histograms can be
/// added.
pub(super) const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;
/// Longest run of empty buckets that is written as such: a new span takes more.
const EMPTY_MAX: i32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(super) struct MetricFamily {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) help: String,
    /// 0: counter, 1: gauge, 4: histogram.
    #[prost(int32, optional, tag = "3")]
    pub(super) kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    pub(super) metric: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metric {
    #[prost(message, repeated, tag = "1")]
    pub(super) label: Vec<Label>,
    #[prost(message, optional, tag = "2")]
    pub(super) gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    pub(super) counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    pub(super) histogram: Option<Histogram>,
}

/// A label; in remote write too.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Message)]
pub(super) struct Label {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

/// A counter or a gauge.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Number {
    #[prost(double, optional, tag = "1")]
    pub(super) value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Histogram {
    #[prost(uint64, tag = "1")]
    pub(super) sample_count: u64,
    #[prost(double, tag = "2")]
    pub(super) sample_sum: f64,
    #[prost(message, repeated, tag = "3")]
    pub(super) bucket: Vec<Bucket>,
    #[prost(sint32, tag = "5")]
    pub(super) schema: i32,
    #[prost(double, tag = "6")]
    pub(super) zero_threshold: f64,
    #[prost(uint64, tag = "7")]
    pub(super) zero_count: u64,
    #[prost(message, repeated, tag = "12")]
    pub(super) positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "13")]
    pub(super) positive_delta: Vec<i64>,
    #[prost(message, repeated, tag = "16")]
    pub(super) exemplars: Vec<Exemplar>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Bucket {
    #[prost(uint64, tag = "1")]
    pub(super) cumulative_count: u64,
    #[prost(double, tag = "2")]
    pub(super) upper_bound: f64,
    #[prost(message, optional, tag = "3")]
    pub(super) exemplar: Option<Exemplar>,
}

/// A run of buckets; in remote write too.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct BucketSpan {
    /// Empty buckets since the span before; the index of the first bucket for the first span.
    #[prost(sint32, tag = "1")]
    pub(super) offset: i32,
    #[prost(uint32, tag = "2")]
    pub(super) length: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Exemplar {
    #[prost(message, repeated, tag = "1")]
    pub(super) label: Vec<Label>,
    #[prost(double, tag = "2")]
    pub(super) value: f64,
    #[prost(message, optional, tag = "3")]
    pub(super) timestamp: Option<Timestamp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(super) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(super) nanos: i32,
}

/// Writes families.
pub(super) fn write(families: &[Family]) -> Vec<u8> {
    let mut octets = Vec::new();
    for family in families {
        octets.extend(message(family).encode_length_delimited_to_vec());
    }
    octets
}

fn message(family: &Family) -> MetricFamily {
    let kind = match family.kind {
        Kind::Counter => 0,
        Kind::Gauge => 1,
        Kind::Histogram => 4,
    };
    MetricFamily {
        name: family.name.clone(),
        help: family.help.clone(),
        kind: Some(kind),
        metric: family.series.iter().map(|series| metric(family.kind, series)).collect(),
    }
}

#[allow(clippy::cast_precision_loss)] // the format has no integers
fn metric(kind: Kind, Series { labels, value }: &Series) -> Metric {
    let labels = labels.iter().map(|(name, value)| label(name, value)).collect();
    let mut metric = Metric { label: labels, ..Metric::default() };
    let value = match value {
        Value::Histogram(counted) => {
            metric.histogram = Some(histogram(counted));
            return metric;
        }
        Value::Integer(value) => *value as f64,
        Value::Float(value) => *value,
    };
    let number = Some(Number { value: Some(value) });
    match kind {
        Kind::Counter => metric.counter = number,
        _ => metric.gauge = number,
    }
    metric
}

pub(super) fn label(name: &str, value: &str) -> Label {
    Label { name: name.to_owned(), value: value.to_owned() }
}

fn histogram(counted: &DurationHistogram) -> Histogram {
    let bucket = |(upper_bound, cumulative_count, exemplar): (_, _, Option<&_>)| Bucket {
        cumulative_count,
        upper_bound,
        exemplar: exemplar.map(exemplar_of),
    };
    let (positive_span, positive_delta) = spans(&counted.native);
    Histogram {
        sample_count: counted.count(),
        sample_sum: seconds(counted.sum_ns),
        bucket: counted.classic().map(bucket).collect(),
        schema: EXPONENTIAL_SCHEMA,
        zero_threshold: ZERO_THRESHOLD,
        zero_count: counted.native.zero(),
        positive_span,
        positive_delta,
        exemplars: counted.exemplars().into_iter().map(exemplar_of).collect(),
    }
}

fn exemplar_of(exemplar: &super::histogram::Exemplar) -> Exemplar {
    const SECOND_NS: i64 = 1_000_000_000;
    let nanos = i32::try_from(exemplar.at_ns.rem_euclid(SECOND_NS)).unwrap_or(0);
    let timestamp = Timestamp { seconds: exemplar.at_ns.div_euclid(SECOND_NS), nanos };
    Exemplar {
        label: exemplar.labels().map(|(name, value)| label(name, &value)).collect(),
        value: seconds(u128::from(exemplar.ns)),
        timestamp: Some(timestamp),
    }
}

/// Native buckets as both protocols have them: runs of buckets, and each count's difference from the
/// one before.
pub(super) fn spans(counted: &ExponentialHistogram) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut spans, mut deltas) = (Vec::<BucketSpan>::new(), Vec::new());
    let (mut next, mut before) = (0, 0);
    for (index, count) in counted.buckets() {
        let empty = index - next;
        match spans.last_mut() {
            Some(span) if empty <= EMPTY_MAX => {
                for _ in 0..empty {
                    deltas.push(-std::mem::take(&mut before));
                }
                span.length += 1 + empty.unsigned_abs();
            }
            _ => spans.push(BucketSpan { offset: empty, length: 1 }),
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - std::mem::replace(&mut before, count));
        next = index + 1;
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Index and count of each bucket, as a reader of spans finds them.
    fn read(spans: &[BucketSpan], deltas: &[i64]) -> Vec<(i32, i64)> {
        let (mut index, mut count, mut deltas) = (0, 0, deltas.iter());
        let mut found = Vec::new();
        for span in spans {
            index += span.offset;
            for _ in 0..span.length {
                count += deltas.next().unwrap();
                found.push((index, count));
                index += 1;
            }
        }
        assert!(deltas.next().is_none());
        found
    }

    #[test]
    fn spans_leave_out_long_runs_of_nothing() {
        let mut counted = ExponentialHistogram::default();
        let values = [-100, -100, -99, -96, -96, -96, 7];
        values
            .iter()
            .for_each(|index| counted.add(chronoscope_statistics::exponential_max(*index)));
        let (spans, deltas) = spans(&counted);
        let span = |offset, length| BucketSpan { offset, length };
        assert_eq!(spans, [span(-100, 5), span(102, 1)]);
        assert_eq!(deltas, [2, -1, -1, 0, 3, -2]);
        let found = read(&spans, &deltas);
        assert_eq!(found, [(-100, 2), (-99, 1), (-98, 0), (-97, 0), (-96, 3), (7, 1)]);
    }

    #[test]
    fn nothing_has_no_spans() {
        assert_eq!(spans(&ExponentialHistogram::default()), (Vec::new(), Vec::new()));
    }
}
