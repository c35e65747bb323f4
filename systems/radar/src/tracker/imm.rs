//! The interacting-multiple-model filter: steady flight and manoeuvres at once.
//!
//! Four filters run side by side: straight flight, a turn to the left, a turn to the right, and a loose
//! one for all else. Turns have the sideways acceleration of a usual bank, so their rate follows from
//! the speed. In straight flight and in turns the noise along the track (speed) and across it (course)
//! differ: aircraft change their speed more often than their course. Before each plot the states are
//! mixed as far as the motion may have changed in between; after it each is weighted by how well it had
//! predicted the plot (Blom, Bar-Shalom: *The Interacting Multiple Model Algorithm for Systems with
//! Markovian Switching Coefficients*, IEEE Trans. AC 33(8), 1988).

use super::kinematic::{Innovation, Kinematic, Step, mixture};
use super::linear::{Sym2, Vec2};
use super::outliers::Outliers;

/// Assumptions of the filter about the motion of aircraft.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MotionModel {
    /// Density of the acceleration noise along the track, in straight flight and in turns, m²/s³.
    pub along_q: f64,
    /// Density across the track in straight flight, m²/s³.
    pub steady_q: f64,
    /// Density across the track in a turn, m²/s³: turns are sharper and wider than usual.
    pub turn_q: f64,
    /// Sideways acceleration of a usual turn, m/s².
    pub turn_m_s2: f64,
    /// Density in any direction of a manoeuvre that is neither, m²/s³; also how far beyond its
    /// prediction an aircraft is looked for.
    pub manoeuvre_q: f64,
    /// Share of manoeuvres that are no usual turns, in `(0, 1)`.
    pub unusual: f64,
    /// Mean duration of a steady leg, s.
    pub steady_s: f64,
    /// Mean duration of a manoeuvre, s.
    pub manoeuvre_s: f64,
    /// Standard deviation of each velocity component before it is known, m/s.
    pub speed_sigma: f64,
}

impl Default for MotionModel {
    /// Estimated on recorded flights: see the README, "The trial".
    fn default() -> Self {
        Self {
            along_q: 1.5,
            steady_q: 0.002,
            turn_q: 12.0,
            turn_m_s2: 3.0,
            manoeuvre_q: 160.0,
            unusual: 0.2,
            steady_s: 200.0,
            manoeuvre_s: 56.0,
            speed_sigma: 180.0,
        }
    }
}

/// Sharpest rate of a turn, rad/s: 4°/s.
const RATE_MAX: f64 = 0.07;
/// Straight flight, left turn, right turn, anything else.
const MODELS: usize = 4;
const STEADY: usize = 0;
/// Turn of each model; to the left is positive.
const TURNS: [f64; MODELS] = [0.0, 1.0, -1.0, 0.0];
const LOOSE: usize = 3;
/// Neither model is ever ruled out for good.
const PROBABILITY_MIN: f64 = 1e-4;

impl MotionModel {
    /// Density of the acceleration noise where a manoeuvre has this probability, m²/s³.
    pub(super) fn q(&self, manoeuvring: f64) -> f64 {
        self.steady_q + (self.manoeuvre_q - self.steady_q) * manoeuvring
    }

    /// Share of the manoeuvres that each model has.
    fn shares(&self) -> [f64; MODELS] {
        let turn = 0.5 * (1.0 - self.unusual);
        [0.0, turn, turn, self.unusual]
    }

    /// Motion by `model` of an aircraft in `state` over `dt` seconds.
    fn step(&self, model: usize, state: &Kinematic, dt: f64) -> Step {
        let speed_squared = state.velocity.norm_squared();
        // The track has a direction once it is known.
        let known = speed_squared > 4.0 * state.vv.trace();
        let across = if model == STEADY { self.steady_q } else { self.turn_q };
        let noise = match (model, known) {
            (LOOSE, _) => Sym2::isotropic(self.manoeuvre_q),
            (_, false) => Sym2::isotropic(self.along_q.max(across)),
            _ => {
                let unit = state.velocity * (1.0 / speed_squared.sqrt());
                Sym2::along(unit, self.along_q, across)
            }
        };
        let rate = TURNS[model] * (self.turn_m_s2 / speed_squared.sqrt().max(1.0)).min(RATE_MAX);
        Step { dt, rate: if known { rate } else { 0.0 }, noise }
    }
}

/// All filters of one aircraft and the probability of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imm {
    states: [Kinematic; MODELS],
    /// In `(0, 1)`, together 1.
    probabilities: [f64; MODELS],
}

