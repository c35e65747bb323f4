//! How precisely each radar measures: estimated from its own plots.
//!
//! Three plots of one aircraft in three consecutive turns are nearly on a line; how far the middle
//! one is off it, along and across the beam, tells the radar's noise whatever its systematic errors
//! are, because those are nearly the same in all three. The median of many such distances is taken,
//! so that turns and outliers hardly count. A radar that the operator gave a precision keeps that.

use super::linear::Vec2;
use super::measurement::Measurement;
use super::sensors::Precision;

/// Plots further apart are not compared, s: a turn of the slowest radar and one that was missed.
const STEP_S_MAX: f64 = 25.0;
/// Nearer than this to the radar the height disturbs too much, m.
const GROUND_M_MIN: f64 = 10_000.0;
/// Triples before an estimate counts.
const TRIPLES_MIN: f64 = 80.0;
/// Triples after which older ones count half.
const TRIPLES_MEMORY: f64 = 4_000.0;
/// Bounds of an estimate: what radars have.
const RANGE_M: (f64, f64) = (20.0, 500.0);
const AZIMUTH_DEG: (f64, f64) = (0.02, 0.6);

/// The last two plots of a track by one radar.
#[derive(Clone, Copy, Debug)]
struct Pair {
    track: u16,
    radar: u8,
    before: Option<(f64, Vec2)>,
    last: (f64, Vec2),
}

/// Counts of sizes, in steps of an eighth.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    counts: [f32; Self::STEPS],
    total: f64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { counts: [0.0; Self::STEPS], total: 0.0 }
    }
}

impl Sizes {
    const STEPS: usize = 72;
    const STEP: f64 = 0.117_783; // ln(9/8)

    /// Takes in a size of at least `least`.
    fn add(&mut self, size: f64, least: f64) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
        let step = ((size / least).ln().max(0.0) / Self::STEP) as usize;
        self.counts[step.min(Self::STEPS - 1)] += 1.0;
        self.total += 1.0;
        if self.total > TRIPLES_MEMORY {
            self.counts.iter_mut().for_each(|count| *count *= 0.5);
            self.total *= 0.5;
        }
    }

    fn median(&self, least: f64) -> f64 {
        let mut rest = 0.5 * self.total;
        for (step, count) in self.counts.iter().enumerate() {
            let count = f64::from(*count);
            if rest <= count {
                let part = if count > 0.0 { rest / count } else { 0.0 };
                return least * ((step as f64 + part) * Self::STEP).exp();
            }
            rest -= count;
        }
        least
    }
}

/// Least sizes that are told apart: m and radians.
const LEAST_M: f64 = 2.0;
const LEAST_RAD: f64 = 2e-5;
/// The median of the size of a normal deviate.
const MEDIAN_SIGMAS: f64 = 0.674_49;

/// The noise of all radars.
#[derive(Debug, Default)]
pub(super) struct Precisions {
    /// By the tracker's slot.
    pairs: Vec<Vec<Pair>>,
    /// Along and across, by radar.
    radars: Vec<[Sizes; 2]>,
}

impl Precisions {
    /// Precision of a radar, once it is known.
    pub(super) fn of(&self, radar: usize) -> Option<Precision> {
        let [along, across] = self.radars.get(radar)?;
        if along.total < TRIPLES_MIN {
            return None;
        }
        let range_m = along.median(LEAST_M) / MEDIAN_SIGMAS;
        let azimuth_deg = (across.median(LEAST_RAD) / MEDIAN_SIGMAS).to_degrees();
        Some(Precision {
            range_sigma_m: range_m.clamp(RANGE_M.0, RANGE_M.1),
            azimuth_sigma_deg: azimuth_deg.clamp(AZIMUTH_DEG.0, AZIMUTH_DEG.1),
        })
    }

