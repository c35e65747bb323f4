//! `GET /profiles/flame`, `/profiles/function`, `/profiles/firefox`: the profiles that runs kept.
//!
//! A profile is read in a question's turn and bounded ([`LIMITS`]); the last ones stay in memory, so
//! that walking from function to function does not read the file each time.

use super::Api;
use super::error::{ApiError, ErrorBody};
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
    self, CallTree, FunctionName, MeasuredProfile, TreeLimits, calls, find,
};
use chronoscope_track::run::{ProfileKind as Kind, Record};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use utoipa::{IntoParams, ToSchema};

/// Bounds of a profile that the server reads: a quarter of what the command line reads.
const LIMITS: Limits =
    Limits { line_bytes: 1 << 20, name_bytes: 128 << 20, counts: 4 << 20, events: 64 };
/// Bounds of the tree that the page draws.
const TREE: TreeLimits = TreeLimits { share_min: 2e-4, frames_max: 8000, depth_max: 200 };
/// Profiles that stay in memory: those of a difference, and the ones before.
const CACHED: usize = 4;
/// Largest profile that stays in memory: functions, places and calls.
const CACHED_ENTRIES_MAX: usize = 1 << 20;
/// Callers and callees of a function that are sent, each.
const CALLS_MAX: usize = 500;

/// The profiles that were read last.
#[derive(Debug, Default)]
pub(crate) struct ProfileCache(Mutex<Vec<(CacheKey, Arc<MeasuredProfile>)>>);

/// What a cached profile is of. A stored run does not change, and has its start in its key, in case
/// another of that name replaces it.
type CacheKey = (PathBuf, i64, String, Option<Kind>, Option<String>);

impl ProfileCache {
    fn get(&self, key: &CacheKey) -> Option<Arc<MeasuredProfile>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == key)?;
        let found = all.remove(at);
        let profile = found.1.clone();
        all.push(found); // used last
        Some(profile)
    }

    fn put(&self, key: CacheKey, profile: &Arc<MeasuredProfile>) {
        if profile.entry_count() > CACHED_ENTRIES_MAX {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((key, profile.clone()));
        if all.len() > CACHED {
            all.remove(0);
        }
    }
}

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

/// A profile as a tree of calls.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Flame {
    /// The event that costs are counts of.
    event: String,
    /// All events of the profile.
    events: Vec<String>,
    /// Whether costs of frames are of whole sampled stacks; else the cost of a function is divided
    /// among its callers as the costs of their calls are.
    stacks: bool,
    /// Cost of everything.
    total: u64,
    /// Cost of everything in the run before.
    total_before: Option<u64>,
    /// Number of functions of the profile; those of frames are in `functions`.
    function_count: usize,
    functions: Vec<FlameFunction>,
    /// The frames, callers before callees; the first is the root and stands for no function.
    frames: Vec<FlameFrame>,
}

/// A function, with its exact costs over all paths.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct FlameFunction {
    name: String,
    /// Last part of the path of its file; empty when not known.
    file: String,
    /// Last part of the path of its program or library.
    object: String,
    /// Spent in itself.
    own: u64,
    /// Spent in itself and below; of a member of a cycle, a lower bound.
    inclusive: u64,
    /// Spent in itself, in the run before.
    own_before: Option<u64>,
    /// Spent in itself and below, in the run before.
    inclusive_before: Option<u64>,
    /// Whether it calls itself through others.
    in_cycle: bool,
}

/// A function on one path of calls.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct FlameFrame {
    /// Index of its function; null for the root.
    function: Option<usize>,
    /// Index of its caller's frame; null for the root.
    parent: Option<usize>,
    /// Spent in the function and below it on this path.
    inclusive: u64,
    /// Spent in the function itself on this path.
    own: u64,
    /// Spent below it in paths that are too cheap to be sent.
    left_out: u64,
    /// Spent on this path in the run before.
    inclusive_before: Option<u64>,
    /// Spent in the function itself on this path in the run before.
    own_before: Option<u64>,
}

