//! Randomness that does not depend on the order of questions.
//!
//! Every plot draws from its own stream, keyed by seed, radar, aircraft and turn: leaving an
//! aircraft or a radar out changes nothing of the others.

use chronoscope_statistics::Random;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Noise(Random);

impl Noise {
    /// The stream that belongs to `keys`.
    #[must_use]
    pub(crate) fn keyed(keys: [u64; 4]) -> Self {
        let mut random = Random(0);
        for key in keys {
            random = Random(random.bits() ^ key);
        }
        Self(random)
    }

    /// Evenly in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.share()
    }

    /// Normally with mean 0 and standard deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        self.0.normal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let count = 20_000_u32;
        let draws: Vec<f64> =
            (0..count).map(|k| Noise::keyed([7, 1, 2, k.into()]).normal()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(count);
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / f64::from(count);
        // Four standard errors: 1/√20000 for the mean, √(2/20000) for the variance.
        assert!(mean.abs() < 0.028, "{mean}");
        assert!((variance - 1.0).abs() < 0.04, "{variance}");
        let below = (0..count).filter(|k| Noise::keyed([7, 0, 0, (*k).into()]).uniform() < 0.97);
        assert!((below.count() as f64 / f64::from(count) - 0.97).abs() < 0.005);
    }

    #[test]
    fn streams_differ_by_every_key() {
        let first = |keys| Noise::keyed(keys).uniform();
        let base = first([1, 2, 3, 4]);
        for keys in [[0, 2, 3, 4], [1, 0, 3, 4], [1, 2, 0, 4], [1, 2, 3, 0], [2, 1, 3, 4]] {
            assert_ne!(base, first(keys));
        }
        assert_eq!(base, first([1, 2, 3, 4]));
    }
}
