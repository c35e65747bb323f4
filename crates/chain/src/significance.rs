//! Whether two sets of durations differ: Kolmogorov and Smirnov's test, and Welch's.
//!
//! Both take the durations of a set as independent of each other. Chains that follow each other
//! closely are not quite: they share queues and load. So a p-value here is too small rather than
//! too large, and a difference that it does not show is not there to be shown.

/// How far apart two distributions are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// The largest difference of the two cumulative shares, in `[0, 1]`.
    pub statistic: f64,
    /// The chance of one at least as large where both are the same, in `[0, 1]`: asymptotic, with
    /// Stephens' correction for small sets (Press et al., Numerical Recipes, 3rd ed., 14.3.3).
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

/// The chance that Kolmogorov's distribution exceeds `x`: 2 Σ (−1)^(j−1) exp(−2 j² x²).
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

/// Count, mean and spread of a set of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// How many.
    pub count: u64,
    /// Their mean, in nanoseconds.
    pub mean_ns: f64,
    /// Their standard deviation as a population (divided by n), in nanoseconds.
    pub sd_ns: f64,
}

/// The difference of two means, by Welch's test: the spreads may differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanDifference {
    /// The second mean less the first, in nanoseconds.
    pub difference_ns: f64,
    /// The true difference is within these with 95 % confidence, in nanoseconds.
    pub interval_ns: (f64, f64),
    /// The chance of a difference at least as large where the true means are equal, in `[0, 1]`.
    pub p_value: f64,
}

impl MeanDifference {
    /// Compares the means of two sets; `None` where one has fewer than two durations.
    pub fn between(a: &Moments, b: &Moments) -> Option<Self> {
        if a.count < 2 || b.count < 2 {
            return None;
        }
        // The variance of a mean, from the population's.
        let of_mean = |m: &Moments| m.sd_ns * m.sd_ns / (m.count - 1) as f64;
        let (var_a, var_b) = (of_mean(a), of_mean(b));
        let difference_ns = b.mean_ns - a.mean_ns;
        let variance = var_a + var_b;
        if variance <= 0.0 {
            let p_value = if difference_ns == 0.0 { 1.0 } else { 0.0 };
            return Some(Self {
                difference_ns,
                interval_ns: (difference_ns, difference_ns),
                p_value,
            });
        }
        // Welch and Satterthwaite's degrees of freedom.
        let squares = |var: f64, m: &Moments| var * var / (m.count - 1) as f64;
        let freedom = variance * variance / (squares(var_a, a) + squares(var_b, b));
        let error = variance.sqrt();
        let half = error * student_quantile_975(freedom);
        Some(Self {
            difference_ns,
            interval_ns: (difference_ns - half, difference_ns + half),
            p_value: student_two_sided(difference_ns / error, freedom),
        })
    }
}

/// The chance that Student's t exceeds |t| on either side.
fn student_two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// Student's t that is exceeded by 2.5 %.
fn student_quantile_975(freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if student_two_sided(middle, freedom) > 0.05 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The regularized incomplete beta function I_x(a, b), by its continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() * beta_fraction(a, b, x) / a
    } else {
        1.0 - front.exp() * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// Lentz's way through the continued fraction of the incomplete beta function.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / keep(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / keep(1.0 + term * d);
            c = keep(1.0 + term / c);
            value *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for positive numbers, by Stirling's series.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    // Stirling's series is good to 1e-15 from 15 on; below, Γ(x) = Γ(x + 1) / x.
    let (mut x, mut shift) = (x, 0.0);
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square)
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
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

    /// Student's t at 97.5 %, as printed in every textbook.
    #[test]
    fn as_the_table_of_student_says() {
        let table = [
            (1.0, 12.706),
            (2.0, 4.303),
            (5.0, 2.571),
            (10.0, 2.228),
            (30.0, 2.042),
            (120.0, 1.980),
        ];
        for (freedom, t) in table {
            let ours = student_quantile_975(freedom);
            assert!((ours - t).abs() < 6e-4, "{freedom}: {ours}");
        }
        assert!((student_quantile_975(1e9) - 1.959_964).abs() < 1e-5, "normal in the end");
    }

    /// Welch's own arithmetic on two small sets: t = 4 / sqrt(2.5/4 + 10/4) on 5.88 degrees.
    #[test]
    fn welch_by_hand() {
        // 1, 2, 3, 4, 5 and 3, 5, 7, 9, 11: population variances 2 and 8.
        let a = Moments { count: 5, mean_ns: 3.0, sd_ns: 2f64.sqrt() };
        let b = Moments { count: 5, mean_ns: 7.0, sd_ns: 8f64.sqrt() };
        let found = MeanDifference::between(&a, &b).unwrap();
        assert_eq!(found.difference_ns, 4.0);
        // scipy.stats.ttest_ind([3,5,7,9,11], [1,2,3,4,5], equal_var=False): t = 2.5298.
        let t = 4.0 / 2.5f64.sqrt();
        let freedom: f64 = 2.5 * 2.5 / (0.5 * 0.5 / 4.0 + 2.0 * 2.0 / 4.0);
        assert!((freedom - 5.882).abs() < 1e-3 && (t - 2.5298).abs() < 1e-4);
        assert!((found.p_value - student_two_sided(t, freedom)).abs() < 1e-12);
        assert!(found.interval_ns.0 > 0.0 && found.p_value < 0.05, "{found:?}");
        assert!((found.interval_ns.0 + found.interval_ns.1 - 8.0).abs() < 1e-9);
        assert_eq!(MeanDifference::between(&a, &Moments { count: 1, ..b }), None);
        let same = Moments { count: 9, mean_ns: 5.0, sd_ns: 0.0 };
        assert_eq!(MeanDifference::between(&same, &same).unwrap().p_value, 1.0);
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
        /// The definition read aloud: the largest gap between the two step functions.
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

        /// I_x(a, b) + I_(1−x)(b, a) = 1, and it rises with x.
        #[test]
        fn the_beta_function_is_whole(a in 0.2f64..500.0, b in 0.2f64..500.0, x in 0.001f64..0.999) {
            let sum = incomplete_beta(a, b, x) + incomplete_beta(b, a, 1.0 - x);
            prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            prop_assert!(incomplete_beta(a, b, x) <= incomplete_beta(a, b, x + 0.001) + 1e-12);
        }

        /// ln Γ(x + 1) = ln Γ(x) + ln x.
        #[test]
        fn gamma_grows_as_it_should(x in 0.1f64..200.0) {
            let step = ln_gamma(x + 1.0) - ln_gamma(x) - x.ln();
            prop_assert!(step.abs() < 1e-11 * (1.0 + ln_gamma(x).abs()), "{step}");
        }
    }
}
