//! Arrivals: which roots reached a leaf, and for which roots this is unknown.
//!
//! A duration exists only where something arrived. Whether a requirement holds is a question about
//! all roots: those that arrived, those that did not, those that are still open, and those that are
//! unknown because rows are lost or not delivered yet. Definitions: `docs/glossary.md`, "Arrivals".
//!
//! * [`ArrivalFinder`] finds the roots of a chain and the leaves below each.
//! * [`ArrivalRule::judge`] gives a root its [`RootState`], from its leaves and from what is known
//!   of the sources of rows ([`Evidence`]).
//! * [`ArrivalTotals`] counts the states and holds the durations as bounds: an arrival that is not
//!   known yet is at least as late as the rows prove.
//!
//! The limit makes a root certain: when every source that may hold its leaf has delivered up to the
//! root's start plus the limit, and nothing was lost in that time, then a leaf without a row did
//! not arrive in time, and no later row can change that.
//!
//! Not here: recorded losses and delivery horizons (`store`), and further parents of a transaction:
//! a root that is reached only through such a link is unknown, never missing.

mod find;
mod root;
mod state;
mod totals;

pub use find::{ArrivalFinder, RowOutcome};
pub use root::{Doubts, Leaf, Root};
pub use state::{RootState, RootVerdict, Unknown};
use std::ops::{Range, RangeInclusive};
pub use totals::{ArrivalTotals, Bounds, RootDurations};

/// Number of leaves that a root needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// At least this many; the root's duration is that of the leaf that completes them.
    AtLeast(u32),
    /// Exactly this many: decided when the timeout has passed, because more leaves may follow.
    Exactly(u32),
}

/// The text is not a number of leaves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a number of leaves: expected 5.. (five or more) or 5 (exactly five)")]
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

/// Condition for a root to count as arrived, with its limit and timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRule {
    /// Number of leaves.
    pub required: Required,
    /// Whether two leaves of one receiver count as one ([`Leaf::receiver`]).
    pub distinct: bool,
    /// The longest duration that is still good, in nanoseconds.
    pub limit_ns: u64,
    /// Time after its start until which a root without its leaves is open, in nanoseconds; not
    /// below the limit.
    pub timeout_ns: u64,
}

/// Delivery and losses of the sources that record the leaf's class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Every source has delivered all rows that ended before this time; `None` where none is known.
    pub horizon_ns: Option<i64>,
    /// Other sources have delivered what ended before: who has not is silent.
    pub newest_ns: Option<i64>,
    /// Times in which rows that may be leaves were lost, ascending and disjoint: no lost row ended
    /// outside them.
    pub losses_ns: Vec<RangeInclusive<i64>>,
    /// Rows were lost or are damaged at an unknown time.
    pub damaged: bool,
    /// Rows of roots that started before may have been deleted for their age.
    pub expired_until_ns: Option<i64>,
    /// Times of which rows were deleted on request, by the start of their roots; of foreign rows by
    /// their own start.
    pub deleted_ns: Vec<Range<i64>>,
    /// Aliases were dropped: a foreign chain may go on in another that does not say so.
    pub aliases_dropped: bool,
    /// Some row has links that are not known: it may be an arrival of any root.
    pub links_unknown: bool,
}

impl Evidence {
    /// Joins intervals that touch. The result is ascending and disjoint.
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

    /// Whether a row that started within the interval may have been deleted on request.
    fn deleted_within(&self, from_ns: i64, until_ns: i64) -> bool {
        self.deleted_ns.iter().any(|of| of.start <= until_ns && from_ns < of.end)
    }

    /// Whether something that ended within the interval may have been lost.
    fn lost_within(&self, from_ns: i64, until_ns: i64) -> bool {
        let next = self.losses_ns.partition_point(|loss| *loss.end() < from_ns);
        self.losses_ns.get(next).is_some_and(|loss| *loss.start() <= until_ns)
    }
}

