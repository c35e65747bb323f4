//! Questions about durations, answered from stored rows.
//!
//! ```no_run
//! use chronoscope_store::Snapshot;
//! use chronoscope_query::{Limits, Question, ask};
//!
//! let snapshot = Snapshot::open("/var/lib/chronoscope".as_ref())?;
//! let question = Question {
//!     limit_ns: Some(1_000_000_000),
//!     ..Question::acpd("MRTS::decodePlots", "CWP::TargetView_redraw")
//! };
//! let answer = ask(&snapshot, &question, &Limits::default())?;
//! println!("{}", answer.verdict.map(|verdict| verdict.to_string()).unwrap_or_default());
//! # Ok::<(), chronoscope_store::StoreError>(())
//! ```
//!
//! Where the root asked for is the chain's own, every native row knows its root's start and a
//! question is one pass over four or five columns. Inner roots, splits, foreign chains, mixed ones
//! (which go from native rows to foreign ones or back), and minutes that lie in several parts or are
//! not sealed yet are grouped by chain and linked again. Both ways give the same answer. Where
//! foreign rows are within reach, native ones are asked for their chain's id, two columns more, to
//! find out which chains are mixed.
//!
//! Where hosts' clocks were read ([`chronoscope_store::ClockReading`]) the answer says which durations cross
//! hosts and what they may be off by, and [`Clocks::Corrected`] corrects them. Then every row of a
//! chain is taken by its root's clock; the root's own stamps stay, and so do time ranges. (An inner
//! root on another host is found at its corrected start, which [`locate`] does not know.)
//!
//! Who looks at durations asks again and again about the same minutes: [`scatter()`], [`ask_again`],
//! [`list_chains()`], [`hops()`] and [`compare()`] keep what they find in a [`DurationCache`].
//!
//! Limits: inner roots and synchronous durations of native rows are looked for up to
//! [`REACH`] after their chain's root started, rows of foreign chains within
//! [`Limits::foreign_reach`] of the time range; what of a mixed chain lies further away is as if it
//! were missing. An inner root does not see native rows that are below it and below a foreign root
//! that started before the time range, where no row of their minute started in it; no recorder makes
//! such rows, only imports can. Doubled rows are noticed where rows are grouped by chain, not in a
//! pass over columns; the store itself doubles nothing.

mod answer;
mod arrivals;
mod cache;
mod chain_list;
mod chunk;
mod classes;
mod clock;
mod cluster;
mod compare;
mod context;
mod durations;
mod error;
mod excerpts;
mod fetch;
mod foreign;
mod foreign_chains;
mod gather;
mod group;
mod hop_breakdowns;
mod hops;
mod linked;
mod loads;
mod locate;
mod location;
mod minute_share;
mod minutes;
mod native;
mod path_catalog;
mod paths;
mod progress;
mod question;
mod row_batches;
mod run;
mod sample;
mod scan;
mod scatter;
mod series;
mod single_rows;
mod sources;
mod spread;
mod task;
mod wanted_breakdowns;
mod worst;

pub use answer::{Answer, ClockQuality, Losses, PathAnswer};
pub use arrivals::{Arrivals, NAMED_MAX, RootWithoutLeaf};
pub use cache::DurationCache;
pub use chain_list::{ChainOrder, ChainPoint, list_chains};
pub use chronoscope_chain::arrivals::Required;
pub use chronoscope_chain::{ClassSelector, Level};
pub use classes::{ClassStatistics, classes};
pub use cluster::ClusterView;
pub use compare::{ComparedPart, ComparedSide, Comparison, compare};
pub use durations::ask_again;
pub use error::QueryError;
pub use excerpts::excerpts;
pub use fetch::chain;
pub use gather::Asking;
pub use hops::{HopHost, HopPart, Hops, hops};
pub use loads::{Load, PathLoads, loads};
pub use locate::locate;
pub use location::{Recent, StoreLocation, View};
pub use minutes::REACH;
pub use paths::{PathStatistics, paths};
pub use progress::Progress;
pub use question::{Clocks, DurationKind, Judged, Limits, Question, Receivers};
pub use run::{ask, ask_watched};
pub use sample::sample;
pub use scatter::{
    CELLS_MAX, Cell, Extreme, Gap, PATHS_MAX, Raster, Scatter, ScatterPath, scatter,
};
pub use series::Point;
pub use sources::SilentSource;
pub use worst::{ByClass, Worst, worst};
