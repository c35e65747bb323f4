//! Questions about durations: `/scatter`, `/histogram`, `/chains`, `/groups`, `/hops`, `/compare`
//! and `/contrast`.

mod arrivals;
pub(super) mod chains;
mod compare;
pub(super) mod contrast;
mod groups;
mod histogram;
mod hops;
mod scatter;

use super::Api;
use super::error::ApiError;
use chronoscope_chain::{Distribution, PartKind, PartSide};
use chronoscope_query::{
    ClockQuality, Limits, Progress, QueryEnvironment, QueryError, Question, StoreView,
};
use chronoscope_statistics::Scale;
use chronoscope_store::Snapshot;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of the questions.
pub(super) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(scatter::scatter))
        .routes(routes!(histogram::histogram))
        .routes(routes!(arrivals::arrivals))
        .routes(routes!(chains::chains))
        .routes(routes!(groups::groups))
        .routes(routes!(hops::hops))
        .routes(routes!(compare::compare))
        .routes(routes!(contrast::contrast))
}

/// Scale of the durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum AxisScale {
    /// Equal cells.
    Linear,
    /// Cells of equal ratio.
    #[default]
    Log,
}

impl From<AxisScale> for Scale {
    fn from(scale: AxisScale) -> Self {
        match scale {
            AxisScale::Linear => Self::Linear,
            AxisScale::Log => Self::Log,
        }
    }
}

/// Exact statistics of durations; quantiles by nearest rank.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct DistributionView {
    count: u64,
    /// Their sum, in ns (to 53 bits).
    sum_ns: f64,
    min_ns: u64,
    max_ns: u64,
    mean_ns: f64,
    /// The population's standard deviation.
    sd_ns: f64,
    median_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    p99_73_ns: u64,
    p99_9_ns: u64,
    /// The median plus three standard deviations.
    three_sigma_ns: f64,
    /// Number of durations above the median plus three standard deviations.
    above_3_sigma: u64,
}

impl From<&Distribution> for DistributionView {
    fn from(of: &Distribution) -> Self {
        let [median_ns, p90_ns, p99_ns, p99_73_ns, p99_9_ns] = of.quantiles_ns;
        Self {
            count: of.count,
            sum_ns: of.sum_ns as f64,
            min_ns: of.min_ns,
            max_ns: of.max_ns,
            mean_ns: of.mean_ns,
            sd_ns: of.sd_ns,
            median_ns,
            p90_ns,
            p99_ns,
            p99_73_ns,
            p99_9_ns,
            three_sigma_ns: of.three_sigma_ns(),
            above_3_sigma: of.above_3_sigma,
        }
    }
}

/// Clock errors of durations that cross hosts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ClockNote {
    /// Whether the durations were corrected.
    corrected: bool,
    /// Number of durations, including negative ones.
    durations: u64,
    /// Number of durations that cross hosts.
    crossing: u64,
    /// Number of crossing durations that start or end on a clock without any reading.
    unknown: u64,
    /// The most that one may be off by; null where none is known.
    error_ns_max: Option<u64>,
    error_ns_mean: Option<f64>,
    /// The mean share of itself that a duration may be off by.
    share_mean: Option<f64>,
    /// Durations below 0, which are not used.
    negative: u64,
}

impl From<&ClockQuality> for ClockNote {
    fn from(of: &ClockQuality) -> Self {
        let crossings = &of.crossings;
        let error_ns_mean = crossings.error_ns_mean();
        Self {
            corrected: of.corrected,
            durations: of.durations,
            crossing: crossings.count,
            unknown: crossings.unknown,
            error_ns_max: error_ns_mean.map(|_| crossings.error_ns_max),
            error_ns_mean,
            share_mean: crossings.share_mean(),
            negative: crossings.negative,
        }
    }
}

/// Time of one part of a hop in one set of chains.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct HopSide {
    /// Chains that have the hop.
    count: u64,
    mean_ns: f64,
    /// Below 0 where clocks disagree.
    median_ns: i64,
    p99_ns: i64,
    /// Chains in each cell between `edges_ns`.
    counts: Vec<u64>,
}

impl From<PartSide> for HopSide {
    fn from(of: PartSide) -> Self {
        let PartSide { count, mean_ns, median_ns, p99_ns, counts } = of;
        Self { count, mean_ns, median_ns, p99_ns, counts }
    }
}

/// Part of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum HopPart {
    /// From the caller until it started.
    Wait,
    /// From its start until it ended or the next hop started.
    Work,
}

impl From<PartKind> for HopPart {
    fn from(kind: PartKind) -> Self {
        match kind {
            PartKind::Wait => Self::Wait,
            PartKind::Work => Self::Work,
        }
    }
}

/// Asks the rows that some questions need, of files or of a cluster.
fn of_rows<T, E: Into<QueryError>>(
    (api, progress): (&Api, &Progress),
    questions: &[&Question],
    mut ask: impl FnMut(&Snapshot, &QueryEnvironment<'_>) -> Result<T, E>,
) -> Result<T, ApiError> {
    let limits = Limits::default();
    let asking = QueryEnvironment { limits: &limits, progress, cache: &api.durations };
    let found = api.recently(|view, _| {
        let rows = view.rows_of(questions, &limits, progress)?;
        ask(&rows, &asking).map_err(Into::into)
    })?;
    Ok(found)
}

/// As [`of_rows`], for a question that the store answers itself: a cluster where its rows are.
fn of_view<T>(
    (api, progress): (&Api, &Progress),
    mut ask: impl FnMut(&StoreView, &QueryEnvironment<'_>) -> Result<T, QueryError>,
) -> Result<T, ApiError> {
    let limits = Limits::default();
    let asking = QueryEnvironment { limits: &limits, progress, cache: &api.durations };
    Ok(api.recently(|view, _| ask(view, &asking))?)
}

/// Milliseconds since a moment of the monotonic clock.
fn elapsed_ms(began_ns: u64) -> u64 {
    chronoscope_clock::monotonic_ns().saturating_sub(began_ns) / 1_000_000
}

/// The given number, or the default; an error when it is out of bounds.
fn bounded(name: &str, given: Option<usize>, usual: usize, most: usize) -> Result<usize, ApiError> {
    let number = given.unwrap_or(usual);
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    Err(ApiError::question(format!("{name} {number}: from 1 to {most}")))
}
