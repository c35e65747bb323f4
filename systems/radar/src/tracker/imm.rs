//! The interacting-multiple-model filter: steady flight and manoeuvres at once.
//!
//! Five filters run side by side: straight flight, straight flight at a speed that changes, a turn to the
//! left, a turn to the right, and a loose one for all else. Turns have the sideways acceleration of a usual
//! bank, so their rate follows from the speed. In all but the last the noise along the track (speed) and
//! across it (course) differ: aircraft change their speed more often than their course. Before each plot
//! the states are mixed as far as the motion may have changed in between; after it each is weighted by how
//! well it had predicted the plot (Blom, Bar-Shalom: *The Interacting Multiple Model Algorithm for Systems
//! with Markovian Switching Coefficients*, IEEE Trans. AC 33(8), 1988).
//!
//! How often steady flight ends differs between airspaces, and is learnt from the plots (`leg_rate.rs`).
//! For that each filter has with its probability the slope of that over the logarithm of this rate; that
//! the mixed states depend on the rate, too, is left out.

use super::kinematic::{Innovation, Kinematic, Step, mixture};
use super::linear::{Sym2, Vec2};
use super::outliers::Outliers;

/// Assumptions of the filter about the motion of aircraft.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MotionModel {
    /// Density of the acceleration noise along the track in steady flight, m²/s³.
    pub along_q: f64,
    /// Density along the track while the speed changes, m²/s³.
    pub speed_q: f64,
    /// Density along the track in a turn, m²/s³.
    pub turn_along_q: f64,
    /// Density across the track in straight flight, m²/s³.
    pub steady_q: f64,
    /// Density across the track in a turn, m²/s³: turns are sharper and wider than usual.
    pub turn_q: f64,
    /// Sideways acceleration of a usual turn, m/s².
    pub turn_m_s2: f64,
    /// Density in any direction of a manoeuvre that is neither, m²/s³; also how far beyond its
    /// prediction an aircraft is looked for.
    pub manoeuvre_q: f64,
    /// Share of what ends steady flight that changes the speed alone, in `(0, 1)`.
    pub speed_share: f64,
    /// Share of the other manoeuvres that are no usual turns, in `(0, 1)`.
    pub unusual: f64,
    /// Mean duration of a steady leg, s, until the plots tell it.
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
            along_q: 0.1,
            speed_q: 8.0,
            turn_along_q: 8.0,
            steady_q: 0.001,
            turn_q: 24.0,
            turn_m_s2: 3.0,
            manoeuvre_q: 160.0,
            speed_share: 0.3,
            unusual: 0.2,
            steady_s: 300.0,
            manoeuvre_s: 90.0,
            speed_sigma: 180.0,
        }
    }
}

/// Sharpest rate of a turn, rad/s: 4°/s.
const RATE_MAX: f64 = 0.07;
/// Steady flight, left turn, right turn, anything else, straight flight at a changing speed.
const MODELS: usize = 5;
const STEADY: usize = 0;
/// Turn of each model; to the left is positive.
const TURNS: [f64; MODELS] = [0.0, 1.0, -1.0, 0.0, 0.0];
const LOOSE: usize = 3;
const SPEED: usize = 4;
/// No model is ever ruled out for good.
const PROBABILITY_MIN: f64 = 1e-4;

/// Values by the model before (rows) and after (columns).
type Matrix = [[f64; MODELS]; MODELS];

impl MotionModel {
    /// Density of the acceleration noise where a manoeuvre has this probability, m²/s³.
    pub(super) fn q(&self, manoeuvring: f64) -> f64 {
        self.steady_q + (self.manoeuvre_q - self.steady_q) * manoeuvring
    }

    /// Share that each model has of what ends steady flight.
    fn shares(&self) -> [f64; MODELS] {
        let rest = 1.0 - self.speed_share;
        let turn = 0.5 * rest * (1.0 - self.unusual);
        [0.0, turn, turn, rest * self.unusual, self.speed_share]
    }

    /// Probabilities of each model (columns) `dt` seconds after each (rows), and by how much they change
    /// with the logarithm of the rate at which steady flight ends.
    fn transitions(&self, dt: f64) -> (Matrix, Matrix) {
        // A Markov chain in continuous time treats any interval between plots alike: many radars make
        // the intervals short and uneven.
        let (leave_steady, leave_manoeuvre) = (1.0 / self.steady_s, 1.0 / self.manoeuvre_s);
        let total = leave_steady + leave_manoeuvre;
        let (steady, manoeuvre) = (leave_manoeuvre / total, leave_steady / total);
        let unsettled = (-total * dt).exp();
        let settled = 1.0 - unsettled;
        let (begins, ends) = (manoeuvre * settled, steady * settled);
        // Of those that manoeuvre then, who never stopped still does the same.
        let lasts = (-leave_manoeuvre * dt).exp();
        let again = (1.0 - ends - lasts).max(0.0);
        // Their derivatives over the logarithm of `leave_steady`, of which `total` and `manoeuvre` depend, too.
        let sooner = leave_steady * dt * unsettled;
        let begins_more = manoeuvre * (steady * settled + sooner);
        let ends_more = steady * (sooner - manoeuvre * settled);
        let shares = self.shares();
        let (mut probabilities, mut more) = ([[0.0; MODELS]; MODELS], [[0.0; MODELS]; MODELS]);
        for (from, to) in (0..MODELS).flat_map(|from| (0..MODELS).map(move |to| (from, to))) {
            (probabilities[from][to], more[from][to]) = match (from, to) {
                (STEADY, STEADY) => (1.0 - begins, -begins_more),
                (STEADY, _) => (begins * shares[to], begins_more * shares[to]),
                (_, STEADY) => (ends, ends_more),
                _ if from == to => (lasts + again * shares[to], -ends_more * shares[to]),
                _ => (again * shares[to], -ends_more * shares[to]),
            };
        }
        (probabilities, more)
    }

