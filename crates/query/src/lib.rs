//! Questions about stored transactions, answered from the files of a store or by a cluster.
//!
//! A [`StoreLocation`] names where the rows are, by URL; its [`StoreView`] answers. The functions
//! of this crate ([`ask()`], [`chain()`], [`classes()`] and others) answer from a snapshot of
//! files.
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
//! A question about roots that are their chains' own takes one pass over four or five columns: each
//! native row knows its root's start. Rows are grouped by chain and linked again for inner roots,
//! splits, foreign chains, mixed chains (with native and foreign rows), and for minutes that lie in
//! several parts or are not sealed yet. Both methods give the same answer. Where foreign rows are
//! within reach, two more columns of the native rows are read to find the mixed chains.
//!
//! If clocks of hosts were read ([`chronoscope_store::ClockReading`]), the answer says which
//! durations cross hosts and how large their error may be. [`Clocks::Corrected`] corrects them:
//! every row of a chain is taken by its root's clock. The root's own stamps stay, and so do time
//! ranges. An inner root on another host is found at its corrected start, which [`locate`] does not
//! know.
//!
//! [`scatter()`], [`ask_again`], [`list_chains()`], [`hops()`] and [`compare()`] keep the durations
//! of each minute in a [`DurationCache`], so that the next question about it reads no file.
//!
//! [`slow_attributes()`], [`selected_attributes()`] and [`compared_attributes()`] name the
//! attribute values by which two sets of durations differ, and keep the attributes that they read
//! there too.
//!
//! Limits: inner roots and synchronous durations of native rows are looked for up to [`REACH`]
//! after their chain's root started, rows of foreign chains within [`Limits::foreign_reach`] of the
//! time range; what of a mixed chain lies further away is as if it were missing. An inner root does
//! not see native rows that are below it and below a foreign root that started before the time
//! range, where no row of their minute started in it; no recorder makes such rows, only imports
//! can. Doubled rows are noticed where rows are grouped by chain, not in a pass over columns; the
//! store itself doubles nothing. Of a cluster the questions that need more than the columns that
//! chains are put together from are answered from [`RowsView`]s: minutes that are fetched once.
//!
//! Not here: definitions of durations and verdicts (`chain`), writing rows (`store`, `clickhouse`).

mod answer;
mod arrivals;
mod attribute_contrast;
mod attributes;
mod cache;
mod cache_key;
mod chain_list;
mod chosen;
mod chunk;
mod class_groups;
mod classes;
mod clock;
mod cluster;
mod compare;
mod context;
mod context_columns;
mod draws;
mod durations;
mod error;
mod excerpts;
mod fan_in;
mod fetch;
mod foreign;
mod foreign_chains;
mod found_elsewhere;
mod gather;
mod group;
mod hop_breakdowns;
mod hops;
mod kept_attributes;
mod linked;
mod loads;
mod locate;
mod location;
mod minute_share;
mod minutes;
mod native;
mod of_shards;
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
pub use attribute_contrast::{
    AttributeContrast, AttributeDifference, CONTRAST_CHAINS_MIN, CONTRAST_NAMED_MAX,
    CONTRAST_P_MAX, CONTRAST_SAME_MIN, CONTRAST_SAMPLE, ContrastSide, SlowLimit,
    compared_attributes, selected_attributes, slow_attributes,
};
pub use attributes::{
    AttributeGroup, AttributeGroups, AttributeName, AttributeNames, AttributeRows, AttributeValues,
    COUNTED_MAX, GROUPS_MAX, GroupValue, NAMES_MAX, SERVICE_VERSIONS_MAX, ServiceVersions,
    VALUE_BYTES_MAX, VALUES_MAX, VersionChange, attribute_names, attribute_values,
    service_versions,
};
pub use cache::DurationCache;
pub use chain_list::{ChainOrder, ChainPoint, list_chains};
pub use chronoscope_chain::arrivals::Required;
pub use chronoscope_chain::fan_in::InputCase;
pub use chronoscope_chain::{
    AttributeError, AttributeFilter, AttributeKey, AttributePlace, AttributeSelection,
    AttributeTest, BY_MAX, ClassSelector, FILTERS_MAX, LeafLevel,
};
pub use class_groups::{ClassGroup, ClassGroups, class_groups};
pub use classes::{ClassStatistics, classes};
pub use cluster::{
    BucketCounts, ClusterView, EndedRows, HostMeasure, PathMinuteKey, PathMinuteRows, RowsView,
    Sealed,
};
pub use compare::{ComparedPart, ComparedSide, Comparison, compare};
pub use durations::ask_again;
pub use error::QueryError;
pub use excerpts::excerpts;
pub use fan_in::{FanInAnswer, ask_inputs};
pub use fetch::chain;
pub use gather::QueryEnvironment;
pub use hops::{HopHost, HopPart, Hops, InsideHop, hops};
pub use loads::{PathLoads, loads};
pub use locate::locate;
pub use location::{RecentView, StoreLocation, StoreView, TransactionRows};
pub use minutes::REACH;
pub use paths::{PathStatistics, paths};
pub use progress::Progress;
pub use question::{Clocks, DurationKind, Limits, Question, Receivers, VerdictSubject};
pub use run::{ask, ask_watched};
pub use sample::sample;
pub use scatter::{
    CELLS_MAX, Cell, Extreme, Gap, PATHS_MAX, Raster, Scatter, ScatterPath, scatter,
};
pub use series::Point;
pub use sources::SilentSource;
pub use worst::{ByClass, WorstBy, WorstQuery, worst};
