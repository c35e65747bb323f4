//! Fisher's exact test: whether two sets have the same share of something.

use statrs::function::factorial::ln_binomial;

/// The chance that `counts[0] + counts[1]` things are divided between sets of these `sizes` in a
/// way at most as likely as this one, where chance alone divides them; in `[0, 1]`, two-sided (R.
/// A. Fisher, The Design of Experiments, 1935). Costs a logarithm for each possible division.
///
/// ```
/// // The lady tasting tea: she recognised three of the four cups of each kind.
/// let chance = chronoscope_statistics::fisher_exact([3, 1], [4, 4]);
/// assert!((chance - 34.0 / 70.0).abs() < 1e-9);
/// ```
pub fn fisher_exact(counts: [u64; 2], sizes: [u64; 2]) -> f64 {
    let all = counts[0] + counts[1];
    let ln_chance = |in_b: u64| ln_binomial(sizes[1], in_b) + ln_binomial(sizes[0], all - in_b);
    let ln_whole = ln_binomial(sizes[0] + sizes[1], all);
    // Chances that are equal differ by rounding: a margin of 1e-7 counts them as equal.
    let observed = ln_chance(counts[1]) + 1e-7;
    let possible = all.saturating_sub(sizes[0])..=all.min(sizes[1]);
    let rare = possible.map(ln_chance).filter(|ln| *ln <= observed);
    rare.map(|ln| (ln - ln_whole).exp()).sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fisher's lady tasting tea, who recognised three of the four cups of each kind: 34 of 70
    /// divisions are at most as likely.
    #[test]
    fn the_lady_tasting_tea() {
        assert!((fisher_exact([3, 1], [4, 4]) - 34.0 / 70.0).abs() < 1e-9);
        assert!((fisher_exact([4, 0], [4, 4]) - 2.0 / 70.0).abs() < 1e-9);
        assert!((fisher_exact([0, 0], [4, 4]) - 1.0).abs() < 1e-9);
    }
}