impl ArrivalRule {
    /// Determines the state of a root.
    pub fn judge(&self, root: &Root, evidence: &Evidence) -> RootVerdict {
        let mut good = self.good(&root.leaves);
        let count = match self.required {
            Required::AtLeast(count) | Required::Exactly(count) => count as usize,
        };
        let exactly = matches!(self.required, Required::Exactly(_));
        if exactly {
            // A leaf after the timeout no longer changes the state.
            good.retain(|ns| *ns <= self.timeout_ns);
        }
        if exactly && good.len() > count {
            // Whatever else is lost or late, it does not become fewer.
            let never = RootVerdict::never(RootState::Failed);
            return RootVerdict { in_time: Some(false), ..never };
        }
        let arrived_ns = count.checked_sub(1).and_then(|last| good.get(last).copied());
        let doubt = |within_ns| doubt(root, evidence, within_ns);
        match arrived_ns {
            Some(arrived_ns) if !exactly => {
                // An earlier arrival may have been lost: then this duration is only an upper bound.
                let is_exact = doubt(arrived_ns).is_none();
                let late = arrived_ns > self.limit_ns;
                let certain = !late || doubt(self.limit_ns).is_none();
                RootVerdict {
                    state: RootState::Arrived,
                    in_time: certain.then_some(!late),
                    at_least_ns: Some(if is_exact { arrived_ns } else { 0 }),
                    at_most_ns: Some(arrived_ns),
                }
            }
            _ => self.not_arrived(root, evidence, doubt, arrived_ns),
        }
    }

    /// State of a root whose leaves are absent or may be incomplete. `so_far_ns` is its duration so
    /// far where exactly the required number is present.
    fn not_arrived(
        &self,
        root: &Root,
        evidence: &Evidence,
        doubt: impl Fn(u64) -> Option<Doubt>,
        so_far_ns: Option<u64>,
    ) -> RootVerdict {
        let too_late = so_far_ns.is_none_or(|ns| ns > self.limit_ns);
        let in_time = (too_late && doubt(self.limit_ns).is_none()).then_some(false);
        match doubt(self.timeout_ns) {
            Some(Doubt::Unknown(why)) => {
                RootVerdict { in_time, ..RootVerdict::unknown(RootState::Unknown(why)) }
            }
            Some(Doubt::Open) => {
                let age_ns = evidence.horizon_ns.map(|at| at.saturating_sub(root.start_ns));
                let age_ns = age_ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
                let at_least_ns = Some(so_far_ns.unwrap_or(age_ns));
                RootVerdict { in_time, at_least_ns, ..RootVerdict::unknown(RootState::Open) }
            }
            None => match so_far_ns {
                Some(ns) => RootVerdict {
                    state: RootState::Arrived,
                    in_time: Some(ns <= self.limit_ns),
                    at_least_ns: Some(ns),
                    at_most_ns: Some(ns),
                },
                None if root.leaves.iter().any(|leaf| leaf.failed) => {
                    RootVerdict { in_time, ..RootVerdict::never(RootState::Failed) }
                }
                None => RootVerdict { in_time, ..RootVerdict::never(RootState::Missing) },
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

/// Reason why a leaf of the root may be absent although it ended within `within_ns` of its start.
fn doubt(root: &Root, evidence: &Evidence, within_ns: u64) -> Option<Doubt> {
    let end_ns = root.start_ns.saturating_add_unsigned(within_ns);
    let holds = |unknown| match unknown {
        Unknown::FurtherParent => {
            root.doubts.contains(Doubts::FURTHER_PARENT) || evidence.links_unknown
        }
        Unknown::LateAlias => {
            root.doubts.contains(Doubts::LATE_ALIAS) || root.foreign && evidence.aliases_dropped
        }
        Unknown::UnlinkedLeaf => root.doubts.contains(Doubts::UNLINKED_LEAF),
        Unknown::Negative => root.doubts.contains(Doubts::NEGATIVE),
        Unknown::NotRecorded => root.doubts.contains(Doubts::SAMPLED),
        Unknown::Lost => evidence.lost_within(root.start_ns, end_ns),
        Unknown::Damaged => evidence.damaged,
        Unknown::Expired => evidence.expired_until_ns.is_some_and(|until| root.start_ns < until),
        // A leaf in another chain, or a foreign one, has its own start.
        Unknown::Deleted => evidence.deleted_within(root.start_ns, end_ns),
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

/// Reason why a row may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    Unknown(Unknown),
    /// No source has delivered up to that time yet.
    Open,
}

#[cfg(test)]
mod tests;
