//! Conditions, and their judgement from counts.

use crate::words::period;
use chronoscope_figures::numbers::{grouped, significant};
use chronoscope_statistics::{INTERVALS_MIN, Intervals, Usual};
use std::fmt;

/// Longest slot, and length of the slots of all windows from a minute on.
pub(crate) const MINUTE_NS: u64 = 60_000_000_000;
/// One, in the unit of shares: parts of a billion.
pub(crate) const ONE: u64 = 1_000_000_000;
/// Factor of one, in the unit of burn rates.
pub(crate) const FACTOR_ONE: u64 = 1_000;

/// Windows before the judged one by which a group alone is judged ([`Condition::Irregular`]).
pub const PAST_WINDOWS: u64 = 10;

/// Groups of a rule that are judged at a time: each has its counts in memory.
pub const GROUPS_MAX: usize = 1_000;

/// Counts of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowCounts {
    /// Durations that ended in the window, or roots that started in it; those of `undecided` included.
    pub count: u64,
    /// Number of these that are certainly above the limit.
    pub above: u64,
    /// Number of these that may be above the limit.
    pub undecided: u64,
    /// Intervals between their ends; only of [`Condition::Irregular`].
    pub intervals: Intervals,
}

impl WindowCounts {
    /// Adds the counts of another window; of intervals, of the one that follows.
    pub const fn add(&mut self, other: Self) {
        self.count += other.count;
        self.above += other.above;
        self.undecided += other.undecided;
        self.intervals.append(other.intervals);
    }

    /// Counts of this window without those of a part of it.
    pub(crate) const fn without(self, part: Self) -> Self {
        Self {
            count: self.count - part.count,
            above: self.above - part.above,
            undecided: self.undecided - part.undecided,
            intervals: self.intervals.without(part.intervals),
        }
    }
}

/// A condition under which a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// At least a share of the durations is above the limit.
    Share {
        /// The longest allowed duration, in nanoseconds.
        limit_ns: u64,
        /// Smallest share above the limit that breaks the rule, in parts of a billion.
        share: u64,
        /// Length of the window, in nanoseconds.
        window_ns: u64,
    },
    /// A quantile (nearest rank) of the durations is above the limit.
    Quantile {
        /// The longest allowed duration, in nanoseconds.
        limit_ns: u64,
        /// The quantile, in parts of a billion.
        quantile: u64,
        /// Length of the window, in nanoseconds.
        window_ns: u64,
    },
    /// At least 0.3 % of the roots that started in the window have no leaf within the limit.
    Arrivals {
        /// The longest allowed duration, in nanoseconds.
        limit_ns: u64,
        /// Length of the window, in nanoseconds.
        window_ns: u64,
    },
    /// Nothing ended in the window.
    Absence {
        /// Length of the window, in nanoseconds.
        window_ns: u64,
    },
    /// What ended in the window came irregularly: the spread of the intervals between the ends is more
    /// than so many times the usual one. Usual is the median of the groups of the rule; with fewer
    /// than three of them, of the group's own [`PAST_WINDOWS`] windows before.
    Irregular {
        /// Least multiple of the usual spread that breaks the rule, in thousandths.
        times: u64,
        /// Length of the window, in nanoseconds.
        window_ns: u64,
    },
    /// An error budget is consumed too fast, over a long and a short window together. Source: Google,
    /// The Site Reliability Workbook, chapter 5, "Multiwindow, Multi-Burn-Rate Alerts".
    Burn {
        /// The longest allowed duration, in nanoseconds.
        limit_ns: u64,
        /// Share of durations that may be above the limit, in parts of a billion: the error budget.
        budget: u64,
        /// Time for which the budget is meant, in nanoseconds.
        period_ns: u64,
        /// The rule is broken when one of these is.
        windows: Vec<BurnWindow>,
    },
}

/// A pair of windows of a burn rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurnWindow {
    /// Length of the long window, in nanoseconds: enough of the budget is gone to matter.
    pub long_ns: u64,
    /// Length of the short window, in nanoseconds: the budget is still being consumed.
    pub short_ns: u64,
    /// Burn rate that both have to exceed, in thousandths. At 1 the budget lasts for its period.
    pub factor: u64,
}

/// Outcome of a condition at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The condition of the alarm is not met.
    Holds,
    /// The condition of the alarm is met.
    Broken,
    /// The counts do not tell which of the two it is.
    NotJudged(Unjudged),
}

