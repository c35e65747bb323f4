//! The Kalman filter of one model of motion in the plane.
//!
//! The motion between two plots is a straight line or a turn of known rate, disturbed by white-noise
//! acceleration (Bar-Shalom, Li, Kirubarajan: *Estimation with Applications to Tracking and
//! Navigation*, §6.2.2 and §11.7.1); measurements are positions.

use super::linear::{Mat2, Sym2, Vec2};

/// Parts of a mixture below this weight are left out.
const WEIGHT_MIN: f64 = 1e-7;

/// Position and velocity with their joint covariance, in metres and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematic {
    /// Position, m.
    pub position: Vec2,
    /// Velocity, m/s.
    pub velocity: Vec2,
    /// Covariance of the position, m².
    pub pp: Sym2,
    /// Covariance of position (rows) with velocity (columns), m²/s.
    pub pv: Mat2,
    /// Covariance of the velocity, m²/s².
    pub vv: Sym2,
}

/// Motion from one time to another, and how uncertain it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Time, s, not below 0.
    pub dt: f64,
    /// Rate of turn, rad/s; to the left is positive.
    pub rate: f64,
    /// Density of the acceleration noise, m²/s³.
    pub noise: Sym2,
}

impl Step {
    /// Straight on, under acceleration noise of density `q` m²/s³ in all directions.
    #[must_use]
    pub fn straight(dt: f64, q: f64) -> Self {
        Self { dt, rate: 0.0, noise: Sym2::isotropic(q) }
    }

    /// How the velocity changes, and what it adds to the position.
    fn matrices(&self) -> (Mat2, Mat2) {
        let Self { dt, rate, .. } = *self;
        if rate == 0.0 {
            return (Sym2::isotropic(1.0).full(), Sym2::isotropic(dt).full());
        }
        let (sin, cos) = (rate * dt).sin_cos();
        let (ahead, aside) = (sin / rate, (1.0 - cos) / rate);
        let turned = Mat2 { a: cos, b: -sin, c: sin, d: cos };
        (turned, Mat2 { a: ahead, b: -aside, c: aside, d: ahead })
    }
}

/// Deviation of a measurement from its prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Innovation {
    /// Squared Mahalanobis distance; chi-square with two degrees of freedom for a true match.
    pub distance_squared: f64,
    /// Natural logarithm of the likelihood of the measurement, with its `1/2π`.
    pub log_likelihood: f64,
}

impl Kinematic {
    /// A state from one position: the velocity is unknown but for its size.
    pub fn from_position(position: Vec2, covariance: Sym2, speed_sigma: f64) -> Self {
        Self {
            position,
            velocity: Vec2::default(),
            pp: covariance,
            pv: Mat2::default(),
            vv: Sym2::isotropic(speed_sigma * speed_sigma),
        }
    }

    /// The state after a step.
    #[must_use]
    pub fn predicted(&self, step: &Step) -> Self {
        let (turned, moved) = step.matrices();
        let (dt, noise) = (step.dt, step.noise);
        let (dt2, dt3) = (dt * dt, dt * dt * dt);
        let velocities = turned.times(self.vv.full());
        // Covariance of the position with the velocity as it was.
        let pv = self.pv + moved.times(self.vv.full());
        Self {
            position: self.position + moved.apply(self.velocity),
            velocity: turned.apply(self.velocity),
            pp: self.pp
                + (self.pv + pv).times(moved.transpose()).symmetric_part()
                + noise * (dt3 / 3.0),
            pv: pv.times(turned.transpose()) + (noise * (dt2 / 2.0)).full(),
            vv: velocities.times(turned.transpose()).symmetric_part() + noise * dt,
        }
    }

    /// Compares a position `z` of covariance `r` with the state, changing nothing; `None` when
    /// the covariances are not positive definite, that is when something is broken.
    pub fn innovation(&self, z: Vec2, r: Sym2) -> Option<Innovation> {
        let s = self.pp + r;
        let distance_squared = s.inverse()?.quadratic(z - self.position);
        let log_likelihood =
            -0.5 * distance_squared - 0.5 * s.det().ln() - std::f64::consts::TAU.ln();
        Some(Innovation { distance_squared, log_likelihood })
    }

    /// Takes the position `z` of covariance `r` into the state.
    pub fn update(&mut self, z: Vec2, r: Sym2) -> Option<Innovation> {
        let innovation = self.innovation(z, r)?;
        let inverse = (self.pp + r).inverse()?.full();
        let nu = z - self.position;
        let gain_p = self.pp.full().times(inverse);
        let gain_v = self.pv.transpose().times(inverse);
        self.position = self.position + gain_p.apply(nu);
        self.velocity = self.velocity + gain_v.apply(nu);
        // P - K S Kᵀ by blocks; symmetric parts keep rounding from tilting the covariance.
        self.vv = self.vv - gain_v.times(self.pv).symmetric_part();
        self.pv = self.pv - gain_p.times(self.pv);
        self.pp = self.pp - gain_p.times(self.pp.full()).symmetric_part();
        Some(innovation)
    }
}

