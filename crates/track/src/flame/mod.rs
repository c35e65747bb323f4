//! Where a profile's cost is, by path of calls: a tree to draw, and single functions with their
//! callers and callees.
//!
//! Profiles come from Callgrind, which knows callers and not stacks (`arcs`), or are stacks that
//! `perf` sampled ([`read_perf_script`]). A [`CallTree`] has one profile, or two beside each other, which
//! [`MeasuredProfile::tree_with`] makes.
//!
//! Limits: a tree of a Callgrind profile divides the cost of a function among its callers as the
//! costs of their calls are.

pub(crate) mod arcs;
mod calls;
pub mod firefox;
mod measured;
mod perf_script;
pub(crate) mod picture;
mod stacks;
mod text;
pub(crate) mod tree;

pub use calls::{
    CallShare, FindError, FunctionCalls, FunctionName, LineCost, calls, calls_text, find,
};
pub use measured::{MeasuredProfile, ReadProfileError};
pub use perf_script::{StacksError, read_perf_script, write_perf_script};
pub use picture::svg;
pub use stacks::SampledEvent;
pub use text::{json, text};
pub use tree::{CallTree, Frame, TreeFunction, TreeLimits};
