//! Durations in graphs: transactions with several parents, across chains.
//!
//! A batch consumer, a join or a tracker takes several messages, each from a chain of its own. Its
//! record has one parent; the others are *links*. [`Graph::new`] joins the rows of all chains by
//! both; [`Graph::durations`] finds the durations that a [`Selection`](crate::Selection) asks for.
//!
//! Definitions (`docs/glossary.md`, "Fan-in"):
//! * Edges lead from a row to its parent and to the rows that it links to. A link to the parent, and
//!   a second link to the same row, count once.
//! * There is one duration for each distinct pair of a root and a leaf, however many ways lead from
//!   one to the other. At [`LeafLevel::Any`](crate::LeafLevel::Any) a root has no other transaction
//!   of the root's class above it; at [`LeafLevel::Exactly`](crate::LeafLevel::Exactly) some way has
//!   that number of steps.
//! * A cycle has no beginning: all edges between its members are cut, and what is above them is
//!   unknown.
//! * A link to a row that is not there is an unknown input, unless the link says how its root
//!   started (native correlators carry that).
//! * A way has at most [`Options::links_max`] links. A root that only longer ways reach is not
//!   found, and its leaf is counted.
//!
//! Cost: the graph and [`InputCase::Best`] and [`InputCase::Worst`] are linear in rows and links
//! (times `links_max` + 1, and times the level where that is given). [`InputCase::All`] takes as
//! many steps as there are pairs and rows between them, up to [`Options::visits_max`].
//! Memory: about 200 bytes a row and 12 an edge while they are joined, then 16 × (`links_max` + 1) a
//! row for the best and the worst.

mod durations;
mod graph;
mod roots;

pub use durations::{FanInCounts, FoundDuration, InputCase, Options, TooManyWays};
pub use graph::{Graph, Input, KnownRoot, Row};
pub use roots::{GraphRoot, GraphRoots};
