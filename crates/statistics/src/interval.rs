//! Confidence interval of a population's quantile, from a sample.

use crate::{Quantile, nearest_rank};
use statrs::function::factorial::ln_binomial;

/// A quantile of a sample, with the 95 % confidence interval of the population's quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileInterval {
    /// The sample's quantile, by nearest rank.
    pub value: u64,
    /// Lower bound of the population's quantile; 0 where the sample is too small for one.
    pub low: u64,
    /// Upper bound of the population's quantile; `None` where the sample is too small for one.
    pub high: Option<u64>,
}

/// Estimates the population's quantile by order statistics (H. A. David, *Order Statistics*, 1981,
/// 2.5): whatever the distribution, the number of values below the population's quantile is
/// binomial, so two ranks enclose it with at least 95 %, and miss it with at most 2.5 % on either
/// side. `None` without any value.
#[must_use]
pub fn quantile_interval(ascending: &[u64], quantile: Quantile) -> Option<QuantileInterval> {
    let value = nearest_rank(ascending, quantile)?;
    // Quantiles 0 and 1 have no interval: the nearest ones that have one are used.
    let share = (f64::from(quantile.millionths()) / 1e6).clamp(1e-6, 1.0 - 1e-6);
    let (low, high) = quantile_ranks(ascending.len(), share, 0.025);
    let low = low.and_then(|rank| ascending.get(rank - 1)).copied().unwrap_or(0);
    Some(QuantileInterval { value, low, high: ascending.get(high - 1).copied() })
}

/// Ranks from 1 that enclose the quantile of the population, each missing it with at most `tail`:
/// the greatest with P(B < low) <= tail, and the least with P(B >= high) <= tail, where B of `count`
/// values are at or below the quantile. `None` and `count + 1`: no value of the sample does.
#[must_use]
pub fn quantile_ranks(count: usize, share: f64, tail: f64) -> (Option<usize>, usize) {
    let (mut below, mut low, mut high) = (0.0, 0, count + 1);
    for at in 0..=count {
        // Now P(B < at).
        if below <= tail {
            low = at;
        }
        if 1.0 - below <= tail {
            high = at;
            break;
        }
        below += binomial(count, at, share);
    }
    ((low > 0).then_some(low), high)
}

/// P(B = hits) in `count` trials. Logarithms keep large counts from overflowing.
fn binomial(count: usize, hits: usize, share: f64) -> f64 {
    let ln_ways = ln_binomial(count as u64, hits as u64);
    (ln_ways + hits as f64 * share.ln() + (count - hits) as f64 * (1.0 - share).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// The median of 10: ranks 2 and 9, which miss it with 2 × 11/1024 (the usual table).
    #[test]
    fn as_in_the_table() {
        assert_eq!(quantile_ranks(10, 0.5, 0.025), (Some(2), 9));
        assert_eq!(
            quantile_ranks(5, 0.5, 0.025),
            (None, 6),
            "five values enclose it with 94 % only"
        );
        assert_eq!(quantile_ranks(100, 0.5, 0.025), (Some(40), 61));
        let ten: Vec<u64> = (1..=10).collect();
        let found = quantile_interval(&ten, Quantile::P90).unwrap();
        assert_eq!(found, QuantileInterval { value: 9, low: 7, high: None });
        assert_eq!(quantile_interval(&[], Quantile::P50), None);
    }

    /// In 1000 samples of 150, the interval encloses the true 90th percentile as often as promised.
    #[test]
    fn encloses_what_it_says() {
        let mut random = Random(11);
        let truth = 1e6 * 10f64.ln();
        let holds = (0..1000).filter(|_| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let mut sample: Vec<u64> = (0..150).map(|_| random.exponential(1e6) as u64).collect();
            sample.sort_unstable();
            let found = quantile_interval(&sample, Quantile::P90).unwrap();
            found.low as f64 <= truth && truth <= found.high.unwrap() as f64
        });
        let holds = holds.count();
        assert!((940..=985).contains(&holds), "{holds}");
    }
}
