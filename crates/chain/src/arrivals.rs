//! Which roots reached a leaf, and of which that cannot be said.
//!
//! A duration exists only where something arrived. Whether a requirement holds is a question about
//! all roots: those that arrived, those that did not, those that are still under way, and those of
//! which the rows say nothing because rows are lost or not here yet. Definitions: `docs/glossary.md`,
//! "Arrivals".
//!
//! * [`ArrivalFinder`] finds the roots of a chain and the leaves below each.
//! * [`ArrivalRule::judge`] gives a root its [`RootState`], with what is known of the sources of
//!   rows ([`Evidence`]).
//! * [`ArrivalTotals`] counts the states, and has the durations as bounds: an arrival that is not
//!   known yet is at least as late as the rows prove.
//!
//! What makes a root certain is the limit: when every source that may hold its leaf has delivered
//! up to the root's start plus the limit, and nothing was lost in between, then a leaf that is not
//! here did not arrive in time, whatever happens later.
//!
//! Not here: what was lost and how far sources have delivered (`store`), and further parents of a
//! transaction: a root that is reached through such a link only is unknown, never missing.

mod find;
mod totals;

pub use find::{ArrivalFinder, Outcome};
use std::ops::RangeInclusive;
pub use totals::{ArrivalTotals, Bounds, RootDurations};

/// How many leaves a root needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// So many or more; the root's duration is that of the one that completes them.
    AtLeast(u32),
    /// So many and no more: decided when the timeout has passed, because more may come.
    Exactly(u32),
}

/// How many leaves a root needs, as it is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a number of leaves: {0}: 5.. (five or more) or 5 (exactly five) expected")]
pub struct RequiredError(pub String);

impl std::str::FromStr for Required {
    type Err = RequiredError;

    /// Reads `5..` (five or more) or `5` (exactly five); none is no requirement.
    fn from_str(text: &str) -> Result<Self, RequiredError> {
        let (number, required): (_, fn(u32) -> Self) = match text.strip_suffix("..") {
            Some(number) => (number, Self::AtLeast),
            None => (text, Self::Exactly),
        };
        let count = number.parse().ok().filter(|count| *count > 0);
        count.map(required).ok_or_else(|| RequiredError(text.to_owned()))
    }
}

/// What a root needs in order to have arrived, and in which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRule {
    /// How many leaves.
    pub required: Required,
    /// Whether two leaves of one receiver count as one ([`Leaf::receiver`]).
    pub distinct: bool,
    /// The longest duration that is still good, in nanoseconds.
    pub limit_ns: u64,
    /// How long after its start a root without its leaves is open, in nanoseconds; not below the
    /// limit.
    pub timeout_ns: u64,
}

/// One leaf below a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// From the root's start to the leaf's end, in nanoseconds.
    pub duration_ns: i64,
    /// Who received: a process or a host by a number of the caller's.
    pub receiver: u32,
    /// It FAILED or was ABORTED: no arrival.
    pub failed: bool,
}

/// Why the rows of a chain do not tell of a root whether it arrived. Several may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts(u8);

impl Doubts {
    /// A leaf of the chain cannot be linked up to any root: a row between is missing.
    pub const UNLINKED_LEAF: Self = Self(0x01);
    /// A leaf ended before the root started: the clocks of their hosts disagree.
    pub const NEGATIVE: Self = Self(0x02);
    /// A transaction elsewhere names the chain as a further parent; such links are not followed.
    pub const FURTHER_PARENT: Self = Self(0x04);
    /// Another chain was found to continue this one after its rows had been stored apart.
    pub const LATE_ALIAS: Self = Self(0x08);
    /// A source of the chain keeps only a share of its transactions.
    pub const SAMPLED: Self = Self(0x10);

    /// Those of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` hold.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A root with the leaves below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// When it started: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Its row; `None` where only its descendants tell of it.
    pub row: Option<usize>,
    /// In the order of the rows.
    pub leaves: Vec<Leaf>,
    /// What the chain's rows leave open.
    pub doubts: Doubts,
    /// Its correlator carried no ancestors: aliases may have joined other chains to its own.
    pub foreign: bool,
    /// Its raw start is in the time that is asked for.
    in_range: bool,
    /// Ancestors of it are not known: another of its class may stand above.
    hidden: bool,
}

/// What is known of the sources that record the leaf's class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Every one of them has delivered what ended before; `None` where none is known.
    pub horizon_ns: Option<i64>,
    /// Other sources have delivered what ended before: who has not is silent.
    pub newest_ns: Option<i64>,
    /// When rows that may be leaves were lost, ascending and apart from each other: no lost one
    /// ended outside.
    pub losses_ns: Vec<RangeInclusive<i64>>,
    /// Rows were lost or are damaged, and nobody knows of which time.
    pub damaged: bool,
    /// Rows of roots that started before may have been deleted for their age.
    pub expired_until_ns: Option<i64>,
    /// Aliases were dropped: a foreign chain may go on in another that does not say so.
    pub aliases_dropped: bool,
}

