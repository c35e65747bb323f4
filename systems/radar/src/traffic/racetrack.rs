//! A holding pattern.

use std::f64::consts::PI;

/// Round and round two straight legs and two half circles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Racetrack {
    pub(super) heading_rad: f64,
    pub(super) leg_s: f64,
    pub(super) radius_m: f64,
    pub(super) speed_m_s: f64,
    pub(super) phase_s: f64,
    pub(super) flight_level: f64,
}

impl Racetrack {
    /// x and y in metres from the fix, at which the first leg begins.
    pub(super) fn at(&self, scenario_s: f64) -> (f64, f64) {
        let (turn_s, leg_m) = (PI * self.radius_m / self.speed_m_s, self.speed_m_s * self.leg_s);
        let half_s = self.leg_s + turn_s;
        let since_fix_s = (scenario_s + self.phase_s).rem_euclid(2.0 * half_s);
        let second = since_fix_s >= half_s;
        let since_s = since_fix_s - if second { half_s } else { 0.0 };
        // To the right of the leg and along it.
        let (right, ahead) = if since_s < self.leg_s {
            (0.0, self.speed_m_s * since_s)
        } else {
            let (sin, cos) = (self.speed_m_s * (since_s - self.leg_s) / self.radius_m).sin_cos();
            (self.radius_m * (1.0 - cos), leg_m + self.radius_m * sin)
        };
        // The second half is the first, seen from the other side.
        let (right, ahead) =
            if second { (2.0 * self.radius_m - right, leg_m - ahead) } else { (right, ahead) };
        let (sin, cos) = self.heading_rad.sin_cos();
        (ahead * sin + right * cos, ahead * cos - right * sin)
    }
}
