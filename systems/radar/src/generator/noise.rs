//! Randomness that does not depend on the order of questions.
//!
//! Every plot draws from its own stream, keyed by seed, radar, aircraft and turn: leaving an
//! aircraft or a radar out changes nothing of the others.

/// A stream of random numbers (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Noise(u64);

impl Noise {
    /// The stream that belongs to `keys`.
    #[must_use]
    pub(crate) fn keyed(keys: [u64; 4]) -> Self {
        let mut noise = Self(0);
        for key in keys {
            noise.0 = noise.next() ^ key;
        }
        noise
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Evenly in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normally with mean 0 and standard deviation 1 (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
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
