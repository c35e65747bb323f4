//! What may be asked of a store.

use chronoscope_chain::arrivals::Required;
use chronoscope_chain::{ClassSelector, Level};
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

/// Which duration is asked for; `chronoscope_chain` has the definitions.
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
    /// As the hosts stamped them.
    #[default]
    Raw,
    /// By the root's clock, as far as the clocks' offsets are known.
    Corrected,
}

/// What counts as one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receivers {
    /// A process: its application, host and process number.
    Processes,
    /// A host.
    Hosts,
}

/// What a verdict judges, where durations go from a root to leaves of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Judged {
    /// Every duration, of leaves that FAILED as well. What did not arrive is not looked for.
    #[default]
    Durations,
    /// Pairs of a root and a leaf: only what arrived counts. Costs the grouping of all rows by
    /// chain, as all below.
    Arrived,
    /// What arrived, as long as no root is missing.
    Described,
    /// All roots.
    Roots {
        /// How many leaves each of them needs.
        required: Required,
        /// Of one receiver only the first leaf counts; `None`: every leaf counts.
        receivers: Option<Receivers>,
        /// How long a root without its leaves is open, in nanoseconds; the limit where it is not
        /// given, and never less.
        timeout_ns: Option<u64>,
    },
}

/// A question about durations. [`Question::acpd`] and its siblings fill in the usual.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which duration.
    pub kind: DurationKind,
    /// The class of the root; for [`DurationKind::Sync`] the class itself.
    pub root: ClassSelector,
    /// The class of the leaf, which may have children of its own; `None` for every transaction
    /// without children. Only for [`DurationKind::Acpd`].
    pub leaf: Option<ClassSelector>,
    /// How far below the root the leaf has to be. Only for [`DurationKind::Acpd`].
    pub level: Level,
    /// When the selected root started (for [`DurationKind::Sync`] the transaction): UTC, nanoseconds since
    /// 1970, raw.
    pub start_ns: Range<i64>,
    /// One whole path in words, from the selected root to the leaf, as
    /// [`PathAnswer::path`](crate::PathAnswer::path) has it; `None` for all.
    pub path: Option<String>,
    /// The hosts on which the leaf ran (for [`DurationKind::Sync`] the transaction); none for any. Not
    /// asked of a cluster.
    pub hosts: Vec<String>,
    /// Which durations are taken, in nanoseconds. Negative ones have no place in it: they are
    /// counted whatever it is.
    pub duration_ns: RangeInclusive<u64>,
    /// The longest good duration, in nanoseconds: a verdict is asked for.
    pub limit_ns: Option<u64>,
    /// What the verdict judges. Only for [`DurationKind::Acpd`] with a leaf and a limit.
    pub judged: Judged,
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
            level: Level::Any,
            start_ns: i64::MIN..i64::MAX,
            path: None,
            hosts: Vec::new(),
            duration_ns: 0..=u64::MAX,
            limit_ns: None,
            judged: Judged::Durations,
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

/// How much a question may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads that read and decode. Default: as many as there are processors, at most 8.
    pub threads: usize,
    /// Memory for rows that have to be grouped by chain, in bytes, over all threads. Where rows
    /// take more ([`chronoscope_chain::ROW_BYTES`] each) they are read in several passes. Durations
    /// that are found (8 bytes each) and the ids of foreign chains (26 bytes each, and some 30 more
    /// where they are mixed or lie in several places) come on top. Default: 1 GiB.
    pub memory_bytes: u64,
    /// How long before and after the time range rows of foreign chains are looked for: their
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
