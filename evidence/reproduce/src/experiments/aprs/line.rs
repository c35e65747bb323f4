//! Straight lines through measured points.

/// Distance of the farthest point from the line of least squares, percent of that line's rise from
/// the first x to the last.
///
/// `None` with fewer than three points, of which any two are on a line, or where the line does not
/// rise.
pub(super) fn largest_distance_pct(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 3 {
        return None;
    }
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let slope = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
    let least_x = points.iter().map(|(x, _)| *x).fold(f64::INFINITY, f64::min);
    let most_x = points.iter().map(|(x, _)| *x).fold(f64::NEG_INFINITY, f64::max);
    let rise = slope * (most_x - least_x);
    let distance = |(x, y): &(f64, f64)| (y - mean_y - slope * (x - mean_x)).abs();
    let largest = points.iter().map(distance).fold(0.0, f64::max);
    (rise > 0.0 && largest.is_finite()).then(|| largest / rise * 100.0)
}

#[cfg(test)]
mod tests {
    use super::largest_distance_pct;

    #[test]
    fn points_on_a_line_are_not_off_it() {
        let off = largest_distance_pct(&[(0.0, 8.0), (1000.0, 9.0), (5000.0, 13.0)]).unwrap();
        assert!(off < 1e-9, "{off}");
    }

    /// y = 10, 20, 40 at x = 0, 1, 2: least squares y = 8.33 + 15 x, which rises by 30 and is 3.33
    /// above the middle point.
    #[test]
    fn a_bent_line_is_off_by_what_the_formula_says() {
        let off = largest_distance_pct(&[(0.0, 10.0), (1.0, 20.0), (2.0, 40.0)]).unwrap();
        assert!((off - 100.0 * 10.0 / 3.0 / 30.0).abs() < 1e-9, "{off}");
    }

    #[test]
    fn two_points_and_a_flat_line_show_nothing() {
        assert_eq!(largest_distance_pct(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(largest_distance_pct(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]), None);
        assert_eq!(largest_distance_pct(&[(0.0, 3.0), (1.0, 2.0), (2.0, 1.0)]), None);
    }
}
