//! What `/metrics` says, before it is written in a format: families of series with their values.

use super::histogram::DurationHistogram;

/// Kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// The value of a series.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Integer(u64),
    Float(f64),
    Histogram(Box<DurationHistogram>),
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Integer(value as u64)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Integer(u64::from(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<DurationHistogram> for Value {
    fn from(value: DurationHistogram) -> Self {
        Self::Histogram(Box::new(value))
    }
}

/// One series of a family.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) labels: Vec<(&'static str, String)>,
    pub(super) value: Value,
}

/// A metric with all its series.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// The name of its series; of a counter it ends in `_total`.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) help: String,
    pub(super) series: Vec<Series>,
}

/// Families being put together.
#[derive(Debug, Default)]
pub(super) struct Page {
    families: Vec<Family>,
}

impl Page {
    /// Begins a metric; all its series follow.
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let (name, help) = (format!("chronoscope_{name}"), help.to_owned());
        self.families.push(Family { name, kind, help, series: Vec::new() });
    }

    /// Adds a series to the metric that was begun last.
    pub(super) fn sample(&mut self, labels: &[(&'static str, &str)], value: impl Into<Value>) {
        let labels = labels.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        if let Some(family) = self.families.last_mut() {
            family.series.push(Series { labels, value: value.into() });
        }
    }

    /// The families. One without any series is left out: a reader would look for what does not
    /// exist.
    pub(super) fn finish(mut self) -> Vec<Family> {
        self.families.retain(|family| !family.series.is_empty());
        self.families
    }
}
