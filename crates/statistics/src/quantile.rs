//! The one definition of a quantile: nearest rank.
//!
//! The `q` quantile of `n` ascending values is the one at rank `ceil(q * n)`, counted from 1, and
//! the first when that is 0. It is always a value that was measured, never a mixture of two, and
//! `q` is kept in millionths, so that the rank is integer arithmetic and the same everywhere.

use std::fmt;
use std::str::FromStr;

/// A share of a population, in millionths: `[0, 1_000_000]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantile(u32);

/// A quantile that is not in `[0, 1]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a quantile: expected p50, p99.73 or a share from 0 to 1")]
pub struct QuantileError(pub String);

impl Quantile {
    /// The first quartile.
    pub const P25: Self = Self(250_000);
    /// The median.
    pub const P50: Self = Self(500_000);
    /// The third quartile.
    pub const P75: Self = Self(750_000);
    /// Nine of ten are not above it.
    pub const P90: Self = Self(900_000);
    /// 99 of 100 are not above it.
    pub const P99: Self = Self(990_000);
    /// The share of a normal distribution within three standard deviations, rounded as the
    /// evaluations of PHOENIX have it.
    pub const P99_73: Self = Self(997_300);
    /// 999 of 1000 are not above it.
    pub const P99_9: Self = Self(999_000);

    /// The quantile at `millionths`, in `[0, 1_000_000]`; `None` beyond.
    pub const fn from_millionths(millionths: u32) -> Option<Self> {
        if millionths <= 1_000_000 { Some(Self(millionths)) } else { None }
    }

    /// The quantile in millionths, in `[0, 1_000_000]`.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// The rank, counted from 1, in a population of `count`; 0 when there is nobody.
    #[allow(clippy::cast_possible_truncation)] // at most `count`
    pub const fn rank(self, count: u64) -> u64 {
        if count == 0 {
            return 0;
        }
        let rank = (self.0 as u128 * count as u128).div_ceil(1_000_000) as u64;
        if rank == 0 { 1 } else { rank }
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("p{}", f64::from(self.0) / 10_000.0))
    }
}

impl FromStr for Quantile {
    type Err = QuantileError;

    /// Reads `p99.73` (a percentage) or `0.9973` (a share).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || QuantileError(text.to_owned());
        let share: f64 = match text.strip_prefix('p') {
            Some(percent) => percent.parse::<f64>().map_err(|_| refuse())? / 100.0,
            None => text.parse().map_err(|_| refuse())?,
        };
        if !(0.0..=1.0).contains(&share) {
            return Err(refuse());
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked just above
        Ok(Self((share * 1e6).round() as u32))
    }
}

/// The quantile of an ascending slice; `None` when it is empty.
pub fn nearest_rank<T: Copy>(ascending: &[T], quantile: Quantile) -> Option<T> {
    let rank = usize::try_from(quantile.rank(ascending.len() as u64)).ok()?;
    ascending.get(rank.checked_sub(1)?).copied()
}

/// Values from the least to the greatest, in the total order of IEEE 754 (2008, 5.10).
pub fn ascending(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The middle one by nearest rank, of an even number the lower of the two; `None` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    nearest_rank(&ascending(values), Quantile::P50)
}

/// The median of ascending values of which each counts as often as its weight, which is not
/// negative: the first at which half of the weight is reached; `None` without any weight.
pub fn weighted_median<T: Copy>(ascending: &[(T, f64)]) -> Option<T> {
    let half = ascending.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let reached = |(_, weight): &&(T, f64)| {
        sum += weight;
        *weight > 0.0 && sum >= half
    };
    ascending.iter().find(reached).map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_weight_counts_as_so_many_values() {
        assert_eq!(weighted_median(&[(10, 1.0), (20, 1.0), (30, 2.0)]), Some(20));
        assert_eq!(weighted_median(&[(10, 1.0), (20, 1.0), (30, 2.5)]), Some(30));
        assert_eq!(weighted_median(&[(10, 0.0), (20, 1.0)]), Some(20));
        assert_eq!(weighted_median::<u8>(&[]), None);
    }

    #[test]
    fn by_hand() {
        let values = [10, 20, 30, 40];
        assert_eq!(nearest_rank(&values, Quantile::P50), Some(20));
        assert_eq!(nearest_rank(&values, Quantile(500_001)), Some(30));
        assert_eq!(nearest_rank(&values, Quantile(0)), Some(10));
        assert_eq!(nearest_rank(&values, Quantile(1_000_000)), Some(40));
        assert_eq!(nearest_rank::<u8>(&[], Quantile::P50), None);
    }

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), Some(2.0));
        assert_eq!(median([5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median([]), None);
    }

    #[test]
    fn words() {
        assert_eq!("p99.73".parse(), Ok(Quantile::P99_73));
        assert_eq!("0.9973".parse(), Ok(Quantile::P99_73));
        assert_eq!(Quantile::P99_73.to_string(), "p99.73");
        assert_eq!(Quantile::P50.to_string(), "p50");
        assert!("p101".parse::<Quantile>().is_err());
        assert!("NaN".parse::<Quantile>().is_err());
    }

    proptest! {
        /// At least the share `q` of the values is at or below the quantile, and less than the
        /// share `q` is strictly below it.
        #[test]
        fn splits_the_population(mut v in prop::collection::vec(0u32..50, 1..200), q in 1u32..=1_000_000) {
            v.sort_unstable();
            let value = nearest_rank(&v, Quantile(q)).unwrap();
            let at_or_below = v.iter().filter(|x| **x <= value).count() as u128;
            let below = v.iter().filter(|x| **x < value).count() as u128;
            prop_assert!(at_or_below * 1_000_000 >= u128::from(q) * v.len() as u128);
            prop_assert!(below * 1_000_000 < u128::from(q) * v.len() as u128);
        }
    }
}
