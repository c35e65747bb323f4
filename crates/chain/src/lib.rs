//! Pure functions on chains: what a chain's rows say about how long things took.
//!
//! No I/O, no clock: rows come in as [`Hop`]s and leave as durations. [`Linker`] finds out who is
//! whose parent; [`Assembler`] gives every row its path, level and root start; [`Evaluator`] finds
//! the durations that a [`Selection`] asks for and counts what it could not use; [`arrivals`] says
//! which roots reached a leaf, and of which that cannot be said;
//! [`Distribution`], [`Verdict`] and [`Split`] say what the durations are like, [`Contrast`] how two
//! sets of them differ.
//!
//! ```
//! use chronoscope_chain::{Assembler, Evaluator, Hop, LeafLevel, Paths, Selection};
//! use chronoscope_model::{ClassId, TransactionId};
//!
//! let plots = ClassId::of("MRTS", "decodePlots");
//! let redraw = ClassId::of("CWP", "TargetView_redraw");
//! let hops = [
//!     Hop { id: TransactionId(1), parent: TransactionId(0), class: plots, start_ns: 100, elapsed_ns: 10 },
//!     Hop { id: TransactionId(2), parent: TransactionId(1), class: redraw, start_ns: 150, elapsed_ns: 30 },
//! ];
//! let (mut assembler, mut paths) = (Assembler::default(), Paths::default());
//! let chain = assembler.assemble(&hops, |_| None, &mut paths);
//! let mut evaluator = Evaluator::new(Selection {
//!     roots: [plots].into(),
//!     leaves: Some([redraw].into()),
//!     level: LeafLevel::Exactly(1),
//!     root_start_ns: i64::MIN..i64::MAX,
//! });
//! let mut durations = Vec::new();
//! evaluator.acpd(&chain, &paths, |found| durations.push(found.duration_ns));
//! assert_eq!(durations, [80]); // (150 − 100) + 30
//! ```
//!
//! **Synchronous duration**: a transaction's own elapsed time. **APCD(root)** = (start + elapsed
//! of the leaf that starts last) − start(root).
//! **ACPD(root, leaf)** = (start(leaf) − start(root)) plus
//! elapsed(leaf), one value per leaf. The root may be an inner transaction and the "leaf" need
//! not be childless. [`evaluate`] says what happens where rows are missing or clocks disagree.
//!
//! Limits: a chain has fewer than 2³² − 2 rows and fits in memory; times are raw
//! stamps, unless the caller corrects them ([`ClockTrack`], [`ClockShift`]). Not here: reading rows
//! (`store`).
//!
//! # Where to look
//!
//! * verdicts, and roots that are missing or unknown: [`arrivals`], `docs/glossary.md`
//!   ("Arrivals")
//! * durations across hosts with different clocks: `clocks.rs`, `crossing.rs`, `docs/clocks.md`
//! * chains whose rows are still coming in: [`live`]
//! * transactions with several parents: [`fan_in`], `docs/glossary.md` ("Fan-in")
//! * the cause of slow chains: `contrast.rs`, and beside the path: `inner.rs`

pub mod arrivals;
mod assemble;
mod attributes;
mod clocks;
mod contrast;
mod crossing;
mod distribution;
pub mod evaluate;
pub mod fan_in;
mod hop;
mod inner;
pub mod links;
pub mod live;
mod paths;
mod runs;
mod select;
mod split;
mod status;
mod tree;

pub use assemble::{Assembler, CarriedAncestors, Chain, LastLeaves, Standing};
pub use attributes::{
    AttributeError, AttributeFilter, AttributeKey, AttributePlace, AttributeSelection,
    AttributeTest, BY_MAX, FILTERS_MAX,
};
pub use clocks::{
    ClockEstimate, ClockKnot, ClockSpan, ClockTrack, DRIFT_MAX_PPB, Dropped, KNOTS_MAX,
};
pub use contrast::{
    Contrast, HopPath, HostContrast, PartContrast, PartKind, PartName, PartSide, PathHop,
};
pub use crossing::{ClockShift, Crossings, SHARE_UNITS, Shortest};
pub use distribution::{
    Distribution, Population, QUANTILES, Requirement, Thousands, Verdict, VerdictState, sort,
};
pub use evaluate::{ChainDuration, Counts, Evaluator, Meaning, Negative, Selection};
pub use hop::Hop;
pub use inner::{InnerContrast, InnerTime, inner_times};
pub use links::{ChainPosition, Linker};
pub use paths::{PathIndex, Paths};
pub use runs::{
    ChainRows, HostIndex, Hosts, Partition, ROW_BYTES, RowAttributes, Run, cuts, merge,
    merge_between,
};
pub use select::{ClassSelector, LeafLevel, steps_to_root};
pub use split::{HopTimes, PartStatistics, Split, split};
pub use status::ChainStatus;
pub use tree::in_tree_order;
