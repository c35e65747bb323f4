//! Whether subtracting branches takes interrupts out of a count of instructions, on this machine.
//!
//! Processors count one instruction too many for each interrupt, and one branch too many: the
//! return from it. So instructions minus branches does not depend on how often a program was
//! interrupted. That is a property of the processor, which is tried before it is relied on. The
//! price: a change that only adds branches, one instruction each, is not in the difference, so the
//! plain count is kept beside it.

use chronoscope_statistics::{Quantile, nearest_rank};
use std::io;

use chronoscope_replay::counters::{CounterSubject, OpenCounter};

use super::perf::HARDWARE;

/// Spread of the counters when the same loop is counted repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Calibration {
    /// Number of rounds.
    pub rounds: usize,
    /// Largest minus smallest count of instructions.
    pub instructions_range: u64,
    /// Range of the branch counts.
    pub branches_range: u64,
    /// Range of instructions minus branches.
    pub corrected_range: u64,
    /// Instructions of a round, the median.
    pub instructions: u64,
}

impl Calibration {
    /// True when the difference is steadier than the plain count, or as steady as can be: within
    /// one part in ten million.
    pub fn corrects(&self) -> bool {
        let steady = self.corrected_range.saturating_mul(10_000_000) <= self.instructions;
        steady || self.corrected_range.saturating_mul(4) <= self.instructions_range
    }
}

/// Number of rounds of some tens of milliseconds, so that the kernel's timer interrupts each.
const ROUNDS: usize = 16;
const ITERATIONS: u64 = 20_000_000;

/// Counts the same loop repeatedly on this thread.
///
/// # Errors
/// The system's error where there are no such counters.
pub fn calibrate() -> io::Result<Calibration> {
    let [instructions, branches, _] = HARDWARE;
    let open = |counter| OpenCounter::new(counter, CounterSubject::ThisThread);
    let counters = [open(instructions)?, open(branches)?];
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        counters.iter().try_for_each(OpenCounter::start)?;
        fixed_work();
        counters.iter().try_for_each(OpenCounter::stop)?;
        rounds.push((counters[0].read()?.count, counters[1].read()?.count));
    }
    judge(&rounds).ok_or_else(|| io::Error::other("the counter of instructions does not count"))
}

#[inline(never)]
fn fixed_work() {
    let mut state = 1_u64;
    for _ in 0..ITERATIONS {
        state = std::hint::black_box(state.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (state >> 29));
    }
}

/// Evaluates rounds of (instructions, branches); `None` without any, or when nothing was counted.
fn judge(rounds: &[(u64, u64)]) -> Option<Calibration> {
    let range = |of: &dyn Fn(&(u64, u64)) -> u64| {
        let values = rounds.iter().map(of);
        Some(values.clone().max()? - values.min()?)
    };
    let mut sorted: Vec<_> = rounds.iter().map(|round| round.0).collect();
    sorted.sort_unstable();
    let instructions = nearest_rank(&sorted, Quantile::P50)?;
    (instructions > 0).then_some(Calibration {
        rounds: rounds.len(),
        instructions_range: range(&|round| round.0)?,
        branches_range: range(&|round| round.1)?,
        corrected_range: range(&|round| round.0.saturating_sub(round.1))?,
        instructions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_for_each_interrupt_is_taken_out() {
        let rounds =
            [(100_000_007, 20_000_007), (100_000_031, 20_000_031), (100_000_011, 20_000_011)];
        let found = judge(&rounds).unwrap();
        assert_eq!((found.instructions_range, found.corrected_range), (24, 0));
        assert!(found.corrects());
    }

    #[test]
    fn a_processor_that_does_not_count_them_is_noticed() {
        let rounds =
            [(100_000_007, 20_000_000), (100_000_031, 20_000_000), (100_000_071, 20_000_001)];
        assert!(!judge(&rounds).unwrap().corrects());
    }

    #[test]
    fn counters_that_stand_still_are_none() {
        assert_eq!(judge(&[(0, 0), (0, 0)]), None);
        assert_eq!(judge(&[]), None);
    }
}
