//! The Kolmogorov-Smirnov test: whether two sets come from one distribution.
//!
//! The test takes the values of a set as independent. Chains that follow each other closely are not
//! quite: they share queues and load. The p-value is therefore rather too small, and a difference
//! that the test does not find significant is not significant.

/// Difference of two distributions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// Largest difference of the two cumulative distributions, in `[0, 1]`.
    pub statistic: f64,
    /// Probability of a difference at least as large when both distributions are the same, in `[0,
    /// 1]`: asymptotic, with Stephens' correction for small sets (Press et al., Numerical Recipes,
    /// 3rd ed., 14.3.3).
    pub p_value: f64,
}

impl KolmogorovSmirnov {
    /// Compares two ascending sets; `None` where one is empty. Equal values count as equal.
    pub fn of_ascending<T: PartialOrd + Copy>(a: &[T], b: &[T]) -> Option<Self> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (count_a, count_b) = (a.len() as f64, b.len() as f64);
        let (mut i, mut j, mut statistic) = (0, 0, 0.0_f64);
        while i < a.len() && j < b.len() {
            let value = if a[i] <= b[j] { a[i] } else { b[j] };
            while a.get(i).is_some_and(|next| *next <= value) {
                i += 1;
            }
            while b.get(j).is_some_and(|next| *next <= value) {
                j += 1;
            }
            statistic = statistic.max((i as f64 / count_a - j as f64 / count_b).abs());
        }
        let root = (count_a * count_b / (count_a + count_b)).sqrt();
        let p_value = kolmogorov((root + 0.12 + 0.11 / root) * statistic);
        Some(Self { statistic, p_value })
    }
}

/// Probability that Kolmogorov's distribution exceeds `x`: 2 Σ (−1)^(j−1) exp(−2 j² x²).
fn kolmogorov(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0; // to within 1e-12, where the sum would have to go on for long
    }
    let mut sum = 0.0;
    let mut sign = 1.0;
    for j in 1..100 {
        let term = (-2.0 * f64::from(j * j) * x * x).exp();
        sum += sign * term;
        if term < 1e-16 {
            break;
        }
        sign = -sign;
    }
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Critical values of Kolmogorov's distribution, as printed (Smirnov 1948).
    #[test]
    fn as_the_table_of_kolmogorov_says() {
        for (x, p) in
            [(1.0728, 0.20), (1.2239, 0.10), (1.3581, 0.05), (1.5174, 0.02), (1.6276, 0.01)]
        {
            assert!((kolmogorov(x) - p).abs() < 5e-5, "{x}: {}", kolmogorov(x));
        }
        assert_eq!(kolmogorov(0.0), 1.0);
        assert!((kolmogorov(0.2) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn two_sets_by_hand() {
        let found = KolmogorovSmirnov::of_ascending(&[1, 2, 3, 4], &[3, 4, 5, 6]).unwrap();
        assert!((found.statistic - 0.5).abs() < 1e-12);
        let same = KolmogorovSmirnov::of_ascending(&[1, 1, 2], &[1, 1, 2]).unwrap();
        assert_eq!((same.statistic, same.p_value), (0.0, 1.0));
        assert_eq!(KolmogorovSmirnov::of_ascending::<u64>(&[], &[1]), None);
    }

    proptest! {
        /// The definition: the largest gap between the two step functions.
        #[test]
        fn the_statistic_is_the_largest_gap(
            mut a in prop::collection::vec(0i64..60, 1..80),
            mut b in prop::collection::vec(0i64..60, 1..80),
        ) {
            a.sort_unstable();
            b.sort_unstable();
            let share = |set: &[i64], at: i64| {
                set.iter().filter(|v| **v <= at).count() as f64 / set.len() as f64
            };
            let gap = (0..60).map(|at| (share(&a, at) - share(&b, at)).abs()).fold(0.0, f64::max);
            let found = KolmogorovSmirnov::of_ascending(&a, &b).unwrap();
            prop_assert!((found.statistic - gap).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&found.p_value));
            let turned = KolmogorovSmirnov::of_ascending(&b, &a).unwrap();
            prop_assert_eq!(found, turned);
        }
    }
}
