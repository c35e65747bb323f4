//! The messages of remote write (`prometheus.WriteRequest`), made of metrics.

use super::RemoteWriteOptions;
use super::queue::Pending;
use crate::metrics::exposition::{Family, Series, Value};
use crate::metrics::histogram::{self, DurationHistogram, seconds};
use crate::metrics::protobuf::{BucketSpan, Label, ZERO_THRESHOLD, label, spans};
use crate::metrics::text::canonical;
use chronoscope_statistics::EXPONENTIAL_SCHEMA;
use prost::Message;
use std::collections::{BTreeMap, HashSet};

/// Series of a request, as Prometheus itself sends them.
const SERIES_MAX: usize = 2_000;
/// The number that ends a series.
const STALE: f64 = f64::from_bits(0x7ff0_0000_0000_0002);

#[derive(Clone, PartialEq, Message)]
pub(super) struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub(super) timeseries: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TimeSeries {
    /// Ascending by name.
    #[prost(message, repeated, tag = "1")]
    pub(super) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    pub(super) exemplars: Vec<Exemplar>,
    #[prost(message, repeated, tag = "4")]
    pub(super) histograms: Vec<Histogram>,
}

/// All times here are milliseconds since 1970.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(double, tag = "1")]
    pub(super) value: f64,
    #[prost(int64, tag = "2")]
    pub(super) timestamp: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Exemplar {
    #[prost(message, repeated, tag = "1")]
    pub(super) labels: Vec<Label>,
    #[prost(double, tag = "2")]
    pub(super) value: f64,
    #[prost(int64, tag = "3")]
    pub(super) timestamp: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Histogram {
    #[prost(uint64, optional, tag = "1")]
    pub(super) count_int: Option<u64>,
    #[prost(double, tag = "3")]
    pub(super) sum: f64,
    #[prost(sint32, tag = "4")]
    pub(super) schema: i32,
    #[prost(double, tag = "5")]
    pub(super) zero_threshold: f64,
    #[prost(uint64, optional, tag = "6")]
    pub(super) zero_count_int: Option<u64>,
    #[prost(message, repeated, tag = "11")]
    pub(super) positive_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "12")]
    pub(super) positive_deltas: Vec<i64>,
    #[prost(int64, tag = "15")]
    pub(super) timestamp: i64,
}

/// The series of all metrics at `at_ms` (milliseconds since 1970).
pub(super) fn series(
    families: &[Family],
    options: &RemoteWriteOptions,
    at_ms: i64,
) -> Vec<TimeSeries> {
    let mut writer = Writer { options, at_ms, series: Vec::new() };
    for family in families {
        for series in &family.series {
            writer.add(&family.name, series);
        }
    }
    writer.series
}

struct Writer<'a> {
    options: &'a RemoteWriteOptions,
    at_ms: i64,
    series: Vec<TimeSeries>,
}

