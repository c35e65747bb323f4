//! The page's API, version 1, under `/api/v1`: JSON, documented by OpenAPI that is generated from
//! these types (`GET /api/v1/openapi.json`, and `page/openapi.json` in the repository).
//!
//! Absolute times are UTC nanoseconds since 1970, durations nanoseconds, ids hexadecimal digits.
//! Unknown parameters are refused. A question that reads the store waits for its turn
//! ([`running`]), may have a name (`question=ID`) for following and cancelling it, and is cancelled
//! when its connection is closed. Errors are an [`ErrorBody`](error::ErrorBody).
//!
//! Compatibility: within a version fields are only added.

mod acknowledged;
mod asked;
mod attributes;
mod chain;
mod change;
mod cpu;
mod data;
mod error;
mod flame_answer;
mod graph;
mod group_values;
mod hosts;
mod idle;
mod marks;
mod named_views;
mod now;
mod parameters;
mod profile_cache;
mod profile_kind;
mod profiles;
mod publish;
mod questions;
mod ring_content;
mod ring_hosts;
mod ring_row;
mod rings;
mod rules;
mod running;
mod runs;
mod selection;
mod status;
mod stored;
mod worst;

use crate::access::{self, Guard};
use crate::agent_rings::AgentRings;
use crate::annotations::StoreAnnotations;
use crate::collectors::{Collectors, Everybody};
use crate::limits::Limit;
use crate::metrics::follow::Follower;
use crate::options::ServerOptions;
use crate::rules::RuleWatch;
use axum::http::header;
use axum::middleware;
use axum::{Json, Router};
use bytes::Bytes;
use chronoscope_collect::{Ingest, Status as CollectorStatus};
use chronoscope_query::{
    DurationCache, Progress, QueryError, RecentView, StoreLocation, StoreView,
};
use error::ApiError;
use parameters::Path;
use running::Running;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use utoipa::OpenApi;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[cfg(test)]
pub(crate) use now::LimitKind;
pub(crate) use now::{Judgement, LimitReport, Watch};

/// Path prefix of the API.
const PREFIX: &str = "/api/v1";

/// Greatest age of a cached view of the store.
const RECENT: Duration = Duration::from_secs(1);

/// State from which the API answers. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    /// Destination of rows from outside, which also knows the agents that deliver them; `None` where
    /// the server takes none.
    pub(crate) ingest: Option<Ingest>,
    /// Held by a deletion or an import: one at a time.
    pub(crate) changing: Arc<Mutex<()>>,
    /// The stored transactions.
    pub(crate) source: StoreLocation,
    /// The folder whose collector's status is reported.
    pub(crate) data_dir: Arc<PathBuf>,
    /// The folder of this host's rings.
    pub(crate) rings: Arc<PathBuf>,
    /// The agents that are asked about the rings of their hosts.
    pub(crate) agent_rings: Arc<AgentRings>,
    /// The folder of the runs that `chronoscope track` keeps.
    pub(crate) runs: Arc<PathBuf>,
    /// Limits for the live view.
    pub(crate) limits: Arc<[Limit]>,
    /// All collectors before the cluster that the store is; `None` where it is files.
    pub(crate) collectors: Option<Arc<Collectors>>,
    /// The rules and their alarms.
    pub(crate) rules: Arc<RuleWatch>,
    /// Marks and named views.
    pub(crate) annotations: Arc<StoreAnnotations>,
    /// Other stores by name, to compare with.
    pub(crate) others: Arc<BTreeMap<String, StoreLocation>>,
    /// The cached view of the store, at most [`RECENT`] old.
    pub(crate) recent: Arc<RecentView>,
    /// Counts of the rows as they come.
    pub(crate) metrics: Arc<Follower>,
    /// State of the live view between requests.
    pub(crate) watch: Arc<now::Watch>,
    /// Questions in progress.
    pub(crate) running: Arc<Running>,
    /// Cache of the durations that earlier questions found.
    pub(crate) durations: Arc<DurationCache>,
    /// Profiles of runs that were read last.
    pub(crate) profiles: Arc<profile_cache::ProfileCache>,
}

