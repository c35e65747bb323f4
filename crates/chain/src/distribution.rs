//! Statistics of a set of durations, and the verdict on a requirement.
//!
//! Everything is exact: counts are counts and quantiles are measured durations (nearest rank). The
//! standard deviation is the population's (divided by n), since all chains of the time range are
//! included. "Above 3 sigma" is as in the evaluations of PHOENIX: above the *median* plus three
//! standard deviations.

use chronoscope_statistics::{Quantile, nearest_rank};
use std::fmt;

/// The quantiles that a distribution carries, ascending.
pub const QUANTILES: [Quantile; 5] =
    [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P99_73, Quantile::P99_9];

/// Statistics of durations. All durations in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// Number of durations; at least 1.
    pub count: u64,
    /// Sum of the durations, in nanoseconds.
    pub sum_ns: u128,
    /// Shortest duration.
    pub min_ns: u64,
    /// Longest duration.
    pub max_ns: u64,
    /// Mean duration.
    pub mean_ns: f64,
    /// The population's standard deviation.
    pub sd_ns: f64,
    /// The values at [`QUANTILES`].
    pub quantiles_ns: [u64; QUANTILES.len()],
    /// Number of durations above the median plus three standard deviations.
    pub above_3_sigma: u64,
}

impl Distribution {
    /// The distribution of ascending durations; `None` when there are none.
    pub fn of_ascending(durations_ns: &[u64]) -> Option<Self> {
        let (min_ns, max_ns) = (*durations_ns.first()?, *durations_ns.last()?);
        debug_assert!(durations_ns.is_sorted());
        let count = durations_ns.len() as u64;
        let sum_ns: u128 = durations_ns.iter().map(|ns| u128::from(*ns)).sum();
        let mean_ns = sum_ns as f64 / count as f64;
        // Two passes: the shortcut over sums of squares loses all digits when the deviation is
        // small beside the mean.
        let squares: f64 = durations_ns.iter().map(|ns| (*ns as f64 - mean_ns).powi(2)).sum();
        let sd_ns = (squares / count as f64).sqrt();
        let quantiles_ns =
            QUANTILES.map(|quantile| nearest_rank(durations_ns, quantile).unwrap_or(max_ns));
        let bound = quantiles_ns[0] as f64 + 3.0 * sd_ns;
        let below = durations_ns.partition_point(|ns| *ns as f64 <= bound);
        let above_3_sigma = count - below as u64;
        Some(Self { count, sum_ns, min_ns, max_ns, mean_ns, sd_ns, quantiles_ns, above_3_sigma })
    }

    /// The middle one by nearest rank.
    pub const fn median_ns(&self) -> u64 {
        self.quantiles_ns[0]
    }

    /// The bound of "above 3 sigma".
    pub fn three_sigma_ns(&self) -> f64 {
        self.median_ns() as f64 + 3.0 * self.sd_ns
    }

    /// The share above it, in `[0, 1]`.
    pub fn share_above_3_sigma(&self) -> f64 {
        self.above_3_sigma as f64 / self.count as f64
    }
}

/// "So much of all durations is within the limit."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The longest duration that is still good, in nanoseconds.
    pub limit_ns: u64,
    /// The share that has to be within it, in millionths, `[0, 1_000_000]`.
    pub share_millionths: u32,
}

impl Requirement {
    /// 99.7 % within the limit, as the evaluations of PHOENIX have it: less than 0.3 % above.
    pub const fn within(limit_ns: u64) -> Self {
        Self { limit_ns, share_millionths: 997_000 }
    }

    /// Judges ascending durations by exact counts.
    pub fn judge(self, durations_ns: &[u64]) -> Verdict {
        let within = durations_ns.partition_point(|ns| *ns <= self.limit_ns) as u64;
        Verdict {
            requirement: self,
            count: durations_ns.len() as u64,
            within,
            ..Verdict::default()
        }
    }

    /// Whether so many above the limit are few enough. A requirement of 100 % leaves nothing, and
    /// nothing above meets it.
    fn allows(self, above: u64, count: u64) -> bool {
        let left = 1_000_000 - self.share_millionths.min(1_000_000);
        let allowed = u128::from(count) * u128::from(left);
        u128::from(above) * 1_000_000 < allowed || above == 0
    }
}

impl Default for Requirement {
    /// 99.7 % within no time at all.
    fn default() -> Self {
        Self::within(0)
    }
}

/// Population that a verdict counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Population {
    /// Pairs of a root and a leaf that arrived, or single transactions.
    #[default]
    Chains,
    /// All roots, arrived or not.
    Roots,
}

impl Population {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chains => "chains",
            Self::Roots => "roots",
        }
    }
}

/// Outcome of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictState {
    /// The requirement holds, whatever the undecided ones become.
    Holds,
    /// The requirement does not hold, whatever the undecided ones become.
    DoesNotHold,
    /// The outcome depends on undecided ones, or nothing was measured.
    Undetermined,
}

impl VerdictState {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does_not_hold",
            Self::Undetermined => "undetermined",
        }
    }
}