impl Evidence {
    /// Joins intervals that touch, so that they are ascending and apart.
    #[must_use]
    pub fn with_losses(mut self, mut losses_ns: Vec<RangeInclusive<i64>>) -> Self {
        losses_ns.sort_by_key(|loss| *loss.start());
        for loss in losses_ns {
            match self.losses_ns.last_mut() {
                Some(last) if loss.start() <= last.end() => {
                    *last = *last.start()..=*last.end().max(loss.end());
                }
                _ => self.losses_ns.push(loss),
            }
        }
        self
    }

    /// Whether something that ended within the interval may have been lost.
    fn lost_within(&self, from_ns: i64, until_ns: i64) -> bool {
        let next = self.losses_ns.partition_point(|loss| *loss.end() < from_ns);
        self.losses_ns.get(next).is_some_and(|loss| *loss.start() <= until_ns)
    }
}

/// Why a root is unknown; the first that holds, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// [`Doubts::FURTHER_PARENT`].
    FurtherParent,
    /// [`Doubts::LATE_ALIAS`], or an alias that was dropped.
    LateAlias,
    /// [`Doubts::UNLINKED_LEAF`].
    UnlinkedLeaf,
    /// [`Doubts::NEGATIVE`].
    Negative,
    /// [`Doubts::SAMPLED`]: what is not here may not have been recorded.
    NotRecorded,
    /// Rows that may hold its leaf were lost in its time.
    Lost,
    /// Rows are damaged, or were lost nobody knows when.
    Damaged,
    /// Rows of its time were deleted for their age.
    Expired,
    /// A source has not delivered the root's time, although others have.
    Silent,
}

impl Unknown {
    /// All of them, in their order.
    pub const ALL: [Self; 9] = [
        Self::FurtherParent,
        Self::LateAlias,
        Self::UnlinkedLeaf,
        Self::Negative,
        Self::NotRecorded,
        Self::Lost,
        Self::Damaged,
        Self::Expired,
        Self::Silent,
    ];

    /// In one word, as JSON has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FurtherParent => "further_parent",
            Self::LateAlias => "late_alias",
            Self::UnlinkedLeaf => "unlinked_leaf",
            Self::Negative => "negative",
            Self::NotRecorded => "not_recorded",
            Self::Lost => "lost",
            Self::Damaged => "damaged",
            Self::Expired => "expired",
            Self::Silent => "silent",
        }
    }

    /// Why a root is unknown, after a number of roots.
    pub const fn why(self) -> &'static str {
        match self {
            Self::FurtherParent => {
                "are named by links to further parents, which are not followed yet"
            }
            Self::LateAlias => "were found too late to go on in another chain",
            Self::UnlinkedLeaf => "have a leaf in their chain that a missing row cuts off",
            Self::Negative => "have a leaf that ends before they start: clocks disagree",
            Self::NotRecorded => "are of chains of which their sources record only a sample",
            Self::Lost => "have a time in which rows were lost that may be their leaves",
            Self::Damaged => "may have leaves among damaged rows, or rows lost nobody knows when",
            Self::Expired => "are so old that rows of their time were deleted",
            Self::Silent => "wait for a source that has not delivered their time",
        }
    }
}

/// What became of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootState {
    /// Its leaves are here.
    Arrived,
    /// Its leaves ended as FAILED or ABORTED, or are more than it may have.
    Failed,
    /// Its time is not over, as far as sources have delivered.
    Open,
    /// Its time is over, everything is here, and its leaves are not.
    Missing,
    /// The rows do not tell.
    Unknown(Unknown),
}

impl RootState {
    /// In one word, as JSON has it; why a root is unknown is told apart.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrived => "arrived",
            Self::Failed => "failed",
            Self::Open => "open",
            Self::Missing => "missing",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// A root, judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What became of it.
    pub state: RootState,
    /// Whether it arrived within the limit; `None` where that is not certain.
    pub in_time: Option<bool>,
    /// Its duration is not below this, in nanoseconds; `None`: it never arrives.
    pub at_least_ns: Option<u64>,
    /// Its duration is not above this, in nanoseconds; `None`: nobody knows an end.
    pub at_most_ns: Option<u64>,
}

impl ArrivalRule {
    /// Judges a root.
    pub fn judge(&self, root: &Root, evidence: &Evidence) -> Judged {
        let mut good = self.good(&root.leaves);
        let count = match self.required {
            Required::AtLeast(count) | Required::Exactly(count) => count as usize,
        };
        let exactly = matches!(self.required, Required::Exactly(_));
        if exactly {
            // One that comes when the root is decided changes nothing any more.
            good.retain(|ns| *ns <= self.timeout_ns);
        }
        if exactly && good.len() > count {
            // Whatever else is lost or late, it does not become fewer.
            let never = Judged::never(RootState::Failed);
            return Judged { in_time: Some(false), ..never };
        }
        let arrived_ns = count.checked_sub(1).and_then(|last| good.get(last).copied());
        let doubt = |within_ns| doubt(root, evidence, within_ns);
        match arrived_ns {
            Some(arrived_ns) if !exactly => {
                // One that arrived earlier may be lost: then this is an upper bound.
                let is_exact = doubt(arrived_ns).is_none();
                let late = arrived_ns > self.limit_ns;
                let certain = !late || doubt(self.limit_ns).is_none();
                Judged {
                    state: RootState::Arrived,
                    in_time: certain.then_some(!late),
                    at_least_ns: Some(if is_exact { arrived_ns } else { 0 }),
                    at_most_ns: Some(arrived_ns),
                }
            }
            _ => self.not_arrived(root, evidence, doubt, arrived_ns),
        }
    }

