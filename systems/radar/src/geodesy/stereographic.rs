//! Conformal plane into which the plots of several radars are projected.
//!
//! Oblique stereographic projection by way of the conformal sphere, scale 1 at the origin
//! (IOGP Guidance Note 7-2, "Oblique and Equatorial Stereographic", EPSG method 9809).
//! Lengths grow by d²/4R² with the distance from the origin: 0.16 % at 500 km.

use super::Wgs84;
use super::wgs84::{Ellipsoid, WGS84};

/// A position in the plane, in metres.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Plane {
    /// Metres to the east of the origin.
    pub x_m: f64,
    /// Metres to the north of the origin.
    pub y_m: f64,
}

/// The projection whose origin is one position.
#[derive(Clone, Copy, Debug)]
pub struct Stereographic {
    eccentricity: f64,
    /// Exponent and factor of the map from the ellipsoid to the conformal sphere.
    n: f64,
    c: f64,
    lon_origin: f64,
    /// Latitude of the origin on the conformal sphere.
    sin_chi_origin: f64,
    cos_chi_origin: f64,
    /// Twice the radius of the conformal sphere, times the scale at the origin.
    diameter_m: f64,
}

impl Stereographic {
    /// The plane that touches the earth at `origin`; its height is left out.
    #[must_use]
    pub fn new(origin: Wgs84) -> Self {
        Self::on(WGS84, origin, 1.0)
    }

    fn on(ellipsoid: Ellipsoid, origin: Wgs84, scale: f64) -> Self {
        let e2 = ellipsoid.e2();
        let eccentricity = e2.sqrt();
        let (sin_lat, cos_lat) = origin.lat_deg.to_radians().sin_cos();
        let v = 1.0 - e2 * sin_lat * sin_lat;
        let radius = ellipsoid.a_m * (1.0 - e2).sqrt() / v;
        let n = (1.0 + e2 * cos_lat.powi(4) / (1.0 - e2)).sqrt();
        let w1 = conformal_ratio(sin_lat, eccentricity).powf(n);
        let sin_chi_first = (w1 - 1.0) / (w1 + 1.0);
        let c = (n + sin_lat) * (1.0 - sin_chi_first) / ((n - sin_lat) * (1.0 + sin_chi_first));
        let w2 = c * w1;
        let sin_chi_origin = (w2 - 1.0) / (w2 + 1.0);
        Self {
            eccentricity,
            n,
            c,
            lon_origin: origin.lon_deg.to_radians(),
            sin_chi_origin,
            cos_chi_origin: (1.0 - sin_chi_origin * sin_chi_origin).sqrt(),
            diameter_m: 2.0 * radius * scale,
        }
    }

    /// `position` in the plane; its height is left out. The antipode of the origin has no place
    /// in the plane and gives coordinates that are not finite.
    #[must_use]
    pub fn project(&self, position: Wgs84) -> Plane {
        let (sin_dlon, cos_dlon) =
            (self.n * wrap(position.lon_deg.to_radians() - self.lon_origin)).sin_cos();
        let w = self.c
            * conformal_ratio(position.lat_deg.to_radians().sin(), self.eccentricity).powf(self.n);
        let sin_chi = (w - 1.0) / (w + 1.0);
        let cos_chi = (1.0 - sin_chi * sin_chi).sqrt();
        let b = 1.0 + sin_chi * self.sin_chi_origin + cos_chi * self.cos_chi_origin * cos_dlon;
        Plane {
            x_m: self.diameter_m * cos_chi * sin_dlon / b,
            y_m: self.diameter_m
                * (sin_chi * self.cos_chi_origin - cos_chi * self.sin_chi_origin * cos_dlon)
                / b,
        }
    }

