//! Sensors of the trial: what share of their plots is much worse than the others.
//!
//! The tracker's assumption about outliers is one pair of numbers. A trial on the one sensor that has
//! these very numbers would be won by knowing the simulator, so that there are others.

use chronoscope_statistics::Random;

/// Noise of a sensor: by what its usual standard deviation is multiplied in each plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    pub(crate) name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// This share of plots has so many times the usual noise.
    Outliers(f64, f64),
    /// Student's distribution with four degrees of freedom, the same factor for range and azimuth.
    Student,
}

const fn outliers(name: &'static str, share: f64, factor: f64) -> Noise {
    Noise { name, kind: Kind::Outliers(share, factor) }
}

/// All sensors; the first is that of the tuning.
pub(crate) const SENSORS: [Noise; 5] = [
    outliers("5%x3", 0.05, 3.0),
    outliers("none", 0.0, 1.0),
    outliers("2%x5", 0.02, 5.0),
    outliers("10%x2", 0.10, 2.0),
    Noise { name: "student", kind: Kind::Student },
];

impl Noise {
    /// The factor of a plot.
    pub(crate) fn factor(&self, random: &mut Random) -> f64 {
        match self.kind {
            Kind::Outliers(share, factor) => {
                if random.share() < share {
                    factor
                } else {
                    1.0
                }
            }
            // A chi-square variable with four degrees of freedom is twice the sum of two exponentials.
            Kind::Student => {
                let half = random.exponential(1.0) + random.exponential(1.0);
                (2.0 / half.max(1e-3)).sqrt()
            }
        }
    }
}
