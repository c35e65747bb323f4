//! A part of the airspace.

use crate::geodesy::{METRES_PER_NM, Wgs84};

/// A part of the airspace: on the map, and between levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// On the map.
    pub shape: Shape,
    /// Lowest and highest flight level, both within; any level, and none, when absent.
    pub levels: Option<(f64, f64)>,
}

/// A part of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Between two latitudes and two longitudes, in degrees.
    Box {
        /// Southern edge, degrees.
        south: f64,
        /// Western edge, degrees; a box does not span the date line.
        west: f64,
        /// Northern edge, degrees.
        north: f64,
        /// Eastern edge, degrees.
        east: f64,
    },
    /// Within a distance of a position.
    Circle {
        /// Latitude of its middle, in degrees.
        lat_deg: f64,
        /// Longitude of its middle, in degrees.
        lon_deg: f64,
        /// In nautical miles, in `(0, 1000]`.
        radius_nm: f64,
    },
}

/// Factor on a circle's radius beyond which no distance is computed: a minute of latitude is a mile
/// within 0.6 %.
const CIRCLE_MARGIN: f64 = 1.01;

impl Area {
    /// Whether a position, in degrees, at a flight level lies in it.
    #[must_use]
    pub fn contains(&self, lat_deg: f64, lon_deg: f64, level: Option<f64>) -> bool {
        let at_level = self
            .levels
            .is_none_or(|(low, high)| level.is_some_and(|level| (low..=high).contains(&level)));
        at_level && self.shape.contains(lat_deg, lon_deg)
    }
}

impl Shape {
    /// South, west, north and east of a box that holds it, in degrees.
    #[must_use]
    pub fn bounds(&self) -> [f64; 4] {
        match *self {
            Self::Box { south, west, north, east } => [south, west, north, east],
            // Its longitudes depend on how near a pole is, and would gain little.
            Self::Circle { lat_deg, radius_nm, .. } => {
                let high = radius_nm / 60.0 * CIRCLE_MARGIN;
                [lat_deg - high, -180.0, lat_deg + high, 180.0]
            }
        }
    }

    fn contains(&self, lat_deg: f64, lon_deg: f64) -> bool {
        match *self {
            Self::Box { south, west, north, east } => {
                (south..=north).contains(&lat_deg) && (west..=east).contains(&lon_deg)
            }
            Self::Circle { lat_deg: lat, lon_deg: lon, radius_nm } => {
                (lat_deg - lat).abs() <= radius_nm / 60.0 * CIRCLE_MARGIN
                    && Wgs84::new(lat, lon, 0.0)
                        .ground_distance_m(Wgs84::new(lat_deg, lon_deg, 0.0))
                        <= radius_nm * METRES_PER_NM
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What looks at the box first leaves nobody out.
        #[test]
        fn whoever_is_inside_is_inside_of_the_bounds(
            lat_deg in -80f64..80.0,
            lon_deg in -170f64..170.0,
            radius_nm in 1f64..1000.0,
            off in (-20f64..20.0, -20f64..20.0),
        ) {
            let east = lon_deg + radius_nm / 60.0;
            let shapes = [
                Shape::Circle { lat_deg, lon_deg, radius_nm },
                Shape::Box { south: lat_deg, west: lon_deg, north: lat_deg + 10.0, east },
            ];
            let (lat, lon) = (lat_deg + off.0, lon_deg + off.1);
            for shape in shapes {
                let [south, west, north, east] = shape.bounds();
                let within = (south..=north).contains(&lat) && (west..=east).contains(&lon);
                prop_assert!(within || lon.abs() > 180.0 || !shape.contains(lat, lon), "{shape:?}");
            }
        }
    }

    #[test]
    fn inside_and_outside() {
        let shape = Shape::Box { south: 48.0, west: 9.0, north: 50.0, east: 12.0 };
        let area = Area { shape, levels: Some((290.0, 410.0)) };
        assert!(area.contains(49.0, 10.0, Some(290.0)) && area.contains(50.0, 12.0, Some(410.0)));
        assert!(!area.contains(49.0, 10.0, Some(289.0)) && !area.contains(49.0, 10.0, None));
        assert!(!area.contains(47.9, 10.0, Some(300.0)) && !area.contains(49.0, 12.1, Some(300.0)));
        assert!(Area { levels: None, ..area }.contains(49.0, 10.0, None));
        // At 50° N a degree of longitude is 38.6 NM.
        let shape = Shape::Circle { lat_deg: 50.0, lon_deg: 10.0, radius_nm: 40.0 };
        let area = Area { shape, levels: None };
        assert!(area.contains(50.0, 11.0, None) && !area.contains(50.0, 11.1, None));
        assert!(area.contains(50.6, 10.0, None) && !area.contains(50.7, 10.0, None));
    }
}
