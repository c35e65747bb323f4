//! Where the quantile of a population is, said by a sample of it.

use chronoscope_model::{Quantile, nearest_rank};

/// A quantile of a sample, and where that of the population is with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Interval {
    /// Of the sample: the nearest rank, in nanoseconds.
    pub value_ns: u64,
    /// The population's is not below this, in nanoseconds; 0 where the sample is too small to say.
    pub low_ns: u64,
    /// Nor above this; `None` where the sample is too small to say.
    pub high_ns: Option<u64>,
}

/// By order statistics (H. A. David, *Order Statistics*, 1981, 2.5): whatever the distribution, the
/// number of values below the population's quantile is binomial, so that two ranks enclose it with
/// at least 95 %, at most 2.5 % on either side. `None` without any value.
#[must_use]
pub fn interval(ascending_ns: &[u64], quantile: Quantile) -> Option<Interval> {
    let value_ns = nearest_rank(ascending_ns, quantile)?;
    // The least and the greatest of a population have no interval; next to them there is one.
    let share = (f64::from(quantile.millionths()) / 1e6).clamp(1e-6, 1.0 - 1e-6);
    let (low, high) = ranks(ascending_ns.len(), share, 0.025);
    let low_ns = low.and_then(|rank| ascending_ns.get(rank - 1)).copied().unwrap_or(0);
    Some(Interval { value_ns, low_ns, high_ns: ascending_ns.get(high - 1).copied() })
}

/// Ranks from 1 that enclose the quantile of the population, each missing it with at most `tail`:
/// the greatest with P(B < low) <= tail, and the least with P(B >= high) <= tail, where B of `count`
/// values are at or below the quantile. `None` and `count + 1`: no value of the sample does.
#[must_use]
pub(crate) fn ranks(count: usize, share: f64, tail: f64) -> (Option<usize>, usize) {
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

/// P(B = hits) of `count` trials, by logarithms, so that no count is too large.
fn binomial(count: usize, hits: usize, share: f64) -> f64 {
    let ways = log_factorial(count) - log_factorial(hits) - log_factorial(count - hits);
    (ways + hits as f64 * share.ln() + (count - hits) as f64 * (1.0 - share).ln()).exp()
}

/// ln n!: summed while that is short, else by Stirling's series, right to 1e-10 there.
fn log_factorial(n: usize) -> f64 {
    if n < 32 {
        return (2..=n).map(|factor| (factor as f64).ln()).sum();
    }
    let n = n as f64;
    let series = 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3)) + 1.0 / (1260.0 * n.powi(5));
    n * n.ln() - n + 0.5 * (std::f64::consts::TAU * n).ln() + series
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    /// The median of 10: ranks 2 and 9, which miss it with 2 × 11/1024 (the usual table).
    #[test]
    fn as_in_the_table() {
        assert_eq!(ranks(10, 0.5, 0.025), (Some(2), 9));
        assert_eq!(ranks(5, 0.5, 0.025), (None, 6), "five values enclose it with 94 % only");
        assert_eq!(ranks(100, 0.5, 0.025), (Some(40), 61));
        let ten: Vec<u64> = (1..=10).collect();
        let found = interval(&ten, Quantile::P90).unwrap();
        assert_eq!(found, Interval { value_ns: 9, low_ns: 7, high_ns: None });
        assert_eq!(interval(&[], Quantile::P50), None);
    }

    #[test]
    fn factorials_meet_where_the_series_takes_over() {
        let summed: f64 = (2..=40).map(|factor| f64::from(factor).ln()).sum();
        assert!((log_factorial(40) - summed).abs() < 1e-9);
    }

    /// Of 1000 samples of 150, the true 90th percentile is enclosed as often as said.
    #[test]
    fn encloses_what_it_says() {
        let mut random = Random(11);
        let true_ns = 1e6 * 10f64.ln();
        let holds = (0..1000).filter(|_| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let mut sample: Vec<u64> = (0..150).map(|_| random.exponential(1e6) as u64).collect();
            sample.sort_unstable();
            let found = interval(&sample, Quantile::P90).unwrap();
            found.low_ns as f64 <= true_ns && true_ns <= found.high_ns.unwrap() as f64
        });
        let holds = holds.count();
        assert!((940..=985).contains(&holds), "{holds}");
    }
}
