//! The WGS-84 ellipsoid: geodetic and earth-centred coordinates.

/// An ellipsoid of revolution, by its semi-major axis in metres and inverse flattening.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ellipsoid {
    pub(super) a_m: f64,
    pub(super) inverse_flattening: f64,
}

/// NIMA TR8350.2, table 3.1.
pub(super) const WGS84: Ellipsoid =
    Ellipsoid { a_m: 6_378_137.0, inverse_flattening: 298.257_223_563 };

impl Ellipsoid {
    /// First eccentricity, squared.
    pub(super) fn e2(self) -> f64 {
        let f = 1.0 / self.inverse_flattening;
        f * (2.0 - f)
    }
}

/// A position by geodetic latitude and longitude.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Wgs84 {
    /// Degrees, north positive, in [-90, 90].
    pub lat_deg: f64,
    /// Degrees, east positive, in [-180, 180].
    pub lon_deg: f64,
    /// Metres above the ellipsoid.
    pub height_m: f64,
}

/// A position by earth-centred, earth-fixed coordinates, in metres: `x` through the Greenwich
/// meridian at the equator, `z` through the north pole.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Ecef {
    /// Metres towards 0° N 0° E.
    pub x_m: f64,
    /// Metres towards 0° N 90° E.
    pub y_m: f64,
    /// Metres towards the north pole.
    pub z_m: f64,
}

impl Wgs84 {
    /// A position by latitude and longitude in degrees and height in metres.
    #[must_use]
    pub fn new(lat_deg: f64, lon_deg: f64, height_m: f64) -> Self {
        Self { lat_deg, lon_deg, height_m }
    }

    /// The same position in earth-centred coordinates.
    #[must_use]
    pub fn to_ecef(self) -> Ecef {
        let (sin_lat, cos_lat) = self.lat_deg.to_radians().sin_cos();
        let (sin_lon, cos_lon) = self.lon_deg.to_radians().sin_cos();
        let e2 = WGS84.e2();
        let prime_vertical = WGS84.a_m / (1.0 - e2 * sin_lat * sin_lat).sqrt();
        let axis = (prime_vertical + self.height_m) * cos_lat;
        Ecef {
            x_m: axis * cos_lon,
            y_m: axis * sin_lon,
            z_m: (prime_vertical * (1.0 - e2) + self.height_m) * sin_lat,
        }
    }

    /// Metres along the surface to `other`, taking the earth as a sphere of the Gaussian radius at
    /// the middle latitude: within 0.3 % up to some hundred kilometres. Heights are left out.
    #[must_use]
    pub fn ground_distance_m(self, other: Self) -> f64 {
        let (lat_a, lat_b) = (self.lat_deg.to_radians(), other.lat_deg.to_radians());
        let half_lat = ((lat_b - lat_a) / 2.0).sin();
        let half_lon = ((other.lon_deg - self.lon_deg).to_radians() / 2.0).sin();
        let h = half_lat * half_lat + lat_a.cos() * lat_b.cos() * half_lon * half_lon;
        2.0 * gaussian_radius_m((lat_a + lat_b) / 2.0) * h.sqrt().min(1.0).asin()
    }
}

/// The middle of places, on the surface; `None` without any. Heights are left out.
#[must_use]
pub fn middle(places: impl IntoIterator<Item = Wgs84>) -> Option<Wgs84> {
    let (mut sum, mut count) = (Ecef { x_m: 0.0, y_m: 0.0, z_m: 0.0 }, 0.0);
    for place in places {
        let at = Wgs84 { height_m: 0.0, ..place }.to_ecef();
        sum = Ecef { x_m: sum.x_m + at.x_m, y_m: sum.y_m + at.y_m, z_m: sum.z_m + at.z_m };
        count += 1.0;
    }
    let mean = Ecef { x_m: sum.x_m / count, y_m: sum.y_m / count, z_m: sum.z_m / count };
    (count > 0.0).then(|| Wgs84 { height_m: 0.0, ..mean.to_wgs84() })
}

/// The text is not a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a position: expected LAT,LON or LAT,LON,HEIGHT in degrees and metres, at most \
     89° north \
     or south, 180° east or west and 20 km up or down"
)]
pub struct PlaceError(String);

impl std::str::FromStr for Wgs84 {
    type Err = PlaceError;

    /// Latitude and longitude in degrees and, where it is given, height in metres.
    ///
    /// # Errors
    /// [`PlaceError`] for anything else, and for places that no radar is at.
    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let numbers: Option<Vec<f64>> =
            text.split(',').map(|part| part.trim().parse().ok()).collect();
        let at = match numbers.as_deref() {
            Some([lat, lon]) => Self::new(*lat, *lon, 0.0),
            Some([lat, lon, height]) => Self::new(*lat, *lon, *height),
            _ => return Err(PlaceError(text.to_owned())),
        };
        // Comparisons that no number that is none passes.
        let possible =
            at.lat_deg.abs() <= 89.0 && at.lon_deg.abs() <= 180.0 && at.height_m.abs() <= 20_000.0;
        if possible { Ok(at) } else { Err(PlaceError(text.to_owned())) }
    }
}

