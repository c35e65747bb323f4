//! `GET /arrivals`: which roots reached a leaf, and the verdict on a limit over all of them.

use super::{elapsed_ms, of_rows};
use crate::api::Api;
use crate::api::error::{ApiError, ErrorBody};
use crate::api::parameters::{QuestionName, SelectionParameters};
use crate::api::rings::open_of_class;
use crate::api::selection::Selection;
use crate::arrivals::{ArrivalsView, VerdictView};
use crate::verdict_subject::judged;
use axum::Json;
use axum::extract::State;
use chronoscope_query::{Question, ask_watched};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Required arrivals.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct RequiredArrivals {
    /// Leaves that each root needs: `each-root` (one or more), `N..` (N or more), `N` (exactly N);
    /// `arrived`: none, leaves that arrived are judged. Without it the verdict covers the chains
    /// that arrived, and never reports that the requirement holds while a root is missing.
    judge: Option<String>,
    /// Only the first leaf of each receiver below a root counts: `process` or `host`.
    distinct: Option<String>,
    /// Time until which a root without its leaves is open: ns; at least the limit.
    timeout_ns: Option<u64>,
}

/// The roots of a selection, and whether they arrived.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct ArrivalsAnswer {
    verdict: VerdictView,
    arrivals: ArrivalsView,
    /// Transactions of the root's class that have not ended, in the rings of this host: they have
    /// no row yet, and are none of `roots`.
    open_roots: u64,
    elapsed_ms: u64,
}

/// Arrivals of the selected roots. Needs kind=acpd, a leaf and a limit; a selection of leaves by
/// path, host, attributes or length is refused.
#[utoipa::path(get, path = "/arrivals", tag = "durations", params(Selection, RequiredArrivals, QuestionName),
    responses((status = 200, body = ArrivalsAnswer), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn arrivals(
    State(api): State<Api>,
    SelectionParameters { selection, id, own }: SelectionParameters<RequiredArrivals>,
) -> Result<Json<ArrivalsAnswer>, ApiError> {
    let asked = judged(own.judge.as_deref(), own.distinct.as_deref(), own.timeout_ns);
    let judged = asked.map_err(ApiError::question)?;
    let question = Question { judged, ..selection.question()? };
    let whole = question.leaf.is_some()
        && question.path.is_none()
        && question.hosts.is_empty()
        && question.attributes.is_empty()
        && question.duration_ns == (0..=u64::MAX);
    if !whole || question.limit_ns.is_none() {
        return Err(ApiError::question("arrivals need a root, a class of leaves and limit_ns")
            .hint(
                "give kind=acpd, root, leaf and limit_ns, but not path, hosts, where, min_ns or max_ns",
            ));
    }
    let began_ns = chronoscope_clock::monotonic_ns();
    api.ask(id, move |api, progress| {
        let found = of_rows((api, progress), &[&question], |snapshot, asking| {
            ask_watched(snapshot, &question, asking.limits, asking.progress)
        })?;
        let both = found.verdict.as_ref().zip(found.arrivals.as_ref());
        let (verdict, arrivals) =
            both.ok_or_else(|| ApiError::failed("no verdict on a question for one"))?;
        Ok(ArrivalsAnswer {
            verdict: verdict.into(),
            arrivals: arrivals.into(),
            open_roots: open_of_class(&api.rings, &question.root, &question.start_ns),
            elapsed_ms: elapsed_ms(began_ns),
        })
    })
    .await
}
