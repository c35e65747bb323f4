//! Differences between two profiles.

use super::matching::Same;
use serde::Serialize;

/// Event to compare, and smallest change to report.
#[derive(Clone, Debug)]
pub struct Options {
    /// The event.
    pub event: String,
    /// Changes up to this part of the total before are not reported: 1e-5 (10 ppm) for a serialised
    /// program, 5e-4 for one with threads.
    pub floor: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { event: "Ir".to_owned(), floor: 1e-5 }
    }
}

/// A cost in both profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CostChange {
    /// Cost in the first profile.
    pub before: u64,
    /// Cost in the second profile.
    pub after: u64,
}

impl CostChange {
    /// After minus before.
    pub fn delta(&self) -> i128 {
        i128::from(self.after) - i128::from(self.before)
    }

    /// The difference as a part of `whole`, or of 1 when that is 0.
    pub fn share_of(&self, whole: u64) -> f64 {
        self.delta() as f64 / whole.max(1) as f64
    }
}

/// Presence of a function in the two profiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FunctionPresence {
    /// In both profiles.
    Kept(Same),
    /// Only in the first profile, and its lines are nowhere in the second.
    Gone,
    /// Only in the second profile.
    New,
    /// Only in the first profile; its callers now contain its lines.
    Inlined,
    /// Only in the second profile; its callers contained its lines before.
    OutOfLine,
}

/// A function whose own or inclusive cost changed.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionChange {
    /// The function's name; the one after the change where there are two.
    pub name: String,
    /// The name before, when it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_before: Option<String>,
    /// Last part of the path of its file.
    pub file: String,
    /// Last part of the path of its program or library.
    pub object: String,
    /// Presence on the two sides.
    pub fate: FunctionPresence,
    /// Own cost. Cost that moved by inlining is booked on the function that was inlined.
    pub own: CostChange,
    /// Own cost as Callgrind booked it.
    pub own_booked: CostChange,
    /// Own cost plus that of the functions it calls; a lower bound for one that calls itself
    /// through others.
    pub inclusive: CostChange,
    /// Number of calls by other functions.
    pub calls: CostChange,
    /// Part of a cycle of several functions, on either side.
    pub in_cycle: bool,
    /// The way to it: its dearest caller, that one's, and so on to the root.
    pub chain: Vec<String>,
}

/// A call whose inclusive cost changed.
#[derive(Clone, Debug, Serialize)]
pub struct CallChange {
    /// The calling function.
    pub caller: String,
    /// The called function.
    pub callee: String,
    /// Number of calls.
    pub calls: CostChange,
    /// Inclusive cost of the calls.
    pub inclusive: CostChange,
}

/// A source line whose own cost changed, of a function that changed.
#[derive(Clone, Debug, Serialize)]
pub struct LineChange {
    /// The function that the code is in.
    pub function: String,
    /// Last part of the path of the file that the code is written in.
    pub file: String,
    /// Line number before; `None` when the line is new.
    pub line_before: Option<u32>,
    /// Line number after; `None` when the line was removed.
    pub line_after: Option<u32>,
    /// Own cost of the line.
    pub own: CostChange,
}

/// A function that was inlined, or no longer is.
#[derive(Clone, Debug, Serialize)]
pub struct InlineChange {
    /// The function.
    pub name: String,
    /// True: it was inlined. False: it was, and is a function now.
    pub inlined: bool,
    /// Its own cost on the side where it is a function, and its callers' cost on its lines on the
    /// other side.
    pub own: CostChange,
    /// Functions that contain, or contained, its lines, with their cost on these lines.
    pub callers: Vec<(String, u64)>,
}

/// A cycle of functions whose cost changed, matched by its members.
#[derive(Clone, Debug, Serialize)]
pub struct CycleChange {
    /// Names of the members after.
    pub members: Vec<String>,
    /// Cost of all of them and below, counted once.
    pub inclusive: CostChange,
}

/// CPU time in the kernel, of the system calls of a function and of those that it called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SystemTime {
    /// The function's name.
    pub name: String,
    /// Last part of the path of its program or library.
    pub object: String,
    /// Number of system calls, its own and below.
    pub calls: CostChange,
    /// CPU time of its own system calls, ns.
    pub own_ns: CostChange,
    /// CPU time of its system calls and of those below, ns; a lower bound for one that calls itself
    /// through others.
    pub inclusive_ns: CostChange,
}

/// Differences between two profiles. Lists begin with the largest change.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// Version of this structure as JSON; grows when something changes its meaning.
    pub version: u32,
    /// The event.
    pub event: String,
    /// Total cost.
    pub total: CostChange,
    /// Changes up to this many events are not reported.
    pub floor: u64,
    /// Functions whose own or inclusive cost changed.
    pub functions: Vec<FunctionChange>,
    /// Calls whose inclusive cost changed.
    pub calls: Vec<CallChange>,
    /// Source lines whose own cost changed.
    pub lines: Vec<LineChange>,
    /// Functions that were inlined, or no longer are.
    pub inlined: Vec<InlineChange>,
    /// Functions that have another name, with their likeness, whether or not their cost moved.
    pub renamed: Vec<(String, String, f64)>,
    /// Cycles of several functions.
    pub cycles: Vec<CycleChange>,
    /// CPU time of all system calls, ns; 0 where a profile has none.
    pub system_ns: CostChange,
    /// Functions with their CPU time in the kernel, the most first, where both profiles have it
    /// (Callgrind's `sysCpuTime`). These are times: they differ from run to run.
    pub system: Vec<SystemTime>,
}

impl Diff {
    /// True when nothing moved by more than the floor.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.total.delta().unsigned_abs() <= u128::from(self.floor)
    }

    /// The differences as versioned JSON.
    ///
    /// # Errors
    /// None that a diff made here can cause.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}
