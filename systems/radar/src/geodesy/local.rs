//! East, north and up at an origin, and what a radar there measures.

use super::wgs84::gaussian_radius_m;
use super::{Ecef, Wgs84};

/// East, north and up of an origin, in metres.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Enu {
    /// Metres to the east.
    pub east_m: f64,
    /// Metres to true north.
    pub north_m: f64,
    /// Metres along the ellipsoid's normal at the origin.
    pub up_m: f64,
}

/// Polar measurement of a position by a radar.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Polar {
    /// Slant range, in metres.
    pub range_m: f64,
    /// Clockwise from true north, in radians, in [0, 2π).
    pub azimuth_rad: f64,
    /// Above the horizontal plane of the origin, in radians, in [-π/2, π/2].
    pub elevation_rad: f64,
}

/// The frame whose origin is one position: an exact rotation of the earth-centred frame.
#[derive(Clone, Copy, Debug)]
pub struct LocalFrame {
    origin: Wgs84,
    origin_ecef: Ecef,
    sin_lat: f64,
    cos_lat: f64,
    sin_lon: f64,
    cos_lon: f64,
}

impl LocalFrame {
    /// The frame at `origin`.
    #[must_use]
    pub fn new(origin: Wgs84) -> Self {
        let (sin_lat, cos_lat) = origin.lat_deg.to_radians().sin_cos();
        let (sin_lon, cos_lon) = origin.lon_deg.to_radians().sin_cos();
        Self { origin, origin_ecef: origin.to_ecef(), sin_lat, cos_lat, sin_lon, cos_lon }
    }

    /// Origin of the frame.
    #[must_use]
    pub fn origin(&self) -> Wgs84 {
        self.origin
    }

    /// `position` in this frame.
    #[must_use]
    pub fn to_local(&self, position: Wgs84) -> Enu {
        let p = position.to_ecef();
        let (dx, dy, dz) = (
            p.x_m - self.origin_ecef.x_m,
            p.y_m - self.origin_ecef.y_m,
            p.z_m - self.origin_ecef.z_m,
        );
        let along = self.cos_lon * dx + self.sin_lon * dy;
        Enu {
            east_m: -self.sin_lon * dx + self.cos_lon * dy,
            north_m: -self.sin_lat * along + self.cos_lat * dz,
            up_m: self.cos_lat * along + self.sin_lat * dz,
        }
    }

    /// The position that is `local` in this frame.
    #[must_use]
    pub fn to_wgs84(&self, local: Enu) -> Wgs84 {
        let along = -self.sin_lat * local.north_m + self.cos_lat * local.up_m;
        Ecef {
            x_m: self.origin_ecef.x_m - self.sin_lon * local.east_m + self.cos_lon * along,
            y_m: self.origin_ecef.y_m + self.cos_lon * local.east_m + self.sin_lon * along,
            z_m: self.origin_ecef.z_m + self.cos_lat * local.north_m + self.sin_lat * local.up_m,
        }
        .to_wgs84()
    }

    /// Polar measurement of `position` by a radar at the origin.
    #[must_use]
    pub fn to_polar(&self, position: Wgs84) -> Polar {
        let Enu { east_m, north_m, up_m } = self.to_local(position);
        let azimuth = east_m.atan2(north_m);
        Polar {
            range_m: east_m.hypot(north_m).hypot(up_m),
            azimuth_rad: if azimuth < 0.0 { azimuth + std::f64::consts::TAU } else { azimuth },
            elevation_rad: up_m.atan2(east_m.hypot(north_m)),
        }
    }

