//! Answers about profiles: a tree of calls, and a function with its callers and callees.

use chronoscope_track::flame::{self, CallTree, MeasuredProfile, TreeLimits};
use serde::Serialize;
use utoipa::ToSchema;

/// Bounds of the tree that the page draws.
pub(super) const TREE: TreeLimits =
    TreeLimits { share_min: 2e-4, frames_max: 8000, depth_max: 200 };
/// Callers and callees of a function that are sent, each.
const CALLS_MAX: usize = 500;

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

/// The answer of one profile.
pub(super) fn one(profile: &MeasuredProfile) -> Flame {
    let tree = profile.tree(TREE);
    let flame = answer(profile, &tree, |[cost]| (cost, None));
    Flame { total_before: None, ..flame }
}

/// The answer of a profile beside one before.
pub(super) fn two(profile: &MeasuredProfile, tree: &CallTree<2>) -> Flame {
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
