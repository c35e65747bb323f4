//! Holm's correction for several tests.

/// The probabilities of several tests, in their order, corrected for their number (S. Holm, 1979):
/// of tests without any effect at most the part `p` has a corrected probability of `p` or below,
/// whatever they have to do with each other. `tests` is the number of tests made, of which those
/// that are not among `probabilities` count as larger.
pub fn holm(probabilities: &[f64], tests: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut largest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        let left = tests.saturating_sub(rank).max(1) as f64;
        largest = largest.max((probabilities[at] * left).min(1.0));
        corrected[at] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.01 · 4; then 0.02 · 3; 0.03 · 2 is no more than that; 0.5 · 1.
    #[test]
    fn four_tests_by_hand() {
        let found = holm(&[0.5, 0.01, 0.03, 0.02], 4);
        let expected = [0.5, 0.04, 0.06, 0.06];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(holm(&[0.01], 10), [0.1], "nine others were made");
        assert!(holm(&[], 0).is_empty());
    }
}
