//! What is answered where.

use crate::{metrics, views};
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chronoscope_collect::Status;
use chronoscope_formats::json;
use chronoscope_store::ask::{ClassSelector, Kind, Level, Limits, Question, ask};
use chronoscope_store::{Snapshot, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::future::IntoFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{Semaphore, oneshot};

/// How often a question is asked again because the store removed a file meanwhile.
const TRIES: usize = 3;

#[derive(Clone)]
struct Store {
    data_dir: PathBuf,
    one_at_a_time: Arc<Semaphore>,
}

/// Answers until `stopped`.
pub(crate) async fn serve(
    listener: std::net::TcpListener,
    data_dir: PathBuf,
    stopped: oneshot::Receiver<()>,
) {
    let store = Store { data_dir, one_at_a_time: Arc::new(Semaphore::new(1)) };
    let routes = Router::new()
        .route("/status", get(status))
        .route("/metrics", get(prometheus))
        .route("/chains", get(chains))
        .fallback(async || refuse(StatusCode::NOT_FOUND, "see /status, /metrics, /chains"))
        .with_state(store);
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return eprintln!("the HTTP side cannot start: {error}"),
    };
    tokio::select! {
        ended = axum::serve(listener, routes).into_future() => {
            if let Err(error) = ended {
                eprintln!("the HTTP side ended: {error}");
            }
        }
        _ = stopped => {}
    }
}

fn refuse(status: StatusCode, what: impl std::fmt::Display) -> Response {
    (status, Json(json!({ "error": what.to_string() }))).into_response()
}

async fn status(State(store): State<Store>) -> Response {
    match Status::read(&store.data_dir) {
        Ok(Some(status)) => Json(status).into_response(),
        Ok(None) => refuse(StatusCode::SERVICE_UNAVAILABLE, "the collector said nothing yet"),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
    }
}

async fn prometheus(State(store): State<Store>) -> Response {
    match Status::read(&store.data_dir) {
        Ok(status) => {
            let page = metrics::page(&status.unwrap_or_default());
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], page).into_response()
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
    from_ns: Option<i64>,
    until_ns: Option<i64>,
    #[serde(default)]
    split: bool,
}

impl Parameters {
    fn question(self) -> Result<Question, &'static str> {
        let level = match self.level.as_deref() {
            None | Some("any") => Level::Any,
            Some(number) => Level::Exactly(number.parse().map_err(|_| "level: a number or any")?),
        };
        let (kind, root) = match (self.root, self.sync, self.apcd) {
            (Some(root), None, true) => (Kind::Apcd, root),
            (Some(root), None, false) => (Kind::Acpd, root),
            (None, Some(class), false) => (Kind::Sync, class),
            _ => return Err("root and leaf, root and apcd=true, or sync are needed"),
        };
        Ok(Question {
            kind,
            root: ClassSelector(root),
            leaf: self.leaf.map(ClassSelector),
            level,
            start_ns: self.from_ns.unwrap_or(i64::MIN)..self.until_ns.unwrap_or(i64::MAX),
            limit_ns: self.limit_ns,
            split: self.split && kind == Kind::Acpd,
            points: false,
        })
    }
}

async fn chains(State(store): State<Store>, Query(parameters): Query<Parameters>) -> Response {
    let question = match parameters.question() {
        Ok(question) => question,
        Err(what) => return refuse(StatusCode::BAD_REQUEST, what),
    };
    let Ok(_turn) = store.one_at_a_time.acquire().await else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "the server ends");
    };
    let answered = tokio::task::spawn_blocking(move || answer(&store.data_dir, &question));
    match answered.await {
        Ok(Ok(value)) => Json(value).into_response(),
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
    }
}

fn answer(data_dir: &Path, question: &Question) -> Result<Value, StoreError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match ask(&Snapshot::open(data_dir)?, question, &Limits::default()) {
            Err(error) if error.is_missing() && tries < TRIES => {}
            Err(error) => return Err(error),
            Ok(answer) => return Ok(json::document("chains", views::answer(&answer))),
        }
    }
}