    /// The position of a plot: slant range in metres, azimuth clockwise from true north in
    /// radians, and the target's height over the ellipsoid in metres, which a radar takes from
    /// the flight level because it measures no elevation.
    ///
    /// `None` when no point at that range has that height: a target over the radar whose reported
    /// height exceeds its slant range, or a range or height that is not finite.
    #[must_use]
    pub fn polar_to_wgs84(&self, range_m: f64, azimuth_rad: f64, height_m: f64) -> Option<Wgs84> {
        let radius = gaussian_radius_m(self.origin.lat_deg.to_radians());
        let (from, to) = (radius + self.origin.height_m, radius + height_m);
        // The cosine rule in the triangle earth centre, radar, target.
        let mut sin_elevation =
            (to * to - from * from - range_m * range_m) / (2.0 * range_m * from);
        let mut position = None;
        // The sphere is off by metres of height at long range; each step leaves a thousandth.
        for _ in 0..3 {
            if !sin_elevation.is_finite() || sin_elevation.abs() > 1.0 || range_m <= 0.0 {
                return None;
            }
            let ground = range_m * (1.0 - sin_elevation * sin_elevation).sqrt();
            let at = self.to_wgs84(Enu {
                east_m: ground * azimuth_rad.sin(),
                north_m: ground * azimuth_rad.cos(),
                up_m: range_m * sin_elevation,
            });
            sin_elevation += (height_m - at.height_m) / range_m;
            position = Some(Wgs84 { height_m, ..at });
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FRANKFURT: Wgs84 = Wgs84 { lat_deg: 50.0379, lon_deg: 8.5622, height_m: 111.0 };

    #[test]
    fn straight_up_and_a_little_north() {
        let frame = LocalFrame::new(FRANKFURT);
        let above = frame.to_polar(Wgs84 { height_m: 10_111.0, ..FRANKFURT });
        assert!((above.range_m - 10_000.0).abs() < 1e-6);
        assert!((above.elevation_rad.to_degrees() - 90.0).abs() < 1e-4);
        // 0.01° of latitude at 50° N is 1112.3 m (meridian radius 6 372 956 m at 50°, plus 111 m).
        let north = frame.to_local(Wgs84 { lat_deg: 50.0479, ..FRANKFURT });
        assert!((north.north_m - 1112.3).abs() < 0.2, "{north:?}");
        assert!(north.east_m.abs() < 1e-6);
    }

    /// The earth falls away by d²/2R: 100 km off, a point at our own height is 785 m below.
    #[test]
    fn curvature() {
        let frame = LocalFrame::new(Wgs84::new(50.0, 8.0, 0.0));
        let at = frame.polar_to_wgs84(100_000.0, std::f64::consts::FRAC_PI_2, 0.0).unwrap();
        let up = frame.to_local(at).up_m;
        assert!((up + 100_000.0_f64.powi(2) / (2.0 * 6_386_000.0)).abs() < 4.0, "{up}");
    }

    #[test]
    fn no_ground_under_a_target_higher_than_its_range() {
        let frame = LocalFrame::new(FRANKFURT);
        assert_eq!(frame.polar_to_wgs84(9_000.0, 1.0, 12_000.0), None);
        assert_eq!(frame.polar_to_wgs84(0.0, 1.0, 0.0), None);
        assert_eq!(frame.polar_to_wgs84(f64::NAN, 1.0, 0.0), None);
    }

    proptest! {
        /// What a radar measures of an aircraft with a known height is where the aircraft is.
        #[test]
        fn polar_and_back(
            lat in 46.0..55.0_f64, lon in 5.0..16.0_f64, height in 0.0..14_000.0_f64,
        ) {
            let frame = LocalFrame::new(FRANKFURT);
            let truth = Wgs84::new(lat, lon, height);
            let polar = frame.to_polar(truth);
            prop_assume!(polar.elevation_rad < 1.2);
            let back = frame.polar_to_wgs84(polar.range_m, polar.azimuth_rad, height).unwrap();
            prop_assert!(truth.ground_distance_m(back) < 0.05, "{truth:?} {back:?}");
        }

        #[test]
        fn local_and_back(
            east in -5e5..5e5_f64, north in -5e5..5e5_f64, up in -2e4..2e4_f64,
        ) {
            let frame = LocalFrame::new(FRANKFURT);
            let enu = Enu { east_m: east, north_m: north, up_m: up };
            let back = frame.to_local(frame.to_wgs84(enu));
            prop_assert!((back.east_m - east).abs() < 1e-3);
            prop_assert!((back.north_m - north).abs() < 1e-3);
            prop_assert!((back.up_m - up).abs() < 1e-3);
        }
    }
}
