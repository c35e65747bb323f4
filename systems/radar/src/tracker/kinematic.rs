//! The Kalman filter of one constant-velocity model in the plane.
//!
//! The motion between two plots is a straight line disturbed by white-noise acceleration of
//! spectral density `q` (Bar-Shalom, Li, Kirubarajan: *Estimation with Applications to Tracking
//! and Navigation*, §6.2.2); measurements are positions.

use super::linear::{Mat2, Sym2, Vec2};

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

    /// The state `dt` seconds later, `dt >= 0`, under acceleration noise of density `q` m²/s³.
    #[must_use]
    pub fn predicted(&self, dt: f64, q: f64) -> Self {
        let (dt2, dt3) = (dt * dt, dt * dt * dt);
        Self {
            position: self.position + self.velocity * dt,
            velocity: self.velocity,
            pp: self.pp
                + self.pv.symmetric_part() * (2.0 * dt)
                + self.vv * dt2
                + Sym2::isotropic(q * dt3 / 3.0),
            pv: self.pv + self.vv.full() * dt + Sym2::isotropic(q * dt2 / 2.0).full(),
            vv: self.vv + Sym2::isotropic(q * dt),
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
        let later = state.predicted(6.0, 2.0);
        assert_eq!(later.position, Vec2::new(1200.0, -600.0));
        // q dt³/3 = 2·216/3, q dt²/2 = 2·36/2, q dt = 12.
        assert_eq!(later.pp, Sym2::isotropic(144.0));
        assert_eq!(later.pv, Sym2::isotropic(36.0).full());
        assert_eq!(later.vv, Sym2::isotropic(12.0));
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
            state = state.predicted(5.0, 0.1);
            state.update(truth * (5.0 * f64::from(step)), r).unwrap();
        }
        assert!((state.velocity - truth).norm() < 0.5, "{:?}", state.velocity);
        assert!(state.vv.trace() < 20.0 && state.vv.det() > 0.0, "{:?}", state.vv);
    }
}