/// Reason for no judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// Nothing ended in the window, so that no duration can be judged.
    NoTraffic,
    /// Number of durations that may be above the limit, so that the rule may be broken.
    Undecided(u64),
    /// Number of intervals in the window, which are too few for a spread.
    FewIntervals(u64),
    /// Neither other groups nor windows of the past tell which spread is usual.
    NothingUsual,
    /// Number of groups that are not judged, because there are more than [`GROUPS_MAX`].
    Groups(u64),
    /// The rows could not be counted, or nobody collected them; the reason.
    NotCounted(String),
}

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTraffic => f.write_str("nothing of it ended in the window"),
            Self::Undecided(count) => write!(
                f,
                "{} may be above the limit: the root of a leaf did not come, or the leaf of a root \
                 may still come",
                grouped(*count)
            ),
            Self::FewIntervals(count) => write!(
                f,
                "{count} intervals ended in the window: a spread is taken of {INTERVALS_MIN} or more"
            ),
            Self::NothingUsual => f.write_str(
                "what is usual is not known: it takes three groups, or three windows of the past",
            ),
            Self::Groups(count) => write!(
                f,
                "{} further groups are not judged: {} are at most",
                grouped(*count),
                grouped(GROUPS_MAX as u64)
            ),
            Self::NotCounted(reason) => f.write_str(reason),
        }
    }
}

impl Condition {
    /// The longest allowed duration, in nanoseconds; `None` where durations are not judged.
    pub const fn limit_ns(&self) -> Option<u64> {
        match self {
            Self::Share { limit_ns, .. }
            | Self::Quantile { limit_ns, .. }
            | Self::Arrivals { limit_ns, .. }
            | Self::Burn { limit_ns, .. } => Some(*limit_ns),
            Self::Absence { .. } | Self::Irregular { .. } => None,
        }
    }

    /// Whether it is that of a limit without further words: 0.3 % above it in a minute.
    pub(crate) const fn is_default(&self) -> bool {
        matches!(self, Self::Share { share: DEFAULT_SHARE, window_ns: MINUTE_NS, .. })
    }

    /// Lengths of the windows whose counts [`Self::judge`] takes, in its order, in nanoseconds.
    pub fn windows_ns(&self) -> Vec<u64> {
        match self {
            Self::Share { window_ns, .. }
            | Self::Quantile { window_ns, .. }
            | Self::Arrivals { window_ns, .. }
            | Self::Irregular { window_ns, .. }
            | Self::Absence { window_ns } => vec![*window_ns],
            Self::Burn { windows, .. } => {
                windows.iter().flat_map(|pair| [pair.long_ns, pair.short_ns]).collect()
            }
        }
    }

    /// Judges the counts of the windows of [`Self::windows_ns`].
    ///
    /// The condition is broken if it is with everything undecided within the limit, and holds if it
    /// does with everything undecided above it.
    pub fn judge(&self, windows: &[WindowCounts]) -> Judgement {
        let Some(first) = windows.first() else {
            return Judgement::NotJudged(Unjudged::NoTraffic);
        };
        if let Self::Irregular { .. } = self {
            return self.judge_beside(windows, None);
        }
        if matches!(self, Self::Absence { .. }) {
            return match first.count {
                0 => Judgement::Broken,
                _ => Judgement::Holds,
            };
        }
        if windows.iter().all(|window| window.count == 0) {
            return Judgement::NotJudged(Unjudged::NoTraffic);
        }
        let least: Vec<u64> = windows.iter().map(|window| window.above).collect();
        let most: Vec<u64> = windows.iter().map(|window| window.above + window.undecided).collect();
        match (self.is_broken(windows, &least), self.is_broken(windows, &most)) {
            (true, _) => Judgement::Broken,
            (false, false) => Judgement::Holds,
            (false, true) => Judgement::NotJudged(Unjudged::Undecided(first.undecided)),
        }
    }

    /// Judges intervals beside the usual spread; any other condition as [`Self::judge`] does.
    ///
    /// A group that is known and has no interval in its window is silent, which is the widest
    /// spread. Where most others are silent too it is not judged: that is no fault of its own.
    pub fn judge_beside(&self, windows: &[WindowCounts], usual: Option<Usual>) -> Judgement {
        let Self::Irregular { times, .. } = self else { return self.judge(windows) };
        let intervals = windows.first().copied().unwrap_or_default().intervals;
        let Some(spread) = intervals.spread() else {
            return Judgement::NotJudged(Unjudged::FewIntervals(intervals.count));
        };
        let Some(usual) = usual else { return Judgement::NotJudged(Unjudged::NothingUsual) };
        if spread.is_infinite() && usual.median.is_infinite() {
            return Judgement::NotJudged(Unjudged::NoTraffic);
        }
        match spread > usual.bound(*times as f64 / FACTOR_ONE as f64) {
            true => Judgement::Broken,
            false => Judgement::Holds,
        }
    }

