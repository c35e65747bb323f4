//! The difference of two means.

use crate::student;

/// Count, mean and spread of a set of values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Number of values.
    pub count: u64,
    /// Mean of the values.
    pub mean: f64,
    /// Their standard deviation as a population (divided by n).
    pub sd: f64,
}

/// The difference of two means, by Welch's test: the spreads may differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanDifference {
    /// The second mean less the first.
    pub difference: f64,
    /// The true difference is within these with 95 % confidence.
    pub interval: (f64, f64),
    /// The chance of a difference at least as large where the true means are equal, in `[0, 1]`.
    pub p_value: f64,
}

impl MeanDifference {
    /// Compares the means of two sets; `None` where one has fewer than two values.
    pub fn between(a: &Moments, b: &Moments) -> Option<Self> {
        if a.count < 2 || b.count < 2 {
            return None;
        }
        // The variance of a mean, from the population's.
        let of_mean = |m: &Moments| m.sd * m.sd / (m.count - 1) as f64;
        let (var_a, var_b) = (of_mean(a), of_mean(b));
        let difference = b.mean - a.mean;
        let variance = var_a + var_b;
        if variance <= 0.0 {
            let p_value = if difference == 0.0 { 1.0 } else { 0.0 };
            return Some(Self { difference, interval: (difference, difference), p_value });
        }
        // Welch and Satterthwaite's degrees of freedom.
        let squares = |var: f64, m: &Moments| var * var / (m.count - 1) as f64;
        let freedom = variance * variance / (squares(var_a, a) + squares(var_b, b));
        let error = variance.sqrt();
        let half = error * student::quantile_two_sided(0.05, freedom);
        Some(Self {
            difference,
            interval: (difference - half, difference + half),
            p_value: student::two_sided(difference / error, freedom),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Welch's own arithmetic on two small sets: t = 4 / sqrt(2.5/4 + 10/4) on 5.88 degrees.
    #[test]
    fn welch_by_hand() {
        // 1, 2, 3, 4, 5 and 3, 5, 7, 9, 11: population variances 2 and 8.
        let a = Moments { count: 5, mean: 3.0, sd: 2f64.sqrt() };
        let b = Moments { count: 5, mean: 7.0, sd: 8f64.sqrt() };
        let found = MeanDifference::between(&a, &b).unwrap();
        assert_eq!(found.difference, 4.0);
        // scipy.stats.ttest_ind([3,5,7,9,11], [1,2,3,4,5], equal_var=False): t = 2.5298.
        let t = 4.0 / 2.5f64.sqrt();
        let freedom: f64 = 2.5 * 2.5 / (0.5 * 0.5 / 4.0 + 2.0 * 2.0 / 4.0);
        assert!((freedom - 5.882).abs() < 1e-3 && (t - 2.5298).abs() < 1e-4);
        assert!((found.p_value - student::two_sided(t, freedom)).abs() < 1e-12);
        assert!(found.interval.0 > 0.0 && found.p_value < 0.05, "{found:?}");
        assert!((found.interval.0 + found.interval.1 - 8.0).abs() < 1e-9);
        assert_eq!(MeanDifference::between(&a, &Moments { count: 1, ..b }), None);
        let same = Moments { count: 9, mean: 5.0, sd: 0.0 };
        assert_eq!(MeanDifference::between(&same, &same).unwrap().p_value, 1.0);
    }
}