/// The moment-matched mixture of `states` with `weights`, which are together 1.
pub(super) fn mixture<const N: usize>(states: &[Kinematic; N], weights: &[f64; N]) -> Kinematic {
    let mut mean = (Vec2::default(), Vec2::default());
    for (state, &weight) in states.iter().zip(weights) {
        mean.0 = mean.0 + state.position * weight;
        mean.1 = mean.1 + state.velocity * weight;
    }
    let (mut pp, mut pv, mut vv) = (Sym2::default(), Mat2::default(), Sym2::default());
    for (state, &weight) in states.iter().zip(weights) {
        if weight < WEIGHT_MIN {
            continue;
        }
        let (dp, dv) = (state.position - mean.0, state.velocity - mean.1);
        pp = pp + (state.pp + dp.outer()) * weight;
        pv = pv + (state.pv + dp.outer_with(dv)) * weight;
        vv = vv + (state.vv + dv.outer()) * weight;
    }
    Kinematic { position: mean.0, velocity: mean.1, pp, pv, vv }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prediction_of_a_certain_state_adds_only_the_process_noise() {
        let state = Kinematic {
            position: Vec2::new(0.0, 0.0),
            velocity: Vec2::new(200.0, -100.0),
            pp: Sym2::default(),
            pv: Mat2::default(),
            vv: Sym2::default(),
        };
        let later = state.predicted(&Step::straight(6.0, 2.0));
        assert_eq!(later.position, Vec2::new(1200.0, -600.0));
        // q dt³/3 = 2·216/3, q dt²/2 = 2·36/2, q dt = 12.
        assert_eq!(later.pp, Sym2::isotropic(144.0));
        assert_eq!(later.pv, Sym2::isotropic(36.0).full());
        assert_eq!(later.vv, Sym2::isotropic(12.0));
    }

    /// A quarter of a circle to the left, flown at 100 m/s in 10 s: from eastwards to northwards.
    #[test]
    fn a_turn_ends_beside_and_turned() {
        let rate = std::f64::consts::FRAC_PI_2 / 10.0;
        let radius = 100.0 / rate;
        let state = Kinematic {
            velocity: Vec2::new(100.0, 0.0),
            ..Kinematic::from_position(Vec2::default(), Sym2 { xx: 1.0, xy: 0.0, yy: 2.0 }, 5.0)
        };
        let step = Step { dt: 10.0, rate, noise: Sym2::default() };
        let later = state.predicted(&step);
        assert!((later.position - Vec2::new(radius, radius)).norm() < 1e-9, "{later:?}");
        assert!((later.velocity - Vec2::new(0.0, 100.0)).norm() < 1e-9);
        // The velocity is as uncertain as before; so many seconds of it the position.
        assert!((later.vv.xx - 25.0).abs() < 1e-9 && later.vv.xy.abs() < 1e-9);
        let reach = 2.0 * (1.0 / rate).powi(2) * 25.0;
        assert!((later.pp.xx - 1.0 - reach).abs() < 1e-6, "{later:?}");
        assert!((later.pp.yy - 2.0 - reach).abs() < 1e-6);
        // Half of a turn twice is the whole.
        let half = Step { dt: 5.0, ..step };
        let twice = state.predicted(&half).predicted(&half);
        assert!((twice.pp.xx - later.pp.xx).abs() < 1e-6 && (twice.pv.b - later.pv.b).abs() < 1e-6);
    }

    #[test]
    fn equal_trust_meets_in_the_middle() {
        let mut state = Kinematic::from_position(Vec2::new(0.0, 0.0), Sym2::isotropic(100.0), 10.0);
        let fit = state.update(Vec2::new(20.0, 0.0), Sym2::isotropic(100.0)).unwrap();
        assert!((state.position.x - 10.0).abs() < 1e-9);
        assert!((state.pp.xx - 50.0).abs() < 1e-9);
        // 20² / (100 + 100)
        assert!((fit.distance_squared - 2.0).abs() < 1e-12);
    }

    /// The velocity of a straight flight is found from positions alone, and the covariance says
    /// truthfully how well.
    #[test]
    fn positions_on_a_line_give_the_velocity() {
        let truth = Vec2::new(180.0, 90.0);
        let r = Sym2 { xx: 900.0, xy: 400.0, yy: 1600.0 };
        let mut state = Kinematic::from_position(Vec2::default(), r, 300.0);
        for step in 1..=20 {
            state = state.predicted(&Step::straight(5.0, 0.1));
            state.update(truth * (5.0 * f64::from(step)), r).unwrap();
        }
        assert!((state.velocity - truth).norm() < 0.5, "{:?}", state.velocity);
        assert!(state.vv.trace() < 20.0 && state.vv.det() > 0.0, "{:?}", state.vv);
    }
}
