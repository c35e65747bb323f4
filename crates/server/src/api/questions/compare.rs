//! `GET /compare`: two times side by side, of one store or of two.

use super::{DistributionView, HopPart, HopSide, bounded, of_rows};
use crate::api::Api;
use crate::api::error::{ApiError, ErrorBody};
use crate::api::parameters::{QuestionName, SelectionParameters};
use crate::api::selection::Selection;
use axum::Json;
use axum::extract::State;
use chronoscope_query::{QueryEnvironment, QueryError, Question, StoreLocation};
use chronoscope_store::{Snapshot, StoreError};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use utoipa::{IntoParams, ToSchema};

/// The second time, or the second store; the first is the selection's.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct ComparedSide {
    /// Store of B, one of those that `/status` lists in `compare`; the default is the store of A.
    b_store: Option<String>,
    /// B contains chains whose root started at this time or later: UTC ns since 1970. Required
    /// without `b_store`; with it the default is the beginning of the store.
    b_from_ns: Option<i64>,
    /// B contains chains whose root started before this time: UTC ns since 1970. As `b_from_ns`.
    b_until_ns: Option<i64>,
    /// Largest number of chains of each side whose hops are read; the default is 2000.
    #[param(minimum = 1, maximum = 20000)]
    sample: Option<usize>,
}

/// Two times side by side, of one store or of two: A is the selection's, B the other.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct Compare {
    a: CompareSide,
    b: CompareSide,
    /// The common edges of both histograms; none without durations.
    edges_ns: Vec<u64>,
    /// Null where one of them has fewer than two durations.
    difference: Option<DifferenceView>,
    /// Hops, those that moved the mean and the tail most first.
    hops: Vec<CompareHop>,
    /// The common edges of the hops' histograms; none without hops.
    hop_edges_ns: Vec<u64>,
    paths: Vec<ComparePath>,
}

/// One side of the comparison.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct CompareSide {
    /// Name of the side's store; null for the server's own.
    store: Option<String>,
    /// UTC ns since 1970.
    from_ns: i64,
    /// UTC ns since 1970, not included.
    until_ns: i64,
    /// Null without durations.
    distribution: Option<DistributionView>,
    /// Durations between the edges.
    counts: Vec<u64>,
    /// Number of chains whose hops were read.
    sampled: u64,
}

/// Difference, B minus A.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct DifferenceView {
    median_ns: i64,
    mean_ns: f64,
    /// The 95 % interval of the difference of the means, by Welch's t: durations are taken as
    /// independent of each other.
    low_ns: f64,
    high_ns: f64,
    /// The chance of such a difference of means where there is none.
    p_value: f64,
    sentence: String,
}

/// One part of one hop.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct CompareHop {
    hop: String,
    part: HopPart,
    a: HopSide,
    b: HopSide,
    /// The difference of the medians.
    shift_ns: i64,
    /// Contribution to the difference of the mean durations; a chain without the hop contributes 0.
    mean_change_ns: f64,
    /// Share of the difference of the mean durations: all shares add up to 1. Negative where it
    /// moved in the other direction; 0 where there is no difference.
    share_of_mean: f64,
    /// Contribution to the difference of the tails' mean durations: a tail is the slowest hundredth
    /// of a side's sampled chains, at least one.
    tail_change_ns: f64,
    /// Share of the difference of the tails' mean durations, as `share_of_mean`.
    share_of_tail: f64,
    /// p-value of the Kolmogorov-Smirnov test; 1 where one side has no such hop.
    p_value: f64,
    /// p-value of Fisher's exact test on the values above the 99th percentile of both sides
    /// together: is one side slow more often? 1 where one side has no such hop, or both have fewer
    /// than a hundred.
    tail_p_value: f64,
}

/// A path, and its durations in both.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct ComparePath {
    path: String,
    a: u64,
    b: u64,
    state: PathState,
}

/// Sides on which a path occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::api) enum PathState {
    Both,
    /// Only in B.
    New,
    /// Only in A.
    Vanished,
}

