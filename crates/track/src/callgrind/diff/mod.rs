//! Differences between two profiles: by function, by call, by source line.
//!
//! Functions are matched ([`matching`](Same)) by name without compiler suffixes, then by
//! similarity. A function that became inlined, or is no longer, is found by its source lines, and
//! its cost is assigned to it as if it were still a function. A rename, an `inline` attribute or a
//! moved line is thus no change of cost.

mod changes;
mod comparison;
mod flame;
mod inlined;
mod lines;
mod matching;
mod system;
mod text;

pub use changes::{
    CallChange, CostChange, CycleChange, Diff, FunctionChange, FunctionPresence, InlineChange,
    LineChange, Options, SystemTime,
};
use comparison::Comparison;

use super::graph::{Graph, GraphError};
use super::profile::Profile;
pub(crate) use flame::paired;
pub use flame::{folded, svg};

pub use matching::{LIKENESS_MIN, Same};
pub use text::text;

/// Compares two profiles.
///
/// # Errors
/// [`GraphError`] when one of them did not count the event, or its sums exceed 64 bits.
pub fn diff(before: &Profile, after: &Profile, options: &Options) -> Result<Diff, GraphError> {
    let graphs = [Graph::of(before, &options.event)?, Graph::of(after, &options.event)?];
    let mut diff = Comparison::new(&graphs[0], &graphs[1], options).diff(options);
    (diff.system_ns, diff.system) = system::times([before, after])?;
    Ok(diff)
}