    /// Takes in a plot that updated the track `number` in `slot`, of a radar at `from`. Returns
    /// whether it is time to ask for the radar's precision again.
    pub(super) fn observe(
        &mut self,
        (slot, number): (usize, u16),
        m: &Measurement,
        from: Vec2,
    ) -> bool {
        if self.pairs.len() <= slot {
            self.pairs.resize_with(slot + 1, Vec::new);
        }
        let pairs = &mut self.pairs[slot];
        pairs.retain(|pair| pair.track == number);
        let now = (m.time_s, m.position);
        let Some(pair) = pairs.iter_mut().find(|pair| pair.radar == m.radar) else {
            pairs.push(Pair { track: number, radar: m.radar, before: None, last: now });
            return false;
        };
        let step_s = m.time_s - pair.last.0;
        let first = pair.before.filter(|(at_s, _)| pair.last.0 - at_s <= STEP_S_MAX);
        let (middle, usable) = (pair.last, (1.0..=STEP_S_MAX).contains(&step_s));
        // No plot is the end of two triples' line: they are nearly independent.
        pair.before = (usable && first.is_none()).then_some(middle);
        pair.last = now;
        let (Some(first), true) = (first, usable) else { return false };
        self.triple(usize::from(m.radar), [first, middle, now], from);
        let triples = self.radars.get(usize::from(m.radar)).map_or(0.0, |[along, _]| along.total);
        triples.floor() % 16.0 == 0.0
    }

    fn triple(&mut self, radar: usize, [a, b, c]: [(f64, Vec2); 3], from: Vec2) {
        let offset = b.1 - from;
        let ground_m = offset.norm();
        if ground_m < GROUND_M_MIN {
            return;
        }
        let later = (b.0 - a.0) / (c.0 - a.0);
        let earlier = 1.0 - later;
        let scale = (1.0 + later * later + earlier * earlier).sqrt();
        let off = (b.1 - a.1 * earlier - c.1 * later) * (1.0 / scale);
        let unit = offset * (1.0 / ground_m);
        let across = Vec2::new(unit.y, -unit.x);
        if self.radars.len() <= radar {
            self.radars.resize_with(radar + 1, Default::default);
        }
        let [ranges, azimuths] = &mut self.radars[radar];
        ranges.add(off.dot(unit).abs(), LEAST_M);
        azimuths.add(off.dot(across).abs() / ground_m, LEAST_RAD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::identity::Identity;
    use crate::tracker::linear::Sym2;
    use chronoscope_statistics::Random;

    fn learnt(range_m: f64, azimuth_deg: f64, outliers: f64, bias_m: f64) -> Precision {
        let mut random = Random(5);
        let mut precisions = Precisions::default();
        for flight in 0..20_u16 {
            for turn in 0..40 {
                let time_s = 8.0 * f64::from(turn);
                let along = 60_000.0 + 2_000.0 * f64::from(flight) + 150.0 * time_s + bias_m;
                let wide = if random.share() < outliers { 10.0 } else { 1.0 };
                let azimuth = azimuth_deg.to_radians() * random.normal() * wide;
                let (sin, cos) = azimuth.sin_cos();
                let range = along + range_m * random.normal() * wide;
                let m = Measurement {
                    radar: 3,
                    time_s,
                    position: Vec2::new(range * cos, range * sin),
                    covariance: Sym2::isotropic(1.0),
                    identity: Identity::default(),
                    flight_level: None,
                    slant: None,
                };
                precisions.observe((usize::from(flight), flight), &m, Vec2::default());
            }
        }
        precisions.of(3).unwrap()
    }

    /// 20 flights of 40 plots make 380 triples: the median of as many is known to 6 %.
    #[test]
    fn the_noise_is_found_whatever_the_bias_and_the_outliers() {
        for (outliers, bias_m) in [(0.0, 0.0), (0.0, 500.0), (0.05, 0.0)] {
            let found = learnt(60.0, 0.15, outliers, bias_m);
            assert!((found.range_sigma_m / 60.0 - 1.0).abs() < 0.2, "{found:?}");
            assert!((found.azimuth_sigma_deg / 0.15 - 1.0).abs() < 0.2, "{found:?}");
        }
    }

    #[test]
    fn few_plots_tell_nothing() {
        let mut precisions = Precisions::default();
        assert_eq!(precisions.of(0), None);
        precisions.radars.push(Default::default());
        assert_eq!(precisions.of(0), None);
    }
}
