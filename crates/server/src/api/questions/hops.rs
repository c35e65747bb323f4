//! `GET /hops`: the selected chains against the rest, hop by hop.

use super::{HopPart, HopSide, bounded, of_rows};
use crate::api::Api;
use crate::api::error::{ApiError, ErrorBody};
use crate::api::parameters::{QuestionName, SelectionParameters};
use crate::api::selection::Selection;
use axum::Json;
use axum::extract::State;
use chronoscope_query::Question;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The chains to compare with, and the number of chains that are read.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct HopComparison {
    /// The rest are those that started then or later: UTC ns since 1970.
    context_from_ns: Option<i64>,
    /// The rest are those that started before then: UTC ns since 1970.
    context_until_ns: Option<i64>,
    /// Largest number of chains of each side whose hops are read; the default is 2000.
    #[param(minimum = 1, maximum = 20000)]
    sample: Option<usize>,
}

/// Selected chains beside the rest.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct Hops {
    /// Durations that are selected, and those that are not: exact.
    selected: u64,
    rest: u64,
    /// Number of chains whose hops were read: all where there are few, else a repeatable sample of
    /// whole minutes.
    sampled_selected: u64,
    sampled_rest: u64,
    /// Hops in the order of time, each hop's wait before its work.
    hops: Vec<HopRow>,
    /// The common edges of all histograms.
    edges_ns: Vec<u64>,
    /// Hosts of the hops in the sample; at most 100.
    hosts: Vec<HostRow>,
    /// The largest cause of the difference, as a sentence.
    sentence: String,
}

/// One part of one hop.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct HopRow {
    /// `APPLICATION::CLASS`.
    hop: String,
    /// Steps from the selected root.
    level: u16,
    part: HopPart,
    selected: HopSide,
    rest: HopSide,
    /// The difference of the medians.
    shift_ns: i64,
    /// The statistic of Kolmogorov and Smirnov; 0 where one side has no such hop.
    ks: f64,
    /// The chance of such a difference where there is none; 1 where one side has no such hop.
    p_value: f64,
    /// Share of the difference of the mean durations; all shares add up to 1. Within [0, 1] where
    /// all parts move in the same direction.
    share_of_difference: f64,
    /// Of a hop's work: classes of transactions that ran inside it beside the path, at most 5; those
    /// whose time differs most first.
    inside: Vec<InsideRow>,
}

/// Time of a class inside a hop, beside the path: children that began and ended within the hop.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct InsideRow {
    /// `APPLICATION::CLASS`.
    class: String,
    /// Mean over the selected chains; a chain without it counts as 0.
    selected_mean_ns: f64,
    /// Mean over the rest.
    rest_mean_ns: f64,
}

/// Number of sampled chains in which a hop ran on a host.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct HostRow {
    host: String,
    hop: String,
    selected: u64,
    rest: u64,
}

/// The selected chains against the rest of the same root, leaf, level and path.
#[utoipa::path(get, path = "/hops", tag = "durations", params(Selection, HopComparison, QuestionName),
    responses((status = 200, body = Hops), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn hops(
    State(api): State<Api>,
    SelectionParameters { selection, id, own }: SelectionParameters<HopComparison>,
) -> Result<Json<Hops>, ApiError> {
    let question = selection.question()?;
    let most = bounded("sample", own.sample, 2000, 20_000)?;
    let from = own.context_from_ns.unwrap_or(i64::MIN);
    let context = from..own.context_until_ns.unwrap_or(i64::MAX);
    api.ask(id, move |api, progress| {
        let (own, rest) = (&question.start_ns, &context);
        let all = own.start.min(rest.start)..own.end.max(rest.end);
        let all = Question { start_ns: all, ..question.clone() };
        let found = of_rows((api, progress), &[&all], |snapshot, asking| {
            chronoscope_query::hops(snapshot, &question, (context.clone(), most), asking)
        })?;
        Ok(view(found))
    })
    .await
}

fn view(found: chronoscope_query::Hops) -> Hops {
    let inside = |inside: chronoscope_query::InsideHop| InsideRow {
        class: inside.class,
        selected_mean_ns: inside.selected_mean_ns,
        rest_mean_ns: inside.rest_mean_ns,
    };
    let row = |part: chronoscope_query::HopPart| HopRow {
        hop: part.hop,
        level: part.level,
        part: part.kind.into(),
        selected: part.selected.into(),
        rest: part.rest.into(),
        shift_ns: part.shift_ns,
        ks: part.test.map_or(0.0, |test| test.statistic),
        p_value: part.test.map_or(1.0, |test| test.p_value),
        share_of_difference: part.share,
        inside: part.inside.into_iter().map(inside).collect(),
    };
    let host = |host: chronoscope_query::HopHost| HostRow {
        host: host.host,
        hop: host.hop,
        selected: host.selected,
        rest: host.rest,
    };
    Hops {
        selected: found.selected,
        rest: found.rest,
        sampled_selected: found.sampled_selected,
        sampled_rest: found.sampled_rest,
        hops: found.parts.into_iter().map(row).collect(),
        edges_ns: found.edges_ns,
        hosts: found.hosts.into_iter().map(host).collect(),
        sentence: found.sentence,
    }
}