    /// Of a root whose leaves are not here, or not known to be all: `so_far_ns` where exactly as
    /// many as it needs are.
    fn not_arrived(
        &self,
        root: &Root,
        evidence: &Evidence,
        doubt: impl Fn(u64) -> Option<Doubt>,
        so_far_ns: Option<u64>,
    ) -> Judged {
        let too_late = so_far_ns.is_none_or(|ns| ns > self.limit_ns);
        let in_time = (too_late && doubt(self.limit_ns).is_none()).then_some(false);
        match doubt(self.timeout_ns) {
            Some(Doubt::Unknown(why)) => {
                Judged { in_time, ..Judged::unknown(RootState::Unknown(why)) }
            }
            Some(Doubt::Open) => {
                let age_ns = evidence.horizon_ns.map(|at| at.saturating_sub(root.start_ns));
                let age_ns = age_ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
                let at_least_ns = Some(so_far_ns.unwrap_or(age_ns));
                Judged { in_time, at_least_ns, ..Judged::unknown(RootState::Open) }
            }
            None => match so_far_ns {
                Some(ns) => Judged {
                    state: RootState::Arrived,
                    in_time: Some(ns <= self.limit_ns),
                    at_least_ns: Some(ns),
                    at_most_ns: Some(ns),
                },
                None if root.leaves.iter().any(|leaf| leaf.failed) => {
                    Judged { in_time, ..Judged::never(RootState::Failed) }
                }
                None => Judged { in_time, ..Judged::never(RootState::Missing) },
            },
        }
    }

    /// The durations of the leaves that are arrivals, ascending; of one receiver the first, where
    /// receivers count.
    fn good(&self, leaves: &[Leaf]) -> Vec<u64> {
        let ended = |leaf: &&Leaf| !leaf.failed && leaf.duration_ns >= 0;
        let good = leaves.iter().filter(ended);
        let mut good: Vec<(u64, u32)> =
            good.map(|leaf| (leaf.duration_ns.unsigned_abs(), leaf.receiver)).collect();
        good.sort_unstable();
        if self.distinct {
            let mut seen = std::collections::HashSet::new();
            good.retain(|(_, receiver)| seen.insert(*receiver));
        }
        good.into_iter().map(|(ns, _)| ns).collect()
    }
}

/// Why a leaf of the root that ended within a time after its start may not be here.
fn doubt(root: &Root, evidence: &Evidence, within_ns: u64) -> Option<Doubt> {
    let end_ns = root.start_ns.saturating_add_unsigned(within_ns);
    let holds = |unknown| match unknown {
        Unknown::FurtherParent => root.doubts.contains(Doubts::FURTHER_PARENT),
        Unknown::LateAlias => {
            root.doubts.contains(Doubts::LATE_ALIAS) || root.foreign && evidence.aliases_dropped
        }
        Unknown::UnlinkedLeaf => root.doubts.contains(Doubts::UNLINKED_LEAF),
        Unknown::Negative => root.doubts.contains(Doubts::NEGATIVE),
        Unknown::NotRecorded => root.doubts.contains(Doubts::SAMPLED),
        Unknown::Lost => evidence.lost_within(root.start_ns, end_ns),
        Unknown::Damaged => evidence.damaged,
        Unknown::Expired => evidence.expired_until_ns.is_some_and(|until| root.start_ns < until),
        Unknown::Silent => false, // below: it may be open as well
    };
    if let Some(unknown) = Unknown::ALL.into_iter().find(|unknown| holds(*unknown)) {
        return Some(Doubt::Unknown(unknown));
    }
    let delivered = |until: Option<i64>| until.is_some_and(|until| until > end_ns);
    if delivered(evidence.horizon_ns) {
        return None;
    }
    let silent = delivered(evidence.newest_ns) || evidence.newest_ns.is_none();
    Some(if silent { Doubt::Unknown(Unknown::Silent) } else { Doubt::Open })
}

/// Why something may not be here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    Unknown(Unknown),
    /// No source has delivered so far yet.
    Open,
}

impl Judged {
    const fn never(state: RootState) -> Self {
        Self { state, in_time: Some(false), at_least_ns: None, at_most_ns: None }
    }

    const fn unknown(state: RootState) -> Self {
        Self { state, in_time: None, at_least_ns: Some(0), at_most_ns: None }
    }
}

#[cfg(test)]
mod tests;
