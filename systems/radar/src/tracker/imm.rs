//! The interacting-multiple-model filter: steady flight and manoeuvre at once.
//!
//! Two constant-velocity filters run side by side, one with the small disturbances of straight
//! flight and one loose enough to follow a standard-rate turn. Before each plot their states are
//! mixed as far as the motion may have changed in between; after it each is weighted by how well
//! it had predicted the plot (Blom, Bar-Shalom: *The Interacting Multiple Model Algorithm for
//! Systems with Markovian Switching Coefficients*, IEEE Trans. AC 33(8), 1988).

use super::kinematic::{Innovation, Kinematic};
use super::linear::{Sym2, Vec2};

/// Assumptions of the filter about the motion of aircraft.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MotionModel {
    /// Acceleration noise density of steady flight, m²/s³.
    pub steady_q: f64,
    /// Acceleration noise density while manoeuvring, m²/s³.
    pub manoeuvre_q: f64,
    /// Mean duration of a steady leg, s.
    pub steady_s: f64,
    /// Mean duration of a manoeuvre, s.
    pub manoeuvre_s: f64,
    /// Standard deviation of each velocity component before it is known, m/s.
    pub speed_sigma: f64,
}

impl Default for MotionModel {
    /// En-route and terminal civil traffic: turns of up to about 5 m/s² that last half a minute.
    fn default() -> Self {
        Self {
            steady_q: 0.1,
            manoeuvre_q: 160.0,
            steady_s: 120.0,
            manoeuvre_s: 25.0,
            speed_sigma: 180.0,
        }
    }
}

/// Both filters of one aircraft and the probability of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imm {
    steady: Kinematic,
    manoeuvre: Kinematic,
    /// Probability of the manoeuvre model, in `[0, 1]`.
    manoeuvring: f64,
}

impl Imm {
    /// A filter started from one position.
    pub fn new(position: Vec2, covariance: Sym2, model: &MotionModel) -> Self {
        let state = Kinematic::from_position(position, covariance, model.speed_sigma);
        let manoeuvring = model.manoeuvre_s / (model.manoeuvre_s + model.steady_s);
        Self { steady: state, manoeuvre: state, manoeuvring }
    }

    /// The probability that the aircraft manoeuvres, in `[0, 1]`.
    pub fn manoeuvring(&self) -> f64 {
        self.manoeuvring
    }

    /// The single best estimate: the mixture's mean and covariance.
    pub fn estimate(&self) -> Kinematic {
        mixed(&self.steady, &self.manoeuvre, self.manoeuvring)
    }

    /// Position of the best estimate, m.
    pub fn position(&self) -> Vec2 {
        self.steady.position * (1.0 - self.manoeuvring) + self.manoeuvre.position * self.manoeuvring
    }

    /// Moves both filters `dt` seconds on, `dt >= 0`.
    #[must_use]
    pub fn predicted(&self, dt: f64, model: &MotionModel) -> Self {
        // A two-state Markov chain in continuous time treats any interval between plots alike: many
        // radars make the intervals short and uneven.
        let (leave_steady, leave_manoeuvre) = (1.0 / model.steady_s, 1.0 / model.manoeuvre_s);
        let total = leave_steady + leave_manoeuvre;
        let settled = 1.0 - (-total * dt).exp();
        let steady_to_manoeuvre = leave_steady / total * settled;
        let manoeuvre_to_steady = leave_manoeuvre / total * settled;

        let mu = self.manoeuvring;
        let next_mu = (1.0 - mu) * steady_to_manoeuvre + mu * (1.0 - manoeuvre_to_steady);
        let into_steady = mu * manoeuvre_to_steady / (1.0 - next_mu);
        let into_manoeuvre = mu * (1.0 - manoeuvre_to_steady) / next_mu;
        Self {
            steady: mixed(&self.steady, &self.manoeuvre, into_steady).predicted(dt, model.steady_q),
            manoeuvre: mixed(&self.steady, &self.manoeuvre, into_manoeuvre)
                .predicted(dt, model.manoeuvre_q),
            manoeuvring: next_mu,
        }
    }

    /// This state, after a plot, where the plot is the aircraft's with probability `trust`; `before`
    /// is the state without it.
    #[must_use]
    pub fn trusted(&self, before: &Self, trust: f64) -> Self {
        let manoeuvring = before.manoeuvring + (self.manoeuvring - before.manoeuvring) * trust;
        Self {
            steady: mixed(&before.steady, &self.steady, trust),
            manoeuvre: mixed(&before.manoeuvre, &self.manoeuvre, trust),
            manoeuvring,
        }
    }

