//! Confidence interval of a quantile of a network's round trips, from a sample.

use chronoscope_statistics::{Quantile, quantile_interval};

/// A quantile of a sample of durations, and where that of the population is with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Interval {
    /// Quantile of the sample: the nearest rank, in nanoseconds.
    pub value_ns: u64,
    /// The population's is not below this, in nanoseconds; 0 where the sample is too small to say.
    pub low_ns: u64,
    /// Nor above this; `None` where the sample is too small to say.
    pub high_ns: Option<u64>,
}

/// Interval of ascending durations; `None` without any.
#[must_use]
pub fn interval(ascending_ns: &[u64], quantile: Quantile) -> Option<Interval> {
    let found = quantile_interval(ascending_ns, quantile)?;
    Some(Interval { value_ns: found.value, low_ns: found.low, high_ns: found.high })
}
