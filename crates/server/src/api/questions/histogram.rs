//! `GET /histogram`: the distribution of durations, exact, with the verdict on a limit.

use super::{AxisScale, ClockNote, DistributionView, bounded, elapsed_ms, of_view};
use crate::api::Api;
use crate::api::error::{ApiError, ErrorBody};
use crate::api::parameters::{QuestionName, SelectionParameters};
use crate::api::selection::Selection;
use crate::arrivals::VerdictView;
use axum::Json;
use axum::extract::State;
use chronoscope_query::Answer;
use chronoscope_statistics::Edges;
use chronoscope_store::Damage;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Bins of the histogram.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct Bins {
    /// Number of bins; the default is 100.
    #[param(minimum = 1, maximum = 10000)]
    bins: Option<usize>,
    /// Scale of the durations; the default is `log`.
    scale: Option<AxisScale>,
}

/// A histogram with the parameters of the distribution. All exact.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct HistogramAnswer {
    bins: Vec<Bin>,
    scale: AxisScale,
    /// Null without durations.
    distribution: Option<DistributionView>,
    /// Null without `limit_ns`. For kind acpd it never reports here that the requirement holds:
    /// `/arrivals` also counts roots that did not arrive.
    verdict: Option<VerdictView>,
    paths: Vec<PathDistribution>,
    counts: CountsView,
    losses: LossesView,
    clocks: Option<ClockNote>,
    /// What could not be read: files, or shards of a cluster that did not answer.
    damage: Vec<String>,
    elapsed_ms: u64,
}

/// Durations in [from, until).
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(in crate::api) struct Bin {
    from_ns: u64,
    until_ns: u64,
    count: u64,
}

/// The distribution along one path.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct PathDistribution {
    path: String,
    /// Steps from root to leaf.
    level: usize,
    distribution: DistributionView,
}

/// Number of durations used, and of those left out, by reason.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(in crate::api) struct CountsView {
    used: u64,
    /// Used, with rows missing on their path.
    incomplete: u64,
    /// Below 0 by clocks that disagree: not used.
    negative: u64,
}

/// Known losses of the store.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(in crate::api) struct LossesView {
    /// Overwritten in rings before they were read, or dropped.
    lost_rows: u64,
    /// Number of losses whose rows nobody counted: a ring was damaged or removed.
    uncounted_losses: u64,
    /// Number of unreadable rows in the log or in segments.
    damaged_rows: u64,
    /// Deleted for age or space.
    expired_rows: u64,
    /// Deleted on request, of the selected time: so many of its rows at most.
    deleted_rows: u64,
}

/// The distribution of the selected durations.
#[utoipa::path(get, path = "/histogram", tag = "durations", params(Selection, Bins, QuestionName),
    responses((status = 200, body = HistogramAnswer), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn histogram(
    State(api): State<Api>,
    SelectionParameters { selection, id, own }: SelectionParameters<Bins>,
) -> Result<Json<HistogramAnswer>, ApiError> {
    let question = selection.question()?;
    let count = bounded("bins", own.bins, 100, 10_000)?;
    let scale = own.scale.unwrap_or_default();
    let began_ns = chronoscope_clock::monotonic_ns();
    api.ask(id, move |api, progress| {
        let found = of_view((api, progress), |view, asking| view.ask_again(&question, asking))?;
        let answer = view(&found, count, scale);
        Ok(HistogramAnswer { elapsed_ms: elapsed_ms(began_ns), ..answer })
    })
    .await
}

fn view(found: &Answer, count: usize, scale: AxisScale) -> HistogramAnswer {
    let range = found.distribution.map(|all| all.min_ns..all.max_ns.saturating_add(1));
    let range = range.filter(|range| !range.is_empty());
    let edges = range.map(|range| Edges::new(scale.into(), range, count));
    let bins = edges.iter().flat_map(|edges| {
        let counts = edges.counts(&found.durations_ns);
        let ranges = (0..edges.count()).map(|bin| edges.range(bin)).zip(counts);
        ranges
            .map(|(range, count)| Bin { from_ns: range.start, until_ns: range.end, count })
            .collect::<Vec<_>>()
    });
    let path = |path: &chronoscope_query::PathAnswer| PathDistribution {
        path: path.path.clone(),
        level: path.hops.len().saturating_sub(1),
        distribution: (&path.distribution).into(),
    };
    let losses = &found.losses;
    let counted = losses.damage.iter().map(|damage| damage.rows_lost);
    let damaged: u64 = counted.filter(|rows| *rows != Damage::UNCOUNTED).sum();
    HistogramAnswer {
        bins: bins.collect(),
        scale,
        distribution: found.distribution.as_ref().map(DistributionView::from),
        verdict: found.verdict.as_ref().map(VerdictView::from),
        paths: found.paths.iter().map(path).collect(),
        counts: CountsView {
            used: found.counts.used,
            incomplete: found.counts.incomplete,
            negative: found.counts.negative,
        },
        losses: LossesView {
            lost_rows: losses.lost_rows,
            uncounted_losses: losses.uncounted_losses,
            damaged_rows: losses.damaged_rows + damaged,
            expired_rows: losses.expired_rows,
            deleted_rows: losses.deleted_rows(),
        },
        clocks: found.clocks.as_ref().map(ClockNote::from),
        damage: losses.damage.iter().map(ToString::to_string).collect(),
        elapsed_ms: 0,
    }
}
