//! Numbers that look random and are the same for the same seed.

/// A sequence of random numbers, from the seed in it (SplitMix64: G. Steele, D. Lea, C. Flood, 2014).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// 64 uniformly distributed bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A uniformly distributed value in `[0, 1)`, with 53 bits.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    /// Normal with mean 0 and standard deviation 1 (G. Box, M. Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }

    /// Log-normal: its logarithm is normal with the mean `ln(median)` and the standard deviation
    /// `sigma`.
    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// A number below `end`, which is not 0: even enough where `end` is far below 2⁶⁴.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// A place in something that long, which is not empty.
    #[allow(clippy::cast_possible_truncation)] // below `length`
    pub fn place(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// `count` uniformly distributed octets.
    pub fn octets(&mut self, count: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.bits().to_le_bytes());
        let mut octets: Vec<u8> = words.take(count.div_ceil(8)).flatten().collect();
        octets.truncate(count);
        octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation for the seed 1234567.
    #[test]
    fn as_the_reference_says() {
        let mut random = Random(1_234_567);
        let expected: [u64; 3] =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.bits(), random.bits(), random.bits()], expected);
        assert_eq!(Random(1).octets(13).len(), 13);
        assert!((0..1000).all(|_| random.place(7) < 7));
    }
    #[test]
    fn normal_and_log_normal_have_their_moments() {
        let (mut random, count) = (Random(5), 20_000_u32);
        let draws: Vec<f64> = (0..count).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(count);
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / f64::from(count);
        // Four standard errors: 1/√20000 for the mean, √(2/20000) for the variance.
        assert!(mean.abs() < 0.028, "{mean}");
        assert!((variance - 1.0).abs() < 0.04, "{variance}");
        let below = (0..count).filter(|_| random.log_normal(300.0, 0.7) < 300.0).count();
        assert!((below as f64 / f64::from(count) - 0.5).abs() < 0.015, "{below}");
    }
}