    /// Motion by `model` of an aircraft in `state` over `dt` seconds.
    fn step(&self, model: usize, state: &Kinematic, dt: f64) -> Step {
        let speed_squared = state.velocity.norm_squared();
        // The track has a direction once it is known.
        let known = speed_squared > 4.0 * state.vv.trace();
        let (along, across) = match model {
            STEADY => (self.along_q, self.steady_q),
            SPEED => (self.speed_q, self.steady_q),
            _ => (self.turn_along_q, self.turn_q),
        };
        let noise = match (model, known) {
            (LOOSE, _) => Sym2::isotropic(self.manoeuvre_q),
            (_, false) => Sym2::isotropic(along.max(across)),
            _ => {
                let unit = state.velocity * (1.0 / speed_squared.sqrt());
                Sym2::along(unit, along, across)
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
    /// By how much they change with the logarithm of the rate at which steady flight ends.
    slopes: [f64; MODELS],
    /// By how much the logarithm of the latest plot's likelihood does.
    score: f64,
}

impl Imm {
    /// A filter started from one position.
    pub fn new(position: Vec2, covariance: Sym2, model: &MotionModel) -> Self {
        let state = Kinematic::from_position(position, covariance, model.speed_sigma);
        let manoeuvring = model.manoeuvre_s / (model.manoeuvre_s + model.steady_s);
        let mut probabilities = model.shares().map(|share| share * manoeuvring);
        probabilities[STEADY] = 1.0 - manoeuvring;
        Self { states: [state; MODELS], probabilities, slopes: [0.0; MODELS], score: 0.0 }
    }

    /// By how much the logarithm of the latest plot's likelihood changes with the logarithm of the rate
    /// at which steady flight ends.
    pub(super) fn score(&self) -> f64 {
        self.score
    }

    /// The probability that the aircraft turns or does something else that is not straight, in `[0, 1]`.
    pub fn manoeuvring(&self) -> f64 {
        1.0 - self.probabilities[STEADY] - self.probabilities[SPEED]
    }

    /// The single best estimate: the mixture's mean and covariance.
    pub fn estimate(&self) -> Kinematic {
        mixture(&self.states, &self.probabilities)
    }

    /// Moves all filters `dt` seconds on, `dt >= 0`.
    #[must_use]
    pub fn predicted(&self, dt: f64, model: &MotionModel) -> Self {
        let mut next = *self;
        let (transitions, more) = model.transitions(dt);
        for to in 0..MODELS {
            let mut from = [0.0; MODELS];
            next.slopes[to] = 0.0;
            for (model, weight) in from.iter_mut().enumerate() {
                *weight = self.probabilities[model] * transitions[model][to];
                next.slopes[to] += self.probabilities[model] * more[model][to]
                    + self.slopes[model] * transitions[model][to];
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
            let was = before.slopes[model];
            found.slopes[model] = was + (self.slopes[model] - was) * trust;
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
        let likelihoods = logs.map(|log| (log - top).exp());
        let mut weights = [0.0; MODELS];
        for model in 0..MODELS {
            weights[model] = self.probabilities[model] * likelihoods[model];
        }
        let sum: f64 = weights.iter().sum();
        let floored = weights.map(|weight| (weight / sum).max(PROBABILITY_MIN));
        let whole: f64 = floored.iter().sum();
        let slope: f64 = self.slopes.iter().zip(likelihoods).map(|(slope, l)| slope * l).sum();
        self.score = slope / sum;
        for model in 0..MODELS {
            let own = self.slopes[model] * likelihoods[model];
            self.slopes[model] = (own - weights[model] * self.score) / sum;
        }
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

    /// One plot's likelihood by a rate a thousandth larger, against the slope that is said.
    #[test]
    fn the_score_is_the_slope_of_the_likelihood() {
        let model = MotionModel::default();
        let sooner = MotionModel { steady_s: model.steady_s * (-1e-3_f64).exp(), ..model };
        let (r, outliers) = (Sym2::isotropic(100.0 * 100.0), Outliers::default());
        // All states are one as yet, so that mixing them changes nothing whatever the rate.
        let first = Imm::new(Vec2::default(), r, &model);
        for (far_m, more_likely) in [(1_200.0, false), (8_000.0, true)] {
            let after = |model: &MotionModel| {
                let mut next = first.predicted(6.0, model);
                let found = next.update(Vec2::new(0.0, far_m), r, &outliers).unwrap();
                (next, found.log_likelihood)
            };
            let ((next, log_likelihood), (_, more)) = (after(&model), after(&sooner));
            let slope = (more - log_likelihood) / 1e-3;
            assert!((next.score() - slope).abs() < 1e-3 * slope.abs() + 1e-9, "{slope}");
            assert_eq!(slope > 0.0, more_likely, "{far_m} m: {slope}");
            assert!(next.slopes.iter().sum::<f64>().abs() < 1e-9, "probabilities are 1 together");
        }
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