impl Api {
    /// The API of a server.
    pub(crate) fn new(
        options: &ServerOptions,
        rules: RuleWatch,
        collectors: Option<Arc<Collectors>>,
    ) -> Self {
        let files = || StoreLocation::Files(options.data_dir.clone());
        let source = options.source.clone().unwrap_or_else(files);
        data::remove_left(&options.data_dir);
        let others = options.compare.iter();
        let limits: Arc<[Limit]> = options.limits.as_slice().into();
        let others = others.map(|(name, dir)| (name.clone(), StoreLocation::Files(dir.clone())));
        Self {
            ingest: options.ingest.clone(),
            changing: Arc::default(),
            source: source.clone(),
            data_dir: Arc::new(options.data_dir.clone()),
            rings: Arc::new(options.rings.clone()),
            agent_rings: Arc::default(),
            runs: Arc::new(options.runs.clone()),
            metrics: match (&collectors, &options.ingest) {
                (Some(_), Some(ingest)) => Follower::of_ingest(ingest, limits.clone()),
                _ => Follower::start(options.data_dir.clone(), limits.clone()),
            },
            limits,
            rules: Arc::new(rules),
            annotations: Arc::new(StoreAnnotations::of(&source)),
            others: Arc::new(others.collect()),
            recent: Arc::default(),
            watch: Arc::default(),
            running: Arc::default(),
            durations: Arc::default(),
            profiles: Arc::default(),
            collectors,
        }
    }

    /// What all collectors before the cluster say; `None` where the store is files.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub(crate) fn everybody(&self) -> Result<Option<Arc<Everybody>>, ApiError> {
        let read = self.collectors.as_ref().map(|collectors| collectors.everybody());
        read.transpose().map_err(|error| QueryError::from(error).into())
    }

    /// The status of the collector, or of all collectors before the cluster together; `None` where
    /// none has reported.
    ///
    /// # Errors
    /// When the file cannot be read, or the cluster does not answer.
    pub(crate) fn collector_status(&self) -> Result<Option<CollectorStatus>, ApiError> {
        match self.everybody()? {
            Some(everybody) => Ok(Some(everybody.status(chronoscope_clock::utc_now_ns()))),
            None => CollectorStatus::read(&self.data_dir).map_err(ApiError::failed),
        }
    }

    /// Whether spans of OpenTelemetry have come, which are later than rows of our recorder.
    pub(crate) fn has_spans(&self) -> bool {
        match &self.collectors {
            None => self.metrics.has_spans(),
            // What is not known is waited for.
            Some(collectors) => collectors.everybody().map_or(true, |all| all.has_spans()),
        }
    }

    /// Answers a question off the server's threads, in its turn and under its name.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        id: Option<String>,
        work: impl FnOnce(&Self, &Progress) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Json<T>, ApiError> {
        let api = self.clone();
        let run = self.running.clone().run(id, "segments", move |progress| work(&api, progress));
        run.await.map(Json)
    }
}

impl Api {
    /// Asks a view of the store that is at most [`RECENT`] old; `ask` receives the view's time. A
    /// page asks several questions at a time and repeats the live ones: this reads the log once for
    /// all of them.
    ///
    /// Must be called within the server's runtime.
    pub(crate) fn recently<T>(
        &self,
        ask: impl FnMut(&StoreView, i64) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        let answer = self.recent.with(&self.source, RECENT, ask);
        let recent = self.recent.clone();
        tokio::spawn(async move {
            tokio::time::sleep(RECENT).await;
            recent.let_go(RECENT);
        });
        answer
    }
}

/// Answers a quick question off the server's threads, without a turn.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<Json<T>, ApiError> {
    let answer = tokio::task::spawn_blocking(work).await;
    answer.unwrap_or_else(|panic| Err(ApiError::failed(panic))).map(Json)
}

/// Title and description of the OpenAPI document; its paths come from the handlers.
#[derive(OpenApi)]
#[openapi(
    info(title = "Chronoscope", description = "How long things take: the API of the page."),
    servers((url = "/api/v1")),
    security(("token" = [])),
    // Types that appear only in parameters: the handlers' answers do not refer to them.
    components(schemas(
        profile_kind::ProfileKind,
        questions::chains::ChainOrder,
        questions::contrast::ContrastOf,
        selection::ClockChoice,
        selection::DurationKind,
        worst::WorstOrder
    ))
)]
struct Document;

