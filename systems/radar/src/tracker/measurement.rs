//! A plot in the tracker's plane, and the slant measurement behind it.

use super::identity::Identity;
use super::linear::{Sym2, Vec2};
use crate::geodesy::flight_level_to_m;

/// A plot in the tracker's plane, ready to be correlated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// The radar, as an index of [`Radars`](super::Radars).
    pub radar: u8,
    /// Time of detection: seconds on the tracker's continuous scale.
    pub time_s: f64,
    /// Position in the plane, m.
    pub position: Vec2,
    /// Covariance of the position, m².
    pub covariance: Sym2,
    /// Identity from the transponder.
    pub identity: Identity,
    /// Mode C, hundreds of feet.
    pub flight_level: Option<f64>,
    /// Slant measurement behind the position; `None` where it is not known, and the position cannot
    /// be improved.
    pub slant: Option<Slant>,
}

/// Slant measurement of an aircraft: what the position in the plane was computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slant {
    /// The radar, in the plane, m.
    pub from: Vec2,
    /// The radar's height over the ellipsoid, m.
    pub from_m: f64,
    /// Slant range, m.
    pub range_m: f64,
    /// Height over the ellipsoid that the aircraft was taken to have, m, …
    pub height_m: f64,
    /// … and its standard deviation, m: 0 with Mode C.
    pub height_sigma_m: f64,
}

impl Slant {
    /// Ground distance of a height, m, by a sphere; `None` where the slant range is less.
    fn ground_m(&self, height_m: f64, about_m: f64) -> Option<f64> {
        let up_m = height_m - self.from_m - about_m * about_m / (2.0 * EARTH_M);
        let squared = self.range_m * self.range_m - up_m * up_m;
        (squared > 0.0).then(|| squared.sqrt())
    }
}

/// Mean radius of the earth, m.
const EARTH_M: f64 = 6_371_000.0;

impl Measurement {
    /// The same plot for an aircraft at `level` with standard deviation `sigma`, hundreds of feet;
    /// `None` where that is impossible, or the slant measurement is not known.
    ///
    /// The slant range stays, which moves the position along the beam: between FL230 and FL330 by
    /// 340 m at 40 NM, and by more the nearer it is.
    #[must_use]
    pub fn at_level(&self, level: f64, sigma: f64) -> Option<Self> {
        let slant = self.slant?;
        let offset = self.position - slant.from;
        let ground_m = offset.norm();
        let unit = offset * (1.0 / ground_m.max(1.0));
        let height_m = flight_level_to_m(level);
        let before_m = slant.ground_m(slant.height_m, ground_m)?;
        let after_m = slant.ground_m(height_m, ground_m)?;
        let lean = |height_m: f64, far_m: f64| (height_m / far_m.max(100.0)).clamp(-10.0, 10.0);
        let guess = lean(slant.height_m, ground_m) * slant.height_sigma_m;
        let (far_m, sigma_m) = (ground_m + after_m - before_m, flight_level_to_m(sigma));
        let known = lean(height_m, far_m) * sigma_m;
        Some(Self {
            position: slant.from + unit * far_m,
            covariance: self.covariance + Sym2::along(unit, known * known - guess * guess, 0.0),
            slant: Some(Slant { height_m, height_sigma_m: sigma_m, ..slant }),
            ..*self
        })
    }

    /// Covariance of the position that comes from an uncertain height, m².
    pub(super) fn lean(&self) -> Sym2 {
        let Some(slant) = self.slant.filter(|slant| slant.height_sigma_m > 0.0) else {
            return Sym2::default();
        };
        let offset = self.position - slant.from;
        let ground_m = offset.norm().max(100.0);
        let sigma_m = (slant.height_m / ground_m).clamp(-10.0, 10.0) * slant.height_sigma_m;
        Sym2::along(offset * (1.0 / ground_m), sigma_m * sigma_m, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen at 74,080 m (40 NM) and taken to be at FL330, 10,058 m: 73,394 m over ground. At FL230,
    /// 7,010 m, it is at 73,748 m; the earth's 422 m of fall make 12 m of the difference.
    #[test]
    fn a_plot_moves_along_the_beam_with_its_level() {
        let slant = Slant {
            from: Vec2::new(1_000.0, 2_000.0),
            from_m: 0.0,
            range_m: 74_080.0,
            height_m: flight_level_to_m(330.0),
            height_sigma_m: 0.0,
        };
        let m = Measurement {
            radar: 0,
            time_s: 0.0,
            position: Vec2::new(1_000.0 + 73_394.0, 2_000.0),
            covariance: Sym2::isotropic(100.0 * 100.0),
            identity: Identity::default(),
            flight_level: Some(330.0),
            slant: Some(slant),
        };
        let moved = m.at_level(230.0, 0.0).unwrap();
        assert!((moved.position.x - m.position.x - 336.0).abs() < 8.0, "{:?}", moved.position);
        assert!((moved.position.y - 2_000.0).abs() < 1e-6);
        assert_eq!(m.at_level(330.0, 0.0).unwrap().position, m.position);
        assert_eq!(m.at_level(2_500.0, 0.0), None, "higher than far");
        assert_eq!(Measurement { slant: None, ..m }.at_level(230.0, 0.0), None);
    }
}
