//! Plausibility of a run's counters: they are checked against each other.

use super::counts::{Counts, Run};
use chronoscope_statistics::median;

/// Reason why a run is discarded.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Corruption {
    /// A counter shared the hardware with others: its count is an estimate.
    #[error("counters ran for {running_ns} ns of {enabled_ns} ns")]
    Shared {
        /// Time for which the counter ran.
        running_ns: u64,
        /// Time for which it was enabled.
        enabled_ns: u64,
    },
    /// A counter is 0.
    #[error("a counter reads 0")]
    Zero,
    /// The ratio of instructions to branches is far from that of the other runs.
    #[error("{ratio:.6} instructions for a branch, {usual:.6} in the other runs")]
    Ratio {
        /// Ratio of this run.
        ratio: f64,
        /// The median of all.
        usual: f64,
    },
    /// Cycles do not fit the time that the program computed.
    #[error("{cycles_per_ns:.3} cycles a nanosecond of user time")]
    Cycles {
        /// Cycles per nanosecond.
        cycles_per_ns: f64,
    },
}

/// Cycles in a nanosecond that a core can have: 0.4 to 7 GHz.
const CYCLES_PER_NS: std::ops::Range<f64> = 0.4..7.0;
/// The kernel counts user time in ticks: a shorter time is too coarse to check cycles.
const USER_NS_MIN: u64 = 200_000_000;

/// Fault of a run that is visible without the others.
pub(super) fn alone(run: &Run) -> Option<Corruption> {
    let Counts::Hardware { instructions, branches, cycles } = &run.counts else { return None };
    for reading in [instructions, branches, cycles] {
        let (running_ns, enabled_ns) = (reading.running_ns, reading.enabled_ns);
        if running_ns != enabled_ns {
            return Some(Corruption::Shared { running_ns, enabled_ns });
        }
        if reading.count == 0 {
            return Some(Corruption::Zero);
        }
    }
    let user_ns = run.usage.user_ns;
    let cycles_per_ns = cycles.count as f64 / user_ns.max(1) as f64;
    let wrong = user_ns >= USER_NS_MIN && !CYCLES_PER_NS.contains(&cycles_per_ns);
    wrong.then_some(Corruption::Cycles { cycles_per_ns })
}

/// Fault of each run in comparison with the others. `tolerance` is the largest relative distance of
/// instructions per branch from the median of all; at least three runs are needed.
pub(super) fn together(runs: &[Run], tolerance: f64) -> Vec<Option<Corruption>> {
    let ratios: Vec<Option<f64>> = runs.iter().map(|run| ratio(&run.counts)).collect();
    let known = ratios.iter().flatten().copied();
    let usual = median(known.clone()).filter(|_| known.count() >= 3);
    let Some(usual) = usual else { return vec![None; runs.len()] };
    let judge = |ratio: &Option<f64>| {
        let ratio = (*ratio)?;
        let far = (ratio / usual - 1.0).abs() > tolerance;
        far.then_some(Corruption::Ratio { ratio, usual })
    };
    ratios.iter().map(judge).collect()
}

fn ratio(counts: &Counts) -> Option<f64> {
    match counts {
        Counts::Hardware { instructions, branches, .. } => {
            Some(instructions.count as f64 / branches.count.max(1) as f64)
        }
        Counts::Callgrind { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reading;
    use super::super::program::Usage;
    use super::*;

    fn run(instructions: u64, branches: u64, cycles: u64) -> Run {
        let reading =
            |count| Reading { count, enabled_ns: 1_000_000_000, running_ns: 1_000_000_000 };
        Run {
            beyond: None,
            usage: Usage { user_ns: 900_000_000, ..Usage::default() },
            counts: Counts::Hardware {
                instructions: reading(instructions),
                branches: reading(branches),
                cycles: reading(cycles),
            },
        }
    }

    /// The wrong counts that were seen: 3.286e9 and 19,589 instead of 3.6e9, without a sign of it.
    #[test]
    fn corrupted_counts_are_found() {
        let good = run(3_600_000_100, 700_000_100, 2_500_000_000);
        assert_eq!(alone(&good), None);
        let bad = run(3_286_000_000, 700_000_000, 2_500_000_000);
        let tiny = run(19_589, 700_000_000, 2_500_000_000);
        let runs = [good.clone(), bad, good.clone(), tiny, good.clone()];
        let found: Vec<_> = together(&runs, 1e-5).iter().map(Option::is_some).collect();
        assert_eq!(found, [false, true, false, true, false]);
        let too_few_to_tell = together(&runs[..2], 1e-5);
        assert_eq!(too_few_to_tell, [None, None]);
    }

    #[test]
    fn impossible_cycles_shared_and_silent_counters_are_found() {
        assert!(matches!(alone(&run(1, 1, 100_000)), Some(Corruption::Cycles { .. })));
        assert_eq!(alone(&run(5, 0, 2_500_000_000)), Some(Corruption::Zero));
        let mut shared = run(5, 5, 2_500_000_000);
        if let Counts::Hardware { branches, .. } = &mut shared.counts {
            branches.running_ns = 7;
        }
        let found = Corruption::Shared { running_ns: 7, enabled_ns: 1_000_000_000 };
        assert_eq!(alone(&shared), Some(found));
    }
}