    /// Takes a position into both filters and weighs them anew; `None` (and no change) when a
    /// covariance is broken. The distance is that from the better one, the likelihood that of both.
    pub fn update(&mut self, z: Vec2, r: Sym2) -> Option<Innovation> {
        let (mut steady, mut manoeuvre) = (self.steady, self.manoeuvre);
        let s = steady.update(z, r)?;
        let m = manoeuvre.update(z, r)?;
        // Relative to the better one, or far outliers would underflow to 0/0.
        let top = s.log_likelihood.max(m.log_likelihood);
        let ws = (1.0 - self.manoeuvring) * (s.log_likelihood - top).exp();
        let wm = self.manoeuvring * (m.log_likelihood - top).exp();
        self.steady = steady;
        self.manoeuvre = manoeuvre;
        // Neither model is ever ruled out for good.
        self.manoeuvring = (wm / (ws + wm)).clamp(1e-4, 1.0 - 1e-4);
        let better = if s.log_likelihood > m.log_likelihood { s } else { m };
        Some(Innovation { log_likelihood: top + (ws + wm).ln(), ..better })
    }
}

/// The moment-matched mixture of `a` (weight `1 - w`) and `b` (weight `w`).
fn mixed(a: &Kinematic, b: &Kinematic, w: f64) -> Kinematic {
    let u = 1.0 - w;
    let (dp, dv) = (a.position - b.position, a.velocity - b.velocity);
    let spread = u * w;
    Kinematic {
        position: a.position * u + b.position * w,
        velocity: a.velocity * u + b.velocity * w,
        pp: a.pp * u + b.pp * w + dp.outer() * spread,
        pv: a.pv * u + b.pv * w + dp.outer_with(dv) * spread,
        vv: a.vv * u + b.vv * w + dv.outer() * spread,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flies straight for 100 s, turns 90° at 3°/s, flies on; a plot every 2 s, no noise.
    fn fly(mut see: impl FnMut(f64, Vec2, Vec2)) {
        let (mut p, mut heading): (Vec2, f64) = (Vec2::default(), 0.0);
        for step in 0..100 {
            let t = 2.0 * f64::from(step);
            for _ in 0..20 {
                if (100.0..130.0).contains(&t) {
                    heading += 3f64.to_radians() * 0.1;
                }
                p = p + Vec2::new(heading.sin(), heading.cos()) * (150.0 * 0.1);
            }
            see(t + 2.0, p, Vec2::new(heading.sin(), heading.cos()) * 150.0);
        }
    }

    #[test]
    fn a_turn_is_noticed_followed_and_forgotten() {
        let model = MotionModel::default();
        let r = Sym2::isotropic(100.0 * 100.0);
        let mut imm: Option<Imm> = None;
        let (mut in_turn, mut after, mut before): (f64, f64, f64) = (0.0, 1.0, 1.0);
        let mut worst = 0.0f64;
        fly(|t, p, _| {
            let Some(current) = imm else {
                imm = Some(Imm::new(p, r, &model));
                return;
            };
            let mut next = current.predicted(2.0, &model);
            next.update(p, r).unwrap();
            imm = Some(next);
            match t {
                90.0..100.0 => before = before.min(next.manoeuvring()),
                100.0..135.0 => in_turn = in_turn.max(next.manoeuvring()),
                t if t > 190.0 => after = after.min(next.manoeuvring()),
                _ => {}
            }
            if t > 20.0 {
                worst = worst.max((next.estimate().position - p).norm());
            }
        });
        assert!(before < 0.15, "steady flight taken for a manoeuvre: {before}");
        assert!(in_turn > 0.8, "turn not noticed: {in_turn}");
        assert!(after < 0.2, "turn not forgotten: {after}");
        // Without noise in the plots the error is the filter's own lag.
        assert!(worst < 200.0, "lag of {worst} m in the turn");
    }

    #[test]
    fn two_steps_of_prediction_weigh_the_models_as_one_does() {
        let model = MotionModel::default();
        let imm = Imm::new(Vec2::default(), Sym2::isotropic(1.0), &model);
        let once = imm.predicted(8.0, &model);
        let twice = imm.predicted(3.0, &model).predicted(5.0, &model);
        assert!((once.manoeuvring() - twice.manoeuvring()).abs() < 1e-12);
    }

    #[test]
    fn an_absurd_outlier_leaves_finite_numbers() {
        let model = MotionModel::default();
        let mut imm = Imm::new(Vec2::default(), Sym2::isotropic(1.0), &model);
        imm.update(Vec2::new(1e9, -1e9), Sym2::isotropic(1.0)).unwrap();
        let e = imm.estimate();
        assert!(e.position.norm().is_finite() && imm.manoeuvring().is_finite());
    }
}