impl Imm {
    /// A filter started from one position.
    pub fn new(position: Vec2, covariance: Sym2, model: &MotionModel) -> Self {
        let state = Kinematic::from_position(position, covariance, model.speed_sigma);
        let manoeuvring = model.manoeuvre_s / (model.manoeuvre_s + model.steady_s);
        let mut probabilities = model.shares().map(|share| share * manoeuvring);
        probabilities[STEADY] = 1.0 - manoeuvring;
        Self { states: [state; MODELS], probabilities }
    }

    /// The probability that the aircraft manoeuvres, in `[0, 1]`.
    pub fn manoeuvring(&self) -> f64 {
        1.0 - self.probabilities[STEADY]
    }

    /// The single best estimate: the mixture's mean and covariance.
    pub fn estimate(&self) -> Kinematic {
        mixture(&self.states, &self.probabilities)
    }

    /// Moves all filters `dt` seconds on, `dt >= 0`.
    #[must_use]
    pub fn predicted(&self, dt: f64, model: &MotionModel) -> Self {
        // A Markov chain in continuous time treats any interval between plots alike: many radars make
        // the intervals short and uneven.
        let (leave_steady, leave_manoeuvre) = (1.0 / model.steady_s, 1.0 / model.manoeuvre_s);
        let total = leave_steady + leave_manoeuvre;
        let settled = 1.0 - (-total * dt).exp();
        let begins = leave_steady / total * settled;
        let ends = leave_manoeuvre / total * settled;
        // Of those that manoeuvre then, who never stopped still does the same.
        let lasts = (-leave_manoeuvre * dt).exp();
        let again = (1.0 - ends - lasts).max(0.0);
        let shares = model.shares();
        let mu = &self.probabilities;

        let mut next = *self;
        for to in 0..MODELS {
            let mut from = [0.0; MODELS];
            for (model, weight) in from.iter_mut().enumerate() {
                *weight = mu[model]
                    * match (model, to) {
                        (STEADY, STEADY) => 1.0 - begins,
                        (STEADY, to) => begins * shares[to],
                        (_, STEADY) => ends,
                        (from, to) if from == to => lasts + again * shares[to],
                        (_, to) => again * shares[to],
                    };
            }
            let sum: f64 = from.iter().sum();
            next.probabilities[to] = sum;
            let mixed = mixture(&self.states, &from.map(|weight| weight / sum));
            next.states[to] = mixed.predicted(&model.step(to, &mixed, dt));
        }
        next
    }

    /// This state, after a plot, where the plot is the aircraft's with probability `trust`; `before`
    /// is the state without it.
    #[must_use]
    pub fn trusted(&self, before: &Self, trust: f64) -> Self {
        let mut found = *self;
        for model in 0..MODELS {
            let pair = [before.states[model], self.states[model]];
            found.states[model] = mixture(&pair, &[1.0 - trust, trust]);
            let was = before.probabilities[model];
            found.probabilities[model] = was + (self.probabilities[model] - was) * trust;
        }
        found
    }

    /// Takes a position into all filters and weighs them anew; `None` (and no change) when a
    /// covariance is broken. The distance is that from the best one, the likelihood that of all.
    pub fn update(&mut self, z: Vec2, r: Sym2, outliers: &Outliers) -> Option<Innovation> {
        let mut states = self.states;
        let mut logs = [0.0; MODELS];
        let mut best: Option<Innovation> = None;
        for (state, log) in states.iter_mut().zip(&mut logs) {
            let found = outliers.update(state, z, r)?;
            *log = found.log_likelihood;
            if best.is_none_or(|best| best.log_likelihood < found.log_likelihood) {
                best = Some(found);
            }
        }
        let best = best?;
        // Relative to the best one, or far outliers would underflow to 0/0.
        let top = best.log_likelihood;
        let mut weights = [0.0; MODELS];
        for model in 0..MODELS {
            weights[model] = self.probabilities[model] * (logs[model] - top).exp();
        }
        let sum: f64 = weights.iter().sum();
        let floored = weights.map(|weight| (weight / sum).max(PROBABILITY_MIN));
        let whole: f64 = floored.iter().sum();
        self.states = states;
        self.probabilities = floored.map(|weight| weight / whole);
        Some(Innovation { log_likelihood: top + sum.ln(), ..best })
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
            next.update(p, r, &Outliers::default()).unwrap();
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
        for (once, twice) in once.probabilities.iter().zip(twice.probabilities) {
            assert!((once - twice).abs() < 1e-12);
        }
        assert!((once.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn an_absurd_outlier_leaves_finite_numbers() {
        let model = MotionModel::default();
        let mut imm = Imm::new(Vec2::default(), Sym2::isotropic(1.0), &model);
        let far = Vec2::new(1e9, -1e9);
        imm.update(far, Sym2::isotropic(1.0), &Outliers::default()).unwrap();
        let e = imm.estimate();
        assert!(e.position.norm().is_finite() && imm.manoeuvring().is_finite());
    }
}