/// Whether durations meet a requirement. Displays as a sentence. The requirement holds if it would
/// hold with all undecided chains above the limit, and is not met when it would not be with
/// everything that is not decided within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The requirement judged.
    pub requirement: Requirement,
    /// The population counted.
    pub population: Population,
    /// Number of judged roots or chains.
    pub count: u64,
    /// Number of these that are certainly within the limit.
    pub within: u64,
    /// Number of these that may be within the limit or above it.
    pub undecided: u64,
    /// Largest number of further ones, not in `count`; `u64::MAX` when it is not known.
    pub unseen: u64,
    /// Number of roots that did not arrive, where no arrival was required.
    pub not_arrived: u64,
}

impl Verdict {
    /// Outcome of the verdict. Without a measurement it is undetermined.
    pub fn state(&self) -> VerdictState {
        if self.count == 0 {
            return VerdictState::Undetermined;
        }
        let (requirement, above) = (self.requirement, self.above());
        let most = self.count.saturating_add(self.unseen);
        let worst = above.saturating_add(self.undecided).saturating_add(self.unseen);
        if requirement.allows(worst, most) && self.not_arrived == 0 {
            VerdictState::Holds
        } else if requirement.allows(above, most) {
            VerdictState::Undetermined
        } else {
            VerdictState::DoesNotHold
        }
    }

    /// Whether the requirement certainly holds.
    pub fn holds(&self) -> bool {
        self.state() == VerdictState::Holds
    }

    /// Number of those that are certainly above the limit, or never arrive.
    pub const fn above(&self) -> u64 {
        self.count - self.within - self.undecided
    }

    /// The share above the limit, in `[0, 1]`; 0 when there is nothing.
    pub fn share_above(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.above() as f64 / self.count as f64 }
    }
}

impl fmt::Display for Verdict {
    /// For example `99.74 % of 277,000 chains within 1 s: the requirement holds`. The share is
    /// truncated, not rounded: it never reads better than it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = Nanoseconds(self.requirement.limit_ns);
        if self.count == 0 {
            return write!(f, "no chains: nothing is known about {limit}");
        }
        let hundredths = u128::from(self.within) * 10_000 / u128::from(self.count);
        let (whole, part) = (hundredths / 100, hundredths % 100);
        let count = Thousands(self.count);
        let what = match self.population {
            Population::Chains => "chains",
            Population::Roots => "roots arrived",
        };
        write!(f, "{whole}.{part:02} % of {count} {what} within {limit}: ")?;
        match self.state() {
            VerdictState::Holds => f.write_str("the requirement holds"),
            VerdictState::DoesNotHold => f.write_str("the requirement is not met"),
            VerdictState::Undetermined if self.not_arrived > 0 => {
                let missing = Thousands(self.not_arrived);
                write!(f, "undetermined, because {missing} roots did not arrive at all")
            }
            VerdictState::Undetermined if self.unseen == u64::MAX => {
                f.write_str("undetermined, because it is not known how many did not arrive")
            }
            VerdictState::Undetermined => {
                let undecided = Thousands(self.undecided.saturating_add(self.unseen));
                write!(f, "undetermined, because {undecided} more may be within it or not")
            }
        }
    }
}

/// A count that is displayed with a comma at every thousand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thousands(pub u64);

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chronoscope_figures::numbers::grouped(self.0))
    }
}

/// A duration in the largest unit that leaves it whole: `1 s`, `250 ms`, `1500 µs`.
struct Nanoseconds(u64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];
        let fits = units.iter().find(|(ns, _)| self.0.is_multiple_of(*ns) && self.0 > 0);
        let (ns, unit) = fits.unwrap_or(&(1, "ns"));
        write!(f, "{} {unit}", self.0 / ns)
    }
}

/// Largest number of bits of a digit in [`sort`]: the counters stay in the first-level cache.
const DIGIT_BITS_MAX: u32 = 11;

/// Sorts durations ascending that lie in several pieces. Least significant digits first, and only
/// the digits in which they differ: for millions of chain durations (below a few minutes) several
/// times faster than comparing. The first pass brings the pieces together.
pub fn sort(pieces: &[Vec<u64>]) -> Vec<u64> {
    const FEW: usize = 4096;
    let count = pieces.iter().map(Vec::len).sum();
    if count < FEW {
        let mut all = pieces.concat();
        all.sort_unstable();
        return all;
    }
    let any_bit = pieces.iter().flatten().fold(0, |bits, ns| bits | ns);
    let bits = u64::BITS - any_bit.leading_zeros();
    let digits = bits.div_ceil(DIGIT_BITS_MAX).max(1);
    let digit_bits = bits.div_ceil(digits).max(1);
    let mut slots = first_slots(pieces, digits, digit_bits).into_iter().zip(0..);
    let (mut sorted, mut other) = (vec![0; count], Vec::new());
    if let Some((slots, digit)) = slots.next() {
        let shift = digit * digit_bits;
        scatter(pieces.iter().flatten(), slots, shift, digit_bits, &mut sorted);
    }
    for (slots, digit) in slots {
        other.resize(count, 0);
        scatter(sorted.iter(), slots, digit * digit_bits, digit_bits, &mut other);
        std::mem::swap(&mut sorted, &mut other);
    }
    sorted
}

