//! Standard error of a statistic, estimated from samples drawn from the sample itself (the
//! bootstrap; B. Efron, 1979).

use crate::{Quantile, Random, nearest_rank};

/// Draws as many values as there are from `ascending`, with replacement, and returns the deviation
/// of the drawn values' quantile from the quantile of all. 0 when `ascending` is empty.
pub fn quantile_deviation(random: &mut Random, ascending: &[f64], quantile: Quantile) -> f64 {
    let Some(value) = nearest_rank(ascending, quantile) else { return 0.0 };
    let count = ascending.len() as u64;
    let mut ranks: Vec<u64> = (0..count).map(|_| random.bits() % count).collect();
    ranks.sort_unstable();
    let drawn = nearest_rank(&ranks, quantile).and_then(|rank| usize::try_from(rank).ok());
    drawn.and_then(|rank| ascending.get(rank)).map_or(0.0, |drawn| drawn - value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard error of the median of n normal values is 1.2533 / √n.
    #[test]
    fn the_spread_of_a_median_is_what_theory_says() {
        let mut random = Random(3);
        // The sum of twelve uniform values is close enough to normal (Irwin and Hall).
        let mut values: Vec<f64> =
            (0..900).map(|_| (0..12).map(|_| random.share()).sum::<f64>() - 6.0).collect();
        values.sort_by(f64::total_cmp);
        let draws = 2000;
        let squares: f64 = (0..draws)
            .map(|_| quantile_deviation(&mut random, &values, Quantile::P50).powi(2))
            .sum();
        let error = (squares / f64::from(draws)).sqrt();
        assert!((error / (1.2533 / 30.0) - 1.0).abs() < 0.25, "{error}");
        assert_eq!(quantile_deviation(&mut random, &[], Quantile::P50), 0.0);
    }
}
