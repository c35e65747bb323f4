//! Outliers: the few plots that are much worse than their radar's precision.
//!
//! Split and garbled replies, reflections: a share of all plots is off by several times the usual
//! noise. A filter that took each plot for as good as the others would follow these. Here the noise is
//! a mixture of the usual one and a wide one, and each plot counts as far as it is likely to be one of
//! the usual (Sorenson, Alspach: *Recursive Bayesian estimation using Gaussian sums*, Automatica 7,
//! 1971, with one Gaussian left after each plot).

use super::kinematic::{Innovation, Kinematic, mixture};
use super::linear::{Sym2, Vec2};

/// Assumptions about outliers.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outliers {
    /// Share of plots that are outliers, in `(0, 1)`.
    pub share: f64,
    /// How many times the usual noise they have, above 1.
    pub factor: f64,
}

impl Default for Outliers {
    /// Of no sensor in particular. Tukey's contaminated normal distribution has a factor of 3 and shares of
    /// 1 to 10 % (*A survey of sampling from contaminated distributions*, 1960); any pair in between is
    /// within 3 % of the best on sensors of the trial that have no outliers, others, or Student's noise.
    fn default() -> Self {
        Self { share: 0.03, factor: 3.5 }
    }
}

/// Below this probability of an outlier the plot is taken for a usual one.
const NEGLIGIBLE: f64 = 0.01;

impl Outliers {
    /// Variance of all plots beside that of the usual ones.
    pub(super) fn variance(&self) -> f64 {
        1.0 + self.share * (self.factor * self.factor - 1.0)
    }

    /// Takes the position `z` of usual covariance `r` into `state`; `None` when a covariance is
    /// broken. The distance is that by the usual noise, the likelihood that by both.
    pub(super) fn update(&self, state: &mut Kinematic, z: Vec2, r: Sym2) -> Option<Innovation> {
        let wide = r * (self.factor * self.factor);
        let far = state.innovation(z, wide)?;
        let before = *state;
        let near = state.update(z, r)?;
        let top = near.log_likelihood.max(far.log_likelihood);
        let (usual, outlier) = (
            (1.0 - self.share) * (near.log_likelihood - top).exp(),
            self.share * (far.log_likelihood - top).exp(),
        );
        let sum = usual + outlier;
        let doubt = outlier / sum;
        if doubt > NEGLIGIBLE {
            let mut other = before;
            other.update(z, wide)?;
            *state = mixture(&[*state, other], &[1.0 - doubt, doubt]);
        }
        Some(Innovation { log_likelihood: top + sum.ln(), ..near })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Kinematic {
        Kinematic::from_position(Vec2::default(), Sym2::isotropic(100.0 * 100.0), 10.0)
    }

    #[test]
    fn a_usual_plot_counts_in_full_and_an_outlier_little() {
        let (outliers, r) = (Outliers::default(), Sym2::isotropic(100.0 * 100.0));
        let moved = |x: f64, outliers: &Outliers| {
            let mut state = known();
            outliers.update(&mut state, Vec2::new(x, 0.0), r).unwrap();
            state.position.x / x
        };
        assert!((moved(50.0, &outliers) - 0.5).abs() < 0.02, "half way, as equals");
        // An outlier of three times the noise counts a tenth: 100² / (100² + 300²).
        let three = Outliers { share: 0.05, factor: 3.0 };
        assert!((moved(1_000.0, &three) - 0.1).abs() < 0.01, "{}", moved(1_000.0, &three));
        let never = Outliers { share: 1e-12, factor: 3.0 };
        assert!((moved(400.0, &never) - 0.5).abs() < 0.01);
    }

    #[test]
    fn the_likelihood_is_that_of_both_noises() {
        let outliers = Outliers { share: 0.5, factor: 2.0 };
        let mut state = known();
        let found = outliers.update(&mut state, Vec2::default(), Sym2::isotropic(100.0 * 100.0));
        // Densities at the middle of variances 2 and 5 times 100².
        let density = |variance: f64| 1.0 / (std::f64::consts::TAU * variance);
        let expected = 0.5 * density(20_000.0) + 0.5 * density(50_000.0);
        assert!((found.unwrap().log_likelihood - expected.ln()).abs() < 1e-12);
    }
}
