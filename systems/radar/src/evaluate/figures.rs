//! What an evaluation says beside its totals: figures of all targets, of each, by level and by place.

use super::contents::Content;
use super::coverage::CoverageSource;
use super::within::Within;
use chronoscope_statistics::{Quantile, ascending, nearest_rank};

/// 95 of 100 are not above it.
const P95: Quantile = match Quantile::from_millionths(950_000) {
    Some(quantile) => quantile,
    None => Quantile::P90,
};
/// A target has to have so many reports for a root mean square of its own.
pub(super) const REPORTS_MIN: u64 = 30;

/// Figures of all targets, of one, of a band of level or of a cell. Shares are in `[0, 1]`; `None`
/// where there was nothing to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Figures {
    /// Targets, each at each instant.
    pub samples: u64,
    /// Share of them with a track.
    pub tracked: Option<f64>,
    /// Samples where the sensors see.
    pub covered_samples: u64,
    /// Share of these with a track.
    pub tracked_where_covered: Option<f64>,
    /// Reports whose error was taken.
    pub reports: u64,
    /// Root mean square of the horizontal error, m.
    pub rms_m: Option<f64>,
    /// Along the target's course, m.
    pub along_rms_m: Option<f64>,
    /// Across it, m.
    pub across_rms_m: Option<f64>,
}

/// A band of level.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Band {
    /// Its name.
    pub name: &'static str,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// A cell of the map, 10 NM wide.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MapCell {
    /// Cells to the east of the plane's origin.
    pub column: i32,
    /// Cells to the north of it.
    pub row: i32,
    /// Band of level, from 0.
    pub band: usize,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// A target.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Target {
    /// Address, or `ff` and the track's number where there is none.
    pub name: String,
    /// When it was first there, seconds since the UTC epoch.
    pub first_s: f64,
    /// For how long it was there.
    pub seconds: f64,
    /// From its appearance to its track, s.
    pub initiation_s: Option<f64>,
    /// Gaps of more than 24 s where the sensors see.
    pub gaps: u64,
    /// The longest time without a track, s.
    pub gap_s_max: f64,
    /// Track numbers that it had.
    pub numbers: u64,
    /// Greatest error, m.
    pub error_m_max: Option<f64>,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Time from the state that a report describes to its arrival, s.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Latency {
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// 95 % are not later.
    pub p95: Option<f64>,
    /// Greatest.
    pub max: Option<f64>,
}

impl Latency {
    pub(super) fn of(values: Vec<f64>) -> Self {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let sorted = ascending(values);
        let at = |quantile| nearest_rank(&sorted, quantile);
        Self {
            mean: (!sorted.is_empty()).then_some(mean),
            median: at(Quantile::P50),
            p95: at(P95),
            max: sorted.last().copied(),
        }
    }
}

/// All that an evaluation says beside its totals.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Details {
    /// All targets.
    pub all: Figures,
    /// Samples where the sensors do not see.
    pub without_coverage: u64,
    /// How it is known where the sensors see.
    pub coverage: CoverageSource,
    /// The greatest root mean square of a target with at least 30 reports, m.
    pub rms_m_of_worst_target: Option<f64>,
    /// Share of the reports in runs of three or more consecutive errors of more than 926 m.
    pub reports_in_runs_above_926_m: Option<f64>,
    /// The same of more than 555 m.
    pub reports_in_runs_above_555_m: Option<f64>,
    /// Root mean square of the error of ground speed, m/s.
    pub speed_rms_m_s: Option<f64>,
    /// Root mean square of the error of the course, degrees.
    pub course_rms_deg: Option<f64>,
    /// Root mean square of the error of the rate of climb, ft/min.
    pub climb_rms_ft_min: Option<f64>,
    /// Mean of how far reports are behind along the reference's course, divided by its speed, s:
    /// what a wrong time of the state makes.
    pub position_latency_s_mean: Option<f64>,
    /// Shares of reports whose errors are within limits.
    pub within: Vec<Within>,
    /// What reports say of their aircraft beside the position.
    pub contents: Vec<Content>,
    /// Targets that had a track.
    pub targets_followed: u64,
    /// Share of them with one number and no gap.
    pub continuous: Option<f64>,
    /// Track numbers of a target, mean.
    pub numbers_per_target: Option<f64>,
    /// Latency of reports.
    pub latency_s: Latency,
    /// Figures by band of level.
    pub bands: Vec<Band>,
    /// Figures by cell of the map.
    pub cells: Vec<MapCell>,
    /// Figures by target.
    pub targets: Vec<Target>,
}