    /// The position that is `plane`, at a height over the ellipsoid in metres.
    #[must_use]
    pub fn unproject(&self, plane: Plane, height_m: f64) -> Wgs84 {
        let distance = plane.x_m.hypot(plane.y_m);
        let angle = 2.0 * (distance / self.diameter_m).atan();
        let (sin_angle, cos_angle) = angle.sin_cos();
        let (towards_x, towards_y) =
            if distance > 0.0 { (plane.x_m / distance, plane.y_m / distance) } else { (0.0, 0.0) };
        let sin_chi = cos_angle * self.sin_chi_origin + towards_y * sin_angle * self.cos_chi_origin;
        let dlon = (towards_x * sin_angle)
            .atan2(self.cos_chi_origin * cos_angle - towards_y * self.sin_chi_origin * sin_angle);
        Wgs84 {
            lat_deg: self.latitude_of(sin_chi).to_degrees(),
            lon_deg: wrap(self.lon_origin + dlon / self.n).to_degrees(),
            height_m,
        }
    }

    /// Geodetic latitude (radians) of a conformal one, by fixed-point iteration: each step gains
    /// more than two digits, the eccentricity squared being 1/150.
    fn latitude_of(&self, sin_chi: f64) -> f64 {
        let isometric = ((1.0 + sin_chi) / (self.c * (1.0 - sin_chi))).ln() / (2.0 * self.n);
        let mut sin_lat = isometric.tanh();
        for _ in 0..7 {
            let e = self.eccentricity;
            sin_lat = (isometric + e * (e * sin_lat).atanh()).tanh();
        }
        sin_lat.asin()
    }
}

/// `exp` of twice the isometric latitude.
fn conformal_ratio(sin_lat: f64, eccentricity: f64) -> f64 {
    let es = eccentricity * sin_lat;
    (1.0 + sin_lat) / (1.0 - sin_lat) * ((1.0 - es) / (1.0 + es)).powf(eccentricity)
}

/// An angle brought into (-π, π].
fn wrap(angle_rad: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    let wrapped = angle_rad.rem_euclid(TAU);
    if wrapped > PI { wrapped - TAU } else { wrapped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The worked example of IOGP Guidance Note 7-2 for EPSG method 9809: RD New, on the Bessel
    /// ellipsoid, 53° N 6° E is E 196105.283 m, N 557057.739 m.
    #[test]
    fn guidance_note_7_2_example() {
        let bessel = Ellipsoid { a_m: 6_377_397.155, inverse_flattening: 299.152_812_8 };
        let origin = Wgs84::new(
            52.0 + 9.0 / 60.0 + 22.178 / 3600.0,
            5.0 + 23.0 / 60.0 + 15.500 / 3600.0,
            0.0,
        );
        let at = Stereographic::on(bessel, origin, 0.999_907_9).project(Wgs84::new(53.0, 6.0, 0.0));
        assert!((at.x_m + 155_000.0 - 196_105.283).abs() < 2e-3, "{at:?}");
        assert!((at.y_m + 463_000.0 - 557_057.739).abs() < 2e-3, "{at:?}");
    }

    proptest! {
        #[test]
        fn there_and_back(lat in 40.0..60.0_f64, lon in -5.0..25.0_f64) {
            let plane = Stereographic::new(Wgs84::new(51.0, 10.0, 0.0));
            let back = plane.unproject(plane.project(Wgs84::new(lat, lon, 0.0)), 0.0);
            prop_assert!((back.lat_deg - lat).abs() < 1e-9, "{back:?}");
            prop_assert!((back.lon_deg - lon).abs() < 1e-9, "{back:?}");
        }

        /// Distances in the plane are true to the growth that the head of this file names.
        #[test]
        fn scale(lat in 47.0..55.0_f64, lon in 6.0..15.0_f64, toward in 0.0..std::f64::consts::TAU) {
            let plane = Stereographic::new(Wgs84::new(51.0, 10.0, 0.0));
            let here = Wgs84::new(lat, lon, 0.0);
            let frame = crate::geodesy::LocalFrame::new(here);
            let there = frame.to_wgs84(crate::geodesy::Enu {
                east_m: 1000.0 * toward.sin(), north_m: 1000.0 * toward.cos(), up_m: 0.0,
            });
            let (a, b) = (plane.project(here), plane.project(there));
            let length = (a.x_m - b.x_m).hypot(a.y_m - b.y_m);
            let from_origin = a.x_m.hypot(a.y_m);
            let expected = 1000.0 * (1.0 + from_origin.powi(2) / (4.0 * 6.38e6_f64.powi(2)));
            prop_assert!((length - expected).abs() < 0.02, "{length} {expected}");
        }
    }
}
