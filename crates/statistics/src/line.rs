//! A straight line through points, by least squares, and the exponent of a power law.

/// A line `y = constant + slope · x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The value at x = 0.
    pub constant: f64,
    /// Growth of y for one of x.
    pub slope: f64,
}

impl Line {
    /// The line with the least sum of squared errors; `None` with fewer than two different x, or
    /// with a point that is not finite.
    #[must_use]
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        Self::weighted(points, |_| 1.0)
    }

    /// The line with the least sum of squared *relative* errors, so that small values count as much
    /// as large ones; `None` as [`Line::fit`], and if a y is not above 0.
    #[must_use]
    pub fn fit_relative(points: &[(f64, f64)]) -> Option<Self> {
        let is_positive = points.iter().all(|(_, y)| *y > 0.0);
        is_positive.then(|| Self::weighted(points, |y| 1.0 / (y * y))).flatten()
    }

    fn weighted(points: &[(f64, f64)], weight: impl Fn(f64) -> f64) -> Option<Self> {
        let total: f64 = points.iter().map(|(_, y)| weight(*y)).sum();
        let mean = |of: fn(&(f64, f64)) -> f64| {
            points.iter().map(|point| weight(point.1) * of(point)).sum::<f64>() / total
        };
        let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
        // Around the means: the difference of two large sums would lose digits.
        let (mut spread, mut common) = (0.0, 0.0);
        for (x, y) in points {
            spread += weight(*y) * (x - x_mean) * (x - x_mean);
            common += weight(*y) * (x - x_mean) * (y - y_mean);
        }
        let slope = common / spread;
        let line = Self { constant: y_mean - slope * x_mean, slope };
        (spread > 0.0 && slope.is_finite() && line.constant.is_finite()).then_some(line)
    }

    /// The value at x.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.constant + self.slope * x
    }
}

/// The exponent `e` of `y = c · x^e`: the slope of the line through the logarithms of both; `None` as
/// [`Line::fit`], and if an x or a y is not above 0.
///
/// ```
/// use chronoscope_statistics::exponent;
///
/// let found = exponent(&[(1.0, 8.0), (2.0, 4.0), (8.0, 1.0)]);
/// assert!(found.is_some_and(|exponent| (exponent + 1.0).abs() < 1e-12));
/// ```
#[must_use]
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let line = Line::fit(&logarithms)?;
    Some(line.slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of a textbook line, y = 3.0 + 0.5 x, of Anscombe's first set.
    #[test]
    fn the_line_of_known_points() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let points: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
        let line = Line::fit(&points).unwrap();
        assert!((line.constant - 3.000_09).abs() < 1e-5, "{line:?}");
        assert!((line.slope - 0.500_09).abs() < 1e-5, "{line:?}");
        assert!((line.at(10.0) - 8.001).abs() < 1e-3);
    }

    /// By hand: weights 1 and 1/4 and 1/4 for (0, 1), (1, 2), (2, 2).
    #[test]
    fn relative_errors_weigh_small_values() {
        let line = Line::fit_relative(&[(0.0, 1.0), (1.0, 2.0), (2.0, 2.0)]).unwrap();
        // Means 0.5 and 4/3; spread 0.25 + 0.0625 + 0.5625; common 1/6 + 1/12 + 1/4.
        assert!((line.slope - 0.5 / 0.875).abs() < 1e-12, "{line:?}");
        assert!((line.constant - (4.0 / 3.0 - 0.25 / 0.875)).abs() < 1e-12, "{line:?}");
        let exact = [100.0, 1000.0, 4000.0, 60_000.0].map(|x: f64| (x, 5.0 + 0.001 * x));
        let line = Line::fit_relative(&exact).unwrap();
        assert!((line.constant - 5.0).abs() < 1e-9 && (line.slope - 0.001).abs() < 1e-12);
    }

    #[test]
    fn no_line_without_two_different_x_or_with_what_is_no_number() {
        assert_eq!(Line::fit(&[]), None);
        assert_eq!(Line::fit(&[(1.0, 2.0)]), None);
        assert_eq!(Line::fit(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(Line::fit(&[(1.0, 2.0), (2.0, f64::NAN)]), None);
        assert_eq!(Line::fit_relative(&[(1.0, 0.0), (2.0, 1.0)]), None);
        assert_eq!(exponent(&[(0.0, 1.0), (2.0, 1.0)]), None);
    }

    #[test]
    fn exponents_of_known_laws() {
        let of = |e: f64| [0.5, 1.0, 3.0, 50.0].map(|x: f64| (x, 7.0 * x.powf(e)));
        for expected in [-1.0, 0.0, 0.5, 1.0] {
            let found = exponent(&of(expected)).unwrap();
            assert!((found - expected).abs() < 1e-12, "{expected}: {found}");
        }
    }
}
