//! Interleaved rounds and their medians.
//!
//! Costs are CPU time: the share of other programs on a busy machine is not counted. Work that a
//! peer leaves to a thread of its own is not counted, as it would not be on an idle processor.

use chronoscope_clock as clock;

/// A case to be measured.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Transactions that one call of `run(1)` makes.
    pub(crate) pairs: u64,
    /// Does it so many times.
    pub(crate) run: Box<dyn FnMut(u64)>,
    /// Clock for the measurement.
    pub(crate) cpu_ns: fn() -> u64,
}

impl Case {
    pub(crate) fn new(name: &'static str, run: impl FnMut(u64) + 'static) -> Self {
        Self { name, pairs: 1, run: Box::new(run), cpu_ns: clock::thread_cpu_ns }
    }
}

/// Cost of a case, in nanoseconds a pair.
pub(crate) struct Cost {
    pub(crate) name: &'static str,
    pub(crate) rounds_ns: Vec<f64>,
}

impl Cost {
    /// Median over the rounds.
    pub(crate) fn median_ns(&self) -> f64 {
        chronoscope_statistics::median(self.rounds_ns.iter().copied()).unwrap_or(f64::NAN)
    }

    /// The fastest round, the one with the least disturbance.
    pub(crate) fn min_ns(&self) -> f64 {
        self.rounds_ns.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Median over the rounds of the ratio to another case's cost in the same round.
    pub(crate) fn median_ratio(&self, to: &Self) -> f64 {
        let pairs = self.rounds_ns.iter().zip(&to.rounds_ns);
        let rounds_ns = pairs.map(|(own, other)| own / other).collect();
        Self { name: self.name, rounds_ns }.median_ns()
    }
}

/// Runs all cases in turn, `rounds` times, after one round that is thrown away. A case gets so
/// many pairs a round that it takes about `slice_ns`.
pub(crate) fn interleaved(cases: &mut [Case], rounds: usize, slice_ns: u64) -> Vec<Cost> {
    let mut costs: Vec<Cost> = cases
        .iter()
        .map(|case| Cost { name: case.name, rounds_ns: Vec::with_capacity(rounds) })
        .collect();
    let counts: Vec<u64> = cases.iter_mut().map(|case| calibrate(case, slice_ns)).collect();
    for _ in 0..rounds {
        for ((case, cost), count) in cases.iter_mut().zip(&mut costs).zip(&counts) {
            (case.run)((1_000 / case.pairs).max(1)); // hot, whatever ran before
            let begin = (case.cpu_ns)();
            (case.run)(*count);
            let elapsed_ns = (case.cpu_ns)() - begin;
            cost.rounds_ns.push(elapsed_ns as f64 / (*count * case.pairs) as f64);
        }
    }
    costs
}

fn calibrate(case: &mut Case, slice_ns: u64) -> u64 {
    let probe = (10_000 / case.pairs).max(1);
    (case.run)(probe);
    let begin = clock::monotonic_ns();
    (case.run)(probe);
    let elapsed_ns = (clock::monotonic_ns() - begin).max(1);
    (slice_ns * probe / elapsed_ns).clamp(probe, 100_000_000)
}
