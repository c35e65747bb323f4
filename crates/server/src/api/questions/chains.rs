//! `GET /chains`: the chains inside a rectangle of the scattergram.

use super::{bounded, of_view};
use crate::api::Api;
use crate::api::error::{ApiError, ErrorBody};
use crate::api::parameters::{QuestionName, SelectionParameters};
use crate::api::selection::Selection;
use axum::Json;
use axum::extract::State;
use chronoscope_query::ChainPoint;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Order and number of the listed chains.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct ListedChains {
    /// Order of the list; the default is `longest`.
    order: Option<ChainOrder>,
    /// Number of chains listed; the default is 100.
    #[param(minimum = 1, maximum = 2000)]
    limit: Option<usize>,
}

/// Order of the listed chains.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::api) enum ChainOrder {
    /// Longest first.
    #[default]
    Longest,
    /// Shortest first.
    Shortest,
    /// By start of the root, earliest first.
    First,
}

/// Selected chains.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct Chains {
    /// Exact number of selected durations. A chain has one for each leaf.
    total: u64,
    chains: Vec<ChainSummary>,
}

/// One duration and its chain.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct ChainSummary {
    /// The chain's id; empty where its rows have been removed since.
    chain: String,
    /// Start of the root: UTC ns since 1970.
    start_ns: i64,
    duration_ns: u64,
    /// Path from the selected root to the leaf.
    path: String,
    /// Steps from root to leaf.
    level: usize,
    /// Host of the leaf; empty where it is not known.
    leaf_host: String,
}

/// The selected chains: how many, and the first of them.
#[utoipa::path(get, path = "/chains", tag = "durations", params(Selection, ListedChains, QuestionName),
    responses((status = 200, body = Chains), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn chains(
    State(api): State<Api>,
    SelectionParameters { selection, id, own }: SelectionParameters<ListedChains>,
) -> Result<Json<Chains>, ApiError> {
    let question = selection.question()?;
    let limit = bounded("limit", own.limit, 100, 2000)?;
    let order = match own.order.unwrap_or_default() {
        ChainOrder::Longest => chronoscope_query::ChainOrder::Longest,
        ChainOrder::Shortest => chronoscope_query::ChainOrder::Shortest,
        ChainOrder::First => chronoscope_query::ChainOrder::First,
    };
    api.ask(id, move |api, progress| {
        let (total, chains) = of_view((api, progress), |view, asking| {
            view.list_chains(&question, (order, limit), asking)
        })?;
        Ok(Chains { total, chains: chains.into_iter().map(summary).collect() })
    })
    .await
}

fn summary(chain: ChainPoint) -> ChainSummary {
    ChainSummary {
        chain: chain.chain.map(|id| id.to_string()).unwrap_or_default(),
        start_ns: chain.point.start_ns,
        duration_ns: chain.point.duration_ns,
        path: chain.path,
        level: chain.level,
        leaf_host: chain.host,
    }
}
