//! Counts of judged roots, and the verdict on them.

use super::root::Root;
use super::state::{RootState, RootVerdict, Unknown};
use crate::{Population, Requirement, Verdict, sort};
use chronoscope_statistics::{Quantile, nearest_rank};

/// Number of roots in each state, and their durations as bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrivalTotals {
    /// Number of all roots.
    pub roots: u64,
    /// Number of roots known from their descendants only: their own row is missing.
    pub from_descendants: u64,
    /// See [`RootState::Arrived`].
    pub arrived: u64,
    /// Number of arrived roots above the limit.
    pub late: u64,
    /// See [`RootState::Failed`].
    pub failed: u64,
    /// See [`RootState::Open`].
    pub open: u64,
    /// See [`RootState::Missing`].
    pub missing: u64,
    /// Unknown roots by reason, in the order of [`Unknown::ALL`].
    pub unknown: [u64; Unknown::ALL.len()],
    /// Roots that are certain to have arrived within the limit.
    pub in_time: u64,
    /// Roots that are certain not to have arrived within the limit.
    pub not_in_time: u64,
    /// Roots above which another of their class may stand, in three counts: all of them, those
    /// certainly in time, those certainly not in time.
    pub hidden: [u64; 3],
    /// See [`super::ArrivalFinder::nested`].
    pub nested: bool,
    /// Leaves that arrived, below all roots: pairs of a root and a leaf.
    pub leaves: u64,
    /// Number of leaves within the limit.
    pub leaves_in_time: u64,
    /// Leaves that ended before their roots started.
    pub negative_leaves: u64,
    /// Leaves that FAILED or were ABORTED.
    pub failed_leaves: u64,
    /// See [`super::ArrivalFinder::unlinked_leaves`].
    pub unlinked_leaves: u64,
    /// See [`super::ArrivalFinder::leaves_elsewhere`].
    pub leaves_elsewhere: u64,
    /// Durations that are known exactly, in nanoseconds, in no order.
    pub exact_ns: Vec<u64>,
    /// For every other root: lower and upper bound (`u64::MAX`: never, or unknown).
    pub bounds_ns: Vec<(u64, u64)>,
}

impl ArrivalTotals {
    /// Adds a judged root.
    pub fn add(&mut self, root: &Root, judged: RootVerdict, limit_ns: u64) {
        self.roots += 1;
        self.from_descendants += u64::from(root.row.is_none());
        for leaf in &root.leaves {
            match u64::try_from(leaf.duration_ns) {
                _ if leaf.failed => self.failed_leaves += 1,
                Err(_) => self.negative_leaves += 1,
                Ok(ns) => {
                    self.leaves += 1;
                    self.leaves_in_time += u64::from(ns <= limit_ns);
                }
            }
        }
        match judged.state {
            RootState::Arrived => {
                self.arrived += 1;
                self.late += u64::from(judged.at_most_ns.is_some_and(|ns| ns > limit_ns));
            }
            RootState::Failed => self.failed += 1,
            RootState::Open => self.open += 1,
            RootState::Missing => self.missing += 1,
            RootState::Unknown(why) => self.unknown[why as usize] += 1,
        }
        match judged.in_time {
            Some(true) => self.in_time += 1,
            Some(false) => self.not_in_time += 1,
            None => {}
        }
        if root.hidden {
            self.hidden[0] += 1;
            self.hidden[1] += u64::from(judged.in_time == Some(true));
            self.hidden[2] += u64::from(judged.in_time == Some(false));
        }
        let at_least_ns = judged.at_least_ns.unwrap_or(u64::MAX);
        let at_most_ns = judged.at_most_ns.unwrap_or(u64::MAX);
        if at_least_ns == at_most_ns {
            self.exact_ns.push(at_least_ns);
        } else {
            self.bounds_ns.push((at_least_ns, at_most_ns));
        }
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: Self) {
        self.roots += other.roots;
        self.from_descendants += other.from_descendants;
        self.arrived += other.arrived;
        self.late += other.late;
        self.failed += other.failed;
        self.open += other.open;
        self.missing += other.missing;
        self.unknown.iter_mut().zip(other.unknown).for_each(|(mine, more)| *mine += more);
        self.in_time += other.in_time;
        self.not_in_time += other.not_in_time;
        self.hidden.iter_mut().zip(other.hidden).for_each(|(mine, more)| *mine += more);
        self.nested |= other.nested;
        self.leaves += other.leaves;
        self.leaves_in_time += other.leaves_in_time;
        self.negative_leaves += other.negative_leaves;
        self.failed_leaves += other.failed_leaves;
        self.unlinked_leaves += other.unlinked_leaves;
        self.leaves_elsewhere += other.leaves_elsewhere;
        self.exact_ns.extend(other.exact_ns);
        self.bounds_ns.extend(other.bounds_ns);
    }

    /// Number of unknown roots, for any reason.
    pub fn unknown_roots(&self) -> u64 {
        self.unknown.iter().sum()
    }

    /// The verdict on all roots, by exact counts. `unseen` further roots may exist without any row.
    /// A root that certainly did not arrive is not certain when a leaf without a known root may be
    /// its own. Where roots stand below roots, one whose ancestors are missing may not be a root.
    pub fn verdict(&self, requirement: Requirement, unseen: u64) -> Verdict {
        let [hidden, hidden_in_time, hidden_not] = if self.nested { self.hidden } else { [0; 3] };
        let (count, within) = (self.roots - hidden, self.in_time - hidden_in_time);
        let not_in_time = self.not_in_time - hidden_not;
        let doubtful = self.unlinked_leaves.min(not_in_time);
        Verdict {
            requirement,
            population: Population::Roots,
            count,
            within,
            undecided: count - within - (not_in_time - doubtful),
            unseen: unseen.saturating_add(hidden),
            not_arrived: 0,
        }
    }

    /// Judges the leaves that arrived: pairs of a root and a leaf.
    pub fn verdict_on_leaves(&self, requirement: Requirement) -> Verdict {
        let (count, within) = (self.leaves, self.leaves_in_time);
        Verdict { requirement, count, within, ..Verdict::default() }
    }

    /// The distribution over all roots: those that never arrive are infinitely late.
    pub fn durations(&self) -> RootDurations {
        let sorted = |bound: fn(&(u64, u64)) -> u64| {
            let mut all = self.exact_ns.clone();
            all.extend(self.bounds_ns.iter().map(bound));
            sort(&[all])
        };
        RootDurations { at_least_ns: sorted(|bounds| bounds.0), at_most_ns: sorted(|b| b.1) }
    }
}

/// The durations of all roots, as bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootDurations {
    at_least_ns: Vec<u64>,
    at_most_ns: Vec<u64>,
}

/// A value between two bounds, in nanoseconds; `u64::MAX`: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Lower bound.
    pub at_least_ns: u64,
    /// Upper bound.
    pub at_most_ns: u64,
}

impl RootDurations {
    /// The quantile by nearest rank over all roots; `None` when there are none.
    pub fn quantile(&self, quantile: Quantile) -> Option<Bounds> {
        Some(Bounds {
            at_least_ns: nearest_rank(&self.at_least_ns, quantile)?,
            at_most_ns: nearest_rank(&self.at_most_ns, quantile)?,
        })
    }
}
