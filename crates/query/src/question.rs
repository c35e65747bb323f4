//! Questions to a store.

use chronoscope_chain::arrivals::Required;
use chronoscope_chain::{AttributeSelection, ClassSelector, LeafLevel};
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

/// Kind of duration; `chronoscope_chain` has the definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DurationKind {
    /// From the start of a root to the end of each leaf.
    #[default]
    Acpd,
    /// From the start of a root to the end of the leaf that starts last.
    Apcd,
    /// A transaction's own elapsed time.
    Sync,
}

/// By whose clocks durations are taken that go from one host to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clocks {
    /// Stamps as the hosts recorded them.
    #[default]
    Raw,
    /// By the root's clock, as far as the clocks' offsets are known.
    Corrected,
}

/// The unit that counts as one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receivers {
    /// A process: its application, host and process number.
    Processes,
    /// A host.
    Hosts,
}

/// Subject of a verdict on durations from a root to leaves of a class: the durations, the pairs
/// that arrived, or the roots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerdictSubject {
    /// Every duration, also those of leaves that FAILED. Roots that did not arrive are not looked
    /// for.
    #[default]
    Durations,
    /// Pairs of a root and a leaf: only what arrived counts. Costs the grouping of all rows by
    /// chain, as all below.
    Arrived,
    /// The pairs that arrived, as long as no root is missing.
    Described,
    /// All roots.
    Roots {
        /// Number of leaves that each root needs.
        required: Required,
        /// Of one receiver only the first leaf counts; `None`: every leaf counts.
        receivers: Option<Receivers>,
        /// Time for which a root without its leaves is open, in nanoseconds; at least the limit,
        /// which is also the default.
        timeout_ns: Option<u64>,
    },
}

/// A question about durations. [`Question::acpd`] and its siblings fill in the usual.
#[derive(Clone, Debug)]
pub struct Question {
    /// Kind of duration.
    pub kind: DurationKind,
    /// The class of the root; for [`DurationKind::Sync`] the class itself.
    pub root: ClassSelector,
    /// The class of the leaf, which may have children of its own; `None` for every transaction
    /// without children. Only for [`DurationKind::Acpd`].
    pub leaf: Option<ClassSelector>,
    /// Level of the leaf below the root. Only for [`DurationKind::Acpd`].
    pub level: LeafLevel,
    /// When the selected root started (for [`DurationKind::Sync`] the transaction): UTC,
    /// nanoseconds since 1970, raw.
    pub start_ns: Range<i64>,
    /// One whole path in words, from the selected root to the leaf, as
    /// [`PathAnswer::path`](crate::PathAnswer::path) has it; `None` for all.
    pub path: Option<String>,
    /// The hosts on which the leaf ran (for [`DurationKind::Sync`] the transaction); none for any.
    /// Not asked of a cluster.
    pub hosts: Vec<String>,
    /// Filters by attributes, and attributes to group by. Costs reading the properties and metrics
    /// of all rows, and the grouping of all rows by chain unless the leaf's own attributes decide.
    /// Where it filters by others than the root's own attributes, a verdict from a root to leaves is
    /// undetermined: which roots that did not arrive would have passed is not known. Not asked of a
    /// cluster.
    pub attributes: AttributeSelection,
    /// Lengths that are taken, in nanoseconds. Negative durations are counted apart, whatever the
    /// range.
    pub duration_ns: RangeInclusive<u64>,
    /// The longest allowed duration, in nanoseconds: a verdict is asked for.
    pub limit_ns: Option<u64>,
    /// Subject of the verdict. Only for [`DurationKind::Acpd`] with a leaf and a limit.
    pub judged: VerdictSubject,
    /// Whether to split the durations hop by hop. Costs the grouping of all rows by chain. Only
    /// for [`DurationKind::Acpd`].
    pub split: bool,
    /// Whether to keep every duration with its start, as a scattergram needs it: 16 bytes each.
    pub points: bool,
    /// By whose clocks. Costs the grouping of all rows by chain where it is not raw.
    pub clocks: Clocks,
}

impl Question {
    /// ACPD at any level, over all time.
    pub fn acpd(root: &str, leaf: &str) -> Self {
        Self {
            kind: DurationKind::Acpd,
            root: root.into(),
            leaf: Some(leaf.into()),
            level: LeafLevel::Any,
            start_ns: i64::MIN..i64::MAX,
            path: None,
            hosts: Vec::new(),
            attributes: AttributeSelection::default(),
            duration_ns: 0..=u64::MAX,
            limit_ns: None,
            judged: VerdictSubject::Durations,
            split: false,
            points: false,
            clocks: Clocks::Raw,
        }
    }

    /// APCD over all time.
    pub fn apcd(root: &str) -> Self {
        Self { kind: DurationKind::Apcd, leaf: None, ..Self::acpd(root, "") }
    }

    /// Synchronous durations over all time.
    pub fn sync(class: &str) -> Self {
        Self { kind: DurationKind::Sync, leaf: None, ..Self::acpd(class, "") }
    }
}

/// Limits of a question.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads that read and decode. Default: as many as there are processors, at most 8.
    pub threads: usize,
    /// Memory for rows that have to be grouped by chain, in bytes, over all threads. Where rows
    /// take more ([`chronoscope_chain::ROW_BYTES`] each) they are read in several passes. Durations
    /// that are found (8 bytes each) and the ids of foreign chains (26 bytes each, and some 30 more
    /// where they are mixed or lie in several places) come on top. Default: 1 GiB.
    pub memory_bytes: u64,
    /// Time before and after the time range in which rows of foreign chains are looked for: their
    /// rows lie in the minutes of their own starts, not in their root's. Default: 10 minutes.
    pub foreign_reach: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads: threads.min(8),
            memory_bytes: 1 << 30,
            foreign_reach: Duration::from_mins(10),
        }
    }
}
