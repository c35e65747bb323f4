//! The few statistics that verdicts need.

/// The value at a part `q` of the sorted values, interpolated; `None` without values.
pub(super) fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = q * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0..=last")]
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64))
}

pub(super) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// The two-sided probability of a value of Student's t at least as far from 0 as `t`, with
/// `freedom` degrees. By the continued fraction of the incomplete beta function.
pub(crate) fn t_probability(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The regularised incomplete beta function I_x(a, b).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges where x is small enough; elsewhere its mirror image does.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front =
        (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    front * beta_fraction(x, a, b)
}

/// Lentz's evaluation of the continued fraction (DLMF 8.17.22).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / keep(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..300 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for step in [even, odd] {
            d = 1.0 / keep(1.0 + step * d);
            c = keep(1.0 + step / c);
            fraction *= c * d;
            factor = c * d;
        }
        if (factor - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

/// The logarithm of the gamma function of a positive value (Lanczos, g = 7, nine terms).
fn log_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let base = x + 7.5;
    let sum = TERMS
        .iter()
        .zip(0_u8..)
        .skip(1)
        .fold(TERMS[0], |sum, (term, index)| sum + term / (x + f64::from(index)));
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * base.ln() - base + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a table of Student's t, two-sided.
    #[test]
    fn probabilities_of_t_are_those_of_the_table() {
        for (t, freedom, expected) in [
            (12.706, 1.0, 0.05),
            (2.228, 10.0, 0.05),
            (3.169, 10.0, 0.01),
            (2.042, 30.0, 0.05),
            (3.291, 1e6, 0.001),
            (0.0, 5.0, 1.0),
        ] {
            let found = t_probability(t, freedom);
            assert!((found / expected - 1.0).abs() < 2e-3, "{t} {freedom}: {found}");
        }
    }

    #[test]
    fn quantiles_are_interpolated() {
        let values = sorted([4.0, 1.0, 2.0, 3.0]);
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(median(values), Some(2.5));
        assert_eq!(median([]), None);
    }
}