fn documented() -> OpenApiRouter<Api> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(status::status))
        .routes(routes!(stored::classes))
        .routes(routes!(stored::paths))
        .routes(routes!(attributes::names))
        .routes(routes!(attributes::values))
        .routes(routes!(chain::chain))
        .routes(routes!(chain::perfetto))
        .routes(routes!(graph::graph))
        .routes(routes!(worst::worst))
        .routes(routes!(now::now))
        .routes(routes!(rules::rules))
        .routes(routes!(rules::acknowledge))
        .routes(routes!(rules::silence))
        .routes(routes!(marks::marks, marks::note_mark))
        .routes(routes!(marks::remove_mark))
        .routes(routes!(marks::versions))
        .routes(routes!(named_views::named_views, named_views::name_view))
        .routes(routes!(named_views::remove_view))
        .routes(routes!(data::data))
        .routes(routes!(data::content))
        .routes(routes!(data::delete))
        .routes(routes!(data::import))
        .routes(routes!(hosts::hosts))
        .routes(routes!(runs::runs))
        .routes(routes!(runs::history))
        .routes(routes!(runs::difference))
        .routes(routes!(profiles::flame))
        .routes(routes!(profiles::function))
        .routes(routes!(profiles::firefox_profile))
        .routes(routes!(rings::rings))
        .routes(routes!(rings::ring))
        .routes(routes!(asked::progress, asked::cancel))
        .merge(questions::routes())
}

/// The OpenAPI document of the API, as `GET /api/v1/openapi.json` gives it.
///
/// # Errors
/// When it cannot be written as JSON, which would be a bug here.
pub fn openapi() -> Result<String, serde_json::Error> {
    let mut document = documented().into_openapi();
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
    let scheme = scheme.description(Some("Only where `serve` was given a token.")).build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(scheme));
    components.schemas.values_mut().for_each(require_nullable);
    document.paths.paths.values_mut().for_each(describe_refusals);
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// Refusals that precede the API's handlers.
const REFUSALS: [(&str, &str); 3] = [
    ("401", "the token is missing or wrong"),
    ("403", "the token may not read; or a page of another origin asks for a change"),
    (
        "421",
        "no token is sent, and the requested host name is not one of this server's \
      (`--allow-host`)",
    ),
];

/// Adds [`REFUSALS`] to the responses of an address.
fn describe_refusals(item: &mut PathItem) {
    let PathItem { get, put, post, delete, options, head, patch, trace, .. } = item;
    let operations = [get, put, post, delete, options, head, patch, trace];
    for operation in operations.into_iter().flatten() {
        let responses = &mut operation.responses.responses;
        for (status, words) in REFUSALS {
            let body = Content::new(Some(Ref::from_schema_name("ErrorBody")));
            let refusal = ResponseBuilder::new().description(words);
            let refusal = refusal.content("application/json", body).build();
            responses.insert(status.to_owned(), RefOr::T(refusal));
        }
    }
}

/// Marks nullable fields as required, which the macros do not: serde omits a field only on request,
/// and an omitted field is never null.
fn require_nullable(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = schema else { return };
    let nullable = object.properties.iter().filter(|(_, property)| may_be_null(property));
    let more: Vec<_> = nullable.map(|(name, _)| name.clone()).collect();
    object.required.extend(more);
}

/// True when a schema allows `null`.
fn may_be_null(schema: &RefOr<Schema>) -> bool {
    let kind = match schema {
        RefOr::T(Schema::Object(object)) => &object.schema_type,
        RefOr::T(Schema::Array(array)) => &array.schema_type,
        RefOr::T(Schema::OneOf(either)) => return either.items.iter().any(may_be_null),
        _ => return false,
    };
    match kind {
        SchemaType::Type(kind) => *kind == Type::Null,
        SchemaType::Array(kinds) => kinds.contains(&Type::Null),
        SchemaType::AnyValue => false,
    }
}

/// All routes of the API. All except its description need a token.
pub(crate) fn routes(api: Api, guard: Guard) -> Router {
    let (answered, _) = documented().split_for_parts();
    let answered = answered
        .fallback(async || {
            ApiError::missing("nothing is served at this path")
                .hint("/api/v1/openapi.json lists all paths")
        })
        .method_not_allowed_fallback(async || ApiError::method())
        .layer(middleware::from_fn_with_state(guard, access::check))
        .with_state(api);
    // Generated once: it is read without a token, and generating it takes milliseconds.
    let document = Arc::new(openapi().map(Bytes::from));
    let described = async move || match &*document {
        Ok(text) => Ok(([(header::CONTENT_TYPE, "application/json")], text.clone())),
        Err(error) => Err(ApiError::failed(error)),
    };
    let router = Router::new().route("/openapi.json", axum::routing::get(described));
    Router::new().nest(PREFIX, router.merge(answered))
}