    /// Whether it is broken with so many durations of each window above the limit.
    fn is_broken(&self, windows: &[WindowCounts], above: &[u64]) -> bool {
        let one = |at: usize| (u128::from(windows[at].count), u128::from(above[at]));
        let (count, slow) = one(0);
        match self {
            Self::Share { share, .. } => {
                count > 0 && slow * u128::from(ONE) >= u128::from(*share) * count
            }
            Self::Arrivals { .. } => {
                count > 0 && slow * u128::from(ONE) >= u128::from(DEFAULT_SHARE) * count
            }
            // The nearest rank is the ceiling of the quantile's part of the count.
            Self::Quantile { quantile, .. } => {
                (count - slow) * u128::from(ONE) < u128::from(*quantile) * count
            }
            Self::Absence { .. } => count == 0,
            Self::Irregular { .. } => false, // judged beside the usual spread
            Self::Burn { budget, windows: pairs, .. } => {
                pairs.iter().enumerate().any(|(pair, wanted)| {
                    [2 * pair, 2 * pair + 1].into_iter().all(|at| {
                        let (count, slow) = one(at);
                        let allowed = u128::from(wanted.factor) * u128::from(*budget) * count;
                        slow * u128::from(FACTOR_ONE) * u128::from(ONE) > allowed
                    })
                })
            }
        }
    }

    /// The condition as the rest of a sentence: "0.3 % or more of *it* take longer than 1 s".
    pub(crate) fn sentence(&self, what: &str) -> String {
        let limit = period(self.limit_ns().unwrap_or_default());
        match self {
            Self::Share { share, window_ns, .. } => format!(
                "{} or more of {what} take longer than {limit}, over {}",
                percent(*share),
                period(*window_ns)
            ),
            Self::Quantile { quantile, window_ns, .. } => format!(
                "the {} quantile of {what} is longer than {limit}, over {}",
                fraction(*quantile),
                period(*window_ns)
            ),
            Self::Arrivals { window_ns, .. } => format!(
                "{} or more of the roots of {what} that start within {} have no leaf within {limit}",
                percent(DEFAULT_SHARE),
                period(*window_ns)
            ),
            Self::Absence { window_ns } => {
                format!("no {what} has ended for {}", period(*window_ns))
            }
            Self::Irregular { times, window_ns } => format!(
                "the intervals between the ends of {what} vary, over {}, by more than {} times what \
                 is usual",
                period(*window_ns),
                significant(*times as f64 / FACTOR_ONE as f64)
            ),
            Self::Burn { budget, period_ns, windows, .. } => {
                let pairs = windows.iter().map(|pair| {
                    let factor = pair.factor as f64 / FACTOR_ONE as f64;
                    let share = factor * *budget as f64 / ONE as f64;
                    format!(
                        "{} times faster than allowed over the last {} and over the last {} (more \
                         than {} % are slower in both)",
                        significant(factor),
                        period(pair.long_ns),
                        period(pair.short_ns),
                        significant(share * 100.0)
                    )
                });
                format!(
                    "the error budget of {what} ({} within {limit} over {}) is used up {}",
                    percent(ONE - budget),
                    period(*period_ns),
                    pairs.collect::<Vec<_>>().join(", or ")
                )
            }
        }
    }
}

/// The share of durations above the limit that breaks a limit: 0.3 %.
pub(crate) const DEFAULT_SHARE: u64 = 3_000_000;

/// A share in percent, without trailing zeros.
pub(crate) fn percent(share: u64) -> String {
    format!("{} %", fraction_of(share, ONE / 100))
}

/// A share as a fraction of one.
fn fraction(share: u64) -> String {
    fraction_of(share, ONE)
}