impl Writer<'_> {
    #[allow(clippy::cast_precision_loss)] // the format has no integers
    fn add(&mut self, name: &str, Series { labels, value }: &Series) {
        match value {
            Value::Integer(value) => self.number((name, ""), labels, None, *value as f64),
            Value::Float(value) => self.number((name, ""), labels, None, *value),
            Value::Histogram(counted) => self.histogram(name, labels, counted),
        }
    }

    #[allow(clippy::cast_precision_loss)]
    fn histogram(
        &mut self,
        name: &str,
        labels: &[(&'static str, String)],
        counted: &DurationHistogram,
    ) {
        for (bound, count, exemplar) in counted.classic() {
            self.number((name, "_bucket"), labels, Some(&canonical(bound)), count as f64);
            if let (Some(series), Some(exemplar)) = (self.series.last_mut(), exemplar) {
                series.exemplars.push(exemplar_of(exemplar));
            }
        }
        self.number((name, "_sum"), labels, None, seconds(counted.sum_ns));
        self.number((name, "_count"), labels, None, counted.count() as f64);
        if self.options.native {
            let (positive_spans, positive_deltas) = spans(&counted.native);
            let native = Histogram {
                count_int: Some(counted.count()),
                sum: seconds(counted.sum_ns),
                schema: EXPONENTIAL_SCHEMA,
                zero_threshold: ZERO_THRESHOLD,
                zero_count_int: Some(counted.native.zero()),
                positive_spans,
                positive_deltas,
                timestamp: self.at_ms,
            };
            self.series.push(TimeSeries {
                labels: self.labels(name, labels, None),
                exemplars: counted.exemplars().into_iter().map(exemplar_of).collect(),
                histograms: vec![native],
                samples: Vec::new(),
            });
        }
    }

    fn number(
        &mut self,
        (name, suffix): (&str, &str),
        labels: &[(&'static str, String)],
        bound: Option<&str>,
        value: f64,
    ) {
        self.series.push(TimeSeries {
            labels: self.labels(&format!("{name}{suffix}"), labels, bound),
            samples: vec![Sample { value, timestamp: self.at_ms }],
            ..TimeSeries::default()
        });
    }

    /// Labels as the protocol wants them: by name, each once, none empty.
    fn labels(
        &self,
        name: &str,
        own: &[(&'static str, String)],
        bound: Option<&str>,
    ) -> Vec<Label> {
        let mut labels: BTreeMap<&str, &str> = self
            .options
            .labels
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        labels.extend(own.iter().map(|(name, value)| (*name, value.as_str())));
        labels.extend(bound.map(|bound| ("le", bound)));
        labels.insert("__name__", name);
        labels.retain(|_, value| !value.is_empty());
        labels.into_iter().map(|(name, value)| label(name, value)).collect()
    }
}

fn exemplar_of(exemplar: &histogram::Exemplar) -> Exemplar {
    Exemplar {
        labels: exemplar.labels().map(|(name, value)| label(name, &value)).collect(),
        value: seconds(u128::from(exemplar.ns)),
        timestamp: exemplar.at_ns.div_euclid(1_000_000),
    }
}

/// Series that may end: those of the last time, without histograms, which stay as long as the
/// server.
#[derive(Debug, Default)]
pub(super) struct Stale {
    before: HashSet<Vec<Label>>,
}

impl Stale {
    /// Ends the series of the last time that are not among these ("Stale Markers" of the
    /// specification): a receiver would show the last value of a process that has gone for minutes.
    pub(super) fn add(&mut self, series: &mut Vec<TimeSeries>, at_ms: i64) {
        let may_end = |series: &&TimeSeries| series.labels.iter().all(|label| label.name != "le");
        let now: HashSet<_> =
            series.iter().filter(may_end).map(|series| series.labels.clone()).collect();
        let ended = self.before.difference(&now).map(|labels| TimeSeries {
            labels: labels.clone(),
            samples: vec![Sample { value: STALE, timestamp: at_ms }],
            ..TimeSeries::default()
        });
        series.extend(ended);
        self.before = now;
    }
}

/// Series as requests, ready to be sent.
pub(super) fn requests(series: Vec<TimeSeries>) -> impl Iterator<Item = Pending> {
    let mut rest = series.into_iter().peekable();
    std::iter::from_fn(move || {
        rest.peek()?;
        let timeseries: Vec<_> = rest.by_ref().take(SERIES_MAX).collect();
        let samples: usize =
            timeseries.iter().map(|series| series.samples.len() + series.histograms.len()).sum();
        let message = WriteRequest { timeseries }.encode_to_vec();
        // Fails above 4 GiB only, and 2,000 series have some hundred kilobytes.
        let body = snap::raw::Encoder::new().compress_vec(&message).unwrap_or_default();
        Some(Pending { body, samples: samples as u64 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::exposition::{Kind, Page};
    use crate::metrics::histogram::DurationSource;
    use chronoscope_model::ChainId;

    fn families() -> Vec<Family> {
        let mut page = Page::default();
        page.family("rows_total", Kind::Counter, "Rows.");
        page.sample(&[("zone", "b"), ("host", "")], 3_u64);
        page.family("took_seconds", Kind::Histogram, "Time.");
        let mut took = DurationHistogram::default();
        let of = DurationSource { chain: ChainId(7), is_trace: true, end_ns: 5_000_000, now_ns: 9 };
        took.add(1_000_000_000, DurationSource { now_ns: 6_000_000, ..of });
        page.sample(&[("zone", "b")], took);
        page.finish()
    }

    fn options(native: bool) -> RemoteWriteOptions {
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let labels = [label("job", "chronoscope"), label("zone", "a")].into();
        RemoteWriteOptions { labels, native, ..RemoteWriteOptions::new("http://h/") }
    }

    fn text(series: &TimeSeries) -> String {
        let labels = series.labels.iter().map(|label| format!("{}={}", label.name, label.value));
        labels.collect::<Vec<_>>().join(",")
    }

    #[test]
    fn labels_are_sorted_and_the_series_own_count() {
        let all = series(&families(), &options(false), 12);
        assert_eq!(text(&all[0]), "__name__=chronoscope_rows_total,job=chronoscope,zone=b");
        assert_eq!(all[0].samples, [Sample { value: 3.0, timestamp: 12 }]);
        let buckets: Vec<_> =
            all.iter().filter(|series| text(series).contains("_bucket")).collect();
        assert_eq!(buckets.len(), 25);
        assert!(text(buckets[18]).ends_with("le=1.0,zone=b"), "{}", text(buckets[18]));
        let [exemplar] = &buckets[18].exemplars[..] else { panic!("{:?}", buckets[18]) };
        assert_eq!((exemplar.value, exemplar.timestamp, exemplar.labels.len()), (1.0, 5, 2));
        assert!(all.iter().all(|series| series.histograms.is_empty()));
    }

    #[test]
    fn native_histograms_are_sent_on_request() {
        let all = series(&families(), &options(true), 12);
        let native = all.last().unwrap();
        assert_eq!(text(native), "__name__=chronoscope_took_seconds,job=chronoscope,zone=b");
        let [histogram] = &native.histograms[..] else { panic!("{native:?}") };
        assert_eq!((histogram.count_int, histogram.sum, histogram.schema), (Some(1), 1.0, 5));
        assert_eq!(histogram.positive_spans, [BucketSpan { offset: 0, length: 1 }]);
        assert_eq!((native.exemplars.len(), native.samples.len()), (1, 0));
    }

    #[test]
    fn a_series_that_is_gone_ends_once() {
        let mut stale = Stale::default();
        let mut first = series(&families(), &options(false), 1);
        let count = first.len();
        stale.add(&mut first, 1);
        assert_eq!(first.len(), count);
        let mut second = series(&families()[1..], &options(false), 2);
        let count = second.len();
        stale.add(&mut second, 2);
        let [ended] = &second[count..] else { panic!("{second:?}") };
        assert!(text(ended).contains("chronoscope_rows_total"));
        assert_eq!(ended.samples[0].value.to_bits(), 0x7ff0_0000_0000_0002);
        let mut third = series(&families()[1..], &options(false), 3);
        stale.add(&mut third, 3);
        assert_eq!(third.len(), count);
    }

    #[test]
    fn requests_are_bounded_and_lose_nothing() {
        let one = series(&families(), &options(true), 12);
        let all: Vec<_> = std::iter::repeat_n(one, 100).flatten().collect();
        let count = all.len();
        let (mut found, mut samples) = (Vec::new(), 0);
        for request in requests(all.clone()) {
            let message = snap::raw::Decoder::new().decompress_vec(&request.body).unwrap();
            let message = WriteRequest::decode(&message[..]).unwrap();
            assert!(message.timeseries.len() <= SERIES_MAX);
            samples += request.samples;
            found.extend(message.timeseries);
        }
        assert_eq!((samples, found), (count as u64, all));
    }
}
