//! Student's t distribution.

use statrs::function::beta::beta_reg;

/// The chance that Student's t with `freedom` degrees (above 0) is at least as far from 0 as `t`,
/// on either side, in `[0, 1]` (NIST/SEMATECH e-Handbook, 1.3.6.6.4).
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    if !square.is_finite() {
        return 0.0;
    }
    // I_x(a, b) = 1 − I_(1−x)(b, a): near the middle 1 − x is what keeps its digits.
    let sum = freedom + square;
    if square < 1.0 {
        return 1.0 - beta_reg(0.5, freedom / 2.0, square / sum);
    }
    beta_reg(freedom / 2.0, 0.5, freedom / sum)
}

/// The t that is exceeded on both sides together with this `probability`, in `(0, 1)`, with
/// `freedom` degrees (above 0); at most 1e9.
///
/// [`two_sided`] falls with t, so it is inverted by halving: 200 halves leave no bit undecided, and
/// there is one function whose digits have to be right.
pub fn quantile_two_sided(probability: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, freedom) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Student's t as printed in every textbook: both sides together.
    const TABLE: [(f64, f64, f64); 11] = [
        (12.706, 1.0, 0.05),
        (4.303, 2.0, 0.05),
        (2.571, 5.0, 0.05),
        (2.228, 10.0, 0.05),
        (3.169, 10.0, 0.01),
        (2.042, 30.0, 0.05),
        (1.980, 120.0, 0.05),
        (63.657, 1.0, 0.01),
        (1.812, 10.0, 0.10),
        (3.291, 1e6, 0.001),
        (1.960, 1e9, 0.05),
    ];

    #[test]
    fn as_the_table_says() {
        for (t, freedom, probability) in TABLE {
            let found = two_sided(t, freedom);
            assert!((found / probability - 1.0).abs() < 2e-3, "{t} {freedom}: {found}");
            let found = quantile_two_sided(probability, freedom);
            assert!((found - t).abs() < 1e-3, "{probability} {freedom}: {found}");
        }
        assert_eq!(two_sided(0.0, 5.0), 1.0);
        assert_eq!(two_sided(f64::INFINITY, 5.0), 0.0);
    }

    /// The density integrated by Simpson's rule from 0 to t: nothing in common with the
    /// implementation but the definition.
    fn integrated(t: f64, freedom: i32) -> f64 {
        // Γ((n+1)/2) / (√(nπ) Γ(n/2)), by the recurrence over whole degrees of freedom.
        let mut factor = match freedom % 2 {
            0 => 1.0 / (2.0 * 2f64.sqrt()),
            _ => std::f64::consts::FRAC_1_PI,
        };
        let mut at = if freedom % 2 == 0 { 2 } else { 1 };
        while at < freedom {
            let n = f64::from(at);
            factor *= (n + 1.0) / n * (n / (n + 2.0)).sqrt();
            at += 2;
        }
        let n = f64::from(freedom);
        let density = |x: f64| factor * (1.0 + x * x / n).powf(-(n + 1.0) / 2.0);
        const STEPS: u32 = 20_000;
        let step = t / f64::from(STEPS);
        let weighed = (0..=STEPS).map(|index| {
            let weight = match index {
                0 | STEPS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * density(f64::from(index) * step)
        });
        1.0 - 2.0 * weighed.sum::<f64>() * step / 3.0
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn as_the_integral_of_the_density(t in 0.0f64..8.0, freedom in 1i32..300) {
            let (found, integral) = (two_sided(t, f64::from(freedom)), integrated(t, freedom));
            prop_assert!((found - integral).abs() < 1e-9, "{found} {integral}");
        }

        #[test]
        fn the_quantile_is_the_inverse(probability in 0.0001f64..0.9999, freedom in 1.0f64..1e6) {
            let t = quantile_two_sided(probability, freedom);
            let back = two_sided(t, freedom);
            prop_assert!((back / probability - 1.0).abs() < 1e-9, "{t}: {back}");
        }
    }
}