fn fraction_of(value: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let text = format!("{}.{:0digits$}", value / unit, value % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(count: u64, above: u64, undecided: u64) -> WindowCounts {
        WindowCounts { count, above, undecided, ..WindowCounts::default() }
    }

    #[test]
    fn a_share_is_broken_from_its_bound_on() {
        let share = Condition::Share { limit_ns: 1, share: DEFAULT_SHARE, window_ns: 1 };
        assert_eq!(share.judge(&[counts(1000, 2, 0)]), Judgement::Holds);
        assert_eq!(share.judge(&[counts(1000, 3, 0)]), Judgement::Broken);
        assert_eq!(
            share.judge(&[counts(1000, 2, 1)]),
            Judgement::NotJudged(Unjudged::Undecided(1))
        );
        assert_eq!(share.judge(&[counts(0, 0, 0)]), Judgement::NotJudged(Unjudged::NoTraffic));
    }

    #[test]
    fn absence_is_broken_by_nothing_and_judged_without_traffic() {
        let absence = Condition::Absence { window_ns: 10 };
        assert_eq!(absence.judge(&[counts(0, 0, 0)]), Judgement::Broken);
        assert_eq!(absence.judge(&[counts(1, 0, 1)]), Judgement::Holds);
    }

    #[test]
    fn irregular_is_what_varies_more_than_others_or_is_silent_alone() {
        let rule = Condition::Irregular { times: 3_000, window_ns: 1 };
        let spread = |pair: [u64; 2]| {
            let mut window = counts(20, 0, 0);
            pair.repeat(10).into_iter().for_each(|ns| window.intervals.add(ns));
            window
        };
        let usual = |median| Some(Usual { median, deviation: 0.0 });
        // Intervals of 1 and 3 have the spread 0.5.
        assert_eq!(rule.judge_beside(&[spread([1, 3])], usual(0.1)), Judgement::Broken);
        assert_eq!(rule.judge_beside(&[spread([1, 3])], usual(0.2)), Judgement::Holds);
        assert_eq!(rule.judge_beside(&[spread([1, 1])], usual(0.0)), Judgement::Holds);
        let silent = counts(0, 0, 0);
        assert_eq!(rule.judge_beside(&[silent], usual(0.2)), Judgement::Broken);
        let all_silent = rule.judge_beside(&[silent], usual(f64::INFINITY));
        assert_eq!(all_silent, Judgement::NotJudged(Unjudged::NoTraffic));
        let unknown = Judgement::NotJudged(Unjudged::NothingUsual);
        assert_eq!(rule.judge(&[spread([1, 3])]), unknown);
    }

    #[test]
    fn a_burn_rate_needs_its_long_and_its_short_window() {
        let pair = BurnWindow { long_ns: 60, short_ns: 5, factor: 14_400 };
        let burn = Condition::Burn {
            limit_ns: 1,
            budget: 1_000_000, // 0.1 %
            period_ns: 1000,
            windows: vec![pair],
        };
        // 14.4 times 0.1 % of 10,000 is 144, and of 1,000 is 14.4.
        let judge = |long, short| burn.judge(&[counts(10_000, long, 0), counts(1_000, short, 0)]);
        assert_eq!(judge(145, 15), Judgement::Broken);
        assert_eq!(judge(144, 15), Judgement::Holds);
        assert_eq!(judge(145, 14), Judgement::Holds);
        let over = burn.judge(&[counts(10_000, 145, 0), counts(0, 0, 0)]);
        assert_eq!(over, Judgement::Holds, "nothing burns any more");
    }

    proptest! {
        /// A quantile is broken exactly when its nearest rank is above the limit.
        #[test]
        fn a_quantile_is_the_nearest_rank(count in 1_u64..2000, above in 0_u64..2000, per_mille in 1_u64..1000) {
            let above = above.min(count);
            let rank = (per_mille * count).div_ceil(1000);
            let condition =
                Condition::Quantile { limit_ns: 1, quantile: per_mille * (ONE / 1000), window_ns: 1 };
            let broken = condition.judge(&[counts(count, above, 0)]) == Judgement::Broken;
            prop_assert_eq!(broken, rank > count - above);
        }

        /// What is undecided never makes a judgement wrong, whichever way it goes.
        #[test]
        fn a_judgement_stands_whatever_becomes_of_what_is_undecided(
            count in 1_u64..500, above in 0_u64..500, undecided in 0_u64..500, turns in 0_u64..500,
            share in 1_u64..ONE,
        ) {
            let above = above.min(count);
            let undecided = undecided.min(count - above);
            let condition = Condition::Share { limit_ns: 1, share, window_ns: 1 };
            let judged = condition.judge(&[counts(count, above, undecided)]);
            let truth = condition.judge(&[counts(count, above + turns.min(undecided), 0)]);
            if !matches!(judged, Judgement::NotJudged(_)) {
                prop_assert_eq!(judged, truth);
            }
        }
    }
}