/// Two times side by side, of one store or of two.
#[utoipa::path(get, path = "/compare", tag = "durations", params(Selection, ComparedSide, QuestionName),
    responses((status = 200, body = Compare), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn compare(
    State(api): State<Api>,
    SelectionParameters { selection, id, own }: SelectionParameters<ComparedSide>,
) -> Result<Json<Compare>, ApiError> {
    let a = selection.question()?;
    let b = Question { start_ns: own.other_time().start_ns()?, ..a.clone() };
    let most = bounded("sample", own.sample, 2000, 20_000)?;
    let other = own.b_store.as_deref().map(|name| named(&api, name)).transpose()?;
    api.ask(id, move |api, progress| {
        let here: &[&Question] = if other.is_some() { &[&a] } else { &[&a, &b] };
        let found = of_rows((api, progress), here, |first, asking| match &other {
            None => Ok(chronoscope_query::compare((first, &a), (first, &b), most, asking)?),
            Some(other) => of_other(other, (&b, asking), |second| {
                chronoscope_query::compare((first, &a), (second, &b), most, asking)
            }),
        })?;
        Ok(view(found, own.b_store))
    })
    .await
}

impl ComparedSide {
    fn other_time(&self) -> OtherTime {
        let (from_ns, until_ns) = (self.b_from_ns, self.b_until_ns);
        OtherTime { has_store: self.b_store.is_some(), from_ns, until_ns }
    }
}

/// The time of B, as a request gives it.
pub(super) struct OtherTime {
    /// Whether B is another store.
    pub(super) has_store: bool,
    pub(super) from_ns: Option<i64>,
    pub(super) until_ns: Option<i64>,
}

impl OtherTime {
    /// Range of the starts of B's roots.
    pub(super) fn start_ns(&self) -> Result<Range<i64>, ApiError> {
        match (self.from_ns, self.until_ns) {
            (Some(from), Some(until)) => Ok(from..until),
            (from, until) if self.has_store => {
                Ok(from.unwrap_or(i64::MIN)..until.unwrap_or(i64::MAX))
            }
            _ => Err(ApiError::question("b_from_ns and b_until_ns, or b_store, are missing")
                .hint("B is another time of this store, or another store")),
        }
    }
}

/// Asks the rows of another store that a question needs.
pub(super) fn of_other<T>(
    other: &StoreLocation,
    (question, asking): (&Question, &QueryEnvironment<'_>),
    ask: impl Fn(&Snapshot) -> Result<T, StoreError>,
) -> Result<T, QueryError> {
    other.with(|view| {
        let rows = view.rows_of(&[question], asking.limits, asking.progress)?;
        Ok(ask(&rows)?)
    })
}

/// A store that may be compared with.
pub(super) fn named(api: &Api, name: &str) -> Result<StoreLocation, ApiError> {
    let known = api.others.get(name).cloned();
    known.ok_or_else(|| {
        let names = api.others.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let hint = if names.is_empty() {
            "start it as chronoscope serve --compare NAME=DIR".to_owned()
        } else {
            format!("there are: {names}")
        };
        ApiError::question("b_store: no store to compare with has this name").hint(hint)
    })
}

fn view(found: chronoscope_query::Comparison, b_store: Option<String>) -> Compare {
    let side = |store: Option<String>, side: chronoscope_query::ComparedSide| CompareSide {
        store,
        from_ns: side.start_ns.start,
        until_ns: side.start_ns.end,
        distribution: side.distribution.as_ref().map(DistributionView::from),
        counts: side.counts,
        sampled: side.sampled,
    };
    let sentence = found.sentence;
    let difference =
        found.difference.zip(found.median_shift_ns).map(|(mean, median_ns)| DifferenceView {
            median_ns,
            mean_ns: mean.difference,
            low_ns: mean.interval.0,
            high_ns: mean.interval.1,
            p_value: mean.p_value,
            sentence,
        });
    let hop = |part: chronoscope_query::ComparedPart| CompareHop {
        hop: part.hop,
        part: part.kind.into(),
        a: part.a.into(),
        b: part.b.into(),
        shift_ns: part.shift_ns,
        mean_change_ns: part.change_ns,
        share_of_mean: part.share,
        tail_change_ns: part.tail_change_ns,
        share_of_tail: part.tail_share,
        p_value: part.p_value.unwrap_or(1.0),
        tail_p_value: part.tail_p_value.unwrap_or(1.0),
    };
    let path = |(path, a, b): (String, u64, u64)| ComparePath {
        path,
        a,
        b,
        state: match (a, b) {
            (0, _) => PathState::New,
            (_, 0) => PathState::Vanished,
            _ => PathState::Both,
        },
    };
    Compare {
        a: side(None, found.a),
        b: side(b_store, found.b),
        edges_ns: found.edges_ns,
        difference,
        hop_edges_ns: found.part_edges_ns,
        hops: found.parts.into_iter().map(hop).collect(),
        paths: found.paths.into_iter().map(path).collect(),
    }
}
