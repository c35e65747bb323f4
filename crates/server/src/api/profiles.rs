//! `GET /profiles/flame`, `/profiles/function`, `/profiles/firefox`: the profiles that runs kept.
//!
//! A profile is read in a question's turn and bounded ([`LIMITS`]); the last ones stay in memory, so
//! that walking from function to function does not read the file each time.

use super::Api;
use super::error::{ApiError, ErrorBody};
use super::flame_answer::{Flame, RunFunction, TREE, one, two};
use super::parameters::{PlainParameters, QuestionName};
use super::profile_kind::ProfileKind;
use super::runs::run_of;
use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use chronoscope_track::callgrind::Limits;
use chronoscope_track::flame::firefox::{self, About};
use chronoscope_track::flame::{
    FunctionName, MeasuredProfile, ReadProfileError, TreeLimits, calls, find,
};
use chronoscope_track::run::{ProfileKind as Kind, Record, RecordError};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// Bounds of a profile that the server reads: a quarter of what the command line reads.
const LIMITS: Limits =
    Limits { line_bytes: 1 << 20, name_bytes: 128 << 20, counts: 4 << 20, events: 64 };

/// Selection of a profile.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ProfileSelection {
    /// The id of the run.
    run: String,
    /// The process, as in the run's `profiles`.
    process: String,
    /// Counted calls or sampled stacks; calls by default, where they were kept.
    of: Option<ProfileKind>,
    /// The event that costs are counts of; the profile's first by default.
    event: Option<String>,
    /// The id of a run before, to compare with.
    before: Option<String>,
}

/// Selection of a function.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FunctionSelection {
    /// The id of the run.
    run: String,
    /// The process, as in the run's `profiles`.
    process: String,
    /// Counted calls or sampled stacks; calls by default, where they were kept.
    of: Option<ProfileKind>,
    /// The event that costs are counts of; the profile's first by default.
    event: Option<String>,
    /// Name of the function.
    function: String,
    /// Last part of the path of its file, where several functions have that name.
    file: Option<String>,
    /// Last part of the path of its program or library, where several functions have that name.
    object: Option<String>,
}

/// A profile of a run as a tree of calls, beside that of another run.
#[utoipa::path(get, path = "/profiles/flame", tag = "runs", params(ProfileSelection, QuestionName),
    responses((status = 200, body = Flame), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 500, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn flame(
    State(api): State<Api>,
    PlainParameters { id, own: which }: PlainParameters<ProfileSelection>,
) -> Result<Json<Flame>, ApiError> {
    api.ask(id, move |api, _| {
        let (_, profile) = read(api, &which.run, &which)?;
        match &which.before {
            None => Ok(one(&profile)),
            Some(before) => {
                let (_, before) = read(api, before, &which)?;
                let tree = before.tree_with(&profile, TREE).map_err(ApiError::question)?;
                Ok(two(&profile, &tree))
            }
        }
    })
    .await
}

/// A function of a run's profile with its callers and callees.
#[utoipa::path(get, path = "/profiles/function", tag = "runs", params(FunctionSelection, QuestionName),
    responses((status = 200, body = RunFunction), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 500, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn function(
    State(api): State<Api>,
    PlainParameters { id, own: which }: PlainParameters<FunctionSelection>,
) -> Result<Json<RunFunction>, ApiError> {
    api.ask(id, move |api, _| {
        let FunctionSelection { run, process, of, event, function, file, object } = which;
        let selection = ProfileSelection { run: run.clone(), process, of, event, before: None };
        let (_, profile) = read(api, &run, &selection)?;
        let name = FunctionName { name: function, file, object };
        let found = find(&profile.graph, &name).map_err(ApiError::missing)?;
        Ok(calls(&profile.graph, &profile.event, found).into())
    })
    .await
}

/// A profile of a run for the Firefox Profiler: its processed profile format.
#[utoipa::path(get, path = "/profiles/firefox", tag = "runs", params(ProfileSelection, QuestionName),
    responses((status = 200, body = Object, content_type = "application/json"),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn firefox_profile(
    State(api): State<Api>,
    PlainParameters { id, own: which }: PlainParameters<ProfileSelection>,
) -> Result<Response, ApiError> {
    let run = which.run.clone();
    let Json(text) = api
        .ask(id, move |api, _| {
            if which.before.is_some() {
                return Err(ApiError::question("a difference has no Firefox profile")
                    .hint("ask without `before`"));
            }
            let (record, profile) = read(api, &which.run, &which)?;
            let about = About {
                name: format!("{} {}", which.process, record.title()),
                started_ms: record.started_ns / 1_000_000,
            };
            let tree = profile.tree(TreeLimits::default());
            firefox::profile(&tree, &about).map_err(ApiError::failed)
        })
        .await?;
    // The id is that of a stored run, and a folder's name; only safe letters go into a header.
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let run: String = run.chars().map(safe).collect();
    let name = format!("attachment; filename=\"profile-{run}.json\"");
    let headers = [(CONTENT_TYPE, "application/json".to_owned()), (CONTENT_DISPOSITION, name)];
    Ok((headers, text).into_response())
}

/// The profile of a run.
fn read(
    api: &Api,
    run: &str,
    which: &ProfileSelection,
) -> Result<(Record, Arc<MeasuredProfile>), ApiError> {
    let record = run_of(&api.runs, run)?;
    let kind = which.of.map(Kind::from);
    let key = (
        record.folder.clone(),
        record.started_ns,
        which.process.clone(),
        kind,
        which.event.clone(),
    );
    if let Some(profile) = api.profiles.get(&key) {
        return Ok((record, profile));
    }
    let profile =
        record.measured(&which.process, kind, which.event.as_deref(), LIMITS).map_err(|error| {
            match error {
                RecordError::Measured(ReadProfileError::Graph(_)) => ApiError::question(error),
                error => ApiError::failed(error),
            }
        })?;
    let profile = Arc::new(profile.ok_or_else(|| {
        ApiError::missing(format!("the run {run} kept no such profile of {:?}", which.process))
            .hint("/runs lists the kept profiles; `track run --method callgrind` or --stacks keeps one")
    })?);
    api.profiles.put(key, &profile);
    Ok((record, profile))
}
