//! Every definition of a number, once: what a quantile, a bucket, a bin and a significant
//! difference are for the recorder, the store, the page and the reports alike.
//!
//! | question | answer |
//! |---|---|
//! | the quantile of some values | [`nearest_rank`], [`median`], [`weighted_median`]: always a value that was measured |
//! | the quantile of very many values | [`Histogram`]: within 3.125 % |
//! | the same for Prometheus and OpenTelemetry | [`ExponentialHistogram`]: within 2.19 % |
//! | where the population's quantile is | [`quantile_interval`], [`quantile_ranks`] |
//! | how many values lie where | [`Bins`], [`Grid`], [`Edges`] |
//! | whether two sets differ | [`KolmogorovSmirnov`], [`TailTest`], [`fisher_exact`], [`MeanDifference`], [`student`] |
//! | whether two sets differ that depend on time | [`BlockTest`] |
//! | what is left of it after many tests | [`holm`] |
//! | the line through points, the exponent of a power law | [`Line`], [`exponent`] |
//! | where a history moved | [`change_points`] |
//! | how regularly something arrives, and which of many streams stands out | [`Intervals`], [`Usual`] |
//! | random numbers that repeat | [`Random`] |
//!
//! ```
//! use chronoscope_statistics::{Quantile, median, nearest_rank};
//!
//! assert_eq!(nearest_rank(&[1, 2, 3, 10], Quantile::P50), Some(2));
//! assert_eq!(median([10.0, 1.0, 3.0, 2.0]), Some(2.0));
//! ```
//!
//! Pure functions: no clock, no files, no units. Special functions (the incomplete beta function,
//! Student's distribution, the logarithm of the gamma function) are those of `statrs`, behind the
//! feature `tests`; a program that only records has none of them.
//!
//! Not here: what a duration is and whether a requirement is met (`chain`), how a number is
//! written.

mod bins;
mod blocks;
mod bootstrap;
#[cfg(feature = "tests")]
pub mod change_points;
mod edges;
mod exponential;
#[cfg(feature = "tests")]
mod fisher;
mod histogram;
#[cfg(feature = "tests")]
mod holm;
#[cfg(feature = "tests")]
mod interval;
#[cfg(feature = "tests")]
mod kolmogorov_smirnov;
mod line;
#[cfg(feature = "tests")]
mod means;
mod quantile;
mod random;
mod regularity;
#[cfg(feature = "tests")]
pub mod student;
#[cfg(feature = "tests")]
mod tail_test;

pub use bins::{Bins, Grid};
pub use blocks::{BlockDesign, BlockTest};
pub use bootstrap::quantile_deviation;
pub use edges::{Edges, Scale};
pub use exponential::{
    EXPONENTIAL_SCHEMA, ExponentialHistogram, exponential_index, exponential_max,
};
#[cfg(feature = "tests")]
pub use fisher::fisher_exact;
pub use histogram::{
    BUCKET_COUNT, CoarseBin, Histogram, SUB_BUCKETS, bucket_index, bucket_max, bucket_min,
};
#[cfg(feature = "tests")]
pub use holm::holm;
#[cfg(feature = "tests")]
pub use interval::{QuantileInterval, quantile_interval, quantile_ranks};
#[cfg(feature = "tests")]
pub use kolmogorov_smirnov::KolmogorovSmirnov;
pub use line::{Line, exponent};
#[cfg(feature = "tests")]
pub use means::{MeanDifference, Moments};
pub use quantile::{Quantile, QuantileError, ascending, median, nearest_rank, weighted_median};
pub use random::Random;
pub use regularity::{INTERVALS_MIN, Intervals, SPREAD_MIN, Usual};
#[cfg(feature = "tests")]
pub use tail_test::TailTest;
