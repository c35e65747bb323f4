//! Result of one measurement: rounds of the same work, with their spread.

use chronoscope_statistics::median;

/// One round: so many units in so long, and what both processes computed meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// CLTUs, or frames.
    pub(crate) units: u64,
    /// Of user data.
    pub(crate) octets: u64,
    pub(crate) elapsed_ns: u64,
    /// Of the user's process; 0 where it is not known.
    pub(crate) user_cpu_ns: u64,
    /// Of the provider's.
    pub(crate) provider_cpu_ns: u64,
    /// How long the user's threads were ready and had no CPU.
    pub(crate) user_waited_ns: u64,
    /// The provider's.
    pub(crate) provider_waited_ns: u64,
}

impl Round {
    fn seconds(&self) -> f64 {
        self.elapsed_ns as f64 / 1e9
    }

    fn mbit_per_s(&self) -> f64 {
        self.octets as f64 * 8e-6 / self.seconds()
    }

    fn units_per_s(&self) -> f64 {
        self.units as f64 / self.seconds()
    }
}

/// Rounds of one piece of work, at least one.
#[derive(Clone, Debug)]
pub(crate) struct Measured(pub(crate) Vec<Round>);

impl Measured {
    /// Median over the rounds, in 10^6 bits of user data a second.
    pub(crate) fn mbit_per_s(&self) -> f64 {
        self.median(Round::mbit_per_s)
    }

    /// Median over the rounds.
    pub(crate) fn units_per_s(&self) -> f64 {
        self.median(Round::units_per_s)
    }

    /// Slowest and fastest round in percent of the median, as `-3 +5`.
    pub(crate) fn spread(&self) -> String {
        let sorted = self.sorted(Round::units_per_s);
        let median = self.units_per_s();
        let percent = |value: Option<&f64>| value.map_or(0.0, |v| (v / median - 1.0) * 100.0);
        format!("{:+.0} {:+.0} %", percent(sorted.first()), percent(sorted.last()))
    }

    /// Median CPU of the user's process for a unit, in µs.
    pub(crate) fn user_us(&self) -> f64 {
        self.median(|round| round.user_cpu_ns as f64 / 1e3 / round.units.max(1) as f64)
    }

    /// Median CPU of the provider's process for a unit, in µs.
    pub(crate) fn provider_us(&self) -> f64 {
        self.median(|round| round.provider_cpu_ns as f64 / 1e3 / round.units.max(1) as f64)
    }

    /// Median share of the time in which the user's and the provider's process computed or waited for
    /// a CPU; the sum over their threads, so that it may be above 1.
    pub(crate) fn busy(&self) -> [f64; 2] {
        let share = |ns: u64, round: &Round| ns as f64 / round.elapsed_ns as f64;
        [
            self.median(|round| share(round.user_cpu_ns + round.user_waited_ns, round)),
            self.median(|round| share(round.provider_cpu_ns + round.provider_waited_ns, round)),
        ]
    }

    fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        median(self.0.iter().map(of)).unwrap_or(f64::NAN)
    }

    fn sorted(&self, of: impl Fn(&Round) -> f64) -> Vec<f64> {
        let mut values: Vec<f64> = self.0.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

#[cfg(test)]
mod tests {
    use super::{Measured, Round};

    #[test]
    fn the_median_and_the_spread_of_three_rounds() {
        let round = |units| Round {
            units,
            octets: units * 1000,
            elapsed_ns: 2_000_000_000,
            user_cpu_ns: 1_000_000_000,
            provider_cpu_ns: 500_000_000,
            user_waited_ns: 500_000_000,
            provider_waited_ns: 0,
        };
        let measured = Measured(vec![round(2200), round(1000), round(2000)]);
        assert_eq!(measured.units_per_s(), 1000.0);
        assert_eq!(measured.mbit_per_s(), 8.0);
        assert_eq!(measured.spread(), "-50 +10 %");
        assert_eq!(measured.user_us(), 500.0);
        assert_eq!(measured.provider_us(), 250.0);
        assert_eq!(measured.busy(), [0.75, 0.25]);
    }
}