/// A function with its callers and callees.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RunFunction {
    event: String,
    name: String,
    /// Last part of the path of its file; empty when not known.
    file: String,
    /// Last part of the path of its program or library.
    object: String,
    /// Spent in itself.
    own: u64,
    /// Spent in itself and below; of a member of a cycle, a lower bound.
    inclusive: u64,
    /// Number of calls by other functions; of sampled stacks, number of samples with such a call.
    calls: u64,
    /// Cost of the whole profile.
    total: u64,
    /// Members of the cycle that it is in; empty outside of cycles.
    cycle: Vec<String>,
    /// Its callers, the most expensive calls first; recursive ones last.
    callers: Vec<FunctionCall>,
    /// Its callees, likewise.
    callees: Vec<FunctionCall>,
    /// Its most expensive source lines.
    lines: Vec<FunctionLine>,
}

/// Calls of a function, or by it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct FunctionCall {
    name: String,
    /// Last part of the path of its file; empty when not known.
    file: String,
    /// Last part of the path of its program or library.
    object: String,
    /// Number of calls; of sampled stacks, number of samples.
    calls: u64,
    /// Cost of the calls with all below.
    inclusive: u64,
    /// Whether the calls stay within a cycle: their cost has the same instructions once per level.
    recursive: bool,
}

/// The own cost of a source line.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct FunctionLine {
    file: String,
    /// Number of the line; 0 when unknown.
    line: u32,
    own: u64,
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
    let profile = record
        .measured(&which.process, kind, which.event.as_deref(), LIMITS)
        .map_err(ApiError::failed)?;
    let profile = Arc::new(profile.ok_or_else(|| {
        ApiError::missing(format!("the run {run} kept no such profile of {:?}", which.process))
            .hint("/runs lists the kept profiles; `track run --method callgrind` or --stacks keeps one")
    })?);
    api.profiles.put(key, &profile);
    Ok((record, profile))
}

fn one(profile: &MeasuredProfile) -> Flame {
    let tree = profile.tree(TREE);
    let flame = answer(profile, &tree, |[cost]| (cost, None));
    Flame { total_before: None, ..flame }
}

fn two(profile: &MeasuredProfile, tree: &CallTree<2>) -> Flame {
    answer(profile, tree, |[before, after]| (after, Some(before)))
}

/// The answer of a tree; `sides` gives the cost, and that in the run before.
fn answer<const N: usize>(
    profile: &MeasuredProfile,
    tree: &CallTree<N>,
    sides: impl Fn([u64; N]) -> (u64, Option<u64>),
) -> Flame {
    // Only the functions of frames are sent, with numbers of their own.
    let mut numbers = vec![None; tree.functions.len()];
    let mut functions = Vec::new();
    let frames = tree.frames.iter().map(|frame| {
        let function = frame.function.map(|index| {
            *numbers[index].get_or_insert_with(|| {
                let found = &tree.functions[index];
                let (own, own_before) = sides(found.own);
                let (inclusive, inclusive_before) = sides(found.inclusive);
                functions.push(FlameFunction {
                    name: found.name.clone(),
                    file: found.file.clone(),
                    object: found.object.clone(),
                    own,
                    inclusive,
                    own_before,
                    inclusive_before,
                    in_cycle: found.in_cycle,
                });
                functions.len() - 1
            })
        });
        let (inclusive, inclusive_before) = sides(frame.inclusive);
        let (own, own_before) = sides(frame.own);
        let (left_out, _) = sides(frame.left_out);
        let parent = frame.parent;
        FlameFrame { function, parent, inclusive, own, left_out, inclusive_before, own_before }
    });
    let frames = frames.collect();
    let (total, total_before) = sides(tree.total());
    Flame {
        event: tree.event.clone(),
        events: profile.events.clone(),
        stacks: profile.has_stacks(),
        total,
        total_before,
        function_count: tree.functions.len(),
        functions,
        frames,
    }
}

impl From<flame::FunctionCalls> for RunFunction {
    fn from(found: flame::FunctionCalls) -> Self {
        let calls = |calls: Vec<flame::CallShare>| {
            let calls = calls.into_iter().take(CALLS_MAX).map(|call| FunctionCall {
                name: call.name,
                file: call.file,
                object: call.object,
                calls: call.calls,
                inclusive: call.inclusive,
                recursive: call.recursive,
            });
            calls.collect()
        };
        let lines = found.lines.into_iter();
        Self {
            event: found.event,
            name: found.name,
            file: found.file,
            object: found.object,
            own: found.own,
            inclusive: found.inclusive,
            calls: found.calls,
            total: found.total,
            cycle: found.cycle,
            callers: calls(found.callers),
            callees: calls(found.callees),
            lines: lines
                .map(|line| FunctionLine { file: line.file, line: line.line, own: line.own })
                .collect(),
        }
    }
}
