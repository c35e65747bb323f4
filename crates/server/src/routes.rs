//! Routes of the server.

use crate::attribute_query::AttributeQuery;
use crate::metrics::{self, Format, MetricsSource};
use crate::refusal::refuse;
use crate::senders::Senders;
use crate::verdict_subject::judged;
use crate::{ServerOptions, access, api, grpc, health, otlp, page, ring_stream, views};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chronoscope_formats::json;
use chronoscope_origin::AllowedHosts;
use chronoscope_query::{
    ClassSelector, Clocks, DurationKind, LeafLevel, Limits, Progress, QueryError, Question,
    StoreLocation, StoreView,
};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Semaphore;

#[derive(Clone)]
struct Store {
    api: api::Api,
    source: StoreLocation,
    one_at_a_time: Arc<Semaphore>,
    metrics: MetricsSource,
}

/// All routes. All except the page's own files and the two health checks need a token.
pub(crate) fn routes(
    options: ServerOptions,
    api: api::Api,
    senders: &Arc<Senders>,
    metrics: MetricsSource,
    access: &Arc<access::Access>,
) -> Router {
    let guard = access::Guard {
        access: access.clone(),
        need: access::RequiredRight::Read,
        hosts: AllowedHosts::new(options.allow_hosts.clone(), "--allow-host"),
        senders: senders.clone(),
    };
    let agent_rings = api.agent_rings.clone();
    let page = api::routes(api.clone(), guard.clone());
    let ServerOptions { data_dir, source, rings, ingest, .. } = options;
    let source = source.unwrap_or_else(|| StoreLocation::Files(data_dir.clone()));
    let health = health::routes(health::Ready {
        data_dir: data_dir.clone(),
        rings,
        collectors: api.collectors.clone(),
        metrics: metrics.follower.clone(),
    });
    let one_at_a_time = Arc::new(Semaphore::new(1));
    let store = Store { api, source, one_at_a_time, metrics };
    let asked = Router::new()
        .route("/status", get(status))
        .route("/metrics", get(prometheus))
        .route("/chains", get(chains))
        .route("/classes", get(classes))
        .with_state(store);
    let behind = |need| middleware::from_fn_with_state(guard.with(need), access::check);
    let asked = asked.route_layer(behind(access::RequiredRight::Read));
    let all = match ingest {
        Some(ingest) => {
            let agents = grpc::routes(ingest.clone(), senders.clone());
            let agents = agents.merge(ring_stream::routes(agent_rings, senders.clone()));
            let delivered = agents.merge(otlp::otlp_routes(ingest, senders.clone()));
            asked.merge(delivered.route_layer(behind(access::RequiredRight::Write)))
        }
        None => asked,
    };
    let own_pages = middleware::from_fn_with_state(guard, access::only_own_pages);
    all.merge(page).merge(health).fallback(page::serve).layer(own_pages)
}

async fn status(State(store): State<Store>) -> Response {
    let read = tokio::task::spawn_blocking(move || store.api.collector_status()).await;
    match read {
        Ok(Ok(Some(status))) => Json(status).into_response(),
        Ok(Ok(None)) => {
            refuse(StatusCode::SERVICE_UNAVAILABLE, "the collector has not reported yet")
        }
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
    }
}

async fn prometheus(State(store): State<Store>, headers: HeaderMap) -> Response {
    match store.metrics.families() {
        Ok(families) => {
            let format = Format::asked(&headers);
            let kind = (header::CONTENT_TYPE, format.content_type());
            let page = metrics::write(&families, format);
            ([kind, (header::VARY, "accept")], page).into_response()
        }
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
    }
}

/// The parameters of `/chains`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    root: Option<String>,
    leaf: Option<String>,
    level: Option<String>,
    #[serde(default)]
    apcd: bool,
    sync: Option<String>,
    limit_ns: Option<u64>,
    /// Leaves that the roots need: `each-root`, `arrived`, `N..` or `N`.
    judge: Option<String>,
    /// Only the first leaf of each receiver counts: `process` or `host`.
    distinct: Option<String>,
    timeout_ns: Option<u64>,
    from_ns: Option<i64>,
    until_ns: Option<i64>,
    #[serde(default)]
    split: bool,
    #[serde(default)]
    correct_clocks: bool,
}

