//! How often steady flight ends, learnt from the plots.
//!
//! On the cruising routes a straight leg lasts ten minutes and more, on an approach or a survey flight one
//! or two. A filter that expects one of them and meets the other trembles or lags, and its ellipses are too
//! long or too short. So the rate at which legs end is estimated by maximum likelihood: each plot's
//! likelihood says by how much the logarithm of the rate would have to be larger ([`Imm::score`]), and the
//! estimate takes a step in that direction, the smaller the more is known (recursive maximum likelihood for
//! hidden Markov models: Collings, Krishnamurthy, Moore, *On-line identification of hidden Markov models
//! via recursive prediction error techniques*, IEEE Trans. Signal Processing 42(12), 1994). It is one rate
//! for all aircraft: one that learnt each aircraft's own besides was better by 0.1 % on recorded flights.
//!
//! [`Imm::score`]: super::imm::Imm::score

/// The rate that was assumed counts like so much information: its logarithm is known to 0.7.
const ASSUMED: f64 = 2.0;
/// Information beyond which older plots count less and less, because the traffic of a day changes: with so
/// much the rate is known to a tenth.
const INFORMATION_MAX: f64 = 100.0;
/// Bounds of the logarithm of the rate beside the assumed one: of 300 s they make legs of 40 s to an hour. A
/// shorter one is no leg, and a longer one is not told from that in the time that an aircraft is seen.
const SHIFT: (f64, f64) = (-2.5, 2.0);

/// The rate at which steady flight ends, beside the assumed one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LegRate {
    /// Logarithm of the ratio.
    shift: f64,
    /// Fisher's information about that: the sum of squared scores.
    information: f64,
}

impl LegRate {
    /// Takes in by how much the logarithm of a plot's likelihood grows with that of the rate.
    pub(super) fn learn(&mut self, score: f64) {
        self.information = (self.information + score * score).min(INFORMATION_MAX);
        let step = score / (ASSUMED + self.information);
        self.shift = (self.shift + step).clamp(SHIFT.0, SHIFT.1);
    }

    /// Mean duration of a steady leg, s, where `assumed_s` was assumed.
    pub(super) fn leg_s(&self, assumed_s: f64) -> f64 {
        assumed_s * (-self.shift).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::imm::{Imm, MotionModel};
    use crate::tracker::linear::{Sym2, Vec2};
    use crate::tracker::outliers::Outliers;
    use chronoscope_statistics::Random;

    /// The mean leg learnt from flights of an hour that turn by 45° to 135° after legs of `leg_s` on
    /// average; a plot every 6 s with 100 m of noise.
    fn learnt_s(leg_s: f64) -> f64 {
        let (mut random, mut rate) = (Random(7), LegRate::default());
        let (assumed, noise) = (MotionModel::default(), Sym2::isotropic(100.0 * 100.0));
        for _ in 0..40 {
            let (mut position, mut heading, mut left_s) = (Vec2::default(), 0.0_f64, 0.0);
            let mut straight_s = random.exponential(leg_s);
            let mut track: Option<Imm> = None;
            for second in 0..3_600 {
                if straight_s > 0.0 {
                    straight_s -= 1.0;
                    left_s = if straight_s > 0.0 { 0.0 } else { 30.0 + 60.0 * random.share() };
                } else {
                    heading += 1.5_f64.to_radians();
                    left_s -= 1.0;
                    straight_s = if left_s > 0.0 { 0.0 } else { random.exponential(leg_s) };
                }
                position = position + Vec2::new(heading.sin(), heading.cos()) * 200.0;
                if second % 6 != 0 {
                    continue;
                }
                let seen = position + Vec2::new(random.normal(), random.normal()) * 100.0;
                let Some(before) = track else {
                    track = Some(Imm::new(seen, noise, &assumed));
                    continue;
                };
                let motion = MotionModel { steady_s: rate.leg_s(assumed.steady_s), ..assumed };
                let mut after = before.predicted(6.0, &motion);
                after.update(seen, noise, &Outliers::default()).unwrap();
                rate.learn(after.score());
                track = Some(after);
            }
        }
        rate.leg_s(assumed.steady_s)
    }

    #[test]
    fn legs_are_learnt_from_flights_that_turn_often_and_seldom() {
        for leg_s in [80.0, 300.0, 1_200.0] {
            let found_s = learnt_s(leg_s);
            assert!((0.6..1.7).contains(&(found_s / leg_s)), "{leg_s} s: {found_s} s");
        }
    }

    #[test]
    fn nothing_leads_beyond_the_bounds() {
        let mut rate = LegRate::default();
        (0..10_000).for_each(|_| rate.learn(50.0));
        assert!((rate.leg_s(1.0).ln() + SHIFT.1).abs() < 1e-9);
        (0..10_000).for_each(|_| rate.learn(-50.0));
        assert!((rate.leg_s(1.0).ln() + SHIFT.0).abs() < 1e-9);
    }
}