/// For every value of every digit, the index of the first duration that has it.
fn first_slots(pieces: &[Vec<u64>], digits: u32, digit_bits: u32) -> Vec<Vec<usize>> {
    let mut slots = vec![vec![0usize; 1 << digit_bits]; digits as usize];
    for ns in pieces.iter().flatten() {
        for (slots, digit) in slots.iter_mut().zip(0..) {
            slots[digit_of(*ns, digit * digit_bits, digit_bits)] += 1;
        }
    }
    for slots in &mut slots {
        let mut before = 0;
        for slot in slots {
            before += std::mem::replace(slot, before);
        }
    }
    slots
}

/// Puts every duration into the next free place of its digit.
fn scatter<'a>(
    from: impl Iterator<Item = &'a u64>,
    mut slots: Vec<usize>,
    shift: u32,
    digit_bits: u32,
    to: &mut [u64],
) {
    for ns in from {
        let slot = &mut slots[digit_of(*ns, shift, digit_bits)];
        to[*slot] = *ns;
        *slot += 1;
    }
}

#[inline]
#[allow(clippy::cast_possible_truncation)] // masked to a digit
const fn digit_of(ns: u64, shift: u32, digit_bits: u32) -> usize {
    (ns >> shift) as usize & ((1 << digit_bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let values = [2, 4, 4, 4, 5, 5, 7, 9]; // the textbook's example: mean 5, deviation 2
        let d = Distribution::of_ascending(&values).unwrap();
        assert_eq!((d.count, d.sum_ns, d.min_ns, d.max_ns), (8, 40, 2, 9));
        assert_eq!((d.mean_ns, d.sd_ns, d.median_ns()), (5.0, 2.0, 4));
        assert_eq!(d.quantiles_ns, [4, 9, 9, 9, 9]);
        assert_eq!((d.three_sigma_ns(), d.above_3_sigma), (10.0, 0));
        assert_eq!(Distribution::of_ascending(&[]), None);
    }

    #[test]
    fn above_three_sigma_counts_from_the_median() {
        let mut values = vec![10; 999];
        values.push(1_000_000);
        let d = Distribution::of_ascending(&values).unwrap();
        assert_eq!(d.above_3_sigma, 1);
        assert_eq!(d.share_above_3_sigma(), 0.001);
    }

    fn verdict(count: u64, within: u64) -> Verdict {
        let requirement = Requirement::within(1_000_000_000);
        Verdict { requirement, count, within, ..Verdict::default() }
    }

    #[test]
    fn what_is_not_decided_decides_neither_way() {
        let of = |within, undecided, unseen| Verdict { undecided, unseen, ..verdict(1000, within) };
        assert_eq!(of(998, 0, 0).state(), VerdictState::Holds);
        assert_eq!(of(997, 1, 0).state(), VerdictState::Undetermined, "3 of 1000 are too many");
        assert_eq!(of(999, 1, 0).state(), VerdictState::Holds, "even if it were above");
        assert_eq!(of(990, 7, 0).state(), VerdictState::DoesNotHold, "3 are above for certain");
        assert_eq!(of(1000, 0, 4).state(), VerdictState::Undetermined);
        assert_eq!(of(997, 0, 100).state(), VerdictState::Undetermined, "3 of 1100 may be few");
        let some_missing = Verdict { not_arrived: 1, ..verdict(1000, 1000) };
        assert_eq!(
            some_missing.state(),
            VerdictState::Undetermined,
            "it is not said what they need"
        );
        assert_eq!(
            Verdict { population: Population::Roots, ..of(200, 800, 0) }.to_string(),
            "20.00 % of 1,000 roots arrived within 1 s: undetermined, because 800 more may be \
             within it or not"
        );
    }

    #[test]
    fn the_sentence() {
        // Counts as in the published evaluation: 712 of some 277,000 above.
        assert_eq!(
            verdict(277_000, 277_000 - 712).to_string(),
            "99.74 % of 277,000 chains within 1 s: the requirement holds"
        );
        assert_eq!(
            verdict(1000, 997).to_string(),
            "99.70 % of 1,000 chains within 1 s: the requirement is not met"
        );
        assert!(verdict(1001, 998).to_string().ends_with("the requirement holds"));
        assert_eq!(verdict(0, 0).to_string(), "no chains: nothing is known about 1 s");
        let all = Requirement { limit_ns: 1_500_000, share_millionths: 1_000_000 };
        assert_eq!(
            all.judge(&[1, 1_500_000]).to_string(),
            "100.00 % of 2 chains within 1500 µs: the requirement holds"
        );
        assert!(!all.judge(&[1, 1_500_001]).holds());
    }

    proptest! {
        #[test]
        fn sorts(
            values in prop::collection::vec(any::<u64>(), 0..9000),
            shift in 0u32..64,
            pieces in 1usize..5000,
        ) {
            let values: Vec<u64> = values.into_iter().map(|ns| ns >> shift).collect();
            let pieces: Vec<Vec<u64>> = values.chunks(pieces).map(<[_]>::to_vec).collect();
            let sorted = sort(&pieces);
            let mut expected = values;
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }
}
