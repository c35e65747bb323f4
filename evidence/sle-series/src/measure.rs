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
    /// Context switches of the user's threads.
    pub(crate) user_switches: u64,
    /// The provider's.
    pub(crate) provider_switches: u64,
    /// CPU of the communication server's process, where there is one.
    pub(crate) server_cpu_ns: u64,
    /// Context switches of its threads.
    pub(crate) server_switches: u64,
    /// Its system calls: reads, writes and waits.
    pub(crate) server_calls: f64,
    /// System calls of the user's connection: reads, writes and waits; 0 where they are not known.
    pub(crate) user_calls: u64,
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

    /// Median time for a unit, in µs: the inverse of the rate.
    pub(crate) fn unit_us(&self) -> f64 {
        1e6 / self.units_per_s()
    }

    /// Median CPU of both processes for a unit, in µs.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.median(|round| {
            (round.user_cpu_ns + round.provider_cpu_ns) as f64 / 1e3 / round.units.max(1) as f64
        })
    }

    /// Median context switches for a unit: the user's, the provider's.
    pub(crate) fn switches(&self) -> [f64; 2] {
        [
            self.median(|round| round.user_switches as f64 / round.units.max(1) as f64),
            self.median(|round| round.provider_switches as f64 / round.units.max(1) as f64),
        ]
    }

    /// Median CPU of the communication server for a unit, in µs.
    pub(crate) fn server_us(&self) -> f64 {
        self.median(|round| round.server_cpu_ns as f64 / 1e3 / round.units.max(1) as f64)
    }

    /// Median context switches of the communication server for a unit.
    pub(crate) fn server_switches(&self) -> f64 {
        self.median(|round| round.server_switches as f64 / round.units.max(1) as f64)
    }

    /// Median system calls of the communication server for a unit.
    pub(crate) fn server_calls(&self) -> f64 {
        self.median(|round| round.server_calls / round.units.max(1) as f64)
    }

    /// Median system calls of the user's connection for a unit; `None` where they are not known.
    pub(crate) fn user_calls(&self) -> Option<f64> {
        let calls = self.median(|round| round.user_calls as f64 / round.units.max(1) as f64);
        (calls > 0.0).then_some(calls)
    }

    /// Units of all rounds.
    pub(crate) fn units(&self) -> u64 {
        self.0.iter().map(|round| round.units).sum()
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
            user_switches: 2 * units,
            provider_switches: units / 2,
            user_calls: 3 * units,
            server_cpu_ns: 100_000_000,
            server_switches: 4 * units,
            server_calls: 5.0 * units as f64,
        };
        let measured = Measured(vec![round(2200), round(1000), round(2000)]);
        assert_eq!(measured.units_per_s(), 1000.0);
        assert_eq!(measured.mbit_per_s(), 8.0);
        assert_eq!(measured.spread(), "-50 +10 %");
        assert_eq!(measured.user_us(), 500.0);
        assert_eq!(measured.provider_us(), 250.0);
        assert_eq!(measured.busy(), [0.75, 0.25]);
        assert_eq!(measured.unit_us(), 1000.0);
        assert_eq!(measured.cpu_us(), 750.0);
        assert_eq!(measured.switches(), [2.0, 0.5]);
        assert_eq!(measured.user_calls(), Some(3.0));
        let server = [measured.server_us(), measured.server_switches(), measured.server_calls()];
        assert_eq!(server, [50.0, 4.0, 5.0]);
        assert_eq!(measured.units(), 5200);
        assert_eq!(Measured(vec![Round::default()]).user_calls(), None);
    }
}
