//! Places on the Earth as a sphere, and distances between them.

use crate::packet::Position;

/// Kilometres in a degree of a great circle: aprsc's figure, and thus everybody's radius.
const KM_PER_DEGREE: f64 = 111.2;

/// A position as a vector of length 1, which makes distances continuous at poles and date line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point([f64; 3]);

impl Point {
    /// The point of a position.
    pub(super) fn new(position: Position) -> Self {
        let (latitude_sin, latitude_cos) = f64::from(position.latitude).to_radians().sin_cos();
        let (longitude_sin, longitude_cos) = f64::from(position.longitude).to_radians().sin_cos();
        Self([latitude_cos * longitude_cos, latitude_cos * longitude_sin, latitude_sin])
    }

    /// The square of the chord to `other`, in [0, 4] radii of the Earth squared.
    fn chord_squared(self, other: Self) -> f64 {
        let [x, y, z] = self.0;
        let [other_x, other_y, other_z] = other.0;
        (x - other_x).powi(2) + (y - other_y).powi(2) + (z - other_z).powi(2)
    }
}

/// A distance that others are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Radius {
    /// The chord that belongs to it, squared, in radii of the Earth squared; infinite when the
    /// whole Earth is within.
    chord_squared: f64,
}

impl Radius {
    /// The radius of `km` kilometres.
    pub(super) fn from_km(km: f32) -> Self {
        let angle = (f64::from(km) / KM_PER_DEGREE).to_radians();
        let chord_squared = if angle > std::f64::consts::PI {
            f64::INFINITY
        } else {
            (2.0 * (angle / 2.0).sin()).powi(2)
        };
        Self { chord_squared }
    }

    /// In degrees of a great circle; infinite when the whole Earth is within. Exact to 1e-6: the
    /// arc sine of nearly 1, for a radius of half the Earth, is the least exact.
    pub(super) fn degrees(self) -> f64 {
        if self.chord_squared.is_infinite() {
            return f64::INFINITY;
        }
        2.0 * (self.chord_squared.sqrt() / 2.0).min(1.0).asin().to_degrees()
    }

    /// Whether `point` is nearer to `centre` than this.
    pub(super) fn reaches(self, centre: Point, point: Point) -> bool {
        centre.chord_squared(point) < self.chord_squared
    }
}

/// A box between two latitudes and two longitudes, its sides included. It never crosses the date
/// line: aprsc refuses such a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) north: f32,
    pub(super) west: f32,
    pub(super) south: f32,
    pub(super) east: f32,
}

impl Area {
    /// Whether `position` is in it.
    pub(super) fn contains(self, position: Position) -> bool {
        position.latitude <= self.north
            && position.latitude >= self.south
            && position.longitude <= self.east
            && position.longitude >= self.west
    }
}

#[cfg(test)]
mod tests {
    use super::{Point, Radius};
    use crate::packet::Position;

    fn reaches(km: f32, from: (f32, f32), to: (f32, f32)) -> bool {
        let [from, to] =
            [from, to].map(|(latitude, longitude)| Point::new(Position { latitude, longitude }));
        Radius::from_km(km).reaches(from, to)
    }

    #[test]
    fn a_degree_is_111_2_km() {
        for (from, to) in [
            ((0.0, 0.0), (1.0, 0.0)),
            ((0.0, 0.0), (0.0, 1.0)),
            ((0.0, -179.5), (0.0, 179.5)),
            ((89.5, 0.0), (89.5, 180.0)),
        ] {
            assert!(reaches(111.3, from, to) && !reaches(111.1, from, to), "{from:?} {to:?}");
        }
    }

    #[test]
    fn half_the_circumference_reaches_everything() {
        assert!(reaches(20_016.1, (0.0, 0.0), (0.0, 180.0)));
        assert!(reaches(f32::INFINITY, (90.0, 0.0), (-90.0, 0.0)));
        assert!(!reaches(20_000.0, (0.0, 0.0), (0.0, 180.0)));
    }
}