/// Radius of the sphere that fits the ellipsoid best at a latitude (radians), in metres.
pub(super) fn gaussian_radius_m(lat_rad: f64) -> f64 {
    let e2 = WGS84.e2();
    let sin_lat = lat_rad.sin();
    WGS84.a_m * (1.0 - e2).sqrt() / (1.0 - e2 * sin_lat * sin_lat)
}

impl Ecef {
    /// The same position by latitude, longitude and height; within a millimetre from the surface
    /// up to some hundred kilometres of height (Bowring 1976, iterated).
    #[must_use]
    pub fn to_wgs84(self) -> Wgs84 {
        let e2 = WGS84.e2();
        let b_m = WGS84.a_m * (1.0 - e2).sqrt();
        let second_e2 = e2 / (1.0 - e2);
        let axis = self.x_m.hypot(self.y_m);
        let mut reduced = (self.z_m * WGS84.a_m).atan2(axis * b_m);
        let mut lat = 0.0;
        for _ in 0..3 {
            let (s, c) = reduced.sin_cos();
            lat = (self.z_m + second_e2 * b_m * s * s * s).atan2(axis - e2 * WGS84.a_m * c * c * c);
            reduced = (b_m * lat.sin()).atan2(WGS84.a_m * lat.cos());
        }
        let (sin_lat, cos_lat) = lat.sin_cos();
        // This form of the height holds at the poles too, where `axis / cos_lat` does not.
        let height_m =
            axis * cos_lat + self.z_m * sin_lat - WGS84.a_m * (1.0 - e2 * sin_lat * sin_lat).sqrt();
        Wgs84 {
            lat_deg: lat.to_degrees(),
            lon_deg: self.y_m.atan2(self.x_m).to_degrees(),
            height_m,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The worked example of IOGP Guidance Note 7-2, "Geographic/Geocentric conversions".
    #[test]
    fn guidance_note_7_2_example() {
        let lat = 53.0 + 48.0 / 60.0 + 33.820 / 3600.0;
        let lon = 2.0 + 7.0 / 60.0 + 46.380 / 3600.0;
        let ecef = Wgs84::new(lat, lon, 73.0).to_ecef();
        assert!((ecef.x_m - 3_771_793.968).abs() < 1e-3, "{ecef:?}");
        assert!((ecef.y_m - 140_253.342).abs() < 1e-3, "{ecef:?}");
        assert!((ecef.z_m - 5_124_304.349).abs() < 1e-3, "{ecef:?}");
    }

    #[test]
    fn poles_and_equator() {
        let pole = Ecef { x_m: 0.0, y_m: 0.0, z_m: 6_356_752.314_245 + 100.0 }.to_wgs84();
        assert!((pole.lat_deg - 90.0).abs() < 1e-9 && (pole.height_m - 100.0).abs() < 1e-3);
        let equator = Wgs84::new(0.0, 90.0, 0.0).to_ecef();
        assert!((equator.y_m - 6_378_137.0).abs() < 1e-6 && equator.x_m.abs() < 1e-6);
    }

    /// One minute of latitude is a nautical mile, which is how the mile was made.
    #[test]
    fn a_minute_of_latitude_is_about_a_mile() {
        let d =
            Wgs84::new(45.0, 10.0, 0.0).ground_distance_m(Wgs84::new(45.0 + 1.0 / 60.0, 10.0, 0.0));
        assert!((d - 1852.0).abs() < 6.0, "{d}");
    }

    #[test]
    fn places_as_text() {
        assert_eq!("51, 10".parse(), Ok(Wgs84::new(51.0, 10.0, 0.0)));
        assert_eq!("-51.5,10,300".parse(), Ok(Wgs84::new(-51.5, 10.0, 300.0)));
        for text in ["51", "51,x", "90,10", "51,NaN", "51,10,30000", "1,2,3,4"] {
            assert!(text.parse::<Wgs84>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back(
            lat in -89.9..89.9_f64, lon in -179.9..179.9_f64, height in -500.0..50_000.0_f64,
        ) {
            let back = Wgs84::new(lat, lon, height).to_ecef().to_wgs84();
            prop_assert!((back.lat_deg - lat).abs() < 1e-8);
            prop_assert!((back.lon_deg - lon).abs() < 1e-8);
            prop_assert!((back.height_m - height).abs() < 1e-3);
        }
    }
}