impl Parameters {
    fn question(self) -> Result<Question, &'static str> {
        let level = match self.level.as_deref() {
            None | Some("any") => LeafLevel::Any,
            Some(number) => {
                LeafLevel::Exactly(number.parse().map_err(|_| "level: a number or any")?)
            }
        };
        let (kind, root) = match (self.root, self.sync, self.apcd) {
            (Some(root), None, true) => (DurationKind::Apcd, root),
            (Some(root), None, false) => (DurationKind::Acpd, root),
            (None, Some(class), false) => (DurationKind::Sync, class),
            _ => return Err("give root and leaf, root and apcd=true, or sync"),
        };
        let judged = judged(self.judge.as_deref(), self.distinct.as_deref(), self.timeout_ns)?;
        Ok(Question {
            judged,
            kind,
            root: ClassSelector(root),
            leaf: self.leaf.map(ClassSelector),
            level,
            start_ns: self.from_ns.unwrap_or(i64::MIN)..self.until_ns.unwrap_or(i64::MAX),
            limit_ns: self.limit_ns,
            split: self.split && kind == DurationKind::Acpd,
            points: false,
            clocks: if self.correct_clocks { Clocks::Corrected } else { Clocks::Raw },
            ..Question::sync("")
        })
    }
}

async fn chains(
    State(store): State<Store>,
    AttributeQuery { attributes, own: parameters }: AttributeQuery<Parameters>,
) -> Response {
    let judges = parameters.judge.is_some();
    let question = match parameters.question() {
        Ok(_) if judges && !attributes.filters_roots() => {
            let what = "judge: roots are judged with filters by root.KEY alone";
            return refuse(StatusCode::BAD_REQUEST, what);
        }
        Ok(question) => Question { attributes, ..question },
        Err(what) => return refuse(StatusCode::BAD_REQUEST, what),
    };
    let Ok(_turn) = store.one_at_a_time.acquire().await else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "the server ends");
    };
    answered(move || answer(&store.source, &question)).await
}

fn answer(source: &StoreLocation, question: &Question) -> Result<Value, QueryError> {
    let answer = source.ask(question, &Limits::default())?;
    let mut part = views::answer(&answer);
    views::add_filters(&mut part, &question.attributes);
    Ok(json::document("chains", part))
}

/// The parameters of `/classes`: a piece of a list that may be long.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassParameters {
    offset: Option<usize>,
    limit: Option<usize>,
}

/// Largest number of classes in one answer.
const CLASSES_MAX: usize = 10_000;

async fn classes(
    State(store): State<Store>,
    AttributeQuery { attributes, own }: AttributeQuery<ClassParameters>,
) -> Response {
    let ClassParameters { offset, limit } = own;
    let limit = limit.unwrap_or(CLASSES_MAX);
    if !(1..=CLASSES_MAX).contains(&limit) {
        return refuse(StatusCode::BAD_REQUEST, format!("limit: 1 to {CLASSES_MAX}"));
    }
    let Ok(_turn) = store.one_at_a_time.acquire().await else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "the server ends");
    };
    let all = i64::MIN..i64::MAX;
    answered(move || {
        if !attributes.is_empty() {
            let limits = Limits::default();
            let ask = |view: &StoreView| {
                view.class_groups(&all, &attributes, &limits, &Progress::default())
            };
            let mut found = store.source.with(ask)?;
            let total = found.classes.len();
            found.classes =
                found.classes.into_iter().skip(offset.unwrap_or(0)).take(limit).collect();
            let mut answer = views::class_groups(&found);
            views::add_filters(&mut answer, &attributes);
            answer["total"] = total.into();
            return Ok(json::document("classes", answer));
        }
        let (classes, damage) = store.source.classes(&all)?;
        let total = classes.len();
        let piece = classes.into_iter().skip(offset.unwrap_or(0)).take(limit).collect();
        let mut answer = views::classes(&piece, &damage);
        answer["total"] = total.into();
        Ok(json::document("classes", answer))
    })
    .await
}

/// Runs a question beside the server, and answers with what comes out.
async fn answered(
    question: impl FnOnce() -> Result<Value, QueryError> + Send + 'static,
) -> Response {
    match tokio::task::spawn_blocking(question).await {
        Ok(Ok(value)) => Json(value).into_response(),
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
    }
}
